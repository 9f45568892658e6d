// How an op goes from its two C entry points to the stream's worker.
#include <ATen/ATen.h>
#include <dlfcn.h>

#include "stream/gate.h"
#include "tensor/device_tensor.h"

extern "C" {
int aclnnAddGetWorkspaceSize(const aclTensor*, const aclTensor*, const aclScalar*, const aclTensor*,
                             uint64_t*, aclOpExecutor**);
int aclnnAdd(void*, uint64_t, aclOpExecutor*, aclrtStream);
int aclnnInplaceMulGetWorkspaceSize(const aclTensor*, const aclTensor*, uint64_t*, aclOpExecutor**);
int aclnnInplaceMul(void*, uint64_t, aclOpExecutor*, aclrtStream);
int aclnnCatGetWorkspaceSize(const aclTensorList*, int64_t, const aclTensor*, uint64_t*, aclOpExecutor**);
int aclnnCat(void*, uint64_t, aclOpExecutor*, aclrtStream);
int aclnnPermuteGetWorkspaceSize(const aclTensor*, const aclIntArray*, const aclTensor*, uint64_t*,
                                 aclOpExecutor**);
int aclnnPermute(void*, uint64_t, aclOpExecutor*, aclrtStream);
int aclnnNonzeroGetWorkspaceSize(const aclTensor*, const aclTensor*, uint64_t*, aclOpExecutor**);
int aclnnNonzero(void*, uint64_t, aclOpExecutor*, aclrtStream);
int aclGetViewShape(const aclTensor*, int64_t**, uint64_t*);
}

namespace emucann::testing {
namespace {

class Ops : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_ACL_OK(aclrtSetDevice(0)); }
  void TearDown() override {
    for (const auto* descriptor : tensors_) aclDestroyTensor(descriptor);
  }
  const aclTensor* of(const DeviceTensor& tensor) { return tensors_.emplace_back(tensor.descriptor()); }

  std::vector<const aclTensor*> tensors_;
  uint64_t workspace_ = 99;
  aclOpExecutor* executor_ = nullptr;
};

TEST_F(Ops, RunOnAStream) {
  const DeviceTensor a(at::arange(6, at::kFloat));
  const DeviceTensor b(at::full({6}, 10.0F));
  const DeviceTensor out(at::zeros({6}));
  float two = 2;
  const aclScalar* alpha = aclCreateScalar(&two, ACL_FLOAT);
  ASSERT_ACL_OK(aclnnAddGetWorkspaceSize(of(a), of(b), alpha, of(out), &workspace_, &executor_));
  EXPECT_EQ(workspace_, 0u);
  ASSERT_NE(executor_, nullptr);
  EXPECT_TRUE(at::equal(out.read(), at::zeros({6}))) << "planned, not run";
  aclDestroyScalar(alpha);
  const ScopedStream stream;
  ASSERT_ACL_OK(aclnnAdd(nullptr, 0, executor_, stream));
  EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
  EXPECT_TRUE(at::equal(out.read(), at::arange(6, at::kFloat) + 20));
}

TEST_F(Ops, RunAfterTheirDescriptorsWereDestroyed) {
  const DeviceTensor self(at::arange(4, at::kInt));
  const DeviceTensor other(at::full({4}, 3, at::kInt));
  const aclTensor* first = self.descriptor();
  const aclTensor* second = other.descriptor();
  ASSERT_ACL_OK(aclnnInplaceMulGetWorkspaceSize(first, second, &workspace_, &executor_));
  const ScopedStream stream;
  const Gate gate;
  gate.put_on(stream);
  ASSERT_ACL_OK(aclnnInplaceMul(nullptr, 0, executor_, stream));
  aclDestroyTensor(first);
  aclDestroyTensor(second);
  EXPECT_TRUE(at::equal(self.read(), at::arange(4, at::kInt))) << "behind the gate";
  gate.open();
  EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
  EXPECT_TRUE(at::equal(self.read(), at::arange(4, at::kInt) * 3));
}

