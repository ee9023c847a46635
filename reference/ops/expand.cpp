// SPDX-License-Identifier: Apache-2.0
// Expand (ai.onnx 8, 13) - https://onnx.ai/onnx/operators/onnx__Expand.html
// Tile (ai.onnx 1, 6, 13) - https://onnx.ai/onnx/operators/onnx__Tile.html
//
//   Expand repeats axes of one element as often as the shape says that it meets from the last axis on, which may have
//   more axes. Tile repeats all of input along every axis.
#include "reference/families/moved.h"
#include "reference/type_lists.h"

#include <algorithm>

namespace assay {
namespace {

bool is_negative(Int entry) { return entry < 0; }

// The extents, as many as the rank with axes of 1 in front.
Shape aligned(Shape shape, Int rank) {
  shape.insert(shape.begin(), static_cast<std::size_t>(std::max<Int>(0, rank - std::ssize(shape))), 1);
  return shape;
}

Shape expanded(const Call& call) {
  const Int rank = std::max(call.rank("input"), std::ssize(call.ints("shape")));
  Shape shape = aligned(call.ints("shape"), rank);
  const Shape input = aligned(call.shape("input"), rank);
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == 1) shape[axis] = input[axis];
  return shape;
}

bool meets(const Call& call) {
  const Shape shape = expanded(call), input = aligned(call.shape("input"), std::ssize(shape));
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (!is_negative(shape[axis]) && input[axis] != 1 && input[axis] != shape[axis]) return false;
  return true;
}

Strides expanding(const Call& call) {
  Strides at{expanded(call), {}};
  const Shape input = aligned(call.shape("input"), std::ssize(at.extents));
  at.steps = steps_of(input);
  for (std::size_t axis = 0; axis < input.size(); ++axis)
    if (input[axis] == 1) at.steps[axis] = 0;
  return at;
}

// How often input is repeated along each axis.
Ints repeats(const Call& call) {
  if (!call.definition().input("tiles")) return call.ints("repeats");
  Ints all(call.shape("input").size(), 1);
  all[static_cast<std::size_t>(call.integer("axis"))] = call.integer("tiles");
  return all;
}

Shape tiled(const Call& call) {
  Shape shape = call.shape("input");
  for (std::size_t axis = 0; axis < shape.size(); ++axis) shape[axis] *= repeats(call)[axis];
  return shape;
}

Strides tiling(const Call& call) {
  const Shape& input = call.shape("input");
  const Ints steps = steps_of(input), times = repeats(call);
  Strides at;
  for (std::size_t axis = 0; axis < input.size(); ++axis) {
    at.extents.insert(at.extents.end(), {times[axis], input[axis]});
    at.steps.insert(at.steps.end(), {0, steps[axis]});
  }
  return at;
}

auto is_whole(const char* name) {
  return [=](const Call& call) {
    return !call.shape(name).empty() || call.real(name) == static_cast<float>(call.integer(name));
  };
}

}  // namespace

// clang-format off
Operator expand() {
  return Operator("Expand")
      .input("input", "T").parameter("shape", "i64", "shape").output("output", "T").rulings({"A29", "E1"})
      .require("C1", "extents are equal where both are not 1", meets)
      .require("C2", "no entry is negative", [](auto& c) { return std::ranges::none_of(c.ints("shape"), is_negative); })
      .require("C3", "rank(shape) = 1", [](auto& c) { return c.rank("shape") == 1; })
      .since(8).type("T", types::all_tensor_types())
      .since(13, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .shaping(Shaping::moved).infer(moved_to(expanded)).kernel(strided(expanding));
}

Operator tile() {
  using enum DType;
  return Operator("Tile")
      .input("input", "T").output("output", "T").type("T1", {i64}).rulings({"A29", "E1"})
      .since(1).type("T", types::all_float_types())
          .parameter("tiles", "T", "tiles").parameter("axis", "T", "axis").ruling("M10")
          .require("C1", "tiles and axis are whole numbers", [](auto& c) { return is_whole("tiles")(c) && is_whole("axis")(c); })
          .require("C2", "tiles is not negative", [](auto& c) { return !c.shape("tiles").empty() || c.integer("tiles") >= 0; })
          .require("C3", "axis is in [0, rank(input) - 1]", [](auto& c) {
            return !c.shape("axis").empty() || (c.integer("axis") >= 0 && c.integer("axis") < c.rank("input")); })
          .require("C4", "tiles and axis are scalars", [](auto& c) { return c.shape("tiles").empty() && c.shape("axis").empty(); })
      .since(6, "repeats of every axis; T admits every type").type("T", types::all_tensor_types())
          .without("tiles").without("axis").without("C1").without("C2").without("C3").without("C4").settled("M10")
          .parameter("repeats", "T1", "repeats")
          .require("C1", "repeats has as many entries as input has axes", [](auto& c) {
            return std::ssize(c.ints("repeats")) == c.rank("input"); })
          .require("C2", "no entry is negative", [](auto& c) { return std::ranges::none_of(c.ints("repeats"), is_negative); })
          .require("C3", "rank(repeats) = 1", [](auto& c) { return c.rank("repeats") == 1; })
      .since(13, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .shaping(Shaping::moved).infer(moved_to(tiled)).kernel(strided(tiling));
}
// clang-format on

}  // namespace assay
