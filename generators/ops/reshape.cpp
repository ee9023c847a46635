// SPDX-License-Identifier: Apache-2.0
// Reshape: elements spread over other axes, with -1 for one of them and 0 for those that data has too; empty tensors.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const Shape data = draw_extents(stratum % shape_strata);
  c.node.input("data", {type, data});
  c.sources["data"] = {draw_selection_fill(type), false};
  Ints shape = chance(20) ? data : spread(volume(data), between(volume(data) == 1 ? 0 : 1, 5));
  const bool has_zeros = std::ranges::find(shape, 0) != shape.end();
  const bool takes_zeros = definition.attribute("allowzero") && chance(has_zeros ? 60 : 30);
  if (definition.attribute("allowzero") && (takes_zeros || chance(25))) c.node.attribute("allowzero", takes_zeros);
  for (std::size_t i = 0; i < std::min(shape.size(), data.size()); ++i)
    if (shape[i] == data[i] && !takes_zeros && chance(60)) shape[i] = 0;
  if (!shape.empty() && chance(50)) *pick({&shape.front(), &shape.back(), &shape[shape.size() / 2]}) = -1;
  if (!shape.empty() || definition.input("shape") || chance(50)) state(c, "shape", shape);
  if (definition.attribute("consumed_inputs") && chance(30)) c.node.attribute("consumed_inputs", Ints{between(0, 2)});
  return c;
}

void refit(Case& c) { leave_one_open(c, "shape", -1); }

}  // namespace

const OperatorGenerator& reshape() {
  static const OperatorGenerator all = moving_generator(draw, refit);
  return all;
}

}  // namespace assay::generators
