// A paged cache: which slots tokens go to, and writing their keys or values there.
#pragma once

#include <ATen/core/Tensor.h>

#include "emucann/runtime.h"

namespace emucann::kernels {

// rows: [tokens, heads, dim]; cache: [blocks, block_size, heads, dim], contiguous, same dtype; slots:
// [tokens] integers, block * block_size + offset, negative for a token that is not kept. Throws
// std::runtime_error on a slot outside.
EMUCANN_API void write_slots(const at::Tensor& rows, at::Tensor cache, const at::Tensor& slots);

// slots[t] = block_table[r][positions[t] / block_size] * block_size + positions[t] % block_size, for each
// token t in starts[r] .. starts[r + 1] - 1 of each request r; every slot behind the last token becomes
// `padding`. starts: [requests + 1] integers; positions: [tokens or more] int64; block_table: [requests or
// more, blocks] int32; slots: [tokens or more], int32 or int64. Throws std::runtime_error on a token or block
// outside.
EMUCANN_API void map_slots(const at::Tensor& starts, const at::Tensor& positions,
                           const at::Tensor& block_table, std::int64_t block_size, std::int64_t padding,
                           at::Tensor slots);

}  // namespace emucann::kernels
