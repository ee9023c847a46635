// SPDX-License-Identifier: Apache-2.0
// Momentum, Adagrad and Adam: one tensor and two of other shapes, the first iteration and later ones, with
// regularization and without. What was squared is not negative.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

bool has_squares(const Definition& definition) { return definition.attribute("epsilon") != nullptr; }
Int kinds_of(const Definition& definition) { return definition.attribute("norm_coefficient_post") ? 4 : 3; }
std::string input_name(Int at) { return "inputs_" + std::to_string(at); }

Int tensors_of(const Case& c) {
  Int count = 0;
  while (c.node.inputs.contains(input_name(count))) ++count;
  return count / kinds_of(c.definition());
}

Recipe draw_squares() {
  return chance(40) ? Recipe{"hold", pick({"7,9", "1,4,9", "0.25,2", "3,1,0.5"})} : seeded("uniform");
}
Recipe draw_tensor() {
  return seeded(
      weighted<const char*>({{40, "normal"}, {20, "small"}, {15, "quarter"}, {10, "uniform"}, {8, "special"}}));
}

void give(Case& c, Int at, DType type, const Shape& shape, const Recipe& recipe) {
  c.node.input(input_name(at), {type, shape});
  c.sources[input_name(at)] = {recipe, chance(15)};
}

void request_all(Case& c) {
  c.node.outputs.clear();
  for (Int at = 1; at < tensors_of(c) * (kinds_of(c.definition()) - 1); ++at)
    c.node.output("outputs_" + std::to_string(at));
}

void state_reals(Case& c) {
  const auto maybe = [&](const char* name, std::initializer_list<float> values) {
    const AttributeSpec* const spec = c.definition().attribute(name);
    if (spec && (spec->required || chance(60))) c.node.attribute(name, Attribute(pick(values)));
  };
  maybe("norm_coefficient", {0.0F, 0.5F, 0.001F, 2.0F});
  maybe("norm_coefficient_post", {0.0F, 0.25F, 0.1F});
  maybe("decay_factor", {0.5F, 0.1F, 1.0F});
  maybe("epsilon", {1e-6F, 1e-3F, 0.25F, 1.0F});
  maybe("alpha", {0.9F, 0.5F, 0.95F, 0.0F});
  maybe("beta", {0.999F, 0.5F, 0.75F, 0.99F});
  if (c.definition().attribute("mode")) c.node.attribute("mode", pick({"nesterov", "standard"}));
}

Case draw(const Definition& definition, DType of_rate, std::uint64_t stratum) {
  Case c = blank(definition);
  const DType type = chance(70) ? of_rate : pick({DType::f32, DType::f64});
  c.node.input("R", {of_rate, {}}).input("T", {DType::i64, {}});
  c.sources["R"] = {chance(6) ? seeded("special") : seeded(pick({"uniform", "quarter", "pow2"})), false};
  c.sources["T"] = {{"hold", pick({"0", "0", "1", "2", "3", "7", "20", "300"})}, chance(30)};
  const Int kinds = kinds_of(definition), tensors = chance(60) ? 1 : 2;
  std::vector<Shape> shapes;
  for (Int i = 0; i < tensors; ++i) shapes.push_back(draw_extents(stratum % shape_strata));
  for (Shape& shape : shapes)
    if (volume(shape) > 60) shape = {between(1, 3), between(2, 9)};
  for (Int kind = 0; kind < kinds; ++kind)
    for (Int i = 0; i < tensors; ++i) {
      const bool is_square = kind == kinds - 1 && has_squares(definition);
      give(c, kind * tensors + i, type, shapes[static_cast<std::size_t>(i)],
           is_square ? draw_squares() : draw_tensor());
    }
  request_all(c);
  state_reals(c);
  return c;
}

// Gives what belongs together the shape of the first, and takes away what has no place.
void refit(Case& c) {
  const Int kinds = kinds_of(c.definition()), tensors = tensors_of(c);
  if (tensors == 0 || c.is_legal()) return;
  for (const char* const name : {"R", "T"})
    if (c.node.inputs.contains(name)) shape_of(c, name) = {};
  for (Int at = kinds * tensors; c.node.inputs.contains(input_name(at)); ++at) remove_input(c, input_name(at));
  for (Int at = 0; at < kinds * tensors; ++at) shape_of(c, input_name(at)) = shape_of(c, input_name(at % tensors));
  request_all(c);
}

OperatorGenerator made() {
  OperatorGenerator all = moving_generator(draw, refit);
  all.ranks = axes<0, 0>;
  all.damages = {
      {"another shape",
       [](Case& c) {
         Shape& shape = shape_of(c, input_name(between(0, kinds_of(c.definition()) * tensors_of(c) - 1)));
         shape.push_back(2);
       }},
      {"a tensor too few", [](Case& c) { remove_input(c, input_name(kinds_of(c.definition()) * tensors_of(c) - 1)); }},
      {"an output too few",
       [](Case& c) {
         if (c.node.outputs.empty()) return false;
         c.node.outputs.erase(std::prev(c.node.outputs.end()));
         return true;
       }},
      {"a list",
       [](Case& c) {
         shape_of(c, pick({"R", "T"})) = pick<Shape>({{1}, {2}});
       }},
      {"an input left out",
       [](Case& c) {
         remove_input(c, pick<std::string>({"R", "T", "inputs_0"}));
       }},
      {"another mode", [](Case& c) {
         if (!c.definition().attribute("mode")) return false;
         c.node.attribute("mode", pick({"", "Standard", "momentum"}));
         return true;
       }}};
  return all;
}

}  // namespace

const OperatorGenerator& momentum() {
  static const OperatorGenerator all = made();
  return all;
}
const OperatorGenerator& adagrad() { return momentum(); }
const OperatorGenerator& adam() { return momentum(); }

}  // namespace assay::generators
