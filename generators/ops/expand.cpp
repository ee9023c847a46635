// SPDX-License-Identifier: Apache-2.0
// Expand and Tile: axes repeated anywhere, more axes than there were, none of it, and until nothing is left.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

Case draw_expand(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape input = draw_extents(stratum % shape_strata), shape = input;
  for (std::size_t axis = 0; axis < input.size(); ++axis) {
    if (chance(35)) input[axis] = 1;
    if (chance(35)) shape[axis] = 1;
  }
  const Int more = between(0, 2), fewer = between(0, std::ssize(shape));
  if (chance(30)) shape.erase(shape.begin(), shape.begin() + fewer);
  if (chance(30))
    for (Int i = 0; i < more; ++i) shape.insert(shape.begin(), between(chance(10) ? 0 : 1, 3));
  Case c = moving(definition, type, input);
  state(c, "shape", shape);
  return c;
}

Case draw_tile(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape input = draw_extents(stratum % shape_strata);
  if (input.empty() && definition.input("tiles")) input = {between(1, 33)};
  Case c = moving(definition, type, input);
  Ints repeats;
  for (std::size_t axis = 0; axis < input.size(); ++axis)
    repeats.push_back(chance(50) ? 1 : between(chance(15) ? 0 : 1, 3));
  if (definition.input("repeats")) {
    state(c, "repeats", repeats);
  } else {
    write_out(c, "tiles", {}, {between(0, 3)});
    write_out(c, "axis", {}, {between(0, std::ssize(input) - 1)});
    for (const char* name : {"tiles", "axis"}) c.node.inputs.at(name).type.dtype = type;
  }
  return c;
}

// Spoils a float of version 1: no whole number, no scalar, out of range, not there.
bool spoils_a_float(Case& c) {
  if (!c.definition().input("tiles")) return false;
  const std::string name = pick({"tiles", "axis"});
  switch (between(0, 3)) {
    case 0: c.sources.at(name).recipe = {"values", "1.5"}; break;
    case 1: write_out(c, name, {1}, {1}); break;
    case 2: write_out(c, name, {}, {pick({Int{-1}, std::ssize(c.node.inputs.at("input").type.shape)})}); break;
    default: c.node.inputs.erase(name); c.sources.erase(name);
  }
  return true;
}

}  // namespace

const OperatorGenerator& expand() {
  static const OperatorGenerator all = placing_generator(draw_expand, axes<0>);
  return all;
}

const OperatorGenerator& tile() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw_tile, [](const Definition& d) {
      return std::pair<Int, Int>{d.input("tiles") ? 1 : 0, 7};
    });
    made.damages.push_back({"a float spoiled", spoils_a_float});
    return made;
  }();
  return all;
}

}  // namespace assay::generators
