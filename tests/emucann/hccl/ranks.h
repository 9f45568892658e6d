// Ranks as processes: forks them, gives each a stream and the root info, and
// fails the test if one of them fails.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"

namespace emucann::hccl::testing {

inline std::string recent_message() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

// What a rank's process has at hand.
struct Process {
  uint32_t ranks = 0;
  uint32_t rank = 0;
  HcclRootInfo root{};
  aclrtStream stream = nullptr;

  HcclComm join() const {
    HcclComm comm = nullptr;
    EXPECT_EQ(HcclCommInitRootInfo(ranks, &root, rank, &comm), HCCL_SUCCESS) << recent_message();
    return comm;
  }
  void synchronize() const { EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS) << recent_message(); }
};

// Runs body in one process a rank. The parent makes no thread and no device:
// they would not survive the fork.
inline void in_ranks(uint32_t ranks, const std::function<void(const Process&)>& body) {
  Process process;
  process.ranks = ranks;
  ASSERT_EQ(HcclGetRootInfo(&process.root), HCCL_SUCCESS);
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (process.rank = 0; process.rank < ranks; ++process.rank) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtCreateStream(&process.stream), ACL_SUCCESS);
      body(process);
      std::fflush(nullptr);
      _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    int status = 0;
    ASSERT_EQ(waitpid(children[rank], &status, 0), children[rank]);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "rank " << rank << " ended with " << status;
  }
}

// The same with a communicator, which is destroyed afterwards.
inline void in_communicator(uint32_t ranks, const std::function<void(const Process&, HcclComm)>& body) {
  in_ranks(ranks, [&](const Process& process) {
    HcclComm comm = process.join();
    body(process, comm);
    process.synchronize();
    EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
  });
}

}  // namespace emucann::hccl::testing
