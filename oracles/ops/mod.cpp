// SPDX-License-Identifier: Apache-2.0
// The exact answer of Mod: the remainder of two integers over a common power of two.
#include "oracles/families/elementwise.h"
#include "oracles/rules/broadcast.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {
namespace {

Ratio remainder(const Dyadic& a, const Dyadic& b, bool truncates) {
  const int exponent = std::min(a.exponent, b.exponent);
  const auto in_units = [&](const Dyadic& x) { return Integer(x.mantissa << (x.exponent - exponent)); };
  const Integer by = in_units(b);
  Integer rest = in_units(a) % by;
  if (!truncates && rest != 0 && (rest < 0) != (by < 0)) rest += by;
  return {{rest, exponent}, 1};
}

// Lists where the formula lands with every operation in the type: near the remainder, or a few divisors off (E21).
std::vector<Tolerance> by_formula(const Scalar& a, const Scalar& b, const Ratio& rest, DType type) {
  const Format& format = format_of(type);
  const Ratio slack = abs(ratio(a)) * Dyadic::power_of_two(format.unit_exponent() + 2), size = abs(ratio(b));
  const Ratio most = size + slack, least = Ratio() - most;
  std::vector<Tolerance> all;
  const auto admit = [&](const Ratio& from, const Ratio& to) {
    if (to < least || most < from) return;
    all.push_back(beyond("the formula in " + std::string(name(type))));
    all.back().range = Interval{rounded(std::max(from, least), format, Rounding::down),
                                rounded(std::min(to, most), format, Rounding::up)};
  };
  if (size <= slack * Dyadic::power_of_two(1))
    admit(least, most);
  else
    for (const int times : {-2, -1, 0, 1, 2}) {
      const Ratio centre = rest + size * Dyadic{times, 0};
      admit(centre - slack, centre + slack);
    }
  const Ratio overflow = size * format.overflow_threshold();
  if (overflow <= abs(ratio(a))) all.front().may_overflow = true;
  return all;
}

ElementValue modulo(const ElementPoint& p) {
  const Scalar &a = p.x[0], &b = p.x[1];
  const bool truncates = p.call.integer("fmod") == 1;
  if (is_nan(a) || is_nan(b)) return nan();
  if (!is_float(type_of(p)) && b.is_zero()) return undefined("E15", "a division by zero may give anything");
  if (is_infinite(a) || b.is_zero()) return nan();
  if (is_infinite(b)) return truncates || a.is_zero() || a.negative == b.negative ? a : b;
  const Ratio rest = remainder(a.value(), b.value(), truncates);
  ElementValue value = in_type(p, rest);
  if (auto* const evaluation = std::get_if<Evaluation>(&value))
    evaluation->others = [=, type = type_of(p)] { return by_formula(a, b, rest, type); };
  return value;
}

// Version 13 says of fmod = 1 that it is for floats (E18).
std::optional<Shape> shape(const Call& call, const Readings& readings) {
  const bool is_for_floats = readings.of("E18") == "float-only";
  if (is_for_floats && !is_float(call.type("A").dtype) && call.integer("fmod") == 1) return std::nullopt;
  return shape_of_meeting(call, readings);
}

}  // namespace

Oracle mod() { return elementwise(modulo, {.shape = shape}); }

}  // namespace assay::oracles
