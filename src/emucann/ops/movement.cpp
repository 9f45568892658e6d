// Ops that move elements: copies, casts, joins, indexing.
#include "ops/op.h"

OP(aclnnInplaceCopy, (Tensor, self), (Tensor, source)) { self.copy_(source); }
OP(aclnnCast, (Tensor, self), (DataType, type), (Tensor, out)) { out.copy_(self); }
OP(aclnnCat, (Tensors, tensors), (Int64, dim), (Tensor, out)) { at::cat_out(out, tensors, dim); }
OP(aclnnStack, (Tensors, tensors), (Int64, dim), (Tensor, out)) { at::stack_out(out, tensors, dim); }
OP(aclnnRepeat, (Tensor, self), (Ints, repeats), (Tensor, out)) { out.copy_(self.repeat(repeats)); }
OP(aclnnExpand, (Tensor, self), (Ints, sizes), (Tensor, out)) { out.copy_(self.expand(sizes)); }
OP(aclnnFlip, (Tensor, self), (Ints, dims), (Tensor, out)) { out.copy_(at::flip(self, dims)); }
OP(aclnnRoll, (Tensor, self), (Ints, shifts), (Ints, dims), (Tensor, out)) {
  out.copy_(at::roll(self, shifts, dims));
}
OP(aclnnPermute, (Tensor, self), (Ints, dims), (Tensor, out)) { out.copy_(self.permute(dims)); }
OP(aclnnConstantPadNd, (Tensor, self), (Ints, pad), (Scalar, value), (Tensor, out)) {
  out.copy_(at::constant_pad_nd(self, pad, value));
}
OP(aclnnTriu, (Tensor, self), (Int64, diagonal), (Tensor, out)) { at::triu_out(out, self, diagonal); }
OP(aclnnTril, (Tensor, self), (Int64, diagonal), (Tensor, out)) { at::tril_out(out, self, diagonal); }
OP(aclnnInplaceTriu, (Tensor, self), (Int64, diagonal)) { self.triu_(diagonal); }
OP(aclnnInplaceTril, (Tensor, self), (Int64, diagonal)) { self.tril_(diagonal); }
OP(aclnnSlice, (Tensor, self), (Int64, dim), (Int64, start), (Int64, end), (Int64, step), (Tensor, out)) {
  out.copy_(at::slice(self, dim, start, end, step));
}

namespace {

// An entry that selects a whole dimension comes as a tensor without elements.
c10::List<std::optional<at::Tensor>> index_list(const std::vector<at::Tensor>& indices) {
  c10::List<std::optional<at::Tensor>> list;
  for (const auto& index : indices) {
    list.push_back(index.numel() == 0 ? std::nullopt : std::optional<at::Tensor>(index));
  }
  return list;
}

at::Tensor as_index(const at::Tensor& index) {
  return index.scalar_type() == at::kLong || index.scalar_type() == at::kInt ? index : index.to(at::kLong);
}

// The reductions of aclnnScatter: 0 none, 1 add, 2 multiply (ScatterKernelNpuOpApi.cpp in op-plugin).
void scatter_into(at::Tensor& self, std::int64_t dim, const at::Tensor& index, const at::Tensor& source,
                  std::int64_t reduction) {
  switch (reduction) {
    case 0:
      self.scatter_(dim, index.to(at::kLong), source);
      return;
    case 1:
      self.scatter_(dim, index.to(at::kLong), source, "add");
      return;
    case 2:
      self.scatter_(dim, index.to(at::kLong), source, "multiply");
      return;
    default:
      throw std::runtime_error("scatter reduction " + std::to_string(reduction) + " is not emulated");
  }
}

}  // namespace

