// Rotary position embedding, in place.
#pragma once

#include <ATen/core/Tensor.h>

#include "emucann/runtime.h"

namespace emucann::kernels {

// heads: [tokens, ..., n * head_size], any dtype, rotated in place. positions: [tokens]. cos_sin: [positions,
// rotary] with the cosines in the first half of a row and the sines in the second. neox: the halves of a head
// are paired, otherwise neighbours are. Elements of a head from rotary on stay. Throws std::runtime_error on
// a position outside.
EMUCANN_API void rotate(at::Tensor heads, const at::Tensor& positions, const at::Tensor& cos_sin,
                        std::int64_t head_size, bool neox);

}  // namespace emucann::kernels
