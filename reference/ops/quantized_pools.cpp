// SPDX-License-Identifier: Apache-2.0
// com.microsoft's means of integers - https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
//
// QLinearAveragePool (1)        Y[n,c,o] = saturate(round(mean / y_scale) + y_zero_point)
// QLinearGlobalAveragePool (1)  the same, whose one window is the plane
//
// where mean is that of (X - x_zero_point) * x_scale over the taps AveragePool counts: those inside X, or with
// count_include_pad those inside X or its padding, which are 0. Ties go to even, before or after the zero point is
// added. With channels_last X is laid out N x D1 … Dr x C.
#include "reference/families/elementwise.h"
#include "reference/families/windows.h"
#include "reference/requantization.h"

#include <algorithm>

namespace assay {
namespace {

// A mean of no tap is 0.
Values averaged(const Call& call, Inputs in) {
  const double x_scale = number_of(in, 1), x_zero = number_of(in, 2), y_scale = number_of(in, 3),
               y_zero = number_of(in, 4);
  const bool counts_padding =
      call.definition().attribute("count_include_pad") && call.integer("count_include_pad") != 0;
  const Window window = Window::of(call);
  const Shape kernel = window.kernel(), windows = window.output();
  const Planes from = Planes::of(call, volume(window.input())), to = Planes::of(call, volume(windows));
  Tensor y({in[0]->dtype(), pooled_shape(call)});
  for (Int plane = 0; plane < to.count(); ++plane)
    for_each_position(windows, [&](const Shape& o, Int place) {
      double sum = 0, count = 0;
      for_each_position(kernel, [&](const Shape& k, Int) {
        const std::optional<Int> cell = window.cell(o, k);
        if (cell) sum += number_at(*in[0], from.at(plane, *cell)) - x_zero;
        if (cell || (counts_padding && window.is_padded(o, k))) ++count;
      });
      const double mean = count > 0 ? sum * x_scale / count : 0;
      const double steps = std::rint(between(mean / y_scale, -1e9, 1e9)) + y_zero;
      write_saturated(y, to.at(plane, place), steps);
    });
  return y;
}

bool are_scalars(const Call& c) {
  return std::ranges::all_of(c.definition().inputs, [&](const Parameter& input) {
    return input.name == "X" || !c.has(input.name) || c.rank(input.name) == 0;
  });
}

template <Arity zero_points>
void quantization(Operator& op) {
  op.input("x_scale", "tensor(float)").input("x_zero_point", "T", zero_points);
  op.input("y_scale", "tensor(float)").input("y_zero_point", "T", zero_points).attribute("channels_last", 0);
  op.require("Q1", "scales and zero points are scalars", are_scalars);
}

}  // namespace

// clang-format off
Operator qlinear_average_pool() {
  using enum DType;
  return Operator("QLinearAveragePool", "com.microsoft")
      .with(pool_parameters).with(quantization<Arity::optional>)
      .attribute("ceil_mode", 0).attribute("count_include_pad", 0)
      .since(1)
          .type("T", {i8, u8}).type("tensor(float)", {f32})
          .rulings({"A3", "A4", "A5", "A6", "A7", "A8", "A12", "A15", "A31"})
      .shaping(Shaping::window).infer(pooled).kernel(averaged);
}

Operator qlinear_global_average_pool() {
  using enum DType;
  return Operator("QLinearGlobalAveragePool", "com.microsoft")
      .input("X", "T").output("Y", "T")
      .with(quantization<Arity::required>)
      .require("C1", "rank(X) >= 3: at least one spatial axis", [](const Call& c) { return c.rank("X") >= 3; })
      .since(1)
          .type("T", {i8, u8}).type("tensor(float)", {f32})
      .shaping(Shaping::window).infer(pooled).kernel(averaged);
}
// clang-format on

}  // namespace assay
