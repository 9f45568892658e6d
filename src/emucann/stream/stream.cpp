#include "stream/stream.h"

#include <pthread.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "config/config.h"
#include "device/device.h"
#include "emucann/runtime.h"

namespace emucann {
namespace {

using namespace std::chrono_literals;

// How long a worker looks for more work before it sleeps: a wake-up costs more than most ops.
constexpr auto spin_time = 50us;
// How long shut-down waits for a body that is running.
constexpr auto stop_limit = 5s;

void note_fork();

// Never destroyed: at exit, threads and other libraries' handlers may still come by.
struct Registry {
  std::mutex mutex;
  std::map<const Stream*, std::shared_ptr<Stream>> streams;
  std::vector<Stream*> defaults;                    // by device, made at first use
  std::vector<std::unique_ptr<ErrorSlot>> orphans;  // by device: errors of destroyed streams
  std::int32_t next_id = 0;
  std::atomic<bool> shutting_down{false};
  std::atomic<bool> forked{false};  // this process is a child of the one that has the threads
  std::mutex pause_mutex;
  std::condition_variable pause;

  Registry() : defaults(static_cast<std::size_t>(config().devices)), next_id(config().devices) {
    for (int device = 0; device < config().devices; ++device)
      orphans.push_back(std::make_unique<ErrorSlot>());
    std::atexit(shut_down_streams);
    pthread_atfork(nullptr, nullptr, [] { note_fork(); });
  }
};

Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
}

void note_fork() {
  if (registry().streams.empty()) return;  // nothing has begun: the child may start for itself
  registry().forked = true;
  registry().shutting_down = true;
}

thread_local bool making_default = false;

// Default streams have their device's number as id; others count on from there.
std::int32_t new_id(int device) {
  if (making_default) return device;
  const std::lock_guard<std::mutex> lock(registry().mutex);
  return registry().next_id++;
}

Stream& default_stream(int device) {
  auto& all = registry();
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  auto& slot = all.defaults.at(static_cast<std::size_t>(device));
  if (slot == nullptr) {
    making_default = true;
    slot = &create_stream(device);
    making_default = false;
  }
  return *slot;
}

// Shared, because another thread may destroy one of them meanwhile.
std::vector<std::shared_ptr<Stream>> all_streams() {
  std::vector<std::shared_ptr<Stream>> found;
  const std::lock_guard<std::mutex> lock(registry().mutex);
  for (const auto& [_, stream] : registry().streams) found.push_back(stream);
  return found;
}

bool stalls(std::int32_t id) {
  const auto& fault = config().fault;
  return fault.kind == Fault::Kind::stall && fault.nth == static_cast<std::uint64_t>(id);
}

}  // namespace

void ErrorSlot::set(std::string message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!message_) message_ = std::move(message);
}

std::optional<std::string> ErrorSlot::take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(message_, std::nullopt);
}

Stream::Stream(int device) : device_(device), id_(new_id(device)) {}

bool Stream::finish() {
  if (forked()) return false;
  if (!shutting_down()) {
    if (auto error = synchronize())
      registry().orphans.at(static_cast<std::size_t>(device_))->set(std::move(*error));
  }
  return stop();
}

void Stream::push(const char* op, std::function<void()> body) {
  bool wake = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_) return;  // the process ends: nobody can see this work's effect
    // torch-npu makes dozens of streams and uses few: the thread comes with the first work.
    if (!worker_.joinable()) worker_ = std::thread([this] { run(); });
    incoming_.push_back({op, std::move(body)});
    pushed_.fetch_add(1, std::memory_order_release);
    wake = asleep_;
  }
  if (wake) work_.notify_one();
}

void Stream::run() {
  adopt_device(device_);
  const bool stall = stalls(id_);
  std::deque<Task> batch;
  std::uint64_t taken = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    if (incoming_.empty() && !stopping_) {
      lock.unlock();
      const auto give_up = std::chrono::steady_clock::now() + spin_time;
      while (pushed_.load(std::memory_order_acquire) == taken && std::chrono::steady_clock::now() < give_up) {
        std::this_thread::yield();
      }
      lock.lock();
    }
    asleep_ = true;
    work_.wait(lock, [this] { return stopping_ || !incoming_.empty(); });
    asleep_ = false;
    if (stopping_) break;
    batch.swap(incoming_);
    taken += batch.size();
    lock.unlock();
    if (stall) pause(config().fault.microseconds);
    for (auto& task : batch) {
      if (shutting_down()) break;
      execute(task);
      // Sequentially consistent, as in synchronize: either we see who waits, or he sees what has completed.
      if (completed_.fetch_add(1) + 1 >= wake_at_.load()) {
        const std::lock_guard<std::mutex> waiters(mutex_);
        wake_at_ = nobody_waits;  // those who still wait say so again
        done_.notify_all();
      }
    }
    batch.clear();
    lock.lock();
  }
  incoming_.clear();
  stopped_ = true;
  done_.notify_all();
}

