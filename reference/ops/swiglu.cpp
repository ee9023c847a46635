// SPDX-License-Identifier: Apache-2.0
// SwiGLU (ai.onnx 28) - https://onnx.ai/onnx/operators/onnx__SwiGLU.html
//
//   Y[i] = A[i] / (1 + e^(-alpha A[i])) B[i]
#include "reference/families/broadcast.h"
#include "reference/functions.h"
#include "reference/type_lists.h"

namespace assay {

// clang-format off
Operator swiglu() {
  return Operator("SwiGLU")
      .input("A", "T").input("B", "T").output("Y", "T").attribute("alpha", 1.0F)
      .rulings({"A29", "E1", "E38", "E50"})
      .since(28)
      .type("T", types::all_float_types_ir4()).with(same_shapes)
      .shaping(Shaping::broadcast).infer(broadcast_types)
      .kernel(pairwise([](const Call& call) {
        return [alpha = double{call.real("alpha")}]<Number T>(T a, T b) {
          const double x = static_cast<double>(a);
          return T(x * logistic(alpha * x) * static_cast<double>(b));
        };
      }));
}
// clang-format on

}  // namespace assay
