// Products of matrices and convolutions. cube_math_type chooses the cube unit's precision on hardware; a CPU
// computes in the given dtype.
#include "ops/op.h"

OP(aclnnMm, (Tensor, self), (Tensor, other), (Tensor, out), (Int8, cube_math_type)) {
  at::mm_out(out, self, other);
}
OP(aclnnMatmul, (Tensor, self), (Tensor, other), (Tensor, out), (Int8, cube_math_type)) {
  at::matmul_out(out, self, other);
}
OP(aclnnBatchMatMul, (Tensor, self), (Tensor, other), (Tensor, out), (Int8, cube_math_type)) {
  at::bmm_out(out, self, other);
}
OP(aclnnAddmm, (Tensor, self), (Tensor, first), (Tensor, second), (Scalar, beta), (Scalar, alpha),
   (Tensor, out), (Int8, cube_math_type)) {
  at::addmm_out(out, self, first, second, beta, alpha);
}
OP(aclnnBaddbmm, (Tensor, self), (Tensor, first), (Tensor, second), (Scalar, beta), (Scalar, alpha),
   (Tensor, out), (Int8, cube_math_type)) {
  at::baddbmm_out(out, self, first, second, beta, alpha);
}
OP(aclnnAddbmm, (Tensor, self), (Tensor, first), (Tensor, second), (Scalar, beta), (Scalar, alpha),
   (Tensor, out), (Int8, cube_math_type)) {
  at::addbmm_out(out, self, first, second, beta, alpha);
}
OP(aclnnMv, (Tensor, self), (Tensor, vector), (Tensor, out), (Int8, cube_math_type)) {
  at::mv_out(out, self, vector);
}
OP(aclnnAddmv, (Tensor, self), (Tensor, matrix), (Tensor, vector), (Scalar, alpha), (Scalar, beta),
   (Tensor, out), (Int8, cube_math_type)) {
  at::addmv_out(out, self, matrix, vector, beta, alpha);
}
OP(aclnnInplaceAddmm, (Tensor, self), (Tensor, first), (Tensor, second), (Scalar, beta), (Scalar, alpha),
   (Int8, cube_math_type)) {
  self.addmm_(first, second, beta, alpha);
}
OP(aclnnDot, (Tensor, self), (Tensor, other), (Tensor, out)) { out.copy_(at::dot(self, other)); }
OP(aclnnLinalgCross, (Tensor, self), (Tensor, other), (Int64, dim), (Tensor, out)) {
  at::linalg_cross_out(out, self, other, dim);
}
OP(aclnnInverse, (Tensor, self), (Tensor, out)) { out.copy_(at::inverse(self)); }
OP(aclnnConvolution, (Tensor, input), (Tensor, weight), (Tensor, bias), (Ints, stride), (Ints, padding),
   (Ints, dilation), (Bool, transposed), (Ints, output_padding), (Int64, groups), (Tensor, out),
   (Int8, cube_math_type)) {
  out.copy_(at::convolution(input, weight, bias.defined() ? std::optional<at::Tensor>(bias) : std::nullopt,
                            stride, padding, dilation, transposed, output_padding, groups));
}
