// RMS normalization over the last dimensions that gamma covers.
#pragma once

#include <ATen/core/Tensor.h>

#include "emucann/runtime.h"

namespace emucann::kernels {

// y = x * rsqrt(mean(x^2) + epsilon) * gamma (+ beta), computed in float. x, y: [..., *gamma.sizes()]; beta
// may be undefined; rstd: float, one number a row, may be undefined.
EMUCANN_API void rms_norm(const at::Tensor& x, const at::Tensor& gamma, const at::Tensor& beta,
                          double epsilon, at::Tensor& y, at::Tensor& rstd);

}  // namespace emucann::kernels
