// SPDX-License-Identifier: Apache-2.0
#include "generators/vary.h"

#include "generators/convolution.h"
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

// What is added and multiplied; offsets, masks and the like stay what they are.
std::vector<std::string> summed(const Case& c) {
  const Layout layout = questions_about(c.version).layout.value_or(Layout{});
  std::vector<std::string> names;
  for (const char* name : {layout.x, layout.w, layout.b})
    if (c.sources.contains(name)) names.emplace_back(name);
  return names;
}

void draw_data(Case& c, Generator& draw) {
  const std::vector<std::string> names = summed(c);
  const std::string& name = names[draw.below(names.size())];
  Recipe& recipe = c.sources.at(name).recipe;
  if (draw.below(4) == 0)
    recipe = draw_recipe(draw, c.node.inputs.at(name).type.dtype);
  else
    recipe.argument = draw_seed(draw);
}

// Conv's channels, in X and W alike.
void draw_depth(Case& c, Generator& draw) {
  Case conv = conv_of(c);
  if (!conv.sources.contains("W")) return;
  const Int group = conv.call().integer("group");
  const Int depth = 1 + static_cast<Int>(draw.below(draw.below(2) == 0 ? 3 : 48));
  conv.node.inputs.at("W").type.shape[1] = depth;
  conv.node.inputs.at("X").type.shape[1] = depth * group;
  if (questions_about(c.version).layout)
    stand_for(c, conv);
  else
    c = std::move(conv);
}

// Moves one extent of the kernel, and the input with it, so that the windows stay.
void draw_kernel(Case& c, Generator& draw) {
  const bool is_conv = questions_about(c.version).layout.has_value();
  Case conv = conv_of(c);
  Ints kernel = conv.call().ints("kernel_shape");
  const std::size_t axis = draw.below(kernel.size());
  const Int before = kernel[axis];
  // Short sums use most of their budget, long ones have most to lose.
  const Int longest = draw.below(2) == 0 ? 3 : is_conv ? 7 : 24;
  kernel[axis] = 1 + static_cast<Int>(draw.below(static_cast<std::uint64_t>(longest)));
  const Int dilation = conv.definition().attribute("dilations") ? conv.call().ints("dilations").at(axis) : 1;
  conv.node.inputs.at("X").type.shape.at(axis + 2) += (kernel[axis] - before) * dilation;
  if (is_conv) conv.node.inputs.at("W").type.shape.at(axis + 2) = kernel[axis];
  if (!is_conv || conv.node.attributes.contains("kernel_shape")) conv.node.attribute("kernel_shape", kernel);
  if (is_conv)
    stand_for(c, conv);
  else
    c = std::move(conv);
}

// More or fewer outputs: each is a chance.
void draw_extent(Case& c, Generator& draw) {
  Case conv = conv_of(c);
  Shape& x = conv.node.inputs.at("X").type.shape;
  const std::size_t axis = draw.below(x.size() - 1);
  x[axis == 0 ? 0 : axis + 1] = 1 + static_cast<Int>(draw.below(40));
  if (questions_about(c.version).layout)
    stand_for(c, conv);
  else
    c = std::move(conv);
}

bool is_asked(const Case& c) {
  for (const auto& [name, input] : c.node.inputs)
    if (std::ranges::any_of(input.type.shape, [](Int extent) { return extent < 0; })) return false;
  const Questions& questions = questions_about(c.version);
  return c.is_legal() && volume(c.definition().shape(c.call())) <= questions.most_outputs &&
         questions.cost(c) <= questions.most_cost;
}

Case refitted(Case c) {
  if (const auto refit = questions_about(c.version).refit) refit(c);
  return c;
}

// As many images as a case may have: the worst of many outputs is worse.
Case crowded(const Case& c) {
  const std::string& first = c.definition().inputs.front().name;
  for (const Int batch : {128, 48, 16, 6, 2}) {
    Case more = c;
    more.node.inputs.at(first).type.shape[0] *= batch;
    more = refitted(std::move(more));
    if (is_asked(more)) return more;
  }
  return c;
}

}  // namespace

Case inexact(Case c, std::uint64_t seed) {
  Generator draw(seed);
  c = crowded(c);
  for (const std::string& name : summed(c))
    c.sources.at(name).recipe = draw_recipe(draw, c.node.inputs.at(name).type.dtype);
  refuse_constant_data(c);
  return c;
}

Case varied(const Case& c, std::uint64_t seed) {
  Generator draw(seed);
  for (int attempt = 0; attempt < 20; ++attempt) {
    Case next = c;
    switch (draw.below(8)) {
      case 0: draw_depth(next, draw); break;
      case 1: draw_kernel(next, draw); break;
      case 2: draw_extent(next, draw); break;
      default: draw_data(next, draw);
    }
    next = refitted(std::move(next));
    if (!is_asked(next)) continue;
    next = crowded(next);
    refuse_constant_data(next);
    return next;
  }
  return c;
}

}  // namespace assay::generators
