// SPDX-License-Identifier: Apache-2.0
// EyeLike: diagonals inside and out. OneHot: indices in and out of range, from either end, of every type, and an axis
// anywhere. Compress: conditions of every length, along an axis or not. NonZero: data with few zeros and with many.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"
#include "reference/sequence.h"

#include <algorithm>
#include <limits>

namespace assay::generators {
namespace {

Case draw_eye(const Definition& definition, DType type, std::uint64_t) {
  const bool is_empty = chance(8);
  const Int rows = between(is_empty ? 0 : 1, 8), columns = between(is_empty ? 0 : 1, chance(10) ? 24 : 8);
  Case c = moving(definition, type, {rows, columns});
  constexpr Int most = std::numeric_limits<Int>::max();
  const Int k =
      weighted<Int>({{50, 0}, {30, between(-2, 2)}, {14, between(-rows, columns)}, {3, most}, {3, -most - 1}});
  write_default(c.node, definition, "k", k, 0);
  if (chance(70)) c.node.attribute("dtype", Attribute(Int{static_cast<int>(pick(definition.types_of("T2")))}));
  return c;
}

std::string listed(Int count, Int (*draw)()) {
  Ints all(static_cast<std::size_t>(count));
  std::ranges::generate(all, draw);
  return joined(all, ",", [](Int each) { return std::to_string(each); });
}

Case draw_one_hot(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(shape_strata - 1 - stratum % shape_strata);
  if (volume(shape) > 200) shape = {between(2, 5), between(2, 5)};
  Case c = blank(definition);
  c.node.input("indices", {type, shape});
  const bool is_signed =
      is_float(type) || type == DType::i8 || type == DType::i16 || type == DType::i32 || type == DType::i64;
  const bool is_wide = type == DType::i64 || type == DType::u64;
  c.sources["indices"] = {is_wide && chance(25)     ? seeded("ends")
                          : is_signed && chance(70) ? seeded("around0")
                          : is_float(type) && chance(20)
                              ? Recipe{"hold", "0.75,-0.75,1.5,2,-1"}
                              : Recipe{"hold", "1,0," + listed(between(1, 5), [] { return between(0, 7); })}};
  if (is_signed && chance(15)) c.sources["indices"].recipe = {"hold", "-1,0,2,-3,1"};
  const Int depth = between(1, std::clamp<Int>(500 / (volume(shape) + 1), 1, 8)), rank = std::ssize(shape) + 1;
  c.node.input("depth", {pick(definition.types_of("T2")), chance(50) ? Shape() : Shape{1}});
  c.sources["depth"] = {{"values", std::to_string(depth)}, chance(50)};
  const DType of_values = chance(40) && definition.types_of("T3").size() ? type : pick(definition.types_of("T3"));
  c.node.input("values", {of_values, {2}});
  c.sources["values"] = {is_float(of_values) && chance(50) ? seeded(pick({"normal", "special", "subnormal"}))
                                                           : draw_selection_fill(of_values),
                         chance(30)};
  write_default(c.node, definition, "axis", between(-rank, rank - 1), -1);
  return c;
}

void write_condition(Case& c, const Shape& shape, const Ints& values) {
  const auto before = c.sources.find("condition");
  const bool is_constant = before == c.sources.end() ? chance(50) : before->second.initializer;
  c.node.input("condition", {DType::boolean, shape});
  c.sources["condition"] = {{"values", joined(values, ",", [](Int each) { return std::to_string(each); })},
                            is_constant};
}

Case draw_compress(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(shape_strata - 1 - stratum % shape_strata);
  if (shape.empty()) shape = {between(1, 33)};
  Case c = moving(definition, type, shape);
  const Int rank = std::ssize(shape), axis = between(0, rank - 1);
  const bool is_flat = chance(30);
  if (!is_flat) c.node.attribute("axis", Attribute(chance(40) && !definition.constraint("C5") ? axis - rank : axis));
  const Int extent = is_flat ? volume(shape) : shape[static_cast<std::size_t>(axis)];
  Ints condition;
  const Int length = chance(75) ? extent : between(0, extent), share = pick<Int>({30, 60, 80, 100});
  while (std::ssize(condition) < length) condition.push_back(chance(share) ? 1 : 0);
  write_condition(c, {length}, condition);
  return c;
}

void refit_condition(Case& c) {
  const Call call = c.call();
  if (!call.has("condition") || !call.has("input") || c.is_legal()) return;
  const Shape& shape = call.shape("input");
  const Int rank = std::ssize(shape), axis = call.states("axis") ? call.integer("axis") : 0;
  if (rank == 0 || axis < -rank || axis >= rank) return;
  const Int extent = call.states("axis") ? shape[static_cast<std::size_t>((axis + rank) % rank)] : volume(shape);
  Ints condition = call.ints("condition");
  condition.resize(static_cast<std::size_t>(std::min<Int>(extent, std::ssize(condition))));
  write_condition(c, {std::ssize(condition)}, condition);
}

Case draw_nonzero(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(shape_strata - 1 - stratum % shape_strata);
  Case c = blank(definition);
  c.node.input("X", {type, shape});
  if (type == DType::string) {
    std::vector<std::string> texts(static_cast<std::size_t>(volume(shape)));
    for (std::string& each : texts) each = pick(std::vector<std::string>{"", "a", "0", " "});
    c.sources["X"] = {assay::stated(texts), false};
    return c;
  }
  const Int share = pick<Int>({20, 50, 90}), sure = between(0, std::max<Int>(volume(shape) - 1, 0));  // one is no zero
  std::string values;
  for (Int i = 0; i < volume(shape); ++i) {
    const std::string other = type == DType::boolean ? "1"
                              : chance(70)           ? std::to_string(between(1, 100))
                              : is_float(type)       ? pick({"nan", "-inf", "0.5", "inf"})
                                                     : pick({"64", "127", "1"});
    values += (i == 0 ? "" : ",") + (i == sure || chance(share) ? other : is_float(type) && chance(30) ? "-0" : "0");
  }
  c.sources["X"] = {{"values", values}, chance(30)};
  return c;
}

}  // namespace

const OperatorGenerator& eye_like() {
  static const OperatorGenerator all = placing_generator(draw_eye, axes<2, 2>);
  return all;
}

const OperatorGenerator& one_hot() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = moving_generator(draw_one_hot);
    made.damages = {{"an axis out of range",
                     [](Case& c) {
                       c.node.attribute("axis", Attribute(std::ssize(shape_of(c)) + pick<Int>({1, 2})));
                     }},
                    {"three values",
                     [](Case& c) {
                       shape_of(c, "values") = chance(50) ? Shape{3} : Shape{1, 2};
                     }},
                    {"another depth",
                     [](Case& c) {
                       c.node.inputs.at("depth").type = {DType::i64, {}};
                       c.sources.at("depth").recipe.argument = pick({"0", "-1", "-4"});
                     }},
                    {"depths",
                     [](Case& c) {
                       shape_of(c, "depth") = chance(50) ? Shape{2} : Shape{1, 1};
                       std::string& said = c.sources.at("depth").recipe.argument;
                       if (shape_of(c, "depth") == Shape{2}) said += "," + said;
                     }},
                    {"values left out", [](Case& c) { remove_input(c, "values"); }}};
    return made;
  }();
  return all;
}

