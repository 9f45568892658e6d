// What the bytes of a collective mean: sizes of HCCL's data types, and the reductions on them.
#pragma once

#include <cstddef>

#include "hccl/hccl_types.h"

namespace emucann::hccl {

// Bytes of one element; 0 for a type that HCCL does not define.
std::size_t element_bytes(HcclDataType type);

// Whether reduce can be called with the pair: every integer and floating type but int128, HIF8 and the fp8
// types.
bool reducible(HcclDataType type, HcclReduceOp op);

// target[i] = op(target[i], source[i]) for count elements. fp16 and bf16 are computed in float and rounded at
// each step, as torch's CPU kernels do. Precondition: reducible(type, op).
void reduce(void* target, const void* source, std::size_t count, HcclDataType type, HcclReduceOp op);

}  // namespace emucann::hccl
