// SPDX-License-Identifier: Apache-2.0
// LRN: sizes odd and even, of one channel and of more than there are, channels that dwarf all others, other batches
// than channels.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

Recipe fill() {
  if (chance(25)) return {"lit", pick({"1,2,3,4,5", "-2,0,1", "1,-1", "64,1,1,1,1,1", "0", "3,0,0,0,-4"})};
  return seeded(weighted<const char*>({{30, "normal"},
                                       {20, "small"},
                                       {15, "astray"},
                                       {10, "quarter"},
                                       {5, "cancel"},
                                       {5, "odd10"},
                                       {4, "logu"},
                                       {2, "subnormal"},
                                       {2, "huge"},
                                       {10, "special"}}));
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(shape_strata - 1 - stratum % shape_strata);
  while (shape.size() < 2) shape.push_back(between(1, 5));
  if (chance(60)) shape[1] = between(2, 9);
  Case c = moving(definition, type, shape);
  c.sources.begin()->second.recipe = fill();
  c.node.attribute("size", Attribute(chance(5) ? pick<Int>({64, 4097}) : between(1, shape[1] + 2)));
  if (chance(75)) c.node.attribute("alpha", Attribute(pick({1.0F, 3.0F, 0.5F, 0.3F, 0.001F, 0.0F, -0.0625F})));
  if (chance(65)) c.node.attribute("beta", Attribute(pick({1.0F, 0.5F, 2.0F, 0.25F, 0.7F, 5.0F, 0.0F, -0.5F})));
  if (chance(55)) c.node.attribute("bias", Attribute(pick({2.0F, 0.5F, 4.0F, 1.5F, 0.001F, 0.0F})));
  return c;
}

}  // namespace

const OperatorGenerator& lrn() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<2>);
    made.damages.push_back({"no channel around", [](Case& c) {
                              c.node.attribute("size", Attribute(pick<Int>({0, -1, -4})));
                            }});
    return made;
  }();
  return all;
}

}  // namespace assay::generators
