// Tensors in device memory, their descriptors, and how an aclnn op is called on them.
#pragma once

#include <ATen/ATen.h>

#include <stdexcept>
#include <vector>

#include "runtime_support.h"
#include "tensor/descriptor.h"

// Of libopapi (aclnn/acl_meta.h, which no wheel carries).
extern "C" {
aclTensor* aclCreateTensor(const int64_t* sizes, uint64_t dims, aclDataType type, const int64_t* strides,
                           int64_t offset, aclFormat format, const int64_t* storage_sizes,
                           uint64_t storage_dims, void* data);
aclScalar* aclCreateScalar(void* value, aclDataType type);
aclIntArray* aclCreateIntArray(const int64_t* values, uint64_t count);
aclTensorList* aclCreateTensorList(const aclTensor* const* items, uint64_t count);
int aclDestroyTensor(const aclTensor* descriptor);
int aclDestroyScalar(const aclScalar* descriptor);
int aclDestroyIntArray(const aclIntArray* descriptor);
int aclDestroyTensorList(const aclTensorList* descriptor);
}

struct aclOpExecutor;

namespace emucann::testing {

inline aclDataType acl_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return ACL_FLOAT;
    case at::kHalf:
      return ACL_FLOAT16;
    case at::kBFloat16:
      return ACL_BF16;
    case at::kDouble:
      return ACL_DOUBLE;
    case at::kInt:
      return ACL_INT32;
    case at::kLong:
      return ACL_INT64;
    case at::kBool:
      return ACL_BOOL;
    default:
      throw std::runtime_error(std::string("no ACL type for ") + c10::toString(type));
  }
}

// A tensor whose elements are in device memory.
class DeviceTensor {
 public:
  // Copies values there, contiguous.
  explicit DeviceTensor(const at::Tensor& values)
      : host_(values.contiguous()), memory_(std::max<std::size_t>(host_.nbytes(), 1)) {
    EXPECT_ACL_OK(aclrtMemcpy(memory_.get(), memory_.bytes(), host_.const_data_ptr(), host_.nbytes(),
                              ACL_MEMCPY_HOST_TO_DEVICE));
  }

  at::Tensor read() const {
    auto result = at::empty_like(host_);
    EXPECT_ACL_OK(aclrtMemcpy(result.mutable_data_ptr(), result.nbytes(), memory_.get(), host_.nbytes(),
                              ACL_MEMCPY_DEVICE_TO_HOST));
    return result;
  }

  // A descriptor of the whole tensor, or of a view that was made with the strides and offset of a host tensor
  // like it. The caller destroys it.
  aclTensor* descriptor() const { return descriptor(host_); }
  aclTensor* descriptor(const at::Tensor& view) const {
    const std::int64_t storage = host_.numel();
    return aclCreateTensor(view.sizes().data(), static_cast<uint64_t>(view.dim()),
                           acl_type(view.scalar_type()), view.strides().data(), view.storage_offset(),
                           ACL_FORMAT_ND, &storage, 1, memory_.get());
  }

  void* data() const { return memory_.get(); }

 private:
  at::Tensor host_;
  DeviceMemory memory_;
};

}  // namespace emucann::testing
