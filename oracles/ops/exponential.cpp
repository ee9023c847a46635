// SPDX-License-Identifier: Apache-2.0
// The exact answers of Exp, Log, Sqrt, Reciprocal, Sigmoid, Tanh and Erf. Sqrt and Reciprocal are rounded once, in f32
// and from there too. 1/-0 is an infinity of either sign, as the sign of a zero is never judged (A29).
#include "oracles/families/elementwise.h"

namespace assay::oracles {

Oracle exp() { return of_function<Function::exp>(); }
Oracle log() { return of_function<Function::log>(); }

Oracle sqrt() {
  return elementwise([](const ElementPoint& p) -> ElementValue {
    const Scalar& x = p.x[0];
    if (x.is == Scalar::Class::nan || x.is_zero()) return x;
    if (x.negative) return nan();
    return is_infinite(x) ? ElementValue(x) : rounded_once(x, square_root);
  });
}

Oracle reciprocal() {
  return elementwise([](const ElementPoint& p) -> ElementValue {
    const Scalar& x = p.x[0];
    if (x.is == Scalar::Class::nan) return x;
    if (is_infinite(x)) return Scalar();
    if (!x.is_zero()) return rounded_once(x, [](const Real& of) { return Real(1, of.bits()) / of; });
    return x.negative ? ElementValue(one_of("A29", {infinity(true), infinity()})) : infinity();
  });
}

Oracle sigmoid() { return of_function<Function::sigmoid>(); }
Oracle tanh() { return of_function<Function::tanh>(); }

// Returns the oracle of Erf. The value of an integer is truncated to 0, or rounded in f32, where it is 1 from 4 on, or
// the nearest one: erf 1 is 0.84 (E47).
Oracle erf() {
  return of_function(alone<Function::erf>, [](const ElementPoint& p) -> ElementValue {
    const Scalar& x = p.x[0];
    if (is_float(type_of(p))) return function_value(Function::erf, x);
    const Int least = p.reads("E47", "nearest") ? 1 : 4;
    const bool is_one = !p.reads("E47", "truncated") && abs(x.value()) >= Dyadic{least, 0};
    return is_one ? scalar(x.negative ? -1 : 1) : Scalar();
  });
}

}  // namespace assay::oracles
