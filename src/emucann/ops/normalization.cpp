// Normalizations, alone and fused with the residual addition.
#include "ops/kernels/rms_norm.h"
#include "ops/op.h"

using emucann::kernels::rms_norm;

OP(aclnnRmsNorm, (Tensor, x), (Tensor, gamma), (Double, epsilon), (Tensor, y), (Tensor, rstd)) {
  rms_norm(x, gamma, at::Tensor(), epsilon, y, rstd);
}
OP(aclnnAddRmsNorm, (Tensor, x1), (Tensor, x2), (Tensor, gamma), (Double, epsilon), (Tensor, y), (Tensor, rstd),
   (Tensor, x)) {
  at::add_out(x, x1, x2);
  rms_norm(x, gamma, at::Tensor(), epsilon, y, rstd);
}
// vllm-ascend's own: csrc/add_rms_norm_bias.
OP(aclnnAddRmsNormBias, (Tensor, x1), (Tensor, x2), (Tensor, gamma), (Tensor, beta), (Double, epsilon), (Tensor, y),
   (Tensor, rstd), (Tensor, x)) {
  at::add_out(x, x1, x2);
  rms_norm(x, gamma, beta, epsilon, y, rstd);
}
OP(aclnnLayerNorm, (Tensor, input), (Ints, shape), (Tensor, weight), (Tensor, bias), (Double, epsilon), (Tensor, out),
   (Tensor, mean), (Tensor, rstd)) {
  const auto given = [](const at::Tensor& t) { return t.defined() ? std::optional<at::Tensor>(t) : std::nullopt; };
  const auto [y, m, r] = at::native_layer_norm(input, shape, given(weight), given(bias), epsilon);
  out.copy_(y);
  if (mean.defined()) mean.copy_(m.view(mean.sizes()));
  if (rstd.defined()) rstd.copy_(r.view(rstd.sizes()));
}
