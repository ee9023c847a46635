// SPDX-License-Identifier: Apache-2.0
// PRelu (ai.onnx 1, 6, 7, 9, 16) - https://onnx.ai/onnx/operators/onnx__PRelu.html
//
//   Y[i] = slope[i] X[i] where X[i] < 0, else X[i]; slope is broadcast to X, in the first versions as E10 says
#include "reference/families/broadcast.h"
#include "reference/type_lists.h"

namespace assay {

// clang-format off
Operator prelu() {
  return Operator("PRelu")
      .input("X", "T").input("slope", "T").output("Y", "T").rulings({"A29", "E1", "E2", "E11", "E50"})
      .since(1).type("T", types::all_float_types()).with(broadcast_per_channel).with(consumed_inputs)
      .since(6, "consumed_inputs is gone").with(without_consumed_inputs)
      .since(7, "slope is broadcast to X as numpy does").with(broadcast_to_first_instead)
      .since(9, "T admits integers of 32 and 64 bits")
      .type("T", types::numeric_types_for_math_reduction()).ruling("E17")
      .since(16, "T admits bfloat16")
      .type("T", types::numeric_types_for_math_reduction_ir4())
      .shaping(Shaping::broadcast).infer(broadcast_types)
      .kernel(pairwise([]<Number T>(T x, T slope) { return x < T(0) ? T(ComputedIn<T>(slope) * ComputedIn<T>(x)) : x; }));
}
// clang-format on

}  // namespace assay
