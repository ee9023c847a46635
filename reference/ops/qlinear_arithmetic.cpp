// SPDX-License-Identifier: Apache-2.0
// com.microsoft's sums and products of integers -
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
//
// QLinearAdd (1)  C[i] = saturate(round((a * A_scale + b * B_scale) / C_scale) + C_zero_point)
// QLinearMul (1)  C[i] = saturate(round(a * A_scale * b * B_scale / C_scale) + C_zero_point)
//
// where a is A[i] - A_zero_point, b is B[i] - B_zero_point, and A and B are broadcast. Ties go to even, before or after
// the zero point is added.
#include "reference/families/broadcast.h"
#include "reference/requantization.h"

namespace assay {
namespace {

using Combined = double (*)(double a, double b);

// The inputs of A, of B and of C stand three by three: the numbers of C alone are not there.
Kernel requantizing(Combined combined) {
  return [combined](const Call& call, Inputs in) {
    const Broadcast meet = Broadcast::of(call);
    const double a_scale = number_of(in, 1), a_zero = number_of(in, 2), b_scale = number_of(in, 4),
                 b_zero = number_of(in, 5), c_scale = number_of(in, 6), c_zero = number_of(in, 7);
    Tensor c = Tensor::to_be_written({in[0]->dtype(), meet.shape});
    meet.for_each_row([&](Int out, const Ints& from) {
      for (Int i = 0; i < meet.length(); ++i) {
        const double a = number_at(*in[0], static_cast<Int>(meet.cell(0, from, i))) - a_zero;
        const double b = number_at(*in[3], static_cast<Int>(meet.cell(3, from, i))) - b_zero;
        const double steps = std::rint(between(combined(a * a_scale, b * b_scale) / c_scale, -1e9, 1e9)) + c_zero;
        write_saturated(c, out + i, steps);
      }
    });
    return c;
  };
}

void parameters(Operator& op) {
  op.input("A", "T").input("A_scale", "tensor(float)").input("A_zero_point", "T", Arity::optional);
  op.input("B", "T").input("B_scale", "tensor(float)").input("B_zero_point", "T", Arity::optional);
  op.input("C_scale", "tensor(float)").input("C_zero_point", "T", Arity::optional).output("C", "T");
  op.with(multidirectional_broadcast).require("scalars", "scales and zero points are scalars", [](auto& c) {
    return std::ranges::all_of(c.definition().inputs, [&](const Parameter& input) {
      return input.name == "A" || input.name == "B" || !c.has(input.name) || c.rank(input.name) == 0;
    });
  });
}

}  // namespace

// clang-format off
Operator qlinear_add() {
  using enum DType;
  return Operator("QLinearAdd", "com.microsoft")
      .with(parameters)
      .since(1)
          .type("T", {i8, u8}).type("tensor(float)", {f32})
      .shaping(Shaping::broadcast).infer(broadcast_types).kernel(requantizing([](double a, double b) { return a + b; }));
}

Operator qlinear_mul() {
  using enum DType;
  return Operator("QLinearMul", "com.microsoft")
      .with(parameters)
      .since(1)
          .type("T", {i8, u8}).type("tensor(float)", {f32})
      .shaping(Shaping::broadcast).infer(broadcast_types).kernel(requantizing([](double a, double b) { return a * b; }));
}
// clang-format on

}  // namespace assay
