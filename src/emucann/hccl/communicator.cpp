#include "communicator.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "element.h"
#include "emucann/runtime.h"
#include "error.h"

namespace emucann::hccl {
namespace {

const char* bytes_of(const void* pointer, std::size_t bytes) {
  return bytes == 0 ? nullptr : static_cast<const char*>(host_view(pointer, bytes));
}

char* bytes_of(void* pointer, std::size_t bytes) {
  return bytes == 0 ? nullptr : static_cast<char*>(host_view(pointer, bytes));
}

Call call_of(HcclCMDType command, std::uint64_t count = 0, HcclDataType type = HCCL_DATA_TYPE_INT8,
             std::uint32_t detail = 0) {
  return {static_cast<std::uint32_t>(command), static_cast<std::uint32_t>(type), detail, 0, count};
}

std::string describe(const Call& call) {
  return "command " + std::to_string(call.command) + ", data type " + std::to_string(call.type) +
         ", root or op " + std::to_string(call.detail) + ", count " + std::to_string(call.count);
}

// Header::generation, taken apart.
constexpr std::uint32_t broken = 1;
constexpr std::uint32_t one_barrier = 2;

void wake_changed(Word& word) {
  word.fetch_add(1, std::memory_order_acq_rel);
  wake_all(word);
}

}  // namespace

Communicator::Communicator(const RootInfo& root, std::uint32_t ranks, std::uint32_t rank, std::string name,
                           Timeouts timeouts)
    : ranks_(ranks), rank_(rank), name_(std::move(name)), timeouts_(timeouts), segment_(root, ranks) {
  if (segment_.seat(rank_).taken.exchange(1) != 0) {
    throw Error(HCCL_E_PARA, "rank " + std::to_string(rank_) + " of " + name_ + " has joined already");
  }
  wake_changed(segment_.header().attached);
}

void Communicator::wait_for_all() {
  const Header& header = segment_.header();
  const Deadline deadline(timeouts_.connect);
  for (std::uint32_t there = header.attached.load(); there < ranks_; there = header.attached.load()) {
    if (wait_while(header.attached, there, deadline)) continue;
    fail();
    throw Error(HCCL_E_TIMEOUT, std::to_string(there) + " of " + std::to_string(ranks_) + " ranks joined " +
                                    name_ + " in " + std::to_string(timeouts_.connect.count()) +
                                    " s (HCCL_CONNECT_TIMEOUT); look why the others did not start");
  }
  throw_if_failed();
}

void Communicator::throw_if_failed() const {
  const std::uint32_t failed = segment_.header().failed.load(std::memory_order_acquire);
  if (failed == 0) return;
  throw Error(HCCL_E_REMOTE, "communicator " + name_ + " is unusable since rank " +
                                 std::to_string(failed - 1) +
                                 " failed; look at that rank's error, then make a new communicator");
}

// Marks the communicator, then wakes whoever waits: they find the mark.
void Communicator::fail() {
  std::uint32_t none = 0;
  segment_.header().failed.compare_exchange_strong(none, rank_ + 1);
  segment_.header().generation.fetch_or(broken, std::memory_order_acq_rel);
  wake_all(segment_.header().generation);
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) wake_changed(segment_.seat(rank).doorbell);
}

template <typename Body>
void Communicator::operate(Body body) {
  throw_if_failed();
  try {
    body();
  } catch (...) {
    fail();
    throw;
  }
}

void Communicator::meet(const Call& call, unsigned side) {
  Header& header = segment_.header();
  Seat& own = segment_.seat(rank_);
  own.calls[side] = call;
  const std::uint32_t round = own.rounds.fetch_add(1, std::memory_order_acq_rel) + 1;
  const std::uint32_t generation = header.generation.load(std::memory_order_acquire);
  if ((generation & broken) != 0) throw_if_failed();
  if (header.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks_) {
    header.arrived.store(0, std::memory_order_relaxed);
    header.generation.fetch_add(one_barrier, std::memory_order_acq_rel);
    wake_all(header.generation);
  } else if (!wait_while(header.generation, generation, Deadline(timeouts_.execute))) {
    std::string missing;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (segment_.seat(rank).rounds.load() != round)
        missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    }
    throw Error(HCCL_E_TIMEOUT, "rank " + std::to_string(rank_) + " of " + name_ + " waited " +
                                    std::to_string(timeouts_.execute.count()) +
                                    " s (HCCL_EXEC_TIMEOUT) for rank " + missing +
                                    "; look whether it is alive and makes the same calls");
  }
  if (header.generation.load(std::memory_order_acquire) / one_barrier == generation / one_barrier)
    throw_if_failed();
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const Call& other = segment_.seat(rank).calls[side];
    if (other == call) continue;
    throw Error(HCCL_E_PARA, "rank " + std::to_string(rank_) + " of " + name_ + " calls " + describe(call) +
                                 ", rank " + std::to_string(rank) + " " + describe(other));
  }
}

