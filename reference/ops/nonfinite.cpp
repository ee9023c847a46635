// SPDX-License-Identifier: Apache-2.0
// IsNaN (ai.onnx 9, 13, 20), IsInf (10, 20) - https://onnx.ai/onnx/operators/onnx__IsNaN.html
//
//   Y[i] = whether X[i] is NaN; whether X[i] is an infinity of a sign that is to be detected
#include "reference/families/elementwise.h"
#include "reference/type_lists.h"

#include <cmath>

namespace assay {

// clang-format off
Operator finds_nan() {
  return Operator("IsNaN")
      .input("X", "T1").output("Y", "T2").type("T2", {DType::boolean})
      .since(9)
      .type("T1", types::all_float_types())
      .since(13, "T1 admits bfloat16")
      .type("T1", types::all_float_types_ir4())
      .since(20, "T1 admits float8")
      .type("T1", types::all_float_types_ir9())
      .shaping(Shaping::one).shape(same_as("X")).kernel(each_holds([](double x) { return std::isnan(x); }));
}

Operator finds_infinity() {
  return Operator("IsInf")
      .input("X", "T1").output("Y", "T2").type("T2", {DType::boolean})
      .attribute("detect_negative", 1).attribute("detect_positive", 1)
      .since(10)
      .type("T1", {DType::f32, DType::f64})
      .since(20, "T1 admits every float")
      .type("T1", types::all_float_types_ir9())
      .shaping(Shaping::one).shape(same_as("X"))
      .kernel(each_holds([](const Call& call) {
        const bool negative = call.integer("detect_negative") != 0, positive = call.integer("detect_positive") != 0;
        return [=](double x) { return std::isinf(x) && (x < 0 ? negative : positive); };
      }));
}
// clang-format on

}  // namespace assay
