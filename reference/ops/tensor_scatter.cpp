// SPDX-License-Identifier: Apache-2.0
// TensorScatter (ai.onnx 24) - https://onnx.ai/onnx/operators/onnx__TensorScatter.html
//
//   present_cache holds past_cache but, from write_indices[b] of batch b along axis on, update. With mode circular what
//   would stand beyond the end stands at the beginning.
#include "reference/families/moved.h"
#include "reference/type_lists.h"

#include <algorithm>

namespace assay {
namespace {

Int axis_of(const Call& call) { return from_front(call.integer("axis"), call.rank("past_cache")); }
bool has_axis(const Call& call) { return is_axis(call.integer("axis"), call.rank("past_cache")) && axis_of(call) > 0; }
bool is_circular(const Call& call) { return call.text("mode") == "circular"; }

bool fits_off_axis(const Call& call) {
  Shape update = call.shape("update");
  if (!has_axis(call)) return true;
  if (update.size() != call.shape("past_cache").size()) return false;
  update[static_cast<std::size_t>(axis_of(call))] = call.dim("past_cache", axis_of(call));
  return update == call.shape("past_cache");
}

bool fits_along_axis(const Call& call) {
  if (!has_axis(call) || call.rank("update") != call.rank("past_cache")) return true;
  return call.dim("update", axis_of(call)) <= call.dim("past_cache", axis_of(call));
}

Ints starts(const Call& call) {
  return call.states("write_indices") ? call.ints("write_indices")
                                      : Ints(static_cast<std::size_t>(call.dim("past_cache", 0)));
}
bool are_not_negative(const Call& call) {
  return !call.states("write_indices") || std::ranges::none_of(call.ints("write_indices"), [](Int w) { return w < 0; });
}

bool are_within(const Call& call) {
  if (!has_axis(call) || is_circular(call) || !fits_along_axis(call) || !fits_off_axis(call)) return true;
  const Int room = call.dim("past_cache", axis_of(call)) - call.dim("update", axis_of(call));
  return std::ranges::all_of(starts(call), [&](Int w) { return w <= room; });
}

Values scatter_slices(const Call& call, Inputs in) {
  Tensor y = *in[0];
  const Shape& shape = in[0]->shape();
  const Int axis = axis_of(call), extent = call.dim("past_cache", axis), length = call.dim("update", axis);
  const Int run = volume(std::span(shape).subspan(static_cast<std::size_t>(axis) + 1));
  const Int rows = volume(std::span(shape).first(static_cast<std::size_t>(axis)));
  const Ints from = starts(call);
  for_type(y.dtype(), [&]<class T>() {
    const std::span<T> to = y.as<T>();
    for (Int row = 0; row < rows; ++row)
      for (Int t = 0; t < length; ++t) {
        const Int first = from[static_cast<std::size_t>(row / (rows / shape[0]))] % extent;
        const Int at = first < extent - t ? first + t : first + t - extent;
        std::copy_n(in[1]->as<T>().begin() + (row * length + t) * run, run, to.begin() + (row * extent + at) * run);
      }
  });
  return y;
}

}  // namespace

// clang-format off
Operator tensor_scatter() {
  return Operator("TensorScatter")
      .input("past_cache", "T").input("update", "T").parameter("write_indices", "i64", "write_indices", Arity::optional)
      .output("present_cache", "T").attribute("axis", -2).word("mode", {"linear", "circular"}, "C6").rulings({"A29", "E1", "M28"})
      .require("C1", "axis is in [-rank, rank - 1] of past_cache, and not the first", has_axis)
      .require("C2", "update has the shape of past_cache off the axis", fits_off_axis)
      .require("C3", "update is no longer than past_cache along axis", fits_along_axis)
      .require("C4", "update ends within past_cache where mode is linear", are_within)
      .require("C5", "write_indices has an entry for each batch", [](auto& c) {
        return !c.has("write_indices") || c.rank("past_cache") == 0 || c.shape("write_indices") == Shape{c.dim("past_cache", 0)}; })
      .require("C7", "no write index is negative where mode is linear", [](auto& c) { return is_circular(c) || are_not_negative(c); })
      .require("C8", "no write index is negative where mode is circular", [](auto& c) { return !is_circular(c) || are_not_negative(c); }, "M28")
      .since(24).type("T", types::all_tensor_types_ir12())
      .shaping(Shaping::moved).infer(moved_to([](const Call& c) { return c.shape("past_cache"); })).kernel(scatter_slices);
}
// clang-format on

}  // namespace assay
