// SPDX-License-Identifier: Apache-2.0
// The exact answer of Clip. Of NaN it is NaN, or what a comparison that fails leaves of it; a bound that is NaN may be
// ignored (E4). Without a bound an infinity stays, or becomes the last number of the type (E5).
#include "oracles/families/elementwise.h"
#include "oracles/judging/finding.h"
#include "reference/operator.h"

#include <cmath>

namespace assay::oracles {
namespace {

using Bound = std::optional<Scalar>;

// The bounds of one element.
struct Bounds {
  Bound least, most;
  bool min_wins = false;  // where min is the larger one (E6)

  Scalar clipped(Scalar x) const {
    const auto raise = [&] { x = least && is_less(x, *least) ? *least : x; };
    if (!min_wins) raise();
    x = most && is_less(*most, x) ? *most : x;
    if (min_wins) raise();
    return x;
  }
};

Scalar last_of(DType type, bool is_lowest) {
  const Scalar lowest = lowest_of(type);
  return is_lowest ? lowest : negated(lowest);
}

// That of an attribute, which may be read as it stands, or as no bound in its default's place (E7).
Bound stated_bound(const ElementPoint& p, const char* name, bool is_lower) {
  const double limit = is_lower ? -0x1.fffffep127 : 0x1.fffffep127;
  const bool is_stated = p.call.states(name), is_double = type_of(p) == DType::f64;
  const double value = is_stated ? double{p.call.real(name)} : limit;
  if (!is_stated && !(is_double && p.reads("E7", "float-limits"))) return std::nullopt;
  if (is_stated && is_double && value == limit && p.reads("E7", "type-limits")) return std::nullopt;
  if (!std::isfinite(value)) return scalar_of(value);
  return rounded(ratio(scalar_of(value)), format_of(type_of(p)));
}

Bound bound(const ElementPoint& p, const char* name, bool is_lower) {
  if (p.call.definition().attribute(name)) return stated_bound(p, name, is_lower);
  const Scalar* const given = p.find(name);
  return given ? std::optional(*given) : std::nullopt;
}

// NaN that meets a bound, or the last number of the type where that one is absent.
ElementValue of_nan(const ElementPoint& p, const Bounds& bounds) {
  const bool is_raised = p.reads("E4", "number");
  if (!is_raised && !p.reads("E4", "maximum")) return nan();
  const Bound& met = is_raised ? bounds.least : bounds.most;
  if (met) return bounds.clipped(*met);
  const Scalar last = bounds.clipped(last_of(type_of(p), is_raised));
  const Bound& other = is_raised ? bounds.most : bounds.least;
  return one_of("E4", {nan(), last, other.value_or(last)});
}

ElementValue clipped(const ElementPoint& p) {
  const Scalar& x = p.x[0];
  Bounds bounds{bound(p, "min", true), bound(p, "max", false), p.reads("E6", "min")};
  if (p.reads("E6", "refuse") && bounds.least && bounds.most && is_less(*bounds.most, *bounds.least))
    return undefined("E6", "min is larger than max");
  const bool has_nan = (bounds.least && is_nan(*bounds.least)) || (bounds.most && is_nan(*bounds.most));
  for (Bound* each : {&bounds.least, &bounds.most})
    if (*each && is_nan(**each)) each->reset();
  if (is_nan(x)) {
    const ElementValue value = of_nan(p, bounds);
    const auto* const number = std::get_if<Scalar>(&value);
    return has_nan && number && !is_nan(*number) ? one_of("E4", {nan(), *number}) : value;
  }
  const Scalar kept = bounds.clipped(x);
  if (has_nan) return one_of("E4", {nan(), kept});
  if (!is_infinite(x) || (x.negative ? bounds.least : bounds.most)) return kept;
  const Scalar last = bounds.clipped(last_of(type_of(p), x.negative));
  return same(last, kept) ? ElementValue(kept) : one_of("E5", {kept, last});
}

}  // namespace

Oracle clip() { return exact_elementwise(clipped); }

}  // namespace assay::oracles
