#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "hccl/element.h"
#include "hccl/half.h"

namespace emucann::hccl {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(Float16, EveryValueSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    Float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const float value = static_cast<float>(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(Float16(value)))) << bits;
    } else {
      ASSERT_EQ(Float16(value).bits, bits);
    }
  }
}

TEST(Float16, RoundsToNearestAndTiesToEven) {
  const struct {
    float value;
    std::uint16_t bits;
  } cases[] = {
      {1.0f, 0x3c00},
      {-2.0f, 0xc000},
      {65504.0f, 0x7bff},             // the largest
      {65519.0f, 0x7bff},             // under the tie to infinity
      {65520.0f, 0x7c00},             // the tie
      {1e10f, 0x7c00},                // overflow
      {-infinity, 0xfc00},            //
      {1.0f + 0x1p-11f, 0x3c00},      // tie, down to even
      {1.0f + 3 * 0x1p-11f, 0x3c02},  // tie, up to even
      {1.0f + 0x1.8p-11f, 0x3c01},    // over the tie
      {0x1p-14f, 0x0400},             // the smallest normal
      {0x1p-24f, 0x0001},             // the smallest subnormal
      {0x1p-25f, 0x0000},             // tie, down to even
      {0x1.8p-25f, 0x0001},           // over the tie
      {3 * 0x1p-25f, 0x0002},         // tie, up to even
      {0x1.ff8p-15f, 0x03ff},         // the largest subnormal
      {0x1.ffcp-15f, 0x0400},         // tie, up to even, into the normals
      {-0.0f, 0x8000},                //
  };
  for (const auto& c : cases) EXPECT_EQ(Float16(c.value).bits, c.bits) << c.value;
}

TEST(BFloat16, RoundsToNearestAndKeepsNaN) {
  EXPECT_EQ(BFloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(float_from_bits(0x3f808000)).bits,
            0x3f80);  // tie, down to even
  EXPECT_EQ(BFloat16(float_from_bits(0x3f818000)).bits,
            0x3f82);  // tie, up to even
  EXPECT_EQ(BFloat16(float_from_bits(0x3f808001)).bits, 0x3f81);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(float_from_bits(0x7f800001)))));
}

template <typename T>
std::vector<T> reduced(HcclDataType type, HcclReduceOp op, std::vector<T> target,
                       const std::vector<T>& source) {
  EXPECT_TRUE(reducible(type, op));
  EXPECT_EQ(element_bytes(type), sizeof(T));
  reduce(target.data(), source.data(), target.size(), type, op);
  return target;
}

template <typename T>
void expect_integer_reductions(HcclDataType type) {
  EXPECT_EQ(reduced<T>(type, HCCL_REDUCE_SUM, {3, 7}, {4, 2}), (std::vector<T>{7, 9}));
  EXPECT_EQ(reduced<T>(type, HCCL_REDUCE_PROD, {3, 7}, {4, 2}), (std::vector<T>{12, 14}));
  EXPECT_EQ(reduced<T>(type, HCCL_REDUCE_MAX, {3, 7}, {4, 2}), (std::vector<T>{4, 7}));
  EXPECT_EQ(reduced<T>(type, HCCL_REDUCE_MIN, {3, 7}, {4, 2}), (std::vector<T>{3, 2}));
  const T most = std::numeric_limits<T>::max();
  EXPECT_EQ(reduced<T>(type, HCCL_REDUCE_SUM, {most}, {1}), (std::vector<T>{std::numeric_limits<T>::min()}))
      << "wraps";
  if (std::numeric_limits<T>::is_signed) {
    EXPECT_EQ(reduced<T>(type, HCCL_REDUCE_MIN, {1}, {static_cast<T>(-1)}),
              (std::vector<T>{static_cast<T>(-1)}));
    EXPECT_EQ(reduced<T>(type, HCCL_REDUCE_PROD, {static_cast<T>(-3)}, {2}),
              (std::vector<T>{static_cast<T>(-6)}));
  }
}

