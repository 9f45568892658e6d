// Ops that work element by element: arithmetic, comparison, logic. Activations are in activation.cpp.
#include "ops/forms.h"

OP(aclnnAdd, (Tensor, self), (Tensor, other), (Scalar, alpha), (Tensor, out)) {
  at::add_out(out, self, other, alpha);
}
OP(aclnnAdds, (Tensor, self), (Scalar, other), (Scalar, alpha), (Tensor, out)) {
  out.copy_(at::add(self, other, alpha));
}
OP(aclnnInplaceAdd, (Tensor, self), (Tensor, other), (Scalar, alpha)) {
  at::add_out(self, self, other, alpha);
}
OP(aclnnInplaceAdds, (Tensor, self), (Scalar, other), (Scalar, alpha)) {
  self.copy_(at::add(self, other, alpha));
}
OP(aclnnSub, (Tensor, self), (Tensor, other), (Scalar, alpha), (Tensor, out)) {
  at::sub_out(out, self, other, alpha);
}
OP(aclnnSubs, (Tensor, self), (Scalar, other), (Scalar, alpha), (Tensor, out)) {
  out.copy_(at::sub(self, other, alpha));
}
OP(aclnnInplaceSub, (Tensor, self), (Tensor, other), (Scalar, alpha)) {
  at::sub_out(self, self, other, alpha);
}
OP(aclnnInplaceSubs, (Tensor, self), (Scalar, other), (Scalar, alpha)) {
  self.copy_(at::sub(self, other, alpha));
}
OP(aclnnRsubs, (Tensor, self), (Scalar, other), (Scalar, alpha), (Tensor, out)) {
  out.copy_(at::rsub(self, other, alpha));
}

BINARY(Mul, mul)
BINARY_SCALAR(Muls, mul)
BINARY(Div, div)
BINARY_SCALAR(Divs, div)
BINARY(FloorDivide, floor_divide)
BINARY_SCALAR(FloorDivides, floor_divide)
BINARY(RemainderTensorTensor, remainder)
BINARY_SCALAR(RemainderTensorScalar, remainder)
OP(aclnnRemainderScalarTensor, (Scalar, self), (Tensor, other), (Tensor, out)) {
  out.copy_(at::remainder(self, other));
}
BINARY(FmodTensor, fmod)
BINARY_SCALAR(FmodScalar, fmod)
BINARY(Atan2, atan2)
BINARY(LogAddExp, logaddexp)
BINARY(LogAddExp2, logaddexp2)
BINARY(XLogYTensor, xlogy)
BINARY_SCALAR(XLogYScalarOther, xlogy)
OP(aclnnXLogYScalarSelf, (Scalar, self), (Tensor, other), (Tensor, out)) {
  out.copy_(at::xlogy(self, other));
}

namespace {

// CANN's rounding modes of a division: 0 none, 1 towards zero, 2 down (DivKernelNpuOpApi.cpp in op-plugin).
std::optional<c10::string_view> rounding(std::int8_t mode) {
  switch (mode) {
    case 0:
      return std::nullopt;
    case 1:
      return "trunc";
    case 2:
      return "floor";
    default:
      throw std::runtime_error("division mode " + std::to_string(mode) + " is not emulated");
  }
}

}  // namespace

OP(aclnnDivMod, (Tensor, self), (Tensor, other), (Int8, mode), (Tensor, out)) {
  at::div_out(out, self, other, rounding(mode));
}
OP(aclnnDivMods, (Tensor, self), (Scalar, other), (Int8, mode), (Tensor, out)) {
  out.copy_(at::div(self, other, rounding(mode)));
}
OP(aclnnInplaceDivMod, (Tensor, self), (Tensor, other), (Int8, mode)) {
  at::div_out(self, self, other, rounding(mode));
}
OP(aclnnInplaceDivMods, (Tensor, self), (Scalar, other), (Int8, mode)) {
  self.copy_(at::div(self, other, rounding(mode)));
}

