// SPDX-License-Identifier: Apache-2.0
// The exact answers of the trigonometric and hyperbolic functions and their inverses, but for tanh.
#include "oracles/families/elementwise.h"

namespace assay::oracles {

const Oracle& sin() {
  static const Oracle oracle = of_function<Function::sin>();
  return oracle;
}

const Oracle& cos() {
  static const Oracle oracle = of_function<Function::cos>();
  return oracle;
}

const Oracle& tan() {
  static const Oracle oracle = of_function<Function::tan>();
  return oracle;
}

const Oracle& asin() {
  static const Oracle oracle = of_function<Function::asin>();
  return oracle;
}

const Oracle& acos() {
  static const Oracle oracle = of_function<Function::acos>();
  return oracle;
}

const Oracle& atan() {
  static const Oracle oracle = of_function<Function::atan>();
  return oracle;
}

const Oracle& sinh() {
  static const Oracle oracle = of_function<Function::sinh>();
  return oracle;
}

const Oracle& cosh() {
  static const Oracle oracle = of_function<Function::cosh>();
  return oracle;
}

const Oracle& asinh() {
  static const Oracle oracle = of_function<Function::asinh>();
  return oracle;
}

const Oracle& acosh() {
  static const Oracle oracle = of_function<Function::acosh>();
  return oracle;
}

const Oracle& atanh() {
  static const Oracle oracle = of_function<Function::atanh>();
  return oracle;
}

}  // namespace assay::oracles
