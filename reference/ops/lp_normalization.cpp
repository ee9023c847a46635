// SPDX-License-Identifier: Apache-2.0
// LpNormalization (ai.onnx 1, 22) - https://onnx.ai/onnx/operators/onnx__LpNormalization.html
//
//   output = input / norm of its line along axis, p = 1: the sum of sizes, p = 2: the root of the sum of squares;
//   0 where the norm is 0
#include "reference/families/axis.h"
#include "reference/families/elementwise.h"
#include "reference/type_lists.h"

#include <cmath>

namespace assay {
namespace {

template <int p>
void divided(std::span<const double> x, std::span<double> y) {
  double sum = 0;
  for (const double each : x) sum += p == 1 ? std::fabs(each) : each * each;
  const double norm = p == 1 ? sum : std::sqrt(sum);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = norm == 0 ? 0 : x[i] / norm;
}

}  // namespace

Operator lp_normalization() {
  // clang-format off
  return Operator("LpNormalization")
      .with([](Operator& o) { along_axis(o, -1); })
      .attribute("p", 2).rulings({"A29", "N32"})
      .require("P1", "p is 1 or 2", [](auto& c) { return c.integer("p") == 1 || c.integer("p") == 2; })
      .since(1).type("T", types::all_float_types())
      .since(22, "T admits bfloat16").type("T", types::all_float_types_ir4())
      .shaping(Shaping::axis).shape(same_as("input"))
      .kernel([](const Call& call, Inputs in) {
        return (call.integer("p") == 1 ? along_lines(divided<1>) : along_lines(divided<2>))(call, in);
      });
  // clang-format on
}

}  // namespace assay