void Stream::execute(Task& task) {
  std::optional<std::string> problem;
  try {
    task.body();
  } catch (const std::exception& exception) {
    problem = std::string(task.op) + ": " + exception.what();
  } catch (...) {
    problem = std::string(task.op) + ": unknown exception";
  }
  task.body = nullptr;
  if (problem) errors_->set(std::move(*problem));
}

std::optional<std::string> Stream::synchronize() {
  bool timed_out = false;
  return synchronize(-1, timed_out);
}

std::optional<std::string> Stream::synchronize(std::int64_t milliseconds, bool& timed_out) {
  timed_out = false;
  if (forked()) return completed_ < pushed_ ? std::optional<std::string>(forked_message) : std::nullopt;
  std::unique_lock<std::mutex> lock(mutex_);
  const std::uint64_t target = pushed_.load(std::memory_order_relaxed);
  const auto reached = [&] {
    if (completed_.load() >= target || stopped_) return true;
    if (target < wake_at_.load()) wake_at_ = target;
    return completed_.load() >= target;
  };
  if (milliseconds < 0) {
    done_.wait(lock, reached);
  } else {
    timed_out = !done_.wait_for(lock, std::chrono::milliseconds(milliseconds), reached);
  }
  if (timed_out) return std::nullopt;
  lock.unlock();
  return errors_->take();
}

bool Stream::idle() {
  if (forked()) return completed_ >= pushed_;
  const std::lock_guard<std::mutex> lock(mutex_);
  return stopped_ || completed_.load() >= pushed_.load(std::memory_order_relaxed);
}

bool Stream::pause(std::uint64_t microseconds) {
  std::unique_lock<std::mutex> lock(registry().pause_mutex);
  return !registry().pause.wait_for(lock, std::chrono::microseconds(microseconds), shutting_down);
}

bool Stream::stop() {
  std::unique_lock<std::mutex> lock(mutex_);
  stopping_ = true;
  if (!worker_.joinable()) return true;
  work_.notify_all();
  const bool ended = done_.wait_for(lock, stop_limit, [this] { return stopped_; });
  lock.unlock();
  if (ended) {
    worker_.join();
  } else {
    worker_.detach();
  }
  return ended;
}

Stream& create_stream(int device) {
  auto made = std::make_shared<Stream>(device);
  const std::lock_guard<std::mutex> lock(registry().mutex);
  return *(registry().streams[made.get()] = made);
}

bool destroy_stream(Stream* stream) {
  std::shared_ptr<Stream> owned;
  {
    const std::lock_guard<std::mutex> lock(registry().mutex);
    const auto found = registry().streams.find(stream);
    if (found == registry().streams.end() || stream->id() < config().devices)
      return false;  // default streams stay
    owned = std::move(found->second);
    registry().streams.erase(found);
  }
  forget_subscription(stream);
  if (!owned->finish())
    new std::shared_ptr<Stream>(std::move(owned));  // its worker still runs: never destroyed
  return true;
}

bool forked() { return registry().forked.load(std::memory_order_relaxed); }

const char* const forked_message =
    "this process was forked from one that uses the NPU, whose streams it does not have: start it with spawn";

aclError check_not_forked() {
  return forked() ? fail(ACL_ERROR_RT_CONTEXT_NULL, forked_message) : ACL_SUCCESS;
}

Stream& stream_of(aclrtStream handle) {
  return handle == nullptr ? default_stream(current_device_or_first()) : *static_cast<Stream*>(handle);
}

void for_each_stream(int device, const std::function<void(Stream&)>& f) {
  for (const auto& stream : all_streams()) {
    if (stream->device() == device) f(*stream);
  }
}

std::optional<std::string> take_orphaned_error(int device) {
  return registry().orphans.at(static_cast<std::size_t>(device))->take();
}

bool shutting_down() { return registry().shutting_down.load(std::memory_order_acquire); }

void shut_down_streams() {
  auto& all = registry();
  if (all.shutting_down.exchange(true)) return;
  {
    const std::lock_guard<std::mutex> lock(all.pause_mutex);
    all.pause.notify_all();
  }
  for (const auto& stream : all_streams()) stream->stop();
}

aclError enqueue(aclrtStream stream, const char* op, std::function<void()> body) {
  if (const aclError code = check_not_forked(); code != ACL_SUCCESS) return code;
  stream_of(stream).push(op, std::move(body));
  return ACL_SUCCESS;
}

int op_threads() { return config().threads; }

}  // namespace emucann
