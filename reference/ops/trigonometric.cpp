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

const Operator& sin() {
  static const Operator op = function("Sin", 7, sine);
  return op;
}

const Operator& cos() {
  static const Operator op = function("Cos", 7, cosine);
  return op;
}

const Operator& tan() {
  static const Operator op = function("Tan", 7, tangent);
  return op;
}

const Operator& asin() {
  static const Operator op = function("Asin", 7, arc_sine);
  return op;
}

const Operator& acos() {
  static const Operator op = function("Acos", 7, arc_cosine);
  return op;
}

const Operator& atan() {
  static const Operator op = function("Atan", 7, arc_tangent);
  return op;
}

const Operator& sinh() {
  static const Operator op = function("Sinh", 9, hyperbolic_sine);
  return op;
}

const Operator& cosh() {
  static const Operator op = function("Cosh", 9, hyperbolic_cosine);
  return op;
}

const Operator& asinh() {
  static const Operator op = function("Asinh", 9, inverse_hyperbolic_sine);
  return op;
}

const Operator& acosh() {
  static const Operator op = function("Acosh", 9, inverse_hyperbolic_cosine);
  return op;
}

const Operator& atanh() {
  static const Operator op = function("Atanh", 9, inverse_hyperbolic_tangent);
  return op;
}

// clang-format on
}  // namespace assay
