// EMUCANN_FAULT=flip-...: each case is a child, because settings are read once a process.
#include <algorithm>

#include "runtime_support.h"

namespace emucann::testing {
namespace {

using Bytes = std::vector<unsigned char>;

// Copies 64 bytes there and back five times; returns, by copy, how many bits of what came back differ.
std::vector<int> flipped_bits(bool on_stream) {
  EXPECT_ACL_OK(aclrtSetDevice(0));
  std::vector<int> flipped;
  for (int round = 0; round < 5; ++round) {
    const Bytes sent(64, static_cast<unsigned char>(0x5A + round));
    const DeviceMemory memory(64);
    const DeviceMemory other(64);
    Bytes received(64);
    const auto copy = [&](void* to, const void* from, std::size_t bytes, aclrtMemcpyKind kind) {
      if (!on_stream) {
        EXPECT_ACL_OK(aclrtMemcpy(to, bytes, from, bytes, kind));
        return;
      }
      EXPECT_ACL_OK(aclrtMemcpyAsync(to, bytes, from, bytes, kind, nullptr));
      EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
    };
    copy(memory.get(), sent.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE);
    copy(memory.get(), sent.data(), 0, ACL_MEMCPY_HOST_TO_DEVICE);     // nothing is copied: not counted
    copy(other.get(), memory.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE);  // other directions: not counted
    copy(received.data(), sent.data(), 64, ACL_MEMCPY_HOST_TO_HOST);
    copy(received.data(), other.get(), 64, ACL_MEMCPY_DEVICE_TO_HOST);
    int bits = 0;
    for (std::size_t i = 0; i < 64; ++i)
      bits += __builtin_popcount(static_cast<unsigned>(sent[i] ^ received[i]));
    flipped.push_back(bits);
  }
  return flipped;
}

using Flips = std::vector<int>;

void expect_flips(const char* fault, const Flips& expected) {
  for (const bool on_stream : {false, true}) {
    in_child({{"EMUCANN_FAULT", fault}}, [&] { EXPECT_EQ(flipped_bits(on_stream), expected) << fault; });
  }
}

TEST(CopyFault, IsAbsentUnlessAskedFor) { expect_flips("", {0, 0, 0, 0, 0}); }

TEST(CopyFault, FlipsOneBitOfTheNthCopyToTheDevice) {
  expect_flips("flip-h2d:1", {1, 0, 0, 0, 0});
  expect_flips("flip-h2d:3", {0, 0, 1, 0, 0});
  expect_flips("flip-h2d:6", {0, 0, 0, 0, 0});
}

TEST(CopyFault, FlipsOneBitOfTheNthCopyToTheHost) {
  expect_flips("flip-d2h:2", {0, 1, 0, 0, 0});
  expect_flips("flip-d2h:5", {0, 0, 0, 0, 1});
}

TEST(CopyFault, LeavesTheSourceAsItWas) {
  in_child({{"EMUCANN_FAULT", "flip-h2d:1"}}, [] {
    EXPECT_ACL_OK(aclrtSetDevice(0));
    const Bytes sent = {1, 2, 3};
    const DeviceMemory memory(3);
    memory.write(sent);
    EXPECT_EQ(sent, (Bytes{1, 2, 3}));
    EXPECT_EQ(memory.read(), (Bytes{1, 3, 3})) << "the lowest bit of the middle byte";
  });
}

}  // namespace
}  // namespace emucann::testing
