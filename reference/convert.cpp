// SPDX-License-Identifier: Apache-2.0
#include "reference/convert.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cfenv>
#include <cstdlib>
#include <regex>

namespace assay {

double odd_double(std::uint64_t magnitude) {
  const int lost = std::max(0, 64 - std::countl_zero(magnitude) - 53);
  const std::uint64_t kept = magnitude >> lost;
  return std::ldexp(static_cast<double>(kept << lost == magnitude ? kept : kept | 1), lost);
}

namespace {

// Towards zero, the last bit set where digits are lost.
double odd_double(const std::string& decimal) {
  const int before = std::fegetround();
  std::fesetround(FE_TOWARDZERO);
  std::feclearexcept(FE_INEXACT);
  const double value = std::strtod(decimal.c_str(), nullptr);
  const bool is_inexact = std::fetestexcept(FE_INEXACT) != 0;
  std::fesetround(before);
  return is_inexact ? std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | 1) : value;
}

Tensor converted_wide(const Tensor& from, DType type) {
  Tensor out = Tensor::to_be_written({type, from.shape()});
  for_type(from.dtype(), [&]<class From>() {
    for_number(type, [&]<class To>() {
      if constexpr (!Small<From>)
        std::ranges::transform(from.as<From>(), out.as<To>().begin(), [](const From& x) { return converted<To>(x); });
    });
  });
  return out;
}

// A small type as one that has all its values.
Tensor widened(const Tensor& from) {
  Tensor out = Tensor::to_be_written({is_integer(from.dtype()) ? DType::i8 : DType::f32, from.shape()});
  for_value(from.dtype(), [&]<class From>() {
    const auto values = from.as<From>();
    if constexpr (SmallWhole<From>)
      std::ranges::transform(values, out.as<std::int8_t>().begin(), [](From x) { return static_cast<std::int8_t>(x); });
    else if constexpr (Small<From>)
      std::ranges::transform(values, out.as<float>().begin(), [](From x) { return static_cast<float>(x); });
  });
  return out;
}

template <class From>
std::string as_text(const From& x) {
  if constexpr (std::is_same_v<From, std::string>) {
    return x;
  } else if constexpr (std::is_same_v<From, Bool>) {
    return x ? "1" : "0";
  } else if constexpr (std::is_integral_v<From>) {
    return std::to_string(x);
  } else {
    using Printed = std::conditional_t<std::is_same_v<From, double>, double, float>;
    std::array<char, 32> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), static_cast<Printed>(x)).ptr;
    return x != x ? "nan" : std::string(buffer.data(), end);
  }
}

Tensor converted_to_text(const Tensor& from) {
  Tensor out({DType::string, from.shape()});
  for_type(from.dtype(), [&]<class From>() {
    if constexpr (!Small<From>) std::ranges::transform(from.as<From>(), out.as<std::string>().begin(), as_text<From>);
  });
  return out;
}

template <class To>
To narrowed(double value, const Narrowing& narrowing) {
  if constexpr (SmallWhole<To>)
    return To(value);
  else if constexpr (std::is_same_v<To, Float8E8M0>)
    return To(value, narrowing.rounding, narrowing.saturates);
  else
    return To(value, narrowing.saturates);
}

template <class To, class From>
To made_small(const From& x, const Narrowing& narrowing) {
  if constexpr (SmallWhole<To> && std::is_integral_v<From>)
    return To::of(static_cast<Int>(x));
  else
    return narrowed<To>(to_be_rounded(x), narrowing);
}

// An integer loses its upper bits; a float becomes an integer of 64 bits before.
Tensor converted_to_small(const Tensor& from, DType type, const Narrowing& narrowing) {
  const Tensor wide = is_integer(type) && !is_integer(from.dtype()) ? converted_wide(from, DType::i64) : from;
  Tensor out = Tensor::to_be_written({type, from.shape()});
  for_type(wide.dtype(), [&]<class From>() {
    for_value(type, [&]<class To>() {
      if constexpr (Small<To> && !Small<From>)
        std::ranges::transform(wide.as<From>(), out.as<To>().begin(),
                               [&](const From& x) { return made_small<To>(x, narrowing); });
    });
  });
  return out;
}

}  // namespace

std::optional<double> number_in(const std::string& literal, bool is_to_be_rounded_again) {
  static const std::regex decimal(R"([+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?)");
  std::string word = literal;
  for (char& letter : word) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  if (word == "NAN") return std::numeric_limits<double>::quiet_NaN();
  if (word == "INF" || word == "+INF") return std::numeric_limits<double>::infinity();
  if (word == "-INF") return -std::numeric_limits<double>::infinity();
  if (!std::regex_match(literal, decimal)) return std::nullopt;
  return is_to_be_rounded_again ? odd_double(literal) : std::strtod(literal.c_str(), nullptr);
}

Tensor converted(const Tensor& from, DType type, const Narrowing& narrowing) {
  if (is_small(from.dtype())) return converted(widened(from), type, narrowing);
  if (type == DType::string) return converted_to_text(from);
  return is_small(type) ? converted_to_small(from, type, narrowing) : converted_wide(from, type);
}

}  // namespace assay
