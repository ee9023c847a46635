// SPDX-License-Identifier: Apache-2.0
// CausalConvWithState (ai.onnx 27) - https://onnx.ai/onnx/operators/onnx__CausalConvWithState.html
//
//   output[n,c,t] = act(bias[c] + sum over j < k of  Z[n,c,t+j] * weight[c,0,j])
//   present_state = the last k - 1 cells of every line of Z
//
// Z is past_state, or zeros, and input behind it. act(z) is z, or z * sigmoid(z) for silu and swish.
#include "reference/operator.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

Shape state_shape(const Call& call) { return {call.dim("input", 0), call.dim("input", 1), call.dim("weight", 2) - 1}; }

Types inferred(const Call& call) {
  const DType type = call.type("input").dtype;
  return {TensorType{type, call.shape("input")}, TensorType{type, state_shape(call)}};
}

template <class T>
T activated(accumulator_t<T> sum, bool has_gate) {
  if (!has_gate) return written<T>(sum);
  const double z{sum};
  return T(z / (1 + std::exp(-z)));
}

template <class T>
void convolve(const Call& call, Inputs in, std::span<T> output, std::span<T> state) {
  const auto given = [&](std::size_t input) {
    return in.size() > input && in[input] ? in[input]->as<T>() : std::span<const T>();
  };
  const std::span<const T> x = given(0), weight = given(1), bias = given(2), past = given(3);
  const auto lines = static_cast<std::size_t>(call.dim("input", 0) * call.dim("input", 1));
  const auto channels = static_cast<std::size_t>(call.dim("input", 1));
  const auto length = static_cast<std::size_t>(call.dim("input", 2));
  const auto taps = static_cast<std::size_t>(call.dim("weight", 2)), kept = taps - 1;
  const bool has_gate = call.text("activation") != "none";
  std::vector<T> z(kept + length);
  for (std::size_t line = 0; line < lines; ++line) {
    const std::size_t c = line % channels;
    if (past.empty())
      std::ranges::fill_n(z.begin(), static_cast<std::ptrdiff_t>(kept), T());
    else
      std::ranges::copy(past.subspan(line * kept, kept), z.begin());
    std::ranges::copy(x.subspan(line * length, length), z.begin() + static_cast<std::ptrdiff_t>(kept));
    for (std::size_t t = 0; t < length; ++t) {
      accumulator_t<T> sum = bias.empty() ? accumulator_t<T>{0} : static_cast<accumulator_t<T>>(bias[c]);
      for (std::size_t j = 0; j < taps; ++j)
        sum += static_cast<accumulator_t<T>>(z[t + j]) * static_cast<accumulator_t<T>>(weight[c * taps + j]);
      output[line * length + t] = activated<T>(sum, has_gate);
    }
    std::ranges::copy(std::span(z).subspan(length), state.subspan(line * kept).begin());
  }
}

Values compute(const Call& call, Inputs in) {
  const Types types = inferred(call);
  Values out;
  for (const std::optional<TensorType>& type : types) out.emplace_back(Tensor(*type));
  for_float(types[0]->dtype, [&]<class T>() { convolve<T>(call, in, out[0]->as<T>(), out[1]->as<T>()); });
  return out;
}

bool has_three_axes(const Call& c) { return c.rank("input") == 3; }
bool has_a_kernel_each(const Call& c) {
  return c.rank("weight") == 3 && c.dim("weight", 1) == 1 && c.dim("weight", 2) >= 1 &&
         (!has_three_axes(c) || c.dim("weight", 0) == c.dim("input", 1));
}

}  // namespace

// clang-format off
Operator causal_conv_with_state() {
  using enum DType;
  return Operator("CausalConvWithState")
      .input("input", "T").input("weight", "T")
      .input("bias", "T", Arity::optional).input("past_state", "T", Arity::optional)
      .output("output", "T").output("present_state", "T")
      .word("activation", {"none", "silu", "swish"}, "CS5")
      .require("CS1", "input has three axes", has_three_axes)
      .require("CS2", "weight has a kernel of one row for each channel", has_a_kernel_each)
      .require("CS3", "bias has one number for each channel",
               [](auto& c) { return !c.has("bias") || !has_three_axes(c) || c.shape("bias") == Shape{c.dim("input", 1)}; })
      .require("CS4", "past_state has a cell less than the kernel for each line of input",
               [](auto& c) { return !c.has("past_state") || !has_three_axes(c) || !has_a_kernel_each(c) || c.shape("past_state") == state_shape(c); })
      .rulings({"A14", "A26", "A29", "E50", "W8"})
      .since(27)
          .type("T", {f32, f16, bf16})
      .shaping(Shaping::normalized).infer(inferred).kernel(compute);
}
// clang-format on

}  // namespace assay
