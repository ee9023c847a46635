// SPDX-License-Identifier: Apache-2.0
// Split (ai.onnx 1, 2, 11, 13, 18) - https://onnx.ai/onnx/operators/onnx__Split.html
//
//   The outputs hold the parts of input that stand one after the other along axis, of the lengths that split lists, or
//   of one length. From version 18 on num_outputs says how many parts there are; the last one takes what is left.
#include "reference/families/picked.h"
#include "reference/type_lists.h"

#include <algorithm>
#include <numeric>

namespace assay {
namespace {

Int stated_axis(const Call& call) {
  return call.states("axis") || call.definition().attribute("axis")->value ? call.integer("axis") : 0;
}
bool has_axis(const Call& call) { return is_axis(stated_axis(call), call.rank("input")); }
std::size_t axis_of(const Call& call) {
  return static_cast<std::size_t>(from_front(stated_axis(call), call.rank("input")));
}
Int outputs(const Call& call) { return std::ssize(call.requested_outputs()); }

// An attribute of no entries reads as one that is left out.
bool lists_lengths(const Call& call) {
  return call.has("split") ||
         (call.definition().attribute("split") && call.states("split") && !call.ints("split").empty());
}
bool counts_outputs(const Call& call) { return call.states("num_outputs"); }

// Splits into parts of one length but for the last, where there are not enough for all.
Ints even_lengths(Int extent, Int count) {
  const Int most = (extent + count - 1) / count;
  Ints lengths;
  for (Int left = extent; std::ssize(lengths) < count; left -= lengths.back()) lengths.push_back(std::min(most, left));
  return lengths;
}

Ints lengths(const Call& call) {
  return lists_lengths(call) ? call.ints("split") : even_lengths(call.shape("input")[axis_of(call)], outputs(call));
}

// Asks holds(extent, the lengths listed) where they are listed, or holds(extent, number of outputs) where not.
template <class F>
auto listed(F holds) {
  return [holds](const Call& c) {
    return !lists_lengths(c) || !has_axis(c) || holds(c.shape("input")[axis_of(c)], c.ints("split"));
  };
}
template <class F>
auto evened(F holds) {
  return [holds](const Call& c) {
    return lists_lengths(c) || !has_axis(c) || holds(c.shape("input")[axis_of(c)], outputs(c));
  };
}

bool sums_up(Int extent, const Ints& all) {
  for (const Int length : all)
    if (__builtin_sub_overflow(extent, length, &extent)) return false;
  return extent == 0;
}

bool has_whole_lengths(const Call& call) {
  if (!call.has("split") || !is_float(call.type("split").dtype)) return true;
  return std::ranges::all_of(reals(call, "split"),
                             [](double each) { return each == static_cast<double>(static_cast<Int>(each)); });
}

// The first part is always there, of the others as many as are asked for.
void several_outputs(Operator& op) {
  for (int i = 0; i < 8; ++i)
    op.output("outputs_" + std::to_string(i), "T", i == 0 ? Arity::required : Arity::repeated);
}

Types split_types(const Call& call) {
  Types types;
  for (const Int length : lengths(call)) {
    Shape shape = call.shape("input");
    shape[axis_of(call)] = length;
    types.push_back(TensorType{call.type("input").dtype, shape});
  }
  types.resize(call.definition().outputs.size());
  return types;
}

Values split_data(const Call& call, Inputs in) {
  const Shape& shape = in[0]->shape();
  const Int inner = volume(std::span(shape).subspan(axis_of(call) + 1)), row = shape[axis_of(call)] * inner;
  Values out;
  Int before = 0;
  for (const std::optional<TensorType>& type : split_types(call)) {
    out.emplace_back();
    if (!type) continue;
    const Int run = type->shape[axis_of(call)] * inner;
    out.back() = in_runs(*in[0], *type, run, [&](Int i) { return i * row + before; });
    before += run;
  }
  return out;
}

}  // namespace

// clang-format off
Operator split() {
  using enum DType;
  return Operator("Split")
      .input("input", "T").with(several_outputs).rulings({"A29", "E1", "M1"})
      .require("C1", "the lengths listed add up to the extent of input along axis", listed([](Int extent, const Ints& all) {
        return std::ranges::any_of(all, [](Int each) { return each < 0; }) || sums_up(extent, all); }))
      .require("C2", "no length is negative", [](auto& c) {
        return !lists_lengths(c) || std::ranges::none_of(c.ints("split"), [](Int each) { return each < 0; }); })
      .require("C3", "there is a length for each output", [](auto& c) {
        return !lists_lengths(c) || std::ssize(c.ints("split")) == outputs(c); })
      .require("C9", "axis is in [-rank(input), rank(input) - 1]", has_axis)
      .require("C4", "where no length is listed, the extent of input is a multiple of the number of outputs",
               evened([](Int extent, Int count) { return extent % count == 0; }))
      .require("C8", "axis is not negative", [](auto& c) { return !has_axis(c) || stated_axis(c) >= 0; }, "M1")
      .since(1).type("T", types::all_float_types()).parameter("split", "T", "split", Arity::optional)
          .optional_ints("split").optional_int("axis").ruling("M10")
          .require("C10", "rank(split) = 1", [](auto& c) { return !c.has("split") || c.rank("split") == 1; })
          .require("C11", "lengths are whole numbers", has_whole_lengths)
          .require("C12", "split is an input or an attribute, not both", [](auto& c) {
            return !c.has("split") || !c.node().attributes.contains("split"); })
      .since(2, "split is an attribute alone; T admits every type").type("T", types::all_tensor_types())
          .without("split").optional_ints("split").attribute("axis", 0).settled("M10").without("C10").without("C11").without("C12")
      .since(11, "axis may count from the end").without("C8").settled("M1")
      .since(13, "split is an input; T admits bfloat16").type("T", types::all_tensor_types_ir4())
          .without("split").parameter("split", "i64", "split", Arity::optional)
          .require("C10", "rank(split) = 1", [](auto& c) { return !c.has("split") || c.rank("split") == 1; })
      .since(18, "num_outputs").without("C4").optional_int("num_outputs").ruling("M6")
          .require("C5", "either split or num_outputs is there", [](auto& c) { return lists_lengths(c) != counts_outputs(c); })
          .require("C6", "num_outputs is the number of outputs", [](auto& c) {
            return !counts_outputs(c) || c.integer("num_outputs") == outputs(c); })
          .require("C7", "as many parts of one length but the last are not longer than input", evened([](Int extent, Int count) {
            return extent - (extent + count - 1) / count * (count - 1) >= 0; }), "M6")
      .shaping(Shaping::moved).infer(split_types).kernel(split_data);
}
// clang-format on

}  // namespace assay
