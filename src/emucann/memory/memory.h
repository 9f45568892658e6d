// Device and pinned host memory: who owns which address, and how much of a device is used.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "memory/address_window.h"

namespace emucann {

// Why an allocation or a release did not happen.
enum class MemoryResult { ok, out_of_memory, unknown_address, in_use };

struct Physical;  // a handle of aclrtMallocPhysical

// Where a pointer points to. No value: memory that the runtime does not know (pageable host memory).
struct Location {
  int device = -1;  // -1: pinned host memory
};

class Memory {
 public:
  Memory(int devices, std::size_t bytes_per_device);

  // Device memory, zero filled. CANN aligns to 512 bytes and rounds up to it; so does this (aclrtMalloc in
  // acl_rt.h).
  MemoryResult allocate(int device, std::size_t bytes, void** pointer);
  MemoryResult allocate_pinned(std::size_t bytes, void** pointer);
  MemoryResult release(void* pointer);         // device memory
  MemoryResult release_pinned(void* pointer);  // pinned host memory

  // Registers host memory that somebody else owns as pinned, and forgets it.
  MemoryResult pin(void* pointer, std::size_t bytes);
  MemoryResult unpin(void* pointer);

  // Virtual memory management: addresses and physical memory apart, then mapped (torch-npu's expandable
  // segments).
  MemoryResult reserve(std::size_t bytes, void** pointer);
  MemoryResult release_reserved(void* pointer);
  MemoryResult create_physical(int device, std::size_t bytes, Physical** handle);
  MemoryResult destroy_physical(Physical* handle);
  MemoryResult map(void* pointer, std::size_t bytes, std::size_t offset, Physical* handle);
  MemoryResult unmap(void* pointer);

  std::optional<Location> locate(const void* pointer) const;
  std::size_t free_bytes(int device) const;
  std::size_t total_bytes() const { return bytes_per_device_; }
  std::size_t live_allocations() const;

  void* host_view(const void* pointer) const {
    return window_.contains(pointer) ? window_.bytes_of(pointer) : const_cast<void*>(pointer);
  }
  // Throws std::runtime_error if [pointer, pointer + bytes) is a device range that is not live.
  void* host_view(const void* pointer, std::size_t bytes) const;

 private:
  struct Allocation {
    std::size_t bytes = 0;
    int device = -1;               // -1: host
    bool owned = false;            // host memory that release_pinned frees
    Physical* physical = nullptr;  // mapped, not allocated
  };
  using Allocations = std::map<std::uintptr_t, Allocation>;

  Allocations::const_iterator find(const void* pointer) const;  // the allocation that covers pointer, or end
  bool overlaps(const void* pointer, std::size_t bytes) const;  // with any allocation
  bool take(int device, std::size_t bytes);                     // false: over the limit

  const std::size_t bytes_per_device_;
  AddressWindow window_;
  mutable std::shared_mutex mutex_;
  Allocations allocations_;
  std::map<Physical*, std::unique_ptr<Physical>> physical_;
  std::vector<std::size_t> used_;  // by device
};

// The process's memory, made at first use from config().
Memory& memory();

}  // namespace emucann
