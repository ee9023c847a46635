// SPDX-License-Identifier: Apache-2.0
// Operators that map elements: ranks from 0 on, extents 0 and 1, and lengths around those of vector registers, whose
// tails take other code than their bodies (elementwise 7.1).
#include "generators/families/elementwise.h"

#include "generators/draw.h"
#include "generators/shrink.h"
#include "generators/values.h"
#include "reference/flat_index.h"
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

// Writes an attribute that names a type: as its number, or as its name before version 6 of Cast.
void name_type(Node& node, const AttributeSpec& spec, DType type) {
  const bool is_number = spec.kind == AttributeSpec::Kind::integer;
  node.attribute(spec.name, is_number ? Attribute(Int{static_cast<int>(type)}) : Attribute(enum_name(type)));
}

// Draws what is cast: numbers of ordinary size with fractions, ties of narrower floats, integers in and out of range,
// literals.
Recipe draw_cast(DType type) {
  if (type == DType::string)
    return stated(pick({std::vector<std::string>{"3.14", "1e-5", "+INF", "nan", ".5", "5.", "-0", "7"},
                        std::vector<std::string>{"1", "-128", "007", "255", "0", "42", "-1"},
                        std::vector<std::string>{"16777217", "0.1", "1.00048828125000000001", "-2.5e3", "65519.99"}}));
  if (is_small(type)) return draw_selection_fill(type);
  const int bits = is_float(type) ? precision_of(type) : static_cast<int>(8 * size_of(type)) - 1;
  const int tie = pick({9, 12, 25});  // one bit more than bfloat16, float16 and float32 have
  if (tie <= bits && type != DType::boolean && chance(25)) return seeded("odd" + std::to_string(tie));
  if (!is_float(type) || chance(35)) return draw_selection_fill(type);
  return seeded(pick({"normal", "quarter", "astray", "around40", "small", "probe", "special", "special"}));
}

// Draws what decides how a type of eight bits or less is rounded to: ties, ends and what lies beyond them, the
// smallest.
Recipe draw_for_small(DType target, DType from) {
  if (is_integer(from))
    return {"lit", pick({"448,464,465,480,240,248,3", "57344,61439,61440,5,7,9,11", "1,2,-9,15,16,-3"})};
  if (is_integer(target)) return chance(50) ? Recipe{"lit", "7,8,-8,-9,1.5,0.5,-0.9,3,-2,15"} : seeded("quarter");
  switch (target) {
    case DType::f8e4m3fn: return {"lit", pick({"448,464,464.5,480,inf,463", "0x1p-9,0x1p-10,0x1.8p-10,0x1.8p-9,nan"})};
    case DType::f8e4m3fnuz: return {"lit", pick({"240,248,247,249,inf,256", "0x1p-10,0x1p-11,0x1.8p-11,-0,nan"})};
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
      return {"lit", pick({"57344,61439,61440,65504,inf,61441", "0x1p-16,0x1p-17,0x1.8p-17,0x1p-18,nan,-0"})};
    case DType::f8e8m0:
      return {"lit", pick({"3,5,0x1.8p0,0x1.7ep0,6,0.75,1", "0x1p-127,0x1p-126,0x1.8p-126,0x1p127,0x1.8p126,nan,7",
                           "0x1.8p127,inf,0x1p-128,0,0x1.4p127,2"})};
    default: return {"lit", pick({"6,7,5,2.5,0.25,0.75,-0.25,inf", "7.5,7.75,28,30,26,0.0625,0.1875,-30"})};
  }
}

// Draws what is cast to: the type itself, of float64 more often than of others; words for a float; a float that may
// round; any.
DType draw_target(const std::vector<DType>& admitted, DType from) {
  const auto is_admitted = [&](DType type) { return std::ranges::count(admitted, type) > 0; };
  if (is_admitted(from) && chance(from == DType::f64 ? 45 : 15)) return from;
  if (is_float(from) && !is_small(from) && is_admitted(DType::string) && chance(12)) return DType::string;
  const DType narrow = pick({DType::bf16, DType::f16, DType::f32});
  return is_admitted(narrow) && chance(40) ? narrow : pick(admitted);
}

