#include <cstdint>
#include <limits>
#include <thread>

#include "emucann/runtime.h"
#include "runtime_support.h"
#include "undeclared.h"

namespace emucann::testing {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;
constexpr std::size_t limit = 64 * MiB;

// Settings are read at the runtime's first call, which is after this.
[[maybe_unused]] const int settings =
    setenv("EMUCANN_DEVICES", "2", 1) + setenv("EMUCANN_MEMORY_MB", "64", 1);

std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  EXPECT_EQ(total, limit);
  return free;
}

aclrtMemLocation location_of(const void* pointer) {
  aclrtPtrAttributes attributes;
  EXPECT_ACL_OK(aclrtPointerGetAttributes(pointer, &attributes));
  return attributes.location;
}

// Each test starts on device 0 and must leave all memory of both devices free.
class Memory : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_ACL_OK(aclrtSetDevice(0)); }
  void TearDown() override {
    for (const int device : {1, 0}) {
      ASSERT_ACL_OK(aclrtSetDevice(device));
      EXPECT_EQ(free_bytes(), limit) << "device " << device << " leaks";
    }
  }
};

using MemoryDeathTest = Memory;

TEST_F(Memory, IsAccountedInGranules) {
  const DeviceMemory small(1);
  EXPECT_EQ(free_bytes(), limit - 512);
  const DeviceMemory large(3 * MiB + 1);
  EXPECT_EQ(free_bytes(), limit - 512 - 3 * MiB - 512);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.get()) % 512, 0u);
}

TEST_F(Memory, ThatIsNewIsZero) {
  for (int round = 0; round < 2; ++round) {
    const DeviceMemory memory(4096);
    EXPECT_EQ(memory.read(), std::vector<unsigned char>(4096, 0)) << "round " << round;
    memory.write(std::vector<unsigned char>(4096, 0xFF));
  }
}

TEST_F(Memory, OfOneDeviceIsNotTheOthers) {
  const DeviceMemory on_zero(MiB);
  EXPECT_EQ(free_bytes(), limit - MiB);
  EXPECT_EQ(location_of(on_zero.get()).id, 0u);
  ASSERT_ACL_OK(aclrtSetDevice(1));
  EXPECT_EQ(free_bytes(), limit);
  const DeviceMemory on_one(2 * MiB);
  EXPECT_EQ(free_bytes(), limit - 2 * MiB);
  EXPECT_EQ(location_of(on_one.get()).id, 1u);
}

TEST_F(Memory, EndsAtTheLimit) {
  {
    const DeviceMemory all(limit);
    EXPECT_EQ(free_bytes(), 0u);
  }
  const DeviceMemory most(limit - MiB);
  void* pointer = &pointer;
  // torch-npu makes torch.OutOfMemoryError of the code and these words (NPUException.cpp).
  expect_refused(aclrtMalloc(&pointer, MiB + 1, ACL_MEM_MALLOC_HUGE_FIRST),
                 {"EL0004", "Failed to allocate memory", "1048577 bytes", "device 0",
                  "1048576 free of 67108864", "EMUCANN_MEMORY_MB"});
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(free_bytes(), MiB) << "a refused call takes nothing";
}

TEST_F(Memory, AbsurdSizesAreRefused) {
  for (const std::size_t bytes :
       {limit + 1, std::size_t{1} << 60, std::numeric_limits<std::size_t>::max() - 510,
        std::numeric_limits<std::size_t>::max()}) {
    void* pointer = nullptr;
    expect_refused(aclrtMalloc(&pointer, bytes, ACL_MEM_MALLOC_HUGE_FIRST), {"EL0004"});
    expect_refused(aclrtMallocAlign32(&pointer, bytes, ACL_MEM_MALLOC_HUGE_FIRST), {"EL0004"});
    expect_refused(aclrtReserveMemAddress(&pointer, std::max(bytes, std::size_t{1} << 60), 0, nullptr, 0),
                   {"EL0004"});
  }
  void* pointer = nullptr;
  expect_refused(aclrtMallocHost(&pointer, std::numeric_limits<std::size_t>::max()),
                 {"aclrtMallocHost", "host"});
}

