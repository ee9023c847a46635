// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/expression.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace assay::oracles {
namespace {

// A kernel keeps the running maximum over so many blocks at most; more still falls far inside (reductions 3.4).
constexpr Int most_blocks = 64;

bool is_narrow(DType type) { return type == DType::f16 || type == DType::bf16; }

Policy fused(DType type) {
  const DType working = type == DType::f64 ? DType::f64 : DType::f32;
  Policy out;
  out.working = out.nodes = format_of(working);
  out.arithmetic = std::string(name(working)) + ", any order, functions within their bounds";
  out.most_rescalings = most_blocks;
  return out;
}

Policy by_nodes(DType type) {
  Policy out = fused(type);
  out.arithmetic = "every node of the body rounded to " + std::string(name(type));
  out.nodes = format_of(type);
  out.most_rescalings = 0;
  return out;
}

Policy in_type(DType type) {
  Policy out = by_nodes(type);
  out.level = Level::L3;
  out.arithmetic = "every operation in " + std::string(name(type));
  out.working = out.nodes;
  out.most_ulps = 8;
  return out;
}

Policy truncating(Policy of) {
  of.level = Level::L2t;
  of.arithmetic += ", truncating";
  of.truncation = 2;
  return of;
}

Policy widest(Policy of, PolicyName arithmetic) {
  of.level = Level::widest;
  of.arithmetic = std::move(arithmetic);
  return of;
}

// The same of a policy that is asked for, under a name of its own.
Policy beyond(Policy of, std::string arithmetic) {
  return widest(of, std::move(arithmetic) + (of.is_fused() ? "" : ", every node rounded"));
}

Policy fast(DType type) {
  Policy out = widest(fused(type), "fast functions");
  out.imprecision = 0x1p-20;
  out.scales_operands = true;
  return out;
}

Policy ten_bits(DType type) {
  Policy out = widest(fused(type), "functions of 10 bits");
  out.imprecision = 0x1p-10;
  return out;
}

Policy flushing(Policy of, DType type) {
  of = beyond(std::move(of), "subnormals flushed");
  of.flushes = true;
  of.lost_input = two_to(format_of(type).min_exponent);
  return of;
}

Policy unshifted(Policy of) {
  of = beyond(std::move(of), "no maximum subtracted");
  of.is_unshifted = true;
  return of;
}

Policy last_logarithm(Policy of) {
  of = beyond(std::move(of), "the logarithm of the quotient");
  of.takes_logarithm = true;
  return of;
}

std::vector<Policy> required(DType type) {
  if (is_narrow(type)) return {fused(type), by_nodes(type)};
  return {fused(type)};
}

std::vector<Policy> wider(DType type) {
  std::vector<Policy> all{truncating(fused(type))};
  if (is_narrow(type)) {
    all.push_back(truncating(by_nodes(type)));
    all.push_back(in_type(type));
  }
  for (const Policy& each : required(type)) all.push_back(flushing(each, type));
  if (type == DType::f64) all.push_back(in_single());
  if (type != DType::f64) {
    all.push_back(fast(type));
    all.push_back(ten_bits(type));
  }
  for (const Policy& each : required(type)) {
    all.push_back(unshifted(each));
    all.push_back(last_logarithm(each));
  }
  return all;
}

std::map<DType, std::vector<Policy>> of_each_type(std::vector<Policy> (*policies)(DType)) {
  std::map<DType, std::vector<Policy>> all;
  for (const DType type : {DType::f16, DType::bf16, DType::f32, DType::f64}) all[type] = policies(type);
  return all;
}

Element left_open(std::string why) {
  Element out;
  out.kind = Kind::unscored;
  out.reason = std::move(why);
  return out;
}

}  // namespace

Policy in_single() {
  Policy out = widest(fused(DType::f32), "f64 computed in f32");
  out.input_error = two_to(out.working.unit_exponent());
  out.lost_input = two_to(out.working.min_exponent);
  return out;
}

double Policy::unit() const { return truncation * two_to(nodes.unit_exponent()); }
double Policy::sum_unit() const { return truncation * two_to(working.unit_exponent()); }
double Policy::smallest() const { return two_to(nodes.smallest_exponent()); }
double Policy::vanishing() const { return two_to(flushes ? nodes.min_exponent : working.min_exponent); }

