// The C interface of streams.
#include <cstdint>
#include <exception>
#include <string>

#include "device/device.h"
#include "emucann/runtime.h"
#include "stream/stream.h"

namespace emucann {

// An op's error as the runtime reports it: an AI core exception, with the op's name in the message.
aclError report(const std::optional<std::string>& error) {
  return error ? fail(ACL_ERROR_RT_AICORE_EXCEPTION, *error) : ACL_SUCCESS;
}

namespace {

aclError synchronize_device(std::int64_t milliseconds) {
  const int device = current_device_or_first();
  std::optional<std::string> first = take_orphaned_error(device);
  bool late = false;
  for_each_stream(device, [&](Stream& stream) {
    bool timed_out = false;
    auto error = stream.synchronize(milliseconds, timed_out);
    late = late || timed_out;
    if (!first) first = std::move(error);
  });
  if (late) return fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "device synchronisation timed out");
  return report(first);
}

}  // namespace
}  // namespace emucann

using emucann::fail;
using emucann::Stream;
using emucann::stream_of;

extern "C" {

EMUCANN_API aclError aclrtCreateStream(aclrtStream* stream) {
  if (const aclError code = emucann::check_not_forked(); code != ACL_SUCCESS) return code;
  *stream = &emucann::create_stream(emucann::current_device_or_first());
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t) {
  return aclrtCreateStream(stream);
}

EMUCANN_API aclError aclrtDestroyStream(aclrtStream stream) {
  if (emucann::destroy_stream(static_cast<Stream*>(stream))) return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtDestroyStream: no such stream, or a default stream");
}

EMUCANN_API aclError aclrtDestroyStreamForce(aclrtStream stream) { return aclrtDestroyStream(stream); }

EMUCANN_API aclError aclrtSynchronizeStream(aclrtStream stream) {
  return aclrtSynchronizeStreamWithTimeout(stream, -1);
}

EMUCANN_API aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t milliseconds) {
  bool timed_out = false;
  const auto error = stream_of(stream).synchronize(milliseconds, timed_out);
  if (timed_out) return fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "stream synchronisation timed out");
  return emucann::report(error);
}

EMUCANN_API aclError aclrtSynchronizeDevice() { return emucann::synchronize_device(-1); }

EMUCANN_API aclError aclrtSynchronizeDeviceWithTimeout(int32_t milliseconds) {
  return emucann::synchronize_device(milliseconds);
}

EMUCANN_API aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  *status = stream_of(stream).idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtStreamGetId(aclrtStream stream, int32_t* id) {
  *id = stream_of(stream).id();
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
  *stream = &stream_of(nullptr);
  return ACL_SUCCESS;
}

// Settings of the hardware's scheduler: there is one way to run here, and it stops at the first error of a
// body.
EMUCANN_API aclError aclrtSetStreamFailureMode(aclrtStream, uint64_t) { return ACL_SUCCESS; }
EMUCANN_API aclError aclrtSetStreamAttribute(aclrtStream, aclrtStreamAttr, aclrtStreamAttrValue*) {
  return ACL_SUCCESS;
}
EMUCANN_API aclError aclrtSetStreamOverflowSwitch(aclrtStream, uint32_t) { return ACL_SUCCESS; }
EMUCANN_API aclError aclrtGetStreamOverflowSwitch(aclrtStream, uint32_t* on) {
  *on = 0;
  return ACL_SUCCESS;
}

// Not CANN's: makes a stream pause, so that a test can show that somebody waits for it.
EMUCANN_API aclError emucann_stall_stream(aclrtStream stream, uint64_t microseconds) {
  return emucann::enqueue(stream, "emucann_stall_stream", [microseconds] { Stream::pause(microseconds); });
}
}
