// SPDX-License-Identifier: Apache-2.0
// Numbers that C++ has no type of, as bit patterns. Widening is exact; narrowing rounds once, to nearest, ties to even
// (IEEE 754-2019 4.3.1), in integers or exactly in double, so it is the same on every machine.
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

// Tells what a format of eight bits or less has besides numbers: infinities and NaN as in IEEE 754; NaN for the largest
// code of either sign; NaN for what would be -0; nothing.
enum class Specials { ieee, largest_is_nan, minus_zero_is_nan, none };

// A float of eight bits or less, its code in the low bits of a byte (ONNX, "Float stored in 8 bits").
template <int exponent_bits, int fraction_bits, int bias, Specials specials>
struct SmallFloat {
  static constexpr int width = 1 + exponent_bits + fraction_bits;
  static constexpr unsigned sign = 1u << (width - 1);
  static constexpr unsigned infinity = ((1u << exponent_bits) - 1) << fraction_bits;  // of an IEEE format
  static constexpr unsigned largest = specials == Specials::ieee             ? infinity - 1
                                      : specials == Specials::largest_is_nan ? sign - 2
                                                                             : sign - 1;
  static constexpr unsigned nan = specials == Specials::minus_zero_is_nan ? sign : sign - 1;
  static constexpr bool has_nan = specials != Specials::none;
  static constexpr bool has_infinity = specials == Specials::ieee;
  std::uint8_t bits = 0;

  SmallFloat() = default;
  explicit constexpr SmallFloat(double value) : SmallFloat(value, true) {}
  // Beyond the largest finite value it saturates, or becomes infinite, or NaN where the format has no infinity.
  constexpr SmallFloat(double value, bool saturates) {
    const bool is_negative = std::bit_cast<std::uint64_t>(value) >> 63;
    unsigned code = value != value ? nan : nearest(is_negative ? -value : value);
    if (value == value && code > largest)
      code = saturates || specials == Specials::none ? largest : has_infinity ? infinity : nan;
    const bool keeps_sign = specials != Specials::minus_zero_is_nan || (code != 0 && code != nan);
    bits = static_cast<std::uint8_t>(code | (is_negative && keeps_sign ? sign : 0));
  }
  constexpr operator double() const {
    const unsigned code = bits & (sign - 1);
    const bool is_negative = bits & sign;
    if (is_a_nan(code, is_negative)) return std::numeric_limits<double>::quiet_NaN();
    const double size = has_infinity && code == infinity ? std::numeric_limits<double>::infinity() : magnitude(code);
    return is_negative ? -size : size;
  }

 private:
  static constexpr bool is_a_nan(unsigned code, bool is_negative) {
    if (specials == Specials::minus_zero_is_nan) return code == 0 && is_negative;
    return has_nan && code > (has_infinity ? infinity : largest);
  }
  static constexpr double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  }
  // The value of a code without a sign, also of those that stand for no number.
  static constexpr double magnitude(unsigned code) {
    const unsigned exponent = code >> fraction_bits, fraction = code & ((1u << fraction_bits) - 1);
    const int unit = static_cast<int>(exponent == 0 ? 1 : exponent) - bias - fraction_bits;
    return (exponent == 0 ? fraction : fraction | 1u << fraction_bits) * power_of_two(unit);
  }
  // The code whose value is nearest, ties to even; that after the largest for all beyond. The mean of neighbours is
  // exact in double.
  static constexpr unsigned nearest(double size) {
    unsigned code = 0;
    for (unsigned step = sign; step != 0; step >>= 1)
      if (code + step <= largest && magnitude(code + step) <= size) code += step;
    const double middle = (magnitude(code) + magnitude(code + 1)) / 2;
    return size > middle || (size == middle && code % 2 == 1) ? code + 1 : code;
  }
};
using Float8E4M3FN = SmallFloat<4, 3, 7, Specials::largest_is_nan>;
using Float8E4M3FNUZ = SmallFloat<4, 3, 8, Specials::minus_zero_is_nan>;
using Float8E5M2 = SmallFloat<5, 2, 15, Specials::ieee>;
using Float8E5M2FNUZ = SmallFloat<5, 2, 16, Specials::minus_zero_is_nan>;
using Float4E2M1 = SmallFloat<2, 1, 1, Specials::none>;
using Float6E2M3 = SmallFloat<2, 3, 1, Specials::none>;
using Float6E3M2 = SmallFloat<3, 2, 3, Specials::none>;

// A power of two from 2^-127 to 2^127, or NaN: the scale of microscaling formats (OCP MX 1.0, 5.4.1).
struct Float8E8M0 {
  static constexpr int width = 8;
  static constexpr unsigned largest = 254, nan = 255;
  enum class Rounding { up, down, nearest };  // of ties upwards
  std::uint8_t bits = 0;

  Float8E8M0() = default;
  explicit constexpr Float8E8M0(double value) : Float8E8M0(value, Rounding::nearest, true) {}
  // Saturates, or makes NaN, what lies below 2^-127, negative numbers too, and beyond 2^127.
  constexpr Float8E8M0(double value, Rounding rounding, bool saturates) : bits(nan) {
    if (value != value) return;
    unsigned code = 0;
    for (unsigned step = 128; step != 0; step >>= 1)
      if (code + step <= largest && power(code + step) <= value) code += step;
    const bool is_inside = power(0) <= value && value <= power(largest);
    if (!is_inside && !saturates) return;
    const bool goes_up = rounding == Rounding::up ? value > power(code) : value >= 1.5 * power(code);
    bits = static_cast<std::uint8_t>(is_inside && rounding != Rounding::down && goes_up ? code + 1 : code);
  }
  constexpr operator double() const { return bits == nan ? std::numeric_limits<double>::quiet_NaN() : power(bits); }

 private:
  static constexpr double power(unsigned code) { return std::bit_cast<double>(std::uint64_t{code + 1023 - 127} << 52); }
};

// An integer of fewer than eight bits, its bits the low ones of a byte. Of other integers it keeps the low bits.
template <int bits_, bool is_signed_>
struct SmallInteger {
  static constexpr int width = bits_;
  static constexpr bool is_signed = is_signed_;
  static constexpr Int lowest = is_signed ? -(Int{1} << (width - 1)) : 0;
  static constexpr Int highest = lowest + (Int{1} << width) - 1;
  std::uint8_t bits = 0;

  SmallInteger() = default;
  explicit constexpr SmallInteger(double whole) : SmallInteger(of(static_cast<Int>(whole))) {}
  static constexpr SmallInteger of(Int value) {
    SmallInteger out;
    out.bits = static_cast<std::uint8_t>(value & ((1 << width) - 1));
    return out;
  }
  constexpr operator double() const { return bits > highest ? bits - (1 << width) : bits; }
};
using Int4 = SmallInteger<4, true>;
using UInt4 = SmallInteger<4, false>;
using Int2 = SmallInteger<2, true>;
using UInt2 = SmallInteger<2, false>;

// A type of eight bits or less that is none of C++; it takes a byte.
template <class T>
concept Small = requires(T value) {
  T::width;
  value.bits;
};
// One whose values are whole.
template <class T>
concept SmallWhole = Small<T> && requires {
  T::is_signed;
};

// A truth value: one byte, 0 or 1. A backend may hand out other bytes, which are true as well.
struct Bool {
  std::uint8_t byte = 0;

  Bool() = default;
  explicit constexpr Bool(double value) : byte(value != 0) {}
  constexpr operator bool() const { return byte != 0; }
};

// What the reference kernels add up in: the level required by default, L2 (numerics 2.7).
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
