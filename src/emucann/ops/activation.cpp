// Activations.
#include "ops/forms.h"

UNARY_WITH_INPLACE(Mish, mish)
UNARY_WITH_INPLACE(Hardsigmoid, hardsigmoid)
UNARY_WITH_INPLACE(Hardswish, hardswish)
UNARY(Silu, silu)
// torch-npu calls it for both of gelu's approximations, unless it runs in its compatible mode
// (GeluOutKernelNpuOpApi.cpp).
UNARY(Gelu, gelu)

OP(aclnnRelu, (Tensor, self), (Tensor, out)) { out.copy_(at::relu(self)); }
OP(aclnnInplaceRelu, (Tensor, self)) { self.relu_(); }
OP(aclnnGeluV2, (Tensor, self), (Int64, approximate), (Tensor, out)) {
  at::gelu_out(out, self, approximate == 0 ? "none" : "tanh");
}
OP(aclnnSelu, (Tensor, self), (Tensor, out)) { out.copy_(at::selu(self)); }
OP(aclnnInplaceSelu, (Tensor, self)) { self.copy_(at::selu(self)); }
OP(aclnnElu, (Tensor, self), (Scalar, alpha), (Scalar, scale), (Scalar, input_scale), (Tensor, out)) {
  at::elu_out(out, self, alpha, scale, input_scale);
}
OP(aclnnInplaceElu, (Tensor, self), (Scalar, alpha), (Scalar, scale), (Scalar, input_scale)) {
  at::elu_out(self, self, alpha, scale, input_scale);
}
OP(aclnnCelu, (Tensor, self), (Scalar, alpha), (Tensor, out)) { out.copy_(at::celu(self, alpha)); }
OP(aclnnInplaceCelu, (Tensor, self), (Scalar, alpha)) { self.copy_(at::celu(self, alpha)); }
OP(aclnnLeakyRelu, (Tensor, self), (Scalar, slope), (Tensor, out)) { at::leaky_relu_out(out, self, slope); }
OP(aclnnInplaceLeakyRelu, (Tensor, self), (Scalar, slope)) { at::leaky_relu_out(self, self, slope); }
OP(aclnnPrelu, (Tensor, self), (Tensor, weight), (Tensor, out)) {
  out.copy_(at::where(self.ge(0), self, weight * self));
}
OP(aclnnHardtanh, (Tensor, self), (Scalar, low), (Scalar, high), (Tensor, out)) {
  at::hardtanh_out(out, self, low, high);
}
OP(aclnnInplaceHardtanh, (Tensor, self), (Scalar, low), (Scalar, high)) {
  at::hardtanh_out(self, self, low, high);
}
OP(aclnnThreshold, (Tensor, self), (Scalar, threshold), (Scalar, value), (Tensor, out)) {
  at::threshold_out(out, self, threshold, value);
}
OP(aclnnInplaceThreshold, (Tensor, self), (Scalar, threshold), (Scalar, value)) {
  at::threshold_out(self, self, threshold, value);
}
OP(aclnnSoftplus, (Tensor, self), (Scalar, beta), (Scalar, threshold), (Tensor, out)) {
  at::softplus_out(out, self, beta, threshold);
}
OP(aclnnLogSigmoid, (Tensor, self), (Tensor, out)) { out.copy_(at::log_sigmoid(self)); }
// buffer: what the backward pass would read.
OP(aclnnLogSigmoidForward, (Tensor, self), (Tensor, out), (Tensor, buffer)) {
  out.copy_(at::log_sigmoid(self));
}
OP(aclnnGlu, (Tensor, self), (Int64, dim), (Tensor, out)) { at::glu_out(out, self, dim); }

// Halves along a dimension: silu(first) * second.
OP(aclnnSwiGlu, (Tensor, self), (Int64, dim), (Tensor, out)) {
  const auto halves = at::chunk(self, 2, dim);
  at::silu_out(out, halves[0]);
  out.mul_(halves[1]);
}
