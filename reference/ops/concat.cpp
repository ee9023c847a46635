// SPDX-License-Identifier: Apache-2.0
// Concat (ai.onnx 1, 4, 11, 13) - https://onnx.ai/onnx/operators/onnx__Concat.html
//
//   concat_result holds the inputs one after the other along axis, 1 by default in version 1.
#include "reference/families/moved.h"
#include "reference/type_lists.h"

#include <algorithm>

namespace assay {
namespace {

Int stated(const Call& call) { return call.states("axis") ? call.integer("axis") : 1; }
std::size_t axis_of(const Call& call) {
  return static_cast<std::size_t>(from_front(stated(call), call.rank("inputs_0")));
}
bool has_axis(const Call& call) { return is_axis(stated(call), call.rank("inputs_0")); }

std::vector<Shape> parts(const Call& call) {
  std::vector<Shape> all;
  for (const Parameter& input : call.definition().inputs)
    if (call.has(input.name)) all.push_back(call.shape(input.name));
  return all;
}

bool has_one_rank(const Call& call) {
  return std::ranges::all_of(parts(call), [&](auto& part) { return std::ssize(part) == call.rank("inputs_0"); });
}

bool fits_off_axis(const Call& call) {
  if (!has_axis(call) || !has_one_rank(call)) return true;
  return std::ranges::all_of(parts(call), [&](Shape part) {
    part[axis_of(call)] = call.shape("inputs_0")[axis_of(call)];
    return part == call.shape("inputs_0");
  });
}

Shape joined(const Call& call) {
  Shape shape = call.shape("inputs_0");
  shape[axis_of(call)] = 0;
  for (const Shape& part : parts(call)) shape[axis_of(call)] += part[axis_of(call)];
  return shape;
}

// Of each input in turn the run that makes a part of every row of the output.
Values join(const Call& call, Inputs in) {
  Tensor y = Tensor::to_be_written({in[0]->dtype(), joined(call)});
  const Int rows = volume(std::span(y.shape()).first(axis_of(call)));
  for_type(y.dtype(), [&]<class T>() {
    auto next = y.as<T>().begin();
    for (Int row = 0; row < rows; ++row)
      for (const Tensor* part : in)
        if (const Int run = part ? part->elements() / rows : 0; run > 0)
          next = std::copy_n(part->as<T>().begin() + row * run, run, next);
  });
  return y;
}

}  // namespace

// clang-format off
Operator concat() {
  return Operator("Concat")
      .variadic("inputs", "T").output("concat_result", "T").rulings({"A29", "E1", "M1"})
      .require("C1", "all inputs have one rank", has_one_rank)
      .require("C2", "extents off the axis are equal", fits_off_axis)
      .require("C3", "axis is in [-rank, rank - 1]", has_axis)
      .require("C4", "axis is not negative", [](auto& c) { return !has_axis(c) || stated(c) >= 0; }, "M1")
      .since(1).type("T", types::all_float_types()).optional_int("axis")
      .since(4, "axis is required; T admits every type").type("T", types::all_tensor_types()).required_integer("axis")
      .since(11, "axis may count from the end").without("C4").settled("M1")
      .since(13, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .shaping(Shaping::moved).infer(moved_to(joined)).kernel(join);
}
// clang-format on

}  // namespace assay
