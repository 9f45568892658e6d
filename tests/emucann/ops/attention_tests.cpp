// The attention kernel against plain double loops.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ops/kernels/attention.h"

namespace emucann::kernels {
namespace {

constexpr std::int64_t no_window = std::numeric_limits<std::int64_t>::max();

struct Case {
  const char* name;
  std::int64_t queries = 1;
  std::int64_t keys = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t dim = 16;
  std::int64_t block_size = 0;  // 0: dense
  bool causal = false;
  std::int64_t window = no_window;
  bool masked = false;
  at::ScalarType dtype = at::kFloat;
  std::int64_t value_dim = 0;  // 0: dim
};

std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

// Everything that a call needs, and the tensors that its views are of.
struct Data {
  at::Tensor queries;    // [queries, heads, dim]
  at::Tensor keys;       // [keys, kv_heads, dim]
  at::Tensor values;     // [keys, kv_heads, value_dim]
  at::Tensor key_cache;  // as the kernel takes them: the same, or paged
  at::Tensor value_cache;
  std::vector<std::int32_t> blocks;
  KeyValue sequence;
  Masking masking;
};

void attend(const at::Tensor& queries, const KeyValue& sequence, double scale, const Masking& masking,
            const at::Tensor& out, const at::Tensor& log_sum_exp = {}) {
  attention(Heads(queries), sequence, scale, masking, Heads(out), log_sum_exp);
}

// Spreads rows over a cache of twice the blocks.
at::Tensor paged(const at::Tensor& rows, const std::vector<std::int32_t>& blocks, std::int64_t block_size) {
  const auto count = static_cast<std::int64_t>(blocks.size());
  auto cache = at::full({2 * count, block_size, rows.size(1), rows.size(2)}, 1e4, rows.options());
  for (std::int64_t token = 0; token < rows.size(0); ++token) {
    cache[blocks[static_cast<std::size_t>(token / block_size)]][token % block_size].copy_(rows[token]);
  }
  return cache;
}

void make(const Case& c, Data& data) {
  at::manual_seed(1);
  const auto options = at::TensorOptions().dtype(c.dtype);
  data.queries = at::randn({c.queries, c.heads, c.dim}, at::kFloat).to(options);
  data.keys = at::randn({c.keys, c.kv_heads, c.dim}, at::kFloat).to(options);
  data.values =
      at::randn({c.keys, c.kv_heads, c.value_dim == 0 ? c.dim : c.value_dim}, at::kFloat).to(options);
  data.sequence.length = c.keys;
  data.masking.causal = c.causal;
  data.masking.window = c.window;
  if (c.masked) data.masking.excluded = at::rand({c.queries, c.keys}).gt(0.6);
  if (c.block_size == 0) {
    data.key_cache = data.keys;
    data.value_cache = data.values;
  } else {
    const auto count = (c.keys + c.block_size - 1) / c.block_size;
    for (std::int64_t i = 0; i < count; ++i) {
      data.blocks.push_back(
          static_cast<std::int32_t>(2 * count - 1 - i * 2));  // every other one, the last first
    }
    data.key_cache = paged(data.keys, data.blocks, c.block_size);
    data.value_cache = paged(data.values, data.blocks, c.block_size);
    data.sequence.blocks = data.blocks.data();
  }
  data.sequence.keys = Cache(data.key_cache);
  data.sequence.values = Cache(data.value_cache);
}

struct Expected {
  at::Tensor out;  // double
  at::Tensor lse;  // double
};

Expected reference(const Case& c, const Data& data, double scale) {
  const auto q = data.queries.to(at::kDouble);
  const auto k = data.keys.to(at::kDouble);
  const auto v = data.values.to(at::kDouble);
  Expected expected{at::zeros({c.queries, c.heads, v.size(2)}, at::kDouble),
                    at::zeros({c.queries, c.heads}, at::kDouble)};
  for (std::int64_t i = 0; i < c.queries; ++i) {
    for (std::int64_t h = 0; h < c.heads; ++h) {
      const auto kv = h * c.kv_heads / c.heads;
      auto scores = at::full({c.keys}, -INFINITY, at::kDouble);
      for (std::int64_t t = 0; t < c.keys; ++t) {
        const auto own = c.causal ? c.keys - c.queries + i : c.keys - 1;  // the last key that is seen
        if (t > own || t < own + 1 - std::min(c.window, c.keys)) continue;
        if (data.masking.excluded.defined() && data.masking.excluded[i][t].item<bool>()) continue;
        double sum = 0;
        for (std::int64_t d = 0; d < c.dim; ++d)
          sum += q[i][h][d].item<double>() * k[t][kv][d].item<double>();
        scores[t] = sum * scale;
      }
      const double highest = scores.max().item<double>();
      if (std::isinf(highest)) {
        expected.lse[i][h] = -INFINITY;
        continue;
      }
      const auto weights = (scores - highest).exp();
      expected.lse[i][h] = highest + std::log(weights.sum().item<double>());
      expected.out[i][h] = at::mv(v.select(1, kv).t(), weights / weights.sum());
    }
  }
  return expected;
}

double tolerance(at::ScalarType type) {
  return type == at::kFloat ? 1e-5 : type == at::kHalf ? 2e-3 : 1.6e-2;
}

class EachAttention : public ::testing::TestWithParam<Case> {};

TEST_P(EachAttention, EqualsThePlainLoops) {
  const Case& c = GetParam();
  Data data;
  make(c, data);
  const double scale = 1.0 / std::sqrt(static_cast<double>(c.dim));
  const auto expected = reference(c, data, scale);
  const auto out = at::full(expected.out.sizes(), 99, at::TensorOptions().dtype(c.dtype));
  const auto lse = at::full({c.queries, c.heads}, 99, at::kFloat);
  attend(data.queries, data.sequence, scale, data.masking, out, lse);
  const auto limit = tolerance(c.dtype);
  EXPECT_TRUE(at::allclose(out.to(at::kDouble), expected.out, limit, limit))
      << "largest difference " << (out.to(at::kDouble) - expected.out).abs().max().item<double>();
  EXPECT_TRUE(at::allclose(lse.to(at::kDouble), expected.lse, 1e-4, 1e-4));
}

INSTANTIATE_TEST_SUITE_P(
    Forms, EachAttention,
    ::testing::Values(
        Case{"one_key"}, Case{"dense_decode", 1, 37, 4, 4}, Case{"dense_prefill", 9, 9, 4, 4, 16, 0, true},
        Case{"queries_after_a_prefix", 5, 21, 4, 4, 16, 0, true},
        Case{"shared_heads", 7, 7, 8, 2, 32, 0, true}, Case{"one_kv_head", 3, 12, 6, 1, 16, 0, true},
        Case{"odd_dim", 4, 11, 2, 2, 19, 0, true},
        Case{"values_of_another_dim", 4, 11, 2, 2, 24, 0, true, no_window, false, at::kFloat, 8},
        Case{"paged_decode", 1, 37, 4, 2, 16, 8}, Case{"paged_prefill", 33, 33, 4, 2, 16, 16, true},
        Case{"paged_after_a_prefix", 6, 40, 4, 4, 16, 16, true},
        Case{"last_block_full", 4, 32, 2, 2, 16, 16, true}, Case{"window", 12, 12, 2, 2, 16, 0, true, 4},
        Case{"window_of_one", 5, 5, 2, 2, 16, 0, true, 1},
        Case{"window_in_a_decode", 1, 40, 2, 2, 16, 8, false, 7},
        Case{"wide_window", 5, 9, 2, 2, 16, 0, true, 100},
        Case{"masked", 6, 20, 2, 2, 16, 0, false, no_window, true},
        Case{"masked_and_causal", 6, 20, 2, 2, 16, 4, true, no_window, true},
        Case{"nothing_is_seen_at_first", 6, 3, 2, 2, 16, 0, true},
        Case{"half", 6, 20, 4, 2, 16, 0, true, no_window, false, at::kHalf},
        Case{"half_paged", 6, 20, 4, 2, 16, 8, true, no_window, false, at::kHalf},
        Case{"bfloat16", 6, 20, 4, 2, 16, 0, true, no_window, false, at::kBFloat16},
        Case{"bfloat16_paged", 6, 20, 4, 2, 16, 8, true, no_window, false, at::kBFloat16}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Attention, OfADecodeIsTheLastRowOfAPrefillBitForBit) {
  for (const auto dtype : {at::kFloat, at::kBFloat16}) {
    const Case c{"", 24, 24, 4, 2, 40, 8, true, no_window, false, dtype};
    Data data;
    make(c, data);
    auto prefill = at::empty({24, 4, 40}, data.queries.options());
    attend(data.queries, data.sequence, 0.2, data.masking, prefill);
    for (std::int64_t row = 0; row < 24; ++row) {
      auto decode = at::empty({1, 4, 40}, data.queries.options());
      auto sequence = data.sequence;
      sequence.length = row + 1;
      attend(data.queries.slice(0, row, row + 1), sequence, 0.2, {}, decode);
      EXPECT_TRUE(at::equal(decode[0], prefill[row])) << "row " << row;
    }
  }
}

TEST(Attention, DoesNotDependOnWhichBlocksHoldTheTokens) {
  Data data;
  make({"", 3, 29, 4, 2, 16, 8, true}, data);
  const auto out = at::empty({3, 4, 16});
  const auto dense = at::empty({3, 4, 16});
  attend(data.queries, data.sequence, 0.25, data.masking, out);
  KeyValue flat;
  flat.keys = Cache(data.keys);
  flat.values = Cache(data.values);
  flat.length = 29;
  attend(data.queries, flat, 0.25, data.masking, dense);
  EXPECT_TRUE(at::equal(out, dense));
}

TEST(Attention, TakesRowsApartFromEachOther) {
  // Queries, keys and output as slices of wider rows: the last dimension alone is contiguous.
  Data data;
  make({"", 4, 10, 2, 2, 16, 0, true}, data);
  const auto expected = at::empty({4, 2, 16});
  attend(data.queries, data.sequence, 0.25, data.masking, expected);
  const auto wide = [](const at::Tensor& rows) {
    auto storage = at::full({rows.size(0), rows.size(1), 50}, 7.0F);
    auto slice = storage.slice(2, 3, 19);
    slice.copy_(rows);
    return slice;
  };
  KeyValue sequence = data.sequence;
  const auto keys = wide(data.keys);
  const auto values = wide(data.values);
  sequence.keys = Cache(keys);
  sequence.values = Cache(values);
  const auto out = wide(at::zeros({4, 2, 16}));
  attend(wide(data.queries), sequence, 0.25, data.masking, out);
  EXPECT_TRUE(at::equal(out, expected));
}

void expect_refused(const Data& data, const at::Tensor& out, const std::string& words) {
  try {
    attend(data.queries, data.sequence, 1, data.masking, out);
    ADD_FAILURE() << "was taken: " << words;
  } catch (const std::exception& problem) {
    EXPECT_NE(std::string(problem.what()).find(words), std::string::npos) << problem.what();
  }
}

TEST(Attention, RefusesWhatDoesNotFit) {
  Data good;
  make({"", 2, 20, 4, 2, 16, 8, true}, good);
  const auto out = at::empty({2, 4, 16});
  attend(good.queries, good.sequence, 1, good.masking, out);
  for (const std::int32_t block : {-1, 6, 1000}) {
    Data data = good;
    data.blocks[1] = block;
    data.sequence.blocks = data.blocks.data();
    expect_refused(data, out, "block " + std::to_string(block) + " is not in a cache of 6 blocks");
  }
  Data data = good;
  data.queries = at::zeros({2, 3, 16});
  expect_refused(data, at::empty({2, 3, 16}), "do not fit");  // 3 heads over 2
  data = good;
  data.queries = at::zeros({2, 4, 8});
  expect_refused(data, out, "do not fit");
  data = good;
  data.sequence.blocks = nullptr;
  expect_refused(data, out, "not paged alike");
  data = good;
  data.sequence.values = Cache(data.values);
  expect_refused(data, out, "not paged alike");
  data = good;
  data.sequence.length = -1;
  expect_refused(data, out, "-1 tokens");
  data = good;
  data.masking.excluded = at::zeros({2, 19}, at::kBool);
  expect_refused(data, out, "the mask is smaller");
  expect_refused(good, at::empty({2, 2, 16}), "do not fit");
  data = good;
  data.key_cache = data.key_cache.to(at::kInt);
  data.sequence.keys = Cache(data.key_cache);
  expect_refused(data, out, "dtype Int");
}

TEST(Attention, RefusesMoreTokensThanThereAre) {
  Data data;
  make({"", 2, 20, 4, 2, 16, 0, true}, data);
  const auto out = at::empty({2, 4, 16});
  attend(data.queries, data.sequence, 1, data.masking, out);
  data.sequence.length = 21;
  expect_refused(data, out, "21 tokens of 20");
  const Heads rows(out);
  EXPECT_EQ(rows.slice(1, 2).rows, 1);
  EXPECT_THROW(rows.slice(1, 3), std::runtime_error);
  EXPECT_THROW(rows.slice(2, 1), std::runtime_error);
  EXPECT_THROW(rows.slice(-1, 1), std::runtime_error);
}

TEST(Attention, OverNothingIsZero) {
  Data data;
  make({"", 2, 20, 4, 2, 16}, data);
  data.sequence.length = 0;
  const auto out = at::full({2, 4, 16}, 7.0F);
  attend(data.queries, data.sequence, 1, data.masking, out);
  EXPECT_TRUE(at::equal(out, at::zeros({2, 4, 16})));
}

}  // namespace
}  // namespace emucann::kernels
