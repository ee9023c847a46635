// SPDX-License-Identifier: Apache-2.0
// LeakyRelu (ai.onnx 1, 6, 16) - https://onnx.ai/onnx/operators/onnx__LeakyRelu.html
//
//   Y[i] = alpha X[i] where X[i] < 0, else X[i]
#include "reference/families/elementwise.h"

namespace assay {

Operator leaky_relu() {
  using enum DType;
  // clang-format off
  return Operator("LeakyRelu")
      .input("X", "T").output("Y", "T").attribute("alpha", 0.01F)
      .rulings({"A29", "E1", "E2", "E38", "E50"})
      .since(1).type("T", {f16, f32, f64}).with(consumed_inputs)
      .since(6, "consumed_inputs is gone")
      .with(without_consumed_inputs)
      .since(16, "T admits bfloat16")
      .type("T", {bf16, f16, f32, f64})
      .shaping(Shaping::one).shape(same_as("X"))
      .kernel(each_in_double([](const Call& call) {
        return [alpha = double{call.real("alpha")}](double x) { return x < 0 ? alpha * x : x; };
      }));
  // clang-format on
}

}  // namespace assay
