// SPDX-License-Identifier: Apache-2.0
// Squeeze and Unsqueeze: axes of one element anywhere, listed in any order, from either end, not at all.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "reference/operator.h"

#include <algorithm>
#include <numeric>

namespace assay::generators {
namespace {

// Puts in axes of one element, and returns where they stand then.
Ints with_units(Shape& shape) {
  const Int count = between(0, 3);
  for (Int i = 0; i < count; ++i) shape.insert(shape.begin() + between(0, std::ssize(shape)), 1);
  Ints units;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == 1) units.push_back(static_cast<Int>(axis));
  return units;
}

Case draw_squeeze(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(stratum % shape_strata);
  Ints axes = with_units(shape);
  const bool names_all = chance(30);
  std::erase_if(axes, [&](Int) { return !names_all && chance(40); });
  Case c = moving(definition, type, shape);
  const Parameter* const input = definition.input("axes");
  if (input && chance(15))
    c.node.empty_input("axes");
  else if (chance(75) && (input || !axes.empty()))
    state(c, "axes", any_order(axes, std::ssize(shape), chance(60)));
  return c;
}

Case draw_unsqueeze(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = moving(definition, type, draw_extents(stratum % shape_strata));
  const Int count = between(0, 3), rank = count + std::ssize(c.node.inputs.at("data").type.shape);
  Ints axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), Int{0});
  axes = any_order(axes, rank, chance(60));
  axes.resize(static_cast<std::size_t>(count));
  state(c, "axes", axes);
  return c;
}

}  // namespace

const OperatorGenerator& squeeze() {
  static const OperatorGenerator all = placing_generator(draw_squeeze, axes<0>);
  return all;
}

const OperatorGenerator& unsqueeze() {
  static const OperatorGenerator all = placing_generator(draw_unsqueeze, axes<0>);
  return all;
}

}  // namespace assay::generators
