// SPDX-License-Identifier: Apache-2.0
// Resize: one or two axes made longer and shorter, by scales that are exact and to sizes that are not, in
// every mode; parts of X that are cropped, turned round and left. Upsample: axes made longer.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"
#include "reference/sequence.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::generators {
namespace {

std::vector<double> numbers(const Call& call, const char* input) {
  if (!call.has(input)) {
    const Reals stated = call.reals(input);
    return {stated.begin(), stated.end()};
  }
  const Tensor& data = *call.node().inputs.find(input)->second.data;
  return for_number(data.dtype(), [&]<class T>() {
    std::vector<double> all;
    for (const T value : data.as<T>()) all.push_back(static_cast<double>(value));
    return all;
  });
}

// Gives numbers under the name that the version has for them; of an input the type stays.
void give(Case& c, const char* name, const std::vector<double>& values, DType type = DType::f32) {
  if (c.definition().attribute(name)) {
    c.node.attribute(name, Reals(values.begin(), values.end()));
    return;
  }
  const auto before = c.sources.find(name);
  if (before != c.sources.end()) type = c.node.inputs.at(name).type.dtype;
  const bool is_constant = before == c.sources.end() ? chance(50) : before->second.initializer;
  c.node.input(name, {type, {std::ssize(values)}});
  c.sources[name] = {{"values", joined(values, ",", [](double each) { return decimal(static_cast<float>(each)); })},
                     is_constant};
}

bool transforms(const Definition& definition) { return definition.attribute("nearest_mode"); }

Shape draw_shape(std::uint64_t stratum) {
  if (chance(6)) return pick(std::vector<Shape>{{0, 2}, {1, 0, 3}, {0}, {1, 1, 0, 2}});
  if (chance(6)) return Shape(static_cast<std::size_t>(between(1, 5)), 1);
  switch (stratum % 8) {
    case 0: return {between(1, 9)};
    case 1: return {pick<Int>({100, 127, 60})};
    case 2: return {between(1, 5), between(1, 7)};
    case 3: return {1, between(1, 2), between(1, 7)};
    case 4: return {1, between(1, 2), between(1, 2), between(1, 4), between(1, 4)};
    default: return {between(1, 2), between(1, 2), between(1, 6), between(1, 7)};
  }
}

// The axes that are resized: the last one or two, seldom any.
std::vector<bool> draw_resized(std::size_t rank) {
  std::vector<bool> all(rank);
  const std::size_t count = std::min<std::size_t>(rank, chance(60) ? 2 : 1);
  for (std::size_t i = 0; i < count; ++i)
    all[chance(85) ? rank - 1 - i : static_cast<std::size_t>(between(0, std::ssize(all) - 1))] = true;
  return all;
}

double draw_scale() { return chance(50) ? pick({0.25, 0.5, 0.75, 0.5}) : pick({1.0, 1.25, 1.5, 2.0, 2.0, 3.0}); }

std::string draw_word(Case& c, const char* attribute) {
  const AttributeSpec* const spec = c.definition().attribute(attribute);
  if (!spec) return "";
  const std::string word = chance(35) ? spec->words.front() : pick(spec->words);
  if (word != spec->words.front() || chance(25)) c.node.attribute(attribute, Attribute(word));
  return word;
}

void draw_flags(Case& c, const std::string& mode) {
  const Definition& definition = c.definition();
  if (mode == "cubic" && chance(25)) c.node.attribute("exclude_outside", 1);
  if (mode == "cubic" && chance(25)) c.node.attribute("cubic_coeff_a", Attribute(-0.5F));
  if (mode != "nearest" && definition.attribute("antialias") && chance(25)) c.node.attribute("antialias", 1);
}

Ints numbered(const std::vector<bool>& resized) {
  Ints all;
  for (std::size_t axis = 0; axis < resized.size(); ++axis)
    if (resized[axis]) all.push_back(static_cast<Int>(axis));
  return all;
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  const Shape x = draw_shape(stratum);
  Case c = moving(definition, type, x);
  const std::string mode = is_float(type) || is_integer(type) ? draw_word(c, "mode") : "nearest";
  if (mode != "nearest")
    c.sources["X"].recipe = is_float(type) ? seeded(pick({"small", "normal", "uniform"})) : seeded("small");
  const std::vector<bool> resized = draw_resized(x.size());
  const bool lists_axes = definition.attribute("axes") && chance(40),
             takes_sizes = transforms(definition) && chance(45);
  Ints axes = numbered(lists_axes ? resized : std::vector<bool>(x.size(), true));
  if (lists_axes) c.node.attribute("axes", axes = any_order(axes, std::ssize(x)));
  std::vector<double> scales, roi(2 * axes.size(), 0);
  Ints sizes;
  const std::string how = transforms(definition) ? draw_word(c, "coordinate_transformation_mode") : "";
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>((axes[i] + std::ssize(x)) % std::ssize(x));
    scales.push_back(resized[axis] ? draw_scale() : 1);
    sizes.push_back(resized[axis] && x[axis] > 0 ? between(1, 9) : x[axis]);
    roi[i + axes.size()] = 1;
    if (!resized[axis] || chance(30)) continue;
    roi[i] = pick({0.0, 0.25, 0.5, -0.25, 1.0});
    roi[i + axes.size()] = pick({1.0, 0.75, 1.25, 0.0});
  }
  if (!transforms(definition)) {
    give(c, "scales", scales);
    return c;
  }
  draw_word(c, "nearest_mode");
  draw_flags(c, mode);
  const bool crops = how == "tf_crop_and_resize", is_required = definition.input("roi")->arity == Arity::required;
  if (crops) give(c, "roi", roi, pick(definition.types_of("T2")));
  if (!crops && (is_required || chance(20))) give(c, "roi", {}, pick(definition.types_of("T2")));
  if (!crops && !is_required && !c.node.inputs.contains("roi")) c.node.empty_input("roi");
  if (crops && chance(50) && type != DType::boolean && type != DType::string)
    c.node.attribute("extrapolation_value", Attribute(pick({-1.0F, 5.0F})));
  if (!takes_sizes) {
    give(c, "scales", scales);
    return c;
  }
  if (is_required)
    give(c, "scales", {});
  else
    c.node.empty_input("scales");
  state(c, "sizes", sizes);
  const bool is_empty = std::ranges::find(x, 0) != x.end();
  if (lists_axes && !is_empty) draw_word(c, "keep_aspect_ratio_policy");
  return c;
}

