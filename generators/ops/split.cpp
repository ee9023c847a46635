// SPDX-License-Identifier: Apache-2.0
// Split: one to eight parts along any axis, listed or of one length, some of them empty.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "reference/operator.h"

#include <algorithm>
#include <numeric>

namespace assay::generators {
namespace {

bool counts(const Definition& definition) { return definition.attribute("num_outputs"); }

void request_outputs(Case& c, Int count) {
  c.node.outputs.clear();
  for (Int i = 1; i < count; ++i) c.node.output(c.definition().outputs[static_cast<std::size_t>(i)].name);
}

// Lists the lengths, as an attribute or as an input of the one type or the other.
void list_lengths(Case& c, const Ints& lengths) {
  const Definition& definition = c.definition();
  const bool is_input = definition.input("split") && (!definition.attribute("split") || chance(50));
  if (!is_input) return void(c.node.attribute("split", lengths));
  const DType type = definition.attribute("split") ? c.node.inputs.at("input").type.dtype : DType::i64;
  c.node.input("split", {type, {}});
  c.sources["split"] = {{}, chance(50)};
  write_out(c, "split", {std::ssize(lengths)}, lengths);
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(stratum % shape_strata);
  if (shape.empty()) shape = {between(1, 33)};
  const Int rank = std::ssize(shape), axis = chance(30) ? rank - 1 : between(0, rank - 1);
  const Int count = weighted<Int>({{15, 1}, {35, 2}, {30, 3}, {10, 5}, {10, 8}});
  const bool is_listed = chance(55), is_even = !counts(definition) || chance(40);
  Ints lengths;
  for (Int i = 0; i < count; ++i) lengths.push_back(between(chance(20) ? 0 : 1, 4));
  if (!is_listed && is_even) std::ranges::fill(lengths, between(chance(10) ? 0 : 1, 3));
  Int& extent = shape[static_cast<std::size_t>(axis)];
  extent = std::accumulate(lengths.begin(), lengths.end(), Int{0});
  Case c = moving(definition, type, shape);
  request_outputs(c, count);
  if (axis != 0 || chance(40)) c.node.attribute("axis", Attribute(chance(40) ? axis - rank : axis));
  if (is_listed)
    list_lengths(c, lengths);
  else if (counts(definition))
    c.node.attribute("num_outputs", Attribute(count));
  if (!is_listed && definition.input("split") && chance(10)) c.node.empty_input("split");
  return c;
}

// Lists the lengths anew, or makes the axis one that falls into the parts there are.
void refit(Case& c) {
  const Call call = c.call();
  const Int said = call.states("axis") ? call.integer("axis") : 0, rank = call.rank("input");
  const Int count = std::ssize(call.requested_outputs());
  if (call.states("num_outputs")) c.node.attribute("num_outputs", Attribute(count));
  if (said < -rank || said >= rank) return;
  Int& extent = shape_of(c)[static_cast<std::size_t>(said < 0 ? said + rank : said)];
  const bool is_attribute = c.node.attributes.contains("split");
  if (!is_attribute && !call.has("split")) {
    if (!counts(c.definition())) extent = std::max<Int>(1, extent / count) * count;
    return;
  }
  Ints lengths = stated(c, "split");
  lengths.resize(static_cast<std::size_t>(count), 1);
  const bool is_zero = std::ranges::all_of(lengths, [](Int length) { return length == 0; });
  if (is_zero && extent > 0) lengths.back() = 1;  // data that had elements keep one
  extent = 0;
  for (const Int length : lengths) extent += std::clamp<Int>(length, 0, 100);
  if (is_attribute)
    c.node.attribute("split", lengths);
  else
    write_out(c, "split", {count}, lengths);
}

bool another_number_of_outputs(Case& c) {
  const Int count = std::ssize(c.call().requested_outputs());
  request_outputs(c, count == 1 || (count < 8 && chance(60)) ? count + 1 : count - 1);
  return true;
}

bool stated_twice(Case& c) {
  if (counts(c.definition())) {
    if (!c.call().has("split")) return false;
    c.node.attribute("num_outputs", Attribute(std::ssize(c.call().requested_outputs())));
    return true;
  }
  if (!c.call().has("split") || !c.definition().attribute("split")) return false;
  c.node.attribute("split", stated(c, "split"));
  return true;
}

bool no_list_of_whole_lengths(Case& c) {
  if (!c.call().has("split") || !c.definition().attribute("split")) return false;
  Recipe& recipe = c.sources.at("split").recipe;
  if (chance(50))
    recipe.argument.insert(std::min(recipe.argument.find(','), recipe.argument.size()), ".5");
  else
    shape_of(c, "split").insert(shape_of(c, "split").begin(), 1);
  return true;
}

bool negative_length(Case& c) {
  if (!c.node.attributes.contains("split")) return false;
  Ints lengths = std::get<Ints>(c.node.attributes.at("split"));
  pick(lengths) = -1;
  c.node.attribute("split", lengths);
  return true;
}

bool counted_alone(Case& c) {
  if (!counts(c.definition()) || !c.call().states("num_outputs")) return false;
  Int& extent = shape_of(c).front();
  if (chance(50)) return c.node.attributes.erase("num_outputs") > 0;
  extent = pick<Int>({5, 5, 9, 3});
  c.node.attributes.erase("axis");
  request_outputs(c, extent == 5 ? 4 : extent == 9 ? 7 : 5);
  c.node.attribute("num_outputs", Attribute(std::ssize(c.call().requested_outputs())));
  return true;
}

}  // namespace

const OperatorGenerator& split() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<1>, refit);
    made.damages.push_back({"another number of outputs", another_number_of_outputs});
    made.damages.push_back({"lengths or their number stated twice", stated_twice});
    made.damages.push_back({"a negative length", negative_length});
    made.damages.push_back({"lengths that are no list of whole numbers", no_list_of_whole_lengths});
    made.damages.push_back({"too few elements for the outputs, or nothing stated", counted_alone});
    return made;
  }();
  return all;
}

}  // namespace assay::generators
