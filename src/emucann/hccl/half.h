// fp16 and bf16 as bit patterns, converted in portable C++ (no _Float16, no intrinsics).
#pragma once

#include <cstdint>
#include <cstring>

namespace emucann::hccl {

inline float float_from_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline std::uint32_t bits_from_float(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;

  // Rounds to nearest, ties to even, as the hardware does; overflow gives infinity.
  explicit Float16(float value) {
    const std::uint32_t wide = bits_from_float(value);
    const auto sign = static_cast<std::uint16_t>((wide >> 16) & 0x8000u);
    const std::uint32_t magnitude = wide & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {  // NaN: keep it quiet, whatever its payload
      bits = static_cast<std::uint16_t>(sign | 0x7e00u);
    } else if (magnitude >= 0x47800000u) {  // 65536 and more; what lies between 65504 and it rounds below
      bits = static_cast<std::uint16_t>(sign | 0x7c00u);
    } else if (magnitude >= 0x38800000u) {  // normal in fp16: rebias the exponent, drop 13 fraction bits
      const std::uint32_t rebiased = magnitude - (112u << 23);
      bits = static_cast<std::uint16_t>(sign | round_off(rebiased, 13));
    } else if (magnitude < 0x33000000u) {  // under half of the smallest subnormal
      bits = sign;
    } else {  // subnormal in fp16: the hidden bit becomes a fraction bit
      const std::uint32_t exponent = magnitude >> 23;
      const std::uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u;
      bits = static_cast<std::uint16_t>(sign | round_off(fraction, 126 - exponent));
    }
  }

  explicit operator float() const {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    const std::uint32_t exponent = (bits >> 10) & 0x1fu;
    const std::uint32_t fraction = bits & 0x3ffu;
    if (exponent == 0x1f) return float_from_bits(sign | 0x7f800000u | (fraction << 13));
    if (exponent == 0) {  // zero or subnormal: fraction * 2^-24, exact in float
      const float magnitude = static_cast<float>(fraction) * float_from_bits(103u << 23);
      return float_from_bits(sign | bits_from_float(magnitude));
    }
    return float_from_bits(sign | ((exponent + 112) << 23) | (fraction << 13));
  }

 private:
  // value / 2^dropped, rounded to nearest, ties to even.
  static std::uint32_t round_off(std::uint32_t value, std::uint32_t dropped) {
    const std::uint32_t kept = value >> dropped;
    const std::uint32_t rest = value & ((1u << dropped) - 1);
    const std::uint32_t half = 1u << (dropped - 1);
    return kept + (rest > half || (rest == half && (kept & 1u)) ? 1 : 0);
  }
};

// The upper half of a binary32.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;

  // Rounds to nearest, ties to even.
  explicit BFloat16(float value) {
    const std::uint32_t wide = bits_from_float(value);
    if ((wide & 0x7fffffffu) > 0x7f800000u) {  // rounding could carry a NaN into infinity
      bits = static_cast<std::uint16_t>((wide >> 16) | 0x40u);
    } else {
      bits = static_cast<std::uint16_t>((wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16);
    }
  }

  explicit operator float() const { return float_from_bits(static_cast<std::uint32_t>(bits) << 16); }
};

}  // namespace emucann::hccl