std::vector<Policy> declared_policies(DType type, const Arithmetic& declared) {
  std::vector<Policy> all;
  if (declared.bf16_inputs && type != DType::f64) {
    all.push_back(widest(ten_bits(type), "bf16 inputs"));
    all.back().input_error = two_to(format_of(DType::bf16).unit_exponent());
  }
  if (declared.accumulator && format_of(*declared.accumulator).precision < fused(type).working.precision) {
    all.push_back(widest(fused(type), "declared " + std::string(name(*declared.accumulator)) + " accumulation"));
    all.back().working = all.back().nodes = format_of(*declared.accumulator);
  }
  return all;
}

const std::vector<Policy>& required_policies(DType type) {
  static const auto all = of_each_type(required);
  return all.at(type);
}

const std::vector<Policy>& wider_policies(DType type) {
  static const auto all = of_each_type(wider);
  return all.at(type);
}

double gamma_of(double roundings, double unit) {
  const double share = roundings * unit;
  return share < 0.5 ? share * (1 + 2 * share) : unproven;
}

double size_of(const Ratio& value) { return Real(value, 96).size(); }

Ratio budget_of(double error, const Ratio& blur) {
  expects(std::isfinite(error), "a bound that is no number");
  const Ratio sum = Ratio{scalar_of(error).value(), 1} + blur;
  if (sum.is_zero()) return sum;
  static const Format wide{24, -2000, 2000};
  return {rounded(sum, wide, Rounding::up).value(), 1};
}

std::optional<double> required_error(const Expression& of, const std::vector<Policy>& required) {
  double most = 0;
  for (const Policy& policy : required) {
    if (!of.is_met_by(policy)) continue;
    if (of.breaks_down(policy)) return std::nullopt;
    most = std::max(most, of.error(policy));
  }
  return most;
}

Element computed(const Expression& of, DType type) { return computed(of, type, required_policies(type)); }

Element computed(const Expression& of, DType type, const std::vector<Policy>& required) {
  const std::optional<double> error = required_error(of, required);
  if (!error) return left_open("an intermediate may overflow or vanish");
  if (!std::isfinite(*error))
    return left_open("nothing is proven of sums so long, logits so large or a divisor so near 0");
  const std::optional<StandIn> value = stand_in([&](int bits) { return of.value(bits); }, format_of(type));
  if (!value) return left_open("how the exact value rounds takes more than 1,536 bits");
  Element out;
  for (const Policy& policy : required)
    if (of.is_met_by(policy))
      out.required.arithmetic += (out.required.arithmetic.empty() ? "" : "; or ") + policy.arithmetic.text();
  out.value = value->value;
  out.blur = value->off;
  out.magnitude = abs(value->value);
  out.required.budget = budget_of(*error, out.blur);
  return out;
}

std::vector<Tolerance> tolerances(const Expression& of, const Element& element, DType type,
                                  const Arithmetic& declared) {
  std::vector<Policy> policies = wider_policies(type);
  std::ranges::move(declared_policies(type, declared), std::back_inserter(policies));
  std::vector<Tolerance> all;
  for (const Policy& policy : policies) {
    if (!of.is_met_by(policy)) continue;
    Tolerance wider;
    wider.level = policy.level;
    wider.arithmetic = policy.arithmetic.text();
    const double error = of.error(policy);
    wider.vacuous = !std::isfinite(error);
    if (!wider.vacuous) wider.budget = budget_of(error, element.blur);
    wider.flushes_output = policy.flushes;
    wider.may_overflow = of.breaks_down(policy);
    const bool gives_no_number = policy.is_unshifted || policy.takes_logarithm;
    if (!gives_no_number || !wider.may_overflow) all.push_back(wider);
    if (!wider.may_overflow || !(gives_no_number || policy.level == Level::L3)) continue;
    wider.vacuous = false;  // 0 comes of a division by infinity
    wider.range = Interval{};
    all.push_back(std::move(wider));
  }
  return all;
}

}  // namespace assay::oracles
