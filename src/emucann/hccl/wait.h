// Waiting for another process: a thread sleeps in the kernel until a word of shared memory changes, or time
// is up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace emucann::hccl {

// A counter in shared memory; who changes it calls wake_all. The kernel compares it by address, so it must be
// plain.
using Word = std::atomic<std::uint32_t>;
static_assert(sizeof(Word) == 4 && Word::is_always_lock_free, "a futex is four plain bytes");

// The moment at which a wait gives up; a time-out of 0 s means never, as CANN reads HCCL_EXEC_TIMEOUT=0.
class Deadline {
 public:
  explicit Deadline(std::chrono::seconds timeout);
  bool passed() const;

 private:
  friend bool wait_while(const Word& word, std::uint32_t value, const Deadline& deadline);
  bool never_;
  std::chrono::steady_clock::time_point at_;
};

// Sleeps while word == value. Returns false if the deadline passed first.
bool wait_while(const Word& word, std::uint32_t value, const Deadline& deadline);

void wake_all(Word& word);

}  // namespace emucann::hccl
