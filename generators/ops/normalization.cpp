// SPDX-License-Identifier: Apache-2.0
// LayerNormalization, RMSNormalization, GroupNormalization, InstanceNormalization, BatchNormalization and
// MeanVarianceNormalization: groups of one element, of two and of a thousand; scales of fewer axes, repeated along some
// and whole; an epsilon that is nothing and one that is large beside the variance.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>
#include <numeric>

namespace assay::generators {
namespace {

Recipe fill(DType) {
  if (chance(25))
    return {"lit", pick({"0.5,2.5,2.5,2.5,1.5,-0.5,-0.5,-0.5", "1,2,3,6", "3,3,3,3,1", "0,0,0,4", "99,101,100,100"})};
  return seeded(weighted<const char*>({{30, "normal"},
                                       {20, "small"},
                                       {15, "uniform"},
                                       {10, "cancel"},
                                       {5, "zerosum"},
                                       {5, "odd10"},
                                       {3, "logu"},
                                       {2, "subnormal"},
                                       {10, "special"}}));
}

Recipe fill_parameter() {
  if (chance(50)) return {"lit", pick({"1,2,3,4,-5", "0.5,-1,2", "1"})};
  return seeded(pick({"normal", "small", "special"}));
}

void parameter(Case& c, const std::string& name, DType type, Shape shape) {
  c.node.input(name, {type, std::move(shape)});
  c.sources[name] = {fill_parameter(), chance(60)};
}

void epsilon(Case& c) {
  if (chance(75)) c.node.attribute("epsilon", Attribute(pick({0.25F, 1.0F, 0.25F, 0.001F, 0.0F})));
}

Case begin(const Definition& definition, DType type, const Shape& shape) {
  Case c = moving(definition, type, shape);
  c.sources[definition.inputs.front().name].recipe = fill(type);
  epsilon(c);
  if (definition.attribute("stash_type")) write_default(c.node, definition, "stash_type", chance(12) ? 16 : 1, 1);
  return c;
}

// The shape of a scale: what is normalized, some of its last axes, some extents 1, one element, or all of X.
Shape draw_scale(const Shape& x, std::size_t axis) {
  Shape shape(x.begin() + static_cast<Int>(axis), x.end());
  if (chance(60)) return shape;
  if (chance(30)) shape = x;
  if (chance(50)) shape.erase(shape.begin(), shape.begin() + between(0, std::ssize(shape)));
  for (Int& extent : shape)
    if (chance(30)) extent = 1;
  return shape;
}

Case draw_last_axes(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(shape_strata - 1 - stratum % shape_strata);
  if (shape.empty()) shape = {between(1, 33)};
  if (chance(3)) shape.back() = pick<Int>({257, 500});
  Case c = begin(definition, type, shape);
  const Int rank = std::ssize(shape), axis = chance(60) ? rank - 1 : between(0, rank - 1);
  write_default(c.node, definition, "axis", chance(50) ? axis - rank : axis, -1);
  const Parameter& scale = definition.inputs[1];
  const DType of_scale = scale.type == "T" || chance(75) ? type : pick(definition.types_of(scale.type));
  parameter(c, scale.name, of_scale, draw_scale(shape, static_cast<std::size_t>(axis)));
  if (!definition.input("B")) return c;
  if (chance(70)) parameter(c, "B", type, draw_scale(shape, static_cast<std::size_t>(axis)));
  for (const char* const output : {"Mean", "InvStdDev"})
    if (chance(40)) c.node.output(output);
  return c;
}

Case draw_channels(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(shape_strata - 1 - stratum % shape_strata);
  while (shape.size() < 3 || (definition.constraint("I3") && shape.size() < 4)) shape.push_back(between(1, 5));
  if (definition.constraint("I3")) shape.resize(4);
  const Int groups = between(1, 3);
  const bool has_groups = definition.attribute("num_groups");
  if (has_groups) shape[1] = groups * between(chance(5) ? 0 : 1, 3);
  Case c = begin(definition, type, shape);
  const bool is_per_group = has_groups && definition.version.since_version < 21;
  if (has_groups) c.node.attribute("num_groups", Attribute(groups));
  if (definition.attribute("consumed_inputs") && chance(30)) c.node.attribute("consumed_inputs", Ints{between(0, 2)});
  for (const std::size_t k : {1, 2}) parameter(c, definition.inputs[k].name, type, {is_per_group ? groups : shape[1]});
  return c;
}

// Returns the shape of the parameters of BatchNormalization: one for each channel, or for each place of each.
Shape shape_of_statistics(const Case& c) {
  const Shape& x = shape_of(c);
  if (x.size() < 2) return {1};
  const bool is_spatial = !c.definition().attribute("spatial") || c.call().integer("spatial") != 0;
  return is_spatial ? Shape{x[1]} : Shape(x.begin() + 1, x.end());
}

Case draw_batch(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(shape_strata - 1 - stratum % shape_strata);
  const std::size_t least = definition.attribute("consumed_inputs") ? 4 : definition.attribute("spatial") ? 2 : 1;
  while (shape.size() < least) shape.push_back(between(1, 5));
  if (least == 4) shape.resize(4);
  const bool is_spatial = definition.attribute("is_test") || !definition.attribute("spatial") || chance(70);
  Case c = begin(definition, type, shape);
  if (definition.attribute("consumed_inputs")) c.node.attribute("consumed_inputs", Ints{0, 0, 0, 1, 1});
  if (!is_spatial) c.node.attribute("spatial", Attribute(Int{0}));
  const bool trains = chance(45);
  if (definition.attribute("is_test")) write_default(c.node, definition, "is_test", trains ? 0 : 1, 0);
  if (definition.attribute("training_mode")) write_default(c.node, definition, "training_mode", trains ? 1 : 0, 0);
  if (chance(70)) c.node.attribute("momentum", Attribute(pick({0.5F, 0.25F, 0.0F, 1.0F, 0.75F})));
  for (std::size_t k = 1; k < definition.outputs.size() && trains; ++k) c.node.output(definition.outputs[k].name);
  for (const std::size_t k : {1, 3}) {
    const std::vector<DType>& types = definition.types_of(definition.inputs[k].type);
    const DType of = definition.inputs[k].type == "T" || chance(70) ? type : pick(types);
    for (const std::size_t each : {k, k + 1}) parameter(c, definition.inputs[each].name, of, shape_of_statistics(c));
  }
  c.sources[definition.inputs[4].name].recipe = {"hold",
                                                 pick({"0.75,3.75,2,1", "1,2", "0.25,0.5,4,9,0.125", "0.75,0,-1,inf"})};
  return c;
}

void refit_batch(Case& c) {
  for (const Parameter& each : std::span(c.definition().inputs).subspan(1))
    if (c.node.inputs.contains(each.name)) shape_of(c, each.name) = shape_of_statistics(c);
}

Case draw_listed(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(shape_strata - 1 - stratum % shape_strata);
  if (shape.empty()) shape = {between(1, 33)};
  const Int rank = std::ssize(shape);
  Case c = moving(definition, type, shape);
  const bool shows_epsilon = (type == DType::f32 || type == DType::f64) && chance(15);
  c.sources["X"].recipe = shows_epsilon ? Recipe{"lit", pick({"1e-9,-1e-9", "0x1p-30,0x1p-31,0"})} : fill(type);
  Ints axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), Int{0});
  axes = any_order(axes, rank, chance(50));
  axes.resize(static_cast<std::size_t>(between(1, rank)));
  if (rank < 4 || chance(70)) c.node.attribute("axes", axes);
  return c;
}

