// SPDX-License-Identifier: Apache-2.0
// Sum, Mean (ai.onnx 1, 6, 8, 13) - https://onnx.ai/onnx/operators/onnx__Sum.html
//
//   sum[i] = data_0[i] + data_1[i] + …;  mean[i] = that divided by the number of inputs
#include "reference/families/broadcast.h"
#include "reference/type_lists.h"

namespace assay {
namespace {

// clang-format off
Operator added_up(const char* name, const char* output) {
  return Operator(name)
      .variadic("data", "T").output(output, "T").rulings({"A26", "A29"})
      .since(1)
      .type("T", types::all_float_types()).with(same_shapes).with(consumed_inputs)
      .since(6, "consumed_inputs is gone").with(without_consumed_inputs)
      .since(8, "shapes are broadcast as numpy does")
      .without("same").with(multidirectional_broadcast)
      .since(13, "T admits bfloat16").type("T", types::all_float_types_ir4())
      .shaping(Shaping::broadcast).infer(broadcast_types);
}

}  // namespace

Operator sum() { return added_up("Sum", "sum").kernel(summed([](double total, std::size_t) { return total; })); }

Operator mean() {
  return added_up("Mean", "mean").ruling("A27")
      .kernel(summed([](double total, std::size_t inputs) { return total / static_cast<double>(inputs); }));
}
// clang-format on

}  // namespace assay
