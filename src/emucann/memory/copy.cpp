#include "memory/copy.h"

#include <atomic>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/config.h"
#include "emucann/runtime.h"
#include "memory/memory.h"

namespace emucann {
namespace {

bool on_device(const void* pointer) {
  const auto location = memory().locate(pointer);
  return location && location->device >= 0;
}

struct Direction {
  bool from_device;
  bool to_device;
};

Direction direction(const void* destination, const void* source, aclrtMemcpyKind kind) {
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST:
      return {false, false};
    case ACL_MEMCPY_HOST_TO_DEVICE:
    case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE:
      return {false, true};
    case ACL_MEMCPY_DEVICE_TO_HOST:
      return {true, false};
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INNER_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INTER_DEVICE_TO_DEVICE:
      return {true, true};
    case ACL_MEMCPY_DEFAULT:
      return {on_device(source), on_device(destination)};
  }
  throw std::runtime_error("copy: unknown kind " + std::to_string(static_cast<int>(kind)));
}

void* side(const void* pointer, std::size_t bytes, bool device, const char* which) {
  if (on_device(pointer) != device) {
    throw std::runtime_error(std::string("copy: the ") + which + " is not " + (device ? "device" : "host") +
                             " memory, as the copy's direction says");
  }
  return host_view(pointer, bytes);
}

// Flips the lowest bit of the middle byte of the copy that EMUCANN_FAULT counts to.
void apply_fault(void* destination, std::size_t bytes, Direction way) {
  static std::atomic<std::uint64_t> copies{0};
  const auto& fault = config().fault;
  const bool counted =
      (fault.kind == Fault::Kind::flip_host_to_device && way.to_device && !way.from_device) ||
      (fault.kind == Fault::Kind::flip_device_to_host && way.from_device && !way.to_device);
  if (!counted || copies.fetch_add(1) + 1 != fault.nth) return;
  static_cast<unsigned char*>(destination)[bytes / 2] ^= 1U;
}

// Runs a copy on the caller's thread and turns its exception into an error code.
template <typename F>
aclError guarded(F copy_now) {
  try {
    copy_now();
    return ACL_SUCCESS;
  } catch (const std::exception& problem) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, problem.what());
  }
}

aclError too_small(std::size_t room, std::size_t bytes) {
  return fail(ACL_ERROR_RT_PARAM_INVALID, "copy: the destination has room for " + std::to_string(room) +
                                              " bytes, " + std::to_string(bytes) + " were to be copied");
}

}  // namespace

void copy(void* destination, const void* source, std::size_t bytes, aclrtMemcpyKind kind) {
  if (bytes == 0) return;
  const Direction way = direction(destination, source, kind);
  void* to = side(destination, bytes, way.to_device, "destination");
  const void* from = side(source, bytes, way.from_device, "source");
  std::memmove(to, from, bytes);
  apply_fault(to, bytes, way);
}

}  // namespace emucann

using emucann::guarded;

extern "C" {

EMUCANN_API aclError aclrtMemcpy(void* destination, size_t room, const void* source, size_t bytes,
                                 aclrtMemcpyKind kind) {
  if (bytes > room) return emucann::too_small(room, bytes);
  return guarded([&] { emucann::copy(destination, source, bytes, kind); });
}

EMUCANN_API aclError aclrtMemcpyAsync(void* destination, size_t room, const void* source, size_t bytes,
                                      aclrtMemcpyKind kind, aclrtStream stream) {
  if (bytes > room) return emucann::too_small(room, bytes);
  return emucann::enqueue(stream, "aclrtMemcpyAsync",
                          [=] { emucann::copy(destination, source, bytes, kind); });
}

// The attributes say where each side is; the addresses say it too.
EMUCANN_API aclError aclrtMemcpyBatch(void** destinations, size_t* rooms, void** sources, size_t* sizes,
                                      size_t count, aclrtMemcpyBatchAttr*, size_t*, size_t, size_t* failed) {
  for (size_t i = 0; i < count; ++i) {
    const aclError code = aclrtMemcpy(destinations[i], rooms[i], sources[i], sizes[i], ACL_MEMCPY_DEFAULT);
    if (code == ACL_SUCCESS) continue;
    if (failed != nullptr) *failed = i;
    return code;
  }
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtMemcpyBatchAsync(void** destinations, size_t* rooms, void** sources, size_t* sizes,
                                           size_t count, aclrtMemcpyBatchAttr*, size_t*, size_t,
                                           size_t* failed, aclrtStream stream) {
  for (size_t i = 0; i < count; ++i) {
    const aclError code =
        aclrtMemcpyAsync(destinations[i], rooms[i], sources[i], sizes[i], ACL_MEMCPY_DEFAULT, stream);
    if (code == ACL_SUCCESS) continue;
    if (failed != nullptr) *failed = i;
    return code;
  }
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtMemset(void* pointer, size_t room, int32_t value, size_t bytes) {
  if (bytes > room) return emucann::too_small(room, bytes);
  return guarded([&] { std::memset(emucann::host_view(pointer, bytes), value, bytes); });
}

EMUCANN_API aclError aclrtMemsetAsync(void* pointer, size_t room, int32_t value, size_t bytes,
                                      aclrtStream stream) {
  if (bytes > room) return emucann::too_small(room, bytes);
  return emucann::enqueue(stream, "aclrtMemsetAsync",
                          [=] { std::memset(emucann::host_view(pointer, bytes), value, bytes); });
}
}
