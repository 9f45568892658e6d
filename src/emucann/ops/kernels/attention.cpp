#include "ops/kernels/attention.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "ops/kernels/vector_math.h"
#include "ops/kernels/vectorize.h"

namespace emucann::kernels {

Heads::Heads(const at::Tensor& tensor)
    : data(static_cast<char*>(tensor.data_ptr())),
      dtype(tensor.scalar_type()),
      rows(tensor.size(0)),
      heads(tensor.size(1)),
      dim(tensor.size(2)),
      row_stride(tensor.stride(0)),
      head_stride(tensor.stride(1)) {
  if (tensor.dim() != 3 || (dim > 1 && tensor.stride(2) != 1)) {
    throw std::runtime_error("attention: expected rows of heads with a contiguous last dimension");
  }
}

Heads Heads::slice(std::int64_t begin, std::int64_t end) const {
  if (begin < 0 || end < begin || end > rows) {
    throw std::runtime_error("attention: a sequence is to have rows " + std::to_string(begin) + " to " +
                             std::to_string(end) + " of " + std::to_string(rows));
  }
  Heads part = *this;
  part.data += begin * row_stride * static_cast<std::int64_t>(c10::elementSize(dtype));
  part.rows = end - begin;
  return part;
}

Cache::Cache(const at::Tensor& tensor) {
  if (tensor.dim() == 4) {
    if (tensor.size(0) == 0) throw std::runtime_error("attention: the cache has no pages");
    rows = Heads(tensor[0]);
    pages = tensor.size(0);
    page_stride = tensor.stride(0);
  } else {
    rows = Heads(tensor);
  }
}

namespace {

// A pointer to each token's first head, in float.
struct Rows {
  std::vector<const float*> tokens;
  std::int64_t head_stride = 0;
  std::vector<float> converted;  // backs the rows if the cache is not float
};

template <typename T>
const T* token_row(const Cache& cache, const KeyValue& sequence, std::int64_t token) {
  const T* base = reinterpret_cast<const T*>(cache.rows.data);
  if (cache.pages == 0) return base + token * cache.rows.row_stride;
  const std::int64_t block = sequence.blocks[token / cache.rows.rows];
  if (block < 0 || block >= cache.pages) {
    throw std::runtime_error("attention: block " + std::to_string(block) + " is not in a cache of " +
                             std::to_string(cache.pages) + " blocks");
  }
  return base + block * cache.page_stride + token % cache.rows.rows * cache.rows.row_stride;
}

template <typename T>
Rows rows_as(const Cache& cache, const KeyValue& sequence) {
  constexpr bool direct = std::is_same_v<T, float>;
  const auto heads = cache.rows.heads;
  const auto dim = cache.rows.dim;
  Rows rows;
  rows.tokens.resize(static_cast<std::size_t>(sequence.length));
  rows.head_stride = direct ? cache.rows.head_stride : dim;
  if (!direct) rows.converted.resize(static_cast<std::size_t>(sequence.length * heads * dim));
  for (std::int64_t token = 0; token < sequence.length; ++token) {
    const T* row = token_row<T>(cache, sequence, token);
    if constexpr (direct) {
      rows.tokens[static_cast<std::size_t>(token)] = row;
    } else {
      float* copy = rows.converted.data() + token * heads * dim;
      for (std::int64_t head = 0; head < heads; ++head) {
        const T* from = row + head * cache.rows.head_stride;
        for (std::int64_t i = 0; i < dim; ++i) copy[head * dim + i] = static_cast<float>(from[i]);
      }
      rows.tokens[static_cast<std::size_t>(token)] = copy;
    }
  }
  return rows;
}

[[noreturn]] void refuse(at::ScalarType dtype) {
  throw std::runtime_error(std::string("attention: dtype ") + c10::toString(dtype) + " is not emulated");
}

Rows rows_of(const Cache& cache, const KeyValue& sequence) {
  switch (cache.rows.dtype) {
    case at::kFloat:
      return rows_as<float>(cache, sequence);
    case at::kHalf:
      return rows_as<at::Half>(cache, sequence);
    case at::kBFloat16:
      return rows_as<at::BFloat16>(cache, sequence);
    default:
      refuse(cache.rows.dtype);
  }
}

// Copies one head between its dtype and float.
void load(const Heads& from, std::int64_t row, std::int64_t head, float* to) {
  const auto offset = row * from.row_stride + head * from.head_stride;
  const auto copy = [&](auto* base) {
    for (std::int64_t i = 0; i < from.dim; ++i) to[i] = static_cast<float>(base[offset + i]);
  };
  switch (from.dtype) {
    case at::kFloat:
      return copy(reinterpret_cast<const float*>(from.data));
    case at::kHalf:
      return copy(reinterpret_cast<const at::Half*>(from.data));
    case at::kBFloat16:
      return copy(reinterpret_cast<const at::BFloat16*>(from.data));
    default:
      refuse(from.dtype);
  }
}

void store(const float* from, const Heads& to, std::int64_t row, std::int64_t head) {
  const auto offset = row * to.row_stride + head * to.head_stride;
  const auto copy = [&](auto* base) {
    using T = std::remove_pointer_t<decltype(base)>;
    for (std::int64_t i = 0; i < to.dim; ++i) base[offset + i] = static_cast<T>(from[i]);
  };
  switch (to.dtype) {
    case at::kFloat:
      return copy(reinterpret_cast<float*>(to.data));
    case at::kHalf:
      return copy(reinterpret_cast<at::Half*>(to.data));
    case at::kBFloat16:
      return copy(reinterpret_cast<at::BFloat16*>(to.data));
    default:
      refuse(to.dtype);
  }
}

// scores[t] = scale * (query . keys[t])
EMUCANN_VECTORIZE void score(const float* query, const float* const* keys, std::int64_t offset,
                             std::int64_t count, std::int64_t dim, float scale, float* scores) {
  for (std::int64_t t = 0; t < count; ++t) scores[t] = dot(query, keys[t] + offset, dim) * scale;
}

// Turns scores into exponentials relative to the highest; returns that and their sum.
struct Normalizer {
  float highest;
  float sum;
};

EMUCANN_VECTORIZE Normalizer exponentials(float* scores, std::int64_t count) {
  float highest = -std::numeric_limits<float>::infinity();
  for (std::int64_t t = 0; t < count; ++t) highest = scores[t] > highest ? scores[t] : highest;
  if (!(highest > -std::numeric_limits<float>::infinity())) return {highest, 0};  // nothing is seen
  float partial[lanes] = {};
  std::int64_t t = 0;
  for (; t + lanes <= count; t += lanes) {
    for (int lane = 0; lane < lanes; ++lane) {
      scores[t + lane] = exp_of_negative(scores[t + lane] - highest);
      partial[lane] += scores[t + lane];
    }
  }
  float rest = 0;
  for (; t < count; ++t) {
    scores[t] = exp_of_negative(scores[t] - highest);
    rest += scores[t];
  }
  return {highest, sum_of(partial) + rest};
}

// out = factor * sum over t of weights[t] * values[t]
EMUCANN_VECTORIZE void weighted_sum(const float* weights, const float* const* values, std::int64_t offset,
                                    std::int64_t count, std::int64_t dim, float factor, float* out) {
  constexpr int width =
      2 * lanes;  // elements at once: the rows' addresses are read again for each such piece
  std::int64_t i = 0;
  for (; i + width <= dim; i += width) {
    float sums[width] = {};
    for (std::int64_t t = 0; t < count; ++t) {
      const float* value = values[t] + offset + i;
      for (int lane = 0; lane < width; ++lane) sums[lane] += weights[t] * value[lane];
    }
    for (int lane = 0; lane < width; ++lane) out[i + lane] = sums[lane] * factor;
  }
  for (; i < dim; ++i) {
    float sum = 0;
    for (std::int64_t t = 0; t < count; ++t) sum += weights[t] * values[t][offset + i];
    out[i] = sum * factor;
  }
}

void exclude(const at::Tensor& excluded, std::int64_t row, std::int64_t first, std::int64_t last,
             float* scores) {
  const bool* skip = excluded.const_data_ptr<bool>() + row * excluded.stride(0);
  for (std::int64_t t = first; t < last; ++t) {
    if (skip[t * excluded.stride(1)]) scores[t - first] = -std::numeric_limits<float>::infinity();
  }
}

// What would lead to bytes beyond a tensor's.
void check_fit(const Heads& queries, const KeyValue& sequence, const at::Tensor& excluded, const Heads& out) {
  const Heads& keys = sequence.keys.rows;
  const Heads& values = sequence.values.rows;
  if (keys.heads == 0 || queries.heads % keys.heads != 0 || keys.dim != queries.dim ||
      values.heads != keys.heads || out.dim != values.dim || out.rows != queries.rows ||
      out.heads != queries.heads) {
    throw std::runtime_error("attention: queries, keys, values and output do not fit each other");
  }
  const bool paged = sequence.keys.pages > 0;
  if (paged != (sequence.values.pages > 0) || paged != (sequence.blocks != nullptr) ||
      (paged && keys.rows != values.rows)) {
    throw std::runtime_error("attention: keys and values are not paged alike");
  }
  const auto room = paged ? std::numeric_limits<std::int64_t>::max() : std::min(keys.rows, values.rows);
  if (sequence.length < 0 || sequence.length > room) {
    throw std::runtime_error("attention: a sequence is to have " + std::to_string(sequence.length) +
                             " tokens of " + std::to_string(room));
  }
  if (excluded.defined() && (excluded.size(0) < queries.rows || excluded.size(1) < sequence.length)) {
    throw std::runtime_error("attention: the mask is smaller than queries by keys");
  }
}

}  // namespace

void attention(const Heads& queries, const KeyValue& sequence, double scale, const Masking& masking,
               const Heads& out, const at::Tensor& log_sum_exp) {
  check_fit(queries, sequence, masking.excluded, out);
  const auto kv_heads = sequence.keys.rows.heads;
  const Rows keys = rows_of(sequence.keys, sequence);
  const Rows values = rows_of(sequence.values, sequence);
  std::vector<float> scores(static_cast<std::size_t>(sequence.length));
  std::vector<float> query(static_cast<std::size_t>(queries.dim));
  std::vector<float> result(static_cast<std::size_t>(out.dim));

  for (std::int64_t row = 0; row < queries.rows; ++row) {
    const auto last = masking.causal ? std::max<std::int64_t>(sequence.length - queries.rows + row + 1, 0)
                                     : sequence.length;
    const auto first = last > masking.window ? last - masking.window : 0;
    for (std::int64_t head = 0; head < queries.heads; ++head) {
      const auto kv_head = head / (queries.heads / kv_heads);
      load(queries, row, head, query.data());
      score(query.data(), keys.tokens.data() + first, kv_head * keys.head_stride, last - first, queries.dim,
            static_cast<float>(scale), scores.data());
      if (masking.excluded.defined()) exclude(masking.excluded, row, first, last, scores.data());
      const auto [highest, sum] = exponentials(scores.data(), last - first);
      weighted_sum(scores.data(), values.tokens.data() + first, kv_head * values.head_stride,
                   sum > 0 ? last - first : 0, out.dim, sum > 0 ? 1.0F / sum : 0.0F, result.data());
      store(result.data(), out, row, head);
      if (log_sum_exp.defined()) {
        log_sum_exp.mutable_data_ptr<float>()[row * log_sum_exp.stride(0) + head * log_sum_exp.stride(1)] =
            sum > 0 ? highest + std::log(sum) : highest;
      }
    }
  }
}

}  // namespace emucann::kernels
