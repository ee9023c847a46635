// SPDX-License-Identifier: Apache-2.0
// The exact answers of the trigonometric and hyperbolic functions and their inverses, but for tanh.
#include "oracles/families/elementwise.h"

namespace assay::oracles {

Oracle sin() { return of_function<Function::sin>(); }
Oracle cos() { return of_function<Function::cos>(); }
Oracle tan() { return of_function<Function::tan>(); }
Oracle asin() { return of_function<Function::asin>(); }
Oracle acos() { return of_function<Function::acos>(); }
Oracle atan() { return of_function<Function::atan>(); }
Oracle sinh() { return of_function<Function::sinh>(); }
Oracle cosh() { return of_function<Function::cosh>(); }
Oracle asinh() { return of_function<Function::asinh>(); }
Oracle acosh() { return of_function<Function::acosh>(); }
Oracle atanh() { return of_function<Function::atanh>(); }

}  // namespace assay::oracles
