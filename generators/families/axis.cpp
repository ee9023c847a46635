// SPDX-License-Identifier: Apache-2.0
// Operators that take lines along the axis that an attribute or an input names: any rank, every axis counted from
// either end, extents 0 and 1, and lengths around those of vector registers and of blocks (reductions 13).
#include "generators/draw.h"
#include "generators/family.h"
#include "generators/parameters.h"
#include "generators/shrink.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

constexpr const char* axis_attribute = "axis";

std::size_t axis_of(const Call& call) {
  const Int rank = call.rank(call.definition().inputs.front().name), said = call.integer(axis_attribute);
  return static_cast<std::size_t>(said < 0 ? said + rank : said);
}

Int line_length(const Case& c) {
  const Call call = c.call();
  const Shape& shape = shape_of(c);
  const std::size_t axis = axis_of(call);
  if (!call.definition().flattens) return shape.at(axis);
  Int length = 1;
  for (std::size_t i = axis; i < shape.size(); ++i) length *= shape[i];
  return length;
}

void state_axis(Case& c, Int axis) {
  if (c.definition().attribute(axis_attribute))
    c.node.attribute(axis_attribute, Attribute(axis));
  else
    write_out(c, axis_attribute, {}, {axis});
}

// -- drawing

// Every rank from 1 to 5 with every axis, from the front and from the end, and at the default: rank r has 2r + 1
// strata. The lengths take turns.
constexpr std::uint64_t shape_strata = 40;

Int draw_length(bool is_alone) {
  if (is_alone && chance(8)) return 1025;
  return weighted<Int>({{2, 1}, {4, 2}, {6, between(3, 6)}, {3, 7}, {3, 8}, {3, 9}, {is_alone ? 4 : 1, 33}});
}

Recipe draw_logits(DType type) {
  if (chance(25))
    return {"lit", pick({"1,2,1,1,3", "80,-80,3,0,79.5", "0,256,0,0,1", "-80,-79,-81", "5,4,5,5,5", "0,-inf,1",
                         "11,-11,10.5"})};
  return seeded(weighted<const char*>({{30, "normal"},
                                       {20, "small"},
                                       {10, "uniform"},
                                       {8, "cancel"},
                                       {type == DType::f16 ? 0 : 8, "logu"},
                                       {4, "sign"},
                                       {5, "pattern"},
                                       {3, "huge"},
                                       {10, "special"}}));
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  Int rank = 1, left = static_cast<Int>(stratum % shape_strata);
  for (; rank < 5 && left >= 2 * rank + 1; ++rank) left -= 2 * rank + 1;
  if (rank == 5 && left >= 11) rank = 6 + left % 2;  // more axes than an ordinary case has
  const Int axis = left % rank;
  // A default that is out of the range has to be replaced, and an input has none.
  const AttributeSpec* const spec = definition.attribute(axis_attribute);
  const bool states = left != 2 * rank || !spec || std::get<Int>(*spec->value) >= rank, from_end = left >= rank;
  if (states) state_axis(c, from_end ? axis - rank : axis);
  Shape shape;
  for (Int i = 0; i < rank; ++i) shape.push_back(between(1, rank < 4 ? 4 : 2));
  c.node.input(definition.inputs.front().name, {type, shape});
  const std::size_t along = axis_of(c.call());
  if (along < shape.size()) shape_of(c)[along] = draw_length(rank < 3);
  if (chance(5)) shape_of(c)[static_cast<std::size_t>(between(0, rank - 1))] = 0;
  c.sources[definition.inputs.front().name] = {draw_logits(type), false};
  return c;
}

// -- the space of shapes

enum Extents { empty, line_of_one, several_lines, one_line };

int extents_of(const Case& c) {
  const Int length = line_length(c), elements = volume(shape_of(c));
  if (elements == 0) return empty;
  if (length == 1) return line_of_one;
  return elements > length ? several_lines : one_line;
}

int length_of(const Case& c) {
  const Int length = line_length(c);
  if (length <= 2) return static_cast<int>(length);
  return length < 8 ? 3 : length <= 16 ? 4 : 5;
}

// Where the axis lies: the first, one between, the last; of a single one the first.
int place_of(const Case& c) {
  const std::size_t axis = axis_of(c.call());
  return axis == 0 ? 0 : axis + 1 == shape_of(c).size() ? 2 : 1;
}

// -- shrinking

