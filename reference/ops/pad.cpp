// SPDX-License-Identifier: Apache-2.0
// Pad (ai.onnx 1, 2, 11, 13, 18, 19, 21, 23, 24, 25) - https://onnx.ai/onnx/operators/onnx__Pad.html
// CenterCropPad (ai.onnx 18) - https://onnx.ai/onnx/operators/onnx__CenterCropPad.html
//
//   Along each axis listed, output holds `begin` elements more than data before the first and `end` more behind the
//   last, or fewer where a count is negative. By mode these are a constant, the element at the edge, data mirrored at
//   its edges or, by wrap, data again. CenterCropPad shares the difference out to both ends, the odd one to the end,
//   and fills with zeros.
#include "reference/convert.h"
#include "reference/families/picked.h"
#include "reference/type_lists.h"

#include <algorithm>

namespace assay {
namespace {

// How many elements an axis of the output has before the first of data, and behind the last.
struct Pads {
  Int begin = 0, end = 0;
};
using PadsOf = std::vector<Pads> (*)(const Call&);

const Shape& data(const Call& call) { return call.shape(call.definition().inputs.front().name); }

Ints counts(const Call& call) { return call.ints(call.definition().attribute("paddings") ? "paddings" : "pads"); }
bool has_counts(const Call& call) { return counts(call).size() == 2 * axes_of(call).size(); }
bool has_axes(const Call& call) { return are_axes(axes_of(call), std::ssize(data(call))); }

std::vector<Pads> stated_ends(const Call& call) {
  std::vector<Pads> all(data(call).size());
  const Ints axes = axes_of(call), pads = counts(call);
  const auto bounded = [](Int count) { return std::clamp(count, -(Int{1} << 60), Int{1} << 60); };  // no sum overflows
  for (std::size_t i = 0; i < axes.size(); ++i)
    all[static_cast<std::size_t>(from_front(axes[i], std::ssize(all)))] = {bounded(pads[i]),
                                                                           bounded(pads[i + axes.size()])};
  return all;
}

std::vector<Pads> shared_ends(const Call& call) {
  std::vector<Pads> all(data(call).size());
  const Ints axes = axes_of(call), targets = call.ints("shape");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(from_front(axes[i], std::ssize(all)));
    const Int more = targets[i] - data(call)[axis], begin = more / 2;
    all[axis] = {begin, more - begin};
  }
  return all;
}

template <PadsOf of>
Shape padded(const Call& call) {
  Shape shape = data(call);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const Pads ends = of(call)[axis];
    shape[axis] += ends.begin + ends.end;
  }
  return shape;
}

// Brings an index back between 0 and extent - 1; -1 where a constant stands.
Int inside(Int index, Int extent, const std::string& mode) {
  if (index >= 0 && index < extent) return index;
  if (mode == "constant") return -1;
  if (mode == "edge" || extent == 1) return std::clamp(index, Int{0}, extent - 1);
  while (index < 0 || index >= extent)
    if (mode == "wrap")
      index += index < 0 ? extent : -extent;
    else
      index = index < 0 ? -index : 2 * (extent - 1) - index;
  return index;
}

template <PadsOf of>
Tensor pad_with(const Call& call, const Tensor& x, const std::string& mode, const Tensor& fill) {
  std::vector<Ints> along;
  const Shape shape = padded<of>(call);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    Ints& each = along.emplace_back();
    for (Int i = 0; i < shape[axis]; ++i) each.push_back(inside(i - of(call)[axis].begin, x.shape()[axis], mode));
  }
  return picked(x, along, fill);
}

Values pad_data(const Call& call, Inputs in) {
  Tensor fill({in[0]->dtype(), {}});
  if (call.has("constant_value")) fill = *in[2];
  if (call.definition().attribute("value"))
    for_float(fill.dtype(), [&]<class T>() { fill.as<T>()[0] = T(call.real("value")); });
  return pad_with<stated_ends>(call, *in[0], call.text("mode"), fill);
}

// Asks holds(extent, begin, end) of every axis, where the lists fit.
template <class F>
auto each_axis(F holds) {
  return [holds](const Call& call) {
    if (!has_counts(call) || !has_axes(call)) return true;
    const std::vector<Pads> all = stated_ends(call);
    for (std::size_t axis = 0; axis < all.size(); ++axis)
      if (!holds(call, data(call)[axis], all[axis].begin, all[axis].end)) return false;
    return true;
  };
}

