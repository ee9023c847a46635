// SPDX-License-Identifier: Apache-2.0
// Identity (ai.onnx 1, 13, 14, 16, 19, 21, 23, 24, 25) - https://onnx.ai/onnx/operators/onnx__Identity.html
//
//   output = input, of a tensor; sequences (14) and optionals (16) are not yet admitted
#include "reference/families/elementwise.h"
#include "reference/type_lists.h"

namespace assay {

// clang-format off
Operator identity() {
  return Operator("Identity")
      .input("input", "T").output("output", "T")
      .rulings({"A29", "E1", "E2"})
      .since(1)
      .type("T", types::all_tensor_types())
      .since(13, "T admits bfloat16")
      .type("T", types::all_tensor_types_ir4())
      .since(14, "sequences are admitted")
      .without("T").input("input", "V").output("output", "V").type("V", types::all_tensor_types_ir4())
      .since(16, "optionals are admitted")
      .since(19, "float8 is admitted")
      .type("V", types::all_tensor_types_ir9())
      .since(21, "integers of 4 bits are admitted")
      .type("V", types::all_tensor_types_ir10())
      .since(23, "floats of 4 bits are admitted")
      .type("V", types::all_tensor_types_ir11())
      .since(24, "float8e8m0 is admitted")
      .type("V", types::all_tensor_types_ir12())
      .since(25, "integers of 2 bits are admitted")
      .type("V", types::all_tensor_types_ir13())
      .shaping(Shaping::one).shape(same_as("input"))
      .kernel([](const Call&, Inputs in) -> Values { return *in[0]; });
}
// clang-format on

}  // namespace assay