BINARY(EqTensor, eq)
BINARY_SCALAR(EqScalar, eq)
BINARY(NeTensor, ne)
BINARY_SCALAR(NeScalar, ne)
BINARY(LtTensor, lt)
BINARY_SCALAR(LtScalar, lt)
BINARY(LeTensor, le)
BINARY_SCALAR(LeScalar, le)
BINARY(GtTensor, gt)
BINARY_SCALAR(GtScalar, gt)
BINARY(GeTensor, ge)
BINARY_SCALAR(GeScalar, ge)

BINARY(LogicalAnd, logical_and)
BINARY(LogicalOr, logical_or)
BINARY(LogicalXor, logical_xor)
UNARY_WITH_INPLACE(LogicalNot, logical_not)
BINARY(BitwiseAndTensor, bitwise_and)
BINARY_SCALAR(BitwiseAndScalar, bitwise_and)
BINARY(BitwiseOrTensor, bitwise_or)
BINARY_SCALAR(BitwiseOrScalar, bitwise_or)
BINARY(BitwiseXorTensor, bitwise_xor)
BINARY_SCALAR(BitwiseXorScalar, bitwise_xor)
UNARY(BitwiseNot, bitwise_not)
BINARY(LeftShift, bitwise_left_shift)
BINARY_SCALAR(LeftShifts, bitwise_left_shift)
BINARY(RightShift, bitwise_right_shift)

OP(aclnnMaximum, (Tensor, self), (Tensor, other), (Tensor, out)) { at::maximum_out(out, self, other); }
OP(aclnnMinimum, (Tensor, self), (Tensor, other), (Tensor, out)) { at::minimum_out(out, self, other); }
OP(aclnnClamp, (Tensor, self), (OptionalScalar, low), (OptionalScalar, high), (Tensor, out)) {
  at::clamp_out(out, self, low, high);
}
OP(aclnnClampMin, (Tensor, self), (Scalar, low), (Tensor, out)) { at::clamp_min_out(out, self, low); }
OP(aclnnClampMax, (Tensor, self), (Scalar, high), (Tensor, out)) { at::clamp_max_out(out, self, high); }
OP(aclnnClampTensor, (Tensor, self), (Tensor, low), (Tensor, high), (Tensor, out)) {
  const auto bound = [](const at::Tensor& t) {
    return t.defined() ? std::optional<at::Tensor>(t) : std::nullopt;
  };
  at::clamp_out(out, self, bound(low), bound(high));
}

UNARY_WITH_INPLACE(Abs, abs)
UNARY_WITH_INPLACE(Acos, acos)
UNARY_WITH_INPLACE(Acosh, acosh)
UNARY_WITH_INPLACE(Asin, asin)
UNARY_WITH_INPLACE(Asinh, asinh)
UNARY_WITH_INPLACE(Atan, atan)
UNARY_WITH_INPLACE(Atanh, atanh)
UNARY_WITH_INPLACE(Ceil, ceil)
UNARY_WITH_INPLACE(Cos, cos)
UNARY_WITH_INPLACE(Cosh, cosh)
UNARY_WITH_INPLACE(Erf, erf)
UNARY_WITH_INPLACE(Erfc, erfc)
UNARY_WITH_INPLACE(Erfinv, erfinv)
UNARY_WITH_INPLACE(Exp, exp)
UNARY_WITH_INPLACE(Exp2, exp2)
UNARY_WITH_INPLACE(Expm1, expm1)
UNARY_WITH_INPLACE(Floor, floor)
UNARY_WITH_INPLACE(Frac, frac)
UNARY_WITH_INPLACE(Log, log)
UNARY_WITH_INPLACE(Log10, log10)
UNARY_WITH_INPLACE(Log1p, log1p)
UNARY_WITH_INPLACE(Log2, log2)
UNARY_WITH_INPLACE(Neg, neg)
UNARY_WITH_INPLACE(Reciprocal, reciprocal)
UNARY_WITH_INPLACE(Round, round)
UNARY_WITH_INPLACE(Rsqrt, rsqrt)
UNARY_WITH_INPLACE(Sigmoid, sigmoid)
UNARY_WITH_INPLACE(Sin, sin)
UNARY_WITH_INPLACE(Sinc, sinc)
UNARY_WITH_INPLACE(Sinh, sinh)
UNARY_WITH_INPLACE(Sqrt, sqrt)
UNARY_WITH_INPLACE(Tan, tan)
UNARY_WITH_INPLACE(Tanh, tanh)
UNARY_WITH_INPLACE(Trunc, trunc)
UNARY(AngleV2, angle)
UNARY(IsNegInf, isneginf)
UNARY(IsPosInf, isposinf)
UNARY(Sign, sign)
UNARY(Signbit, signbit)

