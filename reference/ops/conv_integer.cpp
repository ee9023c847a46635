// SPDX-License-Identifier: Apache-2.0
// ConvInteger (ai.onnx 10) - https://onnx.ai/onnx/operators/onnx__ConvInteger.html
//
//   y[n,m,o] = sum over c, k of (x - x_zero_point) * (w - w_zero_point[m])       modulo 2^32 (W7)
//
// over the taps of Conv. A tap that falls outside x contributes no term.
#include "reference/convolution.h"
#include "reference/requantization.h"

namespace assay {
namespace {

Call conv_of(const Call& call) { return as_conv(call, "x", "w", "B"); }
Shape output_shape(const Call& call) { return Convolution(conv_of(call)).output_shape(); }

Tensor compute(const Call& call, Inputs in) {
  const Convolution conv(conv_of(call));
  const auto zero_points = [&](std::size_t input) {
    return in.size() > input && in[input] ? integers(*in[input]) : std::vector<Int>{0};
  };
  const std::vector<Int> x = integers(*in[0]), w = integers(*in[1]), w_zero = zero_points(3);
  const Int x_zero = zero_points(2)[0];
  Tensor y = Tensor::to_be_written({DType::i32, conv.output_shape()});
  const std::span<std::int32_t> to = y.as<std::int32_t>();
  conv.for_each_output([&](Int n, Int m, const Shape& o, Int at) {
    Int sum = 0;
    conv.for_each_tap(n, m, o, [&](Int from, Int with) {
      sum += (x[static_cast<std::size_t>(from)] - x_zero) * (w[static_cast<std::size_t>(with)] - of_map(w_zero, m));
    });
    to[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(sum);
  });
  return y;
}

bool is_single(const Call& c, const char* input) {
  return !c.has(input) || c.shape(input).empty() || c.shape(input) == Shape{1};
}

}  // namespace

// clang-format off
Operator conv_integer() {
  using enum DType;
  return Operator("ConvInteger")
      .input("x", "T1").input("w", "T2")
      .input("x_zero_point", "T1", Arity::optional).input("w_zero_point", "T2", Arity::optional).output("y", "T3")
      .attribute("auto_pad", "NOTSET").attribute("dilations", ones).attribute("group", 1)
      .attribute("kernel_shape", extents_of("w")).attribute("pads", zeros).attribute("strides", ones)
      .with([](Operator& self) { convolution_constraints(self, conv_of, {"C4", "C5"}); })
      .require("Q1", "x_zero_point holds one value", [](auto& c) { return is_single(c, "x_zero_point"); })
      .require("Q2", "w_zero_point holds one value, or one per map",
               [](auto& c) {
                 return is_single(c, "w_zero_point") || c.rank("w") < 1 || c.shape("w_zero_point") == Shape{c.dim("w", 0)};
               })
      .since(10)
          .type("T1", {i8, u8}).type("T2", {i8, u8}).type("T3", {i32})
          .rulings({"A2", "A3", "A4", "A5", "A6", "A12", "A15", "A31", "A32", "W7"})
      .shaping(Shaping::window).shape(output_shape).kernel(compute);
}
// clang-format on

}  // namespace assay
