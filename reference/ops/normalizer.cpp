// SPDX-License-Identifier: Apache-2.0
// Normalizer (ai.onnx.ml 1) - https://onnx.ai/onnx/operators/onnx_aionnxml_Normalizer.html
//
//   Y = X / d of its row, d = max(X) of MAX, sum(|X|) of L1, sqrt(sum(X^2)) of L2; X where d is 0
#include "reference/families/elementwise.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

double divisor(const std::string& norm, const std::vector<double>& row) {
  if (norm == "MAX") return std::ranges::max(row);
  double sum = 0;
  for (const double x : row) sum += norm == "L1" ? std::fabs(x) : x * x;
  return norm == "L1" ? sum : std::sqrt(sum);
}

Values normalize(const Call& call, Inputs in) {
  Tensor y({DType::f32, in[0]->shape()});
  const Int columns = y.shape().back();
  for (Int first = 0; first < y.elements(); first += columns) {
    std::vector<double> row;
    for (Int i = 0; i < columns; ++i) row.push_back(number_at(*in[0], first + i));
    const double d = divisor(call.text("norm"), row);
    for (Int i = 0; i < columns; ++i) {
      const double x = row[static_cast<std::size_t>(i)];
      put_number(y, first + i, d == 0 ? x : x / d);
    }
  }
  return y;
}

}  // namespace

// clang-format off
Operator normalizer() {
  using enum DType;
  return Operator("Normalizer", "ai.onnx.ml")
      .input("X", "T").output("Y", "f32").type("T", {f32, f64, i64, i32})
      .word("norm", {"MAX", "L1", "L2"}, "NZ1").rulings({"A29", "G35", "G50"})
      .require("NZ2", "X is [N, C] or [C]", [](auto& c) { return c.rank("X") == 1 || c.rank("X") == 2; })
      .since(1)
      .shaping(Shaping::normalized).shape(same_as("X")).kernel(normalize);
}
// clang-format on

}  // namespace assay
