// SPDX-License-Identifier: Apache-2.0
// Operators whose outputs hold elements of their first input, by what attributes and other inputs say. Of shapes they
// know what operators of one tensor know; each draws its own cases.
#include "generators/parameters.h"
#include "generators/shrink.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

const std::string& first_input(const Case& c) { return c.definition().inputs.front().name; }

int axis_count(const Case& c) {
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

// An axis counted from the end where it is left out: a tensor without axes has none.
bool takes_an_axis(const Definition& definition) {
  return std::ranges::any_of(definition.attributes, [](const AttributeSpec& spec) {
    return spec.kind == AttributeSpec::Kind::integer && spec.value && std::get<Int>(*spec.value) < 0;
  });
}

class MovedFamily final : public Family {
 public:
  std::vector<Mutation> damages(const Questions&) const override { return parameter_damages(); }

  // Axes count from either end, others are left out, as they are when left out, or something else.
  std::optional<AttributeDimension> attribute(const AttributeSpec& spec) const override {
    if (spec.kind != AttributeSpec::Kind::integer) return std::nullopt;
    const auto row = [&](Names words, Int otherwise, int (*of)(Int value, Int otherwise)) {
      return AttributeDimension{{spec.name, std::move(words)}, [name = spec.name, otherwise, of](const Call& call) {
                                  return call.states(name) ? of(call.integer(name), otherwise) : 0;
                                }};
    };
    if (spec.required) return row({"1", "> 1"}, 1, [](Int value, Int one) { return value == one ? 0 : 1; });
    const Int value = std::get<Int>(spec.value.value());
    if (value < 0)
      return row({"left out", "negative", "not negative"}, value, [](Int v, Int) { return v < 0 ? 1 : 2; });
    return row({"left out", "its default", "another"}, value,
               [](Int v, Int otherwise) { return v == otherwise ? 1 : 2; });
  }

  std::vector<Dimension> dimensions(const Definition& definition) const override {
    std::vector<Dimension> all = one_family().dimensions(definition);
    if (takes_an_axis(definition)) all.front().values.erase(all.front().values.begin());  // no rank 0
    return all;
  }
  std::vector<int> features(const Case& legal) const override {
    std::vector<int> values = one_family().features(legal);
    if (takes_an_axis(legal.definition())) --values.front();
    return values;
  }
  std::span<const Exclusion> exclusions() const override { return one_family().exclusions(); }
  bool is_degenerate(const CoverageValue& feature) const override { return one_family().is_degenerate(feature); }
  Names cells(const Definition& definition) const override {
    Names names = one_family().cells(definition);
    if (takes_an_axis(definition)) names.erase(names.begin());  // no scalar
    return names;
  }
  Names traits(const Case& legal) const override { return one_family().traits(legal); }

  Role role(const Case& c, const std::string& input) const override {
    const Parameter* const parameter = c.definition().input(input);
    return parameter && !parameter->reads_as.empty() ? Role::other : Role::data;
  }
  std::span<const Step> coarse_steps() const override {
    static const Step steps[] = {{axis_count, fewer_axes}, {entry_count, fewer_entries}};
    return steps;
  }
  std::span<const Step> fine_steps() const override {
    static const Step steps[] = {{axis_count, smaller_axis}, {entry_count, plainer_entries}};
    return steps;
  }

  bool vary(Case& c, Generator& draw, std::uint64_t which) const override { return one_family().vary(c, draw, which); }

  std::vector<Region> regions(const Case& c, const Shape& output) const override {
    return one_family().regions(c, output);
  }
};

}  // namespace

const Family& moved_family() {
  static const MovedFamily family;
  return family;
}

}  // namespace assay::generators
