// SPDX-License-Identifier: Apache-2.0
// Pools: every window theme, above all ceil_mode with padding and dilation, where the standard's own reference errs
// (spec 0.2), and where an operator has them count_include_pad, storage_order and the place of what was chosen.

#include "generators/convolution.h"
#include "generators/draw.h"
#include "generators/families/product.h"
#include "generators/families/window.h"
#include "generators/shapes.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

using enum WindowPattern;

// One stratum each. A version without ceil_mode or dilations takes the neighbour before.
const std::vector<WindowPattern> themes{same_wide_stride, overhang,       distinct_pads,  trailing_many,
                                        same_odd,         short_input,    oversized_pads, trailing_one,
                                        same_wide_stride, overhang,       valid,          trailing_many,
                                        same_dilated,     short_input,    plain,          short_input,
                                        same_plain,       even_pads,      overhang,       same_strided,
                                        trailing_many,    dilated,        short_input,    valid,
                                        trailing_many,    oversized_pads, short_input};

WindowPattern theme_of(std::uint64_t stratum, const Definition& definition) {
  const auto is_known = [&](WindowPattern theme) {
    if (theme >= overhang) return definition.attribute("ceil_mode") != nullptr;
    return (theme != dilated && theme != same_dilated) || definition.attribute("dilations") != nullptr;
  };
  std::size_t at = stratum % themes.size();
  while (!is_known(themes[at])) --at;
  return themes[at];
}

// Writes the power of a norm, where there is one: whole, or real in the first version.
void write_power(Node& node, const Definition& definition) {
  const AttributeSpec* const power = definition.attribute("p");
  if (!power || chance(15)) return;
  if (power->kind == AttributeSpec::Kind::real)
    node.attribute("p", Attribute(pick({1.0F, 2.0F, 3.0F, 2.5F, 0.5F})));
  else
    node.attribute("p", pick({1, 1, 2, 2, 3, 7}));
}

// Powers of large numbers overflow, and show nothing.
Recipe draw_norm_fill(const SumOfProducts& sum) {
  return chance(25) ? draw_average_fill(sum) : seeded(pick({"normal", "small", "uniform", "sign", "quarter"}));
}

// Gives X, whose channels stand second in `shape`, and what quantizes it: scales of which the ratio is a power of two
// as often as not, so that ties are ties.
void give_data(Case& c, DType type, Shape shape, Recipe recipe) {
  const Definition& definition = c.definition();
  if (definition.attribute("channels_last")) write_default(c.node, definition, "channels_last", chance(40) ? 1 : 0, 0);
  c.node.input("X", {type, c.call().has_channels_last() ? channels_last(shape) : std::move(shape)});
  c.sources["X"] = {std::move(recipe), false};
  if (!definition.input("x_scale")) return;
  for (const std::string of : {"x", "y"}) {
    const Recipe step{"hold", pick({"1", "0.5", "0.25", "0.5", "2", "0.1", "0.3", "3"})};
    c.node.input(of + "_scale", {DType::f32, {}});
    c.sources[of + "_scale"] = {step, chance(50)};
    const std::string name = of + "_zero_point";
    const Recipe zero_point = draw_zero_point(type, true);
    const bool is_required = definition.input(name)->arity == Arity::required;
    if (!is_required) give_or_not(c, name, {type, {}}, zero_point);
    if (is_required) c.node.input(name, {type, {}});
    if (is_required) c.sources[name] = {zero_point, chance(50)};
  }
  if (!c.node.inputs.contains("x_zero_point")) c.node.empty_input("x_zero_point");
}

