// Ops that reduce: sums, extremes, scans, softmax.
#include "ops/op.h"

OP(aclnnReduceSum, (Tensor, self), (Ints, dims), (Bool, keep), (DataType, type), (Tensor, out)) {
  at::sum_out(out, self, dims, keep, out.scalar_type());
}
OP(aclnnMean, (Tensor, self), (Ints, dims), (Bool, keep), (DataType, type), (Tensor, out)) {
  at::mean_out(out, self, dims, keep, out.scalar_type());
}
OP(aclnnMeanV2, (Tensor, self), (Ints, dims), (Bool, keep), (Bool, no_operation_on_empty_dims),
   (Tensor, out)) {
  at::mean_out(out, self, dims, keep, out.scalar_type());
}
OP(aclnnProd, (Tensor, self), (DataType, type), (Tensor, out)) {
  out.copy_(at::prod(self, out.scalar_type()));
}
OP(aclnnProdDim, (Tensor, self), (Int64, dim), (Bool, keep), (DataType, type), (Tensor, out)) {
  out.copy_(at::prod(self, dim, keep, out.scalar_type()));
}
OP(aclnnVarMean, (Tensor, self), (Ints, dims), (Int64, correction), (Bool, keep), (Tensor, variance),
   (Tensor, mean)) {
  const auto [v, m] = at::var_mean(self, dims, correction, keep);
  variance.copy_(v);
  mean.copy_(m);
}
OP(aclnnVar, (Tensor, self), (Ints, dims), (Bool, unbiased), (Bool, keep), (Tensor, out)) {
  out.copy_(at::var(self, dims, unbiased, keep));
}
OP(aclnnVarCorrection, (Tensor, self), (Ints, dims), (Int64, correction), (Bool, keep), (Tensor, out)) {
  out.copy_(at::var(self, dims, correction, keep));
}
OP(aclnnStd, (Tensor, self), (Ints, dims), (Int64, correction), (Bool, keep), (Tensor, out)) {
  out.copy_(at::std(self, dims, correction, keep));
}
OP(aclnnStdMeanCorrection, (Tensor, self), (Ints, dims), (Int64, correction), (Bool, keep),
   (Tensor, deviation), (Tensor, mean)) {
  const auto [s, m] = at::std_mean(self, dims, correction, keep);
  deviation.copy_(s);
  mean.copy_(m);
}
OP(aclnnMax, (Tensor, self), (Tensor, out)) { out.copy_(at::max(self)); }
OP(aclnnMin, (Tensor, self), (Tensor, out)) { out.copy_(at::min(self)); }
OP(aclnnMaxDim, (Tensor, self), (Int64, dim), (Bool, keep), (Tensor, values), (Tensor, indices)) {
  const auto [v, i] = at::max(self, dim, keep);
  values.copy_(v);
  indices.copy_(i);
}
OP(aclnnMinDim, (Tensor, self), (Int64, dim), (Bool, keep), (Tensor, values), (Tensor, indices)) {
  const auto [v, i] = at::min(self, dim, keep);
  values.copy_(v);
  indices.copy_(i);
}
OP(aclnnAmax, (Tensor, self), (Ints, dims), (Bool, keep), (Tensor, out)) {
  at::amax_out(out, self, dims, keep);
}
OP(aclnnAmin, (Tensor, self), (Ints, dims), (Bool, keep), (Tensor, out)) {
  at::amin_out(out, self, dims, keep);
}
OP(aclnnAminmax, (Tensor, self), (Ints, dims), (Bool, keep), (Tensor, low), (Tensor, high)) {
  at::amin_out(low, self, dims, keep);
  at::amax_out(high, self, dims, keep);
}
OP(aclnnAminmaxAll, (Tensor, self), (Tensor, low), (Tensor, high)) {
  low.copy_(at::min(self));
  high.copy_(at::max(self));
}
OP(aclnnAminmaxDim, (Tensor, self), (Int64, dim), (Bool, keep), (Tensor, low), (Tensor, high)) {
  at::amin_out(low, self, dim, keep);
  at::amax_out(high, self, dim, keep);
}
OP(aclnnMedian, (Tensor, self), (Tensor, out)) { out.copy_(at::median(self)); }
OP(aclnnMedianDim, (Tensor, self), (Int64, dim), (Bool, keep), (Tensor, values), (Tensor, indices)) {
  const auto [v, i] = at::median(self, dim, keep);
  values.copy_(v);
  indices.copy_(i);
}
OP(aclnnKthvalue, (Tensor, self), (Int64, k), (Int64, dim), (Bool, keep), (Tensor, values),
   (Tensor, indices)) {
  const auto [v, i] = at::kthvalue(self, k, dim, keep);
  values.copy_(v);
  indices.copy_(i);
}
OP(aclnnReduceNansum, (Tensor, self), (Ints, dims), (Bool, keep), (DataType, type), (Tensor, out)) {
  out.copy_(at::nansum(self, dims, keep, out.scalar_type()));
}
OP(aclnnLogSumExp, (Tensor, self), (Ints, dims), (Bool, keep), (Tensor, out)) {
  out.copy_(at::logsumexp(self, dims, keep));
}
OP(aclnnTrace, (Tensor, self), (Tensor, out)) { out.copy_(at::trace(self)); }
OP(aclnnArgMax, (Tensor, self), (Int64, dim), (Bool, keep), (Tensor, out)) {
  out.copy_(at::argmax(self, dim, keep));
}
OP(aclnnArgMin, (Tensor, self), (Int64, dim), (Bool, keep), (Tensor, out)) {
  out.copy_(at::argmin(self, dim, keep));
}
OP(aclnnAll, (Tensor, self), (Ints, dims), (Bool, keep), (Tensor, out)) {
  out.copy_(at::all(self, dims, keep));
}
OP(aclnnAny, (Tensor, self), (Ints, dims), (Bool, keep), (Tensor, out)) {
  out.copy_(at::any(self, dims, keep));
}
OP(aclnnEqual, (Tensor, self), (Tensor, other), (Tensor, out)) { out.fill_(at::equal(self, other)); }
OP(aclnnCumsum, (Tensor, self), (Int64, dim), (DataType, type), (Tensor, out)) {
  at::cumsum_out(out, self, dim, out.scalar_type());
}
OP(aclnnCumsumV2, (Tensor, self), (Int64, dim), (Bool, exclusive), (Bool, reverse), (Tensor, out)) {
  const auto turned = reverse ? at::flip(self, {dim}) : self;
  auto sums = at::cumsum(turned, dim, out.scalar_type());
  if (exclusive) sums = sums - turned;
  out.copy_(reverse ? at::flip(sums, {dim}) : sums);
}
OP(aclnnCumprod, (Tensor, self), (Scalar, dim), (DataType, type), (Tensor, out)) {
  at::cumprod_out(out, self, dim.toLong(), out.scalar_type());
}
OP(aclnnCummax, (Tensor, self), (Int64, dim), (Tensor, values), (Tensor, indices)) {
  const auto [v, i] = at::cummax(self, dim);
  values.copy_(v);
  indices.copy_(i);
}
OP(aclnnCummin, (Tensor, self), (Int64, dim), (Tensor, values), (Tensor, indices)) {
  const auto [v, i] = at::cummin(self, dim);
  values.copy_(v);
  indices.copy_(i);
}
OP(aclnnSoftmax, (Tensor, self), (Int64, dim), (Tensor, out)) {
  out.copy_(at::softmax(self, dim, out.scalar_type()));
}
OP(aclnnLogSoftmax, (Tensor, self), (Int64, dim), (Tensor, out)) {
  out.copy_(at::log_softmax(self, dim, out.scalar_type()));
}
OP(aclnnNorm, (Tensor, self), (Scalar, p), (Ints, dims), (Bool, keep), (Tensor, out)) {
  out.copy_(at::norm(self, p, dims, keep));
}
OP(aclnnLinalgVectorNorm, (Tensor, self), (Scalar, order), (Ints, dims), (Bool, keep), (DataType, type),
   (Tensor, out)) {
  out.copy_(at::linalg_vector_norm(self, order, dims, keep, out.scalar_type()));
}
OP(aclnnHistc, (Tensor, self), (Int64, bins), (Scalar, low), (Scalar, high), (Tensor, out)) {
  out.copy_(at::histc(self.is_floating_point() ? self : self.to(at::kFloat), bins, low, high));
}
OP(aclnnBincount, (Tensor, self), (Tensor, weights), (Int64, least), (Tensor, out)) {
  const auto counts =
      at::bincount(self, weights.defined() ? std::optional<at::Tensor>(weights) : std::nullopt, least);
  out.narrow(0, 0, counts.numel()).copy_(counts);
}
