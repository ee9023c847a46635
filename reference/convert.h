// SPDX-License-Identifier: Apache-2.0
// Converts an element of one type to another, as Cast does (elementwise 3.8).
#pragma once

#include "reference/tensor.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

namespace assay {

// Returns a double that rounds to any type of at most 51 bits as the number does: the last bit is set where others are
// lost (rounding to odd).
double odd_double(std::uint64_t magnitude);

// What a decimal literal says, rounded once to a float, truncated to an integer in range; none of other text, and of
// what has no value in the type.
std::optional<double> number_in(const std::string& literal, bool is_to_be_rounded_again);
template <std::integral To>
std::optional<To> integer_in(const std::string& literal) {
  const char *first = literal.data(), *const last = first + literal.size();
  if (first != last && *first == '+' && last - first > 1 && first[1] != '-') ++first;
  To value;
  const auto [end, error] = std::from_chars(first, last, value);
  return error == std::errc() && end == last ? std::optional(value) : std::nullopt;
}

// Returns a double that rounds to any type of at most 51 bits as x does; 0 of text that has no value.
template <class From>
double to_be_rounded(const From& x) {
  if constexpr (std::is_same_v<From, std::string>) {
    return number_in(x, true).value_or(0);
  } else if constexpr (std::is_integral_v<From>) {
    const auto bits = static_cast<std::uint64_t>(x);
    return x < From(0) ? -odd_double(0 - bits) : odd_double(bits);
  } else {
    return static_cast<double>(x);
  }
}

// Returns the bits of a float in float16 or bfloat16, rounded once, without a branch: a loop of it vectorises. A sum
// with `unit`, whose last place is the smallest subnormal, rounds what becomes one.
template <class Format>
constexpr std::uint16_t narrow_bits(float value) {
  constexpr int fraction_bits = std::countr_zero(Format::infinity), drop = 23 - fraction_bits;
  constexpr std::uint32_t rebias = 127 - Format::bias;
  constexpr float unit = std::bit_cast<float>((rebias + drop + 1) << 23);
  const std::uint32_t wide = std::bit_cast<std::uint32_t>(value), magnitude = wide & 0x7fffffff;
  const std::uint32_t rounded = magnitude + (1u << (drop - 1)) - 1 + (magnitude >> drop & 1);
  const std::uint32_t normal = std::min((rounded >> drop) - (rebias << fraction_bits), Format::infinity);
  const std::uint32_t tiny =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + unit) - std::bit_cast<std::uint32_t>(unit);
  const std::uint32_t bits = magnitude < (rebias + 1) << 23 ? tiny : normal;
  return static_cast<std::uint16_t>(magnitude > 0x7f800000 ? Format::quiet_nan : (wide >> 16 & 0x8000) | bits);
}

// A float is rounded once, ties to even; a number becomes an integer by truncation, an integer one of fewer bits by
// losing the upper ones; bool is whether the value is not 0. 0 where the text leaves the value open (E24, E32).
template <class To, class From>
To converted(const From& x) {
  if constexpr (std::is_same_v<From, std::string>) {
    if constexpr (std::is_integral_v<To>)
      return integer_in<To>(x).value_or(To(0));
    else
      return To(number_in(x, !std::is_same_v<To, double>).value_or(0));
  } else if constexpr (std::is_same_v<From, Bool>) {
    return To(x ? 1.0 : 0.0);
  } else if constexpr (std::is_same_v<To, Bool>) {
    return To(static_cast<double>(x) != 0 ? 1.0 : 0.0);
  } else if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    return static_cast<To>(x);
  } else if constexpr (std::is_integral_v<To>) {
    // One below the lowest number is the lowest itself, where it takes more bits than there are.
    using Wide = std::conditional_t<std::is_same_v<From, float>, float, double>;
    constexpr Wide end = Wide{2} * static_cast<Wide>(std::uint64_t{1} << (std::numeric_limits<To>::digits - 1));
    constexpr Wide lowest = std::is_signed_v<To> ? -end : 0;
    const Wide wide = static_cast<Wide>(x);
    return static_cast<To>((wide > lowest - 1 || wide == lowest) && wide < end ? wide : Wide{0});
  } else if constexpr (std::is_integral_v<From> && !std::is_same_v<To, double>) {
    return static_cast<To>(to_be_rounded(x));
  } else if constexpr (std::is_same_v<From, float> && !std::is_same_v<To, double>) {
    To y;
    y.bits = narrow_bits<typename To::Format>(x);
    return y;
  } else {
    return static_cast<To>(static_cast<double>(x));
  }
}

// How a number becomes one of eight bits or less (Cast's saturate and round_mode).
struct Narrowing {
  bool saturates = true;
  Float8E8M0::Rounding rounding = Float8E8M0::Rounding::up;
};
// Converts every element. A float becomes the shortest decimal literal that rounds to it, a bool 0 or 1.
Tensor converted(const Tensor& from, DType type, const Narrowing& narrowing = {});

}  // namespace assay
