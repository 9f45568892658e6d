// What a rank is told when something is wrong with its arguments, its peers or
// its environment.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <set>

#include "ranks.h"

namespace emucann::hccl::testing {
namespace {

void expect_words(const std::string& message, const std::vector<std::string>& words) {
  for (const auto& word : words)
    EXPECT_NE(message.find(word), std::string::npos) << message << "\nlacks " << word;
}

HcclResult reduce_one(const Process& p, HcclComm comm, float& value) {
  return HcclAllReduce(&value, &value, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, p.stream);
}

void expect_stream_error(const Process& p, const std::vector<std::string>& words) {
  EXPECT_NE(aclrtSynchronizeStream(p.stream), ACL_SUCCESS);
  expect_words(recent_message(), words);
}

class Failure : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("HCCL_EXEC_TIMEOUT", "2", 1);
    setenv("HCCL_CONNECT_TIMEOUT", "2", 1);
  }
  void TearDown() override {
    unsetenv("HCCL_EXEC_TIMEOUT");
    unsetenv("HCCL_CONNECT_TIMEOUT");
  }
};

TEST_F(Failure, ADeadPeerEndsACollectiveAtTheTimeOut) {
  in_ranks(2, [](const Process& p) {
    HcclComm comm = p.join();
    float value = 1;
    ASSERT_EQ(reduce_one(p, comm, value), HCCL_SUCCESS);
    p.synchronize();
    EXPECT_EQ(value, 2) << "while both are there";
    if (p.rank == 1) return;
    ASSERT_EQ(reduce_one(p, comm, value), HCCL_SUCCESS) << "the call itself only enqueues";
    expect_stream_error(p, {"HcclAllReduce", "rank 1", "2 s", "HCCL_EXEC_TIMEOUT"});
    HcclResult state = HCCL_SUCCESS;
    ASSERT_EQ(HcclGetCommAsyncError(comm, &state), HCCL_SUCCESS);
    EXPECT_EQ(state, HCCL_E_REMOTE);
    EXPECT_STREQ(HcclGetErrorString(state), "another rank failed");
  });
}

TEST_F(Failure, ADeadPeerEndsAReceiveAtTheTimeOut) {
  in_ranks(2, [](const Process& p) {
    HcclComm comm = p.join();
    float value = 1;
    if (p.rank == 1) return;
    ASSERT_EQ(HcclRecv(&value, 1, HCCL_DATA_TYPE_FP32, 1, comm, p.stream), HCCL_SUCCESS);
    expect_stream_error(p, {"HcclRecv", "rank 1", "HCCL_EXEC_TIMEOUT"});
  });
}

TEST_F(Failure, OneFailureEndsTheWaitOfAllRanks) {
  setenv("HCCL_EXEC_TIMEOUT", "600",
         1);  // far over the test's own limit: a rank that waits for it fails
              // the test
  in_ranks(3, [](const Process& p) {
    HcclComm comm = p.join();
    float value = 1;
    ASSERT_EQ(HcclBarrier(comm, p.stream),
              HCCL_SUCCESS);  // or the failure may meet a rank that is still joining
    p.synchronize();
    if (p.rank == 0) {
      ASSERT_EQ(reduce_one(p, comm, value), HCCL_SUCCESS);
      expect_stream_error(p, {"communicator", "rank"});
    } else if (p.rank == 1) {
      ASSERT_EQ(HcclRecv(&value, 1, HCCL_DATA_TYPE_FP32, 2, comm, p.stream), HCCL_SUCCESS);
      expect_stream_error(p, {"8 bytes", "expects 4"});
    } else {
      double wide = 1;
      ASSERT_EQ(HcclSend(&wide, 1, HCCL_DATA_TYPE_FP64, 1, comm, p.stream), HCCL_SUCCESS);
      aclrtSynchronizeStream(p.stream);  // the send may be done before rank 1 fails, or not
    }
  });
}

TEST_F(Failure, RanksThatCallDifferentThingsAreToldSo) {
  in_ranks(2, [](const Process& p) {
    HcclComm comm = p.join();
    float value = 1;
    if (p.rank == 0) {
      ASSERT_EQ(reduce_one(p, comm, value), HCCL_SUCCESS);
    } else {
      ASSERT_EQ(HcclBroadcast(&value, 1, HCCL_DATA_TYPE_FP32, 0, comm, p.stream), HCCL_SUCCESS);
    }
    EXPECT_NE(aclrtSynchronizeStream(p.stream), ACL_SUCCESS);
    EXPECT_EQ(value, 1) << "nothing was written";
    ASSERT_EQ(reduce_one(p, comm, value), HCCL_SUCCESS);
    expect_stream_error(p, {"unusable since rank"});
  });
}

TEST_F(Failure, AMissingRankEndsInitAtTheTimeOut) {
  in_ranks(1, [](const Process& p) {
    HcclComm comm = nullptr;
    EXPECT_EQ(HcclCommInitRootInfo(2, &p.root, 0, &comm), HCCL_E_TIMEOUT);
    expect_words(recent_message(), {"HcclCommInitRootInfo", "1 of 2 ranks", "HCCL_CONNECT_TIMEOUT"});
    EXPECT_EQ(comm, nullptr);
  });
}

