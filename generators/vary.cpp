// SPDX-License-Identifier: Apache-2.0
#include "generators/vary.h"

#include "generators/family.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

// Full significands, of like sizes and of unlike ones, with and without cancellation.
const std::vector<std::string>& families() {
  static const std::vector<std::string> all{"normal", "uniform", "cancel", "zerosum", "logu"};
  return all;
}

std::string draw_seed(Generator& draw) { return std::to_string(draw.below(1'000'000)); }

// Wide ranges leave float16.
Recipe draw_recipe(Generator& draw, DType type) {
  const std::uint64_t count = families().size() - (type == DType::f16 ? 1 : 0);
  return {families()[draw.below(count)], draw_seed(draw)};
}

void draw_data(Case& c, Generator& draw) {
  const Names names = family_of(c.definition()).summed(c);
  if (names.empty()) return;
  const std::string& name = names[draw.below(names.size())];
  Recipe& recipe = c.sources.at(name).recipe;
  if (draw.below(4) == 0)
    recipe = draw_recipe(draw, c.node.inputs.at(name).type.dtype);
  else
    recipe.argument = draw_seed(draw);
}

bool is_drawn(const Case& c) {
  for (const auto& [name, input] : c.node.inputs)
    if (std::ranges::any_of(input.type.shape, [](Int extent) { return extent < 0; })) return false;
  const OperatorGenerator& generator = generator_of(c.version);
  return c.is_legal() && parse_case(line(c)) && volume(c.definition().shape(c.call())) <= generator.most_outputs &&
         generator.cost(c) <= generator.most_cost;
}

Case refitted(Case c) {
  if (const auto refit = generator_of(c.version).refit) refit(c);
  return c;
}

// As many images as a case may have: the worst of many outputs is worse.
Case crowded(const Case& c) {
  const std::string& first = c.definition().data().name;
  if (!c.node.inputs.contains(first) || c.node.inputs.at(first).type.shape.empty()) return c;
  for (const Int batch : {128, 48, 16, 6, 2}) {
    Case more = c;
    more.node.inputs.at(first).type.shape[0] *= batch;
    more = refitted(std::move(more));
    if (is_drawn(more)) return more;
  }
  return c;
}

}  // namespace

Case inexact(Case c, std::uint64_t seed) {
  Generator draw(seed);
  c = crowded(c);
  for (const std::string& name : family_of(c.definition()).summed(c))
    c.sources.at(name).recipe = draw_recipe(draw, c.node.inputs.at(name).type.dtype);
  refuse_constant_data(c);
  return c;
}

Case varied(const Case& c, std::uint64_t seed) {
  Generator draw(seed);
  for (int attempt = 0; attempt < 20; ++attempt) {
    Case next = c;
    if (!family_of(c.definition()).vary(next, draw, draw.below(8))) draw_data(next, draw);
    next = refitted(std::move(next));
    if (!is_drawn(next)) continue;
    next = crowded(next);
    refuse_constant_data(next);
    return next;
  }
  return c;
}

}  // namespace assay::generators
