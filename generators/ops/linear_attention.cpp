// SPDX-License-Identifier: Apache-2.0
// LinearAttention: every rule, heads of query that share one of key, one token and several, a state before them or
// none, decays of heads and of elements, beta of heads and of tokens; the state of another type.
#include "generators/draw.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>
#include <array>

namespace assay::generators {
namespace {

bool has(const Case& c, const char* input) { return c.sources.contains(input); }

// Holds what the shapes of all inputs follow from.
struct Layout {
  Int batches = 1, tokens = 1, q_heads = 1, kv_heads = 1, size = 1, v_size = 1;
};

Int stated_heads(const Case& c, const char* name) {
  const auto found = c.node.attributes.find(name);
  return found == c.node.attributes.end() ? 1 : std::max<Int>(1, std::get<Int>(found->second));
}

Layout layout_of(const Case& c) {
  Layout l;
  const Shape &q = shape_of(c), &v = shape_of(c, "value");
  l.batches = q[0];
  l.tokens = q[1];
  l.q_heads = stated_heads(c, "q_num_heads");
  l.kv_heads = stated_heads(c, "kv_num_heads");
  l.v_size = v.size() == 3 ? v[2] / l.kv_heads : 1;
  if (q[2] % l.q_heads) l.q_heads = 1;
  if (l.q_heads % l.kv_heads) l.kv_heads = 1;
  l.size = q[2] / l.q_heads;
  return l;
}

// Gives every input the shape that follows; decay and beta keep their kind as far as it can be told.
void lay_out(Case& c, const Layout& l) {
  c.node.attribute("q_num_heads", Attribute(l.q_heads));
  c.node.attribute("kv_num_heads", Attribute(l.kv_heads));
  shape_of(c) = {l.batches, l.tokens, l.q_heads * l.size};
  shape_of(c, "key") = {l.batches, l.tokens, l.kv_heads * l.size};
  shape_of(c, "value") = {l.batches, l.tokens, l.kv_heads * l.v_size};
  if (has(c, "past_state")) shape_of(c, "past_state") = {l.batches, l.kv_heads, l.size, l.v_size};
  const auto each = [&](const char* name, Int wide, Int narrow) {
    if (!has(c, name)) return;
    Shape& shape = shape_of(c, name);
    shape = {l.batches, l.tokens, !shape.empty() && shape.back() == narrow ? narrow : wide};
  };
  each("decay", l.kv_heads * l.size, l.kv_heads);
  each("beta", l.kv_heads, 1);
}

void refit(Case& c) {
  if (has(c, "key") && has(c, "value") && shape_of(c).size() == 3) lay_out(c, layout_of(c));
}

Recipe draw_numbers(bool is_exact) {
  if (is_exact)
    return chance(50) ? Recipe{"iota", std::to_string(between(-3, 9))}
                      : Recipe{"lit", pick({"1,0,2,-1,3", "0.5,-0.25,1,-1,0.75,2,0", "1,2,4,3"})};
  return seeded(weighted<const char*>(
      {{40, "normal"}, {20, "uniform"}, {15, "small"}, {10, "quarter"}, {4, "cancel"}, {4, "logu"}, {1, "subnormal"}}));
}

void draw_data(Case& c) {
  const bool is_exact = chance(45);
  for (const char* const name : {"query", "value", "past_state"})
    if (has(c, name)) c.sources[name].recipe = draw_numbers(is_exact);
  c.sources["key"].recipe = is_exact ? Recipe{"lit", pick({"1,0,0,0,1", "0,1,-1,0.5,0", "1,0.5,-0.5", "1,2"})}
                                     : seeded(pick({"uniform", "normal", "quarter"}));
  if (has(c, "decay"))
    c.sources["decay"].recipe =
        is_exact && chance(40)
            ? Recipe{"hold", "0,-0"}
            : Recipe{"hold", pick({"-0.5,-0.1,-1,-0.01,-0.25,0", "-2,-0.7,-0.3,-5", "-1,-0.5", "0.1,-0.2,0.3"})};
  if (has(c, "beta"))
    c.sources["beta"].recipe = {"hold", pick({"0.5,1,0.25,0.75", "1,0.5,0,2", "0.3,0.9,0.7", "1,2", "-0.5,1,-1.6"})};
  if (chance(6))
    c.sources[pick<std::string>({"query", "key", "value"})].recipe =
        chance(50) ? seeded(pick({"special", "huge"}))
                   : Recipe{"hold", pick({"1,inf,-2,3", "1,2,3,4,nan,5", "1,2,3,4,5,6,7,nan"})};
  if (has(c, "decay") && chance(4))
    c.sources["decay"].recipe = {"hold", pick({"-inf,-1", "-80,-3", "nan,-1", "-1,-2,-1,nan"})};
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Layout l;
  const std::string rule = std::array{"linear", "gated", "delta", "gated_delta"}[stratum % 4];
  l.batches = chance(2) ? 0 : pick<Int>({1, 1, 2, 3});
  l.tokens = chance(2) ? 0 : chance(4) ? between(5, 20) : pick<Int>({1, 1, 2, 3, 4});
  l.kv_heads = pick<Int>({1, 1, 2, 3});
  l.q_heads = l.kv_heads * pick<Int>({1, 1, 2, 3});
  l.size = chance(4) ? between(5, 16) : pick<Int>({1, 2, 3, 4, 4});
  l.v_size = chance(1) ? 0 : pick<Int>({1, 2, 3});
  Case c = moving(definition, type, {l.batches, l.tokens, l.q_heads * l.size});
  const auto give = [&](const char* name, DType as, Int last = 0) {
    c.node.input(name, {as, {last}});
    c.sources[name] = {{}, chance(25)};
  };
  give("key", type);
  give("value", type);
  if (chance(45)) give("past_state", chance(70) ? type : pick({DType::f32, DType::f16, DType::bf16}));
  if (rule.starts_with("gated") || chance(5)) give("decay", type, chance(50) ? l.kv_heads : l.kv_heads * l.size);
  if (rule.ends_with("delta") || chance(5)) give("beta", type, chance(30) ? 1 : l.kv_heads);
  if (rule != "gated_delta" || chance(50)) c.node.attribute("update_rule", rule);
  if (chance(40)) c.node.attribute("scale", Attribute(pick({1.0F, 0.5F, 0.25F, 2.0F, 0.7F, -1.0F, 0.0F})));
  if (chance(30)) c.node.attribute("chunk_size", Attribute(pick<Int>({1, 2, 3, 16, 64, 128})));
  if (chance(1)) c.node.attribute("chunk_size", Attribute(pick<Int>({0, -1})));
  lay_out(c, l);
  draw_data(c);
  return c;
}

Int cost(const Case& c) { return volume(shape_of(c)) * shape_of(c, "value").back(); }

std::vector<Mutation> own_damages() {
  return {{"an input left out",
           [](Case& c) {
             const std::string name = pick<std::string>({"key", "value", "decay", "beta", "decay", "beta"});
             if (!c.sources.contains(name)) return false;
             remove_input(c, name);
             return true;
           }},
          {"another extent",
           [](Case& c) {
             const std::string name = pick<std::string>({"key", "value", "past_state", "decay", "beta"});
             if (!c.sources.contains(name) || shape_of(c, name).empty()) return false;
             ++pick(shape_of(c, name));
             return true;
           }},
          {"another axis",
           [](Case& c) {
             const std::string name = pick<std::string>({"key", "value", "past_state", "decay", "beta"});
             if (!c.sources.contains(name)) return false;
             shape_of(c, name).insert(shape_of(c, name).begin(), 1);
             return true;
           }},
          {"other heads",
           [](Case& c) {
             const Int heads = pick<Int>({0, -1, 2, 3, 5});
             c.node.attribute(pick({"q_num_heads", "kv_num_heads"}), Attribute(heads));
           }},
          {"heads that are not shared alike",
           [](Case& c) {
             if (shape_of(c).size() != 3) return false;
             Layout l = layout_of(c);
             l.kv_heads = l.q_heads + 1;
             lay_out(c, l);
             return true;
           }},
          {"another rule", [](Case& c) {
             c.node.attribute("update_rule",
                              pick<std::string>({"", "Linear", "gated-delta", "gated_linear", "delta_gated"}));
           }}};
}

}  // namespace

const OperatorGenerator& linear_attention() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<3, 3>, refit);
    made.cost = cost;
    made.traits = {{"a state", [](const Case& c) { return has(c, "past_state"); }},
                   {"a decay of each head",
                    [](const Case& c) {
                      return has(c, "decay") && shape_of(c, "decay").back() == stated_heads(c, "kv_num_heads");
                    }},
                   {"one token", [](const Case& c) { return shape_of(c)[1] == 1; }}};
    std::ranges::move(own_damages(), std::back_inserter(made.damages));
    return made;
  }();
  return all;
}

}  // namespace assay::generators
