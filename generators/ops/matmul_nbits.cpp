// SPDX-License-Identifier: Apache-2.0
// MatMulNBits: blocks that K fills and blocks it does not, numbers of 2, 4 and 8 bits, zero points that are packed or
// not, groups in another order, each given or left out.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/families/product.h"
#include "generators/parameters.h"
#include "generators/shrink.h"
#include "generators/values.h"
#include "reference/operator.h"
#include "reference/sequence.h"

#include <algorithm>

namespace assay::generators {
namespace {

struct Sizes {
  Int depth, columns, block, bits;
  Int blocks() const { return block > 0 ? (depth + block - 1) / block : 0; }
  Int packed() const { return (blocks() * bits + 7) / 8; }
};

Sizes sizes_of(const Case& c) {
  const Call call = c.call();
  return {call.integer("K"), call.integer("N"), call.integer("block_size"), call.integer("bits")};
}

// Names the block of each k, in an order that is not that of k.
Ints groups(const Sizes& s) {
  Ints all;
  for (Int k = 0; k < s.depth; ++k) all.push_back((k * 5 + 1) % std::max<Int>(1, s.blocks()));
  return all;
}

// Makes the other inputs fit the last axis of A, and K it.
void refit(Case& c) {
  const auto states = [&](const char* name) { return c.node.attributes.contains(name); };
  if (shape_of(c).empty() || !is_given(c, "B") || !is_given(c, "scales") || !states("N") || !states("block_size"))
    return;
  c.node.attribute("K", Attribute(shape_of(c).back()));
  const Sizes s = sizes_of(c);
  if (s.block < 1) return;
  const auto lay = [&](const char* input, Int columns) {
    if (is_given(c, input))
      shape_of(c, input) = shape_of(c, input).size() == 1 ? Shape{s.columns * columns} : Shape{s.columns, columns};
  };
  shape_of(c, "B") = {s.columns, s.blocks(), s.block * s.bits / 8};
  lay("scales", s.blocks());
  if (is_given(c, "zero_points"))
    lay("zero_points", c.node.inputs.at("zero_points").type.dtype == DType::u8 ? s.packed() : s.blocks());
  if (is_given(c, "g_idx")) state(c, "g_idx", groups(s));
  if (is_given(c, "bias")) shape_of(c, "bias") = {s.columns};
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  const Int depth = weighted<Int>({{10, 1},
                                   {25, between(2, 15)},
                                   {20, pick<Int>({16, 17, 31, 32})},
                                   {25, pick<Int>({33, 48, 63, 64, 65})},
                                   {20, pick<Int>({96, 127, 128, 129, 200})}});
  Shape a(static_cast<std::size_t>(weighted<Int>({{15, 0}, {55, 1}, {20, 2}, {10, 3}})), 1);
  for (Int& extent : a) extent = between(1, 3);
  if (stratum % 12 == 5 && !a.empty()) pick(a) = 0;
  a.push_back(depth);
  Case c = moving(definition, type, a);
  c.sources.at("A").recipe = seeded(pick({"small", "normal", "quarter", "sign", "uniform", "special"}));
  const Int bits = pick<Int>({4, 4, 2, 8});
  c.node.attribute("K", Attribute(depth))
      .attribute("N", Attribute(weighted<Int>({{60, between(1, 5)}, {40, pick<Int>({8, 9, 16, 17})}})));
  c.node.attribute("block_size", Attribute(pick<Int>({16, 16, 32, 64})));
  write_default(c.node, definition, "bits", bits, 4);
  write_default(c.node, definition, "accuracy_level", pick<Int>({0, 0, 1, 4}), 0);
  if (chance(15)) c.node.attribute("weight_prepacked", 0);
  const bool is_flat = chance(25);
  const auto add = [&](const char* input, DType of, const Recipe& recipe, bool is_table) {
    c.node.input(input, {of, Shape(is_table && !is_flat ? 2 : 1, 1)});
    c.sources[input] = {recipe, chance(50)};
  };
  add("B", DType::u8, seeded("full"), true);
  add("scales", type,
      chance(60) ? Recipe{"hold", pick({"0.5,1,0.25", "0.125,2", "-0.5,1"})} : seeded(pick({"uniform", "normal"})),
      true);
  const bool has_zeros = chance(55), has_groups = chance(20), has_bias = chance(40);
  if (has_zeros) {
    const bool is_packed = chance(65);
    add("zero_points", is_packed ? DType::u8 : type,
        is_packed ? seeded("full") : Recipe{"hold", pick({"8,7.5,3", "0,1", "2,128"})}, true);
  } else if (has_groups || has_bias) {
    c.node.empty_input("zero_points");
  }
  if (has_groups)
    state(c, "g_idx", groups(sizes_of(c)));
  else if (has_bias)
    c.node.empty_input("g_idx");
  if (has_bias) add("bias", type, seeded(pick({"small", "quarter"})), false);
  refit(c);
  return c;
}

Int cost(const Case& c) {
  const Sizes s = sizes_of(c);
  return shape_of(c).empty() ? 0 : volume(shape_of(c)) * s.columns;
}

bool another_shape(Case& c) {
  const Names names = inputs_of(c);
  const std::string& input = pick(names);
  Shape& shape = shape_of(c, input);
  if (input == "g_idx" || shape.empty()) return false;
  pick(shape) += 1;
  return true;
}
bool another_number(Case& c) {
  const Int value = pick<Int>({0, 3, 8, 5, -1, 24});
  c.node.attribute(pick({"bits", "block_size", "K", "N", "accuracy_level", "weight_prepacked"}), Attribute(value));
  return true;
}
bool another_group(Case& c) {
  if (!is_given(c, "g_idx")) return false;
  Ints all = groups(sizes_of(c));
  pick(all) = pick<Int>({-1, sizes_of(c).blocks()});
  state(c, "g_idx", all);
  return true;
}
bool another_type(Case& c) {
  const std::string input = pick({"scales", "zero_points", "bias", "B"});
  if (!is_given(c, input)) return false;
  c.node.inputs.at(input).type.dtype = pick({DType::f32, DType::f16, DType::i8});
  return true;
}

// Fewer columns, and the smallest blocks.
Cases smaller_numbers(const Case& c, int part) {
  Cases out;
  const char* const name = part == 0 ? "N" : "block_size";
  for (const Int value : towards(c.call().integer(name), part == 0 ? 1 : 16)) {
    Case next = c;
    next.node.attribute(name, Attribute(value));
    push_refitted(out, std::move(next));
  }
  return out;
}
constexpr ShrinkStep shrink_steps[] = {{[](const Case&) { return 2; }, smaller_numbers}};

bool has_a_rest(const Case& c) { return sizes_of(c).depth % sizes_of(c).block != 0; }

}  // namespace

const OperatorGenerator& matmul_nbits() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<1, 4>, refit);
    made.cost = cost;
    made.steps = shrink_steps;
    made.damages = {{"another shape", another_shape},
                    {"another number", another_number},
                    {"another group", another_group},
                    {"another type", another_type}};
    made.traits = {
        {"a block that K does not fill", has_a_rest},
        {"several blocks", [](const Case& c) { return sizes_of(c).blocks() > 1; }},
        {"zero points that are packed",
         [](const Case& c) { return is_given(c, "zero_points") && c.call().type("zero_points").dtype == DType::u8; }},
        {"zero points that are floats",
         [](const Case& c) { return is_given(c, "zero_points") && c.call().type("zero_points").dtype != DType::u8; }},
        {"groups", [](const Case& c) { return is_given(c, "g_idx"); }}};
    return made;
  }();
  return all;
}

}  // namespace assay::generators
