// An exception in a body is reported once, at the next synchronisation, with the op's name.
#include <stdexcept>
#include <thread>

#include "gate.h"

namespace emucann::testing {
namespace {

[[maybe_unused]] const int settings = setenv("EMUCANN_DEVICES", "2", 1);

void put_failure(aclrtStream stream, const char* op, const char* words = "broke") {
  put(stream, [words] { throw std::runtime_error(words); }, op);
}

class StreamErrors : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_ACL_OK(aclrtSetDevice(0)); }
  ScopedStream stream_;
};

TEST_F(StreamErrors, ComeAtTheStreamsNextSynchronisationAndOnce) {
  EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
  put_failure(stream_, "aclnnFoo", "shapes differ");
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_EQ(recent_message(), "emucann: aclnnFoo: shapes differ");
  EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(StreamErrors, ComeAtAnEventsSynchronisation) {
  const ScopedEvent event;
  put_failure(stream_, "aclnnFoo");
  EXPECT_ACL_OK(aclrtRecordEvent(event, stream_));
  expect_refused(aclrtSynchronizeEvent(event), {"aclnnFoo"});
  EXPECT_ACL_OK(aclrtSynchronizeEvent(event));
  EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(StreamErrors, ComeAtTheDevicesSynchronisation) {
  put_failure(stream_, "aclnnFoo");
  expect_refused(aclrtSynchronizeDevice(), {"aclnnFoo"});
  EXPECT_ACL_OK(aclrtSynchronizeDevice());
}

TEST_F(StreamErrors, OfOneDeviceAreNotTheOthers) {
  put_failure(stream_, "aclnnFoo");
  ASSERT_ACL_OK(aclrtSetDevice(1));
  EXPECT_ACL_OK(aclrtSynchronizeDevice());
  ASSERT_ACL_OK(aclrtSetDevice(0));
  expect_refused(aclrtSynchronizeDevice(), {"aclnnFoo"});
}

TEST_F(StreamErrors, OfOneStreamAreNotTheOthers) {
  const ScopedStream other;
  put_failure(stream_, "aclnnFoo");
  EXPECT_ACL_OK(aclrtSynchronizeStream(other));
  expect_refused(aclrtSynchronizeStream(stream_), {"aclnnFoo"});
}

TEST_F(StreamErrors, AreTheFirstOfSeveral) {
  put_failure(stream_, "aclnnFirst");
  put_failure(stream_, "aclnnSecond");
  expect_refused(aclrtSynchronizeStream(stream_), {"aclnnFirst"});
  put_failure(stream_, "aclnnThird");
  expect_refused(aclrtSynchronizeStream(stream_), {"aclnnThird"});
}

TEST_F(StreamErrors, DoNotStopLaterWork) {
  bool ran = false;
  put_failure(stream_, "aclnnFoo");
  put(stream_, [&] { ran = true; });
  expect_refused(aclrtSynchronizeStream(stream_), {"aclnnFoo"});
  EXPECT_TRUE(ran);
}

TEST_F(StreamErrors, AreReportedToOneOfThoseWhoSynchronise) {
  for (int round = 0; round < 50; ++round) {
    put_failure(stream_, "aclnnFoo");
    std::atomic<int> reports{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] { reports += aclrtSynchronizeStream(stream_) == ACL_SUCCESS ? 0 : 1; });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(reports, 1);
  }
}

TEST_F(StreamErrors, OfADestroyedStreamComeAtTheDevicesSynchronisation) {
  put_failure(stream_, "aclnnFoo");
  EXPECT_ACL_OK(aclrtDestroyStream(stream_.release()));
  expect_refused(aclrtSynchronizeDevice(), {"aclnnFoo"});
  EXPECT_ACL_OK(aclrtSynchronizeDevice());
}

TEST_F(StreamErrors, OfADestroyedStreamStillComeAtItsEvent) {
  const ScopedEvent event;
  const Gate gate;
  gate.put_on(stream_);
  put_failure(stream_, "aclnnFoo");
  EXPECT_ACL_OK(aclrtRecordEvent(event, stream_));
  std::thread waiter([&] {
    const aclError code = aclrtSynchronizeEvent(event);
    const std::string message = recent_message();
    EXPECT_TRUE(code == ACL_SUCCESS || message.find("aclnnFoo") != std::string::npos) << message;
  });
  gate.open();
  waiter.join();
  EXPECT_ACL_OK(aclrtDestroyStream(stream_.release()));
  aclrtSynchronizeDevice();  // takes the error if the event's waiter came too late for it
}

TEST_F(StreamErrors, AreWordsEvenIfWhatWasThrownHasNone) {
  put(stream_, [] { throw 42; }, "aclnnFoo");
  expect_refused(aclrtSynchronizeStream(stream_), {"aclnnFoo", "unknown exception"});
}

}  // namespace
}  // namespace emucann::testing
