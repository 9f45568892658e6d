#include "stream/stream.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <set>
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

// Never destroyed: at exit, threads and other libraries' handlers may still come by.
struct Registry {
  std::mutex mutex;
  std::set<Stream*> streams;
  std::vector<Stream*> defaults;               // by device, made at first use
  std::vector<std::unique_ptr<ErrorSlot>> orphans;  // by device: errors of destroyed streams
  std::int32_t next_id = 0;
  pid_t owner = getpid();
  std::atomic<bool> shutting_down{false};
  std::mutex pause_mutex;
  std::condition_variable pause;

  Registry() : defaults(static_cast<std::size_t>(config().devices)), next_id(config().devices) {
    for (int device = 0; device < config().devices; ++device) orphans.push_back(std::make_unique<ErrorSlot>());
    std::atexit(shut_down_streams);
  }
};

Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
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
    slot = new Stream(device);
    making_default = false;
  }
  return *slot;
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

Stream::Stream(int device) : device_(device), id_(new_id(device)) {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  registry().streams.insert(this);
}

Stream::~Stream() {
  if (!shutting_down() && worker_.joinable()) {
    bool timed_out = false;
    if (auto error = synchronize(-1, timed_out)) errors_->set(std::move(*error));
  }
  if (auto error = errors_->take()) registry().orphans.at(static_cast<std::size_t>(device_))->set(std::move(*error));
  stop();
  const std::lock_guard<std::mutex> lock(registry().mutex);
  registry().streams.erase(this);
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
    }
    const auto executed = batch.size();
    batch.clear();  // outside the lock: bodies own tensors
    lock.lock();
    completed_ += executed;
    if (waiting_ > 0) done_.notify_all();
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
  std::unique_lock<std::mutex> lock(mutex_);
  const std::uint64_t target = pushed_.load(std::memory_order_relaxed);
  const auto reached = [&] { return completed_ >= target || stopped_; };
  ++waiting_;
  timed_out = false;
  if (milliseconds < 0) {
    done_.wait(lock, reached);
  } else {
    timed_out = !done_.wait_for(lock, std::chrono::milliseconds(milliseconds), reached);
  }
  --waiting_;
  if (timed_out) return std::nullopt;
  lock.unlock();
  return errors_->take();
}

bool Stream::idle() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return completed_ >= pushed_.load(std::memory_order_relaxed);
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
  ++waiting_;
  const bool ended = done_.wait_for(lock, stop_limit, [this] { return stopped_; });
  --waiting_;
  lock.unlock();
  if (ended) {
    worker_.join();
  } else {
    worker_.detach();
  }
  return ended;
}

Stream& stream_of(aclrtStream handle) {
  return handle == nullptr ? default_stream(current_device_or_first()) : *static_cast<Stream*>(handle);
}

void for_each_stream(int device, const std::function<void(Stream&)>& f) {
  std::vector<Stream*> found;
  {
    const std::lock_guard<std::mutex> lock(registry().mutex);
    for (auto* stream : registry().streams) {
      if (stream->device() == device) found.push_back(stream);
    }
  }
  for (auto* stream : found) f(*stream);
}

std::optional<std::string> take_orphaned_error(int device) {
  return registry().orphans.at(static_cast<std::size_t>(device))->take();
}

bool shutting_down() { return registry().shutting_down.load(std::memory_order_acquire); }

void shut_down_streams() {
  auto& all = registry();
  if (all.owner != getpid()) return;  // a forked child has the registry but not the threads
  if (all.shutting_down.exchange(true)) return;
  {
    const std::lock_guard<std::mutex> lock(all.pause_mutex);
    all.pause.notify_all();
  }
  std::vector<Stream*> found;
  {
    const std::lock_guard<std::mutex> lock(all.mutex);
    found.assign(all.streams.begin(), all.streams.end());
  }
  for (auto* stream : found) stream->stop();
}

aclError enqueue(aclrtStream stream, const char* op, std::function<void()> body) {
  stream_of(stream).push(op, std::move(body));
  return ACL_SUCCESS;
}

int op_threads() { return config().threads; }

}  // namespace emucann
