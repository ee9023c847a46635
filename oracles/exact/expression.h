// SPDX-License-Identifier: Apache-2.0
// Expression: what a composite operator computes of one element, as exact real operations. From it follow the exact
// value and, under each policy, how far from it a legitimate evaluation may land (reductions 3).
#pragma once

#include "oracles/exact/policy.h"
#include "oracles/exact/real.h"

namespace assay::oracles {

class Expression {
 public:
  virtual ~Expression() = default;
  // Encloses the value, which is strictly between the ends unless it is exact.
  virtual Real value(int bits) const = 0;
  // No less than |computed - exact|; infinite where nothing is proven.
  virtual double error(const Policy& policy) const = 0;
  // Tells whether an intermediate may overflow, or all of a sum vanish: NaN, infinities and 0 may come of that.
  virtual bool breaks_down(const Policy& policy) const = 0;
};

// An error and what a stand-in may be off, as the short fraction that budgets are, rounded up.
Ratio budget_of(double error, const Ratio& blur);

// Makes the element whose value the expression has, asked for at L2; and what is admitted of it beyond.
Element computed(const Expression& of, DType type);
std::vector<Allowance> allowances(const Expression& of, const Element& element, DType type, const Arithmetic& declared);

}  // namespace assay::oracles
