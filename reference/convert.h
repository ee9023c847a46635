// SPDX-License-Identifier: Apache-2.0
// Converts an element of one type to another, as Cast does (elementwise 3.8).
#pragma once

#include "reference/tensor.h"

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
    const double whole = std::trunc(static_cast<double>(x));
    const double end = std::ldexp(1.0, std::numeric_limits<To>::digits);
    return (std::is_signed_v<To> ? whole >= -end : whole >= 0) && whole < end ? static_cast<To>(whole) : To(0);
  } else if constexpr (std::is_integral_v<From> && !std::is_same_v<To, double>) {
    return static_cast<To>(to_be_rounded(x));
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