bool has_extents(const Call& call) {
  return each_axis([](auto&, Int extent, Int begin, Int end) { return extent + begin + end >= 0; })(call);
}

bool leaves_one(const Call& call, Int extent, Int begin, Int end) {
  if (call.text("mode") == "constant" || std::max(begin, end) <= 0) return true;
  return extent + std::min<Int>(begin, 0) + std::min<Int>(end, 0) > 0;
}

bool has_one_value(const Call& call) {
  return !call.has("constant_value") || volume(call.shape("constant_value")) == 1;
}

}  // namespace

// clang-format off
Operator pad() {
  return Operator("Pad")
      .input("data", "T").output("output", "T").rulings({"A29", "E1", "M11"})
      .require("C1", "no extent of output is negative", has_extents)
      .require("C2", "there are two counts for each axis", has_counts)
      .require("C4", "in every mode but constant an axis that is padded keeps an element", each_axis(leaves_one))
      .since(1).type("T", types::all_float_types()).required_ints("paddings").word("mode", {"constant", "reflect", "edge"}, "C3")
          .attribute("value", 0.0F).rulings({"M14", "M60"})
          .require("C6", "no count is negative", [](auto& c) {
            return !has_extents(c) || std::ranges::none_of(counts(c), [](Int count) { return count < 0; }); }, "M60")
      .since(2, "pads, which may be negative").without("paddings").without("C6").settled("M14").settled("M60").ruling("M13")
          .required_ints("pads")
      .since(11, "pads and constant_value are inputs; T admits integers").type("T", types::all_numeric_types())
          .without("pads").without("value").ruling("M4")
          .parameter("pads", "i64", "pads").input("constant_value", "T", Arity::optional)
          .require("C8", "rank(pads) = 1", [](auto& c) { return c.rank("pads") == 1; })
          .require("C9", "constant_value is a scalar", [](auto& c) {
            return !c.has("constant_value") || c.rank("constant_value") == 0 || !has_one_value(c); }, "M4")
          .require("C10", "constant_value has one element", has_one_value)
      .since(13, "T admits every type").type("T", types::all_tensor_types_ir4())
      .since(18, "axes").type("Tind", {DType::i32, DType::i64}).parameter("axes", "Tind", "axes", Arity::optional)
          .require("C5", "axes are in [-rank(data), rank(data) - 1]", has_axes)
          .require("C7", "no axis is listed twice", [](auto& c) { return are_distinct(axes_of(c), c.rank("data")); })
          .require("C11", "rank(axes) = 1", [](auto& c) { return !c.has("axes") || c.rank("axes") == 1; })
      .since(19, "mode wrap").without("C3").word("mode", {"constant", "reflect", "edge", "wrap"}, "C3")
      .with(small_types)
      .shaping(Shaping::moved).infer(moved_to(padded<stated_ends>)).kernel(pad_data);
}

Operator center_crop_pad() {
  return Operator("CenterCropPad")
      .input("input_data", "T").parameter("shape", "Tind", "shape").output("output_data", "T")
      .attribute("axes", all_axes).rulings({"A29", "E1"})
      .require("C1", "no entry of shape is negative", [](auto& c) {
        return std::ranges::none_of(c.ints("shape"), [](Int entry) { return entry < 0; }); })
      .require("C2", "shape has an entry for each axis", [](auto& c) { return c.ints("shape").size() == axes_of(c).size(); })
      .require("C3", "axes are in [-rank(input_data), rank(input_data) - 1]", has_axes)
      .require("C4", "no axis is listed twice", [](auto& c) { return are_distinct(axes_of(c), c.rank("input_data")); })
      .require("C5", "rank(shape) = 1", [](auto& c) { return c.rank("shape") == 1; })
      .since(18).type("T", types::all_tensor_types_ir4()).type("Tind", {DType::i32, DType::i64})
      .shaping(Shaping::moved).infer(moved_to(padded<shared_ends>)).kernel([](const Call& call, Inputs in) -> Values {
        return pad_with<shared_ends>(call, *in[0], "constant", Tensor({in[0]->dtype(), {}})); });
}
// clang-format on

}  // namespace assay
