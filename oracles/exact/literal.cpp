// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/literal.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace assay::oracles {
namespace {

bool all_digits(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char each) { return std::isdigit(each); });
}

// Splits what stands before a character from what stands behind it.
std::pair<std::string_view, std::optional<std::string_view>> split(std::string_view text, std::string_view at) {
  const std::size_t found = text.find_first_of(at);
  if (found == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, found), text.substr(found + 1)};
}

bool takes_sign(std::string_view& text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  return is_negative;
}

Integer power_of_ten(std::size_t exponent) {
  return boost::multiprecision::pow(Integer(10), static_cast<unsigned>(exponent));
}

}  // namespace

Literal read_literal(std::string_view text) {
  std::string word(text);
  std::ranges::transform(word, word.begin(), [](unsigned char each) { return std::tolower(each); });
  if (word == "nan") return {{}, nan()};
  if (word == "inf" || word == "+inf" || word == "-inf") return {{}, infinity(word.front() == '-')};
  const bool is_negative = takes_sign(text);
  auto [digits, scale] = split(text, "eE");
  const auto [whole, fraction] = split(digits, ".");
  std::string mantissa = std::string(whole) + std::string(fraction.value_or(""));
  if (mantissa.empty() || !all_digits(mantissa)) return {};
  mantissa.erase(0, std::min(mantissa.find_first_not_of('0'), mantissa.size() - 1));  // else it is read as octal
  int exponent = 0;
  if (scale) {
    const bool shrinks = takes_sign(*scale);
    if (scale->empty() || !all_digits(*scale)) return {};
    exponent = std::stoi(std::string(scale->size() > 4 ? "9999" : *scale)) * (shrinks ? -1 : 1);
  }
  exponent -= static_cast<int>(fraction.value_or("").size());
  Ratio value{{Integer(mantissa), 0}, 1};
  if (exponent > 0)
    value = value * Dyadic{power_of_ten(static_cast<std::size_t>(exponent)), 0};
  else
    value.denominator = power_of_ten(static_cast<std::size_t>(-exponent));
  return {is_negative ? Ratio() - value : value, {}};
}

}  // namespace assay::oracles
