#include "ops/kernels/kv_cache.h"

#include <ATen/ATen.h>

#include <algorithm>
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

void map_slots(const at::Tensor& starts, const at::Tensor& positions, const at::Tensor& block_table,
               std::int64_t block_size, std::int64_t padding, at::Tensor slots) {
  const auto first = starts.to(at::kLong).contiguous();
  const auto where = positions.to(at::kLong).contiguous();
  const auto table = block_table.to(at::kInt).contiguous();
  const auto* start = first.const_data_ptr<std::int64_t>();
  const auto requests = first.numel() - 1;
  if (requests < 0 || requests > table.size(0)) {
    throw std::runtime_error("slot mapping: " + std::to_string(requests) + " requests, a block table of " +
                             std::to_string(table.size(0)));
  }
  auto mapped = at::full({slots.numel()}, padding, at::kLong);
  auto* slot = mapped.mutable_data_ptr<std::int64_t>();
  for (std::int64_t request = 0; request < requests; ++request) {
    const auto* blocks = table.const_data_ptr<std::int32_t>() + request * table.size(1);
    if (start[request] < 0 || start[request + 1] > std::min(where.numel(), slots.numel())) {
      throw std::runtime_error("slot mapping: request " + std::to_string(request) + " ends at token " +
                               std::to_string(start[request + 1]) + ", which is outside");
    }
    for (auto token = start[request]; token < start[request + 1]; ++token) {
      const auto position = where.const_data_ptr<std::int64_t>()[token];
      if (position < 0 || position / block_size >= table.size(1)) {
        throw std::runtime_error("slot mapping: position " + std::to_string(position) + " is in no block");
      }
      slot[token] = blocks[position / block_size] * block_size + position % block_size;
    }
  }
  slots.copy_(mapped);
}

}  // namespace emucann::kernels
