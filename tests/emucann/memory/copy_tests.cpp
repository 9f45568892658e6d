#include <cstring>
#include <numeric>

#include "runtime_support.h"

namespace emucann::testing {
namespace {

[[maybe_unused]] const int settings = setenv("EMUCANN_DEVICES", "2", 1);

using Bytes = std::vector<unsigned char>;

Bytes pattern(std::size_t count, unsigned char first = 1) {
  Bytes bytes(count);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

class Copy : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_ACL_OK(aclrtSetDevice(0)); }
};

// Both forms of a copy: the call that returns when it is done, and the one that is put on a stream.
aclError copy_now(void* to, std::size_t room, const void* from, std::size_t bytes, aclrtMemcpyKind kind) {
  return aclrtMemcpy(to, room, from, bytes, kind);
}
aclError copy_on_stream(void* to, std::size_t room, const void* from, std::size_t bytes,
                        aclrtMemcpyKind kind) {
  const aclError code = aclrtMemcpyAsync(to, room, from, bytes, kind, nullptr);
  return code == ACL_SUCCESS ? aclrtSynchronizeStream(nullptr) : code;
}

class EachCopy : public Copy, public ::testing::WithParamInterface<decltype(&copy_now)> {};
INSTANTIATE_TEST_SUITE_P(Forms, EachCopy, ::testing::Values(copy_now, copy_on_stream),
                         [](const auto& info) { return info.index == 0 ? "now" : "on_stream"; });

TEST_P(EachCopy, WorksInAllDirections) {
  const auto copy = GetParam();
  const Bytes sent = pattern(1000);
  const DeviceMemory one(1000);
  ASSERT_ACL_OK(aclrtSetDevice(1));
  const DeviceMemory other(1000);  // on the other device
  ASSERT_ACL_OK(aclrtSetDevice(0));
  Bytes middle(1000);
  Bytes received(1000);
  EXPECT_ACL_OK(copy(middle.data(), 1000, sent.data(), 1000, ACL_MEMCPY_HOST_TO_HOST));
  EXPECT_ACL_OK(copy(one.get(), 1000, middle.data(), 1000, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL_OK(copy(other.get(), 1000, one.get(), 1000, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_ACL_OK(copy(received.data(), 1000, other.get(), 1000, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(received, sent);
}

TEST_P(EachCopy, FindsTheDirectionByItself) {
  const auto copy = GetParam();
  const Bytes sent = pattern(100, 9);
  const DeviceMemory one(100);
  const DeviceMemory two(100);
  Bytes received(100);
  EXPECT_ACL_OK(copy(one.get(), 100, sent.data(), 100, ACL_MEMCPY_DEFAULT));
  EXPECT_ACL_OK(copy(two.get(), 100, one.get(), 100, ACL_MEMCPY_DEFAULT));
  EXPECT_ACL_OK(copy(received.data(), 100, two.get(), 100, ACL_MEMCPY_DEFAULT));
  EXPECT_EQ(received, sent);
}

TEST_P(EachCopy, MovesOnlyWhatWasAskedFor) {
  const auto copy = GetParam();
  const DeviceMemory memory(8);
  memory.write(Bytes(8, 0xEE));
  const Bytes sent = {1, 2, 3};
  EXPECT_ACL_OK(copy(memory.at(2), 6, sent.data(), 3, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_EQ(memory.read(), (Bytes{0xEE, 0xEE, 1, 2, 3, 0xEE, 0xEE, 0xEE}));
  EXPECT_ACL_OK(copy(memory.get(), 0, nullptr, 0, ACL_MEMCPY_HOST_TO_DEVICE)) << "nothing to copy";
}

TEST_P(EachCopy, ADirectionThatTheAddressesContradictIsRefused) {
  const auto copy = GetParam();
  const DeviceMemory device(16);
  Bytes host(16);
  EXPECT_ACL_OK(copy(device.get(), 16, host.data(), 16, ACL_MEMCPY_HOST_TO_DEVICE));
  const struct {
    void* to;
    void* from;
    aclrtMemcpyKind kind;
    const char* side;
  } cases[] = {
      {device.get(), host.data(), ACL_MEMCPY_DEVICE_TO_HOST, "the destination is not host memory"},
      {device.get(), host.data(), ACL_MEMCPY_DEVICE_TO_DEVICE, "the source is not device memory"},
      {device.get(), host.data(), ACL_MEMCPY_HOST_TO_HOST, "the destination is not host memory"},
      {host.data(), device.get(), ACL_MEMCPY_HOST_TO_DEVICE, "the destination is not device memory"},
      {host.data(), device.get(), ACL_MEMCPY_HOST_TO_HOST, "the source is not host memory"},
      {host.data(), host.data(), ACL_MEMCPY_DEVICE_TO_HOST, "the source is not device memory"},
  };
  for (const auto& one : cases) expect_refused(copy(one.to, 16, one.from, 16, one.kind), {one.side});
  expect_refused(copy(host.data(), 16, host.data(), 16, static_cast<aclrtMemcpyKind>(99)), {"kind 99"});
}

TEST_P(EachCopy, MoreThanThereIsRoomForIsRefused) {
  const auto copy = GetParam();
  const DeviceMemory device(512);
  Bytes host(1024);
  EXPECT_ACL_OK(copy(device.get(), 512, host.data(), 512, ACL_MEMCPY_HOST_TO_DEVICE));
  expect_refused(copy(device.get(), 511, host.data(), 512, ACL_MEMCPY_HOST_TO_DEVICE),
                 {"room for 511", "512"});
  expect_refused(copy(device.get(), 1024, host.data(), 1024, ACL_MEMCPY_HOST_TO_DEVICE),
                 {"not in a live allocation"});
  expect_refused(copy(host.data(), 1024, device.at(1), 512, ACL_MEMCPY_DEVICE_TO_HOST),
                 {"not in a live allocation"});
}

TEST_P(EachCopy, FreedMemoryIsRefused) {
  const auto copy = GetParam();
  Bytes host(16);
  void* dead = nullptr;
  {
    const DeviceMemory memory(16);
    dead = memory.get();
    EXPECT_ACL_OK(copy(dead, 16, host.data(), 16, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  EXPECT_NE(copy(dead, 16, host.data(), 16, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_NE(copy(host.data(), 16, dead, 16, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
}

TEST_P(EachCopy, OverlappingRangesAreMoved) {
  const DeviceMemory memory(6);
  memory.write({1, 2, 3, 4, 5, 6});
  EXPECT_ACL_OK(GetParam()(memory.at(1), 5, memory.get(), 5, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_EQ(memory.read(), (Bytes{1, 1, 2, 3, 4, 5}));
}

TEST_F(Copy, BatchesSayWhichCopyFailed) {
  const DeviceMemory device(32);
  const Bytes host = pattern(32);
  void* to[] = {device.get(), device.at(16)};
  void* from[] = {const_cast<unsigned char*>(host.data()), const_cast<unsigned char*>(host.data() + 16)};
  std::size_t rooms[] = {16, 16};
  std::size_t sizes[] = {16, 16};
  std::size_t failed = 99;
  EXPECT_ACL_OK(aclrtMemcpyBatch(to, rooms, from, sizes, 2, nullptr, nullptr, 0, &failed));
  EXPECT_EQ(device.read(), host);
  EXPECT_EQ(failed, 99u);
  rooms[1] = 8;
  expect_refused(aclrtMemcpyBatch(to, rooms, from, sizes, 2, nullptr, nullptr, 0, &failed), {"room for 8"});
  EXPECT_EQ(failed, 1u);
  failed = 99;
  expect_refused(aclrtMemcpyBatchAsync(to, rooms, from, sizes, 2, nullptr, nullptr, 0, &failed, nullptr),
                 {"room"});
  EXPECT_EQ(failed, 1u);
  EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
}

TEST_F(Copy, MemoryIsSet) {
  const DeviceMemory memory(8);
  EXPECT_ACL_OK(aclrtMemset(memory.get(), 8, 7, 4));
  EXPECT_ACL_OK(aclrtMemsetAsync(memory.at(6), 2, 9, 2, nullptr));
  EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(memory.read(), (Bytes{7, 7, 7, 7, 0, 0, 9, 9}));
  expect_refused(aclrtMemset(memory.get(), 8, 7, 9), {"room for 8"});
  expect_refused(aclrtMemsetAsync(memory.get(), 8, 7, 9, nullptr), {"room for 8"});
  expect_refused(aclrtMemset(memory.get(), 1024, 7, 1024), {"not in a live allocation"});
  EXPECT_ACL_OK(aclrtMemsetAsync(memory.get(), 1024, 7, 1024, nullptr));
  expect_refused(aclrtSynchronizeStream(nullptr), {"aclrtMemsetAsync", "not in a live allocation"});
}

}  // namespace
}  // namespace emucann::testing
