// Declarations of ops that have one of the common forms. `function` is libtorch's name of the op.
#pragma once

#include "ops/op.h"

#define UNARY(Name, function) \
  OP(aclnn##Name, (Tensor, self), (Tensor, out)) { at::function##_out(out, self); }

#define UNARY_WITH_INPLACE(Name, function) \
  UNARY(Name, function)                    \
  OP(aclnnInplace##Name, (Tensor, self)) { at::function##_out(self, self); }

#define BINARY(Name, function)                                                                              \
  OP(aclnn##Name, (Tensor, self), (Tensor, other), (Tensor, out)) { at::function##_out(out, self, other); } \
  OP(aclnnInplace##Name, (Tensor, self), (Tensor, other)) { at::function##_out(self, self, other); }

#define BINARY_SCALAR(Name, function)                                                                       \
  OP(aclnn##Name, (Tensor, self), (Scalar, other), (Tensor, out)) { out.copy_(at::function(self, other)); } \
  OP(aclnnInplace##Name, (Tensor, self), (Scalar, other)) { self.copy_(at::function(self, other)); }
