#include "ops/kernels/rms_norm.h"

#include <ATen/ATen.h>

#include <cmath>

#include "ops/kernels/vector_math.h"
#include "ops/kernels/vectorize.h"

namespace emucann::kernels {
namespace {

EMUCANN_VECTORIZE void normalize_rows(const float* x, const float* gamma, const float* beta, float epsilon,
                                      std::int64_t rows, std::int64_t width, float* y, float* rstd) {
  for (std::int64_t row = 0; row < rows; ++row, x += width, y += width) {
    const float scale = 1.0F / std::sqrt(dot(x, x, width) / static_cast<float>(width) + epsilon);
    for (std::int64_t i = 0; i < width; ++i) y[i] = x[i] * scale * gamma[i];
    if (beta != nullptr) {
      for (std::int64_t i = 0; i < width; ++i) y[i] += beta[i];
    }
    if (rstd != nullptr) rstd[row] = scale;
  }
}

at::Tensor plain(const at::Tensor& t) { return t.to(at::kFloat).contiguous(); }

}  // namespace

void rms_norm(const at::Tensor& x, const at::Tensor& gamma, const at::Tensor& beta, double epsilon,
              at::Tensor& y, at::Tensor& rstd) {
  const auto width = gamma.numel();
  if (width == 0 || x.numel() % width != 0)
    throw std::runtime_error("rms_norm: gamma does not cover whole rows of x");
  const auto rows = x.numel() / width;
  const auto input = plain(x);
  const auto weight = plain(gamma);
  const auto bias = beta.defined() ? plain(beta) : at::Tensor();
  const bool direct = y.scalar_type() == at::kFloat && y.is_contiguous();
  auto result = direct ? y : at::empty(y.sizes(), y.options().dtype(at::kFloat));
  const bool wants_rstd = rstd.defined() && rstd.numel() == rows;
  auto scales = wants_rstd ? at::empty({rows}, input.options()) : at::Tensor();
  normalize_rows(input.const_data_ptr<float>(), weight.const_data_ptr<float>(),
                 bias.defined() ? bias.const_data_ptr<float>() : nullptr, static_cast<float>(epsilon), rows,
                 width, result.mutable_data_ptr<float>(),
                 wants_rstd ? scales.mutable_data_ptr<float>() : nullptr);
  if (!direct) y.copy_(result);
  if (wants_rstd) rstd.copy_(scales.view(rstd.sizes()));
}

}  // namespace emucann::kernels
