// SPDX-License-Identifier: Apache-2.0
// Slice (ai.onnx 1, 10, 11, 13) - https://onnx.ai/onnx/operators/onnx__Slice.html
//
//   output holds, along each axis listed, the elements of data from `start` on, every `step`-th, as long as they stand
//   before `end`. Negative bounds count from the end of the axis; those outside it stand for the nearer end.
#include "reference/families/picked.h"
#include "reference/type_lists.h"

#include <algorithm>

namespace assay {
namespace {

// As many as there are starts, of which a call may have none.
Ints first_axes(const Call& call) {
  if (!call.states("starts")) return {};
  Ints axes(call.ints("starts").size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<Int>(i);
  return axes;
}
Ints listed(const Call& call) { return call.states("axes") ? call.ints("axes") : first_axes(call); }
Ints steps(const Call& call) { return call.states("steps") ? call.ints("steps") : Ints(call.ints("starts").size(), 1); }

// The elements taken along an axis: `count` of them from `first` on.
struct Cut {
  Int first, count;
};

Cut cut(Int extent, Int start, Int end, Int step) {
  const Int low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
  const Int from = std::clamp(from_front(start, extent), Int{0}, std::max<Int>(0, high));
  const Int to = std::clamp(from_front(end, extent), low, std::max(low, high));
  const bool is_empty = extent == 0 || (step > 0 ? to <= from : to >= from);
  return {from, is_empty ? 0 : 1 + (to - from + (step > 0 ? -1 : 1)) / step};
}

bool has_lists(const Call& call) {
  const std::size_t size = call.ints("starts").size();
  for (const char* name : {"starts", "ends", "axes", "steps"})
    if ((call.states(name) && call.ints(name).size() != size) || (call.has(name) && call.rank(name) != 1)) return false;
  return true;
}

bool has_axes(const Call& call) { return are_axes(listed(call), call.rank("data")); }

Strides sliced(const Call& call) {
  Strides at{call.shape("data"), steps_of(call.shape("data"))};
  for (std::size_t i = 0; i < listed(call).size(); ++i) {
    const auto axis = static_cast<std::size_t>(from_front(listed(call)[i], call.rank("data")));
    const auto [first, count] = cut(at.extents[axis], call.ints("starts")[i], call.ints("ends")[i], steps(call)[i]);
    at.first += first * at.steps[axis];
    at.extents[axis] = count;
    if (count > 1) at.steps[axis] *= steps(call)[i];
  }
  return at;
}

}  // namespace

// clang-format off
Operator slice() {
  using enum DType;
  return Operator("Slice")
      .input("data", "T").output("output", "T").rulings({"A29", "E1", "M1"})
      .require("C2", "starts, ends, axes and steps are lists of one length", has_lists)
      .require("C3", "axes are in [-rank(data), rank(data) - 1]", has_axes)
      .require("C4", "no axis is listed twice", [](auto& c) { return are_distinct(listed(c), c.rank("data")); })
      .require("C6", "axes are not negative", [](auto& c) {
        return !has_axes(c) || std::ranges::none_of(listed(c), [](Int axis) { return axis < 0; }); }, "M1")
      .since(1).type("T", types::all_tensor_types())
          .required_ints("starts").required_ints("ends").attribute("axes", first_axes)
      .since(10, "starts, ends and axes are inputs; steps").without("starts").without("ends").without("axes")
          .type("Tind", {i32, i64}).parameter("starts", "Tind", "starts").parameter("ends", "Tind", "ends")
          .parameter("axes", "Tind", "axes", Arity::optional).parameter("steps", "Tind", "steps", Arity::optional)
          .require("C1", "no step is 0", [](auto& c) { return std::ranges::count(steps(c), 0) == 0; })
          .rulings({"M7", "M8", "M9"})
      .since(11, "axes may count from the end").without("C6").settled("M1").ruling("M8", {"text"})
      .since(13, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .shaping(Shaping::moved).infer(moved_to([](const Call& c) { return sliced(c).extents; })).kernel(strided(sliced));
}
// clang-format on

}  // namespace assay
