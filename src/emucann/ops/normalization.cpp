// Normalizations, alone and fused with the residual addition.
#include "ops/kernels/rms_norm.h"
#include "ops/op.h"

using emucann::kernels::rms_norm;

namespace {

std::optional<at::Tensor> given(const at::Tensor& t) {
  return t.defined() ? std::optional<at::Tensor>(t) : std::nullopt;
}

// Statistics that nobody asked for come with room for nothing.
void give(const at::Tensor& values, const at::Tensor& out) {
  if (out.defined() && out.numel() > 0) out.copy_(values.view(out.sizes()));
}

}  // namespace

OP(aclnnRmsNorm, (Tensor, x), (Tensor, gamma), (Double, epsilon), (Tensor, y), (Tensor, rstd)) {
  rms_norm(x, gamma, at::Tensor(), epsilon, y, rstd);
}
OP(aclnnAddRmsNorm, (Tensor, x1), (Tensor, x2), (Tensor, gamma), (Double, epsilon), (Tensor, y),
   (Tensor, rstd), (Tensor, x)) {
  at::add_out(x, x1, x2);
  rms_norm(x, gamma, at::Tensor(), epsilon, y, rstd);
}
// vllm-ascend's own: csrc/add_rms_norm_bias.
OP(aclnnAddRmsNormBias, (Tensor, x1), (Tensor, x2), (Tensor, gamma), (Tensor, beta), (Double, epsilon),
   (Tensor, y), (Tensor, rstd), (Tensor, x)) {
  at::add_out(x, x1, x2);
  rms_norm(x, gamma, beta, epsilon, y, rstd);
}
OP(aclnnLayerNorm, (Tensor, input), (Ints, shape), (Tensor, weight), (Tensor, bias), (Double, epsilon),
   (Tensor, out), (Tensor, mean), (Tensor, rstd)) {
  const auto [y, m, r] = at::native_layer_norm(input, shape, given(weight), given(bias), epsilon);
  out.copy_(y);
  give(m, mean);
  give(r, rstd);
}
OP(aclnnGroupNorm, (Tensor, self), (Tensor, weight), (Tensor, bias), (Int64, batch), (Int64, channels),
   (Int64, positions), (Int64, groups), (Double, epsilon), (Tensor, out), (Tensor, mean), (Tensor, rstd)) {
  const auto [y, m, r] = at::native_group_norm(self.contiguous(), given(weight), given(bias), batch, channels,
                                               positions, groups, epsilon);
  out.copy_(y);
  give(m, mean);
  give(r, rstd);
}
OP(aclnnBatchNorm, (Tensor, input), (Tensor, weight), (Tensor, bias), (Tensor, running_mean),
   (Tensor, running_var), (Bool, training), (Double, momentum), (Double, epsilon), (Tensor, out),
   (Tensor, mean), (Tensor, rstd)) {
  const auto [y, m, r] = at::native_batch_norm(input, given(weight), given(bias), given(running_mean),
                                               given(running_var), training, momentum, epsilon);
  out.copy_(y);
  give(m, mean);
  give(r, rstd);
}
