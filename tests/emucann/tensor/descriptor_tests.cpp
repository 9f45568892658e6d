#include <complex>

#include "device_tensor.h"
#include "tensor/descriptor.h"

namespace emucann::testing {
namespace {

class Descriptors : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_ACL_OK(aclrtSetDevice(0)); }
};

TEST_F(Descriptors, ViewTheDevicesBytes) {
  const auto values = at::arange(24, at::kFloat).view({2, 3, 4});
  const DeviceTensor tensor(values);
  const Ref<aclTensor> descriptor(tensor.descriptor());
  const auto view = descriptor->view();
  EXPECT_TRUE(at::equal(view, values));
  view.fill_(7);
  EXPECT_TRUE(at::equal(tensor.read(), at::full({2, 3, 4}, 7.0))) << "it is no copy";
  aclDestroyTensor(&*descriptor);
}

TEST_F(Descriptors, HaveOffsetsAndStrides) {
  const auto values = at::arange(24, at::kLong).view({4, 6});
  const DeviceTensor tensor(values);
  for (const auto& expected :
       {values.t(), values[2], values.slice(1, 1, 6, 2), values.slice(0, 1, 3).slice(1, 2, 4),
        values[0].expand({5, 6}), values.as_strided({3, 2}, {1, 6}, 4), values.unsqueeze(1)}) {
    const aclTensor* descriptor = tensor.descriptor(expected);
    EXPECT_TRUE(at::equal(descriptor->view(), expected)) << expected;
    EXPECT_EQ(descriptor->view().strides(), expected.strides());
    aclDestroyTensor(descriptor);
  }
}

TEST_F(Descriptors, MayBeOfOneElementOrOfNone) {
  const DeviceTensor tensor(at::full({}, 3.5));
  const aclTensor* scalar = tensor.descriptor();
  EXPECT_EQ(scalar->view().dim(), 0);
  EXPECT_EQ(scalar->view().item<double>(), 3.5);
  aclDestroyTensor(scalar);
  const int64_t sizes[] = {3, 0, 2};
  const int64_t strides[] = {0, 2, 1};
  const aclTensor* empty =
      aclCreateTensor(sizes, 3, ACL_FLOAT, strides, 1'000'000, ACL_FORMAT_ND, sizes, 3, nullptr);
  EXPECT_EQ(empty->view().numel(), 0);
  EXPECT_EQ(empty->view().sizes(), (std::vector<int64_t>{3, 0, 2}));
  aclDestroyTensor(empty);
}

TEST_F(Descriptors, HaveTheWheelsDtypes) {
  for (const auto type :
       {at::kFloat, at::kHalf, at::kBFloat16, at::kDouble, at::kInt, at::kLong, at::kBool}) {
    EXPECT_EQ(scalar_type(acl_type(type)), type);
  }
  EXPECT_EQ(scalar_type(ACL_INT8), at::kChar);
  EXPECT_EQ(scalar_type(ACL_UINT8), at::kByte);
  EXPECT_EQ(scalar_type(ACL_INT16), at::kShort);
  EXPECT_EQ(scalar_type(ACL_COMPLEX64), at::kComplexFloat);
  for (const auto type : {ACL_INT4, ACL_STRING, ACL_DT_UNDEFINED, static_cast<aclDataType>(999)}) {
    try {
      scalar_type(type);
      ADD_FAILURE() << type << " was taken";
    } catch (const std::runtime_error& problem) {
      expect_words(problem.what(), {"data type", std::to_string(type).c_str(), "not emulated"});
    }
  }
}

TEST_F(Descriptors, OfMemoryThatIsNotThereAreRefused) {
  const int64_t size = 4;
  const int64_t stride = 1;
  const auto view_of = [&](void* data, int64_t offset) {
    const aclTensor* descriptor =
        aclCreateTensor(&size, 1, ACL_FLOAT, &stride, offset, ACL_FORMAT_ND, &size, 1, data);
    std::string problem;
    try {
      [[maybe_unused]] const auto view = descriptor->view();
    } catch (const std::runtime_error& error) {
      problem = error.what();
    }
    aclDestroyTensor(descriptor);
    return problem;
  };
  void* dead = nullptr;
  {
    const DeviceMemory memory(512);
    dead = memory.get();
    EXPECT_EQ(view_of(dead, 0), "");
    EXPECT_EQ(view_of(dead, 124), "");
    expect_words(view_of(dead, 125), {"not in a live allocation"});
  }
  expect_words(view_of(dead, 0), {"not in a live allocation"});
  expect_words(view_of(nullptr, 0), {"no memory"});
}

TEST_F(Descriptors, LiveAsLongAsSomebodyKeepsThem) {
  const DeviceTensor tensor(at::ones({2}));
  const aclTensor* descriptor = tensor.descriptor();
  {
    const Ref<aclTensor> kept(descriptor);
    EXPECT_EQ(aclDestroyTensor(descriptor), ACL_SUCCESS);
    EXPECT_TRUE(at::equal(kept->view(), at::ones({2})));
  }
  EXPECT_EQ(aclDestroyTensor(nullptr), ACL_SUCCESS);
}

TEST_F(Descriptors, OfListsOwnTheirItems) {
  const DeviceTensor tensor(at::ones({2}));
  const aclTensor* items[] = {tensor.descriptor(), tensor.descriptor()};
  const aclTensorList* list = aclCreateTensorList(items, 2);
  const Ref<aclTensor> kept(items[0]);
  EXPECT_EQ(aclDestroyTensorList(list), ACL_SUCCESS);
  EXPECT_TRUE(at::equal(kept->view(), at::ones({2})));
}

template <typename T>
at::Scalar scalar(T value, aclDataType type) {
  const aclScalar* descriptor = aclCreateScalar(&value, type);
  const auto result = descriptor->value;
  aclDestroyScalar(descriptor);
  return result;
}

TEST_F(Descriptors, OfScalarsKeepTheirValue) {
  EXPECT_EQ(scalar(1.5F, ACL_FLOAT).toDouble(), 1.5);
  EXPECT_EQ(scalar(1e300, ACL_DOUBLE).toDouble(), 1e300);
  EXPECT_EQ(scalar(at::Half(0.5F), ACL_FLOAT16).toDouble(), 0.5);
  EXPECT_EQ(scalar(at::BFloat16(-2.0F), ACL_BF16).toDouble(), -2.0);
  EXPECT_EQ(scalar(std::int64_t{1} << 60, ACL_INT64).toLong(), std::int64_t{1} << 60);
  EXPECT_EQ(scalar(std::int8_t{-3}, ACL_INT8).toLong(), -3);
  EXPECT_TRUE(scalar(true, ACL_BOOL).toBool());
  EXPECT_EQ(scalar(std::complex<double>(1, -2), ACL_COMPLEX128).toComplexDouble(),
            c10::complex<double>(1, -2));
  double value = 0;
  EXPECT_EQ(aclCreateScalar(&value, ACL_STRING), nullptr);
  expect_words(recent_message(), {"not emulated"});
}

}  // namespace
}  // namespace emucann::testing
