// SPDX-License-Identifier: Apache-2.0
// Oracles of operators that compute each element by itself, written as what one element is: a number that is not
// rounded, one of several, or the value of a function with its tolerance (elementwise 5.2).
#pragma once

#include "oracles/exact/functions.h"
#include "oracles/filter/function_filter.h"
#include "oracles/rules/rules.h"

#include <functional>
#include <variant>

namespace assay::oracles {

// A number that is computed of an argument.
struct Evaluation {
  // Holds the right integer, and those that are admitted at L2.
  struct Whole {
    Scalar right;
    Interval admitted;
  };

  Dyadic argument;
  std::function<Real(const Real&)> of;                  // of the argument, or of a number near it
  FunctionTolerance tolerance = {};                     // at L2
  bool is_approximated = false;                         // hardware has approximations of it
  double crudeness = 0;                                 // of those
  bool may_overflow = false;                            // an operation of the formula may, which its result does not
  std::optional<Interval> limits = {};                  // that no evaluation at L2 leaves
  std::optional<Ratio> value = {};                      // where it is a fraction: `of` is not asked then
  std::optional<Ratio> budget = {};                     // of that fraction at L2, instead of a tolerance
  std::optional<Whole> whole = {};                      // where it is an integer: neither is evaluated
  std::function<std::vector<Tolerance>()> others = {};  // what is admitted beyond L2 besides
};

using ElementValue = std::variant<Scalar, Element, Evaluation>;

// Returns the oracle of an operator that computes each element of its output. What lies beyond L2 is admitted by
// the table of elementwise 5.3.
struct ElementwiseOptions {
  bool rounds = true;
  bool narrows_f64 = true;                                                // hardware computes f64 in f32
  bool flushes_as_output = true;                                          // operands subnormal in the output's type
  std::optional<Shape> (*shape)(const Call&, const Readings&) = nullptr;  // else as inputs are broadcast
  std::optional<FunctionCall> (*function)(const Call&) = nullptr;         // that the rule is, under the rulings
};
Oracle elementwise(ElementValue (*rule)(const ElementPoint&), const ElementwiseOptions& options = {});
// The same of one whose rule, under the rulings, is that function of the one input.
Oracle of_function(std::optional<FunctionCall> (*function)(const Call&), ElementValue (*rule)(const ElementPoint&));

// The same of one that copies or selects, and never rounds.
Oracle exact_elementwise(ElementValue (*rule)(const ElementPoint&));
// The same of one that passes on what it is given, f64 as f64.
Oracle copying_elementwise(ElementValue (*rule)(const ElementPoint&));

// A tolerance beyond L2 with that budget.
Tolerance with_budget(std::string arithmetic, double budget);

DType type_of(const ElementPoint& p);  // of the output

// A constant that is an attribute: as it is, or rounded to the type of the input (E38).
Scalar constant(const ElementPoint& p, std::string_view attribute);

// a times x, computed as a product of that many more roundings than the last.
Evaluation product(const Scalar& a, const Scalar& x, double ulps);
// A value that is rounded once wherever it is computed.
Evaluation rounded_once(const Scalar& x, std::function<Real(const Real&)> of);
// A fraction in the type of the input: rounded once, or truncated and fitted.
ElementValue in_type(const ElementPoint& p, const Ratio& value, bool is_approximated = false);
// One right value, and what is admitted beyond L2.
Evaluation exact_beside(const Scalar& right, std::vector<Tolerance> others);
// Admits the first operand itself besides, where it is subnormal: hardware that compares it as zero takes another
// branch.
ElementValue or_itself(const ElementPoint& p, ElementValue value);
// A fraction of a float type that is rounded once, after so many ulps of other roundings.
Evaluation rounded_sum(const ElementPoint& p, const Ratio& value, double ulps);
// An integer in the type: it wraps where it does not fit, or saturates by another reading of E16 or E17.
Scalar fitted(const ElementPoint& p, const Integer& value);
// f(x), or what it is of a special value; the other operands of f follow.
ElementValue function_value(Function f, const Scalar& x, std::vector<Scalar> operands = {});
// The rule of an operator that is such a function of one argument.
template <Function f>
ElementValue value_of(const ElementPoint& p) {
  return function_value(f, p.x[0]);
}
template <Function f>
std::optional<FunctionCall> alone(const Call&) {
  return FunctionCall{f, {}};
}
template <Function f>
Oracle of_function() {
  return of_function(alone<f>, value_of<f>);
}

}  // namespace assay::oracles