// The axis that is named stays the same one, counted from its end.
Cases fewer_axes(const Case& c, int part) {
  Cases out = with_shape(c, [part](Shape& shape) { shape.erase(shape.begin() + part); });
  if (!c.call().states(axis_attribute)) return out;
  const Int said = c.call().integer(axis_attribute);
  for (const Int moved : {said - 1, said + 1}) {
    out.push_back(out.front());
    state_axis(out.back(), moved);
  }
  return out;
}

class AxisFamily final : public Family {
 public:
  const OperatorGenerator* generator() const override {
    static const OperatorGenerator all{.draw = draw,
                                       .strata = shape_strata,
                                       .damages = {{"an axis outside of the range",
                                                    [](Case& c) {
                                                      const auto rank = static_cast<Int>(shape_of(c).size());
                                                      state_axis(c, pick({rank, rank + 1, -rank - 1}));
                                                    }},
                                                   {"a scalar", [](Case& c) { shape_of(c).clear(); }}},
                                       .most_outputs = 1100};
    return &all;
  }
  std::vector<Mutation> damages(const OperatorGenerator&) const override { return {}; }

  std::optional<AttributeDimension> attribute(const AttributeSpec& spec) const override {
    if (spec.name != axis_attribute) return std::nullopt;
    return AttributeDimension{{spec.name, {"left out", "from the front", "from the end"}}, [](const Call& call) {
                                if (!call.states(axis_attribute)) return 0;
                                return call.integer(axis_attribute) < 0 ? 2 : 1;
                              }};
  }
  std::vector<Dimension> dimensions(const Definition&) const override {
    return {{"rank", {"1", "2", "3", "4", "5", "6 or more"}},
            {"the axis is", {"the first", "between", "the last"}},
            {"lines", {"an empty axis", "of one element", "several", "one alone"}},
            {"length", {"0", "1", "2", "3 to 7", "8 to 16", "> 16"}}};
  }
  std::vector<int> features(const Case& legal) const override {
    return {static_cast<int>(std::clamp<std::size_t>(shape_of(legal).size(), 1, 6)) - 1, place_of(legal),
            extents_of(legal), length_of(legal)};
  }
  std::span<const Exclusion> exclusions() const override {
    static const Exclusion all[] = {{"rank", {"1"}, "the axis is", {"between", "the last"}},
                                    {"rank", {"2"}, "the axis is", {"between"}},
                                    {"rank", {"1"}, "lines", {"several"}},
                                    {"lines", {"of one element"}, "length", {"0", "2", "3 to 7", "8 to 16", "> 16"}},
                                    {"lines", {"several", "one alone"}, "length", {"0", "1"}}};
    return all;
  }
  bool is_degenerate(const CoverageValue& feature) const override {
    return feature.value == "6 or more" || feature.value == "an empty axis" ||
           (feature.dimension == "length" && feature.value == "0");
  }
  std::span<const ShrinkStep> coarse_steps() const override {
    static const ShrinkStep steps[] = {{first_axes, fewer_axes}};
    return steps;
  }
  std::span<const ShrinkStep> fine_steps() const override {
    static const ShrinkStep steps[] = {{first_axes, smaller_first}};
    return steps;
  }

  bool vary(Case& c, Generator& draw, std::uint64_t which) const override {
    Shape& shape = shape_of(c);
    if (which > 1) return false;
    shape[draw.below(shape.size())] = 1 + static_cast<Int>(draw.below(40));
    return true;
  }

  std::vector<Region> regions(const Case& c, const Shape& output) const override {
    std::vector<Region> all;
    if (volume(output) < 2) return all;
    const std::size_t axis = axis_of(c.call());
    const Int last = output[axis] - 1, body = output[axis] / 8 * 8;
    if (last > 0) {
      all.push_back({"at the end of a line", [=](const Shape& at) { return at[axis] == last; }});
      all.push_back({"at the start of a line", [=](const Shape& at) { return at[axis] == 0; }});
    }
    if (body > 0 && body <= last)
      all.push_back({"past the last multiple of eight of a line", [=](const Shape& at) { return at[axis] >= body; }});
    if (volume(output) > output[axis])
      all.push_back({"after the first line", [=](const Shape& at) {
                       for (std::size_t i = 0; i < at.size(); ++i)
                         if (i != axis && at[i] > 0) return true;
                       return false;
                     }});
    return all;
  }
};

}  // namespace

const Family& axis_family() {
  static const AxisFamily family;
  return family;
}

}  // namespace assay::generators
