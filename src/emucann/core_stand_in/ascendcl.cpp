// Provisional: just enough of libascendcl.so to test the rooms around the core. The real core replaces it.
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "emucann/runtime.h"

namespace {
thread_local std::string message, returned;

struct Stream {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::pair<std::string, std::function<void()>>> queue;
  bool busy = false, stop = false;
  std::string error;
  std::thread worker{[this] { run(); }};

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return stop || !queue.empty(); });
      if (queue.empty()) return;
      auto work = std::move(queue.front());
      queue.pop_front();
      busy = true;
      lock.unlock();
      std::string problem;
      try {
        work.second();
      } catch (const std::exception& exception) {
        problem = work.first + ": " + exception.what();
      }
      lock.lock();
      busy = false;
      if (error.empty()) error = problem;
      changed.notify_all();
    }
  }
};
}  // namespace

namespace emucann {
aclError enqueue(aclrtStream stream, const char* op, std::function<void()> body) {
  auto* s = static_cast<Stream*>(stream);
  if (s == nullptr) return ACL_ERROR_INVALID_PARAM;
  std::lock_guard lock(s->mutex);
  s->queue.emplace_back(op, std::move(body));
  s->changed.notify_all();
  return ACL_SUCCESS;
}
void* host_view(const void* pointer) { return const_cast<void*>(pointer); }
void* host_view(const void* pointer, std::size_t) { return const_cast<void*>(pointer); }
void set_error_message(std::string text) { message = std::move(text); }
int op_threads() { return 1; }
}  // namespace emucann

extern "C" {
EMUCANN_API aclError aclInit(const char*) { return ACL_SUCCESS; }
EMUCANN_API aclError aclrtSetDevice(int32_t) { return ACL_SUCCESS; }
EMUCANN_API aclError aclrtMalloc(void** pointer, size_t bytes, aclrtMemMallocPolicy) {
  *pointer = std::malloc(bytes);
  return ACL_SUCCESS;
}
EMUCANN_API aclError aclrtFree(void* pointer) {
  std::free(pointer);
  return ACL_SUCCESS;
}
EMUCANN_API const char* aclGetRecentErrMsg() {
  if (message.empty()) return nullptr;
  returned = std::move(message);
  message.clear();
  return returned.c_str();
}
EMUCANN_API aclError aclrtCreateStream(aclrtStream* stream) {
  *stream = new Stream;
  return ACL_SUCCESS;
}
EMUCANN_API aclError aclrtSynchronizeStream(aclrtStream stream) {
  auto* s = static_cast<Stream*>(stream);
  std::unique_lock lock(s->mutex);
  s->changed.wait(lock, [&] { return s->queue.empty() && !s->busy; });
  if (s->error.empty()) return ACL_SUCCESS;
  message = "emucann: " + s->error;
  s->error.clear();
  return ACL_ERROR_FAILURE;
}
EMUCANN_API aclError aclrtDestroyStream(aclrtStream stream) {
  auto* s = static_cast<Stream*>(stream);
  {
    std::lock_guard lock(s->mutex);
    s->stop = true;
    s->changed.notify_all();
  }
  s->worker.join();
  delete s;
  return ACL_SUCCESS;
}
}
