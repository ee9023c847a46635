// SPDX-License-Identifier: Apache-2.0
// Reshape (ai.onnx 1, 5, 13, 14, 19, 21, 23, 24, 25) - https://onnx.ai/onnx/operators/onnx__Reshape.html
//
//   reshaped holds the elements of data in their order. An entry s of shape stands for
//     s > 0   s itself
//     s = 0   the extent of data at that axis; with allowzero = 1 an extent of 0
//     s = -1  what makes the number of elements right
#include "reference/families/moved.h"
#include "reference/type_lists.h"

#include <algorithm>

namespace assay {
namespace {

bool keeps_zeros(const Call& call) { return call.states("allowzero") && call.integer("allowzero") != 0; }
Int count(const Ints& entries, Int entry) { return std::ranges::count(entries, entry); }
bool is_below(Int entry) { return entry < -1; }

// The extents that shape names; -1, and a 0 that has nothing to copy, as they stand.
Shape named(const Call& call) {
  Shape shape = call.ints("shape");
  for (std::size_t i = 0; i < std::min(shape.size(), call.shape("data").size()); ++i)
    if (shape[i] == 0 && !keeps_zeros(call)) shape[i] = call.shape("data")[i];
  return shape;
}

bool copies_axes_of_data(const Call& call) {
  Ints shape = call.ints("shape");
  shape.erase(shape.begin(), shape.begin() + std::min<Int>(call.rank("data"), std::ssize(shape)));
  return keeps_zeros(call) || count(shape, 0) == 0;
}

// Asks holds(number of -1, volume of the other extents, volume of data) where every entry can be read.
template <class F>
auto readable(F holds) {
  return [holds](const Call& c) {
    const Shape shape = named(c);
    if (count(shape, -1) > 1 || std::ranges::any_of(shape, is_below) || !copies_axes_of_data(c)) return true;
    return holds(count(shape, -1), bounded_volume(shape), volume(c.shape("data")));
  };
}

Shape reshaped(const Call& call) {
  Shape shape = named(call);
  if (count(shape, -1) > 0) std::ranges::replace(shape, -1, volume(call.shape("data")) / bounded_volume(shape));
  return shape;
}

}  // namespace

// clang-format off
Operator reshape() {
  using enum DType;
  return Operator("Reshape")
      .input("data", "T").output("reshaped", "T").ruling("A29").ruling("E1")
      .require("C1", "shape has at most one -1", [](auto& c) { return count(c.ints("shape"), -1) < 2; })
      .require("C2", "no entry is below -1", [](auto& c) { return std::ranges::none_of(c.ints("shape"), is_below); })
      .require("C3", "where an extent is copied, data has that axis", copies_axes_of_data)
      .require("C4", "shape has as many elements as data",
               readable([](Int open, Int others, Int all) { return open > 0 || others == all; }))
      .require("C5", "-1 stands for a whole number",
               readable([](Int open, Int others, Int all) { return open == 0 || others == 0 || all % others == 0; }))
      .require("C7", "-1 stands for one number: the others are not 0", [](auto& c) {
        return keeps_zeros(c) || readable([](Int open, Int others, Int) { return open == 0 || others != 0; })(c); })
      .since(1).type("T", {f16, f32, f64}).attribute("shape", no_entries).optional_ints("consumed_inputs").ruling("E48")
      .since(5, "shape is an input; T admits every type").type("T", types::all_tensor_types())
          .without("shape").without("consumed_inputs").settled("E48").parameter("shape", "i64", "shape")
          .require("C8", "rank(shape) = 1", [](auto& c) { return c.rank("shape") == 1; })
      .since(13, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .since(14, "allowzero").attribute("allowzero", 0)
          .require("C6", "with allowzero = 1 shape has not both 0 and -1", [](auto& c) {
            return !keeps_zeros(c) || count(c.ints("shape"), 0) == 0 || count(c.ints("shape"), -1) == 0; })
      .since(19, "T admits float8").type("T", types::all_tensor_types_ir9())
      .with(small_types)
      .shaping(Shaping::moved).infer(moved_to(reshaped)).kernel(viewed());
}
// clang-format on

}  // namespace assay
