#include "ops/kernels/attention.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "ops/kernels/vectorize.h"

namespace emucann::kernels {
namespace {

constexpr int lanes = 16;

// A pointer to each token's row (its first head), and the distance between heads, all in float.
struct Rows {
  std::vector<const float*> tokens;
  std::int64_t head_stride = 0;
  std::vector<float> converted;  // backs the rows if the cache is not float
};

template <typename T>
void convert(const T* from, std::int64_t heads, std::int64_t stride, std::int64_t dim, float* to) {
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t i = 0; i < dim; ++i) to[head * dim + i] = static_cast<float>(from[head * stride + i]);
  }
}

template <typename T>
Rows rows_as(const at::Tensor& cache, const KeyValue& sequence) {
  const bool paged = sequence.blocks != nullptr;
  const auto block_size = paged ? cache.size(1) : 1;
  const auto heads = cache.size(-2);
  const auto dim = cache.size(-1);
  const auto head_stride = cache.stride(-2);
  const T* base = cache.const_data_ptr<T>();
  Rows rows;
  rows.tokens.resize(static_cast<std::size_t>(sequence.length));
  rows.head_stride = std::is_same_v<T, float> ? head_stride : dim;
  if (!std::is_same_v<T, float>) rows.converted.resize(static_cast<std::size_t>(sequence.length * heads * dim));
  for (std::int64_t token = 0; token < sequence.length; ++token) {
    const T* row = base;
    if (paged) {
      const std::int64_t block = sequence.blocks[token / block_size];
      if (block < 0 || block >= cache.size(0)) {
        throw std::runtime_error("attention: block " + std::to_string(block) + " is not in a cache of " +
                                 std::to_string(cache.size(0)) + " blocks");
      }
      row += block * cache.stride(0) + token % block_size * cache.stride(1);
    } else {
      row += token * cache.stride(0);
    }
    if constexpr (std::is_same_v<T, float>) {
      rows.tokens[static_cast<std::size_t>(token)] = row;
    } else {
      float* copy = rows.converted.data() + token * heads * dim;
      convert(row, heads, head_stride, dim, copy);
      rows.tokens[static_cast<std::size_t>(token)] = copy;
    }
  }
  return rows;
}

Rows rows_of(const at::Tensor& cache, const KeyValue& sequence) {
  if (cache.dim() != (sequence.blocks != nullptr ? 4 : 3) || (cache.size(-1) > 1 && cache.stride(-1) != 1)) {
    throw std::runtime_error("attention: keys and values are [tokens, heads, dim] or [blocks, size, heads, dim]");
  }
  switch (cache.scalar_type()) {
    case at::kFloat:
      return rows_as<float>(cache, sequence);
    case at::kHalf:
      return rows_as<at::Half>(cache, sequence);
    case at::kBFloat16:
      return rows_as<at::BFloat16>(cache, sequence);
    default:
      throw std::runtime_error(std::string("attention: dtype ") + c10::toString(cache.scalar_type()) +
                               " is not emulated");
  }
}

// scores[t] = scale * (query . keys[t]) for t in [first, last)
EMUCANN_VECTORIZE void dots(const float* query, const float* const* keys, std::int64_t offset, std::int64_t first,
                            std::int64_t last, std::int64_t dim, float scale, float* scores) {
  for (std::int64_t token = first; token < last; ++token) {
    const float* key = keys[token] + offset;
    float partial[lanes] = {};
    std::int64_t i = 0;
    for (; i + lanes <= dim; i += lanes) {
      for (int lane = 0; lane < lanes; ++lane) partial[lane] += query[i + lane] * key[i + lane];
    }
    float sum = 0;
    for (; i < dim; ++i) sum += query[i] * key[i];
    for (const float lane : partial) sum += lane;
    scores[token] = sum * scale;
  }
}

