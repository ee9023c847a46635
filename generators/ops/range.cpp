// SPDX-License-Identifier: Apache-2.0
// Range: up and down, whole and broken numbers of steps, none at all, ends of the integers.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <limits>

namespace assay::generators {
namespace {

void give(Case& c, const char* name, DType type, const std::string& value) {
  c.node.input(name, {type, {}});
  c.sources[name] = {{"values", value}, chance(50)};
}

// A step that is a multiple of a power of two, or any, and so many of it and a part.
void draw_floats(Case& c, DType type) {
  const bool is_wide = type == DType::f64 && chance(40), is_any = !is_wide && chance(30);
  double delta = pick({0.25, 0.5, 1.0, 1.5, 2.0, 3.0});
  if (chance(40)) delta = -delta;
  if (is_any) delta = pick({0.1, 0.3, -0.7, 1.1, -2.3}), delta *= pick({1.0, 10.0, 0.01});
  double start = (static_cast<double>(between(-40, 40)) + 0.5) / 4;
  if (is_wide) start += 0x1p-40, delta += 0x1p-38;
  const Int count = chance(8) ? -between(0, 2) : chance(10) ? between(40, 200) : between(1, 20);
  const bool is_whole = !is_any && chance(50);
  if (type == DType::f16 || type == DType::bf16)
    delta = pick({0.5, 1.0, 2.0, -1.0, -4.0}), start = pick({1.0, 3.0, -5.5});
  give(c, "start", type, decimal(start));
  give(c, "limit", type, decimal(start + delta * (static_cast<double>(count) - (is_whole ? 0 : 0.5))));
  give(c, "delta", type, decimal(delta));
}

void draw_integers(Case& c, DType type) {
  const Int most = type == DType::i64   ? std::numeric_limits<Int>::max()
                   : type == DType::i32 ? std::numeric_limits<std::int32_t>::max()
                                        : std::numeric_limits<std::int16_t>::max();
  Int start = 2 * between(-150, 150) + 1, delta = between(1, 400);
  if (chance(40)) delta = -delta;
  Int steps = between(0, 20);
  if (chance(10)) steps = -1;
  const bool is_at_end = chance(35);
  if (is_at_end) start = (delta > 0 ? most : -most) - (steps + 1) * delta;
  if (!is_at_end && type == DType::i64 && chance(40)) start += (Int{1} << 53) + (Int{1} << 35);
  const Int limit =
      start + steps * delta - (steps > 0 && chance(50) ? (delta > 0 ? 1 : -1) * between(0, std::abs(delta) - 1) : 0);
  give(c, "start", type, std::to_string(start));
  give(c, "limit", type, std::to_string(limit));
  give(c, "delta", type, std::to_string(delta));
}

Case draw_range(const Definition& definition, DType type, std::uint64_t) {
  Case c = blank(definition);
  is_float(type) ? draw_floats(c, type) : draw_integers(c, type);
  if (definition.attribute("stash_type"))
    write_default(c.node, definition, "stash_type", chance(10) ? pick<Int>({10, 16}) : 1, 1);
  return c;
}

std::vector<Mutation> damages_of_ends() {
  const auto one_of_all = [] { return pick({"start", "limit", "delta"}); };
  return {{"no step", [](Case& c) { c.sources.at("delta").recipe.argument = "0"; }},
          {"no number",
           [=](Case& c) {
             for (auto& [name, input] : c.node.inputs)  // integers are all numbers
               if (!is_float(input.type.dtype)) input.type.dtype = DType::f64;
             c.sources.at(one_of_all()).recipe.argument = pick({"nan", "inf", "-inf"});
           }},
          {"a list",
           [=](Case& c) {
             const std::string name = one_of_all();
             const Int count = between(1, 2);
             std::string& values = c.sources.at(name).recipe.argument;
             shape_of(c, name) = {count};
             if (count == 2) values += "," + values;
           }},
          {"another type",
           [=](Case& c) {
             DType& type = c.node.inputs.at(one_of_all()).type.dtype;
             type = type == DType::f64 ? DType::f32 : DType::f64;
           }},
          {"an end left out", [=](Case& c) { remove_input(c, one_of_all()); }}};
}

}  // namespace

const OperatorGenerator& range() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = moving_generator(draw_range);
    made.ranks = axes<0, 0>;
    made.damages = damages_of_ends();
    return made;
  }();
  return all;
}

}  // namespace assay::generators