TEST_F(Memory, IsFreedOnceAndWhole) {
  DeviceMemory memory(MiB);
  expect_refused(aclrtFree(memory.at(512)), {"aclrtFree", "not known"});
  expect_refused(aclrtFreeHost(memory.get()), {"aclrtFreeHost", "not known"});
  expect_refused(aclrtReleaseMemAddress(memory.get()), {"aclrtReleaseMemAddress"});
  EXPECT_EQ(free_bytes(), limit - MiB);
  void* pointer = memory.release();
  EXPECT_ACL_OK(aclrtFree(pointer));
  expect_refused(aclrtFree(pointer), {"not known"});
  expect_refused(aclrtFree(nullptr), {"not known"});
  int on_the_stack = 0;
  expect_refused(aclrtFree(&on_the_stack), {"not known"});
}

TEST_F(Memory, IsGivenBackByManyThreads) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      EXPECT_ACL_OK(aclrtSetDevice(thread % 2));
      for (int round = 0; round < 200; ++round) {
        const DeviceMemory one(static_cast<std::size_t>(1 + round * 1000));
        const DeviceMemory two(4096);
        two.write(std::vector<unsigned char>(4096, static_cast<unsigned char>(thread)));
        EXPECT_EQ(two.read().back(), thread);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST_F(Memory, PointersSayWhereTheyPointTo) {
  const DeviceMemory device(MiB);
  EXPECT_EQ(location_of(device.get()).type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(location_of(device.at(MiB - 1)).type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(location_of(device.at(MiB)).type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);

  void* pinned = nullptr;
  ASSERT_ACL_OK(aclrtMallocHost(&pinned, 1000));
  EXPECT_EQ(location_of(static_cast<char*>(pinned) + 999).type, ACL_MEM_LOCATION_TYPE_HOST);
  static_cast<char*>(pinned)[999] = 1;
  EXPECT_ACL_OK(aclrtFreeHost(pinned));
  EXPECT_EQ(location_of(pinned).type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  expect_refused(aclrtFreeHost(pinned), {"not known"});

  std::vector<char> own(4096);
  EXPECT_EQ(location_of(own.data()).type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  void* seen_by_device = nullptr;
  ASSERT_ACL_OK(aclrtHostRegister(own.data(), own.size(), ACL_HOST_REGISTER_MAPPED, &seen_by_device));
  EXPECT_EQ(seen_by_device, own.data());
  EXPECT_EQ(location_of(&own.back()).type, ACL_MEM_LOCATION_TYPE_HOST);
  EXPECT_ACL_OK(aclrtHostUnregister(own.data()));
  EXPECT_EQ(location_of(own.data()).type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
}

TEST_F(Memory, IsRegisteredOnce) {
  std::vector<char> own(8192);
  const DeviceMemory device(4096);
  ASSERT_ACL_OK(aclrtHostRegisterV2(own.data(), 4096, 0));
  expect_refused(aclrtHostRegisterV2(own.data(), 4096, 0), {"in use"});
  expect_refused(aclrtHostRegisterV2(own.data() + 100, 10, 0), {"in use"});
  expect_refused(aclrtHostRegisterV2(own.data() + 4000, 1000, 0), {"in use"});
  expect_refused(aclrtHostRegisterV2(device.at(512), 512, 0), {"in use"});
  expect_refused(aclrtFreeHost(own.data()), {"not known"});
  expect_refused(aclrtHostUnregister(own.data() + 1), {"not known"});
  EXPECT_ACL_OK(aclrtHostRegisterV2(own.data() + 4096, 4096, 0)) << "a neighbour";
  EXPECT_ACL_OK(aclrtHostUnregister(own.data()));
  EXPECT_ACL_OK(aclrtHostUnregister(own.data() + 4096));
  expect_refused(aclrtHostUnregister(own.data()), {"not known"});
  EXPECT_EQ(location_of(device.at(512)).type, ACL_MEM_LOCATION_TYPE_DEVICE);
}

TEST_F(Memory, ViewsAreOfLiveAllocations) {
  const DeviceMemory memory(1024);
  EXPECT_NE(host_view(memory.get(), 1024), memory.get());
  EXPECT_THROW(host_view(memory.get(), 1025), std::runtime_error);
  EXPECT_THROW(host_view(memory.at(1024), 1), std::runtime_error);
  void* dead = nullptr;
  {
    const DeviceMemory other(1024);
    dead = other.get();
    EXPECT_NO_THROW(host_view(dead, 1024));
  }
  EXPECT_THROW(host_view(dead, 1), std::runtime_error);
  int own = 0;
  EXPECT_EQ(host_view(&own, sizeof own), &own) << "host memory is seen where it is";
}

TEST_F(MemoryDeathTest, IsNotTheHosts) {
  const DeviceMemory memory(1024);
  memory.write({42});
  EXPECT_EQ(memory.read()[0], 42);
  EXPECT_DEATH({ *static_cast<volatile char*>(memory.get()) = 1; }, "");
}

TEST_F(Memory, LargeZeroFillsReachEveryByte) {
  constexpr std::size_t bytes = 4 * MiB;
  for (const auto& [begin, count] :
       {std::pair<std::size_t, std::size_t>{0, bytes}, {1, bytes - 2}, {4095, 2 * MiB}}) {
    const DeviceMemory memory(bytes);
    memory.write(std::vector<unsigned char>(bytes, 7));
    zero(host_view(memory.at(begin), count), count);
    std::vector<unsigned char> expected(bytes, 7);
    std::fill(expected.begin() + static_cast<std::ptrdiff_t>(begin),
              expected.begin() + static_cast<std::ptrdiff_t>(begin + count), static_cast<unsigned char>(0));
    EXPECT_TRUE(memory.read() == expected) << begin << " " << count;
  }
}

// A segment as torch-npu's expandable segments have it: addresses, physical chunks, chunks mapped one after
// the other.
class Segment : public Memory {
 protected:
  static constexpr std::size_t chunk = 2 * MiB;

  void SetUp() override {
    Memory::SetUp();
    ASSERT_ACL_OK(aclrtReserveMemAddress(&begin_, 8 * chunk, 0, nullptr, 1));
  }
  void TearDown() override {
    EXPECT_ACL_OK(aclrtReleaseMemAddress(begin_));
    Memory::TearDown();
  }
  char* at(std::size_t chunks) const { return static_cast<char*>(begin_) + chunks * chunk; }

  static aclError make(aclrtDrvMemHandle* handle, std::size_t bytes = chunk, uint32_t device = 0) {
    aclrtPhysicalMemProp property{};
    property.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    property.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    property.memAttr = ACL_HBM_MEM_HUGE;
    property.location = {device, ACL_MEM_LOCATION_TYPE_DEVICE};
    return aclrtMallocPhysical(handle, bytes, &property, 0);
  }

  void* begin_ = nullptr;
};

TEST_F(Segment, IsMappedChunkByChunk) {
  std::size_t granularity = 0;
  EXPECT_ACL_OK(
      aclrtMemGetAllocationGranularity(nullptr, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity));
  EXPECT_EQ(granularity, chunk);
  EXPECT_EQ(free_bytes(), limit) << "addresses cost nothing";
  aclrtDrvMemHandle one = nullptr;
  aclrtDrvMemHandle two = nullptr;
  ASSERT_ACL_OK(make(&one));
  ASSERT_ACL_OK(make(&two));
  EXPECT_EQ(free_bytes(), limit - 2 * chunk);
  EXPECT_EQ(location_of(at(0)).type, ACL_MEM_LOCATION_TYPE_UNREGISTERED) << "not mapped yet";
  ASSERT_ACL_OK(aclrtMapMem(at(0), chunk, 0, one, 0));
  ASSERT_ACL_OK(aclrtMapMem(at(1), chunk, 0, two, 0));
  EXPECT_EQ(location_of(at(1)).type, ACL_MEM_LOCATION_TYPE_DEVICE);

  // A range runs over neighbouring chunks, but not past them.
  const std::vector<char> bytes(2 * chunk, 5);
  EXPECT_ACL_OK(aclrtMemcpy(at(0), 2 * chunk, bytes.data(), 2 * chunk, ACL_MEMCPY_HOST_TO_DEVICE));
  std::vector<char> back(2 * chunk);
  EXPECT_ACL_OK(aclrtMemcpy(back.data(), 2 * chunk, at(0), 2 * chunk, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_TRUE(back == bytes);
  EXPECT_NE(aclrtMemcpy(back.data(), 2 * chunk, at(0) + 1, 2 * chunk, ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_SUCCESS);

  EXPECT_ACL_OK(aclrtUnmapMem(at(0)));
  EXPECT_NE(aclrtMemcpy(back.data(), 1, at(0), 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_ACL_OK(aclrtMemcpy(back.data(), 1, at(1), 1, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_ACL_OK(aclrtFreePhysical(one));
  EXPECT_EQ(free_bytes(), limit - chunk);
  EXPECT_ACL_OK(aclrtUnmapMem(at(1)));
  EXPECT_ACL_OK(aclrtFreePhysical(two));
}

TEST_F(Segment, ChunksCountAgainstTheLimit) {
  aclrtDrvMemHandle all = nullptr;
  ASSERT_ACL_OK(make(&all, limit));
  aclrtDrvMemHandle more = nullptr;
  expect_refused(make(&more), {"EL0004", "aclrtMallocPhysical"});
  EXPECT_ACL_OK(aclrtFreePhysical(all));
  expect_refused(make(&more, chunk, 2), {"device"});
  ASSERT_ACL_OK(make(&more, chunk, 1));
  EXPECT_EQ(free_bytes(), limit) << "device 0 pays nothing for device 1";
  EXPECT_ACL_OK(aclrtFreePhysical(more));
}

TEST_F(Segment, WrongUsesAreRefused) {
  aclrtDrvMemHandle one = nullptr;
  aclrtDrvMemHandle two = nullptr;
  ASSERT_ACL_OK(make(&one));
  ASSERT_ACL_OK(make(&two));
  const DeviceMemory allocated(chunk);
  std::vector<char> host(chunk);

  expect_refused(aclrtMapMem(at(0), chunk, chunk / 2, one, 0), {"aclrtMapMem"});
  expect_refused(aclrtMapMem(at(0), chunk / 2, 0, one, 0), {"aclrtMapMem"});
  expect_refused(aclrtMapMem(host.data(), chunk, 0, one, 0), {"aclrtMapMem"});
  expect_refused(aclrtMapMem(allocated.get(), chunk, 0, one, 0), {"aclrtMapMem", "in use"});
  expect_refused(aclrtMapMem(at(0) + 1, chunk, 0, one, 0), {"aclrtMapMem"});
  expect_refused(aclrtMapMem(at(7) + chunk / 2, chunk, 0, one, 0), {"aclrtMapMem"});
  expect_refused(aclrtMapMem(at(0), chunk, 0, &one, 0), {"aclrtMapMem", "not known"});

  ASSERT_ACL_OK(aclrtMapMem(at(0), chunk, 0, one, 0));
  expect_refused(aclrtMapMem(at(1), chunk, 0, one, 0), {"in use"});
  expect_refused(aclrtMapMem(at(0), chunk, 0, two, 0), {"in use"});
  expect_refused(aclrtMapMem(at(0) + chunk / 2, chunk, 0, two, 0), {"in use"});
  expect_refused(aclrtFreePhysical(one), {"in use"});
  expect_refused(aclrtFree(at(0)), {"aclrtFree"});
  expect_refused(aclrtReleaseMemAddress(begin_), {"in use"});
  expect_refused(aclrtUnmapMem(at(1)), {"not known"});
  expect_refused(aclrtUnmapMem(allocated.get()), {"not known"});

  EXPECT_ACL_OK(aclrtUnmapMem(at(0)));
  expect_refused(aclrtUnmapMem(at(0)), {"not known"});
  EXPECT_ACL_OK(aclrtFreePhysical(one));
  expect_refused(aclrtFreePhysical(one), {"not known"});
  EXPECT_ACL_OK(aclrtFreePhysical(two));
}

}  // namespace
}  // namespace emucann::testing
