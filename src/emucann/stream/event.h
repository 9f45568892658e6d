// Events: a mark in a stream that others wait for.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "stream/stream.h"

namespace emucann {

// One record of an event, reached when the recording stream's worker comes past it. Shared by the event and
// by the work that mentions it: an event may be recorded again, or destroyed, while work waits for an earlier
// record.
class Mark {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Mark(std::shared_ptr<ErrorSlot> errors) : errors_(std::move(errors)) {}

  void reach();
  bool reached() const { return reached_.load(std::memory_order_acquire); }
  // Blocks until it is reached, or until the process shuts down.
  void wait();
  Clock::time_point time() const { return time_; }  // once it is reached
  ErrorSlot& errors() const { return *errors_; }    // of the stream that it is in

 private:
  const std::shared_ptr<ErrorSlot> errors_;
  std::atomic<bool> reached_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  Clock::time_point time_{};
};

class Event {
 public:
  void record(Stream& stream);
  // Makes later work of the stream wait for the last record made so far.
  void hold(Stream& stream);
  // True if the last record has been reached (also if there was none, as CANN has it).
  bool complete();
  // Blocks until the last record has been reached. Returns the recording stream's error, if any.
  std::optional<std::string> synchronize();
  // When the last record was reached; no value before that.
  std::optional<Mark::Clock::time_point> time();

 private:
  std::shared_ptr<Mark> last();

  std::mutex mutex_;
  std::shared_ptr<Mark> last_;
};

}  // namespace emucann
