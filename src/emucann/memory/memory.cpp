#include "memory/memory.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <stdexcept>

#include "config/config.h"
#include "emucann/runtime.h"

namespace emucann {
namespace {

constexpr std::size_t granule = 512;

std::size_t round_up(std::size_t bytes) {
  return bytes == 0 ? granule : (bytes + granule - 1) / granule * granule;
}

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

std::string hex(const void* pointer) {
  char text[2 + 2 * sizeof(void*) + 1];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address_of(pointer)));
  return text;
}

}  // namespace

struct Physical {
  int device = 0;
  std::size_t bytes = 0;
  bool mapped = false;
};

// Expandable segments reserve far more addresses than they map: give them room.
Memory::Memory(int devices, std::size_t bytes_per_device)
    : bytes_per_device_(bytes_per_device),
      window_(bytes_per_device * static_cast<std::size_t>(devices) * 4 + (std::size_t{64} << 30)),
      used_(static_cast<std::size_t>(devices)) {}

bool Memory::take(int device, std::size_t bytes) {
  auto& used = used_.at(static_cast<std::size_t>(device));
  if (bytes > bytes_per_device_ - used) return false;
  used += bytes;
  return true;
}

MemoryResult Memory::allocate(int device, std::size_t bytes, void** pointer) {
  if (bytes > bytes_per_device_) return MemoryResult::out_of_memory;
  const std::size_t size = round_up(bytes);
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  if (!take(device, size)) return MemoryResult::out_of_memory;
  void* range = window_.reserve(size);
  if (range == nullptr || !window_.commit(range, size)) {
    if (range != nullptr) window_.release(range);
    used_[static_cast<std::size_t>(device)] -= size;
    return MemoryResult::out_of_memory;
  }
  Allocation allocation;
  allocation.bytes = size;
  allocation.device = device;
  allocations_[address_of(range)] = allocation;
  *pointer = range;
  return MemoryResult::ok;
}

MemoryResult Memory::release(void* pointer) {
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  const auto found = allocations_.find(address_of(pointer));
  if (found == allocations_.end() || found->second.device < 0 || found->second.physical != nullptr) {
    return MemoryResult::unknown_address;
  }
  used_[static_cast<std::size_t>(found->second.device)] -= found->second.bytes;
  window_.discard(pointer, found->second.bytes);
  window_.release(pointer);
  allocations_.erase(found);
  return MemoryResult::ok;
}

MemoryResult Memory::allocate_pinned(std::size_t bytes, void** pointer) {
  void* block = nullptr;
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) return MemoryResult::out_of_memory;
  if (posix_memalign(&block, AddressWindow::page, round_up(bytes)) != 0) return MemoryResult::out_of_memory;
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  Allocation allocation;
  allocation.bytes = round_up(bytes);
  allocation.owned = true;
  allocations_[address_of(block)] = allocation;
  *pointer = block;
  return MemoryResult::ok;
}

MemoryResult Memory::release_pinned(void* pointer) {
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  const auto found = allocations_.find(address_of(pointer));
  if (found == allocations_.end() || !found->second.owned) return MemoryResult::unknown_address;
  allocations_.erase(found);
  std::free(pointer);
  return MemoryResult::ok;
}

MemoryResult Memory::pin(void* pointer, std::size_t bytes) {
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  if (overlaps(pointer, bytes)) return MemoryResult::in_use;
  Allocation allocation;
  allocation.bytes = bytes;
  allocations_[address_of(pointer)] = allocation;
  return MemoryResult::ok;
}

MemoryResult Memory::unpin(void* pointer) {
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  const auto found = allocations_.find(address_of(pointer));
  if (found == allocations_.end() || found->second.device >= 0 || found->second.owned) {
    return MemoryResult::unknown_address;
  }
  allocations_.erase(found);
  return MemoryResult::ok;
}

MemoryResult Memory::reserve(std::size_t bytes, void** pointer) {
  *pointer = window_.reserve(bytes);
  return *pointer == nullptr ? MemoryResult::out_of_memory : MemoryResult::ok;
}

MemoryResult Memory::release_reserved(void* pointer) {
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  if (const auto next = allocations_.lower_bound(address_of(pointer));
      next != allocations_.end() && window_.is_reserved(pointer, next->first - address_of(pointer) + 1)) {
    return MemoryResult::in_use;  // allocated or mapped in the range
  }
  return window_.release(pointer) ? MemoryResult::ok : MemoryResult::unknown_address;
}

MemoryResult Memory::create_physical(int device, std::size_t bytes, Physical** handle) {
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  if (!take(device, bytes)) return MemoryResult::out_of_memory;
  auto physical = std::make_unique<Physical>();
  physical->device = device;
  physical->bytes = bytes;
  *handle = physical.get();
  physical_[*handle] = std::move(physical);
  return MemoryResult::ok;
}

