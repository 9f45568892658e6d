// aclnnApplyTopKTopPCustom against its definition, row by row.
#include <ATen/ATen.h>

#include <cmath>

#include "tensor/device_tensor.h"

extern "C" {
int aclnnApplyTopKTopPCustomGetWorkspaceSize(const aclTensor*, const aclTensor*, const aclTensor*,
                                             const aclTensor*, uint64_t*, aclOpExecutor**);
int aclnnApplyTopKTopPCustom(void*, uint64_t, aclOpExecutor*, aclrtStream);
}

namespace emucann::testing {
namespace {

// logits [rows, vocabulary]; p, k [rows], or undefined.
at::Tensor filtered(const at::Tensor& logits, const at::Tensor& p, const at::Tensor& k) {
  const DeviceTensor in(logits);
  const DeviceTensor out(at::zeros_like(logits));
  const auto given = [](const at::Tensor& t) {
    return t.defined() ? std::make_unique<DeviceTensor>(t) : nullptr;
  };
  const auto device_p = given(p);
  const auto device_k = given(k);
  const aclTensor* descriptors[] = {in.descriptor(), device_p ? device_p->descriptor() : nullptr,
                                    device_k ? device_k->descriptor() : nullptr, out.descriptor()};
  uint64_t workspace = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_ACL_OK(aclnnApplyTopKTopPCustomGetWorkspaceSize(descriptors[0], descriptors[1], descriptors[2],
                                                         descriptors[3], &workspace, &executor));
  EXPECT_ACL_OK(aclnnApplyTopKTopPCustom(nullptr, 0, executor, nullptr));
  EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
  for (const auto* descriptor : descriptors) aclDestroyTensor(descriptor);
  return out.read();
}

std::vector<bool> kept(const at::Tensor& row) {
  std::vector<bool> result;
  for (std::int64_t i = 0; i < row.numel(); ++i) result.push_back(!std::isinf(row[i].item<double>()));
  return result;
}

using Kept = std::vector<bool>;

class TopKTopP : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_ACL_OK(aclrtSetDevice(0)); }
  // Probabilities 0.1, 0.4, 0.2, 0.3.
  const at::Tensor row_ = at::tensor({0.1, 0.4, 0.2, 0.3}, at::kFloat).log();
  const at::Tensor rows_ = at::stack({row_, row_.flip(0)});
};

TEST_F(TopKTopP, KeepsTheKLargest) {
  const auto out = filtered(rows_, {}, at::tensor({2, 3}, at::kInt));
  EXPECT_EQ(kept(out[0]), (Kept{false, true, false, true}));
  EXPECT_EQ(kept(out[1]), (Kept{true, true, true, false}));
  EXPECT_EQ(out[0][1].item<float>(), row_[1].item<float>()) << "what stays is unchanged";
}

TEST_F(TopKTopP, KeepsTheSmallestSetThatReachesP) {
  const auto out = filtered(rows_, at::tensor({0.65F, 1.0F}), {});
  EXPECT_EQ(kept(out[0]), (Kept{false, true, false, true}));
  EXPECT_EQ(kept(out[1]), (Kept{true, true, true, true}));
}

TEST_F(TopKTopP, TakesPAmongTheKLargest) {
  // Of 0.4 and 0.3 alone the first has 0.57: it reaches 0.5, which of all four it does not.
  const auto out = filtered(rows_, at::tensor({0.5F, 0.5F}), at::tensor({2, 4}, at::kInt));
  EXPECT_EQ(kept(out[0]), (Kept{false, true, false, false}));
  EXPECT_EQ(kept(out[1]), (Kept{true, false, true, false}));
}

TEST_F(TopKTopP, TheLargestAlwaysStays) {
  const auto out = filtered(rows_, at::tensor({0.0F, 1e-9F}), at::tensor({1, 4}, at::kInt));
  EXPECT_EQ(kept(out[0]), (Kept{false, true, false, false}));
  EXPECT_EQ(kept(out[1]), (Kept{false, false, true, false}));
}

TEST_F(TopKTopP, TakesHalfPrecision) {
  for (const auto type : {at::kHalf, at::kBFloat16}) {
    const auto out =
        filtered(rows_.to(type), at::tensor({0.65F, 1.0F}).to(type), at::tensor({4, 1}, at::kInt));
    EXPECT_EQ(out.scalar_type(), type);
    EXPECT_EQ(kept(out[0]), (Kept{false, true, false, true}));
    EXPECT_EQ(kept(out[1]), (Kept{false, false, true, false}));
  }
}

}  // namespace
}  // namespace emucann::testing
