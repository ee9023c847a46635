// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding: three axes and four, heads whole and in part, in halves and interleaved; positions in any order,
// again and again, and none.
#include "generators/draw.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

Recipe fill() {
  return seeded(pick({"normal", "normal", "small", "uniform", "cancel", "odd10", "subnormal", "special"}));
}

// The width that is rotated, and how many tokens there are.
struct Rotated {
  Int width = 0;
  Shape tokens;
};
Rotated rotated(const Case& c) {
  const Shape& x = shape_of(c);
  const Call call = c.call();
  const Int heads = call.states("num_heads") ? std::max<Int>(1, call.integer("num_heads")) : 1;
  const Int stated = call.integer("rotary_embedding_dim");
  if (x.size() < 3) return {};
  const Int head = x.size() == 3 ? x[2] / heads : x[3];
  return {stated == 0 ? head : stated, {x[0], x.size() == 3 ? x[1] : x[2]}};
}

void fit_tables(Case& c, Int rows) {
  const auto [width, tokens] = rotated(c);
  if (tokens.empty() || width < 0) return;
  const bool has_positions = c.node.inputs.contains("position_ids");
  const Shape table = has_positions ? Shape{rows, width / 2} : Shape{tokens[0], tokens[1], width / 2};
  for (const char* const name : {"cos_cache", "sin_cache"}) shape_of(c, name) = table;
  if (!has_positions) return;
  Ints positions = stated(c, "position_ids");
  positions.resize(static_cast<std::size_t>(volume(tokens)));
  for (Int& each : positions) each = std::clamp<Int>(each, 0, std::max<Int>(0, rows - 1));
  write_out(c, "position_ids", tokens, positions);
}

void refit(Case& c) {
  if (!c.node.inputs.contains("cos_cache") || !c.node.inputs.contains("sin_cache")) return;
  const Shape& table = shape_of(c, "cos_cache");
  fit_tables(c, table.empty() ? 1 : std::max<Int>(1, table.front()));
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  const bool is_by_head = stratum % 2 == 0;
  const Int batches = chance(3) ? 0 : between(1, 3), tokens = between(1, 4), heads = between(1, 3);
  const Int head = 2 * pick<Int>({1, 2, 2, 3, 4, 8});
  Case c =
      moving(definition, type, is_by_head ? Shape{batches, heads, tokens, head} : Shape{batches, tokens, heads * head});
  c.sources["X"].recipe = fill();
  if (!is_by_head) c.node.attribute("num_heads", Attribute(heads));
  const Int width = chance(60) ? 0 : 2 * between(0, head / 2);
  write_default(c.node, definition, "rotary_embedding_dim", width, 0);
  write_default(c.node, definition, "interleaved", chance(50), 0);
  for (const char* const name : {"cos_cache", "sin_cache"}) {
    c.node.input(name, {type, {}});
    c.sources[name] = {chance(80) ? seeded("uniform") : fill(), chance(60)};
  }
  const Int rows = between(1, 6);
  if (chance(65)) {
    Ints positions;
    for (Int i = 0; i < batches * tokens; ++i) positions.push_back(between(0, rows - 1));
    c.node.input("position_ids", {DType::i64, {batches, tokens}});
    c.sources["position_ids"] = {{}, chance(40)};
    write_out(c, "position_ids", {batches, tokens}, positions);
  }
  fit_tables(c, rows);
  return c;
}

}  // namespace

const OperatorGenerator& rotary_embedding() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<3, 4>, refit);
    made.damages.push_back({"an input left out", [](Case& c) {
                              remove_input(c, pick<std::string>({"cos_cache", "sin_cache"}));
                            }});
    made.damages.push_back({"another width", [](Case& c) {
                              const Int width = c.call().integer("rotary_embedding_dim");
                              c.node.attribute("rotary_embedding_dim", Attribute(pick<Int>({1, 3, width + 2, 64, -2})));
                              refit(c);
                            }});
    made.damages.push_back({"an odd head", [](Case& c) {
                              if (shape_of(c).empty()) return false;
                              ++shape_of(c).back();
                              refit(c);
                              return true;
                            }});
    made.damages.push_back({"other heads", [](Case& c) {
                              if (chance(40)) return c.node.attributes.erase("num_heads") > 0;
                              if (shape_of(c).size() != 3) return false;
                              c.node.attribute("num_heads", Attribute(pick<Int>({0, -1, shape_of(c).back() + 1, 5})));
                              return true;
                            }});
    made.damages.push_back({"a table of another shape", [](Case& c) {
                              Shape& shape = shape_of(c, pick({"cos_cache", "sin_cache"}));
                              if (shape.empty()) return false;
                              ++pick(shape);
                              return true;
                            }});
    made.damages.push_back({"a position beyond the table", [](Case& c) {
                              if (!c.node.inputs.contains("position_ids")) return false;
                              Ints positions = stated(c, "position_ids");
                              if (positions.empty()) return false;
                              pick(positions) = chance(50) ? -1 : shape_of(c, "cos_cache").front();
                              write_out(c, "position_ids", shape_of(c, "position_ids"), positions);
                              return true;
                            }});
    made.damages.push_back({"a flag of 2", [](Case& c) { c.node.attribute("interleaved", Attribute(Int{2})); }});
    return made;
  }();
  return all;
}

}  // namespace assay::generators
