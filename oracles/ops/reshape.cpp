// SPDX-License-Identifier: Apache-2.0
// The exact answer of Reshape: every element stays where it is. -1 is what is left of the volume of data once all
// extents that are known are divided out.
#include "oracles/rules/rules.h"
#include "reference/operator.h"

namespace assay::oracles {
namespace {

std::optional<Shape> shape(const Call& call, const Readings&) {
  const Shape& data = call.shape("data");
  const bool takes_zero = call.states("allowzero") && call.integer("allowzero") != 0;
  Int left = volume(data);
  Shape out;
  for (const Int entry : call.ints("shape")) {
    out.push_back(entry == 0 && !takes_zero ? data.at(out.size()) : entry);
    if (out.back() > 0) left /= out.back();
  }
  for (Int& extent : out)
    if (extent == -1) extent = left;
  return out;
}

}  // namespace

Oracle reshape() {
  return moved(shape, [](const CopyPoint& p) { return Origin{p.index}; });
}

}  // namespace assay::oracles
