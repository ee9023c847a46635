// SPDX-License-Identifier: Apache-2.0
// Trilu: matrices of unlike extents, one or several, and diagonals from far below to far above.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "reference/operator.h"

#include <limits>

namespace assay::generators {
namespace {

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(stratum % shape_strata);
  while (shape.size() < 2) insert_axis(shape, between(1, 5));
  Case c = moving(definition, type, shape);
  const Int rows = shape.end()[-2], columns = shape.back();
  if (chance(70)) {
    constexpr Int most = std::numeric_limits<Int>::max();
    write_out(c, "k", {}, {chance(85) ? between(-rows, columns) : pick({most, -most - 1})});
  } else if (chance(30)) {
    c.node.empty_input("k");
  }
  write_default(c.node, definition, "upper", chance(50) ? 1 : 0, 1);
  return c;
}

}  // namespace

const OperatorGenerator& trilu() {
  static const OperatorGenerator all = placing_generator(draw, axes<2>);
  return all;
}

}  // namespace assay::generators
