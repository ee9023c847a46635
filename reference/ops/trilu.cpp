// SPDX-License-Identifier: Apache-2.0
// Trilu (ai.onnx 14) - https://onnx.ai/onnx/operators/onnx__Trilu.html
//
//   output holds the elements of every matrix of input on and above the k-th diagonal, or with upper = 0 on and below
//   it; the others are zeros. The diagonal of element (row, column) is column - row.
#include "reference/families/moved.h"
#include "reference/type_lists.h"

#include <algorithm>

namespace assay {
namespace {

Values halve(const Call& call, Inputs in) {
  const Int columns = in[0]->shape().back(), rows = in[0]->shape().end()[-2];
  const Int limit = rows + columns, stated = call.states("k") ? call.integer("k") : 0;
  const Int k = std::clamp(stated, -limit, limit);
  const bool is_upper = call.integer("upper") != 0;
  Tensor y = *in[0];
  for_type(y.dtype(), [&]<class T>() {
    const std::span<T> all = y.as<T>();
    for (Int row = 0; columns > 0 && row < std::ssize(all) / columns; ++row) {
      const std::span<T> line = all.subspan(static_cast<std::size_t>(row * columns), static_cast<std::size_t>(columns));
      const Int split = std::clamp(row % rows + k + (is_upper ? 0 : 1), Int{0}, columns);
      std::ranges::fill(
          is_upper ? line.first(static_cast<std::size_t>(split)) : line.subspan(static_cast<std::size_t>(split)), T());
    }
  });
  return y;
}

bool has_one_k(const Call& call) { return !call.has("k") || volume(call.shape("k")) == 1; }

}  // namespace

// clang-format off
Operator trilu() {
  return Operator("Trilu")
      .input("input", "T").parameter("k", "i64", "k", Arity::optional).output("output", "T")
      .attribute("upper", 1).rulings({"A29", "E1", "M4"})
      .require("C1", "rank(input) >= 2", [](auto& c) { return c.rank("input") >= 2; })
      .require("C2", "k is a scalar", [](auto& c) { return !c.has("k") || c.rank("k") == 0 || !has_one_k(c); }, "M4")
      .require("C3", "k has one element", has_one_k)
      .since(14).type("T", types::all_tensor_types_ir4())
      .shaping(Shaping::moved).infer(moved_to([](const Call& c) { return c.shape("input"); })).kernel(halve);
}
// clang-format on

}  // namespace assay
