// SPDX-License-Identifier: Apache-2.0
// AffineGrid: rotations, shears, scales and translations of planes and volumes, a single point along an axis and many.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

Recipe draw_theta(Int axes) {
  if (chance(25)) {
    const bool is_flat = axes == 2;
    return {"lit",
            pick(is_flat ? std::vector<std::string>{"1,0,0,0,1,0", "0,-1,0.5,1,0,-0.25", "2,0,0,0,0.5,1,1,3,0,-1,1,2"}
                         : std::vector<std::string>{"1,0,0,0,0,1,0,0,0,0,1,0", "0,0,1,0.5,1,0,0,0,0,-1,0,2"})};
  }
  return seeded(weighted<const char*>(
      {{40, "normal"}, {20, "small"}, {15, "quarter"}, {10, "logu"}, {5, "odd10"}, {10, "special"}}));
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  const Int axes = stratum % 2 == 0 ? 2 : 3, batches = chance(15) ? between(4, 12) : between(1, 3);
  Case c = blank(definition);
  c.node.input("theta", {type, {batches, axes, axes + 1}});
  c.sources["theta"] = {draw_theta(axes), chance(20)};
  Ints size{batches, between(1, 3)};
  const Int most = batches > 3 ? 2 : axes == 2 ? 8 : 4;
  for (Int axis = 0; axis < axes; ++axis) size.push_back(chance(8) ? 1 : between(1, most));
  if (batches == 1 && chance(15)) size.back() = between(9, 70);
  state(c, "size", size);
  write_default(c.node, definition, "align_corners", chance(50) ? 1 : 0, 0);
  return c;
}

// Leaves a matrix of two axes or three, and a size of as many.
void refit(Case& c) {
  Shape& theta = shape_of(c);
  if (theta.size() != 3 || !c.sources.contains("size")) return;
  const Int axes = std::min(theta[1], theta[2] - 1) > 2 ? 3 : 2;
  theta = {std::max<Int>(theta[0], 1), axes, axes + 1};
  Ints size = stated(c, "size");
  size.resize(static_cast<std::size_t>(axes + 2), 1);
  size[0] = theta[0];
  state(c, "size", size);
}

}  // namespace

const OperatorGenerator& affine_grid() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<3, 3>, refit);
    made.damages.push_back({"other corners", [](Case& c) { c.node.attribute("align_corners", pick({2, -1})); }});
    return made;
  }();
  return all;
}

}  // namespace assay::generators
