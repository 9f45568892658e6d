// Ops that look for elements: sorting, selection, distinct values. The size of what is found is known only
// afterwards.
#include "ops/op.h"

OP(aclnnTopk, (Tensor, self), (Int64, k), (Int64, dim), (Bool, largest), (Bool, sorted), (Tensor, values),
   (Tensor, indices)) {
  const auto [found, where] = at::topk(self, k, dim, largest, sorted);
  values.copy_(found);
  indices.copy_(where);
}
OP(aclnnSort, (Tensor, self), (Bool, stable), (Int64, dim), (Bool, descending), (Tensor, values),
   (Tensor, indices)) {
  const auto [sorted, where] = at::sort(self, std::optional<bool>(stable), dim, descending);
  values.copy_(sorted);
  indices.copy_(where);
}
OP(aclnnSearchSorted, (Tensor, sorted), (Tensor, self), (Bool, as_int32), (Bool, right), (Tensor, sorter),
   (Tensor, out)) {
  out.copy_(at::searchsorted(sorted, self, as_int32, right, std::nullopt,
                             sorter.defined() ? std::optional<at::Tensor>(sorter) : std::nullopt));
}
OP(aclnnSearchSorteds, (Tensor, sorted), (Scalar, self), (Bool, as_int32), (Bool, right), (Tensor, sorter),
   (Tensor, out)) {
  out.copy_(at::searchsorted(sorted, self, as_int32, right, std::nullopt,
                             sorter.defined() ? std::optional<at::Tensor>(sorter) : std::nullopt));
}

OP(aclnnNonzero, (Tensor, self), (Found, out)) { out.set(at::nonzero(self)); }
// A row a dimension, where aclnnNonzero has a column: what indexing with a mask takes (AdvancedIndex.cpp in
// op-plugin).
OP(aclnnNonzeroV2, (Tensor, self), (Found, out)) { out.set(at::nonzero(self).t()); }
OP(aclnnMaskedSelect, (Tensor, self), (Tensor, mask), (Found, out)) {
  out.set(at::masked_select(self, mask));
}

namespace {

// Outputs that nobody asked for come with room for nothing.
void give(const at::Tensor& values, const at::Tensor& out) {
  if (out.numel() > 0) out.view(-1).narrow(0, 0, values.numel()).copy_(values.view(-1));
}

}  // namespace

OP(aclnnUnique, (Tensor, self), (Bool, sorted), (Bool, inverse), (Found, out), (Tensor, places)) {
  const auto [values, where] = at::_unique(self, sorted, inverse);
  out.set(values);
  if (inverse) give(where, places);
}
OP(aclnnUnique2, (Tensor, self), (Bool, sorted), (Bool, inverse), (Bool, counts), (Found, out),
   (Tensor, places), (Tensor, numbers)) {
  const auto [values, where, often] = at::_unique2(self, sorted, inverse, counts);
  out.set(values);
  if (inverse) give(where, places);
  if (counts) give(often, numbers);
}
OP(aclnnUniqueDim, (Tensor, self), (Bool, sorted), (Bool, inverse), (Int64, dim), (Found, out),
   (Tensor, places), (Found, numbers)) {
  const auto [values, where, often] =
      at::unique_dim(self, dim, sorted, /*return_inverse=*/true, /*return_counts=*/true);
  out.set(values);
  give(where, places);
  numbers.set(often);
}
OP(aclnnUniqueConsecutive, (Tensor, self), (Bool, inverse), (Bool, counts), (Int64, dim), (Found, out),
   (Tensor, places), (Found, numbers)) {
  constexpr std::int64_t none =
      1000;  // over the flattened tensor (UniqueConsecutiveKernelNpuOpApi.cpp in op-plugin)
  const auto along = dim == none ? std::nullopt : std::optional<std::int64_t>(dim);
  const auto [values, where, often] = at::unique_consecutive(self, inverse, counts, along);
  out.set(values);
  if (inverse) give(where, places);
  numbers.set(counts ? often : at::empty({0}, at::kLong));
}