// Draws bit patterns that are NaN of either kind, infinities and zeros in the floats of as many bits.
Recipe draw_patterns(DType type) {
  switch (width_of(type)) {
    case 16: return {"bits", pick({"31740", "32385", "64508", "32766", "65150"})};
    case 32: return {"bits", pick({"2139095035", "4286578685", "2143289340", "2147483644"})};
    case 64: return {"bits", pick({"9218868437227405309", "18442240474082181117", "9223372036854775805"})};
    default: return {"bits", std::to_string(between(0, 255))};
  }
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const std::string& input = definition.inputs.front().name;
  c.node.input(input, {type, draw_extents(stratum % shape_strata)});
  c.sources[input] = {draw_data(definition, type), false};
  for (const Parameter& other : std::span(definition.inputs).subspan(1)) {  // of which only the type counts
    const DType of = draw_target(definition.types_of(other.type), type);
    c.node.input(other.name, {of, draw_extents(static_cast<std::uint64_t>(between(0, shape_strata - 1)))});
    c.sources[other.name] = {draw_selection_fill(of), chance(25)};
  }
  for (const AttributeSpec& spec : definition.attributes)
    if (spec.required || !definition.ruling("E24") || chance(20)) draw_attribute(c.node, definition, spec);
  const Parameter& output = definition.outputs.front();
  if (!output.typed_by.empty())
    name_type(c.node, *definition.attribute(output.typed_by), draw_target(definition.types_of(output.type), type));
  const DType target = definition.type_of(c.call(), output);
  if (is_small(target) && (is_integer(type) || is_float(type)) && !is_small(type) && chance(50))
    c.sources[input].recipe =
        chance(70) ? draw_for_small(target, type) : seeded(pick({"odd3", "odd4", "odd5", "logu"}));
  // Gives words as many digits as the type has.
  if (target == DType::string && is_float(type) && !is_small(type) && chance(60))
    c.sources[input].recipe = seeded(pick({"normal", "logu"}));
  return c;
}

// -- the space of shapes

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

// Returns the shape that inputs make together where they are broadcast or none is like the output, else that of the
// first.
Shape described_shape(const Case& c) {
  const bool is_made = c.definition().shaping == Shaping::broadcast || generator_of(c.version).describes_output;
  return is_made ? output_shape(c) : shape_of(c);
}

// -- shrinking

// Returns which axis of an input lies along an axis of the longest, if any does.
std::optional<std::size_t> axis_in(const Case& c, const std::string& input, int axis) {
  const auto rank = static_cast<int>(shape_of(c, input).size());
  const auto stated = c.node.attributes.find("axis");
  const bool is_placed = stated != c.node.attributes.end() && input == inputs_of(c).back() && rank > 0;
  const bool is_slope = c.definition().constraint("chan") && input == inputs_of(c).back() && rank == 1;
  const Int axes = axis_count(c);
  const Int named = is_placed ? std::get<Int>(stated->second) : is_slope ? std::min<Int>(1, axes - 1) : axes - rank;
  const Int at = axis - (named < 0 ? named + axes : named);
  return at < 0 || at >= rank ? std::nullopt : std::optional(static_cast<std::size_t>(at));
}

// One element of each input, and no axis to name.
Case of_one_element(Case c) {
  for (const std::string& input : inputs_of(c)) {
    if (!c.sources.contains(input)) continue;
    shape_of(c, input).clear();
    c.sources.at(input).recipe = {"iota", "1"};
  }
  for (const char* name : {"axis", "block_size"}) c.node.attributes.erase(name);
  return c;
}

Cases fewer_axes(const Case& c, int part) {
  if (generator_of(c.version).refit) {
    Cases all{of_one_element(c)};
    if (part < first_axes(c))
      std::ranges::move(with_shape(c, [part](Shape& shape) { shape.erase(shape.begin() + part); }),
                        std::back_inserter(all));
    return all;
  }
  Case out = c;
  for (const std::string& input : inputs_of(c))
    if (const auto axis = axis_in(c, input, part)) {
      Shape& shape = shape_of(out, input);
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(*axis));
    }
  const auto stated = out.node.attributes.find("axis");
  if (stated == out.node.attributes.end()) return {out};
  Int& axis = std::get<Int>(stated->second);
  if (axis < 0 ? axis + axis_count(c) < part : axis > part) axis += axis < 0 ? 1 : -1;
  return {out};
}

