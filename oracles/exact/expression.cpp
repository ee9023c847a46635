// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/expression.h"

#include <algorithm>
#include <cmath>

namespace assay::oracles {

Ratio budget_of(double error, const Ratio& blur) {
  expects(std::isfinite(error), "a bound that is no number");
  const Ratio sum = Ratio{scalar_of(error).value(), 1} + blur;
  if (sum.is_zero()) return sum;
  static const Format wide{24, -2000, 2000};
  return {rounded(sum, wide, Rounding::up).value(), 1};
}

namespace {

Element unproven(std::string why) {
  Element out;
  out.kind = Kind::unscored;
  out.reason = std::move(why);
  return out;
}

}  // namespace

Element computed(const Expression& of, DType type) {
  const std::optional<StandIn> value = stand_in([&](int bits) { return of.value(bits); }, format_of(type));
  if (!value) return unproven("how the exact value rounds takes more than 1,536 bits");
  Element out;
  out.value = value->value;
  out.blur = value->off;
  out.magnitude = abs(value->value);
  double most = 0;
  for (const Policy& policy : asked_policies(type)) {
    if (of.breaks_down(policy)) return unproven("an intermediate may overflow or vanish");
    most = std::max(most, of.error(policy));
    out.asked.arithmetic += (out.asked.arithmetic.empty() ? "" : "; or ") + policy.arithmetic;
  }
  if (!std::isfinite(most)) return unproven("nothing is proven of sums so long, or logits so large");
  out.asked.budget = budget_of(most, out.blur);
  return out;
}

std::vector<Allowance> allowances(const Expression& of, const Element& element, DType type,
                                  const Arithmetic& declared) {
  std::vector<Policy> policies = wider_policies(type);
  std::ranges::move(declared_policies(type, declared), std::back_inserter(policies));
  std::vector<Allowance> all;
  for (const Policy& policy : policies) {
    Allowance wider;
    wider.level = policy.level;
    wider.arithmetic = policy.arithmetic;
    const double error = of.error(policy);
    wider.vacuous = !std::isfinite(error);
    if (!wider.vacuous) wider.budget = budget_of(error, element.blur);
    wider.flushes_output = policy.flushes;
    wider.may_overflow = of.breaks_down(policy);
    all.push_back(wider);
    if (!policy.is_unshifted || !wider.may_overflow) continue;
    all.back().vacuous = false;  // it gives no number but 0
    all.back().range = Interval{{}, {}};
  }
  return all;
}

}  // namespace assay::oracles
