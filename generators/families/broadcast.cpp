// SPDX-License-Identifier: Apache-2.0
// Operators of several inputs that are broadcast: every way in which shapes may meet, and the limited ways of the first
// opsets.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>
#include <utility>

namespace assay::generators {
namespace {

// -- drawing

// How the shape of an input comes from that of the output.
enum class Part { whole, single, trailing, stretched };

Shape part_of(const Shape& whole, Part part) {
  if (part == Part::whole) return whole;
  if (part == Part::single) return Shape(static_cast<std::size_t>(between(0, std::min<Int>(1, std::ssize(whole)))), 1);
  Shape shape = whole;
  if (part == Part::trailing && !shape.empty())
    shape.erase(shape.begin(), shape.begin() + between(1, std::ssize(shape)));
  for (Int& extent : shape)
    if (part == Part::stretched && chance(50)) extent = 1;
  return shape;
}

// The parts that the first input and the others take. Eleven: every shape stratum meets every one.
constexpr std::pair<Part, Part> meetings[] = {
    {Part::whole, Part::whole},    {Part::whole, Part::single},        {Part::single, Part::whole},
    {Part::whole, Part::trailing}, {Part::whole, Part::stretched},     {Part::stretched, Part::whole},
    {Part::trailing, Part::whole}, {Part::stretched, Part::stretched}, {Part::stretched, Part::trailing},
    {Part::whole, Part::single},   {Part::whole, Part::trailing}};

// Operands that are compared are often equal, or neighbours: data of one kind, which `which` of 100 says.
Recipe draw_compared(DType type, Int which) {
  if (type == DType::boolean || type == DType::string || which >= 90) {
    const Recipe fill = draw_selection_fill(type);
    return fill.family == "lit" ? Recipe{"lit", "1,2,1,3,3"} : fill;  // two elements are no constant
  }
  if (which < 45) return seeded("near" + std::to_string(std::max<Int>(0, which - 14)));
  if (which < 75) return seeded("sign");
  return is_float(type) && which < 82 ? seeded("special") : Recipe{"lit", which % 2 ? "0,1,2,1,0,2,2" : "1,2,1,3,3"};
}

bool is_unsigned(DType type) {
  return for_type(type, []<class T>() { return std::is_unsigned_v<T>; });
}

// Draws integers other than 0 (E15). An unsigned one that is drawn below 0 would be 0.
Recipe draw_divisors(DType type) {
  const auto bits = static_cast<Int>(8 * size_of(type));
  if (is_unsigned(type) || chance(20)) return seeded("around" + std::to_string(pick({9, 12, 40, 100})));
  if (chance(25)) return {"lit", pick({"3,1,2,7,1", "1,2,3,5,7,100"})};
  return seeded(pick(
      {std::string("small"), std::string("sign"), "odd" + std::to_string(between(2, std::min<Int>(bits - 2, 50)))}));
}

// Draws numbers of bits, some of them as many as there are or more (E35).
Recipe draw_shifts(DType type) {
  const auto bits = static_cast<Int>(8 * size_of(type));
  return seeded("around" + std::to_string(weighted<Int>({{30, 0}, {35, bits / 4}, {25, bits / 2}, {10, bits}})));
}

// Draws a power to raise to: small integers, halves, ordinary numbers, special ones (E55).
Recipe draw_exponents(DType type) {
  if (!is_float(type))
    return chance(70) ? Recipe{"hold", pick({"2,3,0,1", "1,2,5,7,4", "0,3,19,39"})} : seeded("small");
  return chance(40) ? Recipe{"hold", pick({"2,0.5,-1,3", "0,1,-2,0.25,7", "-0.5,2.5,3,-3,64"})}
                    : seeded(pick({"quarter", "normal", "small", "special"}));
}

// Draws a bound of Clip, mostly such that data lie between both; one in eight may be beyond the other.
Recipe draw_bound(DType type, bool is_upper) {
  if (chance(12)) is_upper = !is_upper;
  if (is_unsigned(type)) return {"hold", is_upper ? pick({"2", "5", "100", "255"}) : pick({"0", "1", "2"})};
  if (!is_float(type)) return {"hold", is_upper ? pick({"1", "2", "5", "127"}) : pick({"-3", "0", "-1", "-100"})};
  return {"hold",
          is_upper ? pick({"0.25", "1", "2", "6", "inf", "nan"}) : pick({"-1", "-0.5", "0", "-3", "-inf", "nan"})};
}

// Exchanges the bounds of Clip where min is the larger one, mostly.
void put_in_order(Node& node) {
  const auto least = node.attributes.find("min"), most = node.attributes.find("max");
  if (least == node.attributes.end() || most == node.attributes.end() || chance(15)) return;
  if (std::get<float>(least->second) > std::get<float>(most->second)) std::swap(least->second, most->second);
}

// Tells whether an input says of what another one consists, as the scale of QLinearAdd does.
bool is_beside(const std::string& input) { return input.ends_with("_scale") || input.ends_with("_zero_point"); }

// Draws a scale, of which several are powers of two as often as not, or a zero point.
Recipe draw_beside(const std::string& input, DType type) {
  if (input.ends_with("_zero_point"))
    return {"hold", type == DType::u8 ? pick({"1", "127", "128", "255", "0"}) : pick({"1", "127", "-128", "-3", "0"})};
  const bool is_of_output = input.starts_with("C");
  return {"hold", is_of_output ? pick({"1", "2", "0.5", "0.3", "16", "100"})
                               : pick({"0.5", "1", "0.25", "0.1", "0.01", "-0.5", "3"})};
}

// Writes `axis` and `broadcast` and returns the shape of B that they admit.
Shape draw_limited(Node& node, const Shape& a) {
  if (chance(20)) {
    if (chance(50)) node.attribute("broadcast", 0);
    if (chance(30)) node.attribute("axis", between(-std::max<Int>(1, std::ssize(a)), std::ssize(a)));  // ignored: E9
    return a;
  }
  node.attribute("broadcast", 1);
  const auto rank = static_cast<Int>(a.size());
  if (chance(25)) {
    if (chance(40)) node.attribute("axis", between(0, std::max<Int>(0, rank - 1)));
    return Shape(static_cast<std::size_t>(between(0, std::min<Int>(2, rank))), 1);
  }
  const Int first = between(0, rank), axes = chance(45) ? rank - first : between(0, rank - first);
  if (first + axes != rank || chance(40)) node.attribute("axis", chance(70) || first == rank ? first : first - rank);
  return {a.begin() + first, a.begin() + first + axes};
}

// Draws the shape of a slope that has one element, or one for each channel.
Shape draw_slope(const Shape& x) {
  if (x.empty() || chance(40)) return Shape(static_cast<std::size_t>(between(0, 1)), 1);
  return {x[std::min<std::size_t>(1, x.size() - 1)]};
}

// Draws how many inputs a variadic operator is given; of any other it is all of them.
std::size_t draw_count(const Definition& definition) {
  const std::size_t most = definition.inputs.size();
  return definition.is_variadic() ? weighted<std::size_t>({{12, 1}, {48, 2}, {20, 3}, {10, 4}, {10, most}}) : most;
}

Case draw_several(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const Shape whole = draw_extents(stratum % shape_strata);
  const auto& [first_part, other_part] = meetings[stratum % std::size(meetings)];
  const Int fill = between(0, 99);
  const bool compares = definition.outputs.front().type != definition.data().type;
  // Takes operands that are close: which is the larger one is as hard to tell as whether they are equal.
  const bool selects_among = definition.is_variadic() && definition.ruling("E2") && fill % 2 == 0;
  const bool has_bounds = definition.ruling("E4") != nullptr, has_exponents = definition.ruling("E55") != nullptr;
  const auto draw_operand = [&](DType of, bool is_first, bool shares) {
    if (!is_first && has_exponents) return draw_exponents(of);
    if (selects_among && !is_float(of)) return seeded("ends");
    if (shares && (compares || selects_among)) return draw_compared(of, fill);
    if (!is_first && definition.ruling("E15") && !is_float(of)) return draw_divisors(of);
    return !is_first && definition.attribute("direction") ? draw_shifts(of) : draw_data(definition, of);
  };
  Part part = first_part;
  const std::size_t count = draw_count(definition);
  for (const Parameter& input : std::span(definition.inputs).first(count)) {
    const bool is_first = &input == &definition.inputs.front();
    if (input.arity == Arity::optional && chance(30)) {
      if (chance(40)) c.node.empty_input(input.name);
      continue;
    }
    const bool shares = input.type == definition.data().type;
    const DType of = shares ? type : pick(definition.types_of(input.type));
    const bool limited = definition.attribute("broadcast") != nullptr;
    const bool per_channel = definition.constraint("chan") != nullptr;
    const bool is_scalar = (!is_first && has_bounds) || is_beside(input.name);
    const bool is_whole = (is_first && has_bounds) || (definition.constraint("same") && !limited) ||
                          (is_first && (limited || per_channel || definition.constraint("uni")));
    Shape shape = is_whole      ? whole
                  : is_scalar   ? Shape()
                  : limited     ? draw_limited(c.node, whole)
                  : per_channel ? draw_slope(whole)
                                : part_of(whole, part);
    c.node.input(input.name, {of, std::move(shape)});
    const Recipe recipe = is_beside(input.name) ? draw_beside(input.name, of)
                          : is_scalar           ? draw_bound(of, input.name == "max")
                                                : draw_operand(of, is_first, shares);
    c.sources[input.name] = {recipe, !is_first && chance(25)};
    part = count > 2 && !is_beside(definition.inputs[1].name) && chance(50) ? first_part : other_part;
  }
  for (const AttributeSpec& spec : definition.attributes)
    if (spec.name != "axis" && spec.name != "broadcast") draw_attribute(c.node, definition, spec);
  if (has_bounds) put_in_order(c.node);
  return c;
}

// -- near misses

bool is_limited(const Case& c) { return c.definition().attribute("broadcast") != nullptr; }

bool loses_an_input(Case& c) {
  std::string last;
  for (const std::string& input : inputs_of(c))
    if (c.definition().input(input)->arity != Arity::optional) last = input;
  remove_input(c, last);
  if (c.definition().is_variadic()) c.node.empty_input(last);
  return !c.sources.empty();
}

// -- the space of shapes

const Names ways_to_meet{"the same", "one element", "fewer axes", "axes of 1", "both ways"};

int way_of(const Case& c) {
  const Shape whole = output_shape(c);
  bool is_whole = false, is_single = false, is_shorter = false, is_same = true;
  for (const std::string& input : inputs_of(c)) {
    if (is_beside(input)) continue;
    const Shape& shape = shape_of(c, input);
    is_whole |= shape == whole;
    is_same &= shape == whole;
    is_single |= shape != whole && volume(shape) == 1;
    is_shorter |= shape.size() < whole.size();
  }
  return is_same ? 0 : !is_whole ? 4 : is_single ? 1 : is_shorter ? 2 : 3;
}

// -- shrinking

int input_count(const Case& c) { return static_cast<int>(c.node.inputs.size()); }

// Without the axes of 1 that an input begins with.
Cases shorter_input(const Case& c, int part) {
  Case out = c;
  Shape& shape = shape_of(out, inputs_of(c)[static_cast<std::size_t>(part)]);
  if (shape.empty() || shape.front() != 1) return {};
  shape.erase(shape.begin());
  return {out};
}

class BroadcastFamily final : public Elementwise {
 public:
  const OperatorGenerator* generator() const override {
    static const OperatorGenerator all{.draw = draw_several, .strata = shape_strata * std::size(meetings)};
    return &all;
  }
  std::vector<Mutation> damages(const OperatorGenerator&) const override {
    return {{"an extent that does not fit",
             [](Case& c) {
               Names operands = inputs_of(c);
               std::erase_if(operands, is_beside);
               Shape& shape = shape_of(c, operands.back());
               if (shape.empty()) return false;
               pick(shape) += between(1, 2);
               return true;
             }},
            {"an input left out", loses_an_input},
            {"inputs of two types",
             [](Case& c) {
               const Parameter& last = *c.definition().input(inputs_of(c).back());
               c.node.inputs.at(last.name).type.dtype = pick(c.definition().types_of(last.type));
             }},
            {"an axis too many",
             [](Case& c) {
               Shape& shape = shape_of(c, inputs_of(c).back());
               shape.insert(shape.begin(), between(1, 2));
               return is_limited(c);
             }},
            {"another axis",
             [](Case& c) {
               c.node.attribute("axis", between(-9, 9));
               return is_limited(c);
             }},
            {"no broadcast", [](Case& c) { return is_limited(c) && c.node.attributes.erase("broadcast") > 0; }},
            {"broadcast = 2", [](Case& c) {
               c.node.attribute("broadcast", 2);
               return is_limited(c);
             }}};
  }

