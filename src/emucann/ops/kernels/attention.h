// Attention of some queries over one sequence's keys and values, dense or paged, computed in float.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>

#include "emucann/runtime.h"

namespace emucann::kernels {

// Rows of heads in memory: [rows, heads, dim] with dim contiguous; strides in elements. A view that costs
// nothing to slice, because a decode step slices it once a sequence.
struct EMUCANN_API Heads {
  char* data = nullptr;
  at::ScalarType dtype = at::kFloat;
  std::int64_t rows = 0;
  std::int64_t heads = 0;
  std::int64_t dim = 0;
  std::int64_t row_stride = 0;
  std::int64_t head_stride = 0;

  Heads() = default;
  // tensor: [rows, heads, dim]. Throws std::runtime_error if dim is not contiguous.
  explicit Heads(const at::Tensor& tensor);
  Heads slice(std::int64_t begin, std::int64_t end) const;  // throws std::runtime_error outside of rows
};

// Keys or values: one sequence's rows, or pages that a block table strings together.
struct EMUCANN_API Cache {
  Heads rows;                    // of the sequence, or of the first page
  std::int64_t pages = 0;        // 0: not paged
  std::int64_t page_stride = 0;  // elements

  Cache() = default;
  // tensor: [tokens, heads, dim] or [pages, tokens of a page, heads, dim].
  explicit Cache(const at::Tensor& tensor);
};

struct KeyValue {
  Cache keys;
  Cache values;
  const std::int32_t* blocks = nullptr;  // paged: the sequence's row of the block table
  std::int64_t length = 0;               // tokens
};

struct Masking {
  bool causal = false;  // query i of n sees keys up to length - n + i
  std::int64_t window =
      std::numeric_limits<std::int64_t>::max();  // and no more than this many of the last of those
  at::Tensor excluded;                           // [queries, length] bool, true: not seen; may be undefined
};

// queries: [n, heads, dim], out: [n, heads, value_dim], heads a multiple of the cache's heads. Each row's
// result depends on that row and the keys alone, never on n: a query gives the same bits in a prefill as
// after a reload. log_sum_exp: [n, heads] float, may be undefined. Throws std::runtime_error on shapes that
// do not fit.
EMUCANN_API void attention(const Heads& queries, const KeyValue& sequence, double scale,
                           const Masking& masking, const Heads& out, const at::Tensor& log_sum_exp = {});

}  // namespace emucann::kernels
