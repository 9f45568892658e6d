// Events: a mark in a stream that others wait for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "stream/stream.h"

namespace emucann {

// Shared by the handle and by the work that mentions it, so that an event may be destroyed while work is queued.
class Event : public std::enable_shared_from_this<Event> {
 public:
  using Clock = std::chrono::steady_clock;

  void record(Stream& stream);
  // Makes later work of the stream wait for the last record made so far.
  void hold(Stream& stream);
  // True if every record made so far has completed (also if there was none, as CANN has it).
  bool complete();
  // Blocks until the last record has completed. Returns the recording stream's error, if any.
  std::optional<std::string> synchronize();
  // When the last completed record was reached; no value before that.
  std::optional<Clock::time_point> time();

 private:
  void reach(std::uint64_t number);
  void wait_for(std::uint64_t number);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t recorded_ = 0;   // records asked for
  std::uint64_t completed_ = 0;  // the last one that a worker came past
  Clock::time_point time_{};
  std::shared_ptr<ErrorSlot> errors_;  // of the stream that recorded last
};

}  // namespace emucann
