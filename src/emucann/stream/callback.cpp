// Host callbacks. aclrtLaunchHostFunc runs on the stream's worker; aclrtLaunchCallback runs on the thread
// that subscribed to the stream and calls aclrtProcessReport, as acl_rt.h describes.
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "emucann/runtime.h"
#include "stream/stream.h"

namespace emucann {
namespace {

// The callbacks that wait for one subscribed thread.
struct Mailbox {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> letters;

  void put(std::function<void()> letter) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      letters.push_back(std::move(letter));
    }
    changed.notify_one();
  }
};

struct Subscriptions {
  std::mutex mutex;
  std::map<std::uint64_t, std::shared_ptr<Mailbox>> by_thread;
  std::map<const Stream*, std::shared_ptr<Mailbox>> by_stream;
};

Subscriptions& subscriptions() {
  static auto* instance = new Subscriptions;
  return *instance;
}

// A letter that the stream waits for.
class Receipt {
 public:
  void sign() {
    const std::lock_guard<std::mutex> lock(mutex_);
    signed_ = true;
    changed_.notify_all();
  }
  void wait() {
    using namespace std::chrono_literals;
    std::unique_lock<std::mutex> lock(mutex_);
    while (!signed_ && !shutting_down()) changed_.wait_for(lock, 50ms);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool signed_ = false;
};

}  // namespace

void forget_subscription(const Stream* stream) {
  auto& all = subscriptions();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.by_stream.erase(stream);
}

}  // namespace emucann

using emucann::fail;
using emucann::subscriptions;

extern "C" {

EMUCANN_API aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc function, void* data) {
  return emucann::enqueue(stream, "aclrtLaunchHostFunc", [=] { function(data); });
}

EMUCANN_API aclError aclrtSubscribeReport(uint64_t thread, aclrtStream stream) {
  auto& all = subscriptions();
  const std::lock_guard<std::mutex> lock(all.mutex);
  auto& mailbox = all.by_thread[thread];
  if (!mailbox) mailbox = std::make_shared<emucann::Mailbox>();
  all.by_stream[&emucann::stream_of(stream)] = mailbox;
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtUnSubscribeReport(uint64_t thread, aclrtStream stream) {
  auto& all = subscriptions();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.by_stream.erase(&emucann::stream_of(stream));
  const auto found = all.by_thread.find(thread);
  if (found != all.by_thread.end() && found->second.use_count() == 1) all.by_thread.erase(found);
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclrtLaunchCallback(aclrtCallback function, void* data, aclrtCallbackBlockType block,
                                         aclrtStream stream) {
  std::shared_ptr<emucann::Mailbox> mailbox;
  {
    auto& all = subscriptions();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.by_stream.find(&emucann::stream_of(stream));
    if (found == all.by_stream.end()) {
      return fail(ACL_ERROR_RT_STREAM_NO_CB_REG,
                  "aclrtLaunchCallback: no thread has subscribed to the stream");
    }
    mailbox = found->second;
  }
  return emucann::enqueue(stream, "aclrtLaunchCallback", [=] {
    if (block == ACL_CALLBACK_NO_BLOCK) {
      mailbox->put([=] { function(data); });
      return;
    }
    const auto receipt = std::make_shared<emucann::Receipt>();
    mailbox->put([=] {
      function(data);
      receipt->sign();
    });
    receipt->wait();
  });
}

EMUCANN_API aclError aclrtProcessReport(int32_t milliseconds) {
  std::shared_ptr<emucann::Mailbox> mailbox;
  {
    auto& all = subscriptions();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.by_thread.find(static_cast<uint64_t>(pthread_self()));
    if (found == all.by_thread.end()) {
      return fail(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                  "aclrtProcessReport: this thread has not subscribed to a stream");
    }
    mailbox = found->second;
  }
  std::function<void()> letter;
  {
    std::unique_lock<std::mutex> lock(mailbox->mutex);
    const auto arrived = [&] { return !mailbox->letters.empty(); };
    if (milliseconds < 0) {
      mailbox->changed.wait(lock, arrived);
    } else if (!mailbox->changed.wait_for(lock, std::chrono::milliseconds(milliseconds), arrived)) {
      return fail(ACL_ERROR_RT_REPORT_TIMEOUT, "aclrtProcessReport: nothing came in time");
    }
    letter = std::move(mailbox->letters.front());
    mailbox->letters.pop_front();
  }
  letter();
  return ACL_SUCCESS;
}
}