OP(aclnnIndex, (Tensor, self), (Tensors, indices), (Tensor, out)) {
  at::index_out(out, self, index_list(indices));
}
OP(aclnnIndexPutImpl, (Tensor, self), (Tensors, indices), (Tensor, values), (Bool, accumulate),
   (Bool, unsafe)) {
  self.index_put_(index_list(indices), values, accumulate);
}
OP(aclnnIndexSelect, (Tensor, self), (Int64, dim), (Tensor, index), (Tensor, out)) {
  at::index_select_out(out, self, dim, as_index(index));
}
OP(aclnnIndexAdd, (Tensor, self), (Int64, dim), (Tensor, index), (Tensor, source), (Scalar, alpha),
   (Tensor, out)) {
  out.copy_(at::index_add(self, dim, as_index(index), source, alpha));
}
OP(aclnnIndexCopy, (Tensor, self), (Int64, dim), (Tensor, index), (Tensor, source), (Tensor, out)) {
  out.copy_(at::index_copy(self, dim, index.to(at::kLong), source));
}
OP(aclnnInplaceIndexCopy, (Tensor, self), (Int64, dim), (Tensor, index), (Tensor, source)) {
  self.index_copy_(dim, index.to(at::kLong), source);
}
OP(aclnnIndexFill, (Tensor, self), (Int64, dim), (Tensor, index), (Scalar, value), (Tensor, out)) {
  out.copy_(at::index_fill(self, dim, index.to(at::kLong), value));
}
OP(aclnnGather, (Tensor, self), (Int64, dim), (Tensor, index), (Tensor, out)) {
  at::gather_out(out, self, dim, index.to(at::kLong));
}
OP(aclnnEmbedding, (Tensor, weight), (Tensor, indices), (Tensor, out)) {
  at::embedding_out(out, weight, as_index(indices));
}
OP(aclnnScatter, (Tensor, self), (Int64, dim), (Tensor, index), (Tensor, source), (Int64, reduction),
   (Tensor, out)) {
  out.copy_(self);
  scatter_into(out, dim, index, source, reduction);
}
OP(aclnnScatterValue, (Tensor, self), (Int64, dim), (Tensor, index), (Scalar, value), (Int64, reduction),
   (Tensor, out)) {
  out.copy_(self);
  scatter_into(out, dim, index, at::full_like(index, value, self.options()), reduction);
}
OP(aclnnInplaceScatter, (Tensor, self), (Int64, dim), (Tensor, index), (Tensor, source), (Int64, reduction)) {
  scatter_into(self, dim, index, source, reduction);
}
OP(aclnnInplaceScatterValue, (Tensor, self), (Int64, dim), (Tensor, index), (Scalar, value),
   (Int64, reduction)) {
  scatter_into(self, dim, index, at::full_like(index, value, self.options()), reduction);
}
OP(aclnnScatterAdd, (Tensor, self), (Int64, dim), (Tensor, index), (Tensor, source), (Tensor, out)) {
  out.copy_(at::scatter_add(self, dim, index.to(at::kLong), source));
}
OP(aclnnInplaceMaskedScatter, (Tensor, self), (Tensor, mask), (Tensor, source)) {
  self.masked_scatter_(mask, source);
}
OP(aclnnTake, (Tensor, self), (Tensor, index), (Tensor, out)) {
  out.copy_(at::take(self, index.to(at::kLong)));
}
OP(aclnnInplacePut, (Tensor, self), (Tensor, index), (Tensor, source), (Bool, accumulate)) {
  self.put_(index.to(at::kLong), source, accumulate);
}
OP(aclnnOneHot, (Tensor, self), (Int64, depth), (Tensor, on), (Tensor, off), (Int64, axis), (Tensor, out)) {
  const auto classes = at::arange(depth, at::TensorOptions().dtype(at::kLong));
  const auto hot = self.to(at::kLong).unsqueeze(-1).eq(classes);
  out.copy_(at::where(axis == -1 ? hot : hot.movedim(-1, axis), on, off));
}
OP(aclnnReflectionPad1d, (Tensor, self), (Ints, pad), (Tensor, out)) {
  out.copy_(at::reflection_pad1d(self, pad));
}
OP(aclnnReflectionPad2d, (Tensor, self), (Ints, pad), (Tensor, out)) {
  out.copy_(at::reflection_pad2d(self, pad));
}
OP(aclnnReplicationPad1d, (Tensor, self), (Ints, pad), (Tensor, out)) {
  out.copy_(at::replication_pad1d(self, pad));
}
OP(aclnnReplicationPad2d, (Tensor, self), (Ints, pad), (Tensor, out)) {
  out.copy_(at::replication_pad2d(self, pad));
}
OP(aclnnRepeatInterleaveInt, (Tensor, self), (Int64, repeats), (Int64, output_size), (Tensor, out)) {
  out.copy_(at::repeat_interleave(self, repeats));
}
OP(aclnnRepeatInterleaveIntWithDim, (Tensor, self), (Int64, repeats), (Int64, dim), (Int64, output_size),
   (Tensor, out)) {
  out.copy_(at::repeat_interleave(self, repeats, dim));
}
OP(aclnnRepeatInterleave, (Tensor, self), (Tensor, repeats), (Int64, output_size), (Tensor, out)) {
  out.copy_(at::repeat_interleave(self, repeats.to(at::kLong)));
}
OP(aclnnRepeatInterleaveWithDim, (Tensor, self), (Tensor, repeats), (Int64, dim), (Int64, output_size),
   (Tensor, out)) {
  out.copy_(at::repeat_interleave(self, repeats.to(at::kLong), dim));
}
