// SPDX-License-Identifier: Apache-2.0
// Concat: one to eight parts along any axis, some of them empty.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(stratum % shape_strata);
  if (shape.empty()) shape = {between(1, 33)};
  Case c = moving(definition, type, shape);
  const Int rank = std::ssize(shape), axis = chance(30) ? rank - 1 : between(0, rank - 1);
  const AttributeSpec& spec = *definition.attribute("axis");
  if (spec.required || axis != 1 || chance(50)) c.node.attribute("axis", Attribute(chance(40) ? axis - rank : axis));
  const auto count = weighted<std::size_t>({{15, 1}, {40, 2}, {30, 3}, {10, 5}, {5, 8}});
  for (std::size_t i = 1; i < count; ++i) {
    const std::string& name = definition.inputs[i].name;
    shape[static_cast<std::size_t>(axis)] = between(chance(15) ? 0 : 1, 4);
    c.node.input(name, {type, shape});
    c.sources[name] = {moving(definition, type, shape).sources.begin()->second.recipe, chance(20)};
  }
  return c;
}

// The extents of the first input, but along the axis.
void refit(Case& c) {
  const Call call = c.call();
  const Int rank = call.rank("inputs_0"), said = call.states("axis") ? call.integer("axis") : 1;
  if (said < -rank || said >= rank) return;
  const auto axis = static_cast<std::size_t>(said < 0 ? said + rank : said);
  for (auto& [name, input] : c.node.inputs) {
    const Shape before = std::exchange(input.type.shape, call.shape("inputs_0"));
    if (axis < before.size()) input.type.shape[axis] = before[axis];
  }
}

bool one_of_another_type(Case& c) {
  if (c.node.inputs.size() < 2) return false;
  DType& type = c.node.inputs.at("inputs_1").type.dtype;
  type = type == DType::f32 ? DType::f16 : DType::f32;
  c.sources.at("inputs_1").recipe = {"iota", "1"};
  return true;
}

bool last_of_another_rank(Case& c) {
  c.node.inputs.rbegin()->second.type.shape.push_back(1);
  return c.node.inputs.size() > 1;
}

}  // namespace

const OperatorGenerator& concat() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<1>, refit);
    made.damages.push_back({"one input of another type", one_of_another_type});
    made.damages.push_back({"one input of another rank", last_of_another_rank});
    return made;
  }();
  return all;
}

}  // namespace assay::generators
