#include <dlfcn.h>

#include <cstring>
#include <thread>

#include "runtime_support.h"

namespace emucann::testing {
namespace {

// Settings are read at the runtime's first call, which is after this.
[[maybe_unused]] const int settings =
    setenv("EMUCANN_DEVICES", "2", 1) + setenv("EMUCANN_MEMORY_MB", "64", 1);

int device_of_this_thread() {
  int32_t device = -1;
  return aclrtGetDevice(&device) == ACL_SUCCESS ? device : -1;
}

TEST(Devices, AreCountedAndNamed) {
  uint32_t count = 0;
  EXPECT_ACL_OK(aclrtGetDeviceCount(&count));
  EXPECT_EQ(count, 2u);
  EXPECT_STREQ(aclrtGetSocName(), "Ascend910B3");
  EXPECT_ACL_OK(aclrtSetDevice(1));
  EXPECT_EQ(device_of_this_thread(), 1);
}

TEST(Devices, OutsideTheCountAreRefused) {
  EXPECT_ACL_OK(aclrtSetDevice(0));
  for (const int device : {-1, 2, 1000}) {
    const std::string number = "device " + std::to_string(device);
    expect_refused(aclrtSetDevice(device), {number.c_str(), "expected 0 to 1", "EMUCANN_DEVICES"});
    aclrtContext context = nullptr;
    expect_refused(aclrtCreateContext(&context, device), {number.c_str()});
    expect_refused(aclrtResetDevice(device), {number.c_str()});
  }
  EXPECT_EQ(device_of_this_thread(), 0) << "a refused call changes nothing";
}

TEST(Contexts, BelongToAThread) {
  EXPECT_ACL_OK(aclrtSetDevice(0));
  std::thread([] {
    EXPECT_EQ(device_of_this_thread(), -1) << "a new thread has none";
    aclrtContext none = nullptr;
    EXPECT_EQ(aclrtGetCurrentContext(&none), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_ACL_OK(aclrtSetDevice(1));
    EXPECT_EQ(device_of_this_thread(), 1);
  }).join();
  EXPECT_EQ(device_of_this_thread(), 0);
}

TEST(Contexts, OfADeviceAreOneForAllThreads) {
  aclrtContext here = nullptr;
  EXPECT_ACL_OK(aclrtSetDevice(1));
  EXPECT_ACL_OK(aclrtGetCurrentContext(&here));
  std::thread([&] {
    aclrtContext there = nullptr;
    EXPECT_ACL_OK(aclrtSetDevice(1));
    EXPECT_ACL_OK(aclrtGetCurrentContext(&there));
    EXPECT_EQ(here, there);
  }).join();
}

TEST(Contexts, AreMadeSetAndDestroyed) {
  EXPECT_ACL_OK(aclrtSetDevice(0));
  aclrtContext first = nullptr;
  EXPECT_ACL_OK(aclrtGetCurrentContext(&first));
  aclrtContext made = nullptr;
  EXPECT_ACL_OK(aclrtCreateContext(&made, 1));
  EXPECT_EQ(device_of_this_thread(), 1) << "a made context is the current one";
  EXPECT_ACL_OK(aclrtSetCurrentContext(first));
  EXPECT_EQ(device_of_this_thread(), 0);
  EXPECT_ACL_OK(aclrtSetCurrentContext(made));
  EXPECT_ACL_OK(aclrtDestroyContext(made));
  EXPECT_EQ(device_of_this_thread(), -1) << "its context is gone";
  expect_refused(aclrtSetCurrentContext(made), {"context does not exist"});
  expect_refused(aclrtDestroyContext(made), {"context was not created"});
  expect_refused(aclrtDestroyContext(first), {"context was not created"});
}

TEST(Contexts, DestroyedElsewhereLeaveTheThreadItsDevice) {
  aclrtContext made = nullptr;
  EXPECT_ACL_OK(aclrtCreateContext(&made, 1));
  std::thread([&] { EXPECT_ACL_OK(aclrtDestroyContext(made)); }).join();
  EXPECT_EQ(device_of_this_thread(), 1);
  EXPECT_ACL_OK(aclrtSetDevice(0));
  EXPECT_EQ(device_of_this_thread(), 0);
}

TEST(DeviceInfo, IsThatOfA910B3) {
  const struct {
    aclrtDevAttr attribute;
    int64_t value;
  } cases[] = {
      {ACL_DEV_ATTR_AICPU_CORE_NUM, 6},
      {ACL_DEV_ATTR_AICORE_CORE_NUM, 20},
      {ACL_DEV_ATTR_CUBE_CORE_NUM, 20},
      {ACL_DEV_ATTR_VECTOR_CORE_NUM, 40},
      {ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, 64 << 20},
      {ACL_DEV_ATTR_L2_CACHE_SIZE, 192 << 20},
      {ACL_DEV_ATTR_PHY_CHIP_ID, 1},
      {ACL_DEV_ATTR_IS_VIRTUAL, 0},
  };
  for (const auto& one : cases) {
    int64_t value = -1;
    EXPECT_ACL_OK(aclrtGetDeviceInfo(1, one.attribute, &value));
    EXPECT_EQ(value, one.value) << one.attribute;
  }
  int64_t cores = 0;
  EXPECT_ACL_OK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &cores));
  EXPECT_EQ(cores, 40);
}

TEST(DeviceInfo, ThatIsNotEmulatedIsRefused) {
  int64_t value = -1;
  EXPECT_ACL_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICORE_CORE_NUM, &value));
  expect_refused(aclrtGetDeviceInfo(0, static_cast<aclrtDevAttr>(999999), &value),
                 {"999999", "not emulated"});
  expect_refused(aclrtGetDeviceInfo(2, ACL_DEV_ATTR_AICORE_CORE_NUM, &value), {"device 2"});
  expect_refused(aclGetDeviceCapability(0, static_cast<aclDeviceInfo>(99), &value), {"99"});
}

TEST(Peers, ReachEachOther) {
  int32_t can = 0;
  EXPECT_ACL_OK(aclrtDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  EXPECT_ACL_OK(aclrtDeviceEnablePeerAccess(1, 0));
}

TEST(Identity, SaysEmulated) {
  using Version = const char* (*)();
  const auto version = reinterpret_cast<Version>(dlsym(RTLD_DEFAULT, "emucann_version"));
  ASSERT_NE(version, nullptr);
  EXPECT_EQ(std::string(version()).find("EMULATED "), 0u) << version();
  aclCANNPackageVersion cann;
  EXPECT_ACL_OK(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &cann));
  EXPECT_STREQ(cann.version, "9.0.0");
}

TEST(Errors, AreHandedOutOnceAndStayOnTheirThread) {
  EXPECT_NE(aclrtSetDevice(7), ACL_SUCCESS);
  std::thread([] { EXPECT_EQ(recent_message(), ""); }).join();
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  EXPECT_NE(recent_message(), "");
  EXPECT_EQ(recent_message(), "");
}

TEST(Start, HappensOnce) {
  const aclError first = aclInit(nullptr);
  EXPECT_TRUE(first == ACL_SUCCESS || first == ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
}

}  // namespace
}  // namespace emucann::testing
