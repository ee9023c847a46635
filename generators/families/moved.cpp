// SPDX-License-Identifier: Apache-2.0
// Operators whose outputs hold elements of their first input, by what attributes and other inputs say. Of shapes they
// know what operators of one tensor know; each draws its own cases.
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/shrink.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

Cases fewer_axes(const Case& c, int part) {
  return with_shape(c, [part](Shape& shape) { shape.erase(shape.begin() + part); });
}

// An axis counted from the end where it is left out: a tensor without axes has none.
bool takes_an_axis(const Definition& definition) {
  return std::ranges::any_of(definition.attributes, [](const AttributeSpec& spec) {
    return spec.kind == AttributeSpec::Kind::integer && spec.value && std::get<Int>(*spec.value) < 0;
  });
}

class MovedFamily final : public Elementwise {
 public:
  const Questions* questions() const override { return nullptr; }  // each draws its own
  bool is_breakable(const Definition&, std::string_view) const override { return true; }
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
    std::vector<Dimension> all = Elementwise::dimensions(definition);
    if (takes_an_axis(definition)) all.front().values.erase(all.front().values.begin());  // no rank 0
    return all;
  }
  std::vector<int> features(const Case& legal) const override {
    std::vector<int> values = Elementwise::features(legal);
    if (takes_an_axis(legal.definition())) --values.front();
    return values;
  }

  Role role(const Case& c, const std::string& input) const override {
    const Parameter* const parameter = c.definition().input(input);
    return parameter && !parameter->reads_as.empty() ? Role::other : Role::data;
  }
  std::span<const Step> coarse_steps() const override {
    static const Step steps[] = {{first_axes, fewer_axes}, {entry_count, fewer_entries}};
    return steps;
  }
  std::span<const Step> fine_steps() const override {
    static const Step steps[] = {{first_axes, smaller_first}, {entry_count, plainer_entries}};
    return steps;
  }
};

}  // namespace

const Family& moved_family() {
  static const MovedFamily family;
  return family;
}

}  // namespace assay::generators
