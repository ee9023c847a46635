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

const std::string& first_input(const Case& c) { return c.definition().inputs.front().name; }

int first_rank(const Case& c) {
  const auto first = c.node.inputs.find(first_input(c));
  return first == c.node.inputs.end() ? 0 : static_cast<int>(first->second.type.shape.size());
}

template <class F>
Cases resized(const Case& c, F&& change) {
  Cases out;
  Case other = c;
  change(other.node.inputs.at(first_input(c)).type.shape);
  push_refitted(out, std::move(other));
  return out;
}

Cases fewer_axes(const Case& c, int part) {
  return resized(c, [part](Shape& shape) { shape.erase(shape.begin() + part); });
}

Cases smaller_axis(const Case& c, int part) {
  Cases out;
  const auto axis = static_cast<std::size_t>(part);
  for (const Int extent : towards(c.node.inputs.at(first_input(c)).type.shape[axis], 1))
    std::ranges::move(resized(c, [&](Shape& shape) { shape[axis] = extent; }), std::back_inserter(out));
  return out;
}

Shape& first_shape(Case& c) { return c.node.inputs.at(first_input(c)).type.shape; }

bool axis_out_of_range(Case& c) {
  if (!c.definition().attribute("axis")) return false;
  const Int rank = first_rank(c);
  c.node.attribute("axis", Attribute(pick<Int>({rank, rank + 1, -rank - 1, -1})));
  return true;
}

bool another_rank(Case& c) {
  Shape& shape = first_shape(c);
  if (shape.empty() || chance(40))
    shape.insert(shape.begin() + between(0, static_cast<Int>(shape.size())), between(1, 2));
  else if (chance(50))
    shape.clear();
  else
    shape.erase(shape.begin() + between(0, static_cast<Int>(shape.size()) - 1));
  return true;
}

bool another_extent(Case& c) {
  Shape& shape = first_shape(c);
  if (shape.empty()) return false;
  shape[static_cast<std::size_t>(between(0, static_cast<Int>(shape.size()) - 1))] += between(1, 2);
  return true;
}

// Of an operator of one input: what its integers name are axes.
Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = moving(definition, type, draw_extents(stratum % shape_strata));
  constexpr Int most = std::numeric_limits<Int>::max();
  for (const AttributeSpec& spec : definition.attributes)
    if (const Int rank = first_rank(c); chance(70))
      c.node.attribute(spec.name, Attribute(chance(90) ? between(-rank - 1, rank + 1) : pick({most, -most - 1})));
  return c;
}

std::pair<Int, Int> ranks_of(const Definition& definition) {
  return questions_about(definition.version).ranks(definition);
}

class MovedFamily final : public Family {
 public:
  const Questions* questions() const override {
    static const Questions all = placing_questions(draw, axes<0>);
    return &all;
  }
  std::vector<Mutation> damages(const Questions&) const override { return parameter_damages(); }
  bool is_breakable(const Definition& definition, std::string_view constraint) const override {
    const auto required = [](const auto& all, auto is) { return std::ranges::any_of(all, is); };
    if (constraint == "G1")
      return required(definition.attributes, [](const AttributeSpec& spec) { return spec.required; }) ||
             required(definition.inputs | std::views::drop(1),
                      [](const Parameter& input) { return input.arity == Arity::required; });
    return one_family().is_breakable(definition, constraint);
  }

  // Axes count from either end, others are left out, as they are when left out, or something else.
  std::optional<AttributeDimension> attribute(const AttributeSpec& spec) const override {
    if (spec.kind != AttributeSpec::Kind::integer) return std::nullopt;
    const auto row = [&](Names words, Int otherwise, int (*of)(Int value, Int otherwise)) {
      return AttributeDimension{{spec.name, std::move(words)}, [name = spec.name, otherwise, of](const Call& call) {
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
    std::vector<Dimension> all = one_family().dimensions(definition);
    const auto [least, most] = ranks_of(definition);
    Names& ranks = all.front().values;
    ranks.erase(ranks.begin() + std::min<Int>(6, most) + 1, ranks.end());
    ranks.erase(ranks.begin(), ranks.begin() + least);
    return all;
  }
  std::vector<int> features(const Case& legal) const override {
    std::vector<int> values = one_family().features(legal);
    values.front() -= static_cast<int>(ranks_of(legal.definition()).first);
    return values;
  }
  std::span<const Exclusion> exclusions() const override { return one_family().exclusions(); }
  bool is_degenerate(const CoverageValue& feature) const override { return one_family().is_degenerate(feature); }
  Names cells(const Definition& definition) const override {
    Names names = one_family().cells(definition);
    const auto is_met = [ranks = ranks_of(definition)](Int least, Int most) {
      return ranks.first <= most && ranks.second >= least;
    };
    if (!is_met(0, 0)) std::erase(names, "a scalar");
    if (!is_met(1, 1)) std::erase(names, "a vector");
    if (!is_met(6, 7)) std::erase(names, "six axes or more");
    return names;
  }
  Names traits(const Case& legal) const override { return one_family().traits(legal); }

  Role role(const Case& c, const std::string& input) const override {
    const Parameter* const parameter = c.definition().input(input);
    return parameter && !parameter->reads_as.empty() ? Role::other : Role::data;
  }
  std::span<const Step> coarse_steps() const override {
    static const Step steps[] = {{first_rank, fewer_axes}, {entry_count, fewer_entries}};
    return steps;
  }
  std::span<const Step> fine_steps() const override {
    static const Step steps[] = {{first_rank, smaller_axis}, {entry_count, plainer_entries}};
    return steps;
  }

  bool vary(Case& c, Generator& draw, std::uint64_t which) const override { return one_family().vary(c, draw, which); }

  std::vector<Region> regions(const Case& c, const Shape& output) const override {
    return one_family().regions(c, output);
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
