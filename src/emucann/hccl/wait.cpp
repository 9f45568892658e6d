#include "wait.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace emucann::hccl {
namespace {

// Not FUTEX_PRIVATE_FLAG: the other side is another process.
long futex(const Word& word, int operation, std::uint32_t value, const timespec* relative) {
  return syscall(SYS_futex, &word, operation, value, relative, nullptr, 0);
}

}  // namespace

Deadline::Deadline(std::chrono::seconds timeout)
    : never_(timeout.count() == 0), at_(std::chrono::steady_clock::now() + timeout) {}

bool Deadline::passed() const { return !never_ && std::chrono::steady_clock::now() >= at_; }

bool wait_while(const Word& word, std::uint32_t value, const Deadline& deadline) {
  using namespace std::chrono;
  while (word.load(std::memory_order_acquire) == value) {
    if (deadline.passed()) return false;
    timespec left{};
    if (!deadline.never_) {
      const auto rest = duration_cast<nanoseconds>(deadline.at_ - steady_clock::now()).count();
      if (rest <= 0) return false;
      left.tv_sec = static_cast<std::time_t>(rest / 1'000'000'000);
      left.tv_nsec = static_cast<long>(rest % 1'000'000'000);
    }
    // Whatever it returns (woken, changed meanwhile, interrupted, timed out), the loop looks at the word
    // again.
    futex(word, FUTEX_WAIT, value, deadline.never_ ? nullptr : &left);
  }
  return true;
}

void wake_all(Word& word) { futex(word, FUTEX_WAKE, INT_MAX, nullptr); }

}  // namespace emucann::hccl
