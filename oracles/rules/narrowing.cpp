// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/narrowing.h"

#include "oracles/judging/finding.h"
#include "reference/operator.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <memory>

namespace assay::oracles {
namespace {

Ratio power_of_two(int exponent) { return {Dyadic::power_of_two(exponent), 1}; }

// To a type with a sign: rounded as if exponents had no end, and then compared with the largest number.
NarrowedValue to_signed(const Literal& value, DType type, const SmallRounding& how) {
  const bool is_float8 = width_of(type) == 8, is_uz = type == DType::f8e4m3fnuz || type == DType::f8e5m2fnuz;
  const bool saturates = !is_float8 || how.saturates;
  if (value.special && is_nan(*value.special))
    return is_float8 ? NarrowedValue(nan()) : undefined("E30", "NaN has no code");
  if (value.special && is_uz && saturates && how.loses_infinity) return nan();
  Format format = format_of(type);
  format.max_exponent = 1 << 20;
  const Scalar near = value.special ? *value.special : rounded(*value.number, format), largest = largest_of(type);
  if (near.is_finite() && abs(ratio(near)) <= ratio(largest)) return near;
  if (saturates) return near.negative ? negated(largest) : largest;
  return type == DType::f8e5m2 ? infinity(near.negative) : nan();
}

// Beyond the ends of the range, of which the text leaves some cases open (E31).
NarrowedValue beyond_scales(const Literal& value, bool is_above, const SmallRounding& how) {
  const Scalar end = scalar_of(is_above ? 0x1p127 : 0x1p-127);
  const bool is_said = how.mode == (how.saturates ? "up" : "nearest");
  const bool rounds_into = value.number && (is_above ? *value.number < Ratio{{3, 126}, 1}  // 1.5 * 2^127
                                                     : *value.number >= power_of_two(-128));
  if (!is_said || (!how.saturates && rounds_into)) return one_of("E31", {end, nan()});
  return how.saturates ? end : nan();
}

NarrowedValue to_scale(const Literal& value, const SmallRounding& how) {
  if (value.special && is_nan(*value.special)) return nan();
  if (how.is_minus_zero) return undefined("E31", "what a number below zero becomes is not said");
  const bool is_above = value.special || *value.number > power_of_two(127);
  if (is_above || *value.number < power_of_two(-127)) return beyond_scales(value, is_above, how);
  const Format& format = format_of(DType::f8e8m0);
  const Scalar low = rounded(*value.number, format, Rounding::down),
               high = rounded(*value.number, format, Rounding::up);
  const bool is_nearer_to_high = *value.number >= ratio(low) * Dyadic{3, -1};
  return how.mode == "up" || (how.mode == "nearest" && is_nearer_to_high) ? high : low;
}

// -- words

// More digits than any float has.
constexpr std::size_t longest_literal = 2000;

Element said(std::string text, std::function<bool(const std::string&)> says_same) {
  Element out = exactly(std::move(text));
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

Scalar largest_of(DType type) {
  switch (type) {
    case DType::f8e4m3fn: return scalar(Int{448});
    case DType::f8e4m3fnuz: return scalar(Int{240});
    case DType::f4e2m1: return scalar(Int{6});
    case DType::f6e2m3: return scalar_of(7.5);
    case DType::f6e3m2: return scalar(Int{28});
    default: return scalar(Int{57344});
  }
}

NarrowedValue narrowed(const Literal& value, DType type, const SmallRounding& how) {
  if (!is_small(type)) return value.special ? *value.special : rounded(*value.number, format_of(type));
  return type == DType::f8e8m0 ? to_scale(value, how) : to_signed(value, type, how);
}

SmallRounding rounding_of(const ElementPoint& p) {
  const bool has_mode = p.call.definition().attribute("round_mode") && !p.reads("E53", "body");
  return {p.call.integer("saturate") != 0, has_mode ? p.call.text("round_mode") : "up", p.reads("E29", "nan"),
          p.x[0].text ? p.x[0].text->starts_with('-') : p.x[0].negative};
}

std::vector<Tolerance> rounded_twice(const Ratio& value, DType type) {
  return rounded_twice(value, rounded(value, format_of(type)), type, {}).value();
}

std::optional<std::vector<Tolerance>> rounded_twice(const Ratio& value, const Scalar& once, DType type,
                                                    const SmallRounding& how) {
  std::vector<Tolerance> all;
  for (const DType first : {DType::f32, DType::f64}) {
    if (first == type) continue;
    const Scalar near = rounded(value, format_of(first));
    const NarrowedValue other = narrowed(near.is_finite() ? Literal{ratio(near), {}} : Literal{{}, near}, type, how);
    const auto* const twice = std::get_if<Scalar>(&other);
    if (!twice || is_nan(*twice) != is_nan(once)) return std::nullopt;
    if (same(*twice, once)) continue;
    all.push_back(beyond("double rounding through " + std::string(name(first))));
    all.back().range = Interval{std::min(once, *twice, is_less), std::max(once, *twice, is_less)};
  }
  return all;
}

Element in_words(const Scalar& value, DType type, bool may_lose_digits) {
  if (value.text) return exactly(value, DType::string);
  if (type == DType::boolean) return truth_in_words(!value.is_zero());
  if (!is_float(type)) return said(written(value, type), {});
  return value.is_finite() ? number_in_words(value, type, may_lose_digits) : special_in_words(value);
}

}  // namespace assay::oracles
