// A body that tests hold: the stream's worker says that it has come to it, and waits until it is let through.
#pragma once

#include <future>
#include <memory>

#include "emucann/runtime.h"
#include "runtime_support.h"

namespace emucann::testing {

class Gate {
 public:
  // Puts the gate on a stream. All copies are one gate.
  void put_on(aclrtStream stream) const {
    EXPECT_ACL_OK(enqueue(stream, "gate", [state = state_] {
      state->arrived.set_value();
      state->opened.get_future().wait();
    }));
  }
  // Returns once the worker stands before it: from then on the stream is blocked.
  void wait_for_worker() const { state_->arrived.get_future().wait(); }
  void open() const { state_->opened.set_value(); }

 private:
  struct State {
    std::promise<void> arrived;
    std::promise<void> opened;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

class ScopedStream {
 public:
  ScopedStream() { EXPECT_ACL_OK(aclrtCreateStream(&stream_)); }
  ScopedStream(const ScopedStream&) = delete;
  ScopedStream& operator=(const ScopedStream&) = delete;
  ~ScopedStream() {
    if (stream_ != nullptr) {
      EXPECT_ACL_OK(aclrtDestroyStream(stream_));
    }
  }
  operator aclrtStream() const { return stream_; }  // NOLINT: stands for its handle
  aclrtStream release() { return std::exchange(stream_, nullptr); }
  bool ready() const {
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_ACL_OK(aclrtStreamQuery(stream_, &status));
    return status == ACL_STREAM_STATUS_COMPLETE;
  }

 private:
  aclrtStream stream_ = nullptr;
};

class ScopedEvent {
 public:
  ScopedEvent() { EXPECT_ACL_OK(aclrtCreateEventExWithFlag(&event_, ACL_EVENT_TIME_LINE)); }
  ScopedEvent(const ScopedEvent&) = delete;
  ScopedEvent& operator=(const ScopedEvent&) = delete;
  ~ScopedEvent() {
    if (event_ != nullptr) {
      EXPECT_ACL_OK(aclrtDestroyEvent(event_));
    }
  }
  operator aclrtEvent() const { return event_; }  // NOLINT: stands for its handle
  aclrtEvent release() { return std::exchange(event_, nullptr); }
  bool complete() const {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT_ACL_OK(aclrtQueryEventStatus(event_, &status));
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }

 private:
  aclrtEvent event_ = nullptr;
};

inline void put(aclrtStream stream, std::function<void()> body, const char* name = "body") {
  EXPECT_ACL_OK(enqueue(stream, name, std::move(body)));
}

}  // namespace emucann::testing
