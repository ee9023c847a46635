// SPDX-License-Identifier: Apache-2.0
// The exact answer of Concat: the input within whose extent the index along the axis falls.
#include "oracles/rules/rules.h"
#include "reference/operator.h"

namespace assay::oracles {
namespace {

std::size_t axis_of(const Call& call) {
  return axis_in(call.rank("inputs_0"), call.states("axis") ? call.integer("axis") : 1);
}

std::optional<Shape> shape(const Call& call, const Readings&) {
  Shape out = call.shape("inputs_0");
  for (std::size_t i = 1; i < call.definition().inputs.size(); ++i)
    if (const std::string& name = call.definition().inputs[i].name; call.has(name))
      out[axis_of(call)] += call.shape(name)[axis_of(call)];
  return out;
}

}  // namespace

Oracle concat() {
  return moved(shape, [](const CopyPoint& p) {
    Shape at = p.at();
    Int& along = at[axis_of(p.call)];
    for (std::size_t input = 0;; ++input) {
      const Shape& part = p.call.shape(p.call.definition().inputs.at(input).name);
      if (along < part[axis_of(p.call)]) return origin(part, at, input);
      along -= part[axis_of(p.call)];
    }
  });
}

}  // namespace assay::oracles
