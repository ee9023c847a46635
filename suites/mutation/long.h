// SPDX-License-Identifier: Apache-2.0
// Numbers of 333 bits: every sum, difference and literal of a test is exact in them, or as good as that.
#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>

#include <cctype>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace assay::mutation {

using Long = boost::multiprecision::cpp_bin_float_100;

inline Long number_of(const std::string& text) {
  std::string word = text;
  for (char& letter : word) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  const Long infinity = std::numeric_limits<Long>::infinity();
  if (word == "nan") return std::numeric_limits<Long>::quiet_NaN();
  if (word.ends_with("inf")) return word.front() == '-' ? Long(-infinity) : infinity;
  try {
    return Long(text);
  } catch (const std::runtime_error&) {
    return 0;
  }
}

template <class From>
Long as_long(const From& x) {
  if constexpr (std::is_same_v<From, std::string>)
    return number_of(x);
  else if constexpr (std::is_integral_v<From>)
    return Long(x);
  else
    return Long(static_cast<double>(x));
}

// The lower bits of what is left towards zero; 0 of what has more than 64.
template <std::integral T>
T lower_bits(const Long& value) {
  using Wide = boost::multiprecision::int256_t;
  if (!isfinite(value) || abs(value) >= Long(0x1p64)) return 0;
  const Wide cycle = Wide(1) << 64, whole = value.convert_to<Wide>();
  return static_cast<T>(static_cast<std::uint64_t>(Wide((whole + cycle) % cycle)));
}

}  // namespace assay::mutation
