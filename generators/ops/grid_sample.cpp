// SPDX-License-Identifier: Apache-2.0
// GridSample: points at centres, between two, at the borders and beyond them by parts of a period and by several; axes
// of one element; planes that are not square, whose coordinates may be exchanged.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

std::string draw_word(Case& c, const char* attribute) {
  const AttributeSpec& spec = *c.definition().attribute(attribute);
  const std::string word = pick(spec.words);
  if (word != spec.words.front() || chance(25)) c.node.attribute(attribute, Attribute(word));
  return word;
}

Recipe draw_grid() {
  switch (between(0, 5)) {
    case 0: return {"lit", "0,-1,1,0.5,-0.5,0.25,-0.75"};
    case 1: return {"lit", "-1.125,1.25,-1.5,1.75,2,-2,-3.25,3.5"};
    case 2: return {"lit", "0.125,-1,0.875,1,-0.375,1.0625"};
    case 3: return {"lit", pick({"100,-100,7.5,0,-9", "0x1p20,-0x1p20,0.5,-1", "0x1p100,-0x1p100,0"})};
    default: return seeded(pick({"uniform", "normal"}));
  }
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  const bool is_plane = definition.constraint("C9") || chance(60);
  const Int r = is_plane ? 2 : weighted<Int>({{60, 1}, {40, 3}});
  Shape x{weighted<Int>({{5, 0}, {65, 1}, {30, 2}}), weighted<Int>({{3, 0}, {60, 1}, {37, 2}})}, grid{x[0]};
  for (Int axis = 0; axis < r; ++axis) {
    x.push_back(chance(15) ? 1 : between(2, r == 1 ? 9 : r == 2 ? 6 : 3));
    grid.push_back(chance(3) ? 0 : between(1, r == 1 ? 9 : r == 2 ? 5 : 3));
  }
  grid.push_back(r);
  Case c = moving(definition, type, x);
  const bool is_number = is_float(type) || is_integer(type);
  const std::string mode = is_number ? draw_word(c, "mode") : "nearest";
  if (!is_number) c.node.attribute("mode", Attribute(std::string("nearest")));
  if (mode != "nearest")
    c.sources["X"].recipe = seeded(is_float(type) ? pick({"small", "normal", "uniform"}) : "small");
  draw_word(c, "padding_mode");
  if (chance(60)) c.node.attribute("align_corners", Attribute(Int{stratum % 2 == 0}));
  c.node.input("grid", {chance(80) ? DType::f32 : pick(definition.types_of("T2")), grid});
  c.sources["grid"] = {draw_grid(), chance(25)};
  admit_types(c);
  return c;
}

std::pair<Int, Int> ranks(const Definition& definition) {
  return definition.constraint("C9") ? std::pair<Int, Int>{4, 4} : std::pair<Int, Int>{3, 5};
}

// The grid has a batch and a coordinate for each axis, as X has.
void refit(Case& c) {
  if (!c.node.inputs.contains("grid")) return;
  const Shape& x = shape_of(c);
  Shape& grid = shape_of(c, "grid");
  if (x.size() < 3) return;
  grid.resize(x.size(), 1);
  grid.front() = x.front();
  grid.back() = std::ssize(x) - 2;
}

bool changed(Case& c, std::size_t axis, Int by) {
  Shape& grid = shape_of(c, "grid");
  return axis < grid.size() && (grid[axis] += by) >= 0;
}

}  // namespace

const OperatorGenerator& grid_sample() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, ranks, refit);
    made.damages = {{"a grid of another rank", [](Case& c) { shape_of(c, "grid").push_back(1); }},
                    {"coordinates of more axes",
                     [](Case& c) {
                       return changed(c, shape_of(c, "grid").size() - 1, pick({1, -1}));
                     }},
                    {"another batch", [](Case& c) { return changed(c, 0, 1); }},
                    {"a grid of integers", [](Case& c) { c.node.inputs.at("grid").type.dtype = DType::i32; }},
                    {"no grid", [](Case& c) { remove_input(c, "grid"); }},
                    {"an unknown mode",
                     [](Case& c) {
                       c.node.attribute(
                           "mode",
                           Attribute(pick({std::string("linearly"), std::string("bilinear"), std::string("linear")})));
                     }},
                    {"an unknown padding",
                     [](Case& c) {
                       c.node.attribute("padding_mode", Attribute(pick({std::string("zero"), std::string("reflect")})));
                     }},
                    {"corners that are neither",
                     [](Case& c) {
                       c.node.attribute("align_corners", Attribute(pick<Int>({2, -1})));
                     }},
                    {"nothing to sample", [](Case& c) { shape_of(c).back() = 0; }},
                    {"interpolation of what is no number",
                     [](Case& c) {
                       c.node.inputs.at("X").type.dtype = DType::boolean;
                       c.sources["X"].recipe = {"small", "1"};
                       c.node.attributes.erase("mode");
                     }},
                    {"another number of axes", [](Case& c) {
                       shape_of(c).push_back(2);
                       refit(c);
                     }}};
    return made;
  }();
  return all;
}

}  // namespace assay::generators
