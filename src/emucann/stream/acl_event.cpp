// The C interface of events.
#include <chrono>

#include "emucann/runtime.h"
#include "stream/event.h"

namespace emucann {

aclError report(const std::optional<std::string>& error);  // acl_stream.cpp

namespace {

Event& event_of(aclrtEvent handle) { return *static_cast<Event*>(handle); }

}  // namespace
}  // namespace emucann

using emucann::Event;
using emucann::event_of;
using emucann::fail;

extern "C" {

EMUCANN_API aclError aclrtCreateEvent(aclrtEvent* event) {
  *event = new Event;
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t) { return aclrtCreateEvent(event); }
EMUCANN_API aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t) {
  return aclrtCreateEvent(event);
}

EMUCANN_API aclError aclrtDestroyEvent(aclrtEvent event) {
  delete static_cast<Event*>(event);
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  if (const aclError code = emucann::check_not_forked(); code != ACL_SUCCESS) return code;
  event_of(event).record(emucann::stream_of(stream));
  return ACL_SUCCESS;
}

// Only events of captured graphs need it; graph mode is not emulated.
EMUCANN_API aclError aclrtResetEvent(aclrtEvent, aclrtStream) { return ACL_SUCCESS; }

EMUCANN_API aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  if (const aclError code = emucann::check_not_forked(); code != ACL_SUCCESS) return code;
  event_of(event).hold(emucann::stream_of(stream));
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  *status =
      event_of(event).complete() ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  *status = event_of(event).complete() ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return emucann::report(event_of(event).synchronize());
}

EMUCANN_API aclError aclrtEventElapsedTime(float* milliseconds, aclrtEvent begin, aclrtEvent end) {
  const auto from = event_of(begin).time();
  const auto to = event_of(end).time();
  if (!from || !to)
    return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "an event has not completed: no elapsed time");
  *milliseconds = std::chrono::duration<float, std::milli>(*to - *from).count();
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* microseconds) {
  const auto time = event_of(event).time();
  if (!time) return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "the event has not completed: no time stamp");
  *microseconds = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(time->time_since_epoch()).count());
  return ACL_SUCCESS;
}
}