MemoryResult Memory::destroy_physical(Physical* handle) {
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  const auto found = physical_.find(handle);
  if (found == physical_.end()) return MemoryResult::unknown_address;
  if (handle->mapped) return MemoryResult::in_use;
  used_[static_cast<std::size_t>(handle->device)] -= handle->bytes;
  physical_.erase(found);
  return MemoryResult::ok;
}

// The bytes live behind the address, not in the handle: a handle can be mapped once, whole, and loses its
// content when unmapped. torch-npu's expandable segments and vllm-ascend's sleep mode do no more than that.
MemoryResult Memory::map(void* pointer, std::size_t bytes, std::size_t offset, Physical* handle) {
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  if (physical_.count(handle) == 0 || !window_.is_reserved(pointer, bytes))
    return MemoryResult::unknown_address;
  if (address_of(pointer) % AddressWindow::page != 0) return MemoryResult::unknown_address;
  if (handle->mapped || offset != 0 || bytes != handle->bytes || overlaps(pointer, bytes))
    return MemoryResult::in_use;
  if (!window_.commit(pointer, bytes)) return MemoryResult::out_of_memory;
  Allocation allocation;
  allocation.bytes = bytes;
  allocation.device = handle->device;
  allocation.physical = handle;
  handle->mapped = true;
  allocations_[address_of(pointer)] = allocation;
  return MemoryResult::ok;
}

MemoryResult Memory::unmap(void* pointer) {
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  const auto found = allocations_.find(address_of(pointer));
  if (found == allocations_.end() || found->second.physical == nullptr) return MemoryResult::unknown_address;
  found->second.physical->mapped = false;
  window_.discard(pointer, found->second.bytes);
  allocations_.erase(found);
  return MemoryResult::ok;
}

Memory::Allocations::const_iterator Memory::find(const void* pointer) const {
  auto next = allocations_.upper_bound(address_of(pointer));
  if (next == allocations_.begin()) return allocations_.end();
  const auto candidate = std::prev(next);
  return address_of(pointer) < candidate->first + candidate->second.bytes ? candidate : allocations_.end();
}

bool Memory::overlaps(const void* pointer, std::size_t bytes) const {
  const auto next = allocations_.lower_bound(address_of(pointer));
  return find(pointer) != allocations_.end() ||
         (next != allocations_.end() && next->first - address_of(pointer) < bytes);
}

std::optional<Location> Memory::locate(const void* pointer) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto found = find(pointer);
  if (found == allocations_.end()) return std::nullopt;
  return Location{found->second.device};
}

void* Memory::host_view(const void* pointer, std::size_t bytes) const {
  if (!window_.contains(pointer)) return const_cast<void*>(pointer);
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  // Mapped chunks of an expandable segment are neighbours: a range may run over several.
  std::uintptr_t covered = address_of(pointer);
  const std::uintptr_t end = covered + bytes;
  auto at = find(pointer);
  bool live = at != allocations_.end();
  while (live && at->first + at->second.bytes < end) {
    covered = at->first + at->second.bytes;
    ++at;
    live = at != allocations_.end() && at->first == covered;
  }
  if (!live) {
    throw std::runtime_error("device range [" + hex(pointer) + ", +" + std::to_string(bytes) +
                             ") is not in a live allocation");
  }
  return window_.bytes_of(pointer);
}

std::size_t Memory::free_bytes(int device) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  return bytes_per_device_ - used_.at(static_cast<std::size_t>(device));
}

std::size_t Memory::live_allocations() const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  return allocations_.size();
}

Memory& memory() {
  // Never destroyed: stream workers and other libraries' exit handlers may still hold addresses.
  static auto* instance = new Memory(config().devices, config().memory_bytes);
  return *instance;
}

void zero(void* host_bytes, std::size_t bytes) {
  const std::uintptr_t begin = address_of(host_bytes);
  const std::uintptr_t end = begin + bytes;
  const std::uintptr_t first_page =
      (begin + AddressWindow::page - 1) / AddressWindow::page * AddressWindow::page;
  const std::uintptr_t last_page = end / AddressWindow::page * AddressWindow::page;
  constexpr std::size_t worth_a_call = std::size_t{1} << 20;
  if (last_page < first_page + worth_a_call) {
    std::memset(host_bytes, 0, bytes);
    return;
  }
  std::memset(host_bytes, 0, first_page - begin);
  std::memset(reinterpret_cast<void*>(last_page), 0, end - last_page);
  // Private anonymous pages come back filled with zeros.
  if (madvise(reinterpret_cast<void*>(first_page), last_page - first_page, MADV_DONTNEED) != 0) {
    std::memset(reinterpret_cast<void*>(first_page), 0, last_page - first_page);
  }
}

void* host_view(const void* pointer) { return memory().host_view(pointer); }

void* host_view(const void* pointer, std::size_t bytes) { return memory().host_view(pointer, bytes); }

}  // namespace emucann
