#include <pthread.h>

#include <atomic>
#include <thread>

#include "gate.h"

namespace emucann::testing {
namespace {

void append(void* data) { static_cast<std::vector<int>*>(data)->push_back(1); }

// A thread that subscribes to a stream and processes its reports, as torch-npu has one.
class Subscriber {
 public:
  explicit Subscriber(aclrtStream stream) : stream_(stream) {
    std::promise<void> subscribed;
    thread_ = std::thread([&] {
      id_ = static_cast<uint64_t>(pthread_self());
      EXPECT_ACL_OK(aclrtSubscribeReport(id_, stream_));
      subscribed.set_value();
      while (!stop_) aclrtProcessReport(1);
    });
    subscribed.get_future().wait();
  }
  ~Subscriber() {
    stop_ = true;
    thread_.join();
    EXPECT_ACL_OK(aclrtUnSubscribeReport(id_, stream_));
  }
  std::thread::id thread() const { return thread_.get_id(); }

 private:
  aclrtStream stream_;
  uint64_t id_ = 0;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class Callbacks : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_ACL_OK(aclrtSetDevice(0)); }
  ScopedStream stream_;
};

TEST_F(Callbacks, OfTheHostRunInTheStreamsOrder) {
  std::vector<int> seen;
  put(stream_, [&] { seen.push_back(0); });
  EXPECT_ACL_OK(aclrtLaunchHostFunc(stream_, append, &seen));
  put(stream_, [&] { seen.push_back(2); });
  EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
}

struct Report {
  std::thread::id thread;
  std::promise<void> came;
  Gate* gate = nullptr;
};

void report(void* data) {
  auto* report = static_cast<Report*>(data);
  report->thread = std::this_thread::get_id();
  report->came.set_value();
}

TEST_F(Callbacks, RunOnTheSubscribedThread) {
  const Subscriber subscriber(stream_);
  for (const auto block : {ACL_CALLBACK_NO_BLOCK, ACL_CALLBACK_BLOCK}) {
    Report came;
    EXPECT_ACL_OK(aclrtLaunchCallback(report, &came, block, stream_));
    came.came.get_future().wait();
    EXPECT_EQ(came.thread, subscriber.thread());
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
  }
}

struct Held {
  std::promise<void> began;
  std::promise<void> go;
};

void hold(void* data) {
  auto* held = static_cast<Held*>(data);
  held->began.set_value();
  held->go.get_future().wait();
}

TEST_F(Callbacks, ThatBlockHoldTheStream) {
  const Subscriber subscriber(stream_);
  Held held;
  std::atomic<bool> after{false};
  EXPECT_ACL_OK(aclrtLaunchCallback(hold, &held, ACL_CALLBACK_BLOCK, stream_));
  put(stream_, [&] { after = true; });
  held.began.get_future().wait();
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_FALSE(after);
  held.go.set_value();
  EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
  EXPECT_TRUE(after);
}

TEST_F(Callbacks, ThatDoNotBlockLetTheStreamGoOn) {
  const Subscriber subscriber(stream_);
  Held held;
  std::atomic<bool> after{false};
  EXPECT_ACL_OK(aclrtLaunchCallback(hold, &held, ACL_CALLBACK_NO_BLOCK, stream_));
  put(stream_, [&] { after = true; });
  held.began.get_future().wait();
  EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
  EXPECT_TRUE(after);
  held.go.set_value();
}

TEST_F(Callbacks, NeedASubscription) {
  std::vector<int> seen;
  expect_refused(aclrtLaunchCallback(append, &seen, ACL_CALLBACK_BLOCK, stream_),
                 {"no thread has subscribed"});
  expect_refused(aclrtProcessReport(1), {"this thread has not subscribed"});
  {
    const Subscriber subscriber(stream_);
  }
  expect_refused(aclrtLaunchCallback(append, &seen, ACL_CALLBACK_BLOCK, stream_),
                 {"no thread has subscribed"});
}

TEST_F(Callbacks, AreNotInheritedByALaterStreamOfTheSameAddress) {
  const auto self = static_cast<uint64_t>(pthread_self());
  std::vector<int> seen;
  EXPECT_ACL_OK(aclrtSubscribeReport(self, stream_));
  EXPECT_ACL_OK(aclrtLaunchCallback(append, &seen, ACL_CALLBACK_NO_BLOCK, stream_));
  EXPECT_ACL_OK(aclrtProcessReport(-1));
  EXPECT_EQ(seen.size(), 1u);
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_REPORT_TIMEOUT) << "nothing more comes";
  EXPECT_ACL_OK(aclrtDestroyStream(stream_.release()));
  for (int i = 0; i < 20; ++i) {
    const ScopedStream later;
    expect_refused(aclrtLaunchCallback(append, &seen, ACL_CALLBACK_NO_BLOCK, later),
                   {"no thread has subscribed"});
  }
}

}  // namespace
}  // namespace emucann::testing
