// SPDX-License-Identifier: Apache-2.0
// Expression: what a composite operator computes of one element, as exact real operations. From it follow the exact
// value and, under each policy, how far from it a legitimate evaluation may land (reductions 3).
#pragma once

#include "oracles/exact/enclosure.h"
#include "oracles/exact/real.h"

#include <limits>

namespace assay::oracles {

// Policy: how a composite operator may be evaluated, as far as rounding is concerned (reductions 3.1, 3.7). An
// expression has an error under each; it never shrinks where any part of a policy grows.
struct Policy {
  Level level = Level::L2;
  std::string arithmetic;   // as an Tolerance names it
  Format working{};         // of functions and sums
  Format nodes{};           // what every node of the body is rounded to; `working` where they are fused
  double truncation = 1;    // 2 where operations need not round to nearest
  Int most_rescalings = 0;  // of an online softmax: reductions 3.4
  double most_ulps = 0;     // of a function, where that is cut
  // A function errs by that much more, relatively; and by 2u of the operands that were scaled before a subtraction.
  double imprecision = 0;
  bool scales_operands = false;
  double input_error = 0, lost_input = 0;  // of inputs, relative and absolute
  bool flushes = false;                    // subnormals of the type, in and out
  bool is_unshifted = false;               // no maximum is subtracted before exp
  bool takes_logarithm = false;            // of a quotient that is rounded, where the logarithms could be subtracted

  double unit() const;       // of a node, truncation included
  double sum_unit() const;   // of an addition
  double smallest() const;   // η of a node
  double vanishing() const;  // what a function may lose absolutely, as its caller hides it: λ
  bool is_fused() const { return nodes.precision == working.precision; }
};

// Those that are asked for at L2, of an operator whose body stands in the registry: fused in f32 (f64 for f64), or
// every node in the type.
const std::vector<Policy>& required_policies(DType type);
// Those beyond, the strongest first.
const std::vector<Policy>& wider_policies(DType type);
// Float64 that is computed in float32, which a body may say (N5).
Policy in_single();
// Those that a backend declares of itself.
std::vector<Policy> declared_policies(DType type, const Arithmetic& declared);

class Expression {
 public:
  virtual ~Expression() = default;
  // Encloses the value, which is strictly between the ends unless it is exact.
  virtual Real value(int bits) const = 0;
  // No less than |computed - exact|; infinite where nothing is proven.
  virtual double error(const Policy& policy) const = 0;
  // Tells whether an intermediate may overflow, or all of a sum vanish: NaN, infinities and 0 may come of that.
  virtual bool breaks_down(const Policy& policy) const = 0;
  // Tells whether it may be evaluated so: nodes are rounded one by one where the registry has a body.
  virtual bool is_met_by(const Policy& policy) const { return !policy.takes_logarithm; }
};

// No bound at all.
inline constexpr double unproven = std::numeric_limits<double>::infinity();
// Returns γ(n, u), what n roundings of relative size u add up to; unproven from n u = 1/2 on.
double gamma_of(double roundings, double unit);
// Returns a double that is no less than |value|.
double size_of(const Ratio& value);

// An error and what a stand-in may be off, as the short fraction that budgets are, rounded up.
Ratio budget_of(double error, const Ratio& blur);

// Makes the element whose value the expression has, asked for at L2; and what is admitted of it beyond.
Element computed(const Expression& of, DType type);
Element computed(const Expression& of, DType type, const std::vector<Policy>& required);
std::vector<Tolerance> tolerances(const Expression& of, const Element& element, DType type, const Arithmetic& declared);

}  // namespace assay::oracles