// The parameters follow what is normalized; one of another rank or extent is made anew.
void refit(Case& c) {
  const Call call = c.call();
  const Definition& definition = c.definition();
  const Shape& x = shape_of(c);
  if (x.empty()) return;
  const bool has_axis = definition.attribute("axis");
  for (const Parameter& each : std::span(definition.inputs).subspan(1)) {
    if (!c.node.inputs.contains(each.name)) continue;
    Shape& shape = shape_of(c, each.name);
    if (!has_axis && x.size() > 1)
      shape = {definition.attribute("num_groups") && definition.version.since_version < 21
                   ? std::max<Int>(call.integer("num_groups"), 0)
                   : x[1]};
    if (!has_axis) continue;
    if (shape.size() > x.size()) shape.erase(shape.begin(), shape.end() - std::ssize(x));
    for (std::size_t k = 1; k <= shape.size(); ++k)
      if (shape[shape.size() - k] != 1) shape[shape.size() - k] = x[x.size() - k];
  }
}

bool parameter_changed(Case& c) {
  const std::string& name = c.definition().inputs[1].name;
  if (chance(20)) return remove_input(c, name), true;
  Shape& shape = shape_of(c, name);
  if (shape.empty() || chance(30))
    shape.push_back(2);
  else
    ++pick(shape);
  return true;
}