// Draws a pool of one window theme; `fill` makes the data for so many taps.
template <auto fill>
Case draw_pool(const Definition& definition, DType type, std::uint64_t stratum) {
  const bool has_empty = stratum % 13 == 6;
  const int which = has_empty ? pick({0, 1, 2}) : -1;  // batch, channels, an axis of the input
  const WindowPattern theme = which == 2 ? empty_input : theme_of(stratum, definition);
  const Int rank = weighted<Int>({{30, 1}, {42, 2}, {20, 3}, {8, 4}});
  AxisLimits limits = limits_of_rank(rank);
  limits.ceil_mode = definition.attribute("ceil_mode") != nullptr;
  limits.dilations = definition.attribute("dilations") != nullptr;
  const Geometry geometry = draw_geometry(theme, rank, limits);

  Case c = blank(definition);
  write_window(c.node, definition, geometry);
  if (definition.attribute("count_include_pad"))
    write_default(c.node, definition, "count_include_pad", chance(50) ? 1 : 0, 0);

  if (definition.attribute("storage_order")) write_default(c.node, definition, "storage_order", chance(40) ? 1 : 0, 0);
  write_power(c.node, definition);
  for (const Parameter& output : definition.outputs)
    if (output.arity == Arity::optional && chance(60)) c.node.output(output.name);

  Shape shape{which == 0 ? 0 : weighted<Int>({{60, 1}, {28, 2}, {12, 3}}),
              which == 1 ? 0 : (chance(12) ? between(8, 16) : between(1, 3))};
  for (const Axis& axis : geometry.axes) shape.push_back(axis.in);
  give_data(c, type, std::move(shape), fill(SumOfProducts{type, taps(geometry), false}));
  return c;
}

Int pool_cost(const Case& c) { return volume(c.definition().shape(c.call())) * volume(c.call().ints("kernel_shape")); }

Ints& kernel_of(Case& c) { return std::get<Ints>(c.node.attributes.at("kernel_shape")); }

// Returns the generator of a pool of quantized numbers.
OperatorGenerator quantized(OperatorGenerator pool) {
  pool.damages.push_back({"a scale of one axis", [](Case& c) {
                            if (!c.sources.contains("x_scale")) return false;
                            shape_of(c, pick({"x_scale", "y_scale"})) = {1};
                            return true;
                          }});
  pool.damages.push_back({"no scale of Y", [](Case& c) {
                            remove_input(c, "y_scale");
                            remove_input(c, "y_zero_point");
                          }});
  return pool;
}

// Returns the generator of a pool that is drawn so.
OperatorGenerator pool_generator(Case (*draw)(const Definition&, DType, std::uint64_t)) {
  return {draw,
          351,  // every theme meets every empty axis: 27 * 13
          pool_cost,
          {{"no spatial axis",
            [](Case& c) {
              shape_of(c, "X").resize(2);
              c.node.attribute("kernel_shape", Ints{});
              for (const char* list : {"strides", "dilations", "pads"}) c.node.attributes.erase(list);
            }},
           {"no kernel_shape", [](Case& c) { return c.node.attributes.erase("kernel_shape") > 0; }},
           {"an empty kernel", [](Case& c) { kernel_of(c).back() = -between(0, 1); }},
           {"a kernel too large", [](Case& c) { kernel_of(c).front() += between(1, 8); }},
           {"kernel_shape too long", [](Case& c) { kernel_of(c).push_back(1); }}}};
}

// Draws a pool over whole planes, of every number of axes and lengths around those of vector registers.
template <auto fill>
Case draw_global(const Definition& definition, DType type, std::uint64_t stratum) {
  const bool is_quantized = definition.input("x_scale") != nullptr;  // of no cell there is no code
  const Int rank = std::max<Int>(is_quantized ? 1 : 0, static_cast<Int>(stratum % 5));
  int empty = -1;  // batch, channels, an axis
  if (stratum % 11 == 6) empty = is_quantized ? pick({0, 1}) : pick({0, 1, 2});
  Shape shape{empty == 0 ? 0 : between(1, 3), empty == 1 ? 0 : weighted<Int>({{80, between(1, 4)}, {20, 9}})};
  for (Int axis = 0; axis < rank; ++axis)
    shape.push_back(rank == 1 && chance(50) ? pick<Int>({15, 16, 17, 33, 64, 257}) : between(1, rank < 3 ? 8 : 4));
  if (empty == 2 && rank > 0) shape.back() = 0;
  Case c = blank(definition);
  write_power(c.node, definition);
  const Int plane = volume(std::span(shape).subspan(2));
  give_data(c, type, std::move(shape), fill(SumOfProducts{type, std::max<Int>(1, plane), false}));
  return c;
}

