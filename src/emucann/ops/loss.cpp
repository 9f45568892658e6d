// Losses. reduction: 0 none, 1 mean, 2 sum, as in PyTorch.
#include "ops/op.h"

namespace {

std::optional<at::Tensor> given(const at::Tensor& t) {
  return t.defined() ? std::optional<at::Tensor>(t) : std::nullopt;
}

}  // namespace

OP(aclnnL1Loss, (Tensor, self), (Tensor, target), (Int64, reduction), (Tensor, out)) {
  out.copy_(at::l1_loss(self, target, reduction));
}
OP(aclnnMseLoss, (Tensor, self), (Tensor, target), (Int64, reduction), (Tensor, out)) {
  out.copy_(at::mse_loss(self, target, reduction));
}
OP(aclnnSmoothL1Loss, (Tensor, self), (Tensor, target), (Int64, reduction), (Float, beta), (Tensor, out)) {
  out.copy_(at::smooth_l1_loss(self, target, reduction, beta));
}
OP(aclnnKlDiv, (Tensor, self), (Tensor, target), (Int64, reduction), (Bool, log_target), (Tensor, out)) {
  out.copy_(at::kl_div(self, target, reduction, log_target));
}
OP(aclnnBinaryCrossEntropy, (Tensor, self), (Tensor, target), (Tensor, weight), (Int64, reduction),
   (Tensor, out)) {
  out.copy_(at::binary_cross_entropy(self, target, given(weight), reduction));
}
OP(aclnnBinaryCrossEntropyWithLogits, (Tensor, self), (Tensor, target), (Tensor, weight),
   (Tensor, positive_weight), (Int64, reduction), (Tensor, out)) {
  out.copy_(
      at::binary_cross_entropy_with_logits(self, target, given(weight), given(positive_weight), reduction));
}
OP(aclnnNLLLoss, (Tensor, self), (Tensor, target), (Tensor, weight), (Int64, reduction),
   (Int64, ignore_index), (Tensor, out), (Tensor, total_weight)) {
  const auto [loss, total] =
      at::nll_loss_forward(self, target.to(at::kLong), given(weight), reduction, ignore_index);
  out.copy_(loss);
  total_weight.copy_(total.view(total_weight.sizes()));
}
