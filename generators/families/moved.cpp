// SPDX-License-Identifier: Apache-2.0
// Operators whose outputs hold elements of their first input, by what attributes and other inputs say. Of shapes they
// know what operators of one tensor know; each draws its own cases.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/shrink.h"
#include "reference/operator.h"

#include <algorithm>
#include <limits>
#include <ranges>

namespace assay::generators {
namespace {

Cases fewer_axes(const Case& c, int part) {
  return with_shape(c, [part](Shape& shape) { shape.erase(shape.begin() + part); });
}

// Leaves a single index, 0, where one input alone is read besides the data.
Case with_one_index(Case c) {
  const auto is_read = [](const Parameter& input) { return !input.reads_as.empty(); };
  auto lists = c.definition().inputs | std::views::drop(1) | std::views::filter(is_read);
  if (const auto list = lists.begin(); std::ranges::distance(lists) == 1 && c.sources.contains(list->name))
    write_out(c, list->name, Shape(shape_of(c, list->name).size(), 1), {0});
  return c;
}

// Shrinks to a single element at once: of fewer than all, those that are left may be equal, which shows less.
int has_not_one(const Case& c) { return first_axes(c) > 0 && volume(shape_of(c)) != 1 ? 1 : 0; }
Cases one_element(const Case& c, int) {
  Case counted = c;  // where counts have to be stated, of one
  for (const AttributeSpec& spec : c.definition().attributes)
    if (spec.required && spec.kind == AttributeSpec::Kind::integer) counted.node.attribute(spec.name, 1);
  Cases out;
  const Parameter& first = c.definition().inputs.front();
  for (const bool is_new : {false, true})  // what is left of the data may be a zero
    for (Case each : {c, counted, with_one_index(c)}) {
      if (is_new) each.sources.at(first.name).recipe = {first.reads_as.empty() ? "iota" : "values", "1"};
      std::ranges::move(with_shape(each, [](Shape& shape) { std::ranges::fill(shape, 1); }), std::back_inserter(out));
    }
  return out;
}

bool axis_out_of_range(Case& c) {
  if (!c.definition().attribute("axis")) return false;
  const Int rank = first_axes(c);
  c.node.attribute("axis", Attribute(pick<Int>({rank, rank + 1, -rank - 1, -1})));
  return true;
}

bool another_rank(Case& c) {
  Shape& shape = shape_of(c);
  if (shape.empty() || chance(40))
    insert_axis(shape, between(1, 2));
  else if (chance(50))
    shape.clear();
  else
    shape.erase(shape.begin() + between(0, static_cast<Int>(shape.size()) - 1));
  return true;
}

bool another_extent(Case& c) {
  Shape& shape = shape_of(c);
  if (shape.empty()) return false;
  Int& extent = pick(shape);
  extent = chance(60) ? extent + between(1, 2) : std::max<Int>(0, extent - 1);
  return true;
}

// Draws for an operator of one input: what its integers name are axes.
Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = moving(definition, type, draw_extents(stratum % shape_strata));
  constexpr Int most = std::numeric_limits<Int>::max();
  for (const AttributeSpec& spec : definition.attributes)
    if (const Int rank = first_axes(c); chance(70))
      c.node.attribute(spec.name, Attribute(chance(90) ? between(-rank - 1, rank + 1) : pick({most, -most - 1})));
  return c;
}

std::pair<Int, Int> ranks_of(const Definition& definition) {
  return generator_of(definition.version).ranks(definition);
}

class MovedFamily final : public Elementwise {
 public:
  const OperatorGenerator* generator() const override {
    static const OperatorGenerator all = placing_generator(draw, axes<0>);
    return &all;
  }
  std::vector<Mutation> damages(const OperatorGenerator&) const override { return parameter_damages(); }
  bool is_breakable(const Definition& definition, std::string_view constraint) const override {
    const auto required = [](const auto& all, auto is) { return std::ranges::any_of(all, is); };
    const auto is_list = [&](const Parameter& input) {
      return !input.reads_as.empty() && std::ranges::all_of(definition.types_of(input.type), is_integer);
    };
    if (constraint == "G1")
      return required(definition.attributes, [](const AttributeSpec& spec) { return spec.required; }) ||
             required(definition.inputs, [&](const Parameter& input) {
               return input.arity == Arity::required && (&input != &definition.inputs.front() || is_list(input));
             });
    return Elementwise::is_breakable(definition, constraint);
  }

