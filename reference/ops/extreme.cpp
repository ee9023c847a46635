// SPDX-License-Identifier: Apache-2.0
// Max, Min (ai.onnx 1, 6, 8, 12, 13) - https://onnx.ai/onnx/operators/onnx__Max.html
//
//   max[i], min[i] = the largest, the smallest of data_0[i], data_1[i] …; NaN where one of them is (E3)
#include "reference/families/broadcast.h"
#include "reference/type_lists.h"

namespace assay {
namespace {

// clang-format off
template <class F>
Operator extreme(const char* name, const char* output, F is_beaten) {
  return Operator(name)
      .variadic("data", "T").output(output, "T")
      .rulings({"A29", "E1", "E2", "E3"})
      .since(1)
      .type("T", types::all_float_types()).with(same_shapes).with(consumed_inputs)
      .since(6, "consumed_inputs is gone")
      .with(without_consumed_inputs)
      .since(8, "shapes are broadcast as numpy does")
      .without("same").with(multidirectional_broadcast)
      .since(12, "T admits integers")
      .type("T", types::all_numeric_types())
      .since(13, "T admits bfloat16")
      .type("T", types::all_numeric_types_ir4())
      .shaping(Shaping::broadcast).infer(broadcast_types)
      .kernel(folded([is_beaten](auto a, auto b) { return is_beaten(a, b) || b != b ? b : a; }));
}

}  // namespace

Operator max() { return extreme("Max", "max", [](auto a, auto b) { return a < b; }); }
Operator min() { return extreme("Min", "min", [](auto a, auto b) { return b < a; }); }

// clang-format on
}  // namespace assay