OP(aclnnIsFinite, (Tensor, self), (Tensor, out)) { out.copy_(at::isfinite(self)); }
OP(aclnnIsInf, (Tensor, self), (Tensor, out)) { out.copy_(at::isinf(self)); }
OP(aclnnIsClose, (Tensor, self), (Tensor, other), (Double, relative), (Double, absolute), (Bool, equal_nan),
   (Tensor, out)) {
  out.copy_(at::isclose(self, other, relative, absolute, equal_nan));
}
OP(aclnnNanToNum, (Tensor, self), (Float, nan), (Float, positive), (Float, negative), (Tensor, out)) {
  at::nan_to_num_out(out, self, nan, positive, negative);
}
OP(aclnnInplaceNanToNum, (Tensor, self), (Float, nan), (Float, positive), (Float, negative)) {
  self.nan_to_num_(nan, positive, negative);
}
OP(aclnnPowTensorScalar, (Tensor, self), (Scalar, exponent), (Tensor, out)) {
  at::pow_out(out, self, exponent);
}
OP(aclnnInplacePowTensorScalar, (Tensor, self), (Scalar, exponent)) { at::pow_out(self, self, exponent); }
OP(aclnnPowScalarTensor, (Scalar, self), (Tensor, exponent), (Tensor, out)) {
  at::pow_out(out, self, exponent);
}
OP(aclnnPowTensorTensor, (Tensor, self), (Tensor, exponent), (Tensor, out)) {
  at::pow_out(out, self, exponent);
}
OP(aclnnSWhere, (Tensor, condition), (Tensor, self), (Tensor, other), (Tensor, out)) {
  at::where_out(out, condition, self, other);
}
OP(aclnnInplaceMaskedFillScalar, (Tensor, self), (Tensor, mask), (Scalar, value)) {
  self.masked_fill_(mask, value);
}
OP(aclnnInplaceMaskedFillTensor, (Tensor, self), (Tensor, mask), (Tensor, value)) {
  self.masked_fill_(mask, value);
}
OP(aclnnLerp, (Tensor, self), (Tensor, end), (Tensor, weight), (Tensor, out)) {
  at::lerp_out(out, self, end, weight);
}
OP(aclnnInplaceLerp, (Tensor, self), (Tensor, end), (Tensor, weight)) { self.lerp_(end, weight); }
OP(aclnnLerps, (Tensor, self), (Tensor, end), (Scalar, weight), (Tensor, out)) {
  at::lerp_out(out, self, end, weight);
}
OP(aclnnInplaceLerps, (Tensor, self), (Tensor, end), (Scalar, weight)) { self.lerp_(end, weight); }
OP(aclnnAddcmul, (Tensor, self), (Tensor, first), (Tensor, second), (Scalar, value), (Tensor, out)) {
  at::addcmul_out(out, self, first, second, value);
}
OP(aclnnInplaceAddcmul, (Tensor, self), (Tensor, first), (Tensor, second), (Scalar, value)) {
  self.addcmul_(first, second, value);
}
OP(aclnnAddcdiv, (Tensor, self), (Tensor, first), (Tensor, second), (Scalar, value), (Tensor, out)) {
  at::addcdiv_out(out, self, first, second, value);
}
OP(aclnnInplaceAddcdiv, (Tensor, self), (Tensor, first), (Tensor, second), (Scalar, value)) {
  self.addcdiv_(first, second, value);
}
OP(aclnnComplex, (Tensor, real), (Tensor, imaginary), (Tensor, out)) {
  at::complex_out(out, real, imaginary);
}
OP(aclnnPolar, (Tensor, absolute), (Tensor, angle), (Tensor, out)) { at::polar_out(out, absolute, angle); }
