// One rank of a communicator. Its operations run on a stream's thread and block it until the peers have taken
// part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "hccl/hccl_types.h"
#include "segment.h"
#include "timeouts.h"

namespace emucann::hccl {

// Part of a point-to-point exchange; bytes == 0 is left out by both ends.
struct Transfer {
  HcclSendRecvType direction;
  void* bytes_at;  // device or host address
  std::size_t bytes;
  std::uint32_t peer;
};

// Counts are in elements and buffers are device or host addresses, as in hccl.h. Every operation throws
// Error: on a peer that does something else (HCCL_E_PARA), on a time-out (HCCL_E_TIMEOUT), and, on the other
// ranks and from then on, because a rank failed (HCCL_E_REMOTE).
class Communicator {
 public:
  // Takes the seat of rank; wait_for_all must follow.
  Communicator(const RootInfo& root, std::uint32_t ranks, std::uint32_t rank, std::string name,
               Timeouts timeouts);

  void wait_for_all();  // until every seat is taken

  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t rank() const { return rank_; }
  const std::string& name() const { return name_; }
  bool failed() const { return segment_.header().failed.load() != 0; }

  void all_reduce(const void* send, void* receive, std::uint64_t count, HcclDataType type, HcclReduceOp op);
  void reduce_to(std::uint32_t root, const void* send, void* receive, std::uint64_t count, HcclDataType type,
                 HcclReduceOp op);
  void reduce_scatter(const void* send, void* receive, std::uint64_t count, HcclDataType type,
                      HcclReduceOp op);
  void broadcast(std::uint32_t root, void* buffer, std::uint64_t count, HcclDataType type);
  void scatter(std::uint32_t root, const void* send, void* receive, std::uint64_t count, HcclDataType type);
  void all_gather(const void* send, void* receive, std::uint64_t count, HcclDataType type);
  void barrier();

  // All at once, so that ranks that send to each other don't wait for each other. Transfers of one direction
  // with one peer keep their order.
  void exchange(const std::vector<Transfer>& transfers);

 private:
  using Piece = std::function<void(std::size_t offset, std::size_t bytes, unsigned side)>;

  // Cuts `bytes` into pieces; for each, every rank runs put (writes its side of its seat), meets the others,
  // checks that all make the same call, and runs take (reads the sides of others). At least one piece, if an
  // empty one.
  void rounds(const Call& call, std::size_t bytes, const Piece& put, const Piece& take);
  void meet(const Call& call, unsigned side);
  void fold(void* receive, std::size_t bytes, HcclDataType type, HcclReduceOp op, unsigned side) const;
  bool advance(const Transfer& transfer, std::size_t& done);

  void throw_if_failed() const;
  void fail();
  template <typename Body>
  void operate(Body body);

  const std::uint32_t ranks_, rank_;
  const std::string name_;
  const Timeouts timeouts_;
  const Segment segment_;
  // Two streams of this rank take turns: one collective, one exchange that sends, one that receives at a
  // time.
  std::mutex collective_, sending_, receiving_;
  unsigned side_ = 0;
};

}  // namespace emucann::hccl