  // Axes count from either end, others are left out, as they are when left out, or something else.
  std::optional<AttributeDimension> attribute(const AttributeSpec& spec) const override {
    if (spec.kind != AttributeSpec::Kind::integer) return std::nullopt;
    const auto row = [&](Names words, Int otherwise, int (*of)(Int value, Int otherwise)) {
      const std::string label = spec.name == "size" ? "attribute size" : spec.name;  // LRN's; a shape has one too
      return AttributeDimension{{label, std::move(words)}, [name = spec.name, otherwise, of](const Call& call) {
                                  return call.states(name) ? of(call.integer(name), otherwise) : 0;
                                }};
    };
    if (spec.required && spec.name == "axis")
      return row({"negative", "not negative"}, 0, [](Int v, Int) { return v < 0 ? 0 : 1; });
    if (spec.required) return row({"1", "> 1"}, 1, [](Int value, Int one) { return value == one ? 0 : 1; });
    const Int value = spec.value ? std::get<Int>(*spec.value) : -1;
    if (value < 0)
      return row({"left out", "negative", "not negative"}, value, [](Int v, Int) { return v < 0 ? 1 : 2; });
    return row({"left out", "its default", "another"}, value,
               [](Int v, Int otherwise) { return v == otherwise ? 1 : 2; });
  }

  std::vector<Dimension> dimensions(const Definition& definition) const override {
    std::vector<Dimension> all = Elementwise::dimensions(definition);
    const auto [least, most] = ranks_of(definition);
    if (most == 0) all[1].values = {"all 1"}, all[2].values = {"1"};
    Names& ranks = all.front().values;
    ranks.erase(ranks.begin() + std::min<Int>(6, most) + 1, ranks.end());
    ranks.erase(ranks.begin(), ranks.begin() + least);
    return all;
  }
  std::vector<int> features(const Case& legal) const override {
    std::vector<int> values = Elementwise::features(legal);
    const auto [least, most] = ranks_of(legal.definition());
    values.front() -= static_cast<int>(least);
    if (most == 0) values[1] = values[2] = 0;
    return values;
  }

  Role role(const Case& c, const std::string& input) const override {
    const Parameter* const parameter = c.definition().input(input);
    const bool is_first = parameter == &c.definition().inputs.front();
    return parameter && !is_first && !parameter->reads_as.empty() ? Role::other : Role::data;
  }
  // Leaves the first element of a tensor.
  std::optional<Attribute> plainer(const Case& c, const std::string& name) const override {
    const auto* const tensor = std::get_if<Tensor>(&c.node.attributes.at(name));
    if (!tensor || tensor->elements() < 2) return std::nullopt;
    return fill(stated(*tensor), {tensor->dtype(), {1}});
  }
  std::span<const ShrinkStep> coarse_steps() const override {
    static const ShrinkStep steps[] = {
        {first_axes, fewer_axes}, {entry_count, fewer_entries}, {has_not_one, one_element}};
    return steps;
  }
  std::span<const ShrinkStep> fine_steps() const override {
    static const ShrinkStep steps[] = {{first_axes, smaller_first}, {entry_count, plainer_entries}};
    return steps;
  }
};

}  // namespace

std::vector<Mutation> shape_damages() {
  return {
      {"an axis out of range", axis_out_of_range}, {"another rank", another_rank}, {"another extent", another_extent}};
}

const Family& moved_family() {
  static const MovedFamily family;
  return family;
}

}  // namespace assay::generators
