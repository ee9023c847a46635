// SPDX-License-Identifier: Apache-2.0
// Attention: heads side by side and along an axis, several of Q to one of K; a past, padding, masks of every shape,
// causal queries and windows, so that some see nothing; scores as they are, and so far apart that a query selects.
#include "generators/draw.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"
#include "reference/sequence.h"

#include <algorithm>

namespace assay::generators {
namespace {

bool has(const Case& c, const char* input) { return c.sources.contains(input); }

Int integer_or(const Case& c, const char* attribute, Int otherwise) {
  const auto found = c.node.attributes.find(attribute);
  return found == c.node.attributes.end() ? otherwise : std::max<Int>(1, std::get<Int>(found->second));
}

// Holds what the shapes of all inputs follow from.
struct Layout {
  bool is_flat = false;
  Int batches = 1, q_heads = 1, kv_heads = 1, queries = 1, keys = 1, past = 0, size = 1, v_size = 1;

  Shape of_q() const {
    return is_flat ? Shape{batches, queries, q_heads * size} : Shape{batches, q_heads, queries, size};
  }
  Shape of_kv(Int width) const {
    return is_flat ? Shape{batches, keys, kv_heads * width} : Shape{batches, kv_heads, keys, width};
  }
};

Layout layout_of(const Case& c) {
  Layout l;
  const Shape &q = shape_of(c), &k = shape_of(c, "K"), &v = shape_of(c, "V");
  l.is_flat = q.size() == 3;
  const Int before = k.size() == 4 ? k[1] : integer_or(c, "kv_num_heads", 1);
  l.batches = q[0];
  l.q_heads = l.is_flat ? integer_or(c, "q_num_heads", 1) : q[1];
  if (l.is_flat && q[2] % l.q_heads) l.q_heads = 1;
  l.kv_heads = before > 0 && l.q_heads % before == 0 ? before : 1;
  l.queries = q[l.is_flat ? 1 : 2];
  l.size = l.is_flat ? q[2] / l.q_heads : q[3];
  l.keys = k.size() >= 3 ? k[k.size() - 2] : 1;
  l.v_size = v.size() == 4 ? v[3] : v.size() == 3 ? v[2] / std::max<Int>(1, before) : 1;
  if (has(c, "past_key") && shape_of(c, "past_key").size() == 4) l.past = shape_of(c, "past_key")[2];
  return l;
}

// Gives every input the shape that follows.
void lay_out(Case& c, const Layout& l) {
  shape_of(c, "K") = l.of_kv(l.size);
  shape_of(c, "V") = l.of_kv(l.v_size);
  for (const auto& [name, value] : {std::pair("q_num_heads", l.q_heads), std::pair("kv_num_heads", l.kv_heads)})
    if (l.is_flat)
      c.node.attribute(name, Attribute(value));
    else
      c.node.attributes.erase(name);
  const Int total = l.past + l.keys;
  if (has(c, "past_key")) shape_of(c, "past_key") = {l.batches, l.kv_heads, l.past, l.size};
  if (has(c, "past_value")) shape_of(c, "past_value") = {l.batches, l.kv_heads, l.past, l.v_size};
  Int counted = 0;
  if (has(c, "nonpad_kv_seqlen")) {
    Ints counts = stated(c, "nonpad_kv_seqlen");
    counts.resize(static_cast<std::size_t>(l.batches), total);
    for (Int& each : counts) each = std::clamp<Int>(each, 0, total), counted = std::max(counted, each);
    write_out(c, "nonpad_kv_seqlen", {l.batches}, counts);
  }
  if (!has(c, "attn_mask")) return;
  Shape& mask = shape_of(c, "attn_mask");
  const Shape scores{l.batches, l.q_heads, l.queries, total};
  for (std::size_t axis = 0; axis + 1 < mask.size() && mask.size() <= 4; ++axis)
    if (mask[axis] != 1) mask[axis] = scores[axis + 4 - mask.size()];
  const bool may_be_short = c.definition().input("nonpad_kv_seqlen") != nullptr;
  if (!mask.empty() && (may_be_short ? mask.back() > total || mask.back() < counted : mask.back() != 1))
    mask.back() = total;
}

void refit(Case& c) {
  if (!has(c, "K") || !has(c, "V") || shape_of(c).size() < 3 || shape_of(c).size() > 4) return;
  lay_out(c, layout_of(c));
}

// Repeats rows with one or two 16 among zeros.
Recipe selecting(Int width, Int rows) {
  Ints values;
  for (Int row = 0; row < rows; ++row) {
    Ints one(static_cast<std::size_t>(width));
    pick(one) = 16;
    if (chance(20)) pick(one) = 16;
    values.insert(values.end(), one.begin(), one.end());
  }
  return {"lit", joined(values, ",", [](Int value) { return std::to_string(value); })};
}

// Makes the first two differ, so that no mask is the same everywhere.
std::string several(Int count, const std::vector<std::string>& from) {
  std::vector<std::string> all{pick(from)};
  while (std::ssize(all) < count)
    if (std::string next = pick(from); all.size() > 1 || next != all.front()) all.push_back(std::move(next));
  return joined(all, ",");
}

void draw_mask(Case& c, DType type, const Layout& l) {
  const Int total = l.past + l.keys, rank = weighted<Int>({{5, 1}, {35, 2}, {25, 3}, {35, 4}});
  const bool is_of_truths = chance(50), may_be_short = c.definition().input("nonpad_kv_seqlen") != nullptr;
  const Shape scores{l.batches, l.q_heads, l.queries, total};
  Shape mask(scores.end() - rank, scores.end());
  for (std::size_t axis = 0; axis + 1 < mask.size(); ++axis)
    if (chance(40)) mask[axis] = 1;
  if (chance(8))
    mask.back() = 1;
  else if (may_be_short && chance(25))
    mask.back() = between(0, total);
  c.node.input("attn_mask", {is_of_truths ? DType::boolean : type, mask});
  const Int count = between(2, 9);
  Recipe fill{"hold", several(count, {"1", "1", "0"})};
  if (!is_of_truths)
    fill = chance(25)
               ? seeded("uniform")
               : Recipe{"hold", several(count, chance(3)   ? std::vector<std::string>{"0", "inf", "nan", "-1"}
                                               : chance(5) ? std::vector<std::string>{"0", "-1e30", "-60000"}
                                                           : std::vector<std::string>{"0", "0", "-inf", "1", "-2.5"})};
  c.sources["attn_mask"] = {fill, chance(50)};
}

void draw_data(Case& c, Int size) {
  const bool selects = chance(50);
  const Recipe soft = seeded(pick({"normal", "uniform", "small", "quarter"}));
  for (const char* const name : {"Q", "K", "past_key"})
    if (has(c, name)) c.sources[name].recipe = selects ? selecting(size, between(1, 5)) : seeded(soft.family);
  for (const char* const name : {"V", "past_value"})
    if (has(c, name))
      c.sources[name].recipe =
          chance(60) ? Recipe{"iota", std::to_string(between(-3, 20))} : seeded(pick({"normal", "small", "odd6"}));
  if (chance(6))
    c.sources[pick({"Q", "K", "V", "V"})].recipe = seeded(pick({"special", "huge", "subnormal", "cancel"}));
  const bool is_stated = selects ? chance(85) : chance(50);
  if (is_stated)
    c.node.attribute("scale",
                     Attribute(selects ? pick({1.0F, 1.0F, 1.0F, 0.25F}) : pick({1.0F, 0.25F, 0.5F, 2.0F, 0.7F})));
  if (chance(2)) c.node.attribute("scale", Attribute(0.0F));
  if (chance(6)) c.sources[pick({"Q", "V"})].recipe = {"hold", "1,inf,-2,3"};
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Layout l;
  l.is_flat = stratum % 2 == 1;
  l.batches = chance(3) ? 0 : pick<Int>({1, 1, 2, 2, 3});
  l.kv_heads = pick<Int>({1, 1, 2, 3});
  l.q_heads = l.kv_heads * pick<Int>({1, 1, 2, 3});
  l.queries = chance(2) ? 0 : chance(3) ? between(5, 12) : pick<Int>({1, 1, 2, 3, 4});
  l.keys = chance(2) ? 0 : pick<Int>({1, 2, 3, 3, 4, 5});
  l.size = chance(4) ? between(5, 40) : pick<Int>({1, 1, 2, 3, 4, 4});
  l.v_size = pick<Int>({1, 1, 2, 3});
  Case c = moving(definition, type, l.of_q());
  c.sources["Q"].initializer = chance(15);
  const DType type_of_v = chance(6) ? pick({DType::f32, DType::f16, DType::f64, DType::bf16}) : type;
  const bool has_past = chance(35);
  const auto give = [&](const char* name, DType as) {
    c.node.input(name, {as, {}});
    c.sources[name] = {{}, chance(25)};
  };
  give("K", type);
  give("V", type_of_v);
  if (has_past) {
    l.past = chance(10) ? 0 : between(1, 3);
    give("past_key", type);
    give("past_value", type_of_v);
  }
  const bool counts = !has_past && definition.input("nonpad_kv_seqlen") && chance(50);
  if (counts) {
    Ints all;
    for (Int b = 0; b < l.batches; ++b) all.push_back(chance(20) ? l.keys : between(0, l.keys));
    write_out(c, "nonpad_kv_seqlen", {l.batches}, all);
  }
  if (chance(50)) draw_mask(c, type, l);
  write_default(c.node, definition, "is_causal", chance(40) ? 1 : 0, 0);
  for (const char* const window : {"left_window_size", "right_window_size"})
    if (definition.attribute(window)) write_default(c.node, definition, window, chance(50) ? between(0, 2) : -1, -1);
  if (chance(25)) c.node.attribute("softcap", Attribute(pick({2.0F, 0.5F, 30.0F, 0.3F})));
  if (chance(15)) c.node.attribute("softmax_precision", Attribute(pick<Int>({1, 10, 11, 16})));
  if (!counts && chance(has_past ? 90 : 35)) {
    c.node.output("present_key");
    c.node.output("present_value");
  }
  if (chance(60)) {
    c.node.output("qk_matmul_output");
    write_default(c.node, definition, "qk_matmul_output_mode", between(0, 3), 0);
  }
  draw_data(c, l.size);
  lay_out(c, l);
  return c;
}

bool change_extent(Case& c, const Names& of) {
  const std::string name = pick(of);
  if (!c.sources.contains(name) || shape_of(c, name).empty()) return false;
  ++pick(shape_of(c, name));
  return true;
}

Int cost(const Case& c) {
  return volume(shape_of(c)) * volume(shape_of(c, "K")) / std::max<Int>(1, shape_of(c).front());
}

std::vector<Mutation> own_damages() {
  return {
      {"an input left out",
       [](Case& c) {
         remove_input(c, pick<std::string>({"K", "V"}));
       }},
      {"another extent",
       [](Case& c) {
         return change_extent(c, {"K", "V", "past_key", "past_value"});
       }},
      {"another mask",
       [](Case& c) {
         if (!has(c, "attn_mask")) return false;
         if (chance(60)) return change_extent(c, {"attn_mask"});
         Shape& mask = shape_of(c, "attn_mask");
         if (chance(30))
           mask.clear();
         else if (chance(50))
           mask.insert(mask.begin(), 5 - std::min<std::size_t>(5, mask.size()), 1);
         else if (!mask.empty() && mask.back() > 0)
           --mask.back();
         return true;
       }},
      {"a mask of another type",
       [](Case& c) {
         if (!has(c, "attn_mask")) return false;
         c.node.inputs.at("attn_mask").type.dtype = pick({DType::i32, DType::i64, DType::u8, DType::f64, DType::f16});
         c.sources["attn_mask"].recipe = {"hold", "1,0,2"};
         admit_types(c);
         return true;
       }},
      {"one of two",
       [](Case& c) {
         if (has(c, "past_key") && chance(50))
           return remove_input(c, pick<std::string>({"past_key", "past_value"})), true;
         return c.node.outputs.erase(pick<std::string>({"present_key", "present_value"})) > 0;
       }},
      {"a cache beside counts",
       [](Case& c) {
         if (!has(c, "nonpad_kv_seqlen")) return false;
         c.node.output("present_key");
         c.node.output("present_value");
         return true;
       }},
      {"counts of more",
       [](Case& c) {
         if (!has(c, "nonpad_kv_seqlen")) return false;
         Ints counts = stated(c, "nonpad_kv_seqlen");
         if (counts.empty() || chance(30))
           counts.push_back(0);
         else
           pick(counts) = pick<Int>({-1, 99});
         write_out(c, "nonpad_kv_seqlen", {static_cast<Int>(counts.size())}, counts);
         return true;
       }},
      {"a mask too short for what counts",
       [](Case& c) {
         if (!has(c, "nonpad_kv_seqlen") || !has(c, "attn_mask") || shape_of(c, "attn_mask").empty()) return false;
         Int& columns = shape_of(c, "attn_mask").back();
         columns = between(0, std::max<Int>(0, columns - 1));
         return true;
       }},
      {"other heads",
       [](Case& c) {
         if (chance(30) && shape_of(c).size() == 4) {
           ++shape_of(c)[1];
           return true;
         }
         const char* const name = pick({"q_num_heads", "kv_num_heads"});
         if (chance(30)) return c.node.attributes.erase(name) > 0;
         c.node.attribute(name, Attribute(pick<Int>({0, -1, 2, 3, 5})));
         return true;
       }},
      {"heads that are not shared alike",
       [](Case& c) {
         if (!has(c, "K") || !has(c, "V") || shape_of(c).size() != 4 || has(c, "past_key")) return false;
         if (shape_of(c, "K").size() != 4 || shape_of(c, "V").size() != 4) return false;
         shape_of(c, "K")[1] = shape_of(c, "V")[1] = shape_of(c)[1] + 1;
         return true;
       }},
      {"another number", [](Case& c) {
         const auto said = [&](const char* name, auto value) {
           if (!c.definition().attribute(name)) return false;
           c.node.attribute(name, Attribute(value));
           return true;
         };
         switch (between(0, 6)) {
           case 0: return said("left_window_size", Int{-2});
           case 1: return said("right_window_size", Int{-2});
           case 2: return said("softcap", -1.0F);
           case 3: return said("scale", -1.0F);
           case 4: return said("qk_matmul_output_mode", pick<Int>({4, -1}));
           case 5: return said("softmax_precision", pick<Int>({0, 6, 7, 17}));
           default: return said("is_causal", Int{2});
         }
       }}};
}

}  // namespace

const OperatorGenerator& attention() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<3, 4>, refit);
    made.cost = cost;
    std::ranges::move(own_damages(), std::back_inserter(made.damages));
    return made;
  }();
  return all;
}

}  // namespace assay::generators
