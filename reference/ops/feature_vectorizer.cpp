// SPDX-License-Identifier: Apache-2.0
// FeatureVectorizer (ai.onnx.ml 1) - https://onnx.ai/onnx/operators/onnx_aionnxml_FeatureVectorizer.html
//
//   Y holds the first inputdimensions[i] columns of each input beside each other, as float32; a vector is one row
#include "reference/families/elementwise.h"
#include "reference/families/moved.h"
#include "reference/sequence.h"

#include <algorithm>

namespace assay {
namespace {

std::vector<Shape> matrices(const Call& call) {
  std::vector<Shape> all;
  for (const Parameter& input : call.definition().inputs) {
    if (!call.has(input.name)) continue;
    all.push_back(call.shape(input.name));
    if (all.back().size() == 1) all.back().insert(all.back().begin(), 1);
  }
  return all;
}

bool are_matrices(const Call& call) {
  return std::ranges::all_of(matrices(call), [](const Shape& each) { return each.size() == 2; });
}

// How many columns of each input are taken: what is said or, where nothing is, all.
Ints columns(const Call& call) {
  if (call.states("inputdimensions")) return call.ints("inputdimensions");
  return transformed<Int>(matrices(call), [](const Shape& each) { return each.back(); });
}

bool has_one_height(const Call& call) {
  const std::vector<Shape> all = matrices(call);
  return !are_matrices(call) || std::ranges::all_of(all, [&](const Shape& each) { return each[0] == all[0][0]; });
}

bool has_the_columns(const Call& call) {
  if (!are_matrices(call)) return true;
  const std::vector<Shape> all = matrices(call);
  const Ints taken = columns(call);
  if (taken.size() != all.size()) return false;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (taken[i] < 0 || taken[i] > all[i][1]) return false;
  return true;
}

Shape vectorized(const Call& call) {
  Int width = 0;
  for (const Int each : columns(call)) width += each;
  return {matrices(call)[0][0], width};
}

Values vectorize(const Call& call, Inputs in) {
  Tensor y({DType::f32, vectorized(call)});
  const Ints taken = columns(call);
  for (Int row = 0, to = 0; row < y.shape()[0]; ++row)
    for (std::size_t i = 0; i < taken.size(); ++i)
      for (Int column = 0; column < taken[i]; ++column) {
        const Int from = row * in[i]->shape().back() + column;
        for_number(in[i]->dtype(), [&]<class T>() {
          y.as<float>()[static_cast<std::size_t>(to++)] =
              static_cast<float>(in[i]->as<T>()[static_cast<std::size_t>(from)]);
        });
      }
  return y;
}

}  // namespace

// clang-format off
Operator feature_vectorizer() {
  using enum DType;
  return Operator("FeatureVectorizer", "ai.onnx.ml")
      .variadic("X", "T1").output("Y", "f32").type("T1", {i32, i64, f32, f64})
      .optional_ints("inputdimensions").rulings({"A29", "G51"})
      .require("FV1", "every input is [N, C] or [C]", are_matrices)
      .require("FV2", "all inputs have as many rows", has_one_height)
      .require("FV3", "inputdimensions, where stated, name columns of each input that it has", has_the_columns)
      .since(1)
      .shaping(Shaping::moved).infer(moved_to(vectorized)).kernel(vectorize);
}
// clang-format on

}  // namespace assay