void Communicator::rounds(const Call& call, std::size_t bytes, const Piece& put, const Piece& take) {
  std::size_t offset = 0;
  do {
    const std::size_t length = std::min(bytes - offset, Segment::piece);
    const unsigned side = side_;
    side_ ^= 1u;
    put(offset, length, side);
    meet(call, side);
    take(offset, length, side);
    offset += length;
  } while (offset < bytes);
}

// receive = the sides of all ranks reduced in rank order, so that every rank gets the same bits.
void Communicator::fold(void* receive, std::size_t bytes, HcclDataType type, HcclReduceOp op,
                        unsigned side) const {
  if (bytes == 0) return;
  std::memcpy(receive, segment_.round_bytes(0, side), bytes);
  for (std::uint32_t rank = 1; rank < ranks_; ++rank) {
    reduce(receive, segment_.round_bytes(rank, side), bytes / element_bytes(type), type, op);
  }
}

void Communicator::all_reduce(const void* send, void* receive, std::uint64_t count, HcclDataType type,
                              HcclReduceOp op) {
  std::lock_guard lock(collective_);
  operate([&] {
    const std::size_t total = count * element_bytes(type);
    const char* from = bytes_of(send, total);
    char* to = bytes_of(receive, total);
    rounds(
        call_of(HCCL_CMD_ALLREDUCE, count, type, op), total,
        [&](std::size_t offset, std::size_t bytes, unsigned side) {
          if (bytes > 0) std::memcpy(segment_.round_bytes(rank_, side), from + offset, bytes);
        },
        [&](std::size_t offset, std::size_t bytes, unsigned side) {
          fold(to + offset, bytes, type, op, side);
        });
  });
}

void Communicator::reduce_to(std::uint32_t root, const void* send, void* receive, std::uint64_t count,
                             HcclDataType type, HcclReduceOp op) {
  std::lock_guard lock(collective_);
  operate([&] {
    const std::size_t total = count * element_bytes(type);
    const char* from = bytes_of(send, total);
    char* to = rank_ == root ? bytes_of(receive, total) : nullptr;
    rounds(
        call_of(HCCL_CMD_REDUCE, count, type, (root << 8) | op), total,
        [&](std::size_t offset, std::size_t bytes, unsigned side) {
          if (bytes > 0) std::memcpy(segment_.round_bytes(rank_, side), from + offset, bytes);
        },
        [&](std::size_t offset, std::size_t bytes, unsigned side) {
          if (to != nullptr) fold(to + offset, bytes, type, op, side);
        });
  });
}

void Communicator::reduce_scatter(const void* send, void* receive, std::uint64_t count, HcclDataType type,
                                  HcclReduceOp op) {
  std::lock_guard lock(collective_);
  operate([&] {
    const std::size_t block = count * element_bytes(type);
    const char* from = bytes_of(send, block * ranks_);
    char* to = bytes_of(receive, block);
    for (std::uint32_t owner = 0; owner < ranks_; ++owner) {
      rounds(
          call_of(HCCL_CMD_REDUCE_SCATTER, count, type, op), block,
          [&](std::size_t offset, std::size_t bytes, unsigned side) {
            if (bytes > 0)
              std::memcpy(segment_.round_bytes(rank_, side), from + owner * block + offset, bytes);
          },
          [&](std::size_t offset, std::size_t bytes, unsigned side) {
            if (owner == rank_) fold(to + offset, bytes, type, op, side);
          });
    }
  });
}

void Communicator::broadcast(std::uint32_t root, void* buffer, std::uint64_t count, HcclDataType type) {
  std::lock_guard lock(collective_);
  operate([&] {
    const std::size_t total = count * element_bytes(type);
    char* own = bytes_of(buffer, total);
    rounds(
        call_of(HCCL_CMD_BROADCAST, count, type, root), total,
        [&](std::size_t offset, std::size_t bytes, unsigned side) {
          if (rank_ == root && bytes > 0) std::memcpy(segment_.round_bytes(root, side), own + offset, bytes);
        },
        [&](std::size_t offset, std::size_t bytes, unsigned side) {
          if (rank_ != root && bytes > 0) std::memcpy(own + offset, segment_.round_bytes(root, side), bytes);
        });
  });
}

void Communicator::scatter(std::uint32_t root, const void* send, void* receive, std::uint64_t count,
                           HcclDataType type) {
  std::lock_guard lock(collective_);
  operate([&] {
    const std::size_t block = count * element_bytes(type);
    const char* from = rank_ == root ? bytes_of(send, block * ranks_) : nullptr;
    char* to = bytes_of(receive, block);
    for (std::uint32_t owner = 0; owner < ranks_; ++owner) {
      rounds(
          call_of(HCCL_CMD_SCATTER, count, type, root), block,
          [&](std::size_t offset, std::size_t bytes, unsigned side) {
            if (from != nullptr)
              std::memcpy(segment_.round_bytes(root, side), from + owner * block + offset, bytes);
          },
          [&](std::size_t offset, std::size_t bytes, unsigned side) {
            if (owner == rank_ && bytes > 0)
              std::memcpy(to + offset, segment_.round_bytes(root, side), bytes);
          });
    }
  });
}

