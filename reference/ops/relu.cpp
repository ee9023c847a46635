// SPDX-License-Identifier: Apache-2.0
// Relu (ai.onnx 1, 6, 13, 14) - https://onnx.ai/onnx/operators/onnx__Relu.html
//
//   Y[i] = max(0, X[i])
#include "reference/families/elementwise.h"

namespace assay {

Operator relu() {
  using enum DType;
  // clang-format off
  return Operator("Relu")
      .input("X", "T").output("Y", "T")
      .rulings({"A29", "E1", "E2", "E12"})
      .since(1)
      .type("T", {f16, f32, f64})
      .optional_ints("consumed_inputs").ruling("E48")
      .since(6, "consumed_inputs is gone")
      .without("consumed_inputs").settled("E48")
      .since(13, "T admits bfloat16")
      .type("T", {bf16, f16, f32, f64})
      .since(14, "T admits signed integers")
      .type("T", {bf16, f16, f32, f64, i8, i16, i32, i64})
      .shaping(Shaping::one).shape(same_as("X"))
      .kernel(each([](auto x) { return x < 0 ? decltype(x)(0) : x; }));
  // clang-format on
}

}  // namespace assay