// out = sum over t of weights[t] * values[t]
EMUCANN_VECTORIZE void weighted_sum(const float* weights, const float* const* values, std::int64_t offset,
                                    std::int64_t first, std::int64_t last, std::int64_t dim, float* out) {
  std::memset(out, 0, static_cast<std::size_t>(dim) * sizeof(float));
  for (std::int64_t token = first; token < last; ++token) {
    const float weight = weights[token];
    const float* value = values[token] + offset;
    for (std::int64_t i = 0; i < dim; ++i) out[i] += weight * value[i];
  }
}

// Turns scores into weights that sum to one; returns the logarithm of the sum of their exponentials.
float softmax(float* scores, std::int64_t first, std::int64_t last) {
  float highest = -std::numeric_limits<float>::infinity();
  for (std::int64_t t = first; t < last; ++t) highest = std::max(highest, scores[t]);
  if (!std::isfinite(highest)) {  // nothing is seen
    std::fill(scores + first, scores + last, 0.0F);
    return highest;
  }
  float sum = 0;
  for (std::int64_t t = first; t < last; ++t) {
    scores[t] = std::exp(scores[t] - highest);
    sum += scores[t];
  }
  const float inverse = 1.0F / sum;
  for (std::int64_t t = first; t < last; ++t) scores[t] *= inverse;
  return highest + std::log(sum);
}

}  // namespace

void attention(const at::Tensor& queries, const KeyValue& sequence, double scale, const Masking& masking,
               at::Tensor out, at::Tensor log_sum_exp) {
  const auto count = queries.size(0);
  const auto heads = queries.size(1);
  const auto kv_heads = sequence.keys.size(-2);
  const auto dim = queries.size(2);
  const auto value_dim = sequence.values.size(-1);
  if (kv_heads == 0 || heads % kv_heads != 0 || sequence.keys.size(-1) != dim || out.size(2) != value_dim) {
    throw std::runtime_error("attention: queries, keys, values and output do not fit each other");
  }
  const Rows keys = rows_of(sequence.keys, sequence);
  const Rows values = rows_of(sequence.values, sequence);
  const auto q = queries.scalar_type() == at::kFloat && queries.stride(2) == 1 ? queries
                                                                               : queries.to(at::kFloat).contiguous();
  const bool direct = out.scalar_type() == at::kFloat && out.stride(2) == 1;
  auto result = direct ? out : at::empty(out.sizes(), q.options());
  const float* q_data = q.const_data_ptr<float>();
  float* out_data = result.mutable_data_ptr<float>();
  std::vector<float> scores(static_cast<std::size_t>(sequence.length));

  for (std::int64_t row = 0; row < count; ++row) {
    const auto last = masking.causal ? std::max<std::int64_t>(sequence.length - count + row + 1, 0) : sequence.length;
    const auto first = last > masking.window ? last - masking.window : 0;
    for (std::int64_t head = 0; head < heads; ++head) {
      const auto kv_head = head / (heads / kv_heads);
      dots(q_data + row * q.stride(0) + head * q.stride(1), keys.tokens.data(), kv_head * keys.head_stride, first, last,
           dim, static_cast<float>(scale), scores.data());
      if (masking.excluded.defined()) {
        const auto seen = masking.excluded.select(0, row);
        for (std::int64_t t = first; t < last; ++t) {
          if (seen.const_data_ptr<bool>()[t * seen.stride(0)]) scores[static_cast<std::size_t>(t)] = -INFINITY;
        }
      }
      const float lse = softmax(scores.data(), first, last);
      weighted_sum(scores.data(), values.tokens.data(), kv_head * values.head_stride, first, last, value_dim,
                   out_data + row * result.stride(0) + head * result.stride(1));
      if (log_sum_exp.defined()) log_sum_exp.mutable_data_ptr<float>()[row * log_sum_exp.stride(0) + head * log_sum_exp.stride(1)] = lse;
    }
  }
  if (!direct) out.copy_(result);
}

}  // namespace emucann::kernels
