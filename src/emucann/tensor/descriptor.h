// Descriptors that aclnn calls pass: tensors, scalars, arrays, lists. They are counted, because the caller
// destroys them as soon as the op is launched, long before the stream's worker runs it.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/util/DimVector.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"

namespace emucann {

// The dtype behind an ACL data type. Throws std::runtime_error for one that libtorch's CPU kernels have no
// match for.
at::ScalarType scalar_type(aclDataType type);

class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  virtual ~Counted() = default;
  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void drop() const {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  mutable std::atomic<int> count_{1};
};

// Owns one count of a descriptor; empty for an argument that was left out.
template <typename T>
class Ref {
 public:
  explicit Ref(const T* descriptor = nullptr) : descriptor_(descriptor) {
    if (descriptor_ != nullptr) descriptor_->retain();
  }
  Ref(const Ref& other) : Ref(other.descriptor_) {}
  Ref(Ref&& other) noexcept : descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Ref() {
    if (descriptor_ != nullptr) descriptor_->drop();
  }
  const T* operator->() const { return descriptor_; }
  const T& operator*() const { return *descriptor_; }
  explicit operator bool() const { return descriptor_ != nullptr; }

 private:
  const T* descriptor_;
};

}  // namespace emucann

// The types that the C interface names.
struct aclTensor final : emucann::Counted {
  c10::DimVector sizes;     // elements
  c10::DimVector strides;   // elements
  std::int64_t offset = 0;  // elements from data
  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  c10::DimVector storage_sizes;
  void* data = nullptr;
  mutable std::optional<c10::DimVector> found;  // the sizes that an op found out for its output

  // A CPU tensor over the device's bytes. Throws if they are not in a live allocation.
  at::Tensor view() const;
};
struct aclScalar final : emucann::Counted {
  at::Scalar value;
  aclDataType type = ACL_DT_UNDEFINED;
};
struct aclIntArray final : emucann::Counted {
  std::vector<std::int64_t> values;
};
struct aclFloatArray final : emucann::Counted {
  std::vector<float> values;
};
struct aclBoolArray final : emucann::Counted {
  std::vector<bool> values;
};
struct aclTensorList final : emucann::Counted {
  std::vector<const aclTensor*> items;  // owned
  ~aclTensorList() override {
    for (const auto* item : items) item->drop();
  }
};
struct aclScalarList final : emucann::Counted {
  std::vector<const aclScalar*> items;  // owned
  ~aclScalarList() override {
    for (const auto* item : items) item->drop();
  }
};
