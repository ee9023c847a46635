// SPDX-License-Identifier: Apache-2.0
// Float16 and BFloat16 as bit patterns. Widening is exact; narrowing rounds once, to nearest, ties to even
// (IEEE 754-2019 4.3.1), in integers, so it is the same on every machine.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace assay {

using Int = std::int64_t;

namespace detail {

// A binary interchange format with `exponent_bits` and `fraction_bits`, in the low bits of an integer.
template <int exponent_bits, int fraction_bits>
struct Narrow {
  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  static constexpr std::uint32_t exponent_mask = (1u << exponent_bits) - 1;
  static constexpr std::uint32_t infinity = exponent_mask << fraction_bits;
  static constexpr std::uint32_t quiet_nan = infinity | (1u << (fraction_bits - 1));

  static constexpr double widen(std::uint32_t bits) {
    const bool negative = (bits >> (exponent_bits + fraction_bits)) & 1u;
    const std::uint64_t exponent = (bits >> fraction_bits) & exponent_mask;
    const std::uint64_t fraction = bits & ((1u << fraction_bits) - 1);
    double magnitude;
    if (exponent == exponent_mask) {
      magnitude = std::bit_cast<double>((std::uint64_t{0x7ff} << 52) | (fraction << (52 - fraction_bits)));
    } else {
      const double scale = std::bit_cast<double>(((exponent == 0 ? 1 : exponent) + 1023 - bias - fraction_bits) << 52);
      magnitude = static_cast<double>(exponent == 0 ? fraction : fraction | (1u << fraction_bits)) * scale;
    }
    return negative ? -magnitude : magnitude;
  }

  static constexpr std::uint32_t narrow(double value) {
    const std::uint64_t wide = std::bit_cast<std::uint64_t>(value);
    const std::uint32_t sign = static_cast<std::uint32_t>(wide >> 63) << (exponent_bits + fraction_bits);
    const int exponent = static_cast<int>((wide >> 52) & 0x7ff) - 1023;
    const std::uint64_t fraction = wide & ((std::uint64_t{1} << 52) - 1);
    if (exponent == 1024) return fraction ? quiet_nan : sign | infinity;
    if (exponent < -1022) return sign;  // a subnormal double is far below half of our smallest subnormal
    // Keep the bits above `drop`; below the normal range more of them are dropped (gradual underflow).
    const int below = exponent < 1 - bias ? 1 - bias - exponent : 0;
    const int drop = 52 - fraction_bits + below;
    if (drop > 53) return sign;
    const std::uint64_t significand = fraction | (std::uint64_t{1} << 52);
    const std::uint64_t kept = significand >> drop, rest = significand & ((std::uint64_t{1} << drop) - 1);
    const std::uint64_t half = std::uint64_t{1} << (drop - 1);
    const std::uint64_t rounded = kept + (rest > half || (rest == half && (kept & 1)) ? 1 : 0);
    // Adding instead of or-ing lets a carry out of the fraction step the exponent, up to infinity.
    const std::uint64_t biased = below ? 0 : static_cast<std::uint64_t>(exponent + bias - 1);
    const std::uint64_t bits = (biased << fraction_bits) + rounded;
    return sign | (bits >= infinity ? infinity : static_cast<std::uint32_t>(bits));
  }
};

}  // namespace detail

// IEEE 754 binary16.
struct Float16 {
  std::uint16_t bits = 0;
  using Format = detail::Narrow<5, 10>;

  Float16() = default;
  explicit constexpr Float16(double value) : bits(static_cast<std::uint16_t>(Format::narrow(value))) {}
  constexpr operator double() const { return Format::widen(bits); }
};

// The upper half of binary32.
struct BFloat16 {
  std::uint16_t bits = 0;
  using Format = detail::Narrow<8, 7>;

  BFloat16() = default;
  explicit constexpr BFloat16(double value) : bits(static_cast<std::uint16_t>(Format::narrow(value))) {}
  constexpr operator double() const { return Format::widen(bits); }
};

// A truth value: one byte, 0 or 1. A backend may hand out other bytes, which are true as well.
struct Bool {
  std::uint8_t byte = 0;

  Bool() = default;
  explicit constexpr Bool(double value) : byte(value != 0) {}
  constexpr operator bool() const { return byte != 0; }
};

// What the reference kernels add up in: the level asked by default, L2 (numerics 2.7).
template <class T>
using accumulator_t = std::conditional_t<std::is_same_v<T, double>, double, float>;

// What a kernel writes for a sum: rounded once. A NaN is the positive quiet one without payload, since which operand's
// bits survive is the machine's affair; a sum of nothing but zeros is +0.
template <class T>
constexpr T written(accumulator_t<T> sum) {
  using A = accumulator_t<T>;
  return T(sum != sum ? std::numeric_limits<A>::quiet_NaN() : sum + A{0});
}

}  // namespace assay
