// SPDX-License-Identifier: Apache-2.0
// Operators of one input whose every element makes an element of the output: ranks from 0 on, extents 0 and 1, and
// lengths around those of vector registers, whose tails take other code than their bodies (elementwise 7.1).
#include "generators/families/one.h"

#include "generators/draw.h"
#include "generators/family.h"
#include "generators/shrink.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

// -- drawing

Shape extents(Int rank, Int low, Int high) {
  Shape shape;
  for (Int axis = 0; axis < rank; ++axis) shape.push_back(between(low, high));
  return shape;
}

void set_one(Shape& shape, Int extent) {
  shape[static_cast<std::size_t>(between(0, static_cast<Int>(shape.size()) - 1))] = extent;
}

}  // namespace

Shape draw_shape(std::uint64_t stratum) {
  if (stratum == 0) return {};
  if (stratum <= 8) return {between(1, 33)};
  if (stratum == 9) return {between(63, 65)};
  if (stratum == 10) return {between(127, 129)};
  if (stratum <= 14) return extents(2, 2, 17);
  if (stratum <= 17) return extents(3, 2, 7);
  if (stratum <= 19) return extents(4, 1, 4);
  if (stratum == 20) return extents(5, 1, 3);
  if (stratum == 21) return extents(between(6, 7), 1, 2);
  Shape shape = extents(between(1, 4), 1, stratum == 22 ? 4 : 3);
  set_one(shape, stratum == 22 ? 0 : 1);
  if (stratum == 23 && chance(40)) std::ranges::fill(shape, 1);
  return shape;
}

Shape spread(Int elements, Int rank) {
  Shape shape = extents(rank, 1, elements == 0 ? 3 : 1);
  if (elements == 0) set_one(shape, 0);
  for (Int factor = 2; elements > 1; ++factor)
    for (; elements % factor == 0; elements /= factor) shape[static_cast<std::size_t>(between(0, rank - 1))] *= factor;
  return shape;
}

namespace {

void write_attribute(Node& node, const AttributeSpec& spec) {
  if (!spec.required && chance(50)) return;
  switch (spec.kind) {
    case AttributeSpec::Kind::integer: node.attribute(spec.name, Attribute(between(0, 1))); break;
    case AttributeSpec::Kind::real:
      node.attribute(spec.name, Attribute(spec.value && chance(20) ? std::get<float>(*spec.value)
                                                                   : pick({0.0F, 1.0F, 0.25F, 2.0F, -0.5F, 1e-3F})));
      break;
    case AttributeSpec::Kind::ints: node.attribute(spec.name, Ints{between(0, 2)}); break;
    case AttributeSpec::Kind::text: break;
  }
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const std::string& input = definition.inputs.front().name;
  c.node.input(input, {type, draw_shape(stratum % shape_strata)});
  c.sources[input] = {draw_selection_fill(type), false};
  for (const AttributeSpec& spec : definition.attributes) write_attribute(c.node, spec);
  return c;
}

// -- the space of shapes

const Shape& shape_of(const Case& c) { return c.node.inputs.at(c.definition().inputs.front().name).type.shape; }

int extents_of(const Shape& shape) {
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  const auto ones = static_cast<std::size_t>(std::ranges::count(shape, 1));
  if (ones == shape.size()) return 1;
  return ones > 0 ? 2 : 3;
}

int size_of(Int elements) {
  if (elements < 2) return static_cast<int>(elements);
  if (elements < 8) return 2;
  return elements <= 64 ? 3 : 4;
}

// -- shrinking

Cases resized(const Case& c, auto&& change) {
  Cases out{c};
  change(out.front().node.inputs.at(c.definition().inputs.front().name).type.shape);
  return out;
}

int axis_count(const Case& c) {
  const auto first = c.node.inputs.find(c.definition().inputs.front().name);
  return first == c.node.inputs.end() ? 0 : static_cast<int>(first->second.type.shape.size());
}

Cases fewer_axes(const Case& c, int part) {
  return resized(c, [part](Shape& shape) { shape.erase(shape.begin() + part); });
}

Cases smaller_axis(const Case& c, int part) {
  Cases out;
  const auto axis = static_cast<std::size_t>(part);
  for (const Int extent : towards(shape_of(c)[axis], 1))
    std::ranges::move(resized(c, [&](Shape& shape) { shape[axis] = extent; }), std::back_inserter(out));
  return out;
}

// -- the regions of an output

Int flat_of(const Shape& shape, const Shape& at) {
  Int flat = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) flat = flat * shape[axis] + at[axis];
  return flat;
}

