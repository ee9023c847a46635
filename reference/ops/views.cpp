// SPDX-License-Identifier: Apache-2.0
// Flatten (ai.onnx 1, 9, 11, 13, 21, 23, 24, 25) - https://onnx.ai/onnx/operators/onnx__Flatten.html
// Squeeze (ai.onnx 1, 11, 13, 21, 23, 24, 25) - https://onnx.ai/onnx/operators/onnx__Squeeze.html
// Unsqueeze (the same) - https://onnx.ai/onnx/operators/onnx__Unsqueeze.html
//
//   All keep the elements in their order. Flatten makes a matrix, whose rows are the axes before `axis` together.
//   Squeeze drops the axes listed, of one element each, or all such axes where none are. Unsqueeze puts in axes of one
//   element, so that they stand in the output where they are listed.
#include "reference/families/moved.h"
#include "reference/type_lists.h"

#include <algorithm>

namespace assay {
namespace {

Int lists_axis(const Ints& axes, Int axis, Int rank) {
  return std::ranges::count_if(axes, [=](Int each) { return from_front(each, rank) == axis; });
}

bool is_in_range(const Ints& axes, Int rank, bool from_end) {
  return std::ranges::all_of(axes, [=](Int axis) { return is_axis(axis, rank) && (from_end || axis >= 0); });
}

bool has_no_duplicates(const Ints& axes, Int rank) {
  return std::ranges::all_of(axes, [&](Int axis) { return lists_axis(axes, from_front(axis, rank), rank) == 1; });
}

Shape flattened(const Call& call) {
  const Shape& input = call.shape("input");
  const auto axis = static_cast<std::size_t>(from_front(call.integer("axis"), call.rank("input")));
  return {volume(std::span(input).first(axis)), volume(std::span(input).subspan(axis))};
}

Ints units(const Call& call) {
  Ints axes;
  for (Int axis = 0; axis < call.rank("data"); ++axis)
    if (call.dim("data", axis) == 1) axes.push_back(axis);
  return axes;
}

Ints dropped(const Call& call) { return call.states("axes") ? call.ints("axes") : units(call); }

bool drops_units(const Call& call) {
  return std::ranges::all_of(dropped(call), [&](Int axis) {
    return !is_axis(axis, call.rank("data")) || call.dim("data", from_front(axis, call.rank("data"))) == 1;
  });
}

Shape squeezed(const Call& call) {
  Shape shape;
  for (Int axis = 0; axis < call.rank("data"); ++axis)
    if (lists_axis(dropped(call), axis, call.rank("data")) == 0) shape.push_back(call.dim("data", axis));
  return shape;
}

Int rank_with(const Call& call) { return call.rank("data") + std::ssize(call.ints("axes")); }

Shape unsqueezed(const Call& call) {
  Shape shape = call.shape("data");
  for (Int axis = 0; axis < rank_with(call); ++axis)
    if (lists_axis(call.ints("axes"), axis, rank_with(call)) > 0) shape.insert(shape.begin() + axis, 1);
  return shape;
}

bool has_list_of_axes(const Call& call) { return !call.has("axes") || call.rank("axes") == 1; }

}  // namespace

// clang-format off
Operator flatten() {
  return Operator("Flatten")
      .input("input", "T").output("output", "T").attribute("axis", 1).rulings({"A29", "E1"})
      .require("C1", "axis is in [0, rank(input)]", [](auto& c) {
        return c.integer("axis") >= 0 && c.integer("axis") <= c.rank("input"); })
      .since(1).type("T", types::all_float_types())
      .since(9, "T admits every type").type("T", types::all_tensor_types())
      .since(11, "axis may count from the end").without("C1")
          .require("C1", "axis is in [-rank(input), rank(input)]", [](auto& c) {
            return c.integer("axis") >= -c.rank("input") && c.integer("axis") <= c.rank("input"); })
      .since(13, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .with(small_types)
      .shaping(Shaping::moved).infer(moved_to(flattened)).kernel(viewed());
}

Operator squeeze() {
  return Operator("Squeeze")
      .input("data", "T").output("squeezed", "T").type("T", types::all_tensor_types()).rulings({"A29", "E1", "M5"})
      .require("C1", "axes are in [0, rank(data) - 1]", [](auto& c) {
        return is_in_range(dropped(c), c.rank("data"), false); })
      .require("C2", "axes that are dropped have one element", drops_units)
      .require("C3", "no axis is listed twice", [](auto& c) {
        return has_no_duplicates(dropped(c), c.rank("data")); }, "M5")
      .since(1).attribute("axes", units)
      .since(11, "axes may count from the end").without("C1")
          .require("C1", "axes are in [-rank(data), rank(data) - 1]", [](auto& c) {
            return is_in_range(dropped(c), c.rank("data"), true); })
      .since(13, "axes is an input; T admits bfloat16").type("T", types::all_tensor_types_ir4())
          .without("axes").parameter("axes", "i64", "axes", Arity::optional).rulings({"M3", "M4"})
          .require("C4", "rank(axes) = 1", has_list_of_axes, "M4")
      .with(small_types)
      .shaping(Shaping::moved).infer(moved_to(squeezed)).kernel(viewed());
}

Operator unsqueeze() {
  return Operator("Unsqueeze")
      .input("data", "T").output("expanded", "T").type("T", types::all_tensor_types()).rulings({"A29", "E1"})
      .require("C1", "axes are in [0, rank(expanded) - 1]", [](auto& c) {
        return is_in_range(c.ints("axes"), rank_with(c), false); })
      .require("C2", "no axis is listed twice", [](auto& c) {
        return has_no_duplicates(c.ints("axes"), rank_with(c)); })
      .since(1).required_ints("axes")
      .since(11, "axes may count from the end").without("C1")
          .require("C1", "axes are in [-rank(expanded), rank(expanded) - 1]", [](auto& c) {
            return is_in_range(c.ints("axes"), rank_with(c), true); })
      .since(13, "axes is an input; T admits bfloat16").type("T", types::all_tensor_types_ir4())
          .without("axes").parameter("axes", "i64", "axes").ruling("M4")
          .require("C4", "rank(axes) = 1", has_list_of_axes, "M4")
      .with(small_types)
      .shaping(Shaping::moved).infer(moved_to(unsqueezed)).kernel(viewed());
}
// clang-format on

}  // namespace assay
