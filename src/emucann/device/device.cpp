#include "device/device.h"

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "config/config.h"
#include "emucann/runtime.h"
#include "memory/memory.h"
#include "stream/stream.h"

namespace emucann {
namespace {

// The context's device is kept beside it: another thread may destroy the context.
struct Current {
  Context* context = nullptr;
  int device = -1;
};

thread_local Current current;

void make_current(Context* context) { current = {context, context->device}; }

// Contexts made by aclrtCreateContext and one primary context a device. Never destroyed: threads may hold
// them at exit.
struct Contexts {
  std::mutex mutex;
  std::vector<std::unique_ptr<Context>> primary;
  std::set<Context*> created;

  Contexts() {
    for (int device = 0; device < config().devices; ++device) {
      primary.push_back(std::make_unique<Context>(Context{device}));
    }
  }
  bool known(const Context* context) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (created.count(const_cast<Context*>(context)) != 0) return true;
    for (const auto& one : primary) {
      if (one.get() == context) return true;
    }
    return false;
  }
};

Contexts& contexts() {
  static auto* instance = new Contexts;
  return *instance;
}

aclError no_such_device(int device) {
  const int devices = config().devices;
  const std::string expected =
      devices == 0 ? "none can be seen" : "expected 0 to " + std::to_string(devices - 1);
  return fail(ACL_ERROR_RT_INVALID_DEVICEID, "device " + std::to_string(device) + " does not exist: " +
                                                 expected + " (EMUCANN_DEVICES, ASCEND_RT_VISIBLE_DEVICES)");
}

}  // namespace

int current_device() { return current.device; }

int current_device_or_first() { return current.context == nullptr ? 0 : current.device; }

void adopt_device(int device) { make_current(contexts().primary.at(static_cast<std::size_t>(device)).get()); }

bool valid_device(int device) { return device >= 0 && device < config().devices; }

namespace {

// Figures of an Atlas 800T A2 die: what torch.npu.get_device_properties shows on a 910B3 (20 AI cores with
// one cube and two vector units each, 192 MiB of L2; Ascend product documentation). Memory is what
// EMUCANN_MEMORY_MB says.
constexpr std::int64_t cube_cores = 20;
constexpr std::int64_t vector_cores = 40;
constexpr std::int64_t ai_cpus = 6;
constexpr std::int64_t l2_bytes = std::int64_t{192} << 20;
constexpr std::int64_t vector_local_bytes = 192 << 10;

}  // namespace
}  // namespace emucann

using emucann::config;
using emucann::contexts;
using emucann::current;
using emucann::fail;

