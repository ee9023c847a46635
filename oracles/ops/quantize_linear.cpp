// SPDX-License-Identifier: Apache-2.0
// The exact answers of QuantizeLinear and DequantizeLinear (windows-and-products 3.12, 3.13).
//
// With E = x / s, u and η of the type D of the division, an evaluation that converts x and s, takes a reciprocal and a
// product, each at most once, lies within h = 4 u |E| + η (1 + |x|) of E, and within η (1 + |E|) / |s| besides where D
// does not hold x or s. Collapse: h = 0 where D holds both, s is a power of two, and neither x / s nor 1 / s leaves its
// normal range. Who adds the zero point first rounds that sum too: h_z = u (|E + z| + h).
//
// A product (x - z) s is within the roundings of f32 that may come before the last one; from version 23 on it may be
// made in the type of y as well, from operands rounded to it.
#include "oracles/families/elementwise.h"
#include "oracles/rules/narrowing.h"
#include "oracles/rules/requantizing.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {
namespace {

const Scalar& zero_point(const ElementPoint& p) {
  static const Scalar none;
  const Scalar* const given = p.find(p.call.definition().inputs[2].name);
  return given ? *given : none;
}

DType type_of(const ElementPoint& p, std::size_t input) {
  return p.call.type(p.call.definition().inputs[input].name).dtype;
}
bool is_wide_float(DType type) { return is_float(type) && !is_small(type); }
bool holds(DType type, const Scalar& x) {
  return x.is_finite() && ratio(rounded(ratio(x), format_of(type))) == ratio(x);
}
Ratio unit(const Format& format, const Ratio& of, Int times = 1) { return of * Dyadic{times, format.unit_exponent()}; }
Ratio smallest(const Format& format, const Ratio& times) {
  return times * Dyadic::power_of_two(format.smallest_exponent());
}
const Ratio one{{1, 0}, 1};

Scalar without_sign(Scalar s) { return s.negative = false, s; }

// -- QuantizeLinear

// The type of the division (W36).
DType division_type(const ElementPoint& p) {
  if (p.call.definition().attribute("precision") && p.call.integer("precision") != 0)
    return type_named_by(p.call, "precision").value();
  for (const std::size_t input : {1, 0})
    if (is_wide_float(type_of(p, input))) return type_of(p, input);
  return DType::f32;
}

struct Slack {
  Ratio quotient, sum;  // h, h_z
};

Slack slack_of(const ElementPoint& p, const Ratio& e, DType type, bool collapses) {
  const Scalar &x = p.x[0], &s = p.x[1], &z = zero_point(p);
  const Format& format = format_of(type);
  const bool holds_both = holds(type, x) && holds(type, s);
  const auto is_normal = [&](const Ratio& size) {
    return size.is_zero() || (!(size < Ratio{Dyadic::power_of_two(format.min_exponent), 1}) &&
                              size < Ratio{format.overflow_threshold(), 1});
  };
  Slack out;
  const bool is_exact =
      collapses && holds_both && s.significand == 1 && is_normal(abs(e)) && is_normal(divided(one, without_sign(s)));
  if (!is_exact) out.quotient = unit(format, abs(e), 4) + smallest(format, one + abs(ratio(x)));
  if (!is_exact && !holds_both) out.quotient = out.quotient + smallest(format, divided(one + abs(e), without_sign(s)));
  const Ratio sum = e + ratio(z);
  if (z.is_zero()) return out;
  const bool is_held = out.quotient.is_zero() && sum.denominator == 1 && ratio(rounded(sum, format)) == sum;
  if (!is_held) out.sum = unit(format, abs(sum) + out.quotient);
  return out;
}

// Integers from E - h to E + h, each rounded, in either order of rounding and adding (A16).
Evaluation::Whole whole_within(const ElementPoint& p, const Ratio& e, const Slack& slack) {
  const Requantizing last{type_of(p), p.reads("A16", "add-then-round")};
  const Ratio most = slack.quotient + (last.adds_first ? slack.sum : Ratio());
  const Int zero = zero_point(p).as_integer();
  return {last(e, zero), {last(e - most, zero), last(e + most, zero)}};
}

// Codes from RN(E + z - h - h_z) to RN(E + z + h + h_z).
struct Codes {
  Scalar right, lower, upper;
};
Scalar code_of(const ElementPoint& p, const Literal& value, bool is_negative) {
  const SmallRounding how{p.call.integer("saturate") != 0, "up", p.reads("E29", "nan"), is_negative};
  const bool is_float8 = width_of(type_of(p)) == 8;
  if (p.reads("W38", "literal") && is_float8 && !how.saturates && value.number &&
      ratio(largest_of(type_of(p))) < abs(*value.number))
    return type_of(p) == DType::f8e5m2 ? infinity(*value.number < Ratio()) : nan();
  return std::get<Scalar>(narrowed(value, type_of(p), how));
}
Codes codes_within(const ElementPoint& p, const Ratio& e, const Slack& slack) {
  const Ratio sum = p.reads("W41", "ignored") ? e : e + ratio(zero_point(p)), most = slack.quotient + slack.sum;
  const auto code = [&](const Ratio& value) { return code_of(p, {value, {}}, value < Ratio()); };
  return {code(sum), code(sum - most), code(sum + most)};
}

// NaN and infinities, and what a scale of 0 or without a value makes.
ElementValue special_quotient(const ElementPoint& p) {
  const Scalar &x = p.x[0], &s = p.x[1];
  const bool is_integer_wanted = is_integer(type_of(p)), is_negative = x.negative != s.negative;
  const bool is_nan_quotient =
      is_nan(x) || is_nan(s) || (x.is_zero() && s.is_zero()) || (is_infinite(x) && is_infinite(s));
  if (is_nan_quotient && is_integer_wanted) return undefined("W35", "NaN may become any integer");
  if (is_nan_quotient && width_of(type_of(p)) < 8) return undefined("E30", "NaN has no code");
  if (is_nan_quotient) return nan();
  if (is_infinite(s)) {
    if (is_integer_wanted) return exact_beside(whole_within(p, Ratio(), {}).right, {});
    return exact_beside(codes_within(p, Ratio(), {}).right, {});
  }
  if (is_integer_wanted) {
    const auto [least, most] = ends_of(type_of(p));
    return integer(is_negative ? least : most);
  }
  return code_of(p, {{}, infinity(is_negative)}, is_negative);
}

// Tells whether the type of the division may not do: it makes 0 or an infinity of x or s.
bool loses(DType type, const Scalar& value) {
  const Scalar near = rounded(ratio(value), format_of(type));
  return !near.is_finite() || (near.is_zero() && !value.is_zero());
}

ElementValue quantized(const ElementPoint& p) {
  const Scalar &x = p.x[0], &s = p.x[1];
  const DType division = division_type(p);
  if ((s.is_finite() && loses(division, s)) || (x.is_finite() && !rounded(ratio(x), format_of(division)).is_finite()))
    return unscored("x or the scale leaves the range of the type of the division");
  const Ratio most{format_of(division).overflow_threshold(), 1};
  if (s.is_finite() && !s.is_zero() && !(divided(one, without_sign(s)) < most))
    return unscored("1 over the scale leaves the range of the type of the division");
  const Dyadic least = Dyadic::power_of_two(format_of(division).min_exponent);
  if (s.is_zero() && x.is_finite() && !x.is_zero() && abs(x.value()) < least) return unscored("x may vanish beside 0");
  if (!x.is_finite() || !s.is_finite() || s.is_zero()) return special_quotient(p);
  const Ratio e = divided(ratio(x), s);
  const Slack slack = slack_of(p, e, division, true);
  // A division in the type that x or the scale has, where a wider one is asked for.
  std::vector<std::pair<std::string, Slack>> wider;
  for (const std::size_t input : {0, 1})
    if (const DType own = type_of(p, input); is_wide_float(own) &&
                                             format_of(own).precision < format_of(division).precision &&
                                             !loses(own, s) && rounded(ratio(x), format_of(own)).is_finite())
      wider.emplace_back("a division in " + std::string(name(own)), slack_of(p, e, own, false));
  Evaluation out;
  const auto add = [&](const auto& range_of) {
    std::vector<Tolerance> others;
    for (const auto& [words, wide] : wider) {
      others.push_back(beyond(words));
      others.back().level = Level::L3;
      others.back().range = range_of(wide);
    }
    out.others = [others] { return others; };
  };
  if (is_integer(type_of(p))) {
    out.whole = whole_within(p, e, slack);
    add([&](const Slack& wide) { return whole_within(p, e, wide).admitted; });
    return out;
  }
  const Codes codes = codes_within(p, e, slack);
  if (is_nan(codes.lower) || is_nan(codes.upper) || !codes.lower.is_finite() || !codes.upper.is_finite()) {
    if (is_nan(codes.lower) != is_nan(codes.right) || is_nan(codes.upper) != is_nan(codes.right) ||
        codes.lower.is != codes.upper.is || codes.lower.is != codes.right.is)
      return unscored("whether it is in range depends on a rounding before");
    return codes.right;
  }
  out.whole = Evaluation::Whole{codes.right, {codes.lower, codes.upper}};
  add([&](const Slack& wide) {
    const Codes of = codes_within(p, e, wide);
    return is_nan(of.lower) || is_nan(of.upper) ? Interval{codes.lower, codes.upper} : Interval{of.lower, of.upper};
  });
  return out;
}

// -- DequantizeLinear

Tolerance within_budget(std::string words, const Ratio& budget) {
  Tolerance out = beyond(std::move(words));
  out.level = Level::L3;
  out.budget = budget;
  return out;
}

// Zeros and infinities as IEEE 754 multiplies them.
Scalar special_product(const Scalar& difference, const Scalar& s) {
  if (is_nan(difference) || is_nan(s)) return nan();
  if ((is_infinite(difference) && s.is_zero()) || (is_infinite(s) && difference.is_zero())) return nan();
  return infinity(difference.negative != s.negative);
}

// What each rounding adds that an evaluation in the type makes: of the difference, of the scale, and of the product.
Ratio native_budget(DType type, const Ratio& difference, const Scalar& s, const Ratio& y) {
  const Format& format = format_of(type);
  Int roundings = 1;
  const bool holds_difference = ratio(rounded(difference, format)) == difference;
  roundings += (holds_difference ? 0 : 1) + (holds(type, s) ? 0 : 1);
  // (1 + u)^3 - 1 is below 3 u (1 + 2^-6).
  Ratio out = unit(format, abs(y), roundings) * Dyadic{65, -6};
  if (!holds(type, s)) out = out + smallest(format, one + abs(difference)) * Dyadic{1, -1};
  return out + smallest(format, one);
}

ElementValue dequantized(const ElementPoint& p) {
  const Scalar &x = p.x[0], &s = p.x[1], &z = zero_point(p);
  const DType from = type_of(p, 0), to = type_of(p);
  if (from == DType::i32 && !z.is_zero()) return undefined("W47", "the zero point of int32 is 0");
  const bool ignores = is_float(from) && p.reads("W41", "ignored");
  if (!x.is_finite() || !z.is_finite() || !s.is_finite()) {
    Scalar difference = !x.is_finite() ? x : z;
    if (x.is_finite() && z.is_finite()) {
      const Ratio d = ignores ? ratio(x) : ratio(x) - ratio(z);
      difference = Scalar{Scalar::Class::finite, d < Ratio(), d.is_zero() ? 0U : 1U, 0};
    }
    return special_product(difference, s);
  }
  const Ratio difference = ignores ? ratio(x) : ratio(x) - ratio(z);
  const Ratio y = difference * s.value();
  const Format &single = format_of(DType::f32), &own = format_of(to);
  Int roundings = to == DType::f32 ? 0 : 1;
  if (!(ratio(rounded(difference, single)) == difference)) ++roundings;
  const Ratio in_f32 =
      unit(single, abs(y), roundings) * Dyadic{65, -6} + (roundings == 0 ? Ratio() : smallest(single, one));
  const bool is_native = p.call.definition().ruling("W45") != nullptr;
  const Scalar near_difference = rounded(difference, own), near_s = rounded(ratio(s), own);
  const bool overflows = !near_difference.is_finite() || !near_s.is_finite();
  const Ratio native = overflows ? in_f32 : std::max(in_f32, native_budget(to, difference, s, y));
  // Where each product is made by itself: x s - z s.
  const Ratio apart = std::max(native, unit(own, (abs(ratio(x)) + abs(ratio(z))) * abs(s.value()), 3));
  const bool is_negative = y < Ratio();
  Evaluation out{{}, {}, no_tolerance};
  out.value = y;
  out.budget = is_native ? native : in_f32;
  if (overflows && is_native && !y.is_zero()) {
    const Scalar low = rounded(y - in_f32, own), high = rounded(y + in_f32, own);
    out.whole =
        Evaluation::Whole{rounded(y, own), is_negative ? Interval{infinity(true), high} : Interval{low, infinity()}};
  }
  out.others = [=] {
    std::vector<Tolerance> others{within_budget("operands apart in " + std::string(name(to)), apart)};
    if (!overflows || is_native) return others;
    others.push_back(within_budget("an operand that overflows in " + std::string(name(to)), {}));
    others.back().range = Interval{infinity(is_negative), infinity(is_negative)};
    return others;
  };
  return out;
}

}  // namespace

// A scale of 0.1 is subnormal in float4: what operands are in the type of the output says nothing (W61).
Oracle quantize_linear() { return elementwise(quantized, {.narrows_f64 = false, .flushes_as_output = false}); }
Oracle dequantize_linear() { return elementwise(dequantized, {.narrows_f64 = false}); }

}  // namespace assay::oracles
