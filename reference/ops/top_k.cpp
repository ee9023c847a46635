// SPDX-License-Identifier: Apache-2.0
// TopK (ai.onnx 1, 10, 11, 24) - https://onnx.ai/onnx/operators/onnx__TopK.html
//
//   Values and Indices hold, of every line of X along axis, the first k elements by size, and where they stand in it:
//   the largest first or, with largest = 0, the smallest; of equal ones that with the lower index.
//
// NaN is the greatest number (M30); with sorted = 0 they come in the same order, which is one of any.
#include "reference/families/moved.h"
#include "reference/type_lists.h"

#include <algorithm>
#include <numeric>

namespace assay {
namespace {

Int axis_of(const Call& call) { return call.integer("axis") + (call.integer("axis") < 0 ? call.rank("X") : 0); }
bool has_axis(const Call& call) { return axis_of(call) >= 0 && axis_of(call) < call.rank("X"); }
bool has_one_k(const Call& call) { return !call.has("K") || volume(call.shape("K")) == 1; }
bool takes_smallest(const Call& call) { return call.states("largest") && call.integer("largest") == 0; }

Types selected(const Call& call) {
  Shape shape = call.shape("X");
  shape[static_cast<std::size_t>(axis_of(call))] = call.integer("k");
  return {TensorType{call.type("X").dtype, shape}, TensorType{DType::i64, shape}};
}

const auto is_greater = [](auto a, auto b) { return b == b && (a != a || a > b); };

Values select(const Call& call, Inputs in) {
  const Types types = selected(call);
  Values out{Tensor(*types[0]), Tensor(*types[1])};
  const Int axis = axis_of(call), n = call.dim("X", axis), k = call.integer("k");
  for_number(in[0]->dtype(), [&]<class T>() {
    const std::span<T> values = out[0]->as<T>();
    const std::span<Int> indices = out[1]->as<Int>();
    for_each_line(call.shape("X"), axis, [&](Int line, Int first, Int step) {
      const auto x = [&](Int i) { return in[0]->as<T>()[static_cast<std::size_t>(first + i * step)]; };
      Ints order(static_cast<std::size_t>(n));
      std::iota(order.begin(), order.end(), Int{0});
      std::ranges::stable_sort(
          order, [&](Int i, Int j) { return takes_smallest(call) ? is_greater(x(j), x(i)) : is_greater(x(i), x(j)); });
      for (Int i = 0; i < k; ++i) {
        const auto to = static_cast<std::size_t>((line / step * k + i) * step + line % step);
        indices[to] = order[static_cast<std::size_t>(i)];
        values[to] = x(indices[to]);
      }
    });
  });
  return out;
}

}  // namespace

// clang-format off
Operator top_k() {
  using enum DType;
  return Operator("TopK")
      .input("X", "T").output("Values", "T").output("Indices", "I").type("T", {f16, f32, f64}).type("I", {i64})
      .rulings({"A29", "E1", "E2", "M29", "M30"})
      .require("C1", "0 <= k <= the extent of X along axis", [](auto& c) {
        if (!has_axis(c) || !has_one_k(c)) return true;
        return c.integer("k") >= 0 && c.integer("k") <= c.dim("X", axis_of(c)); })
      .require("C3", "axis is in [-rank(X), rank(X) - 1]", has_axis)
      .require("C5", "k is not 0", [](auto& c) { return !has_one_k(c) || c.integer("k") != 0; }, "M29")
      .since(1).required_integer("k").attribute("axis", -1)
      .since(10, "k is an input").without("k").parameter("K", "i64", "k").ruling("M4")
          .require("C2", "shape(K) = [1]", [](auto& c) { return c.shape("K") == Shape{1} || !has_one_k(c); }, "M4")
          .require("C4", "K has one element", has_one_k)
      .since(11, "largest and sorted; T admits integers").type("T", types::all_numeric_types())
          .attribute("largest", 1).attribute("sorted", 1).ruling("M53")
      .since(24, "T admits bfloat16").type("T", types::all_numeric_types_ir4())
      .shaping(Shaping::moved).infer(selected).kernel(select);
}
// clang-format on

}  // namespace assay
