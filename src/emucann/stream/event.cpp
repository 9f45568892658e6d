#include "stream/event.h"

namespace emucann {

void Mark::reach() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    time_ = Clock::now();
    reached_.store(true, std::memory_order_release);
  }
  changed_.notify_all();
}

void Mark::wait() {
  using namespace std::chrono_literals;
  std::unique_lock<std::mutex> lock(mutex_);
  // The time-out only serves shut-down, when nobody will reach the mark any more.
  while (!reached() && !shutting_down()) changed_.wait_for(lock, 50ms);
}

void Event::record(Stream& stream) {
  const auto mark = std::make_shared<Mark>(stream.errors());
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    last_ = mark;
  }
  stream.push("event record", [mark] { mark->reach(); });
}

void Event::hold(Stream& stream) {
  const auto mark = last();
  if (!mark || mark->reached()) return;
  stream.push("event wait", [mark] { mark->wait(); });
}

bool Event::complete() {
  const auto mark = last();
  return !mark || mark->reached();
}

std::optional<std::string> Event::synchronize() {
  const auto mark = last();
  if (!mark) return std::nullopt;
  mark->wait();
  if (!mark->reached() && forked()) return forked_message;
  return mark->errors().take();
}

std::optional<Mark::Clock::time_point> Event::time() {
  const auto mark = last();
  if (!mark || !mark->reached()) return std::nullopt;
  return mark->time();
}

std::shared_ptr<Mark> Event::last() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return last_;
}

}  // namespace emucann
