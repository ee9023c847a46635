// SPDX-License-Identifier: Apache-2.0
// Equal (ai.onnx 1, 7, 11, 13, 19), Greater, Less (1, 7, 9, 13), GreaterOrEqual, LessOrEqual (12, 16) -
// https://onnx.ai/onnx/operators/onnx__Equal.html
//
//   C[i] = A[i] == B[i], A[i] > B[i], A[i] < B[i], A[i] >= B[i], A[i] <= B[i]
//
// of the values as they are stored, in no other type. NaN is equal to nothing, and neither more nor less.
#include "reference/families/broadcast.h"
#include "reference/type_lists.h"

namespace assay {
namespace {

using enum DType;
// clang-format off

Operator comparison(const char* name) {
  return Operator(name)
      .input("A", "T").input("B", "T").output("C", "T1").type("T1", {boolean})
      .rulings({"A29", "E2"})
      .shaping(Shaping::broadcast).infer(broadcast_types);
}

template <class F>
Operator order(const char* name, F holds) {
  return comparison(name)
      .since(1)
      .type("T", types::all_float_types()).with(limited_broadcast)
      .since(7, "shapes are broadcast as numpy does")
      .with(multidirectional_instead)
      .since(9, "T admits integers")
      .type("T", types::all_numeric_types())
      .since(13, "T admits bfloat16")
      .type("T", types::all_numeric_types_ir4())
      .kernel(pairwise(holds));
}

template <class F>
Operator order_or_equal(const char* name, F holds) {
  return comparison(name)
      .since(12)
      .type("T", types::all_numeric_types()).with(multidirectional_broadcast)
      .since(16, "T admits bfloat16")
      .type("T", types::all_numeric_types_ir4())
      .kernel(pairwise(holds));
}

}  // namespace

Operator equal() {
  return comparison("Equal")
      .since(1)
      .type("T", {boolean, i32, i64}).with(limited_broadcast)
      .since(7, "shapes are broadcast as numpy does")
      .with(multidirectional_instead)
      .since(11, "T admits every number but bfloat16")
      .type("T", types::all_numeric_types() | boolean)
      .since(13, "T admits bfloat16")
      .type("T", types::all_numeric_types_ir4() | boolean)
      .since(19, "T admits strings")
      .type("T", types::all_numeric_types_ir4() | boolean | string)
      .kernel(pairwise([](auto a, auto b) { return a == b; }));
}

Operator greater() { return order("Greater", [](auto a, auto b) { return a > b; }); }
Operator less() { return order("Less", [](auto a, auto b) { return a < b; }); }
Operator greater_or_equal() { return order_or_equal("GreaterOrEqual", [](auto a, auto b) { return a >= b; }); }
Operator less_or_equal() { return order_or_equal("LessOrEqual", [](auto a, auto b) { return a <= b; }); }

// clang-format on
}  // namespace assay
