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
    const T *const x = in[1]->as<T>().data(), *const y = in[2]->as<T>().data();
    const auto choose = [](bool is_x, T a, T b) { return is_x ? a : b; };
    meet.for_each_row([&, condition = in[0]->as<Bool>().data(), to = output.as<T>().data(), length = meet.length()](Int out, const Ints& from) {
      const Bool* const c = condition + from[0];
      const T *const a = x + from[1], *const b = y + from[2];
      with_steps(meet.step(0), 1, [=, &meet](auto step_c, auto) {
        with_steps(meet.step(1), meet.step(2), [=](auto step_a, auto step_b) {
          for (Int i = 0; i < length; ++i) to[out + i] = choose(c[i * step_c], a[i * step_a], b[i * step_b]);
        });
      });
    });
  });
  return output;
}

}  // namespace

Operator where() {
  return Operator("Where")
      .input("condition", "B").input("X", "T").input("Y", "T").output("output", "T").rulings({"A29", "E1", "E2"})
      .since(9).type("B", {DType::boolean}).type("T", types::all_tensor_types()).with(multidirectional_broadcast)
      .since(16, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .shaping(Shaping::broadcast).infer(broadcast_types).kernel(chosen);
}
// clang-format on

}  // namespace assay
