#include "tensor/descriptor.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "emucann/runtime.h"

namespace emucann {

at::ScalarType scalar_type(aclDataType type) {
  switch (type) {
    case ACL_FLOAT:
      return at::kFloat;
    case ACL_FLOAT16:
      return at::kHalf;
    case ACL_BF16:
      return at::kBFloat16;
    case ACL_DOUBLE:
      return at::kDouble;
    case ACL_INT8:
      return at::kChar;
    case ACL_UINT8:
      return at::kByte;
    case ACL_INT16:
      return at::kShort;
    case ACL_INT32:
      return at::kInt;
    case ACL_INT64:
      return at::kLong;
    case ACL_UINT16:
      return at::kUInt16;
    case ACL_UINT32:
      return at::kUInt32;
    case ACL_UINT64:
      return at::kUInt64;
    case ACL_BOOL:
      return at::kBool;
    case ACL_COMPLEX64:
      return at::kComplexFloat;
    case ACL_COMPLEX128:
      return at::kComplexDouble;
    default:
      throw std::runtime_error("data type " + std::to_string(static_cast<int>(type)) + " is not emulated");
  }
}

namespace {

template <typename T>
T read(const void* pointer) {
  T value;
  std::memcpy(&value, pointer, sizeof value);
  return value;
}

at::Scalar read_scalar(const void* value, aclDataType type) {
  switch (scalar_type(type)) {
    case at::kFloat:
      return read<float>(value);
    case at::kDouble:
      return read<double>(value);
    case at::kHalf:
      return static_cast<float>(read<at::Half>(value));
    case at::kBFloat16:
      return static_cast<float>(read<at::BFloat16>(value));
    case at::kChar:
      return read<std::int8_t>(value);
    case at::kByte:
      return read<std::uint8_t>(value);
    case at::kShort:
      return read<std::int16_t>(value);
    case at::kInt:
      return read<std::int32_t>(value);
    case at::kLong:
      return read<std::int64_t>(value);
    case at::kBool:
      return read<bool>(value);
    case at::kComplexFloat:
      return read<c10::complex<float>>(value);
    case at::kComplexDouble:
      return read<c10::complex<double>>(value);
    default:
      throw std::runtime_error("a scalar of data type " + std::to_string(static_cast<int>(type)) +
                               " is not emulated");
  }
}

// Runs make and turns an exception into a null descriptor, which is what CANN returns on failure.
template <typename F>
auto made(F make) -> decltype(make()) {
  try {
    return make();
  } catch (const std::exception& problem) {
    fail(ACL_ERROR_INVALID_PARAM, problem.what());
    return nullptr;
  }
}

template <typename Array, typename T>
Array* array_of(const T* values, std::uint64_t count) {
  auto* array = new Array;
  array->values.assign(values, values + count);
  return array;
}

template <typename T>
int destroyed(const T* descriptor) {
  if (descriptor != nullptr) descriptor->drop();
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace emucann

at::Tensor aclTensor::view() const {
  const auto dtype = emucann::scalar_type(type);
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return at::from_blob(nullptr, sizes, strides, at::TensorOptions().dtype(dtype));
    elements += (sizes[i] - 1) * strides[i];
  }
  if (data == nullptr) throw std::runtime_error("a tensor has elements and no memory");
  const auto width = static_cast<std::int64_t>(c10::elementSize(dtype));
  void* bytes = emucann::host_view(static_cast<char*>(data) + offset * width,
                                   static_cast<std::size_t>(elements * width));
  return at::from_blob(bytes, sizes, strides, at::TensorOptions().dtype(dtype));
}

extern "C" {

EMUCANN_API aclTensor* aclCreateTensor(const int64_t* sizes, uint64_t dims, aclDataType type,
                                       const int64_t* strides, int64_t offset, aclFormat format,
                                       const int64_t* storage_sizes, uint64_t storage_dims, void* data) {
  auto* tensor = new aclTensor;
  tensor->sizes.assign(sizes, sizes + dims);
  tensor->strides.assign(strides, strides + dims);
  tensor->storage_sizes.assign(storage_sizes, storage_sizes + storage_dims);
  tensor->offset = offset;
  tensor->type = type;
  tensor->format = format;
  tensor->data = data;
  return tensor;
}

// The array is the caller's, who frees it with delete[] (NonzeroKernelNpuOpApi.cpp in op-plugin).
EMUCANN_API int aclGetViewShape(const aclTensor* tensor, int64_t** sizes, uint64_t* dims) {
  const auto& known = tensor->found ? *tensor->found : tensor->sizes;
  *dims = known.size();
  *sizes = new int64_t[known.size()];
  std::copy(known.begin(), known.end(), *sizes);
  return ACL_SUCCESS;
}

EMUCANN_API aclScalar* aclCreateScalar(void* value, aclDataType type) {
  return emucann::made([&] {
    const auto read = emucann::read_scalar(value, type);
    auto* scalar = new aclScalar;
    scalar->value = read;
    scalar->type = type;
    return scalar;
  });
}

EMUCANN_API aclIntArray* aclCreateIntArray(const int64_t* values, uint64_t count) {
  return emucann::array_of<aclIntArray>(values, count);
}
EMUCANN_API aclFloatArray* aclCreateFloatArray(const float* values, uint64_t count) {
  return emucann::array_of<aclFloatArray>(values, count);
}
EMUCANN_API aclBoolArray* aclCreateBoolArray(const bool* values, uint64_t count) {
  return emucann::array_of<aclBoolArray>(values, count);
}

// A list takes its items over: aclDestroyTensorList destroys them too.
EMUCANN_API aclTensorList* aclCreateTensorList(const aclTensor* const* items, uint64_t count) {
  auto* list = new aclTensorList;
  list->items.assign(items, items + count);
  return list;
}
EMUCANN_API aclScalarList* aclCreateScalarList(const aclScalar* const* items, uint64_t count) {
  auto* list = new aclScalarList;
  list->items.assign(items, items + count);
  return list;
}

EMUCANN_API int aclDestroyTensor(const aclTensor* d) { return emucann::destroyed(d); }
EMUCANN_API int aclDestroyScalar(const aclScalar* d) { return emucann::destroyed(d); }
EMUCANN_API int aclDestroyIntArray(const aclIntArray* d) { return emucann::destroyed(d); }
EMUCANN_API int aclDestroyFloatArray(const aclFloatArray* d) { return emucann::destroyed(d); }
EMUCANN_API int aclDestroyBoolArray(const aclBoolArray* d) { return emucann::destroyed(d); }
EMUCANN_API int aclDestroyTensorList(const aclTensorList* d) { return emucann::destroyed(d); }
EMUCANN_API int aclDestroyScalarList(const aclScalarList* d) { return emucann::destroyed(d); }
}
