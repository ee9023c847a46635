// SPDX-License-Identifier: Apache-2.0
// The exact answers of Cast and CastLike: a number that is rounded once, truncated, or cut to the bits there are, or
// any text that says it. What the text leaves open is not scored: numbers out of range (E24), and strings that are no
// literal (E32).
#include "oracles/exact/literal.h"
#include "oracles/families/elementwise.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/narrowing.h"
#include "reference/operator.h"

namespace assay::oracles {
namespace {

Literal source_of(const ElementPoint& p) {
  if (p.x[0].text) return read_literal(*p.x[0].text);
  if (!p.x[0].is_finite()) return {{}, p.x[0]};
  return {ratio(p.x[0]), {}};
}

// Works out what double rounding makes of it only where the level is missed.
ElementValue to_wide_float(const ElementPoint& p, const Literal& of) {
  if (of.special) return *of.special;
  Evaluation out = rounded_sum(p, *of.number, 0);
  if (p.call.type("input").dtype != type_of(p))
    out.others = [value = *of.number, type = type_of(p)] { return rounded_twice(value, type); };
  return out;
}

ElementValue to_small_float(const ElementPoint& p, const Literal& of) {
  const DType type = type_of(p);
  const SmallRounding how = rounding_of(p);
  const NarrowedValue right = narrowed(of, type, how);
  if (const auto* const element = std::get_if<Element>(&right)) return *element;
  const Scalar once = std::get<Scalar>(right);
  if (!of.number) return once;
  const auto twice = rounded_twice(*of.number, once, type, how);
  if (!twice) return unscored("whether it is in range depends on a rounding before");
  if (twice->empty()) return once;
  return exact_beside(once, *twice);
}

// Towards zero, or to the nearest integer by other readings (E23).
Integer whole_of(const ElementPoint& p, const Ratio& value) {
  const bool goes_to_even = p.reads("E23", "nearest-even");
  if (!goes_to_even && !p.reads("E23", "nearest-away")) return truncated(value);
  const Integer low = truncated(abs(value));
  const auto beside = abs(value) <=> Ratio{{2 * low + 1, -1}, 1};
  const bool goes_up = beside > 0 || (beside == 0 && (!goes_to_even || low % 2 == 1));
  const Integer size = low + (goes_up ? 1 : 0);
  return value < Ratio() ? -size : size;
}

ElementValue to_integer(const ElementPoint& p, const Literal& of) {
  if (of.special) return undefined("E24", "what is no number may become any integer");
  const DType from = p.call.type("input").dtype;
  if (p.x[0].text && p.x[0].text->find_first_of(".eE") != std::string::npos)
    return undefined("E32", "a literal with a fraction or an exponent may become any integer");
  const bool keeps_bits = is_integer(from) || from == DType::boolean;
  const Integer whole = whole_of(p, *of.number);
  if (!keeps_bits && !fits(type_of(p), whole)) return undefined("E24", "a number out of range may become any integer");
  return p.reads("E27", "saturate") ? saturated(type_of(p), whole) : wrapped(type_of(p), whole);
}

ElementValue to_bool(const ElementPoint& p, const Literal& of) {
  const bool is_text = p.x[0].text != nullptr;
  if (is_text && p.reads("E32", "non-empty")) return truth(!p.x[0].text->empty());
  if (of.special) return truth(true);
  const bool is_fraction = is_text && !of.number->is_zero() && truncated(*of.number) == 0;
  if (is_fraction) return undefined("E32", "a fraction may become a bool by way of an integer");
  if (p.reads("E28", "low-bit")) return truth(truncated(abs(*of.number)) % 2 == 1);
  const bool is_subnormal =
      !is_text && is_float(p.call.type("input").dtype) && p.x[0].is_subnormal(format_of(p.call.type("input").dtype));
  if (!is_subnormal) return truth(!of.number->is_zero());
  Tolerance flushed = beyond("subnormals flushed");
  flushed.range = Interval{truth(false), truth(false)};
  return exact_beside(truth(true), {flushed});
}

ElementValue converted(const ElementPoint& p) {
  if (type_of(p) == DType::string) return in_words(p.x[0], p.call.type("input").dtype, p.reads("E33", "digits-8"));
  const Literal of = source_of(p);
  if (!of.number && !of.special) return undefined("E32", "a string that is no number may become anything");
  const DType type = type_of(p);
  if (is_float(type)) return is_small(type) ? to_small_float(p, of) : to_wide_float(p, of);
  return type == DType::boolean ? to_bool(p, of) : to_integer(p, of);
}

}  // namespace

Oracle cast() { return elementwise(converted, {.narrows_f64 = false}); }
Oracle cast_like() { return cast(); }

}  // namespace assay::oracles
