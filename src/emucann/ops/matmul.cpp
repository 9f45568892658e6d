// Matrix products. cube_math_type chooses the cube unit's precision on hardware; a CPU computes in the given dtype.
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
OP(aclnnAddmm, (Tensor, self), (Tensor, first), (Tensor, second), (Scalar, beta), (Scalar, alpha), (Tensor, out),
   (Int8, cube_math_type)) {
  at::addmm_out(out, self, first, second, beta, alpha);
}
OP(aclnnBaddbmm, (Tensor, self), (Tensor, first), (Tensor, second), (Scalar, beta), (Scalar, alpha), (Tensor, out),
   (Int8, cube_math_type)) {
  at::baddbmm_out(out, self, first, second, beta, alpha);
}
