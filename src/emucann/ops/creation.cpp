// Ops that fill a tensor: constants, ranges, random numbers.
#include <ATen/CPUGeneratorImpl.h>

#include "ops/op.h"

OP(aclnnInplaceZero, (Tensor, self)) {
  if (self.is_contiguous()) {
    emucann::zero(self.mutable_data_ptr(), self.nbytes());
  } else {
    self.zero_();
  }
}
OP(aclnnInplaceOne, (Tensor, self)) { self.fill_(1); }
OP(aclnnInplaceFillScalar, (Tensor, self), (Scalar, value)) { self.fill_(value); }
OP(aclnnInplaceFillTensor, (Tensor, self), (Tensor, value)) { self.fill_(value); }
OP(aclnnArange, (Scalar, start), (Scalar, end), (Scalar, step), (Tensor, out)) {
  out.copy_(at::arange(start, end, step, out.options()));
}
OP(aclnnRange, (Scalar, start), (Scalar, end), (Scalar, step), (Tensor, out)) {
  out.copy_(at::range(start, end, step, out.options()));
}
OP(aclnnLinspace, (Scalar, start), (Scalar, end), (Int64, steps), (Tensor, out)) {
  at::linspace_out(out, start, end, steps);
}
OP(aclnnLogSpace, (Scalar, start), (Scalar, end), (Int64, steps), (Double, base), (Tensor, out)) {
  at::logspace_out(out, start, end, steps, base);
}
OP(aclnnEye, (Int64, rows), (Int64, columns), (Tensor, out)) { at::eye_out(out, rows, columns); }

namespace {

// The device's Philox state as a CPU generator: the same seed and offset give the same numbers, though not a
// 910B's.
at::Generator generator(std::int64_t seed, std::int64_t offset) {
  constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;  // spreads neighbouring offsets over the seeds
  return at::detail::createCPUGenerator(static_cast<std::uint64_t>(seed) +
                                        static_cast<std::uint64_t>(offset) * golden);
}

}  // namespace

OP(aclnnInplaceNormal, (Tensor, self), (Float, mean), (Float, deviation), (Int64, seed), (Int64, offset)) {
  self.normal_(mean, deviation, generator(seed, offset));
}
OP(aclnnInplaceUniform, (Tensor, self), (Double, from), (Double, to), (Int64, seed), (Int64, offset)) {
  self.uniform_(from, to, generator(seed, offset));
}
OP(aclnnInplaceRandom, (Tensor, self), (Int64, from), (Int64, to), (Int64, seed), (Int64, offset)) {
  self.random_(from, to, generator(seed, offset));
}
OP(aclnnInplaceBernoulli, (Tensor, self), (Scalar, probability), (Int64, seed), (Int64, offset)) {
  self.bernoulli_(probability.toDouble(), generator(seed, offset));
}
OP(aclnnMultinomial, (Tensor, self), (Int64, samples), (Bool, replacement), (Int64, seed), (Int64, offset),
   (Tensor, out)) {
  out.copy_(at::multinomial(self, samples, replacement, generator(seed, offset)));
}
OP(aclnnInplaceBernoulliTensor, (Tensor, self), (Tensor, probability), (Int64, seed), (Int64, offset)) {
  self.bernoulli_(probability, generator(seed, offset));
}
OP(aclnnRandperm, (Int64, n), (Int64, seed), (Int64, offset), (Tensor, out)) {
  out.copy_(at::randperm(n, generator(seed, offset), at::TensorOptions().dtype(at::kLong)));
}
OP(aclnnNormalFloatFloat, (Float, mean), (Float, deviation), (Int64, seed), (Int64, offset), (Tensor, out)) {
  out.normal_(mean, deviation, generator(seed, offset));
}
OP(aclnnNormalTensorFloat, (Tensor, mean), (Float, deviation), (Int64, seed), (Int64, offset),
   (Tensor, out)) {
  out.copy_(at::normal(mean, deviation, generator(seed, offset)));
}
OP(aclnnNormalFloatTensor, (Float, mean), (Tensor, deviation), (Int64, seed), (Int64, offset),
   (Tensor, out)) {
  out.copy_(at::normal(mean, deviation, generator(seed, offset)));
}
OP(aclnnNormalTensorTensor, (Tensor, mean), (Tensor, deviation), (Int64, seed), (Int64, offset),
   (Tensor, out)) {
  out.copy_(at::normal(mean, deviation, generator(seed, offset)));
}
