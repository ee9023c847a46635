// SPDX-License-Identifier: Apache-2.0
// Exp, Log, Sqrt, Reciprocal, Sigmoid, Tanh (ai.onnx 1, 6, 13), Erf (9, 13) -
// https://onnx.ai/onnx/operators/onnx__Exp.html
//
//   Y[i] = e^X[i], log X[i], the root of X[i], 1 / X[i], 1 / (1 + e^-X[i]), tanh X[i], erf X[i]
#include "reference/families/elementwise.h"
#include "reference/functions.h"
#include "reference/type_lists.h"

#include <cmath>

namespace assay {
namespace {

// clang-format off
Operator function(const char* name, const char* input, const char* output, double (*f)(double)) {
  return Operator(name)
      .input(input, "T").output(output, "T")
      .rulings({"A29", "E1"})
      .since(1)
      .type("T", types::all_float_types()).with(consumed_inputs)
      .since(6, "consumed_inputs is gone")
      .with(without_consumed_inputs)
      .since(13, "T admits bfloat16")
      .type("T", types::all_float_types_ir4())
      .shaping(Shaping::one).shape(same_as(input)).kernel(each_in_double(f));
}

}  // namespace

Operator exp() { return function("Exp", "input", "output", exponential); }
Operator log() { return function("Log", "input", "output", logarithm); }
Operator sqrt() { return function("Sqrt", "X", "Y", [](double x) { return std::sqrt(x); }); }
Operator reciprocal() { return function("Reciprocal", "X", "Y", [](double x) { return 1 / x; }); }
Operator sigmoid() { return function("Sigmoid", "X", "Y", logistic); }
Operator tanh() { return function("Tanh", "input", "output", hyperbolic_tangent); }

Operator erf() {
  return Operator("Erf")
      .input("input", "T").output("output", "T")
      .rulings({"A29", "E1"})
      .since(9)
      .type("T", types::all_numeric_types()).ruling("E47")
      .since(13, "T admits bfloat16, and no integers")
      .type("T", types::all_float_types_ir4()).settled("E47")
      .shaping(Shaping::one).shape(same_as("input")).kernel(each([]<class T>(T x) {
        if constexpr (std::is_integral_v<T>) return T(0);  // |erf| < 1
        else return static_cast<T>(error_function(static_cast<double>(x)));
      }));
}

// clang-format on
}  // namespace assay
