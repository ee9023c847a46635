// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/wording.h"

#include "oracles/exact/literal.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/narrowing.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

namespace assay::oracles {
namespace {

// More digits than any float has.
constexpr std::size_t longest_literal = 2000;

Element said(std::string text, std::function<bool(const std::string&)> says_same) {
  const auto own = std::make_shared<const std::string>(std::move(text));
  Element out = exactly(scalar(*own), DType::string);
  out.own_text = own;
  out.says_same = std::move(says_same);
  return out;
}

Ratio power_of_ten(int exponent) {
  const Integer power = boost::multiprecision::pow(Integer(10), static_cast<unsigned>(std::abs(exponent)));
  return exponent < 0 ? Ratio{{1, 0}, power} : Ratio{{power, 0}, 1};
}

// Counts the digits of a literal from the first to the last that is not 0.
int digits_in(std::string_view text) {
  std::string digits(text.substr(0, text.find_first_of("eE")));
  std::erase_if(digits, [](unsigned char letter) { return !std::isdigit(letter); });
  const std::size_t first = digits.find_first_not_of('0');
  return first == std::string::npos ? 0 : static_cast<int>(digits.find_last_not_of('0') - first + 1);
}

// Tells whether a literal is a value rounded to its own number of digits, eight at least.
bool is_rounded_to_digits(const Ratio& literal, int digits, const Ratio& value) {
  int exponent = static_cast<int>(std::floor(std::log10(std::abs(approximate(value)))));
  if (abs(value) < power_of_ten(exponent)) --exponent;
  if (!(abs(value) < power_of_ten(exponent + 1))) ++exponent;
  const Ratio last_place = power_of_ten(exponent + 1 - std::max(8, digits));
  return !(last_place < abs(literal - value) * Dyadic{2, 0});
}

std::string in_eight_digits(const Scalar& value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.8g", value.as_double());
  return buffer.data();
}

Element number_in_words(const Scalar& value, DType type, bool may_lose_digits) {
  return said(
      may_lose_digits ? in_eight_digits(value) : decimal(written(value, type), type), [=](const std::string& text) {
        const Literal read = text.size() > longest_literal ? Literal() : read_literal(text);
        if (!read.number) return false;
        const NarrowedValue near = narrowed(read, type, {.mode = "nearest"});
        if (const auto* const rounded = std::get_if<Scalar>(&near); rounded && same(*rounded, value)) return true;
        return may_lose_digits && !value.is_zero() && is_rounded_to_digits(*read.number, digits_in(text), ratio(value));
      });
}

Element special_in_words(const Scalar& value) {
  return said(is_nan(value)    ? "nan"
              : value.negative ? "-inf"
                               : "inf",
              [value](const std::string& text) {
                if (is_nan(value) && (text.starts_with('-') || text.starts_with('+')))
                  return read_literal(text.substr(1)).special && is_nan(*read_literal(text.substr(1)).special);
                const Literal read = read_literal(text);
                return read.special && same(*read.special, value);
              });
}

Element truth_in_words(bool holds) {
  static const std::string words[2][2] = {{"0", "False"}, {"1", "True"}};
  return one_of("E33", {scalar(words[holds][0]), scalar(words[holds][1])});
}

}  // namespace

Element in_words(const Scalar& value, DType type, bool may_lose_digits) {
  if (value.text) return exactly(value, DType::string);
  if (type == DType::boolean) return truth_in_words(!value.is_zero());
  if (!is_float(type)) return said(written(value, type), {});
  return value.is_finite() ? number_in_words(value, type, may_lose_digits) : special_in_words(value);
}

}  // namespace assay::oracles
