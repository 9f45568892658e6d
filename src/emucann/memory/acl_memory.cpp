// The C interface of memory.
#include <cstring>
#include <string>

#include "device/device.h"
#include "emucann/runtime.h"
#include "memory/memory.h"

namespace emucann {
namespace {

// torch-npu turns a message with the code EL0004 and these words into torch.OutOfMemoryError
// (NPUException.cpp).
aclError out_of_memory(const char* function, std::size_t bytes, int device) {
  const std::string what =
      std::string("EL0004: ") + function + ": Failed to allocate memory: " + std::to_string(bytes) + " bytes";
  if (device < 0) return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, what + " of the host's");
  return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, what + " on device " + std::to_string(device) + ", " +
                                                  std::to_string(memory().free_bytes(device)) + " free of " +
                                                  std::to_string(memory().total_bytes()) +
                                                  " (EMUCANN_MEMORY_MB)");
}

constexpr int on_host = -1;

aclError result(MemoryResult outcome, const char* function, std::size_t bytes = 0, int device = on_host) {
  switch (outcome) {
    case MemoryResult::ok:
      return ACL_SUCCESS;
    case MemoryResult::out_of_memory:
      return out_of_memory(function, bytes, device);
    case MemoryResult::unknown_address:
      return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(function) + ": address or handle is not known");
    case MemoryResult::in_use:
      return fail(ACL_ERROR_RT_PARAM_INVALID,
                  std::string(function) + ": already in use, or only a part was asked for");
  }
  return ACL_ERROR_RT_INTERNAL_ERROR;
}

aclError allocate(void** pointer, std::size_t bytes, const char* function) {
  *pointer = nullptr;
  const int device = current_device_or_first();
  return result(memory().allocate(device, bytes, pointer), function, bytes, device);
}

}  // namespace
}  // namespace emucann

using emucann::memory;
using emucann::result;

extern "C" {

EMUCANN_API aclError aclrtMalloc(void** pointer, size_t bytes, aclrtMemMallocPolicy) {
  return emucann::allocate(pointer, bytes, "aclrtMalloc");
}

EMUCANN_API aclError aclrtMallocAlign32(void** pointer, size_t bytes, aclrtMemMallocPolicy) {
  return emucann::allocate(pointer, bytes, "aclrtMallocAlign32");
}

EMUCANN_API aclError aclrtFree(void* pointer) { return result(memory().release(pointer), "aclrtFree"); }

EMUCANN_API aclError aclrtMallocHost(void** pointer, size_t bytes) {
  return result(memory().allocate_pinned(bytes, pointer), "aclrtMallocHost", bytes);
}

EMUCANN_API aclError aclrtFreeHost(void* pointer) {
  return result(memory().release_pinned(pointer), "aclrtFreeHost");
}

EMUCANN_API aclError aclrtHostRegister(void* pointer, uint64_t bytes, aclrtHostRegisterType,
                                       void** device_pointer) {
  // The host's bytes are reachable from ops under the same address.
  if (device_pointer != nullptr) *device_pointer = pointer;
  return result(memory().pin(pointer, bytes), "aclrtHostRegister", bytes);
}

EMUCANN_API aclError aclrtHostRegisterV2(void* pointer, uint64_t bytes, uint32_t) {
  return result(memory().pin(pointer, bytes), "aclrtHostRegisterV2", bytes);
}

EMUCANN_API aclError aclrtHostUnregister(void* pointer) {
  return result(memory().unpin(pointer), "aclrtHostUnregister");
}

EMUCANN_API aclError aclrtPointerGetAttributes(const void* pointer, aclrtPtrAttributes* attributes) {
  std::memset(attributes, 0, sizeof *attributes);
  attributes->pageSize = emucann::AddressWindow::page;
  const auto location = memory().locate(pointer);
  if (!location) {
    attributes->location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
  } else if (location->device < 0) {
    attributes->location.type = ACL_MEM_LOCATION_TYPE_HOST;
  } else {
    attributes->location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    attributes->location.id = static_cast<uint32_t>(location->device);
  }
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtReserveMemAddress(void** pointer, size_t bytes, size_t, void*, uint64_t) {
  return result(memory().reserve(bytes, pointer), "aclrtReserveMemAddress", bytes);
}

EMUCANN_API aclError aclrtReleaseMemAddress(void* pointer) {
  return result(memory().release_reserved(pointer), "aclrtReleaseMemAddress");
}

EMUCANN_API aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t bytes,
                                         const aclrtPhysicalMemProp* property, uint64_t) {
  const int device = static_cast<int>(property->location.id);
  if (!emucann::valid_device(device)) return emucann::fail(ACL_ERROR_RT_INVALID_DEVICEID, "no such device");
  emucann::Physical* physical = nullptr;
  const auto outcome = memory().create_physical(device, bytes, &physical);
  *handle = physical;
  return result(outcome, "aclrtMallocPhysical", bytes, device);
}

EMUCANN_API aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  return result(memory().destroy_physical(static_cast<emucann::Physical*>(handle)), "aclrtFreePhysical");
}

EMUCANN_API aclError aclrtMapMem(void* pointer, size_t bytes, size_t offset, aclrtDrvMemHandle handle,
                                 uint64_t) {
  return result(memory().map(pointer, bytes, offset, static_cast<emucann::Physical*>(handle)), "aclrtMapMem",
                bytes);
}

EMUCANN_API aclError aclrtUnmapMem(void* pointer) { return result(memory().unmap(pointer), "aclrtUnmapMem"); }

EMUCANN_API aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp*, aclrtMemGranularityOptions,
                                                      size_t* granularity) {
  *granularity = size_t{2} << 20;  // CANN's huge page
  return ACL_SUCCESS;
}
}
