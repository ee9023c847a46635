// SPDX-License-Identifier: Apache-2.0
// LpNormalization: the lines of its family, by either norm, and of nothing but zeros.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/values.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = axis_family().generator()->draw(definition, type, stratum);
  write_default(c.node, definition, "p", chance(55) ? 1 : 2, 2);
  if (chance(40)) c.sources["input"].recipe = {"lit", pick({"3,4,0", "1,-3", "-1,2,-2", "0", "8,-15,0,0", "1,-1,1,1"})};
  return c;
}

}  // namespace

const OperatorGenerator& lp_normalization() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = *axis_family().generator();
    made.draw = draw;
    made.damages.push_back({"another norm", [](Case& c) { c.node.attribute("p", Attribute(pick<Int>({0, 3, -1}))); }});
    return made;
  }();
  return all;
}

}  // namespace assay::generators
