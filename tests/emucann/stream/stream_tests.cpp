#include <atomic>
#include <numeric>
#include <set>
#include <thread>

#include "gate.h"
#include "undeclared.h"

namespace emucann::testing {
namespace {

class Streams : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_ACL_OK(aclrtSetDevice(0)); }
};

TEST_F(Streams, RunTheirWorkInOrder) {
  const ScopedStream stream;
  std::vector<int> seen;
  std::vector<int> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  for (const int i : expected) put(stream, [&seen, i] { seen.push_back(i); });
  EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
  EXPECT_EQ(seen, expected);
}

TEST_F(Streams, RunWhileTheCallerGoesOn) {
  const ScopedStream stream;
  const Gate gate;
  std::atomic<bool> after{false};
  EXPECT_TRUE(stream.ready()) << "nothing was enqueued";
  gate.put_on(stream);
  put(stream, [&] { after = true; });
  gate.wait_for_worker();
  EXPECT_FALSE(stream.ready());
  EXPECT_FALSE(after);
  gate.open();
  EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
  EXPECT_TRUE(after);
  EXPECT_TRUE(stream.ready());
}

TEST_F(Streams, DoNotWaitForEachOther) {
  const ScopedStream blocked;
  const ScopedStream free;
  const Gate gate;
  gate.put_on(blocked);
  bool ran = false;
  put(free, [&] { ran = true; });
  EXPECT_ACL_OK(aclrtSynchronizeStream(free));
  EXPECT_TRUE(ran);
  EXPECT_FALSE(blocked.ready());
  gate.open();
}

TEST_F(Streams, RunAtOnce) {
  // Each body waits for the other: one worker for both would never end.
  const ScopedStream one;
  const ScopedStream two;
  std::promise<void> from_one;
  std::promise<void> from_two;
  put(one, [&] {
    from_one.set_value();
    from_two.get_future().wait();
  });
  put(two, [&] {
    from_two.set_value();
    from_one.get_future().wait();
  });
  EXPECT_ACL_OK(aclrtSynchronizeDevice());
}

TEST_F(Streams, AreSynchronisedByManyThreads) {
  const ScopedStream stream;
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      EXPECT_ACL_OK(aclrtSetDevice(0));
      for (int round = 0; round < 200; ++round) {
        std::atomic<bool> mine{false};
        put(stream, [&] {
          mine = true;
          ++done;
        });
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
        EXPECT_TRUE(mine);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(done, 8 * 200);
}

TEST_F(Streams, SynchroniseWithALimit) {
  const ScopedStream stream;
  const Gate gate;
  EXPECT_ACL_OK(aclrtSynchronizeStreamWithTimeout(stream, 0)) << "nothing to wait for";
  gate.put_on(stream);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  expect_words(recent_message(), {"timed out"});
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  gate.open();
  EXPECT_ACL_OK(aclrtSynchronizeStreamWithTimeout(stream, -1));
  EXPECT_ACL_OK(aclrtSynchronizeDeviceWithTimeout(-1));
}

TEST_F(Streams, NullIsTheDefaultStream) {
  aclrtStream stream = nullptr;
  ASSERT_ACL_OK(aclrtCtxGetCurrentDefaultStream(&stream));
  const Gate gate;
  gate.put_on(nullptr);
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  EXPECT_ACL_OK(aclrtStreamQuery(stream, &status));
  EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
  gate.open();
  EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
  expect_refused(aclrtDestroyStream(nullptr), {"default stream"});
  expect_refused(aclrtDestroyStream(stream), {"default stream"});
}

TEST_F(Streams, HaveIdsOfTheirOwn) {
  std::set<int32_t> ids;
  const ScopedStream one;
  const ScopedStream two;
  for (aclrtStream stream : {aclrtStream{nullptr}, aclrtStream{one}, aclrtStream{two}}) {
    int32_t id = -1;
    EXPECT_ACL_OK(aclrtStreamGetId(stream, &id));
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_EQ(*ids.begin(), 0) << "the default stream of device 0";
}

TEST_F(Streams, FinishTheirWorkBeforeTheyAreDestroyed) {
  ScopedStream stream;
  std::atomic<int> done{0};
  for (int i = 0; i < 100; ++i) put(stream, [&] { ++done; });
  aclrtStream handle = stream.release();
  EXPECT_ACL_OK(aclrtDestroyStream(handle));
  EXPECT_EQ(done, 100);
  expect_refused(aclrtDestroyStream(handle), {"no such stream"});
}

TEST_F(Streams, AreDestroyedWhileTheDeviceIsSynchronised) {
  std::atomic<bool> stop{false};
  std::thread synchroniser([&] {
    EXPECT_ACL_OK(aclrtSetDevice(0));
    while (!stop) EXPECT_ACL_OK(aclrtSynchronizeDevice());
  });
  for (int round = 0; round < 200; ++round) {
    const ScopedStream stream;
    put(stream, [] {});
  }
  stop = true;
  synchroniser.join();
}

TEST_F(Streams, StallOnDemand) {
  const ScopedStream stream;
  std::atomic<bool> ran{false};
  EXPECT_ACL_OK(emucann_stall_stream(stream, 50'000));
  put(stream, [&] { ran = true; });
  EXPECT_FALSE(stream.ready());
  EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
  EXPECT_TRUE(ran);
}

TEST_F(Streams, BodiesGoWhenTheyHaveRun) {
  const ScopedStream stream;
  const Gate gate;
  auto kept = std::make_shared<int>(0);
  put(stream, [kept] {});
  gate.put_on(stream);
  gate.wait_for_worker();
  EXPECT_EQ(kept.use_count(), 1) << "what a body owns goes with it, not at the end of the queue";
  gate.open();
}

}  // namespace
}  // namespace emucann::testing
