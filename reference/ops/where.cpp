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
    const auto choose = [](bool is_x, T a, T b) { return is_x ? a : b; };
    meet.for_each_row([&, length = meet.length()](Int out, const Ints& from) {
      const auto at = [&](std::size_t input) { return static_cast<std::size_t>(from[input]); };
      const Bool* const c = &condition[at(0)];
      const T *const a = &x[at(1)], *const b = &y[at(2)];
      T* const chosen = &to[static_cast<std::size_t>(out)];
      with_steps(meet.step(0), 1, [&](auto step_c, auto) {
        with_steps(meet.step(1), meet.step(2), [&](auto step_a, auto step_b) {
          for (Int i = 0; i < length; ++i) chosen[i] = choose(c[i * step_c], a[i * step_a], b[i * step_b]);
        });
      });
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
