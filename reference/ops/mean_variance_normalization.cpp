// SPDX-License-Identifier: Apache-2.0
// MeanVarianceNormalization (ai.onnx 9, 13) - https://onnx.ai/onnx/operators/onnx__MeanVarianceNormalization.html
//
//   Y[i] = (X[i] - mean) / (sqrt(variance) + 1e-9)
//
// of all elements that stand together on the axes that are not listed. The 1e-9 is the body's (N10).
#include "reference/families/elementwise.h"
#include "reference/families/picked.h"
#include "reference/type_lists.h"

#include <cmath>
#include <map>

namespace assay {
namespace {

Ints batch_and_space(const Call&) { return {0, 2, 3}; }

// Returns where the group of an element begins: its place with 0 on every axis that is listed.
Int group_of(Int at, const Shape& shape, const Ints& axes) {
  const Ints steps = steps_of(shape);
  Int group = at;
  for (const Int each : axes) {
    const auto axis = static_cast<std::size_t>(from_front(each, std::ssize(shape)));
    group -= at / steps[axis] % shape[axis] * steps[axis];
  }
  return group;
}

Values normalized(const Call& call, Inputs in) {
  struct Moments {
    double n = 0, mean = 0, variance = 0;
  };
  const Tensor& x = *in[0];
  std::map<Int, Moments> groups;
  const auto group = [&](Int at) -> Moments& { return groups[group_of(at, x.shape(), call.ints("axes"))]; };
  for (Int i = 0; i < x.elements(); ++i) group(i).n += 1;
  for (Int i = 0; i < x.elements(); ++i) group(i).mean += number_at(x, i) / group(i).n;
  for (Int i = 0; i < x.elements(); ++i) group(i).variance += std::pow(number_at(x, i) - group(i).mean, 2) / group(i).n;
  Tensor y(x.type());
  constexpr double epsilon = 1e-9F;
  for (Int i = 0; i < x.elements(); ++i)
    put_number(y, i, (number_at(x, i) - group(i).mean) / (std::sqrt(group(i).variance) + epsilon));
  return y;
}

bool lists_an_axis(const Call& call) {
  const auto stated = call.node().attributes.find("axes");
  return stated == call.node().attributes.end() || stated->second != Attribute(Ints{});
}

}  // namespace

Operator mean_variance_normalization() {
  // clang-format off
  return Operator("MeanVarianceNormalization")
      .input("X", "T").output("Y", "T").attribute("axes", batch_and_space)
      .rulings({"A29", "N1", "N10", "N33", "N48", "N49", "N50"})
      .require("R1", "every axis is in [-rank(X), rank(X) - 1]", [](auto& c) { return are_axes(c.ints("axes"), c.rank("X")); })
      .require("R2", "no axis is listed twice", [](auto& c) { return are_distinct(c.ints("axes"), c.rank("X")); }, "N33")
      .require("R5", "axes, where it is given, lists an axis", lists_an_axis)
      .since(9).type("T", types::all_float_types())
      .since(13, "T admits bfloat16").type("T", types::all_float_types_ir4())
      .shaping(Shaping::normalized).shape(same_as("X")).kernel(normalized);
  // clang-format on
}

}  // namespace assay
