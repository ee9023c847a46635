// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/finding.h"

#include "oracles/exact/operands.h"
#include "reference/rulings.h"

#include <algorithm>
#include <cmath>

namespace assay::oracles {
namespace {

// Order of two values of T that are not NaN; zeros are equal (A29).
std::strong_ordering compare(const Scalar& a, const Scalar& b) {
  const auto rank = [](const Scalar& s) { return s.is_finite() ? 0 : s.negative ? -1 : 1; };
  if (rank(a) != rank(b) || rank(a) != 0) return rank(a) <=> rank(b);
  return a.value() <=> b.value();
}

bool inside(const Scalar& got, const Interval& interval) {
  return !is_nan(got) && compare(interval.lower, got) <= 0 && compare(got, interval.upper) <= 0;
}

// 2.3.6: flushing the output admits 0 where the interval meets (-λ, λ).
bool flushed_to_zero(const Scalar& got, const Interval& interval, const Format& format) {
  if (!got.is_zero()) return false;
  const Dyadic smallest = Dyadic::power_of_two(format.min_exponent);
  const bool below = interval.lower.is_finite() ? interval.lower.value() < smallest : interval.lower.negative;
  const bool above = interval.upper.is_finite() ? interval.upper.value() > -smallest : !interval.upper.negative;
  return below && above;
}

double unit_roundoff(DType dtype) {
  return std::ldexp(1.0, format_of(dtype == DType::f64 ? DType::f64 : DType::f32).unit_exponent());
}

// The least error before the last rounding that ends in `got`, over the budget asked for: at most 1 where it is
// admitted.
double share_of_budget(const Element& element, const Scalar& got, double error, const Format& format) {
  const double budget = approximate(element.required.budget);
  if (element.required.range || budget == 0) return 0;
  const double value = std::abs(approximate(Ratio{got.value(), 1}));
  int exponent = value > 0 ? std::max(std::ilogb(value), format.min_exponent) : format.min_exponent;
  // Below a power of two numbers lie twice as dense.
  const bool is_away_from_zero = value > std::abs(approximate(element.value));
  if (is_away_from_zero && std::ldexp(1.0, exponent) == value && exponent > format.min_exponent) --exponent;
  return std::max(0.0, error - std::ldexp(1.0, exponent - format.precision)) / budget;
}

// Notes one arithmetic that may give what came back; the first decides the level.
void explain(ElementRating& finding, const Tolerance& wider, std::string arithmetic) {
  if (finding.kind != ElementRating::Kind::below) finding.level = wider.level;
  finding.kind = ElementRating::Kind::below;
  finding.arithmetics.push_back(std::move(arithmetic));
}

// Names every arithmetic beyond L2 that may give what came back; none explains a wrong element.
void explain(ElementRating& finding, const Answer& answer, Int index, const Element& element, const Scalar& got) {
  finding.kind = ElementRating::Kind::wrong;
  finding.because = "value";
  for (const Tolerance& wider : answer.wider(index)) {
    if (wider.vacuous)
      explain(finding, wider, wider.arithmetic + ": nothing can be proven");
    else if (admits(wider, element, got, answer.dtype()))
      explain(finding, wider, wider.arithmetic);
  }
}

// Explains what has no exact value to be near: a finite number only by a range, since what spreads an infinity never
// makes it finite, and flushed operands may.
void explain_by_range(ElementRating& finding, const Answer& answer, Int index, const Scalar& got) {
  for (const Tolerance& wider : answer.wider(index))
    if ((wider.blurs_nonfinite && !got.is_finite()) || (wider.range && inside(got, *wider.range)))
      explain(finding, wider, wider.arithmetic);
}

ElementRating examine_finite(const Answer& answer, Int index, const Element& element, const Scalar& got) {
  ElementRating finding;
  const DType dtype = answer.dtype();
  if (!element.nan_admitted.empty()) finding.followed = {element.nan_admitted, is_nan(got) ? "multiply" : "skip"};
  if (!element.nan_admitted.empty() && is_nan(got)) return finding;
  finding.is_nearest = same(got, nearest(element, dtype));
  if (finding.is_nearest) return finding;
  finding.off = deviation(element, got, dtype);
  if (admits(element.required, element, got, dtype)) {
    const bool faithful = !element.nearest && (same(got, rounded(element.value, format_of(dtype), Rounding::down)) ||
                                               same(got, rounded(element.value, format_of(dtype), Rounding::up)));
    finding.level = faithful ? Level::L1 : Level::L2;
    return finding;
  }
  finding.followed = {};
  explain(finding, answer, index, element, got);
  return finding;
}

// One of several that the text leaves open. A set ruling says by which of its readings.
ElementRating examine_options(const Answer& answer, Int index, const Element& element, const Scalar& got) {
  ElementRating finding;
  const auto found = std::ranges::find_if(element.options, [&](const Scalar& each) { return same(each, got); });
  if (found == element.options.end()) {
    finding.kind = ElementRating::Kind::wrong;
    finding.because = "value";
    explain_by_range(finding, answer, index, got);
    return finding;
  }
  finding.is_nearest = true;
  const Ruling& ruling = *find_ruling(element.chosen_by);
  if (ruling.is(Ruling::set) && ruling.readings.size() == element.options.size() + 1)
    finding.followed = {element.chosen_by,
                        std::string(ruling.readings[static_cast<std::size_t>(found - element.options.begin()) + 1])};
  return finding;
}

ElementRating examine_text(const Element& element, const Scalar& got) {
  ElementRating finding;
  finding.is_nearest = same(got, *element.nearest) || (got.text && element.says_same && element.says_same(*got.text));
  if (finding.is_nearest) return finding;
  finding.kind = ElementRating::Kind::wrong;
  finding.because = "value";
  return finding;
}

// NaN or an infinity that every order of evaluation gives.
ElementRating examine_special(const Answer& answer, Int index, const Element& element, const Scalar& got) {
  ElementRating finding;
  const bool want_nan = element.kind == Kind::nan;
  const bool right =
      want_nan ? is_nan(got)
               : got.is == Scalar::Class::infinite && got.negative == (element.kind == Kind::negative_infinity);
  if (right || (!element.nan_admitted.empty() && is_nan(got))) {
    if (!element.nan_admitted.empty() && !want_nan)
      finding.followed = {element.nan_admitted, right ? "skip" : "multiply"};
    finding.is_nearest = right;
    return finding;
  }
  finding.kind = ElementRating::Kind::wrong;
  finding.because = "special";
  explain_by_range(finding, answer, index, got);
  return finding;
}

}  // namespace

bool admits(const Tolerance& tolerance, const Element& element, const Scalar& got, DType dtype) {
  if (!got.is_finite() && (tolerance.may_overflow || tolerance.blurs_nonfinite)) return true;
  const Interval range = interval(element, tolerance, dtype);
  return inside(got, range) ||
         (tolerance.flushes_output && is_float(dtype) && flushed_to_zero(got, range, format_of(dtype)));
}

bool is_less(const Scalar& a, const Scalar& b) { return compare(a, b) < 0; }

bool same(const Scalar& a, const Scalar& b) {
  if (a.text || b.text) return a.text && b.text && *a.text == *b.text;
  if (a.is == Scalar::Class::nan || b.is == Scalar::Class::nan) return a.is == b.is;
  return compare(a, b) == 0;
}

Scalar nearest(const Element& element, DType dtype) {
  if (element.kind == Kind::one_of) return element.options.front();
  return element.nearest ? *element.nearest : rounded(element.value, format_of(dtype));
}

static std::string any_of(const std::vector<Scalar>& options, DType dtype) {
  std::string words;
  for (const Scalar& each : options) words += (words.empty() ? "" : " or ") + written(each, dtype);
  return words;
}

std::string wanted(const Element& element, DType dtype) {
  switch (element.kind) {
    case Kind::finite:
    case Kind::text: return written(nearest(element, dtype), dtype);
    case Kind::nan: return "nan";
    case Kind::positive_infinity: return "inf";
    case Kind::negative_infinity: return "-inf";
    case Kind::nan_or_zero: return "nan or 0";
    case Kind::one_of: return any_of(element.options, dtype);
    case Kind::unscored: break;
  }
  return "unscored";
}

Deviation deviation(const Element& element, const Scalar& got, DType dtype) {
  Deviation off;
  if (!got.is_finite()) return off;
  if (element.nearest) {
    off.ulp = approximate(abs(Ratio{got.value() - element.nearest->value(), 1}));
    return off;
  }
  const double error = approximate(abs(Ratio{got.value(), 1} - element.value));
  const double magnitude = approximate(element.magnitude), value = std::abs(approximate(element.value));
  const Format& format = format_of(dtype);
  const int exponent = value > 0 ? std::max(std::ilogb(value), format.min_exponent) : format.min_exponent;
  if (magnitude > 0) off.q = error / (unit_roundoff(dtype) * magnitude);
  off.ulp = std::ldexp(error, format.precision - 1 - exponent);
  off.share = share_of_budget(element, got, error, format);
  return off;
}

double ulps(const Element& element, const Scalar& got, DType dtype) { return deviation(element, got, dtype).ulp; }

Interval interval(const Element& element, const Tolerance& tolerance, DType dtype) {
  if (tolerance.range) return *tolerance.range;
  const Format& format = format_of(dtype);
  if (tolerance.budget.is_zero()) {
    const Scalar nearest = rounded(element.value, format);
    return {nearest, nearest};
  }
  return {rounded(element.value - tolerance.budget, format), rounded(element.value + tolerance.budget, format)};
}

ElementRating examine(const Answer& answer, Int index, const Element& element, const Scalar& got) {
  ElementRating finding;
  switch (element.kind) {
    case Kind::finite: return examine_finite(answer, index, element, got);
    case Kind::unscored:
      finding.kind = ElementRating::Kind::unscored;
      finding.because = element.reason;
      return finding;
    case Kind::nan_or_zero:
      if (is_nan(got) || got.is_zero()) {
        finding.followed = {"A9", is_nan(got) ? "nan" : "zero"};
        return finding;
      }
      finding.kind = ElementRating::Kind::wrong;
      finding.because = "special";
      return finding;
    case Kind::one_of: return examine_options(answer, index, element, got);
    case Kind::text: return examine_text(element, got);
    default: return examine_special(answer, index, element, got);
  }
}

Evidence evidence_of(const Answer& answer, Int index, const Element& element, const Scalar& got, int set) {
  Evidence out;
  out.set = set;
  out.index = position(answer.shape(), index);
  out.got = written(got, answer.dtype());
  out.want = wanted(element, answer.dtype());
  out.taps = answer.taps(index);
  if (element.kind != Kind::finite) return out;
  const Element defined = answer.defined(index);
  expects(defined.value == element.value && defined.magnitude == element.magnitude &&
              defined.required.budget == element.required.budget,
          "the sums in bins and the definition disagree on an element");
  const Interval range = interval(element, element.required, answer.dtype());
  out.lower = written(range.lower, answer.dtype());
  out.upper = written(range.upper, answer.dtype());
  out.exact = text(element.value) + (element.blur.is_zero() ? "" : " ± " + text(element.blur));
  // Integer outputs have no budget in the units of y: the interval itself is what was proven.
  out.budget = element.required.range ? "[" + out.lower + ", " + out.upper + "]" : text(element.required.budget);
  out.arithmetic = element.required.arithmetic;
  return out;
}

}  // namespace assay::oracles