TEST_F(Ops, TakeLists) {
  const auto a = at::arange(6, at::kLong).view({2, 3});
  const DeviceTensor first(a);
  const DeviceTensor second(a + 100);
  const DeviceTensor joined(at::zeros({2, 6}, at::kLong));
  const aclTensor* items[] = {first.descriptor(), second.descriptor()};
  const aclTensorList* list = aclCreateTensorList(items, 2);
  ASSERT_ACL_OK(aclnnCatGetWorkspaceSize(list, 1, of(joined), &workspace_, &executor_));
  aclDestroyTensorList(list);
  ASSERT_ACL_OK(aclnnCat(nullptr, 0, executor_, nullptr));
  EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_TRUE(at::equal(joined.read(), at::cat({a, a + 100}, 1)));

  const DeviceTensor turned(at::zeros({3, 2}, at::kLong));
  const int64_t order[] = {1, 0};
  const aclIntArray* dims = aclCreateIntArray(order, 2);
  ASSERT_ACL_OK(aclnnPermuteGetWorkspaceSize(of(first), dims, of(turned), &workspace_, &executor_));
  aclDestroyIntArray(dims);
  ASSERT_ACL_OK(aclnnPermute(nullptr, 0, executor_, nullptr));
  EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_TRUE(at::equal(turned.read(), a.t()));
}

TEST_F(Ops, TellTheSizeThatTheyFound) {
  const DeviceTensor self(at::tensor({0, 5, 0, 7}, at::kInt));
  const DeviceTensor out(at::zeros({4, 1}, at::kLong));
  const aclTensor* descriptor = of(out);
  ASSERT_ACL_OK(aclnnNonzeroGetWorkspaceSize(of(self), descriptor, &workspace_, &executor_));
  ASSERT_ACL_OK(aclnnNonzero(nullptr, 0, executor_, nullptr));
  EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
  int64_t* sizes = nullptr;
  uint64_t dims = 0;
  ASSERT_ACL_OK(aclGetViewShape(descriptor, &sizes, &dims));
  EXPECT_EQ(std::vector<int64_t>(sizes, sizes + dims), (std::vector<int64_t>{2, 1}));
  delete[] sizes;  // the caller's, by op-plugin's use of it
  EXPECT_TRUE(at::equal(out.read().view(-1).slice(0, 0, 2), at::tensor({1, 3}, at::kLong)));
}

TEST_F(Ops, ErrorsNameTheOp) {
  const DeviceTensor a(at::zeros({2, 3}));
  const DeviceTensor b(at::zeros({2, 4}));
  const DeviceTensor out(at::zeros({2, 3}));
  float one = 1;
  const aclScalar* alpha = aclCreateScalar(&one, ACL_FLOAT);
  for (const bool fits : {true, false}) {
    ASSERT_ACL_OK(aclnnAddGetWorkspaceSize(of(a), of(fits ? a : b), alpha, of(out), &workspace_, &executor_));
    ASSERT_ACL_OK(aclnnAdd(nullptr, 0, executor_, nullptr));
    if (fits) {
      EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
    } else {
      expect_refused(aclrtSynchronizeStream(nullptr), {"aclnnAdd", "must match"});
    }
  }
  ASSERT_ACL_OK(aclnnAddGetWorkspaceSize(of(a), of(a), nullptr, of(out), &workspace_, &executor_));
  ASSERT_ACL_OK(aclnnAdd(nullptr, 0, executor_, nullptr));
  expect_refused(aclrtSynchronizeStream(nullptr), {"aclnnAdd", "a scalar is missing"});
  aclDestroyScalar(alpha);
}

TEST_F(Ops, RefuseMemoryThatWasFreed) {
  const DeviceTensor a(at::zeros({4}));
  float one = 1;
  const aclScalar* alpha = aclCreateScalar(&one, ACL_FLOAT);
  {
    const DeviceTensor gone(at::zeros({4}));
    ASSERT_ACL_OK(aclnnAddGetWorkspaceSize(of(a), of(gone), alpha, of(a), &workspace_, &executor_));
  }
  ASSERT_ACL_OK(aclnnAdd(nullptr, 0, executor_, nullptr));
  expect_refused(aclrtSynchronizeStream(nullptr), {"aclnnAdd", "not in a live allocation"});
  aclDestroyScalar(alpha);
}

TEST_F(Ops, ThatAreAbsentHaveNoSymbol) {
  EXPECT_NE(dlsym(RTLD_DEFAULT, "aclnnAdd"), nullptr);
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "aclnnNoSuchOp"), nullptr);
}

}  // namespace
}  // namespace emucann::testing
