// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeLinear (ai.onnx 11) - https://onnx.ai/onnx/operators/onnx__DynamicQuantizeLinear.html
//
//   y_scale = (max(0, max(x)) - min(0, min(x))) / 255
//   y_zero_point = saturate(round(0 - min(0, min(x)) / y_scale))
//   y[i] = saturate(round(x[i] / y_scale) + y_zero_point)               ties to even
//
// Of zeros alone the scale is 0, and so is all else (W48).
#include "reference/operator.h"
#include "reference/requantization.h"

#include <algorithm>

namespace assay {
namespace {

Values quantize(const Call&, Inputs in) {
  const std::span<const float> x = in[0]->as<float>();
  float low = 0, high = 0;
  for (const float each : x) low = std::min(low, each), high = std::max(high, each);
  const float scale = (high - low) / 255;
  const double zero = saturated<std::uint8_t>(std::rint(static_cast<double>(0 - low / scale)));
  Tensor y = Tensor::to_be_written({DType::u8, in[0]->shape()}), y_scale({DType::f32, {}}), y_zero({DType::u8, {}});
  std::ranges::transform(x, y.as<std::uint8_t>().begin(), [&](float each) {
    return saturated<std::uint8_t>(between(std::rint(static_cast<double>(each / scale)), -1e9, 1e9) + zero);
  });
  y_scale.as<float>()[0] = scale;
  y_zero.as<std::uint8_t>()[0] = static_cast<std::uint8_t>(zero);
  Values all;
  for (Tensor* each : {&y, &y_scale, &y_zero}) all.emplace_back(std::move(*each));
  return all;
}

}  // namespace

// clang-format off
Operator dynamic_quantize_linear() {
  using enum DType;
  return Operator("DynamicQuantizeLinear")
      .input("x", "T1").output("y", "T2").output("y_scale", "tensor(float)").output("y_zero_point", "T2")
      .rulings({"A16", "W48", "W49"})
      .since(11)
          .type("T1", {f32}).type("T2", {u8}).type("tensor(float)", {f32})
      .shaping(Shaping::one)
      .infer([](const Call& c) { return Types{TensorType{u8, c.shape("x")}, TensorType{f32, {}}, TensorType{u8, {}}}; })
      .kernel(quantize);
}
// clang-format on

}  // namespace assay
