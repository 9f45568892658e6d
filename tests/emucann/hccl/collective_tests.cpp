// Every operation, in 1, 2 and 3 processes, on less and on more than one piece
// of shared memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

#include "hccl/half.h"
#include "ranks.h"

namespace emucann::hccl::testing {
namespace {

using Numbers = std::vector<std::int32_t>;

class Collective : public ::testing::TestWithParam<std::tuple<uint32_t, std::size_t>> {
 protected:
  uint32_t ranks() const { return std::get<0>(GetParam()); }
  std::size_t count() const { return std::get<1>(GetParam()); }

  // The elements that rank holds in the beginning: different at each rank and
  // place.
  Numbers of(uint32_t rank, std::size_t length) const {
    Numbers numbers(length);
    std::iota(numbers.begin(), numbers.end(), static_cast<std::int32_t>(1000 * rank + 1));
    return numbers;
  }
  Numbers of(uint32_t rank) const { return of(rank, count()); }

  Numbers part(const Numbers& numbers, std::size_t index) const {
    return {numbers.begin() + index * count(), numbers.begin() + (index + 1) * count()};
  }
};

// 0 and 1 element, an odd number, and three pieces and a bit.
INSTANTIATE_TEST_SUITE_P(Sizes, Collective,
                         ::testing::Combine(::testing::Values(1u, 2u, 3u),
                                            ::testing::Values(0, 1, 1237, 800'001)));

TEST_P(Collective, AllReduce) {
  in_communicator(ranks(), [&](const Process& p, HcclComm comm) {
    Numbers send = of(p.rank), receive(count()), expected(count());
    for (uint32_t rank = 0; rank < ranks(); ++rank) {
      const Numbers held = of(rank);
      for (std::size_t i = 0; i < count(); ++i) expected[i] += held[i];
    }
    ASSERT_EQ(HcclAllReduce(send.data(), receive.data(), count(), HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, comm,
                            p.stream),
              HCCL_SUCCESS);
    p.synchronize();
    EXPECT_EQ(receive, expected);
    EXPECT_EQ(HcclAllReduce(send.data(), send.data(), count(), HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, comm,
                            p.stream),
              HCCL_SUCCESS);
    p.synchronize();
    EXPECT_EQ(send, expected) << "in place";
  });
}

TEST_P(Collective, Reduce) {
  const uint32_t root = ranks() - 1;
  in_communicator(ranks(), [&](const Process& p, HcclComm comm) {
    Numbers send = of(p.rank), receive(count(), -1);
    ASSERT_EQ(HcclReduce(send.data(), receive.data(), count(), HCCL_DATA_TYPE_INT32, HCCL_REDUCE_MAX, root,
                         comm, p.stream),
              HCCL_SUCCESS);
    p.synchronize();
    EXPECT_EQ(receive, p.rank == root ? of(root) : Numbers(count(), -1));
  });
}

TEST_P(Collective, ReduceScatter) {
  in_communicator(ranks(), [&](const Process& p, HcclComm comm) {
    Numbers send = of(p.rank, count() * ranks()), receive(count());
    ASSERT_EQ(HcclReduceScatter(send.data(), receive.data(), count(), HCCL_DATA_TYPE_INT32, HCCL_REDUCE_MIN,
                                comm, p.stream),
              HCCL_SUCCESS);
    p.synchronize();
    EXPECT_EQ(receive, part(of(0, count() * ranks()), p.rank));
  });
}

TEST_P(Collective, Broadcast) {
  const uint32_t root = ranks() / 2;
  in_communicator(ranks(), [&](const Process& p, HcclComm comm) {
    Numbers buffer = of(p.rank);
    ASSERT_EQ(HcclBroadcast(buffer.data(), count(), HCCL_DATA_TYPE_INT32, root, comm, p.stream),
              HCCL_SUCCESS);
    p.synchronize();
    EXPECT_EQ(buffer, of(root));
  });
}

TEST_P(Collective, Scatter) {
  const uint32_t root = ranks() - 1;
  in_communicator(ranks(), [&](const Process& p, HcclComm comm) {
    Numbers send = of(p.rank, count() * ranks()), receive(count());
    ASSERT_EQ(HcclScatter(p.rank == root ? send.data() : nullptr, receive.data(), count(),
                          HCCL_DATA_TYPE_INT32, root, comm, p.stream),
              HCCL_SUCCESS);
    p.synchronize();
    EXPECT_EQ(receive, part(of(root, count() * ranks()), p.rank));
  });
}

TEST_P(Collective, AllGather) {
  in_communicator(ranks(), [&](const Process& p, HcclComm comm) {
    Numbers send = of(p.rank), receive(count() * ranks());
    ASSERT_EQ(HcclAllGather(send.data(), receive.data(), count(), HCCL_DATA_TYPE_INT32, comm, p.stream),
              HCCL_SUCCESS);
    p.synchronize();
    for (uint32_t rank = 0; rank < ranks(); ++rank) EXPECT_EQ(part(receive, rank), of(rank)) << rank;
  });
}

TEST_P(Collective, AllToAll) {
  in_communicator(ranks(), [&](const Process& p, HcclComm comm) {
    Numbers send = of(p.rank, count() * ranks()), receive(count() * ranks());
    ASSERT_EQ(HcclAlltoAll(send.data(), count(), HCCL_DATA_TYPE_INT32, receive.data(), count(),
                           HCCL_DATA_TYPE_INT32, comm, p.stream),
              HCCL_SUCCESS);
    p.synchronize();
    for (uint32_t rank = 0; rank < ranks(); ++rank) {
      EXPECT_EQ(part(receive, rank), part(of(rank, count() * ranks()), p.rank)) << rank;
    }
  });
}

// Rank r sends r + peer parts to each peer, so that some get nothing.
TEST_P(Collective, AllToAllV) {
  in_communicator(ranks(), [&](const Process& p, HcclComm comm) {
    std::vector<uint64_t> counts(ranks()), displacements(ranks());
    uint64_t total = 0;
    for (uint32_t peer = 0; peer < ranks(); ++peer) {
      counts[peer] = (p.rank + peer) * count();  // also what the peer sends here
      displacements[peer] = total;
      total += counts[peer];
    }
    Numbers send(total, static_cast<std::int32_t>(p.rank)), receive(total, -1);
    ASSERT_EQ(
        HcclAlltoAllV(send.data(), counts.data(), displacements.data(), HCCL_DATA_TYPE_INT32, receive.data(),
                      counts.data(), displacements.data(), HCCL_DATA_TYPE_INT32, comm, p.stream),
        HCCL_SUCCESS);
    p.synchronize();
    for (uint32_t peer = 0; peer < ranks(); ++peer) {
      const auto begin = receive.begin() + displacements[peer];
      EXPECT_EQ(Numbers(begin, begin + counts[peer]), Numbers(counts[peer], static_cast<std::int32_t>(peer)));
    }
  });
}

// Each rank sends to the next one and receives from the one before: everybody
// sends first, which must not lock up.
TEST_P(Collective, BatchSendRecvAroundTheRing) {
  in_communicator(ranks(), [&](const Process& p, HcclComm comm) {
    const uint32_t next = (p.rank + 1) % ranks(), previous = (p.rank + ranks() - 1) % ranks();
    Numbers first = of(p.rank), second = of(p.rank + 7), a(count()), b(count());
    HcclSendRecvItem items[] = {{HCCL_SEND, first.data(), count(), HCCL_DATA_TYPE_INT32, next},
                                {HCCL_SEND, second.data(), count(), HCCL_DATA_TYPE_INT32, next},
                                {HCCL_RECV, a.data(), count(), HCCL_DATA_TYPE_INT32, previous},
                                {HCCL_RECV, b.data(), count(), HCCL_DATA_TYPE_INT32, previous}};
    ASSERT_EQ(HcclBatchSendRecv(items, 4, comm, p.stream), HCCL_SUCCESS);
    p.synchronize();
    EXPECT_EQ(a, of(previous));
    EXPECT_EQ(b, of(previous + 7)) << "transfers between two ranks keep their order";
  });
}

// The same as single calls: outside a group, the sends of more than one piece
// would wait for each other.
TEST_P(Collective, GroupedSendsAndReceivesAroundTheRing) {
  in_communicator(ranks(), [&](const Process& p, HcclComm comm) {
    const uint32_t next = (p.rank + 1) % ranks(), previous = (p.rank + ranks() - 1) % ranks();
    Numbers send = of(p.rank), receive(count());
    ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
    if (ranks() > 1) {  // one rank ends an empty group
      ASSERT_EQ(HcclSend(send.data(), count(), HCCL_DATA_TYPE_INT32, next, comm, p.stream), HCCL_SUCCESS);
      ASSERT_EQ(HcclRecv(receive.data(), count(), HCCL_DATA_TYPE_INT32, previous, comm, p.stream),
                HCCL_SUCCESS);
    }
    ASSERT_EQ(HcclGroupEnd(), HCCL_SUCCESS);
    p.synchronize();
    EXPECT_EQ(receive, ranks() > 1 ? of(previous) : Numbers(count()));
    EXPECT_EQ(HcclGroupEnd(), HCCL_E_PARA) << "no group is open any more";
  });
}

TEST_P(Collective, SendAndReceiveAlongTheLine) {
  in_communicator(ranks(), [&](const Process& p, HcclComm comm) {
    Numbers buffer = of(0);
    if (p.rank > 0) {
      buffer.assign(count(), -1);
      ASSERT_EQ(HcclRecv(buffer.data(), count(), HCCL_DATA_TYPE_INT32, p.rank - 1, comm, p.stream),
                HCCL_SUCCESS);
    }
    if (p.rank + 1 < ranks()) {
      ASSERT_EQ(HcclSend(buffer.data(), count(), HCCL_DATA_TYPE_INT32, p.rank + 1, comm, p.stream),
                HCCL_SUCCESS);
    }
    p.synchronize();
    EXPECT_EQ(buffer, of(0));
  });
}

class Ranks : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Counts, Ranks, ::testing::Values(1u, 2u, 3u));

// Sums that fp16 and bf16 hold exactly, so that they can be compared with ==.
template <typename Half>
void expect_half_sum(const Process& p, HcclComm comm, HcclDataType type) {
  std::vector<Half> send(999), receive(999);
  for (std::size_t i = 0; i < send.size(); ++i) send[i] = Half(static_cast<float>(i % 32) * 0.5f + p.rank);
  ASSERT_EQ(HcclAllReduce(send.data(), receive.data(), send.size(), type, HCCL_REDUCE_SUM, comm, p.stream),
            HCCL_SUCCESS);
  p.synchronize();
  const float of_ranks = static_cast<float>(p.ranks * (p.ranks - 1)) / 2;
  for (std::size_t i = 0; i < send.size(); ++i) {
    ASSERT_EQ(static_cast<float>(receive[i]), static_cast<float>(p.ranks * (i % 32)) * 0.5f + of_ranks) << i;
  }
}

TEST_P(Ranks, ReduceHalves) {
  in_communicator(GetParam(), [&](const Process& p, HcclComm comm) {
    expect_half_sum<Float16>(p, comm, HCCL_DATA_TYPE_FP16);
    expect_half_sum<BFloat16>(p, comm, HCCL_DATA_TYPE_BFP16);
  });
}

TEST(OneRank, CopiesEveryBit) {
  in_communicator(1, [&](const Process& p, HcclComm comm) {
    const std::vector<std::uint32_t> send{0x7f800001, 0x80000000, 0x00000001,
                                          0xffffffff};  // NaNs, -0, a subnormal
    std::vector<std::uint32_t> receive(4);
    ASSERT_EQ(HcclAllReduce(const_cast<std::uint32_t*>(send.data()), receive.data(), 4, HCCL_DATA_TYPE_FP32,
                            HCCL_REDUCE_SUM, comm, p.stream),
              HCCL_SUCCESS);
    p.synchronize();
    EXPECT_EQ(receive, send);
  });
}

TEST_P(Ranks, ManyRoundsInARow) {
  in_communicator(GetParam(), [&](const Process& p, HcclComm comm) {
    std::int64_t value = 1;
    for (int round = 0; round < 30; ++round) {
      ASSERT_EQ(HcclAllReduce(&value, &value, 1, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, comm, p.stream),
                HCCL_SUCCESS);
      ASSERT_EQ(HcclBarrier(comm, p.stream), HCCL_SUCCESS);
    }
    p.synchronize();
    std::int64_t expected = 1;
    for (int round = 0; round < 30; ++round) expected *= p.ranks;
    EXPECT_EQ(value, expected);
  });
}

TEST_P(Ranks, ACommunicatorKnowsItself) {
  in_ranks(GetParam(), [&](const Process& p) {
    HcclCommConfig config;
    HcclCommConfigInit(&config);
    std::snprintf(config.hcclCommName, sizeof config.hcclCommName, "group_of_the_test");
    HcclComm comm = nullptr;
    ASSERT_EQ(HcclCommInitRootInfoConfig(p.ranks, &p.root, p.rank, &config, &comm), HCCL_SUCCESS)
        << recent_message();
    uint32_t size = 99, rank = 99;
    char name[COMM_NAME_MAX_LENGTH];
    EXPECT_EQ(HcclGetRankSize(comm, &size), HCCL_SUCCESS);
    EXPECT_EQ(HcclGetRankId(comm, &rank), HCCL_SUCCESS);
    EXPECT_EQ(HcclGetCommName(comm, name), HCCL_SUCCESS);
    EXPECT_EQ(size, p.ranks);
    EXPECT_EQ(rank, p.rank);
    EXPECT_STREQ(name, "group_of_the_test");
    EXPECT_GT(HcclGetCommConfigCapability(), uint32_t{HCCL_COMM_CONFIG_COMM_NAME});
  });
}

TEST(InitAll, TwoRanksOfOneProcess) {
  in_ranks(1, [](const Process& p) {
    int32_t devices[] = {0, 1};
    HcclComm comms[2];
    ASSERT_EQ(HcclCommInitAll(2, devices, comms), HCCL_SUCCESS) << recent_message();
    aclrtStream other = nullptr;
    ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
    float a = 1, b = 2;
    ASSERT_EQ(HcclAllReduce(&a, &a, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[0], p.stream),
              HCCL_SUCCESS);
    ASSERT_EQ(HcclAllReduce(&b, &b, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[1], other), HCCL_SUCCESS);
    p.synchronize();
    EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
    EXPECT_EQ(a, 3);
    EXPECT_EQ(b, 3);
  });
}

// The caller's thread must not wait: rank 1 takes part only after rank 0's call
// has returned.
TEST(Asynchrony, ACallReturnsBeforeThePeerTakesPart) {
  int returned[2];
  ASSERT_EQ(pipe(returned), 0);
  in_communicator(2, [&](const Process& p, HcclComm comm) {
    char mark = 'x';
    float value = 1;
    if (p.rank == 1) {
      ASSERT_EQ(read(returned[0], &mark, 1), 1);
    }
    ASSERT_EQ(HcclAllReduce(&value, &value, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, p.stream),
              HCCL_SUCCESS);
    if (p.rank == 0) {
      ASSERT_EQ(write(returned[1], &mark, 1), 1);
    }
    p.synchronize();
    EXPECT_EQ(value, 2);
  });
}

}  // namespace
}  // namespace emucann::hccl::testing