// Returns the generator of a pool over whole planes.
OperatorGenerator global_generator(Case (*draw)(const Definition&, DType, std::uint64_t)) {
  return {.draw = draw,
          .strata = 55,
          .cost = [](const Case& c) { return volume(shape_of(c)); },
          .damages = {{"no channels", [](Case& c) { shape_of(c).resize(1); }}}};
}

Recipe draw_selected_fill(const SumOfProducts& sum) { return draw_selection_fill(sum.type); }
Recipe draw_codes(const SumOfProducts&) { return draw_bytes(); }

}  // namespace

Case pool_of(const Case& c) {
  Case pool = c;
  if (!c.call().has_channels_last()) return pool;
  if (const auto x = pool.node.inputs.find("X"); x != pool.node.inputs.end())
    x->second.type.shape = channels_second(x->second.type.shape);
  pool.node.attributes.erase("channels_last");
  if (c.version.name == "NhwcMaxPool") pool.version = {"", "MaxPool", 12};
  pool.opset = std::max(pool.opset, pool.version.since_version);
  return pool;
}

Case with_channels_as_in(const Case& c, Case pool) {
  if (!c.call().has_channels_last()) return pool;
  if (const auto x = pool.node.inputs.find("X"); x != pool.node.inputs.end())
    x->second.type.shape = channels_last(x->second.type.shape);
  if (const auto said = c.node.attributes.find("channels_last"); said != c.node.attributes.end())
    pool.node.attribute("channels_last", said->second);
  pool.version = c.version;
  pool.opset = c.opset;
  return pool;
}

const OperatorGenerator& average_pool() {
  static const OperatorGenerator generator = pool_generator(draw_pool<draw_average_fill>);
  return generator;
}

const OperatorGenerator& global_average_pool() {
  static const OperatorGenerator generator = global_generator(draw_global<draw_average_fill>);
  return generator;
}

const OperatorGenerator& qlinear_average_pool() {
  static const OperatorGenerator generator = quantized(pool_generator(draw_pool<draw_codes>));
  return generator;
}

const OperatorGenerator& qlinear_global_average_pool() {
  static const OperatorGenerator generator = quantized(global_generator(draw_global<draw_codes>));
  return generator;
}

const OperatorGenerator& global_max_pool() {
  static const OperatorGenerator generator = global_generator(draw_global<draw_selected_fill>);
  return generator;
}

// With a power that makes no norm.
static OperatorGenerator of_norms(OperatorGenerator all) {
  all.damages.push_back({"a power of 0 or less", [](Case& c) {
                           const bool is_real = c.definition().attribute("p")->kind == AttributeSpec::Kind::real;
                           c.node.attribute("p", is_real ? Attribute(pick({0.0F, -1.0F})) : Attribute(-between(0, 1)));
                         }});
  return all;
}

const OperatorGenerator& lp_pool() {
  static const OperatorGenerator generator = of_norms(pool_generator(draw_pool<draw_norm_fill>));
  return generator;
}

const OperatorGenerator& global_lp_pool() {
  static const OperatorGenerator generator = of_norms(global_generator(draw_global<draw_norm_fill>));
  return generator;
}

const OperatorGenerator& selecting_pool() {
  static const OperatorGenerator generator = [] {
    OperatorGenerator all = pool_generator(draw_pool<draw_selected_fill>);
    all.damages.push_back({"an unknown storage_order", [](Case& c) {
                             if (!c.definition().attribute("storage_order")) return false;
                             c.node.attribute("storage_order", Attribute(pick({Int{2}, Int{-1}})));
                             return true;
                           }});
    return all;
  }();
  return generator;
}

}  // namespace assay::generators
