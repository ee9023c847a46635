// SPDX-License-Identifier: Apache-2.0
// Sin, Cos, Tan, Asin, Acos, Atan (ai.onnx 7, 22), Sinh, Cosh, Asinh, Acosh, Atanh (9, 22) -
// https://onnx.ai/onnx/operators/onnx__Sin.html
//
//   output[i] = f(input[i]), in radians; NaN outside of the domain
#include "reference/families/elementwise.h"
#include "reference/functions.h"
#include "reference/type_lists.h"

namespace assay {
namespace {

// clang-format off
Operator function(const char* name, int first, double (*f)(double)) {
  return Operator(name)
      .input("input", "T").output("output", "T")
      .rulings({"A29", "E1"})
      .since(first)
      .type("T", types::all_float_types())
      .since(22, "T admits bfloat16")
      .type("T", types::all_float_types_ir4())
      .shaping(Shaping::one).shape(same_as("input")).kernel(each_in_double(f));
}

}  // namespace

Operator sin() { return function("Sin", 7, sine); }
Operator cos() { return function("Cos", 7, cosine); }
Operator tan() { return function("Tan", 7, tangent); }
Operator asin() { return function("Asin", 7, arc_sine); }
Operator acos() { return function("Acos", 7, arc_cosine); }
Operator atan() { return function("Atan", 7, arc_tangent); }
Operator sinh() { return function("Sinh", 9, hyperbolic_sine); }
Operator cosh() { return function("Cosh", 9, hyperbolic_cosine); }
Operator asinh() { return function("Asinh", 9, inverse_hyperbolic_sine); }
Operator acosh() { return function("Acosh", 9, inverse_hyperbolic_cosine); }
Operator atanh() { return function("Atanh", 9, inverse_hyperbolic_tangent); }

// clang-format on
}  // namespace assay
