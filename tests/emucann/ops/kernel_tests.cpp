// The smaller kernels against libtorch's ops or plain loops.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ops/kernels/kv_cache.h"
#include "ops/kernels/rms_norm.h"
#include "ops/kernels/rotary.h"

namespace emucann::kernels {
namespace {

void expect_refused(const std::function<void()>& call, const std::string& words) {
  try {
    call();
    ADD_FAILURE() << "was taken: " << words;
  } catch (const std::exception& problem) {
    EXPECT_NE(std::string(problem.what()).find(words), std::string::npos) << problem.what();
  }
}

bool close(const at::Tensor& a, const at::Tensor& b, double tolerance) {
  return at::allclose(a.to(at::kDouble), b.to(at::kDouble), tolerance, tolerance);
}

double tolerance(at::ScalarType type) {
  return type == at::kFloat ? 1e-5 : type == at::kHalf ? 2e-3 : 1.6e-2;
}

TEST(RmsNorm, EqualsItsFormula) {
  at::manual_seed(2);
  for (const auto type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    for (const std::int64_t width : {1, 7, 16, 64, 100}) {
      const auto x = at::randn({3, 5, width}).to(type);
      const auto gamma = at::randn({width}).to(type);
      const auto beta = at::randn({width}).to(type);
      const auto wide = x.to(at::kDouble);
      const auto scale = (wide.square().mean(-1, /*keepdim=*/true) + 1e-6).rsqrt();
      const auto expected = wide * scale * gamma.to(at::kDouble);
      auto y = at::empty_like(x);
      auto rstd = at::empty({3, 5, 1}, at::kFloat);
      rms_norm(x, gamma, {}, 1e-6, y, rstd);
      EXPECT_TRUE(close(y, expected, tolerance(type))) << type << " " << width;
      EXPECT_TRUE(close(rstd, scale, 1e-5)) << type << " " << width;
      at::Tensor none;
      rms_norm(x, gamma, beta, 1e-6, y, none);
      EXPECT_TRUE(close(y, expected + beta.to(at::kDouble), 2 * tolerance(type))) << type << " " << width;
    }
  }
}

TEST(RmsNorm, TakesStridedRowsAndSeveralDimensions) {
  const auto x = at::randn({4, 6, 8});
  auto y = at::empty({4, 8, 6});
  at::Tensor none;
  rms_norm(x.transpose(1, 2), at::ones({6}), {}, 1e-6, y, none);
  auto plain = at::empty({4, 8, 6});
  rms_norm(x.transpose(1, 2).contiguous(), at::ones({6}), {}, 1e-6, plain, none);
  EXPECT_TRUE(at::equal(y, plain));
  auto over_two = at::empty_like(x);
  rms_norm(x, at::ones({6, 8}), {}, 1e-6, over_two, none);
  EXPECT_TRUE(close(over_two, x * (x.square().mean({1, 2}, true) + 1e-6).rsqrt(), 1e-5));
  auto empty = at::empty({0, 8});
  rms_norm(empty, at::ones({8}), {}, 1e-6, empty, none);
  expect_refused([&] { rms_norm(x, at::ones({5}), {}, 1e-6, y, none); }, "gamma does not cover whole rows");
}

// One head at one position, in double.
at::Tensor rotated(const at::Tensor& head, const at::Tensor& row, bool neox) {
  const auto angles = row.size(0) / 2;
  auto result = head.to(at::kDouble).clone();
  for (std::int64_t i = 0; i < angles; ++i) {
    const auto first = neox ? i : 2 * i;
    const auto second = neox ? angles + i : 2 * i + 1;
    const double a = head[first].item<double>();
    const double b = head[second].item<double>();
    const double c = row[i].item<double>();
    const double s = row[angles + i].item<double>();
    result[first] = a * c - b * s;
    result[second] = b * c + a * s;
  }
  return result;
}

TEST(Rotary, TurnsPairsOfBothStyles) {
  at::manual_seed(3);
  constexpr std::int64_t tokens = 5;
  constexpr std::int64_t heads = 3;
  constexpr std::int64_t size = 16;
  const auto positions = at::tensor({4, 0, 9, 9, 2}, at::kLong);
  for (const auto type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    for (const std::int64_t rotary : {size, size / 2}) {  // all of a head, or its first half
      const auto table = at::randn({10, rotary}).to(type);
      for (const bool neox : {true, false}) {
        const auto before = at::randn({tokens, heads * size}).to(type);
        auto after = before.clone();
        rotate(after, positions.to(neox ? at::kLong : at::kInt), table, size, neox);
        for (std::int64_t t = 0; t < tokens; ++t) {
          for (std::int64_t h = 0; h < heads; ++h) {
            const auto part = [&](const at::Tensor& all) {
              return all[t].slice(0, h * size, (h + 1) * size);
            };
            const auto expected = rotated(part(before), table[positions[t].item<std::int64_t>()], neox);
            EXPECT_TRUE(close(part(after), expected, tolerance(type))) << type << rotary << neox << t << h;
          }
        }
      }
    }
  }
}

TEST(Rotary, WorksInPlaceOnSlices) {
  // Queries as a slice of a fused projection's output.
  const auto positions = at::arange(4, at::kLong);
  const auto table = at::randn({4, 8});
  auto fused = at::randn({4, 48});
  const auto before = fused.clone();
  auto expected = fused.slice(1, 0, 16).contiguous();
  rotate(expected, positions, table, 8, true);
  rotate(fused.slice(1, 0, 16), positions, table, 8, true);
  EXPECT_TRUE(at::equal(fused.slice(1, 0, 16), expected));
  EXPECT_TRUE(at::equal(fused.slice(1, 16, 48), before.slice(1, 16, 48)));
  auto shaped = before.slice(1, 0, 16).contiguous().view({4, 2, 8});
  rotate(shaped, positions, table, 8, true);
  EXPECT_TRUE(at::equal(shaped.view({4, 16}), expected));
}

TEST(Rotary, RefusesAPositionOutsideTheTable) {
  auto heads = at::randn({1, 8});
  const auto table = at::randn({4, 8});
  rotate(heads, at::tensor({3}, at::kLong), table, 8, true);
  for (const int position : {-1, 4}) {
    expect_refused([&] { rotate(heads, at::tensor({position}, at::kLong), table, 8, true); },
                   "position " + std::to_string(position) + " is not in a table of 4");
  }
}

TEST(WriteSlots, PutsRowsWhereTheSlotsSay) {
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    const auto rows = at::randn({4, 2, 3}).to(type);
    auto cache = at::full({3, 4, 2, 3}, 9, at::TensorOptions().dtype(type));
    auto expected = cache.clone();
    for (const auto& slots : {at::tensor({5, -1, 0, 11}, at::kInt), at::tensor({5, -1, 0, 11}, at::kLong)}) {
      write_slots(rows, cache, slots);
      expected[1][1].copy_(rows[0]);
      expected[0][0].copy_(rows[2]);
      expected[2][3].copy_(rows[3]);
      EXPECT_TRUE(at::equal(cache, expected)) << "negative slots are not kept";
    }
  }
}

TEST(WriteSlots, TakesFewerSlotsThanRowsAndRowsApart) {
  const auto wide = at::randn({4, 4, 3});
  auto cache = at::zeros({2, 2, 2, 3});
  write_slots(wide.slice(1, 1, 3), cache, at::tensor({1, 2}, at::kInt));
  EXPECT_TRUE(at::equal(cache[0][1], wide[0].slice(0, 1, 3)));
  EXPECT_TRUE(at::equal(cache[1][0], wide[1].slice(0, 1, 3)));
  write_slots(wide.slice(1, 1, 3), cache, at::zeros({0}, at::kInt));
}

TEST(WriteSlots, RefusesWhatDoesNotFit) {
  const auto rows = at::randn({2, 2, 3});
  auto cache = at::zeros({3, 4, 2, 3});
  const auto slots = at::tensor({0, 1}, at::kInt);
  write_slots(rows, cache, slots);
  expect_refused([&] { write_slots(rows, cache, at::tensor({0, 12}, at::kInt)); },
                 "slot 12 is not in a cache of 12");
  expect_refused([&] { write_slots(rows.to(at::kHalf), cache, slots); }, "dtype");
  expect_refused([&] { write_slots(rows, cache.transpose(1, 2), slots); }, "not contiguous");
  expect_refused([&] { write_slots(rows.slice(2, 0, 2), cache, slots); }, "do not fit");
  expect_refused([&] { write_slots(rows, cache, at::tensor({0, 1, 2}, at::kInt)); }, "do not fit");
}

// Two requests of 3 and 2 tokens, the second one in the middle of its text; blocks of 4 tokens.
struct Mapping {
  at::Tensor starts = at::tensor({0, 3, 5}, at::kInt);
  at::Tensor positions = at::tensor({0, 1, 2, 6, 7}, at::kLong);
  at::Tensor table = at::tensor({8, 0, 0, 9, 5, 0, 0, 0, 0}, at::kInt).view({3, 3});
  at::Tensor slots = at::full({8}, 77, at::kInt);
};

TEST(MapSlots, FollowsTheBlockTableAndPadsTheRest) {
  for (const auto type : {at::kInt, at::kLong}) {
    Mapping map;
    auto slots = map.slots.to(type);
    map_slots(map.starts, map.positions, map.table, 4, -1, slots);
    EXPECT_TRUE(at::equal(slots, at::tensor({32, 33, 34, 22, 23, -1, -1, -1}, type)));
    map_slots(map.starts.slice(0, 0, 1), map.positions, map.table, 4, -7, slots);
    EXPECT_TRUE(at::equal(slots, at::full({8}, -7, type))) << "no request";
  }
}

TEST(MapSlots, RefusesWhatIsOutside) {
  Mapping map;
  map_slots(map.starts, map.positions, map.table, 4, -1, map.slots);
  expect_refused([&] { map_slots(map.starts, map.positions, map.table.slice(0, 0, 1), 4, -1, map.slots); },
                 "2 requests, a block table of 1");
  expect_refused([&] { map_slots(map.starts, map.positions.slice(0, 0, 4), map.table, 4, -1, map.slots); },
                 "request 1 ends at token 5");
  expect_refused([&] { map_slots(map.starts, map.positions, map.table, 4, -1, map.slots.slice(0, 0, 4)); },
                 "request 1 ends at token 5");
  expect_refused([&] { map_slots(map.starts, map.positions + 6, map.table, 4, -1, map.slots); },
                 "position 12 is in no block");
  expect_refused([&] { map_slots(map.starts, map.positions - 1, map.table, 4, -1, map.slots); },
                 "position -1 is in no block");
}

}  // namespace
}  // namespace emucann::kernels