class OneFamily final : public Family {
 public:
  const Questions* questions() const override {
    static const Questions all{
        .draw = draw, .strata = shape_strata, .cost = [](const Case&) { return Int{0}; }, .damages = {}};
    return &all;
  }
  std::vector<Damage> damages(const Questions&) const override { return {}; }

  std::vector<Dimension> dimensions(const Definition&) const override {
    return {{"rank", {"0", "1", "2", "3", "4", "5", "6 or more"}},
            {"extents", {"an empty axis", "all 1", "some 1", "all > 1"}},
            {"size", {"0", "1", "2 to 7", "8 to 64", "> 64"}}};
  }
  std::vector<int> features(const Case& legal) const override {
    const Shape& shape = shape_of(legal);
    return {static_cast<int>(std::min<std::size_t>(shape.size(), 6)), extents_of(shape), size_of(volume(shape))};
  }
  std::span<const Exclusion> exclusions() const override {
    static const Exclusion all[] = {{"rank", {"0"}, "extents", {"an empty axis", "some 1", "all > 1"}},
                                    {"rank", {"0"}, "size", {"0", "2 to 7", "8 to 64", "> 64"}},
                                    {"rank", {"0"}, "class", {"valid-degenerate"}},
                                    {"rank", {"1"}, "extents", {"some 1"}},
                                    {"extents", {"an empty axis"}, "size", {"1", "2 to 7", "8 to 64", "> 64"}},
                                    {"extents", {"all 1"}, "size", {"0", "2 to 7", "8 to 64", "> 64"}},
                                    {"extents", {"some 1", "all > 1"}, "size", {"0", "1"}}};
    return all;
  }
  bool is_degenerate(const Feature& feature) const override {
    return feature.value == "6 or more" || feature.value == "an empty axis" ||
           (feature.dimension == "size" && feature.value == "0");
  }
  Names cells(const Definition&) const override {
    return {"a scalar",
            "a vector",
            "several axes",
            "six axes or more",
            "an empty axis",
            "an axis of 1",
            "a tail past a multiple of 8"};
  }
  Names traits(const Case& legal) const override {
    const Shape& shape = shape_of(legal);
    const std::pair<const char*, bool> all[] = {
        {"a scalar", shape.empty()},
        {"a vector", shape.size() == 1},
        {"several axes", shape.size() > 1},
        {"six axes or more", shape.size() > 5},
        {"an empty axis", extents_of(shape) == 0},
        {"an axis of 1", std::ranges::find(shape, 1) != shape.end()},
        {"a tail past a multiple of 8", volume(shape) > 8 && volume(shape) % 8 != 0}};
    Names names;
    for (const auto& [name, holds] : all)
      if (holds) names.emplace_back(name);
    return names;
  }

  std::span<const Step> coarse_steps() const override {
    static const Step steps[] = {{axis_count, fewer_axes}};
    return steps;
  }
  std::span<const Step> fine_steps() const override {
    static const Step steps[] = {{axis_count, smaller_axis}};
    return steps;
  }

  bool vary(Case& c, Generator& draw, std::uint64_t which) const override {
    Shape& shape = c.node.inputs.at(c.definition().inputs.front().name).type.shape;
    if (which > 1 || shape.empty()) return false;
    shape[draw.below(shape.size())] = 1 + static_cast<Int>(draw.below(40));
    return true;
  }

  std::vector<Region> regions(const Case&, const Shape& output) const override {
    const Int count = volume(output), body = count / 8 * 8;
    std::vector<Region> all;
    if (count < 2) return all;
    all.push_back({"in the last element", [=](const Shape& at) { return flat_of(output, at) == count - 1; }});
    all.push_back({"in the first element", [=](const Shape& at) { return flat_of(output, at) == 0; }});
    if (body > 0 && body < count) {
      all.push_back(
          {"past the last multiple of eight elements", [=](const Shape& at) { return flat_of(output, at) >= body; }});
      all.push_back({"before the tail", [=](const Shape& at) { return flat_of(output, at) < body; }});
    }
    return all;
  }
};

}  // namespace

const Family& one_family() {
  static const OneFamily family;
  return family;
}

}  // namespace assay::generators
