// SPDX-License-Identifier: Apache-2.0
// ArgMax, ArgMin and Hardmax: lines of every length with few distinct values, and extremes at both ends.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(stratum % shape_strata);
  if (shape.empty()) shape = {pick<Int>({1, 2, 17, 256, 1000})};
  const Int rank = std::ssize(shape), axis = between(0, rank - 1);
  for (Int i = 0; i < rank; ++i)
    if (Int& extent = shape[static_cast<std::size_t>(i)]; extent == 0 && (i == axis || definition.constraint("C3")))
      extent = between(1, 3);
  Case c = moving(definition, type, shape);
  if (chance(40)) c.sources["data"].recipe = {"lit", pick({"2,1,1,2,1", "0,1,2,1,0,2,2", "5,4,3,2,1,0"})};
  write_default(c.node, definition, "axis", chance(50) && !definition.constraint("C4") ? axis - rank : axis, 0);
  write_default(c.node, definition, "keepdims", chance(50), 1);
  if (definition.attribute("select_last_index")) write_default(c.node, definition, "select_last_index", chance(50), 0);
  return c;
}

Case draw_marked(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = axis_family().questions()->draw(definition, type, stratum);
  if (chance(50))
    c.sources["input"].recipe = chance(80) ? draw_selection_fill(type) : Recipe{"lit", "65504,inf,1,-inf,-65504,inf"};
  return c;
}

}  // namespace

const Questions& arg_max() {
  static const Questions all = placing_questions(draw, axes<1>);
  return all;
}
const Questions& arg_min() { return arg_max(); }

const Questions& hardmax() {
  static const Questions all = [] {
    Questions made = *axis_family().questions();
    made.draw = draw_marked;
    return made;
  }();
  return all;
}

}  // namespace assay::generators
