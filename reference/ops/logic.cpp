// SPDX-License-Identifier: Apache-2.0
// And, Or, Xor (ai.onnx 1, 7), Not (1) - https://onnx.ai/onnx/operators/onnx__And.html
//
//   C[i] = A[i] and B[i], A[i] or B[i], A[i] xor B[i];  Y[i] = not X[i]
#include "reference/families/broadcast.h"

namespace assay {
namespace {

using enum DType;
// clang-format off

template <class F>
Operator logic(const char* name, F holds) {
  return Operator(name)
      .input("A", "T").input("B", "T").output("C", "T1").type("T", {boolean}).type("T1", {boolean})
      .since(1)
      .with(limited_broadcast)
      .since(7, "shapes are broadcast as numpy does")
      .with(multidirectional_instead)
      .shaping(Shaping::broadcast).infer(broadcast_types).kernel(pairwise(holds));
}

}  // namespace

Operator logical_and() { return logic("And", [](Bool a, Bool b) { return a && b; }); }
Operator logical_or() { return logic("Or", [](Bool a, Bool b) { return a || b; }); }
Operator logical_xor() { return logic("Xor", [](Bool a, Bool b) { return bool(a) != bool(b); }); }

Operator logical_not() {
  return Operator("Not")
      .input("X", "T").output("Y", "T").type("T", {boolean})
      .since(1)
      .shaping(Shaping::one).shape(same_as("X")).kernel(each([]<class T>(T x) { return T(x == T()); }));
}

// clang-format on
}  // namespace assay
