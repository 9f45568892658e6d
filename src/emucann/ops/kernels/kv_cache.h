// Writing keys or values into a paged cache.
#pragma once

#include <ATen/core/Tensor.h>

#include "emucann/runtime.h"

namespace emucann::kernels {

// rows: [tokens, heads, dim]; cache: [blocks, block_size, heads, dim], contiguous, same dtype; slots:
// [tokens] integers, block * block_size + offset, negative for a token that is not kept. Throws
// std::runtime_error on a slot outside.
EMUCANN_API void write_slots(const at::Tensor& rows, at::Tensor cache, const at::Tensor& slots);

}  // namespace emucann::kernels