// The extent of an axis wherever it is more than 1.
Int extent_at(const Case& c, int axis) {
  for (const std::string& input : inputs_of(c))
    if (const auto at = axis_in(c, input, axis))
      if (const Int extent = shape_of(c, input)[*at]; extent != 1) return extent;
  return 1;
}

Case resized(Case c, int axis, Int extent) {
  const Int before = extent_at(c, axis);
  const Case unchanged = c;
  for (const std::string& input : inputs_of(c))
    if (const auto at = axis_in(unchanged, input, axis))
      if (Int& now = shape_of(c, input)[*at]; now == before) now = extent;
  return c;
}

// -- the regions of an output

}  // namespace

// A scalar, vectors, ranks 2 to 5, more, an empty axis, extents of 1; vectors stand more than once.
Shape draw_extents(std::uint64_t stratum) {
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
  pick(shape) = stratum == 22 ? 0 : 1;
  if (stratum == 23 && chance(40)) std::ranges::fill(shape, 1);
  return shape;
}

Recipe draw_data(const Definition& definition, DType type) {
  if (definition.ruling("E24")) return draw_cast(type);
  if (definition.constraint("width") && chance(40)) return draw_patterns(type);
  const bool detects = definition.types_of(definition.outputs.front().type).front() == DType::boolean;
  if (detects && is_float(type) && chance(35))
    return {"lit", pick({"1,inf,nan,-inf,0x1.fffffffffffffp+1023", "nan,-0x1.fffffep+127,0,inf,-2,-inf,70000"})};
  if (detects && is_float(type)) return seeded("special");
  const bool computes = is_float(type) && !definition.ruling("E2");
  return computes ? draw_function_fill(type) : draw_selection_fill(type);
}

void draw_attribute(Node& node, const Definition& definition, const AttributeSpec& spec) {
  const Parameter& output = definition.outputs.front();
  if (output.typed_by == spec.name) return name_type(node, spec, pick(definition.types_of(output.type)));
  if (!spec.required && chance(50)) return;
  switch (spec.kind) {
    case AttributeSpec::Kind::integer: node.attribute(spec.name, Attribute(between(0, 1))); break;
    case AttributeSpec::Kind::real:
      node.attribute(spec.name, Attribute(spec.value && chance(20) ? std::get<float>(*spec.value)
                                                                   : pick({0.0F, 1.0F, 0.25F, 2.0F, -0.5F, 1e-3F})));
      break;
    case AttributeSpec::Kind::ints: node.attribute(spec.name, Ints{between(0, 2)}); break;
    case AttributeSpec::Kind::text: node.attribute(spec.name, pick(spec.words)); break;
    default: break;  // who has others draws them
  }
}

Shape spread(Int elements, Int rank) {
  Shape shape = extents(rank, 1, elements == 0 ? 3 : 1);
  if (elements == 0) pick(shape) = 0;
  for (Int factor = 2; elements > 1; ++factor)
    for (; elements % factor == 0; elements /= factor) shape[static_cast<std::size_t>(between(0, rank - 1))] *= factor;
  return shape;
}

Names inputs_of(const Case& c) {
  Names names;
  for (const Parameter& input : c.definition().inputs)
    if (c.node.inputs.contains(input.name)) names.push_back(input.name);
  return names;
}

Shape output_shape(const Case& c) { return c.definition().shape(c.call()); }

int axis_count(const Case& c) {
  std::size_t most = 0;
  for (const std::string& input : inputs_of(c)) most = std::max(most, shape_of(c, input).size());
  return static_cast<int>(most);
}

Cases smaller_axis(const Case& c, int part) {
  if (generator_of(c.version).refit) return part < first_axes(c) ? smaller_first(c, part) : Cases();
  Cases out;
  for (const Int extent : towards(extent_at(c, part), 1)) {
    out.push_back(resized(c, part, extent));
    if (extent != 1) continue;
    // What is left of data of zeros and ones may be a zero.
    Case counted = out.back();
    for (auto& [name, source] : counted.sources)
      if (c.definition().input(name)->reads_as.empty()) source.recipe = {"iota", "1"};
    out.push_back(std::move(counted));
  }
  return out;
}