  std::optional<AttributeDimension> attribute(const AttributeSpec& spec) const override {
    if (spec.name != "axis") return std::nullopt;
    return AttributeDimension{{spec.name, {"left out", "from the front", "from the end"}}, [](const Call& call) {
                                return !call.states("axis") ? 0 : call.integer("axis") < 0 ? 2 : 1;
                              }};
  }
  std::vector<Dimension> dimensions(const Definition& definition) const override {
    std::vector<Dimension> all = Elementwise::dimensions(definition);
    all.push_back({"operands", ways_to_meet});
    return all;
  }
  std::vector<int> features(const Case& legal) const override {
    std::vector<int> values = Elementwise::features(legal);
    values.push_back(way_of(legal));
    return values;
  }
  Names cells(const Definition& definition) const override {
    const bool limited = definition.attribute("broadcast") || definition.constraint("chan");
    const std::size_t ways = definition.inputs.size() == 1                                         ? 1
                             : definition.constraint("single")                                     ? 2
                             : definition.constraint("same") && !definition.attribute("broadcast") ? 1
                             : limited                                                             ? 3
                             : definition.constraint("uni")                                        ? 4
                                                            : ways_to_meet.size();
    return {ways_to_meet.begin(), ways_to_meet.begin() + static_cast<std::ptrdiff_t>(ways)};
  }
  Names traits(const Case& legal) const override { return {ways_to_meet[static_cast<std::size_t>(way_of(legal))]}; }

  std::span<const ShrinkStep> fine_steps() const override {
    static const ShrinkStep steps[] = {{axis_count, smaller_axis}, {input_count, shorter_input}};
    return steps;
  }
};

}  // namespace

const Family& broadcast_family() {
  static const BroadcastFamily family;
  return family;
}

}  // namespace assay::generators
