// SPDX-License-Identifier: Apache-2.0
// ConvTranspose (ai.onnx 1, 11, 22) - https://onnx.ai/onnx/operators/onnx__ConvTranspose.html
//
//   Y[n, q M/g + m, o] = B[q M/g + m] + sum of X[n,c,i] * W[c,m,k] over c of group q and i, k with o + pad = i s + k d
//
// per axis, with g = group. What pads and extents follow from auto_pad, output_padding and output_shape:
//
//   full = s (I - 1) + (K - 1) d + 1 + output_padding
//   NOTSET         full less the pads                       VALID       full, no pads
//   SAME_*         the lesser of I s and full (W2, W3)      output_shape, whatever auto_pad says
//
// Of the last two, what is left over is padded: the odd cell at the end for SAME_UPPER, else at the beginning (W4).
#include "reference/convolution.h"
#include "reference/families/windows.h"
#include "reference/fast/kernels.h"

#include <algorithm>

namespace assay {
namespace {

Shape output_shape(const Call& call) {
  Shape y{call.dim("X", 0), bounded_product(call.dim("W", 1), call.integer("group"))};
  for (const Spread& axis : spread(call)) y.push_back(axis.out);
  return y;
}

// Terms are added in (c, k) order to the bias.
template <class T>
void spread_out(const Call& call, std::span<const T> x, std::span<const T> w, std::span<const T> bias, std::span<T> y) {
  using Accumulator = accumulator_t<T>;
  const std::vector<Spread> axes = spread(call);
  const Shape shape = output_shape(call), windows(shape.begin() + 2, shape.end());
  const Int channels = call.dim("X", 1), maps = call.dim("W", 1), depth = channels / call.integer("group");
  const Ints kernel = call.ints("kernel_shape");
  const Int taps = volume(kernel);
  std::size_t at = 0;
  for (Int n = 0; n < shape[0]; ++n)
    for (Int m = 0; m < shape[1]; ++m)
      for_each_position(windows, [&](const Shape& o, Int) {
        Accumulator sum = bias.empty() ? Accumulator{0} : static_cast<Accumulator>(bias[static_cast<std::size_t>(m)]);
        for (Int c = m / maps * depth; c < (m / maps + 1) * depth; ++c)
          for_each_position(kernel, [&](const Shape& k, Int tap) {
            Int from = n * channels + c;
            for (std::size_t i = 0; i < axes.size(); ++i) {
              const std::optional<Int> cell = axes[i].cell(o[i], k[i]);
              if (!cell) return;
              from = from * axes[i].in + *cell;
            }
            sum += static_cast<Accumulator>(x[static_cast<std::size_t>(from)]) *
                   static_cast<Accumulator>(w[static_cast<std::size_t>((c * maps + m % maps) * taps + tap)]);
          });
        y[at++] = written<T>(sum);
      });
}

Tensor compute(const Call& call, Inputs in) {
  Tensor y({call.type("X").dtype, output_shape(call)});
  for_float(y.dtype(), [&]<class T>() {
    const std::span<const T> bias = in.size() > 2 && in[2] ? in[2]->as<T>() : std::span<const T>{};
    spread_out<T>(call, in[0]->as<T>(), in[1]->as<T>(), bias, y.as<T>());
  });
  return y;
}

Ints none(const Call& call) { return Ints(static_cast<std::size_t>(std::max<Int>(0, call.rank("X") - 2)), 0); }

bool has_ranks(const Call& c) { return c.rank("X") >= 3 && c.rank("W") == c.rank("X"); }
bool has_group(const Call& c) { return c.integer("group") >= 1 && c.dim("X", 1) % c.integer("group") == 0; }
bool is_per_axis(const Call& c, const char* list) { return std::ssize(c.ints(list)) == c.rank("X") - 2; }
// The lists of a window are as long as they should be.
bool has_lists(const Call& c) {
  return is_per_axis(c, "kernel_shape") && is_per_axis(c, "strides") && is_per_axis(c, "dilations") &&
         std::ssize(c.ints("pads")) == 2 * (c.rank("X") - 2);
}

bool padding_is_bounded(const Call& c) {
  const Ints more = c.ints("output_padding"), strides = c.ints("strides"), dilations = c.ints("dilations");
  if (!has_ranks(c) || !has_lists(c)) return true;
  for (std::size_t i = 0; i < more.size(); ++i)
    if (more[i] < 0 || i >= strides.size() || more[i] >= std::max(strides[i], dilations[i])) return false;
  return is_per_axis(c, "output_padding");
}

bool shape_is_spatial(const Call& c) {
  return !c.states("output_shape") || !has_ranks(c) ||
         (is_per_axis(c, "output_shape") && all_at_least(c.ints("output_shape"), 1));
}

bool has_outputs(const Call& c) {
  if (!has_ranks(c) || !has_lists(c) || !padding_is_bounded(c) || !shape_is_spatial(c)) return true;
  for (const char* list : {"kernel_shape", "strides", "dilations"})
    if (!all_at_least(c.ints(list), 1)) return true;
  return !all_at_least(c.ints("pads"), 0) ||
         std::ranges::all_of(spread(c), [](const Spread& axis) { return axis.out >= 1; });
}

// What is left of the constraints on windows: those slide over the output here.
void spread_constraints(Operator& op) {
  window_constraints(op);
  op.without("W8");
}

}  // namespace

// clang-format off
Operator conv_transpose() {
  using enum DType;
  return Operator("ConvTranspose")
      .input("X", "T").input("W", "T").input("B", "T", Arity::optional).output("Y", "T")
      .attribute("auto_pad", "NOTSET").attribute("dilations", ones).attribute("group", 1)
      .attribute("kernel_shape", extents_of("W")).attribute("output_padding", none).optional_ints("output_shape")
      .attribute("pads", zeros).attribute("strides", ones)
      .require("CT1", "dim(W,0) = dim(X,1)",
               [](auto& c) { return !has_ranks(c) || c.dim("W", 0) == c.dim("X", 1); })
      .require("CT2", "group >= 1 divides dim(X,1)", [](auto& c) { return !has_ranks(c) || has_group(c); })
      .require("CT3", "B has one dimension, of length dim(W,1) * group",
               [](auto& c) {
                 return !c.has("B") || !has_ranks(c) || c.integer("group") < 1 ||
                        c.shape("B") == Shape{c.dim("W", 1) * c.integer("group")};
               })
      .require("CT6", "kernel_shape, where present, is the spatial extents of W",
               [](auto& c) { return !has_ranks(c) || c.ints("kernel_shape") == extents_of("W")(c); })
      .require("CT7", "output_padding is not negative and less than a stride or a dilation", padding_is_bounded)
      .require("CT8", "output_shape has one entry per spatial axis, at least 1", shape_is_spatial)
      .require("CT10", "at least one output on every spatial axis", has_outputs, "A6")
      .require("CT11", "rank(W) = rank(X) >= 3", has_ranks)
      .with(spread_constraints)
      .since(1)
          .type("T", {f16, f32, f64})
          .rulings({"A4", "A5", "A6", "A12", "A26", "A29", "W1", "W2", "W3", "W4", "W5", "W6"})
      .since(11, "SAME_* is in * stride; the odd cell of output_shape; strides and dilations default to 1")
          .settled("W1").settled("W4")
      .since(22, "T admits bfloat16")
          .type("T", {bf16, f16, f32, f64})
      .shaping(Shaping::transposed).shape(output_shape).kernel(compute).fast(fast::conv_transpose);
}
// clang-format on

}  // namespace assay
