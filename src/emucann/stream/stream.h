// Streams: work in order, on a thread of its own, while the caller goes on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "acl/acl.h"

namespace emucann {

// The first error of a stream since somebody asked. Shared with the stream's events, so that whoever
// synchronises first gets it, and gets it once.
class ErrorSlot {
 public:
  void set(std::string message);
  std::optional<std::string> take();

 private:
  std::mutex mutex_;
  std::optional<std::string> message_;
};

class Stream {
 public:
  explicit Stream(int device);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int device() const { return device_; }
  std::int32_t id() const { return id_; }

  // op must live as long as the process (a string literal).
  void push(const char* op, std::function<void()> body);

  // Waits until all that was pushed before has run. Returns the first error since the last synchronisation,
  // if any.
  std::optional<std::string> synchronize();
  // The same with a limit; sets timed_out and returns no error if it passes.
  std::optional<std::string> synchronize(std::int64_t milliseconds, bool& timed_out);
  bool idle();
  // Ends the stream: waits for its work and leaves its error to the device's next synchronisation. Returns
  // what stop does.
  bool finish();
  const std::shared_ptr<ErrorSlot>& errors() const { return errors_; }

  // Blocks the worker: used inside bodies. Returns false if the process is shutting down.
  static bool pause(std::uint64_t microseconds);

  // Ends the worker; work that has not begun is dropped. False if the running body did not end in time.
  bool stop();

 private:
  static constexpr std::uint64_t nobody_waits = std::numeric_limits<std::uint64_t>::max();

  struct Task {
    const char* op;
    std::function<void()> body;
  };

  void run();
  void execute(Task& task);

  const int device_;
  const std::int32_t id_;
  std::mutex mutex_;
  std::condition_variable work_;  // the worker waits here
  std::condition_variable done_;  // synchronisers wait here
  std::deque<Task> incoming_;
  std::atomic<std::uint64_t> pushed_{0};
  std::atomic<std::uint64_t> completed_{0};
  std::atomic<std::uint64_t> wake_at_{
      nobody_waits};  // the least count of completed tasks that somebody waits for
  bool asleep_ = false;
  bool stopping_ = false;
  bool stopped_ = false;
  std::shared_ptr<ErrorSlot> errors_ = std::make_shared<ErrorSlot>();
  std::thread worker_;
};

Stream& create_stream(int device);

// Waits for the stream's work and forgets it. False if there is no such stream, or it is a device's default
// stream.
bool destroy_stream(Stream* stream);

// A handle of the C interface; null is the current device's default stream.
Stream& stream_of(aclrtStream handle);

// True in a process that was forked from one with streams: it has their handles, but not their threads, and
// must not touch their locks, which a thread may have held. What was complete is; nothing else will be.
bool forked();
extern const char* const forked_message;

// Fails there.
aclError check_not_forked();

// Runs f on every stream of a device.
void for_each_stream(int device, const std::function<void(Stream&)>& f);

// An error of a stream that was destroyed before anybody synchronised with it.
std::optional<std::string> take_orphaned_error(int device);

// Ends all workers, at aclFinalize or at exit.
void shut_down_streams();

// True once shut_down_streams has begun: waits inside bodies give up.
bool shutting_down();

// Forgets who gets a stream's callbacks (callback.cpp).
void forget_subscription(const Stream* stream);

}  // namespace emucann
