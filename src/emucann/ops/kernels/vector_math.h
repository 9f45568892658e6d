// Loops over floats that a compiler turns into vector instructions: sums in lanes, an exponential without branches.
#pragma once

#include <cstdint>
#include <cstring>

namespace emucann::kernels {

constexpr int lanes = 16;

// The sum of the lanes, in a fixed order.
inline float sum_of(const float* partial) {
  float eight[8];
  for (int i = 0; i < 8; ++i) eight[i] = partial[i] + partial[i + 8];
  float four[4];
  for (int i = 0; i < 4; ++i) four[i] = eight[i] + eight[i + 4];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

inline float dot(const float* a, const float* b, std::int64_t count) {
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
inline float exp_of_negative(float x) {
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
  return x < -87.0F ? 0.0F : p * power;
}

}  // namespace emucann::kernels