void Communicator::all_gather(const void* send, void* receive, std::uint64_t count, HcclDataType type) {
  std::lock_guard lock(collective_);
  operate([&] {
    const std::size_t block = count * element_bytes(type);
    const char* from = bytes_of(send, block);
    char* to = bytes_of(receive, block * ranks_);
    rounds(
        call_of(HCCL_CMD_ALLGATHER, count, type), block,
        [&](std::size_t offset, std::size_t bytes, unsigned side) {
          if (bytes > 0) std::memcpy(segment_.round_bytes(rank_, side), from + offset, bytes);
        },
        [&](std::size_t offset, std::size_t bytes, unsigned side) {
          for (std::uint32_t rank = 0; rank < ranks_ && bytes > 0; ++rank) {
            std::memcpy(to + rank * block + offset, segment_.round_bytes(rank, side), bytes);
          }
        });
  });
}

void Communicator::barrier() {
  std::lock_guard lock(collective_);
  const Piece nothing = [](std::size_t, std::size_t, unsigned) {};
  operate([&] { rounds(call_of(HCCL_CMD_BARRIER), 0, nothing, nothing); });
}

// Moves one piece if the mailbox allows it. Returns whether it did; done counts the bytes moved so far.
bool Communicator::advance(const Transfer& transfer, std::size_t& done) {
  const bool sending = transfer.direction == HCCL_SEND;
  const std::uint32_t from = sending ? rank_ : transfer.peer;
  const std::uint32_t to = sending ? transfer.peer : rank_;
  Mailbox& mailbox = segment_.mailbox(from, to);
  const bool full = mailbox.full.load(std::memory_order_acquire) != 0;
  if (full == sending) return false;
  char* own = bytes_of(transfer.bytes_at, transfer.bytes) + done;
  if (sending) {
    mailbox.transfer_bytes = transfer.bytes;
    mailbox.piece_bytes = std::min(transfer.bytes - done, Segment::piece);
    std::memcpy(segment_.mailbox_bytes(from, to), own, mailbox.piece_bytes);
  } else {
    if (mailbox.transfer_bytes != transfer.bytes) {
      throw Error(HCCL_E_PARA, "rank " + std::to_string(from) + " of " + name_ + " sends " +
                                   std::to_string(mailbox.transfer_bytes) + " bytes to rank " +
                                   std::to_string(to) + ", which expects " + std::to_string(transfer.bytes));
    }
    std::memcpy(own, segment_.mailbox_bytes(from, to), mailbox.piece_bytes);
  }
  done += mailbox.piece_bytes;
  mailbox.full.store(sending ? 1 : 0, std::memory_order_release);
  wake_changed(segment_.seat(transfer.peer).doorbell);
  return true;
}

void Communicator::exchange(const std::vector<Transfer>& transfers) {
  const auto any = [&](HcclSendRecvType direction) {
    return std::any_of(transfers.begin(), transfers.end(),
                       [&](const Transfer& t) { return t.direction == direction; });
  };
  std::unique_lock sending(sending_, std::defer_lock);
  std::unique_lock receiving(receiving_, std::defer_lock);
  if (any(HCCL_SEND)) sending.lock();
  if (any(HCCL_RECV)) receiving.lock();
  operate([&] {
    std::vector<std::size_t> done(transfers.size(), 0);
    for (;;) {
      const std::uint32_t rung = segment_.seat(rank_).doorbell.load(std::memory_order_acquire);
      throw_if_failed();
      bool moved = false;
      std::set<std::pair<int, std::uint32_t>>
          busy;  // an earlier transfer holds this direction with this peer
      for (std::size_t i = 0; i < transfers.size(); ++i) {
        if (done[i] == transfers[i].bytes) continue;
        if (!busy.emplace(transfers[i].direction, transfers[i].peer).second) continue;
        moved = advance(transfers[i], done[i]) || moved;
      }
      if (busy.empty()) return;
      if (moved || wait_while(segment_.seat(rank_).doorbell, rung, Deadline(timeouts_.execute))) continue;
      throw Error(HCCL_E_TIMEOUT, "rank " + std::to_string(rank_) + " of " + name_ + " waited " +
                                      std::to_string(timeouts_.execute.count()) +
                                      " s (HCCL_EXEC_TIMEOUT) to exchange with rank " +
                                      std::to_string(busy.begin()->second) +
                                      "; look whether it is alive and sends or receives in turn");
    }
  });
}

}  // namespace emucann::hccl
