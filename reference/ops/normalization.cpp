// SPDX-License-Identifier: Apache-2.0
// LayerNormalization (ai.onnx 17) - https://onnx.ai/onnx/operators/onnx__LayerNormalization.html
// RMSNormalization (ai.onnx 23), GroupNormalization (ai.onnx 18, 21), InstanceNormalization (ai.onnx 1, 6, 22)
//
//   Y[i] = (X[i] - mean) / sqrt(variance + epsilon) * scale[i] + B[i]
//   RMS:  X[i] / sqrt(mean of squares + epsilon) * scale[i]
//
// Elements that stand together are normalized together, and a scale is theirs by where they stand:
//
//   LayerNormalization, RMSNormalization   all axes from `axis` on; scale and B broadcast to X
//   InstanceNormalization                  the spatial axes of a channel; one scale and B per channel
//   GroupNormalization                     the channels of a group; one per group (18), per channel (21)
#include "reference/families/elementwise.h"
#include "reference/families/moved.h"
#include "reference/flat_index.h"
#include "reference/type_lists.h"

#include <cmath>

namespace assay {
namespace {

// How many elements are normalized together, and the place of an element's scale, or bias, in a tensor of that shape.
struct Layout {
  Int together;
  std::function<Int(Int, const Shape&)> place;
};

template <Layout (*layout)(const Call&), bool is_centered>
Values normalized(const Call& call, Inputs in) {
  const auto [n, place] = layout(call);
  const double epsilon = call.real("epsilon");
  Values y = outputs_of(call);
  const auto parameter = [&](std::size_t k, Int i) { return number_at(*in[k], place(i, in[k]->shape())); };
  for (Int row = 0; n > 0 && row < in[0]->elements() / n; ++row) {
    const auto x = [&](Int i) { return number_at(*in[0], row * n + i); };
    double mean = 0, squares = 0;
    for (Int i = 0; is_centered && i < n; ++i) mean += x(i) / static_cast<double>(n);
    for (Int i = 0; i < n; ++i) squares += std::pow(x(i) - mean, 2) / static_cast<double>(n);
    const double deviation = std::sqrt(squares + epsilon);
    for (Int i = 0; i < n; ++i) {
      const double b = in.size() < 3 || !in[2] ? 0 : parameter(2, row * n + i);
      put_number(*y[0], row * n + i, (x(i) - mean) / deviation * parameter(1, row * n + i) + b);
    }
    if (y.size() > 1 && y[1]) put_number(*y[1], row, mean);
    if (y.size() > 2 && y[2]) put_number(*y[2], row, 1 / deviation);
  }
  return y;
}

// -- along the last axes

std::size_t first_axis(const Call& call) {
  return static_cast<std::size_t>(from_front(call.integer("axis"), call.rank("X")));
}

// Returns the place in a tensor of fewer axes, or of extents 1, that is repeated along those of X.
Int broadcast_place(const Shape& shape, const Shape& to, Int at) {
  Int place = 0, step = 1;
  for (std::size_t k = 1; k <= to.size(); at /= to[to.size() - k], ++k) {
    if (k > shape.size()) continue;
    const Int extent = shape[shape.size() - k];
    if (extent > 1) place += at % to[to.size() - k] * step;
    step *= extent;
  }
  return place;
}

Layout last_axes(const Call& call) {
  const Shape& x = call.shape("X");
  return {volume(std::span(x).subspan(first_axis(call))),
          [x](Int at, const Shape& shape) { return broadcast_place(shape, x, at); }};
}

bool has_axis(const Call& call) { return is_axis(call.integer("axis"), call.rank("X")); }

bool broadcasts(const Call& call, const char* input) {
  if (!call.has(input)) return true;
  const Shape &shape = call.shape(input), &to = call.shape("X");
  if (shape.size() > to.size()) return false;
  for (std::size_t k = 1; k <= shape.size(); ++k)
    if (shape[shape.size() - k] != 1 && shape[shape.size() - k] != to[to.size() - k]) return false;
  return true;
}

// -- by channels

Int spatial(const Call& call, const char* x) { return volume(std::span(call.shape(x)).subspan(2)); }

Layout of_channel(const Call& call) {
  const Int area = spatial(call, "input"), channels = call.dim("input", 1);
  return {area, [=](Int at, const Shape&) { return at / area % channels; }};
}

Layout of_group(const Call& call) {
  const Int area = spatial(call, "X"), channels = call.dim("X", 1), together = channels / call.integer("num_groups");
  const Int shared = call.definition().version.since_version < 21 ? together : 1;
  return {area * together, [=](Int at, const Shape&) { return at / area % channels / shared; }};
}

bool has_axes(const Call& call, const char* x) { return call.rank(x) >= 3; }
bool is_list(const Call& call, const char* input, Int length) { return call.shape(input) == Shape{length}; }

bool divides(const Call& call) {
  const Int groups = call.integer("num_groups");
  return !has_axes(call, "X") || (groups > 0 && call.dim("X", 1) % groups == 0);
}

bool has_a_stash(const Call& call) { return call.integer("stash_type") == 1 || call.integer("stash_type") == 16; }

// clang-format off
void epsilon(Operator& op) {
  op.attribute("epsilon", 1e-5F).require("Z4", "epsilon is not negative", [](auto& c) { return c.real("epsilon") >= 0; });
}

void stash(Operator& op) {
  op.attribute("stash_type", 1).require("Z3", "stash_type is 1 or 16", has_a_stash);
}

void of_last_axes(Operator& op) {
  op.with(epsilon).with(stash).attribute("axis", -1)
      .require("Z1", "axis is in [-rank(X), rank(X) - 1]", has_axis);
}

}  // namespace

Operator layer_normalization() {
  return Operator("LayerNormalization")
      .input("X", "T").input("Scale", "T").input("B", "T", Arity::optional)
      .output("Y", "T").output("Mean", "U", Arity::optional).output_typed_by("stash_type", "Mean", "U")
      .output("InvStdDev", "U", Arity::optional).output_typed_by("stash_type", "InvStdDev", "U")
      .type("T", types::all_float_types_ir4()).type("U", {DType::f32, DType::bf16})
      .with(of_last_axes).rulings({"A29", "N29", "N48"})
      .require("Z2", "Scale and B can be broadcast to X", [](auto& c) { return broadcasts(c, "Scale") && broadcasts(c, "B"); })
      .since(17)
      .shaping(Shaping::normalized)
      .infer([](const Call& call) {
        Shape kept = call.shape("X");
        std::fill(kept.begin() + static_cast<Int>(first_axis(call)), kept.end(), 1);
        Types types{TensorType(call.type("X")), std::nullopt, std::nullopt};
        for (const std::size_t k : {1, 2}) {
          const Parameter& output = call.definition().outputs[k];
          if (call.requests(output.name)) types[k] = TensorType{call.definition().type_of(call, output), kept};
        }
        return types;
      })
      .kernel(normalized<last_axes, true>);
}

Operator rms_normalization() {
  return Operator("RMSNormalization")
      .input("X", "T").input("scale", "V").output("Y", "V")
      .type("T", types::all_float_types_ir4()).type("V", types::all_float_types_ir4())
      .with(of_last_axes).rulings({"A29", "N12", "N29", "N48"})
      .require("Z2", "scale can be broadcast to X", [](auto& c) { return broadcasts(c, "scale"); })
      .since(23)
      .shaping(Shaping::normalized).shape(same_as("X")).kernel(normalized<last_axes, false>);
}

Operator instance_normalization() {
  return Operator("InstanceNormalization")
      .input("input", "T").input("scale", "T").input("B", "T").output("output", "T")
      .with(epsilon).ruling("A29")
      .require("I1", "rank(input) >= 3", [](auto& c) { return has_axes(c, "input"); })
      .require("I2", "scale and B are lists of one element per channel", [](auto& c) {
        return !has_axes(c, "input") || (is_list(c, "scale", c.dim("input", 1)) && is_list(c, "B", c.dim("input", 1))); })
      .since(1)
      .type("T", types::all_float_types()).with(consumed_inputs)
      .require("I3", "rank(input) = 4", [](auto& c) { return !has_axes(c, "input") || c.rank("input") == 4; })
      .since(6, "any number of spatial axes; consumed_inputs is gone").with(without_consumed_inputs).without("I3")
      .since(22, "T admits bfloat16").type("T", types::all_float_types_ir4())
      .shaping(Shaping::normalized).shape(same_as("input")).kernel(normalized<of_channel, true>);
}

Operator group_normalization() {
  return Operator("GroupNormalization")
      .input("X", "T").input("scale", "T").input("bias", "T").output("Y", "T")
      .with(epsilon).required_integer("num_groups").type("T", types::all_float_types_ir4()).rulings({"A29", "N30", "N48"})
      .require("U1", "num_groups divides the channels", divides)
      .require("U3", "rank(X) >= 3", [](auto& c) { return has_axes(c, "X"); })
      .since(18).ruling("M54")
      .require("U2", "scale and bias are lists of one element per group", [](auto& c) {
        const Int n = c.integer("num_groups"); return is_list(c, "scale", n) && is_list(c, "bias", n); })
      .since(21, "one scale and bias per channel; stash_type").with(stash).without("U2").settled("M54")
      .require("U2", "scale and bias are lists of one element per channel", [](auto& c) {
        return !has_axes(c, "X") || (is_list(c, "scale", c.dim("X", 1)) && is_list(c, "bias", c.dim("X", 1))); })
      .shaping(Shaping::normalized).shape(same_as("X")).kernel(normalized<of_group, true>);
}
// clang-format on

}  // namespace assay
