#include "ops/kernels/kv_cache.h"

#include <ATen/ATen.h>

#include <cstring>
#include <stdexcept>
#include <string>

namespace emucann::kernels {

void write_slots(const at::Tensor& rows, at::Tensor cache, const at::Tensor& slots) {
  if (rows.scalar_type() != cache.scalar_type() || !cache.is_contiguous()) {
    throw std::runtime_error("kv cache: rows and cache differ in dtype, or the cache is not contiguous");
  }
  const auto where = slots.to(at::kLong).contiguous();
  const auto source = rows.contiguous();
  const auto tokens = where.numel();
  const auto slot_count = cache.size(0) * cache.size(1);
  const auto width = static_cast<std::size_t>(cache.numel() / slot_count) * cache.element_size();
  if (tokens > source.size(0) || (tokens > 0 && source[0].nbytes() != width)) {
    throw std::runtime_error("kv cache: rows do not fit the cache's slots");
  }
  const auto* from = static_cast<const char*>(source.const_data_ptr());
  auto* to = static_cast<char*>(cache.mutable_data_ptr());
  for (std::int64_t token = 0; token < tokens; ++token) {
    const auto slot = where.const_data_ptr<std::int64_t>()[token];
    if (slot < 0) continue;
    if (slot >= slot_count) {
      throw std::runtime_error("kv cache: slot " + std::to_string(slot) + " is not in a cache of " +
                               std::to_string(slot_count));
    }
    std::memcpy(to + static_cast<std::size_t>(slot) * width, from + static_cast<std::size_t>(token) * width,
                width);
  }
}

}  // namespace emucann::kernels
