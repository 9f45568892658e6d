#include "stream/event.h"

namespace emucann {

void Event::record(Stream& stream) {
  std::uint64_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    number = ++recorded_;
    errors_ = stream.errors();
  }
  stream.push("event record", [event = shared_from_this(), number] { event->reach(number); });
}

void Event::reach(std::uint64_t number) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (number > completed_) completed_ = number;
    time_ = Clock::now();
  }
  changed_.notify_all();
}

void Event::hold(Stream& stream) {
  std::uint64_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (completed_ >= recorded_) return;
    number = recorded_;
  }
  stream.push("event wait", [event = shared_from_this(), number] { event->wait_for(number); });
}

void Event::wait_for(std::uint64_t number) {
  using namespace std::chrono_literals;
  std::unique_lock<std::mutex> lock(mutex_);
  // The time-out only serves shut-down, when nobody will reach the mark any more.
  while (completed_ < number && !shutting_down()) changed_.wait_for(lock, 50ms);
}

bool Event::complete() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return completed_ >= recorded_;
}

std::optional<std::string> Event::synchronize() {
  std::uint64_t number = 0;
  std::shared_ptr<ErrorSlot> errors;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    number = recorded_;
    errors = errors_;
  }
  wait_for(number);
  return errors ? errors->take() : std::nullopt;
}

std::optional<Event::Clock::time_point> Event::time() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (completed_ == 0 || completed_ < recorded_) return std::nullopt;
  return time_;
}

}  // namespace emucann
