// SPDX-License-Identifier: Apache-2.0
// The exact answers of the trigonometric and hyperbolic functions and their inverses, but for tanh.
#include "oracles/families/elementwise.h"

#include <cmath>

namespace assay::oracles {

namespace {

// log(x + sqrt(x^2 +- 1)), whose square may overflow where the result does not (square-overflow of elementwise 5.3).
template <Function f>
ElementValue by_a_square(const ElementPoint& p) {
  ElementValue value = value_of<f>(p);
  const int largest = (format_of(type_of(p)).max_exponent + 1) / 2 - 2;
  if (auto* const evaluation = std::get_if<Evaluation>(&value))
    evaluation->may_overflow = std::abs(p.x[0].as_double()) >= std::ldexp(1.0, largest);
  return value;
}

}  // namespace

Oracle sin() { return of_function<Function::sin>(); }
Oracle cos() { return of_function<Function::cos>(); }
Oracle tan() { return of_function<Function::tan>(); }
Oracle asin() { return of_function<Function::asin>(); }
Oracle acos() { return of_function<Function::acos>(); }
Oracle atan() { return of_function<Function::atan>(); }
Oracle sinh() { return of_function<Function::sinh>(); }
Oracle cosh() { return of_function<Function::cosh>(); }
Oracle asinh() { return of_function(alone<Function::asinh>, by_a_square<Function::asinh>); }
Oracle acosh() { return of_function(alone<Function::acosh>, by_a_square<Function::acosh>); }
Oracle atanh() { return of_function<Function::atanh>(); }

}  // namespace assay::oracles
