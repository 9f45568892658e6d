#include "memory/address_window.h"

#include <sys/mman.h>

#include <stdexcept>

namespace emucann {
namespace {

constexpr int reserve_flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

std::size_t round_up(std::size_t bytes) {
  return (bytes + AddressWindow::page - 1) / AddressWindow::page * AddressWindow::page;
}

std::uintptr_t map_span(std::size_t bytes) {
  void* span = mmap(nullptr, bytes, PROT_NONE, reserve_flags, -1, 0);
  if (span == MAP_FAILED) throw std::runtime_error("emucann: no address space for device memory");
  madvise(span, bytes, MADV_DONTDUMP);
  return reinterpret_cast<std::uintptr_t>(span);
}

}  // namespace

AddressWindow::AddressWindow(std::size_t bytes) : bytes_(round_up(bytes)) {
  begin_ = map_span(bytes_);
  distance_ = map_span(bytes_) - begin_;  // unsigned arithmetic: right also when the second span lies below
  free_[begin_] = bytes_;
}

AddressWindow::~AddressWindow() {
  munmap(reinterpret_cast<void*>(begin_ + distance_), bytes_);
  munmap(reinterpret_cast<void*>(begin_), bytes_);
}

void* AddressWindow::reserve(std::size_t bytes) {
  if (bytes > bytes_) return nullptr;
  const std::size_t size = round_up(bytes == 0 ? 1 : bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
    if (hole->second < size) continue;
    const auto [begin, length] = *hole;
    free_.erase(hole);
    if (length > size) free_[begin + size] = length - size;
    reserved_[begin] = size;
    return reinterpret_cast<void*>(begin);
  }
  return nullptr;
}

bool AddressWindow::is_reserved(const void* pointer, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto next = reserved_.upper_bound(begin);
  if (next == reserved_.begin()) return false;
  const auto [first, size] = *std::prev(next);
  return begin - first < size && bytes <= size - (begin - first);
}

bool AddressWindow::release(void* pointer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto range = reserved_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (range == reserved_.end()) return false;
  auto [begin, size] = *range;
  reserved_.erase(range);
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && begin + size == next->first) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      before->second += size;
      return true;
    }
  }
  free_[begin] = size;
  return true;
}

bool AddressWindow::commit(void* pointer, std::size_t bytes) {
  return mprotect(bytes_of(pointer), round_up(bytes), PROT_READ | PROT_WRITE) == 0;
}

void AddressWindow::discard(void* pointer, std::size_t bytes) {
  // A fresh mapping in its place gives the pages back and makes late accesses crash.
  void* fresh = mmap(bytes_of(pointer), round_up(bytes), PROT_NONE, reserve_flags | MAP_FIXED, -1, 0);
  if (fresh == MAP_FAILED) throw std::runtime_error("emucann: the system does not take device memory back");
}

}  // namespace emucann