Case draw_upsample(const Definition& definition, DType type, std::uint64_t stratum) {
  const bool is_plane = definition.attribute("height_scale");
  Shape x = draw_shape(stratum);
  if (is_plane) x.resize(4, between(1, 6));
  Case c = moving(definition, type, x);
  if ((is_float(type) || is_integer(type)) && draw_word(c, "mode") != "nearest")
    c.sources["X"].recipe = is_float(type) ? seeded(pick({"small", "normal", "uniform"})) : seeded("small");
  const auto draw_factor = [] { return pick({1.0, 1.25, 1.5, 2.0, 2.0, 3.0}); };
  if (is_plane) {
    for (const char* name : {"height_scale", "width_scale"})
      c.node.attribute(name, Attribute(static_cast<float>(draw_factor())));
    return c;
  }
  std::vector<double> scales;
  for (const bool is_resized : draw_resized(x.size())) scales.push_back(is_resized ? draw_factor() : 1);
  give(c, "scales", scales);
  return c;
}

// Gives every list as many entries as there are axes.
void refit(Case& c) {
  const Int rank = std::ssize(shape_of(c));
  Ints axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), Int{0});
  if (c.node.attributes.contains("axes")) {
    axes = std::get<Ints>(c.node.attributes.at("axes"));
    std::erase_if(axes, [&](Int axis) { return axis < -rank || axis >= rank; });
    if (axes.empty()) axes = {rank - 1};
    c.node.attribute("axes", axes);
  }
  const auto fitted = [&](std::vector<double> list, double otherwise) {
    if (list.size() > axes.size()) list.erase(list.begin(), list.end() - std::ssize(axes));
    list.resize(axes.size(), otherwise);
    return list;
  };
  const Call call = c.call();
  if (call.states("scales") && !numbers(call, "scales").empty()) give(c, "scales", fitted(numbers(call, "scales"), 1));
  if (call.states("sizes") && !call.ints("sizes").empty()) {
    Ints sizes = call.ints("sizes");
    sizes.resize(axes.size(), 1);
    state(c, "sizes", sizes);
  }
  if (!call.states("roi") || numbers(call, "roi").empty()) return;
  std::vector<double> roi = fitted({}, 0);
  roi.resize(2 * axes.size(), 1);
  give(c, "roi", roi);
}

bool change_reals(Case& c, const char* name, void (*change)(std::vector<double>&)) {
  if (!c.call().states(name) || numbers(c.call(), name).empty()) return false;
  std::vector<double> values = numbers(c.call(), name);
  change(values);
  give(c, name, values);
  return true;
}