extern "C" {

EMUCANN_API aclError aclInit(const char*) {
  static std::once_flag once;
  if (!config().error.empty()) return fail(ACL_ERROR_INVALID_PARAM, config().error);
  aclError result = ACL_ERROR_REPEAT_INITIALIZE;
  std::call_once(once, [&] { result = ACL_SUCCESS; });
  return result;
}

EMUCANN_API aclError aclFinalize() {
  emucann::shut_down_streams();
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtGetDeviceCount(uint32_t* count) {
  if (!config().error.empty()) return fail(ACL_ERROR_INVALID_PARAM, config().error);
  *count = static_cast<uint32_t>(config().devices);
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtSetDevice(int32_t device) {
  if (!config().error.empty()) return fail(ACL_ERROR_INVALID_PARAM, config().error);
  if (!emucann::valid_device(device)) return emucann::no_such_device(device);
  emucann::adopt_device(device);
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtResetDevice(int32_t device) {
  return emucann::valid_device(device) ? ACL_SUCCESS : emucann::no_such_device(device);
}

EMUCANN_API aclError aclrtResetDeviceForce(int32_t device) { return aclrtResetDevice(device); }

EMUCANN_API aclError aclrtGetDevice(int32_t* device) {
  if (current.context == nullptr) return ACL_ERROR_RT_CONTEXT_NULL;  // torch-npu asks to find out: no message
  *device = current.device;
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtCreateContext(aclrtContext* context, int32_t device) {
  if (!emucann::valid_device(device)) return emucann::no_such_device(device);
  auto* made = new emucann::Context{device};
  {
    const std::lock_guard<std::mutex> lock(contexts().mutex);
    contexts().created.insert(made);
  }
  emucann::make_current(made);
  *context = made;
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtDestroyContext(aclrtContext context) {
  auto* made = static_cast<emucann::Context*>(context);
  const std::lock_guard<std::mutex> lock(contexts().mutex);
  if (contexts().created.erase(made) == 0) return fail(ACL_ERROR_RT_PARAM_INVALID, "context was not created");
  if (current.context == made) current = {};
  delete made;
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtSetCurrentContext(aclrtContext context) {
  auto* wanted = static_cast<emucann::Context*>(context);
  if (!contexts().known(wanted)) return fail(ACL_ERROR_RT_PARAM_INVALID, "context does not exist");
  emucann::make_current(wanted);
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtGetCurrentContext(aclrtContext* context) {
  if (current.context == nullptr) return ACL_ERROR_RT_CONTEXT_NULL;
  *context = current.context;
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtGetPrimaryCtxState(int32_t device, uint32_t* flags, int32_t* active) {
  if (!emucann::valid_device(device)) return emucann::no_such_device(device);
  if (flags != nullptr) *flags = 0;
  if (active != nullptr) *active = 1;
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtGetRunMode(aclrtRunMode* mode) {
  *mode = ACL_HOST;
  return ACL_SUCCESS;
}

EMUCANN_API const char* aclrtGetSocName() { return config().soc.c_str(); }

EMUCANN_API aclError aclGetDeviceCapability(uint32_t, aclDeviceInfo info, int64_t* value) {
  switch (info) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
      *value = emucann::cube_cores;
      return ACL_SUCCESS;
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
      *value = emucann::vector_cores;
      return ACL_SUCCESS;
    case ACL_DEVICE_INFO_L2_SIZE:
      *value = emucann::l2_bytes;
      return ACL_SUCCESS;
    default:
      return fail(ACL_ERROR_INVALID_PARAM, "aclGetDeviceCapability: unknown kind " + std::to_string(info));
  }
}

EMUCANN_API aclError aclrtGetDeviceInfo(uint32_t device, aclrtDevAttr attribute, int64_t* value) {
  if (!emucann::valid_device(static_cast<int>(device)))
    return emucann::no_such_device(static_cast<int>(device));
  switch (attribute) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
      *value = emucann::ai_cpus;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
      *value = emucann::cube_cores;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
      *value = emucann::vector_cores;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_LOCAL_MEM_PER_VECTOR_CORE:
      *value = emucann::vector_local_bytes;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
      *value = static_cast<int64_t>(config().memory_bytes);
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
      *value = emucann::l2_bytes;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_PHY_CHIP_ID:
      *value = device;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_SMP_ID:
    case ACL_DEV_ATTR_IS_VIRTUAL:
      *value = 0;
      return ACL_SUCCESS;
    default:
      return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  "aclrtGetDeviceInfo: attribute " + std::to_string(attribute) + " is not emulated");
  }
}

EMUCANN_API aclError aclrtGetMemInfo(aclrtMemAttr, size_t* free, size_t* total) {
  *free = emucann::memory().free_bytes(emucann::current_device_or_first());
  *total = emucann::memory().total_bytes();
  return ACL_SUCCESS;
}

// All dies of a host reach each other, as over HCCS.
EMUCANN_API aclError aclrtDeviceCanAccessPeer(int32_t* can, int32_t, int32_t) {
  *can = 1;
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtDeviceEnablePeerAccess(int32_t, uint32_t) { return ACL_SUCCESS; }

// Settings that change nothing here: an op has no time limit and floats are IEEE.
EMUCANN_API aclError aclrtSetOpExecuteTimeOut(uint32_t) { return ACL_SUCCESS; }
EMUCANN_API aclError aclrtSetOpWaitTimeout(uint32_t) { return ACL_SUCCESS; }
EMUCANN_API aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actual) {
  *actual = timeout;
  return ACL_SUCCESS;
}
EMUCANN_API aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode) { return ACL_SUCCESS; }
}
