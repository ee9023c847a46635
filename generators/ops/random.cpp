// SPDX-License-Identifier: Apache-2.0
// The random operators: every shape and type, the ends of what they may be told (no spread at all, probabilities of 0
// and 1, one class far above the others), some tensors of so many elements that their distribution is telling.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

// Draws a shape, one in sixteen of more than ten thousand elements.
Shape draw_shape(std::uint64_t stratum) {
  return chance(6) ? Shape{between(100, 110), 101} : draw_extents(stratum % shape_strata);
}

void draw_type(Case& c, DType otherwise) {
  const Parameter& output = c.definition().outputs.front();
  const std::vector<DType>& admitted = c.definition().types_of(output.type);
  const bool has_to = c.definition().attribute("dtype")->value ? false : std::ranges::count(admitted, otherwise) == 0;
  if (has_to || chance(60)) c.node.attribute("dtype", Attribute(Int{static_cast<int>(pick(admitted))}));
}

void draw_distribution(Case& c) {
  if (chance(50)) c.node.attribute("seed", Attribute(pick({0.0F, 1.0F, 1.5F, 42.0F})));
  if (c.definition().attribute("low")) {
    const auto [low, high] =
        pick({std::pair{0.0F, 1.0F}, {-2.0F, 3.0F}, {0.25F, 0.5F}, {5.0F, 5.0F}, {-1000.0F, -1.0F}});
    if (low != 0 || high < 0 || chance(30)) c.node.attribute("low", Attribute(low));
    if (high != 1 || chance(30)) c.node.attribute("high", Attribute(high));
  } else if (c.definition().attribute("mean")) {
    if (chance(50)) c.node.attribute("mean", Attribute(pick({0.0F, 2.5F, -7.0F, 100.0F})));
    if (chance(50)) c.node.attribute("scale", Attribute(pick({1.0F, 0.5F, 3.0F, 0.0F})));
  }
}

Case draw_tensor(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  c.node.attribute("shape", draw_shape(stratum));
  if (type != DType::f32 || chance(20)) c.node.attribute("dtype", Attribute(Int{static_cast<int>(type)}));
  draw_distribution(c);
  return c;
}

Case draw_like(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  c.node.input("input", {type, draw_shape(stratum)});
  c.sources["input"] = {draw_selection_fill(type), false};
  draw_type(c, type);
  draw_distribution(c);
  return c;
}

Case draw_bernoulli(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  c.node.input("input", {type, draw_shape(stratum)});
  c.sources["input"] = {pick({seeded("uniform"), Recipe{"hold", "0,1"}, Recipe{"hold", "0,0.25,1,0.75,0.1"},
                              Recipe{"hold", "0.125,0.25"}}),
                        false};
  draw_type(c, type);
  draw_distribution(c);
  return c;
}

Case draw_multinomial(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const bool is_large = stratum % 8 == 0, is_certain = stratum % 3 == 1;
  c.node.input("input", {type, {between(0, 3), between(1, 6)}});
  c.sources["input"] = {is_certain
                            ? Recipe{"hold", pick({"0,90,0,0,0,0", "-100,-10,-100,-100,-100,-100", "80,0,0,0,0,0"})}
                            : Recipe{"hold", pick({"1,2,3", "0,-1,2,0.5", "-3,-2,-2"})},
                        false};
  if (is_large) c.node.inputs.at("input").type.shape = {1, between(2, 5)};
  c.node.attribute("sample_size", Attribute(is_large ? Int{11'000} : between(1, 9)));
  if (chance(60)) c.node.attribute("dtype", Attribute(Int{static_cast<int>(pick({DType::i32, DType::i64}))}));
  draw_distribution(c);
  return c;
}

const Mutation another_type{"a type not admitted", [](Case& c) {
                              c.node.attribute("dtype", Attribute(pick<Int>({8, 0, 99})));
                            }};
const Mutation no_spread{"ends that cannot be", [](Case& c) {
                           if (c.definition().attribute("low"))
                             c.node.attribute("low", Attribute(2.0F)).attribute("high", Attribute(1.0F));
                           else
                             c.node.attribute("scale", Attribute(-1.0F));
                         }};

OperatorGenerator random(Case (*draw)(const Definition&, DType, std::uint64_t), std::vector<Mutation> damages) {
  OperatorGenerator all = moving_generator(draw);
  all.damages = std::move(damages);
  all.damages.push_back(another_type);
  all.most_outputs = 12'000;
  return all;
}

const OperatorGenerator& random_tensor() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = random(draw_tensor, {no_spread, {"an extent below 0", [](Case& c) {
                                                                c.node.attribute("shape", Ints{2, -1});
                                                              }}});
    made.describes_output = true;
    return made;
  }();
  return all;
}

const OperatorGenerator& random_like() {
  static const OperatorGenerator all = random(draw_like, {no_spread});
  return all;
}

}  // namespace

const OperatorGenerator& random_uniform() { return random_tensor(); }
const OperatorGenerator& random_normal() { return random_tensor(); }
const OperatorGenerator& random_uniform_like() { return random_like(); }
const OperatorGenerator& random_normal_like() { return random_like(); }
const OperatorGenerator& bernoulli() {
  static const OperatorGenerator all = random(draw_bernoulli, {});
  return all;
}
const OperatorGenerator& multinomial() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = random(
        draw_multinomial, {{"no samples", [](Case& c) { c.node.attribute("sample_size", Attribute(-between(0, 1))); }},
                           {"no class",
                            [](Case& c) {
                              shape_of(c) = {2, 0};
                            }},
                           {"another rank", [](Case& c) { shape_of(c).push_back(1); }}});
    made.ranks = axes<2, 2>;
    made.describes_output = true;
    return made;
  }();
  return all;
}

}  // namespace assay::generators