OperatorGenerator made(Case (*draw)(const Definition&, DType, std::uint64_t), Ranks ranks, void (*fit)(Case&) = refit) {
  OperatorGenerator made = placing_generator(draw, ranks, fit);
  made.damages.push_back({"a scale of another shape", parameter_changed});
  made.damages.push_back({"a negative epsilon", [](Case& c) { c.node.attribute("epsilon", Attribute(-0.5F)); }});
  made.damages.push_back({"another stash", [](Case& c) {
                            if (!c.definition().attribute("stash_type")) return false;
                            c.node.attribute("stash_type", Attribute(pick<Int>({0, 2, 10, 11})));
                            return true;
                          }});
  made.damages.push_back({"groups that do not divide the channels", [](Case& c) {
                            if (!c.definition().attribute("num_groups")) return false;
                            const Int groups = shape_of(c).size() > 1 ? shape_of(c)[1] + 1 : 2;
                            c.node.attribute("num_groups", Attribute(pick<Int>({0, groups, -1})));
                            refit(c);
                            return true;
                          }});
  return made;
}

}  // namespace

const OperatorGenerator& layer_normalization() {
  static const OperatorGenerator all = made(draw_last_axes, axes<1>);
  return all;
}
const OperatorGenerator& rms_normalization() { return layer_normalization(); }

const OperatorGenerator& instance_normalization() {
  static const OperatorGenerator all = made(draw_channels, [](const Definition& definition) {
    return std::pair<Int, Int>{definition.constraint("I3") ? 4 : 3, definition.constraint("I3") ? 4 : 7};
  });
  return all;
}
const OperatorGenerator& group_normalization() { return instance_normalization(); }

const OperatorGenerator& batch_normalization() {
  static const OperatorGenerator all = [] {
    const Ranks ranks = [](const Definition& definition) {
      return definition.attribute("consumed_inputs") ? std::pair<Int, Int>{4, 4}
                                                     : std::pair<Int, Int>{definition.attribute("spatial") ? 2 : 1, 7};
    };
    OperatorGenerator of = made(draw_batch, ranks, refit_batch);
    of.damages.push_back({"other outputs", [](Case& c) {
                            if (!c.node.outputs.empty())
                              c.node.outputs.erase(c.node.outputs.begin());
                            else
                              c.node.output(pick(c.definition().outputs).name);
                            return true;
                          }});
    of.damages.push_back({"another spatial", [](Case& c) {
                            if (!c.definition().attribute("spatial")) return false;
                            c.node.attribute("spatial", Attribute(pick<Int>({0, 2})));
                            refit_batch(c);
                            return true;
                          }});
    return of;
  }();
  return all;
}

const OperatorGenerator& mean_variance_normalization() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw_listed, axes<1>);
    made.damages.push_back({"no axes", [](Case& c) { c.node.attribute("axes", Ints{}); }});
    return made;
  }();
  return all;
}

}  // namespace assay::generators