std::vector<Mutation> damages() {
  std::vector<Mutation> all;
  const auto add = [&](std::string_view what, const char* name, void (*change)(std::vector<double>&)) {
    all.push_back({what, [=](Case& c) { return change_reals(c, name, change); }});
  };
  add("a scale that is too small", "scales", [](std::vector<double>& s) { pick(s) = pick({0.0, -1.0, 0.5}); });
  add("a scale too many", "scales", [](std::vector<double>& s) { s.push_back(1); });
  add("a scale too few", "scales", [](std::vector<double>& s) { s.pop_back(); });
  add("an entry of roi too few", "roi", [](std::vector<double>& s) { s.pop_back(); });
  all.push_back({"an empty list", [](Case& c) {
                   if (!transforms(c.definition())) return false;
                   const bool has_sizes = c.call().states("sizes") && !c.call().ints("sizes").empty();
                   if (has_sizes)
                     give(c, "scales", {});
                   else
                     state(c, "sizes", {});
                   return true;
                 }});
  all.push_back({"both lists", [](Case& c) {
                   if (!transforms(c.definition()) || !c.call().states("sizes") || c.call().ints("sizes").empty())
                     return false;
                   give(c, "scales", std::vector<double>(c.call().ints("sizes").size(), 1));
                   return true;
                 }});
  all.push_back({"a list of lists", [](Case& c) {
                   const std::string name = pick({"scales", "sizes", "roi"});
                   if (!c.sources.contains(name)) return false;
                   Shape& shape = shape_of(c, name);
                   shape.insert(shape.begin(), 1);
                   return true;
                 }});
  all.push_back({"a mode for numbers", [](Case& c) {
                   c.node.attribute("mode", Attribute(c.definition().attribute("mode")->words[1]));
                   c.node.inputs.at("X").type.dtype = DType::boolean;
                   c.sources.at("X").recipe = seeded("full");
                   return true;
                 }});
  all.push_back({"antialias without weights", [](Case& c) {
                   if (!c.definition().attribute("antialias")) return false;
                   c.node.attributes.erase("mode");
                   c.node.attribute("antialias", 1);
                   return true;
                 }});
  all.push_back({"axes out of range or twice", [](Case& c) {
                   if (!c.definition().attribute("axes") || !c.node.attributes.contains("axes")) return false;
                   Ints axes = std::get<Ints>(c.node.attributes.at("axes"));
                   axes.back() = chance(50) ? std::ssize(shape_of(c)) : axes.front();
                   c.node.attribute("axes", axes);
                   return true;
                 }});
  all.push_back({"no axis at all", [](Case& c) {
                   shape_of(c).clear();
                   c.node.attributes.erase("axes");
                   return true;
                 }});
  all.push_back({"a list left out", [](Case& c) {
                   remove_input(c, pick({"scales", "roi"}));
                   return true;
                 }});
  all.push_back({"a word of no mode", [](Case& c) {
                   const auto words =
                       filtered(c.definition().attributes, [](auto& spec) { return !spec.words.empty(); });
                   c.node.attribute(pick(words).name, "round");
                   return true;
                 }});
  return all;
}

const OperatorGenerator& generator() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<1, 5>, refit);
    std::ranges::move(damages(), std::back_inserter(made.damages));
    return made;
  }();
  return all;
}

std::pair<Int, Int> axes_of_upsample(const Definition& definition) {
  return definition.attribute("height_scale") ? axes<4, 4>(definition) : axes<1, 5>(definition);
}

}  // namespace

const OperatorGenerator& resize() { return generator(); }

const OperatorGenerator& upsample() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw_upsample, axes_of_upsample, refit);
    std::ranges::move(damages(), std::back_inserter(made.damages));
    made.damages.push_back({"a scale of a plane that is too small", [](Case& c) {
                              if (!c.definition().attribute("height_scale")) return false;
                              const float scale = pick({0.0F, 0.5F});
                              c.node.attribute(pick({"height_scale", "width_scale"}), Attribute(scale));
                              return true;
                            }});
    made.damages.push_back({"a scale of another version", [](Case& c) {
                              if (c.definition().attribute("scales")) return false;
                              if (c.definition().input("scales"))
                                c.node.attribute("height_scale", Attribute(2.0F));
                              else
                                c.node.attribute("scales", Reals{1, 1, 2, 2});
                              return true;
                            }});
    return made;
  }();
  return all;
}

}  // namespace assay::generators
