// Loops over floats that a compiler turns into vector instructions: sums in lanes, an exponential without
// branches.
#pragma once

#include <cstdint>
#include <cstring>

// A loop only becomes vector instructions if what it calls is in it.
#define EMUCANN_INLINE __attribute__((always_inline)) inline

namespace emucann::kernels {

// Enough independent sums to keep a vector unit busy, few enough to stay in registers.
constexpr int lanes = 8;

// The sum of the lanes, which it uses up, in a fixed order.
EMUCANN_INLINE float sum_of(float* partial) {
  for (int width = lanes / 2; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) partial[lane] += partial[lane + width];
  }
  return partial[0];
}

EMUCANN_INLINE float dot(const float* a, const float* b, std::int64_t count) {
  float partial[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (int lane = 0; lane < lanes; ++lane) partial[lane] += a[i + lane] * b[i + lane];
  }
  float rest = 0;
  for (; i < count; ++i) rest += a[i] * b[i];
  return sum_of(partial) + rest;
}

// e^x for x <= 0, within 2 ulp; 0 below -87. (Cephes' split of x into n ln 2 + r and its polynomial for e^r.)
EMUCANN_INLINE float exp_of_negative(float x) {
  const float clamped = x < -87.0F ? -87.0F : x;
  constexpr float rounder = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  const float n = (clamped * 1.44269504F + rounder) - rounder;
  const float r = clamped - n * 0.693359375F + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const std::int32_t bits = (static_cast<std::int32_t>(n) + 127) << 23;
  float power = 0;
  std::memcpy(&power, &bits, sizeof power);
  const float result = p * power;
  return x < -87.0F ? 0.0F : result;
}

}  // namespace emucann::kernels