const OperatorGenerator& compress() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw_compress, axes<1>, refit_condition);
    made.damages.push_back({"a longer condition", [](Case& c) {
                              Ints condition = c.call().ints("condition");
                              const Int next = between(0, 1);
                              condition.resize(condition.size() + static_cast<std::size_t>(between(1, 3)), next);
                              write_condition(c, {std::ssize(condition)}, condition);
                            }});
    made.damages.push_back({"a condition of two axes", [](Case& c) {
                              const Ints condition = c.call().ints("condition");
                              write_condition(c, {1, std::ssize(condition)}, condition);
                            }});
    made.damages.push_back({"no axis at all", [](Case& c) {
                              shape_of(c).clear();
                              c.node.attributes.erase("axis");
                              write_condition(c, {1}, {1});
                            }});
    made.damages.push_back(
        {"numbers for a condition", [](Case& c) { c.node.inputs.at("condition").type.dtype = DType::i32; }});
    made.damages.push_back({"no condition", [](Case& c) { remove_input(c, "condition"); }});
    return made;
  }();
  return all;
}

const OperatorGenerator& nonzero() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = moving_generator(draw_nonzero);
    made.damages.push_back({"bfloat16", [](Case& c) {
                              c.node.inputs.at("X").type = {DType::bf16, {1}};
                              c.sources.at("X").recipe = {"values", "1"};
                            }});
    return made;
  }();
  return all;
}

}  // namespace assay::generators
