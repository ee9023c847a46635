// SPDX-License-Identifier: Apache-2.0
// Where (ai.onnx 9, 16) - https://onnx.ai/onnx/operators/onnx__Where.html
//
//   output[i] = X[i] where condition[i], else Y[i]
#include "reference/families/broadcast.h"
#include "reference/type_lists.h"

namespace assay {
namespace {

// clang-format off
Values chosen(const Call& call, Inputs in) {
  const Broadcast meet = Broadcast::of(call);
  Tensor output = Tensor::to_be_written({in[1]->dtype(), meet.shape});
  for_type(output.dtype(), [&]<class T>() {
    const std::span<const Bool> condition = in[0]->as<Bool>();
    const std::span<const T> x = in[1]->as<T>(), y = in[2]->as<T>();
    const std::span<T> to = output.as<T>();
    meet.for_each_row([&](Int out, const Ints& from) {
      for (Int i = 0; i < meet.length(); ++i)
        to[static_cast<std::size_t>(out + i)] = condition[meet.cell(0, from, i)] ? x[meet.cell(1, from, i)] : y[meet.cell(2, from, i)];
    });
  });
  return output;
}

}  // namespace

Operator where() {
  return Operator("Where")
      .input("condition", "B").input("X", "T").input("Y", "T").output("output", "T")
      .type("B", {DType::boolean}).rulings({"A29", "E1", "E2"})
      .since(9).type("T", types::all_tensor_types()).with(multidirectional_broadcast)
      .since(16, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .shaping(Shaping::broadcast).infer(broadcast_types).kernel(chosen);
}
// clang-format on

}  // namespace assay