// Shrinks to a single element at once: of flags that are fewer than all, those that are left may be equal.
static int has_several(const Case& c) { return axis_count(c) > 0 && volume(shape_of(c)) > 1 ? 1 : 0; }
static Cases one_element(const Case& c, int) {
  Case one = c;
  for (int axis = 0; axis < axis_count(c); ++axis) one = resized(one, axis, 1);
  Case counted = one;
  for (auto& [name, source] : counted.sources)
    if (c.definition().input(name)->reads_as.empty()) source.recipe = {"iota", "1"};
  return {one, counted};
}

const OperatorGenerator* Elementwise::generator() const {
  static const OperatorGenerator all{.draw = draw, .strata = shape_strata};
  return &all;
}

// Tells whether a type is left to break G4 with, of eight bits at least or bool.
bool Elementwise::is_breakable(const Definition& definition, std::string_view constraint) const {
  if (constraint == "G4" && definition.inputs.empty()) return false;
  const std::vector<DType>& admitted = definition.types_of(definition.data().type);
  const auto is_admitted = [&](DType type) { return is_small(type) || std::ranges::count(admitted, type) > 0; };
  return constraint != "G4" || definition.inputs.size() > 1 + (definition.shaping == Shaping::one) ||
         !std::ranges::all_of(all_dtypes, is_admitted);
}

std::vector<Dimension> Elementwise::dimensions(const Definition&) const {
  return {{"rank", {"0", "1", "2", "3", "4", "5", "6 or more"}},
          {"extents", {"an empty axis", "all 1", "some 1", "all > 1"}},
          {"size", {"0", "1", "2 to 7", "8 to 64", "> 64"}}};
}

std::vector<int> Elementwise::features(const Case& legal) const {
  const Shape shape = described_shape(legal);
  return {static_cast<int>(std::min<std::size_t>(shape.size(), 6)), extents_of(shape), size_of(volume(shape))};
}

std::span<const Exclusion> Elementwise::exclusions() const {
  static const Exclusion all[] = {{"rank", {"0"}, "extents", {"an empty axis", "some 1", "all > 1"}},
                                  {"rank", {"0"}, "size", {"0", "2 to 7", "8 to 64", "> 64"}},
                                  {"rank", {"0"}, "class", {"valid-degenerate"}},
                                  {"rank", {"1"}, "extents", {"some 1"}},
                                  {"extents", {"an empty axis"}, "size", {"1", "2 to 7", "8 to 64", "> 64"}},
                                  {"extents", {"all 1"}, "size", {"0", "2 to 7", "8 to 64", "> 64"}},
                                  {"extents", {"some 1", "all > 1"}, "size", {"0", "1"}}};
  return all;
}

bool Elementwise::is_degenerate(const CoverageValue& feature) const {
  return feature.value == "6 or more" || feature.value == "an empty axis" ||
         (feature.dimension == "size" && feature.value == "0");
}

std::span<const ShrinkStep> Elementwise::coarse_steps() const {
  static const ShrinkStep steps[] = {{axis_count, fewer_axes}, {has_several, one_element}};
  return steps;
}

std::span<const ShrinkStep> Elementwise::fine_steps() const {
  static const ShrinkStep steps[] = {{axis_count, smaller_axis}};
  return steps;
}

bool Elementwise::vary(Case& c, Generator& draw, std::uint64_t which) const {
  const int axes = axis_count(c);
  if (which > 1 || axes == 0) return false;
  const Int extent = 1 + static_cast<Int>(draw.below(40));
  c = resized(c, static_cast<int>(draw.below(static_cast<std::uint64_t>(axes))), extent);
  return true;
}

std::vector<Region> Elementwise::regions(const Case&, const Shape& output) const {
  const Int count = volume(output), body = count / 8 * 8;
  std::vector<Region> all;
  if (count < 2) return all;
  all.push_back({"in the last element", [=](const Shape& at) { return flat_index(output, at) == count - 1; }});
  all.push_back({"in the first element", [=](const Shape& at) { return flat_index(output, at) == 0; }});
  if (body > 0 && body < count) {
    all.push_back(
        {"past the last multiple of eight elements", [=](const Shape& at) { return flat_index(output, at) >= body; }});
    all.push_back({"before the tail", [=](const Shape& at) { return flat_index(output, at) < body; }});
  }
  return all;
}

const Family& one_family() {
  static const Elementwise family;
  return family;
}

}  // namespace assay::generators
