// SPDX-License-Identifier: Apache-2.0
// Transpose (ai.onnx 1, 13, 21, 23, 24, 25) - https://onnx.ai/onnx/operators/onnx__Transpose.html
//
//   Axis k of transposed is axis perm[k] of data; by default the axes are reversed.
#include "reference/families/moved.h"
#include "reference/type_lists.h"

#include <algorithm>

namespace assay {
namespace {

Ints reversed(const Call& call) {
  Ints perm;
  for (Int axis = call.rank("data"); axis-- > 0;) perm.push_back(axis);
  return perm;
}

bool is_permutation(const Call& call) {
  Ints sorted = call.ints("perm"), axes = reversed(call);
  return std::ranges::is_permutation(sorted, axes);
}

Ints permuted(const Call& call, const Ints& of_axes) {
  Ints out;
  for (const Int axis : call.ints("perm")) out.push_back(of_axes[static_cast<std::size_t>(axis)]);
  return out;
}

Shape transposed(const Call& call) { return permuted(call, call.shape("data")); }

}  // namespace

// clang-format off
Operator transpose() {
  return Operator("Transpose")
      .input("data", "T").output("transposed", "T").attribute("perm", reversed).rulings({"A29", "E1"})
      .require("C1", "perm names every axis of data once", is_permutation)
      .since(1).type("T", types::all_tensor_types())
      .since(13, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .with(small_types)
      .shaping(Shaping::moved).infer(moved_to(transposed))
      .kernel(strided([](const Call& call) {
        return Strides{transposed(call), permuted(call, steps_of(call.shape("data")))}; }));
}
// clang-format on

}  // namespace assay