TEST(Reduce, Integers) {
  expect_integer_reductions<std::int8_t>(HCCL_DATA_TYPE_INT8);
  expect_integer_reductions<std::int16_t>(HCCL_DATA_TYPE_INT16);
  expect_integer_reductions<std::int32_t>(HCCL_DATA_TYPE_INT32);
  expect_integer_reductions<std::int64_t>(HCCL_DATA_TYPE_INT64);
  expect_integer_reductions<std::uint8_t>(HCCL_DATA_TYPE_UINT8);
  expect_integer_reductions<std::uint16_t>(HCCL_DATA_TYPE_UINT16);
  expect_integer_reductions<std::uint32_t>(HCCL_DATA_TYPE_UINT32);
  expect_integer_reductions<std::uint64_t>(HCCL_DATA_TYPE_UINT64);
}

TEST(Reduce, Floats) {
  EXPECT_EQ(reduced<float>(HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, {0.5f, -1}, {2, 3}),
            (std::vector<float>{2.5f, 2}));
  EXPECT_EQ(reduced<double>(HCCL_DATA_TYPE_FP64, HCCL_REDUCE_PROD, {0.5, -1}, {2, 3}),
            (std::vector<double>{1, -3}));
  EXPECT_EQ(reduced<float>(HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX, {-infinity}, {-1}),
            (std::vector<float>{-1}));
}

TEST(Reduce, HalvesRoundAtEachStep) {
  std::vector<std::uint16_t> half{Float16(2048.0f).bits};
  EXPECT_EQ(reduced<std::uint16_t>(HCCL_DATA_TYPE_FP16, HCCL_REDUCE_SUM, half, {Float16(1.0f).bits}), half);
  EXPECT_EQ(reduced<std::uint16_t>(HCCL_DATA_TYPE_FP16, HCCL_REDUCE_SUM, half, {Float16(4.0f).bits}),
            (std::vector<std::uint16_t>{Float16(2052.0f).bits}));
  EXPECT_EQ(reduced<std::uint16_t>(HCCL_DATA_TYPE_BFP16, HCCL_REDUCE_MIN, {BFloat16(-1.5f).bits},
                                   {BFloat16(2.0f).bits}),
            (std::vector<std::uint16_t>{BFloat16(-1.5f).bits}));
}

TEST(Reduce, MaximumAndMinimumKeepNaN) {
  for (const HcclReduceOp op : {HCCL_REDUCE_MAX, HCCL_REDUCE_MIN}) {
    EXPECT_EQ(reduced<float>(HCCL_DATA_TYPE_FP32, op, {1}, {1}), (std::vector<float>{1}));
    EXPECT_TRUE(std::isnan(reduced<float>(HCCL_DATA_TYPE_FP32, op, {nan}, {1})[0]));
    EXPECT_TRUE(std::isnan(reduced<float>(HCCL_DATA_TYPE_FP32, op, {1}, {nan})[0]));
  }
}

TEST(Reduce, WhatCannotBeReducedIsSaid) {
  EXPECT_TRUE(reducible(HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM));
  EXPECT_FALSE(reducible(HCCL_DATA_TYPE_FP32, HCCL_REDUCE_RESERVED));
  EXPECT_FALSE(reducible(HCCL_DATA_TYPE_FP8E4M3, HCCL_REDUCE_SUM));
  EXPECT_FALSE(reducible(HCCL_DATA_TYPE_INT128, HCCL_REDUCE_SUM));
  EXPECT_EQ(element_bytes(HCCL_DATA_TYPE_INT128), 16u);
  EXPECT_EQ(element_bytes(HCCL_DATA_TYPE_FP8E4M3), 1u);
  EXPECT_EQ(element_bytes(HCCL_DATA_TYPE_RESERVED), 0u);
}

}  // namespace
}  // namespace emucann::hccl
