// SPDX-License-Identifier: Apache-2.0
// Conv (ai.onnx 1, 11, 22) - https://onnx.ai/onnx/operators/onnx__Conv.html
//
//   Y[n,m,o] = B[m] + sum over c, k of  W[m,c,k] * X[n, g*C + c, o*stride + k*dilation - pad]
//
// with C = dim(W,1), g = m / (M / group). A tap that falls outside X contributes no term (A12).
#include "reference/convolution.h"
#include "reference/fast/kernels.h"

namespace assay {
namespace {

Shape output_shape(const Call& call) { return Convolution(call).output_shape(); }

// Terms are added in (c, k) order to the bias, one rounding per operation in the accumulator: golden digests and the
// bit-identity of the fast engine depend on this order.
template <class T>
void convolve(const Call& call, std::span<const T> x, std::span<const T> w, std::span<const T> bias, std::span<T> y) {
  using Accumulator = accumulator_t<T>;
  const Convolution conv(call);
  conv.for_each_output([&](Int n, Int m, const Shape& o, Int at) {
    Accumulator sum = bias.empty() ? Accumulator{0} : static_cast<Accumulator>(bias[m]);
    conv.for_each_tap(n, m, o, [&](Int from, Int with) {
      sum += static_cast<Accumulator>(w[with]) * static_cast<Accumulator>(x[from]);
    });
    y[at] = written<T>(sum);
  });
}

Tensor compute(const Call& call, std::span<const Tensor* const> in) {
  Tensor y({call.type("X").dtype, output_shape(call)});
  for_float(y.dtype(), [&]<class T>() {
    const std::span<const T> bias = in.size() > 2 && in[2] ? in[2]->as<T>() : std::span<const T>{};
    convolve<T>(call, in[0]->as<T>(), in[1]->as<T>(), bias, y.as<T>());
  });
  return y;
}

bool kernel_matches_w(const Call& c) {
  return c.rank("W") != c.rank("X") || c.ints("kernel_shape") == extents_of("W")(c);
}

bool bias_is_vector(const Call& c) { return !c.has("B") || c.rank("B") == 1; }
bool bias_is_one(const Call& c) { return c.has("B") && c.shape("B") == Shape{1}; }
bool bias_matches_maps(const Call& c) {
  return !c.has("B") || c.rank("B") != 1 || c.rank("W") < 1 || c.dim("B", 0) == c.dim("W", 0);
}

bool depth_times_group_is_channels(const Call& c) {
  return c.rank("X") < 2 || c.rank("W") < 2 || c.integer("group") < 1 ||
         c.dim("X", 1) == c.dim("W", 1) * c.integer("group");
}

bool group_divides_maps(const Call& c) {
  return c.rank("W") < 1 || c.integer("group") < 1 || c.dim("W", 0) % c.integer("group") == 0;
}

}  // namespace

// clang-format off
Operator conv() {
  using enum DType;
  return Operator("Conv")
      .input("X", "T").input("W", "T").input("B", "T", Arity::optional).output("Y", "T")
      .attribute("auto_pad", "NOTSET").attribute("dilations", ones).attribute("group", 1)
      .attribute("kernel_shape", extents_of("W")).attribute("pads", zeros).attribute("strides", ones)

      .require("C1", "rank(X) >= 3: at least one spatial axis", [](auto& c) { return c.rank("X") >= 3; })
      .require("C2", "rank(W) = rank(X)",                       [](auto& c) { return c.rank("W") == c.rank("X"); })
      .require("C3", "dim(X,1) = dim(W,1) * group",             depth_times_group_is_channels)
      .require("C4", "B has one dimension, of length dim(W,0) or 1",
               [](auto& c) { return bias_is_vector(c) && (bias_is_one(c) || bias_matches_maps(c)); })
      .require("C5", "B has length dim(W,0), also where it has length 1",
               [](auto& c) { return !bias_is_one(c) || bias_matches_maps(c); }, "A13")
      .require("C6", "dim(W,0) mod group = 0",                  group_divides_maps)
      .require("C7", "group >= 1",                              [](auto& c) { return c.integer("group") >= 1; })
      .require("C8", "kernel_shape, where present, is the spatial extents of W", kernel_matches_w)
      .with(window_constraints)

      .since(1)
          .type("T", {f16, f32, f64})
          .rulings({"A1", "A2", "A3", "A4", "A5", "A6", "A12", "A13", "A14", "A15", "A26", "A29", "A31", "A32"})
      .since(11, "SAME_* is ceil(in / stride); strides and dilations default to 1; group divides dim(W,0)")
          .settled("A1").settled("A32")
      .since(22, "T admits bfloat16")
          .type("T", {bf16, f16, f32, f64})

      .shaping(Shaping::window)
      .shape(output_shape)
      .kernel(compute)
      .fast(fast::conv);
}
// clang-format on

}  // namespace assay
