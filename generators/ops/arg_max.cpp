// SPDX-License-Identifier: Apache-2.0
// ArgMax, ArgMin and Hardmax: lines of every length with few distinct values, and extremes at both ends.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

// Two numbers next to each other, which a narrower type would round to one.
std::string neighbours(DType type) {
  const std::string above = type == DType::f64   ? "0x1.0000000000001p+0"
                            : type == DType::f32 ? "0x1.000002p+0"
                            : type == DType::f16 ? "0x1.004p+0"
                                                 : "0x1.02p+0";
  return chance(50) ? "1," + above : above + ",1";
}

// The larger ranks first: of a vector there is one line.
Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(shape_strata - 1 - stratum % shape_strata);
  if (shape.empty()) shape = {pick<Int>({1, 2, 17, 256, 1000})};
  const Int rank = std::ssize(shape), axis = between(0, rank - 1);
  for (Int i = 0; i < rank; ++i)
    if (Int& extent = shape[static_cast<std::size_t>(i)]; extent == 0 && (i == axis || definition.constraint("C3")))
      extent = between(1, 3);
  Case c = moving(definition, type, shape);
  if (chance(40)) c.sources["data"].recipe = {"lit", pick({"2,1,1,2,1", "0,1,2,1,0,2,2", "5,4,3,2,1,0"})};
  if (is_float(type) && chance(15)) c.sources["data"].recipe = {"lit", neighbours(type)};
  if ((type == DType::i64 || type == DType::u64) && chance(25)) c.sources["data"].recipe = seeded("ends");
  write_default(c.node, definition, "axis", chance(50) && !definition.constraint("C4") ? axis - rank : axis, 0);
  write_default(c.node, definition, "keepdims", chance(50), 1);
  if (definition.attribute("select_last_index")) write_default(c.node, definition, "select_last_index", chance(50), 0);
  return c;
}

Case draw_marked(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = axis_family().generator()->draw(definition, type, stratum);
  if (chance(50))
    c.sources["input"].recipe = chance(80) ? draw_selection_fill(type) : Recipe{"lit", "65504,inf,1,-inf,-65504,inf"};
  return c;
}

}  // namespace

const OperatorGenerator& arg_max() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<1>);
    made.damages.push_back({"an empty axis", [](Case& c) {
                              if (shape_of(c).empty()) return false;
                              pick(shape_of(c)) = 0;
                              return true;
                            }});
    return made;
  }();
  return all;
}
const OperatorGenerator& arg_min() { return arg_max(); }

const OperatorGenerator& hardmax() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = *axis_family().generator();
    made.draw = draw_marked;
    return made;
  }();
  return all;
}

}  // namespace assay::generators
