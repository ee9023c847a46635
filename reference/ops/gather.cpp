// SPDX-License-Identifier: Apache-2.0
// Gather (ai.onnx 1, 11, 13) - https://onnx.ai/onnx/operators/onnx__Gather.html
// GatherElements (ai.onnx 11, 13) - https://onnx.ai/onnx/operators/onnx__GatherElements.html
//
//   Gather:          output[a, i, b] = data[a, indices[i], b], where a and b are the axes before and after `axis`
//   GatherElements:  output[o] = data[o, with indices[o] along axis]
//
// Negative indices count from the end.
#include "reference/families/moved.h"
#include "reference/type_lists.h"

#include <algorithm>

namespace assay {
namespace {

bool has_axis(const Call& call) { return is_axis(call.integer("axis"), call.rank("data")); }
std::size_t axis_of(const Call& call) {
  return static_cast<std::size_t>(from_front(call.integer("axis"), call.rank("data")));
}
Int extent(const Call& call) { return call.shape("data")[axis_of(call)]; }

bool are_within(const Call& call) {
  if (!has_axis(call)) return true;
  return std::ranges::all_of(call.ints("indices"), [&](Int index) { return is_axis(index, extent(call)); });
}

bool are_not_negative(const Call& call) {
  return !are_within(call) || std::ranges::none_of(call.ints("indices"), [](Int index) { return index < 0; });
}

bool has_one_rank(const Call& call) { return call.rank("indices") == call.rank("data"); }

bool fits_off_axis(const Call& call) {
  for (std::size_t axis = 0; has_one_rank(call) && has_axis(call) && axis < call.shape("data").size(); ++axis)
    if (axis != axis_of(call) && call.shape("indices")[axis] > call.shape("data")[axis]) return false;
  return true;
}

Shape gathered(const Call& call) {
  Shape shape = call.shape("data");
  const Shape& indices = call.shape("indices");
  const auto at = shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis_of(call)));
  shape.insert(at, indices.begin(), indices.end());
  return shape;
}

Values gather_slices(const Call& call, Inputs in) {
  const Ints indices = call.ints("indices");
  const Int run = volume(std::span(in[0]->shape()).subspan(axis_of(call) + 1)), count = std::ssize(indices);
  return in_runs(*in[0], {in[0]->dtype(), gathered(call)}, run, [&](Int i) {
    return run * (i / count * extent(call) + from_front(indices[static_cast<std::size_t>(i % count)], extent(call)));
  });
}

Values gather_each(const Call& call, Inputs in) {
  const Ints indices = call.ints("indices"), steps = steps_of(in[0]->shape());
  const Shape& shape = call.shape("indices");
  return in_runs(*in[0], {in[0]->dtype(), shape}, 1, [&](Int i) {
    Int from = from_front(indices[static_cast<std::size_t>(i)], extent(call)) * steps[axis_of(call)];
    for (std::size_t axis = shape.size(); axis-- > 0; i /= shape[axis])
      if (axis != axis_of(call)) from += i % shape[axis] * steps[axis];
    return from;
  });
}

}  // namespace

// clang-format off
Operator gather() {
  using enum DType;
  return Operator("Gather")
      .input("data", "T").parameter("indices", "Tind", "indices").output("output", "T").attribute("axis", 0)
      .type("T", types::all_tensor_types()).type("Tind", {i32, i64}).rulings({"A29", "E1", "M2"})
      .require("C1", "axis is in [-rank(data), rank(data) - 1]", has_axis)
      .require("I1", "indices are in [-s, s - 1], s being the extent along axis", are_within)
      .require("I2", "indices are not negative", are_not_negative, "M2")
      .since(1)
      .since(11, "indices may count from the end").without("I2").settled("M2")
      .since(13, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .shaping(Shaping::moved).infer(moved_to(gathered)).kernel(gather_slices);
}

Operator gather_elements() {
  using enum DType;
  return Operator("GatherElements")
      .input("data", "T").parameter("indices", "Tind", "indices").output("output", "T").attribute("axis", 0)
      .type("T", types::all_tensor_types()).type("Tind", {i32, i64}).rulings({"A29", "E1", "M15"})
      .require("C1", "data and indices have one rank", has_one_rank)
      .require("C2", "off the axis indices are no longer than data", fits_off_axis)
      .require("C3", "axis is in [-rank(data), rank(data) - 1]", has_axis)
      .require("I1", "indices are in [-s, s - 1], s being the extent along axis", are_within)
      .since(11)
      .since(13, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .shaping(Shaping::moved).infer(moved_to([](const Call& c) { return c.shape("indices"); })).kernel(gather_each);
}
// clang-format on

}  // namespace assay
