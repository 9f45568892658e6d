#include <atomic>
#include <thread>

#include "gate.h"
#include "undeclared.h"

namespace emucann::testing {
namespace {

class Events : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_ACL_OK(aclrtSetDevice(0)); }
  ScopedStream one_;
  ScopedStream two_;
};

TEST_F(Events, AreReachedInTheirPlace) {
  const ScopedEvent before;
  const ScopedEvent after;
  const Gate gate;
  EXPECT_ACL_OK(aclrtRecordEvent(before, one_));
  gate.put_on(one_);
  EXPECT_ACL_OK(aclrtRecordEvent(after, one_));
  EXPECT_ACL_OK(aclrtSynchronizeEvent(before));
  EXPECT_TRUE(before.complete());
  EXPECT_FALSE(after.complete());
  gate.open();
  EXPECT_ACL_OK(aclrtSynchronizeEvent(after));
  EXPECT_TRUE(after.complete());
}

TEST_F(Events, HoldAnotherStream) {
  const ScopedEvent event;
  const Gate gate;
  int value = 0;
  int seen = -1;
  gate.put_on(one_);
  put(one_, [&] { value = 42; });
  EXPECT_ACL_OK(aclrtRecordEvent(event, one_));
  EXPECT_ACL_OK(aclrtStreamWaitEvent(two_, event));
  put(two_, [&] { seen = value; });
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(two_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  gate.open();
  EXPECT_ACL_OK(aclrtSynchronizeStream(two_));
  EXPECT_EQ(seen, 42);
}

TEST_F(Events, ThatWereNotRecordedHoldNobody) {
  const ScopedEvent event;
  EXPECT_TRUE(event.complete());
  EXPECT_ACL_OK(aclrtSynchronizeEvent(event));
  EXPECT_ACL_OK(aclrtStreamWaitEvent(two_, event));
  const Gate gate;
  gate.put_on(one_);
  EXPECT_ACL_OK(aclrtRecordEvent(event, one_));  // after the wait: not its concern
  EXPECT_ACL_OK(aclrtSynchronizeStream(two_));
  gate.open();
}

TEST_F(Events, RecordedAgainAreReachedWithTheLastRecord) {
  const ScopedEvent event;
  const Gate gate;
  EXPECT_ACL_OK(aclrtRecordEvent(event, one_));
  EXPECT_ACL_OK(aclrtSynchronizeEvent(event));
  gate.put_on(one_);
  EXPECT_ACL_OK(aclrtRecordEvent(event, one_));
  EXPECT_FALSE(event.complete());
  gate.open();
  EXPECT_ACL_OK(aclrtSynchronizeEvent(event));
  EXPECT_TRUE(event.complete());
}

TEST_F(Events, RecordedAgainStillHoldWhoWaitedForTheFirstRecord) {
  const ScopedEvent event;
  const ScopedStream three;
  const Gate gate;
  gate.put_on(one_);
  EXPECT_ACL_OK(aclrtRecordEvent(event, one_));
  EXPECT_ACL_OK(aclrtStreamWaitEvent(two_, event));
  EXPECT_ACL_OK(aclrtRecordEvent(event, three));  // overtakes the first record
  EXPECT_ACL_OK(aclrtSynchronizeEvent(event));
  EXPECT_TRUE(event.complete());
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(two_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  gate.open();
  EXPECT_ACL_OK(aclrtSynchronizeStream(two_));
}

TEST_F(Events, MayBeDestroyedWhileTheyAreQueued) {
  ScopedEvent event;
  const Gate gate;
  bool ran = false;
  gate.put_on(one_);
  EXPECT_ACL_OK(aclrtRecordEvent(event, one_));
  EXPECT_ACL_OK(aclrtStreamWaitEvent(two_, event));
  put(two_, [&] { ran = true; });
  EXPECT_ACL_OK(aclrtDestroyEvent(event.release()));
  EXPECT_FALSE(two_.ready());
  gate.open();
  EXPECT_ACL_OK(aclrtSynchronizeStream(two_));
  EXPECT_TRUE(ran);
}

TEST_F(Events, TellTheTimeBetweenThem) {
  const ScopedEvent begin;
  const ScopedEvent end;
  EXPECT_ACL_OK(aclrtRecordEvent(begin, one_));
  EXPECT_ACL_OK(emucann_stall_stream(one_, 20'000));
  EXPECT_ACL_OK(aclrtRecordEvent(end, one_));
  EXPECT_ACL_OK(aclrtSynchronizeEvent(end));
  float milliseconds = 0;
  EXPECT_ACL_OK(aclrtEventElapsedTime(&milliseconds, begin, end));
  EXPECT_GE(milliseconds, 20.0F);
  float backwards = 0;
  EXPECT_ACL_OK(aclrtEventElapsedTime(&backwards, end, begin));
  EXPECT_EQ(backwards, -milliseconds);
  uint64_t first = 0;
  uint64_t last = 0;
  EXPECT_ACL_OK(aclrtEventGetTimestamp(begin, &first));
  EXPECT_ACL_OK(aclrtEventGetTimestamp(end, &last));
  EXPECT_GE(last - first, 20'000u);
}

TEST_F(Events, ThatWereNotReachedTellNoTime) {
  const ScopedEvent begin;
  const ScopedEvent end;
  const Gate gate;
  float milliseconds = 0;
  uint64_t stamp = 0;
  EXPECT_ACL_OK(aclrtRecordEvent(begin, one_));
  EXPECT_ACL_OK(aclrtSynchronizeEvent(begin));
  expect_refused(aclrtEventElapsedTime(&milliseconds, begin, end), {"has not completed"});
  gate.put_on(one_);
  EXPECT_ACL_OK(aclrtRecordEvent(end, one_));
  expect_refused(aclrtEventElapsedTime(&milliseconds, begin, end), {"has not completed"});
  expect_refused(aclrtEventGetTimestamp(end, &stamp), {"has not completed"});
  gate.open();
  EXPECT_ACL_OK(aclrtSynchronizeEvent(end));
  EXPECT_ACL_OK(aclrtEventElapsedTime(&milliseconds, begin, end));
}

TEST_F(Events, OrderAChainOfStreams) {
  std::vector<std::unique_ptr<ScopedStream>> streams;
  for (int i = 0; i < 4; ++i) streams.push_back(std::make_unique<ScopedStream>());
  std::vector<int> seen;  // written by many workers, one after the other: the events order them
  for (int i = 0; i < 400; ++i) {
    const aclrtStream stream = *streams[static_cast<std::size_t>(i % 4)];
    const ScopedEvent event;
    put(stream, [&seen, i] { seen.push_back(i); });
    EXPECT_ACL_OK(aclrtRecordEvent(event, stream));
    EXPECT_ACL_OK(aclrtStreamWaitEvent(*streams[static_cast<std::size_t>((i + 1) % 4)], event));
  }
  EXPECT_ACL_OK(aclrtSynchronizeDevice());
  ASSERT_EQ(seen.size(), 400u);
  for (int i = 0; i < 400; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace emucann::testing
