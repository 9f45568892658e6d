// The memory that the ranks of a communicator share, and how a rank finds it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hccl/hccl_types.h"
#include "wait.h"

namespace emucann::hccl {

// What HcclGetRootInfo hands out and the caller carries to the other ranks. The segment is an unnamed memory
// file (memfd) of the root's process, opened by the others as /proc/<pid>/fd/<fd>: having no name, it can't
// be left behind, not even by ranks that are killed, and it does not count against the size of /dev/shm.
struct RootInfo {
  char magic[16];
  std::int32_t pid;
  std::int32_t fd;
  std::uint64_t nonce;  // repeated in the segment: tells a reused descriptor number from the right file
};
static_assert(sizeof(RootInfo) <= HCCL_ROOT_INFO_BYTES, "");

// What a rank is about to do in a round; all ranks of a round must agree.
struct Call {
  std::uint32_t command;  // HcclCMDType
  std::uint32_t type;     // HcclDataType
  std::uint32_t detail;   // root or HcclReduceOp
  std::uint32_t reserved;
  std::uint64_t count;

  bool operator==(const Call& other) const {
    return command == other.command && type == other.type && detail == other.detail && count == other.count;
  }
};

// One rank's place. Rounds alternate between two sides: a rank can be one round ahead of a slow one, not two.
struct alignas(64) Seat {
  Word taken;
  Word doorbell;  // rung by a peer that filled or emptied a mailbox of this rank
  Word rounds;    // entered so far
  Call calls[2];
};

// One direction between two ranks, holding at most one piece of a transfer.
struct alignas(64) Mailbox {
  Word full;
  std::uint64_t piece_bytes;
  std::uint64_t transfer_bytes;  // of the whole transfer: both ends must expect the same
};

struct alignas(64) Header {
  std::uint64_t nonce;
  Word ranks;     // 0 until the first rank joins
  Word attached;  // ranks that have joined
  Word arrived;   // ranks that wait at the present barrier
  Word
      generation;  // 2 * barriers passed, + 1 once a rank has failed: who waits sees which of the two woke it
  Word failed;     // 0, or 1 + the rank whose operation failed first
};

class Segment {
 public:
  // Bytes that go through shared memory at a time; pages of it exist only once touched.
  static constexpr std::size_t piece = std::size_t{1} << 20;

  // Makes an empty segment that this process keeps open until it calls release_root (or ends).
  static RootInfo create_root();
  static void release_root(const RootInfo& root);

  // Maps the root's segment, laid out for so many ranks. Throws Error(HCCL_E_PARA) if it isn't a root info of
  // this emulator or the ranks disagree on their number, Error(HCCL_E_OPEN_FILE_FAILURE) if the root is gone
  // or elsewhere.
  Segment(const RootInfo& root, std::uint32_t ranks);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  Header& header() const { return *at<Header>(0); }
  Seat& seat(std::uint32_t rank) const { return *at<Seat>(seats_ + rank * sizeof(Seat)); }
  Mailbox& mailbox(std::uint32_t from, std::uint32_t to) const {
    return *at<Mailbox>(mailboxes_ + pair(from, to) * sizeof(Mailbox));
  }
  char* round_bytes(std::uint32_t rank, unsigned side) const {
    return at<char>(bytes_ + (2 * rank + side) * piece);
  }
  char* mailbox_bytes(std::uint32_t from, std::uint32_t to) const {
    return at<char>(bytes_ + (2 * ranks_ + pair(from, to)) * piece);
  }

 private:
  template <typename T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }
  std::size_t pair(std::uint32_t from, std::uint32_t to) const { return std::size_t{from} * ranks_ + to; }

  std::size_t ranks_, seats_, mailboxes_, bytes_, size_;
  char* base_ = nullptr;
};

}  // namespace emucann::hccl
