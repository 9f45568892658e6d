// Attention of some queries over one sequence's keys and values, dense or paged, computed in float.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>

#include "emucann/runtime.h"

namespace emucann::kernels {

// Keys and values of one sequence. Dense: [tokens, kv_heads, dim], any strides with dim contiguous. Paged:
// [blocks, block_size, kv_heads, dim] and blocks, the sequence's row of the block table.
struct KeyValue {
  at::Tensor keys;
  at::Tensor values;
  const std::int32_t* blocks = nullptr;
  std::int64_t length = 0;  // tokens
};

struct Masking {
  bool causal = false;      // query i of n sees keys up to length - n + i
  std::int64_t window = std::numeric_limits<std::int64_t>::max();  // and no more than this many before that one
  at::Tensor excluded;      // [queries, length] bool, true: not seen; may be undefined
};

// queries: [n, heads, dim], out: [n, heads, value_dim], dim contiguous, heads a multiple of kv_heads. Each row's result
// depends on that row and the keys alone, never on n: a query gives the same bits in a prefill as after a reload.
// log_sum_exp: [n, heads] float, may be undefined. Throws std::runtime_error on shapes that do not fit.
EMUCANN_API void attention(const at::Tensor& queries, const KeyValue& sequence, double scale, const Masking& masking,
                           at::Tensor out, at::Tensor log_sum_exp);

}  // namespace emucann::kernels
