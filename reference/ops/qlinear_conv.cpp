// SPDX-License-Identifier: Apache-2.0
// QLinearConv (ai.onnx 10) - https://onnx.ai/onnx/operators/onnx__QLinearConv.html
//
//   a[n,m,o] = B[m] + sum over c, k of (x - x_zero_point) * (w - w_zero_point[m])       exact integers
//   y[n,m,o] = saturate(round(a * x_scale * w_scale[m] / y_scale) + y_zero_point)       ties to even (A16)
//
// over the taps of Conv. A tap that falls outside x stands for the value 0, that is for x_zero_point.
#include "reference/convolution.h"
#include "reference/fast/kernels.h"
#include "reference/requantization.h"

namespace assay {
namespace {

Call conv_of(const Call& call) { return as_conv(call, "x", "w", "B"); }
Shape output_shape(const Call& call) { return Convolution(conv_of(call)).output_shape(); }

struct Scales {
  std::span<const float> x, w, y;
};

Tensor compute(const Call& call, std::span<const Tensor* const> in) {
  const Convolution conv(conv_of(call));
  const std::vector<Int> x = integers(*in[0]), w = integers(*in[3]);
  const std::vector<Int> bias =
      in.size() > 8 && in[8] ? integers(*in[8]) : std::vector<Int>(static_cast<std::size_t>(conv.maps), 0);
  const Int x_zero = integers(*in[2])[0], y_zero = integers(*in[7])[0];
  const std::vector<Int> w_zero = integers(*in[5]);
  const Scales scale{in[1]->as<float>(), in[4]->as<float>(), in[6]->as<float>()};

  Tensor y({call.type("y_zero_point").dtype, conv.output_shape()});
  conv.for_each_output([&](Int n, Int m, const Shape& o, Int at) {
    Int sum = bias[static_cast<std::size_t>(m)];
    conv.for_each_tap(n, m, o, [&](Int from, Int with) {
      sum += (x[static_cast<std::size_t>(from)] - x_zero) * (w[static_cast<std::size_t>(with)] - of_map(w_zero, m));
    });
    const double value =
        requantized(static_cast<double>(sum), scale.x[0], of_map(scale.w, m), scale.y[0]) + static_cast<double>(y_zero);
    if (y.dtype() == DType::u8)
      y.as<std::uint8_t>()[static_cast<std::size_t>(at)] = saturated<std::uint8_t>(value);
    else
      y.as<std::int8_t>()[static_cast<std::size_t>(at)] = saturated<std::int8_t>(value);
  });
  return y;
}

bool is_single(const Call& c, const char* input) { return c.shape(input).empty() || c.shape(input) == Shape{1}; }

// One value, or one per map (A18).
bool is_per_map(const Call& c, const char* input) {
  return is_single(c, input) || c.rank("w") < 1 || c.shape(input) == Shape{c.dim("w", 0)};
}

}  // namespace

// clang-format off
Operator qlinear_conv() {
  using enum DType;
  return Operator("QLinearConv")
      .input("x", "T1").input("x_scale", "tensor(float)").input("x_zero_point", "T1")
      .input("w", "T2").input("w_scale", "tensor(float)").input("w_zero_point", "T2")
      .input("y_scale", "tensor(float)").input("y_zero_point", "T3").input("B", "T4", Arity::optional)
      .output("y", "T3")
      .attribute("auto_pad", "NOTSET").attribute("dilations", ones).attribute("group", 1)
      .attribute("kernel_shape", extents_of("w")).attribute("pads", zeros).attribute("strides", ones)

      .with([](Operator& self) { convolution_constraints(self, conv_of); })
      .require("Q1", "x_scale and x_zero_point hold one value",
               [](auto& c) { return is_single(c, "x_scale") && is_single(c, "x_zero_point"); })
      .require("Q2", "w_scale and w_zero_point hold one value, or one per map",
               [](auto& c) { return is_per_map(c, "w_scale") && is_per_map(c, "w_zero_point"); })
      .require("Q3", "y_scale and y_zero_point hold one value",
               [](auto& c) { return is_single(c, "y_scale") && is_single(c, "y_zero_point"); })

      .since(10)
          .type("T1", {i8, u8}).type("T2", {i8, u8}).type("T3", {i8, u8}).type("T4", {i32})
          .type("tensor(float)", {f32})
          .rulings({"A2", "A3", "A4", "A5", "A6", "A12", "A13", "A15", "A16", "A17", "A18", "A31", "A32"})

      .shaping(Shaping::window)
      .shape(output_shape)
      .kernel(compute)
      .fast(fast::qlinear_conv);
}
// clang-format on

}  // namespace assay
