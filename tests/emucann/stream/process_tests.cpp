// The end of a process, forks, and the stall fault: each case is a child.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "gate.h"
#include "undeclared.h"

namespace emucann::testing {
namespace {

constexpr uint64_t an_hour = 3'600'000'000;  // microseconds; ctest's limit is a minute

// A child that ends by itself, with exit code 0 and not a word on stderr.
void expect_quiet_exit(const std::function<void()>& body) {
  EXPECT_EXIT(
      {
        body();
        std::exit(::testing::Test::HasFailure() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "^$");
}

TEST(Exit, IsCleanWhenNothingIsPending) {
  expect_quiet_exit([] {
    EXPECT_ACL_OK(aclInit(nullptr));
    EXPECT_ACL_OK(aclrtSetDevice(0));
    put(nullptr, [] {});
    EXPECT_ACL_OK(aclrtSynchronizeDevice());
    EXPECT_ACL_OK(aclFinalize());
  });
}

TEST(Exit, DoesNotWaitForQueuedWork) {
  expect_quiet_exit([] {
    for (int i = 0; i < 3; ++i) {
      ScopedStream stream;
      EXPECT_ACL_OK(emucann_stall_stream(stream, an_hour));
      put(stream, [] { std::abort(); });
      stream.release();
    }
  });
}

TEST(Exit, DoesNotWaitForEventsThatNobodyReaches) {
  expect_quiet_exit([] {
    ScopedStream one;
    ScopedStream two;
    ScopedEvent event;
    EXPECT_ACL_OK(emucann_stall_stream(one, an_hour));
    EXPECT_ACL_OK(aclrtRecordEvent(event, one));
    EXPECT_ACL_OK(aclrtStreamWaitEvent(two, event));
    one.release();
    two.release();
    event.release();
  });
}

TEST(Exit, DoesNotWaitForever) {
  expect_quiet_exit([] {
    const Gate* never = new Gate;
    never->put_on(nullptr);
    never->wait_for_worker();
  });
}

TEST(Exit, LetsARunningBodyEnd) {
  EXPECT_EXIT(
      {
        const Gate* gate = new Gate;
        gate->put_on(nullptr);
        gate->wait_for_worker();
        put(nullptr, [] { std::fprintf(stderr, "later work ran"); });
        static std::thread opener([gate] {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          gate->open();
        });
        opener.detach();
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "^$");
}

TEST(Exit, WithAnErrorThatNobodyAskedForIsClean) {
  expect_quiet_exit([] {
    put(nullptr, [] { throw std::runtime_error("broke"); });
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    while (status != ACL_STREAM_STATUS_COMPLETE) aclrtStreamQuery(nullptr, &status);
  });
}

TEST(Exit, MayBeFollowedByCalls) {
  expect_quiet_exit([] {
    ScopedStream stream;
    put(stream, [] {});
    EXPECT_ACL_OK(aclFinalize());
    put(stream, [] { std::abort(); });  // dropped: nobody can see its effect
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
    EXPECT_ACL_OK(aclrtSynchronizeDevice());
    EXPECT_ACL_OK(aclFinalize());
  });
}

TEST(Fork, BeforeUseLeavesTheChildAllItNeeds) {
  in_child({}, [] {
    uint32_t count = 0;
    EXPECT_ACL_OK(aclrtGetDeviceCount(&count));
    in_child({}, [] {
      bool ran = false;
      put(nullptr, [&] { ran = true; });
      EXPECT_ACL_OK(aclrtSynchronizeDevice());
      EXPECT_TRUE(ran);
    });
  });
}

TEST(Fork, AfterUseIsToldToTheChildAndLeavesTheParentAlone) {
  in_child({}, [] {
    EXPECT_ACL_OK(aclrtSetDevice(0));
    ScopedStream stream;
    const ScopedStream idle;
    const ScopedEvent event;
    const ScopedEvent reached;
    const Gate gate;
    put(idle, [] {});
    EXPECT_ACL_OK(aclrtRecordEvent(reached, idle));
    EXPECT_ACL_OK(aclrtSynchronizeStream(idle));
    gate.put_on(stream);
    EXPECT_ACL_OK(aclrtRecordEvent(event, stream));
    in_child({}, [&] {
      const auto words = {"forked", "spawn"};
      expect_refused(enqueue(stream, "body", [] {}), words);
      expect_refused(aclrtSynchronizeStream(stream), words);
      expect_refused(aclrtSynchronizeDevice(), words);
      expect_refused(aclrtSynchronizeEvent(event), words);
      expect_refused(aclrtRecordEvent(event, stream), words);
      expect_refused(aclrtStreamWaitEvent(stream, event), words);
      aclrtStream other = nullptr;
      expect_refused(aclrtCreateStream(&other), words);
      EXPECT_FALSE(stream.ready());
      EXPECT_FALSE(event.complete());
      // What was complete needs no thread.
      EXPECT_ACL_OK(aclrtSynchronizeStream(idle));
      EXPECT_ACL_OK(aclrtSynchronizeEvent(reached));
      EXPECT_TRUE(idle.ready());
      EXPECT_ACL_OK(aclrtDestroyStream(stream));
      EXPECT_ACL_OK(aclFinalize());
    });
    gate.open();
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
  });
}

TEST(Fork, AfterUseEndsCleanly) {
  expect_quiet_exit([] {
    const Gate gate;
    gate.put_on(nullptr);
    gate.wait_for_worker();
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    gate.open();
  });
}

TEST(StallFault, PausesItsStreamAndNoOther) {
  in_child({{"EMUCANN_FAULT", "stall:1:3600000000"}},
           [] {  // 0 is the default stream, 1 the first that is made
             EXPECT_ACL_OK(aclrtSetDevice(0));
             ScopedStream stalled;
             const ScopedStream other;
             int32_t id = 0;
             EXPECT_ACL_OK(aclrtStreamGetId(stalled, &id));
             ASSERT_EQ(id, 1);
             put(stalled, [] { std::abort(); });
             bool ran = false;
             put(other, [&] { ran = true; });
             EXPECT_ACL_OK(aclrtSynchronizeStream(other));
             EXPECT_TRUE(ran);
             EXPECT_FALSE(stalled.ready());
             EXPECT_ACL_OK(aclFinalize());
             stalled.release();
           });
}

TEST(StallFault, OnlyDelays) {
  in_child({{"EMUCANN_FAULT", "stall:0:1000"}}, [] {
    EXPECT_ACL_OK(aclrtSetDevice(0));
    for (int round = 0; round < 3; ++round) {
      bool ran = false;
      put(nullptr, [&] { ran = true; });
      EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
      EXPECT_TRUE(ran);
    }
  });
}

}  // namespace
}  // namespace emucann::testing
