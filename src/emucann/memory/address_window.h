// Device addresses that the host can't touch, and the bytes behind them.
//
// Two spans of address space of one size are reserved. Device pointers point into the first, which stays
// PROT_NONE: host code that reads a device pointer crashes, as it would on hardware. The bytes live in the
// second, at a fixed distance; only copies and ops go there. (PyTorch's OpenReg opens and closes the pages
// around each kernel instead; a second mapping costs nothing per op and holds while other threads run.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace emucann {

class AddressWindow {
 public:
  static constexpr std::size_t page = 4096;

  explicit AddressWindow(std::size_t bytes);
  AddressWindow(const AddressWindow&) = delete;
  AddressWindow& operator=(const AddressWindow&) = delete;
  ~AddressWindow();

  // An unused range of device addresses, page aligned; null if there is none.
  void* reserve(std::size_t bytes);
  // True if all of [pointer, pointer + bytes) lies in one reserved range.
  bool is_reserved(const void* pointer, std::size_t bytes);
  // Gives a range back. False if pointer is not the begin of a reserved range.
  bool release(void* pointer);

  // Makes the bytes behind a range usable (zero filled) or drops them.
  bool commit(void* pointer, std::size_t bytes);
  void discard(void* pointer, std::size_t bytes);

  bool contains(const void* pointer) const {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    return address >= begin_ && address < begin_ + bytes_;
  }
  void* bytes_of(const void* pointer) const {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(pointer) + distance_);
  }

 private:
  std::size_t bytes_;
  std::uintptr_t begin_ = 0;     // of the device addresses
  std::uintptr_t distance_ = 0;  // from a device address to its byte
  std::mutex mutex_;
  std::map<std::uintptr_t, std::size_t> free_;      // begin -> bytes, neighbours merged
  std::map<std::uintptr_t, std::size_t> reserved_;  // begin -> bytes
};

}  // namespace emucann