TEST_F(Failure, RanksMustAgreeOnTheirNumberAndPlaces) {
  in_ranks(2, [](const Process& p) {
    HcclComm comm = nullptr;
    const HcclResult result = HcclCommInitRootInfo(2, &p.root, 0, &comm);  // both want to be rank 0
    EXPECT_TRUE(result == HCCL_E_PARA || result == HCCL_E_TIMEOUT) << result;
    if (result == HCCL_E_PARA) expect_words(recent_message(), {"rank 0", "has joined already"});
  });
  in_ranks(2, [](const Process& p) {
    HcclComm comm = nullptr;
    const HcclResult result = HcclCommInitRootInfo(p.rank + 2, &p.root, p.rank,
                                                   &comm);  // 2 ranks, or 3
    EXPECT_TRUE(result == HCCL_E_PARA || result == HCCL_E_TIMEOUT) << result;
    if (result == HCCL_E_PARA) expect_words(recent_message(), {"this rank expects", "another one"});
  });
}

TEST_F(Failure, ATimeOutThatIsNoNumberIsRefusedByName) {
  for (const char* variable : {"HCCL_EXEC_TIMEOUT", "HCCL_CONNECT_TIMEOUT"}) {
    SetUp();
    setenv(variable, "soon", 1);
    in_ranks(1, [&](const Process& p) {
      HcclComm comm = nullptr;
      EXPECT_EQ(HcclCommInitRootInfo(1, &p.root, 0, &comm), HCCL_E_PARA);
      expect_words(recent_message(), {variable, "soon", "expected whole seconds"});
    });
  }
}

TEST_F(Failure, ARootInfoFromElsewhereIsRefused) {
  in_ranks(1, [](const Process& p) {
    HcclComm comm = nullptr;
    HcclRootInfo zero{};
    EXPECT_EQ(HcclCommInitRootInfo(1, &zero, 0, &comm), HCCL_E_PARA);
    expect_words(recent_message(), {"HcclGetRootInfo"});
    EXPECT_EQ(HcclCommInitRootInfo(1, &p.root, 0, &comm), HCCL_SUCCESS) << "the right one is taken";
  });
}

TEST_F(Failure, BadArgumentsAreRefusedAtTheCall) {
  in_ranks(1, [](const Process& p) {
    HcclComm comm = p.join();
    float value = 1;
    const auto type = HCCL_DATA_TYPE_FP32;
    const auto unknown = static_cast<HcclDataType>(99);
    EXPECT_EQ(reduce_one(p, comm, value), HCCL_SUCCESS);
    EXPECT_EQ(HcclBroadcast(nullptr, 1, type, 0, comm, p.stream), HCCL_E_PTR);
    expect_words(recent_message(), {"HcclBroadcast", "buf is null"});
    EXPECT_EQ(HcclBroadcast(&value, 1, unknown, 0, comm, p.stream), HCCL_E_PARA);
    EXPECT_EQ(HcclBroadcast(&value, 1, type, 1, comm, p.stream), HCCL_E_PARA);
    expect_words(recent_message(), {"root is rank 1"});
    EXPECT_EQ(HcclSend(&value, 1, type, 0, comm, p.stream), HCCL_E_PARA);
    expect_words(recent_message(), {"itself"});
    EXPECT_EQ(HcclAllReduce(&value, &value, 1, HCCL_DATA_TYPE_INT128, HCCL_REDUCE_SUM, comm, p.stream),
              HCCL_E_NOT_SUPPORT);
    p.synchronize();
    EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
    EXPECT_EQ(HcclCommDestroy(comm), HCCL_E_PARA);
    EXPECT_EQ(reduce_one(p, comm, value), HCCL_E_PARA);
    expect_words(recent_message(), {"no such communicator"});
  });
}

std::set<std::string> shared_memory_files() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    names.insert(entry.path().filename());
  return names;
}

std::size_t open_files() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST_F(Failure, NothingIsLeftBehindNotEvenByAKilledRank) {
  const auto before = shared_memory_files();
  in_ranks(1, [](const Process& p) {
    const std::size_t files = open_files();
    for (int round = 0; round < 5; ++round) {
      HcclRootInfo root;
      HcclComm comm = nullptr;
      ASSERT_EQ(HcclGetRootInfo(&root), HCCL_SUCCESS);
      ASSERT_EQ(HcclCommInitRootInfo(1, &root, 0, &comm), HCCL_SUCCESS);
      float value = 1;
      ASSERT_EQ(reduce_one(p, comm, value), HCCL_SUCCESS);
      p.synchronize();
      ASSERT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
    }
    EXPECT_EQ(open_files(), files);
  });
  in_ranks(2, [](const Process& p) {
    const pid_t victim = fork();  // rank 1 dies while rank 0 waits for it
    if (p.rank == 1 && victim == 0) kill(getpid(), SIGKILL);
    if (victim == 0) _exit(0);
    waitpid(victim, nullptr, 0);
    if (p.rank == 1) return;
    HcclComm comm = nullptr;
    EXPECT_EQ(HcclCommInitRootInfo(2, &p.root, 0, &comm), HCCL_E_TIMEOUT);
  });
  EXPECT_EQ(shared_memory_files(), before);
}

}  // namespace
}  // namespace emucann::hccl::testing
