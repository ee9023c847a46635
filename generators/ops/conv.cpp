// SPDX-License-Identifier: Apache-2.0
// Questions about Conv: every window theme, with one group, some groups or one group per channel, and the bias given,
// left out or named "".
#include "generators/draw.h"
#include "generators/questions.h"
#include "generators/shapes.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {

const Questions& conv();

namespace {

using enum Theme;

// One stratum each; padding rules where backends are known to err stand more than once.
const std::vector<Theme> themes{plain,         distinct_pads,  same_odd,       oversized_pads,   same_wide_stride,
                                dilated,       valid,          distinct_pads,  same_dilated,     wide_stride,
                                same_odd,      oversized_pads, plain,          same_wide_stride, same_dilated,
                                distinct_pads, same_strided,   oversized_pads, wide_stride,      same_wide_stride};

enum class Empty { none, batch, channels, maps, input };

struct Channels {
  Int group = 1, depth = 1, maps = 1;  // maps in all
};

Channels draw_channels() {
  switch (weighted<int>({{45, 0}, {28, 1}, {27, 2}})) {
    case 1: {  // 1 < group < C
      const Int group = between(2, 3);
      return {group, between(2, 3), group * between(1, 2)};
    }
    case 2: {  // depthwise, with one map per channel or two
      const Int group = between(2, 4);
      return {group, 1, group * between(1, 2)};
    }
    default: return {1, chance(14) ? between(8, 16) : between(1, 3), chance(8) ? between(8, 12) : between(1, 4)};
  }
}

// Every eleventh case has an axis of no extent.
Empty draw_empty(std::uint64_t stratum) {
  if (stratum % 11 != 6) return Empty::none;
  return pick({Empty::batch, Empty::channels, Empty::maps, Empty::input});
}

Shape with_extents(Shape shape, const std::vector<Axis>& axes, Int Axis::*member) {
  for (const Axis& axis : axes) shape.push_back(axis.*member);
  return shape;
}

void write_bias(Case& c, DType type, Int maps, const Recipe& recipe, bool constant_weights) {
  switch (weighted<int>({{35, 0}, {12, 1}, {53, 2}})) {
    case 0: return;
    case 1: c.node.empty_input("B"); return;
    default:
      c.node.input("B", {type, {maps}});
      c.sources["B"] = {recipe, chance(85) ? constant_weights : !constant_weights};
  }
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  const Empty empty = draw_empty(stratum);
  const Theme theme = empty == Empty::input ? empty_input : themes[stratum % themes.size()];
  const Int rank = weighted<Int>({{30, 1}, {40, 2}, {22, 3}, {8, 4}});
  Limits limits = limits_of_rank(rank);
  limits.ceil_mode = false;
  const Geometry geometry = draw_geometry(theme, rank, limits);
  Channels channels = draw_channels();
  if (empty == Empty::channels) channels.depth = 0;
  if (empty == Empty::maps) channels.maps = 0;
  const Int batch = empty == Empty::batch ? 0 : weighted<Int>({{65, 1}, {25, 2}, {10, 3}});

  Case c = blank(definition);
  write_window(c.node, definition, geometry);
  if (chance(40)) c.node.attributes.erase("kernel_shape");
  write_default(c.node, definition, "group", channels.group, 1);

  const ConvolutionFill data = draw_convolution_fill({type, channels.depth * taps(geometry) + 1, true});
  const bool constant_weights = chance(50);
  c.node.input("X", {type, with_extents({batch, channels.depth * channels.group}, geometry.axes, &Axis::in)});
  c.node.input("W", {type, with_extents({channels.maps, channels.depth}, geometry.axes, &Axis::kernel)});
  c.sources["X"] = {data.x, false};
  c.sources["W"] = {data.w, constant_weights};
  write_bias(c, type, channels.maps, data.b, constant_weights);
  return c;
}

Int cost(const Case& c) {
  const Call call = c.call();
  return volume(c.definition().shape(call)) * (volume(call.shape("W")) / std::max<Int>(1, call.dim("W", 0)));
}

Shape& shape_of(Case& c, const char* input) { return c.node.inputs.at(input).type.shape; }

// A new bias; its length is what the damage is about.
void give_bias(Case& c, Shape shape) {
  c.node.input("B", {c.node.inputs.at("X").type.dtype, std::move(shape)});
  c.sources["B"] = {{"small", "5"}, false};
}

bool flatten(Case& c) {
  shape_of(c, "X").resize(2);
  shape_of(c, "W").resize(2);
  for (const char* list : {"kernel_shape", "strides", "dilations", "pads"}) c.node.attributes.erase(list);
  return true;
}

bool widen_w(Case& c) {
  shape_of(c, "W").push_back(1);
  return !c.node.attributes.contains("kernel_shape") || c.node.attributes.erase("kernel_shape");
}

bool narrow_w(Case& c) {
  if (!c.node.attributes.contains("kernel_shape")) return false;  // its default follows W
  shape_of(c, "W").pop_back();
  return true;
}

bool add_channel(Case& c) { return ++shape_of(c, "X")[1]; }

bool drop_channel(Case& c) { return shape_of(c, "X")[1]-- > 1; }

// "FILTER_IN_CHANNEL equals DATA_CHANNEL", the other half of the sentence in Conv-1 (A32).
bool fill_w_channels(Case& c) {
  shape_of(c, "W")[1] = shape_of(c, "X")[1];
  return true;
}

bool lengthen_bias(Case& c) {
  give_bias(c, {shape_of(c, "W")[0] + 1});
  return true;
}

bool shorten_bias(Case& c) {
  const Int maps = shape_of(c, "W")[0];
  give_bias(c, {maps - 1});
  return maps >= 1;
}

bool broadcast_bias(Case& c) {
  give_bias(c, {1});
  return true;
}

bool bias_row(Case& c) {
  give_bias(c, {1, shape_of(c, "W")[0]});
  return true;
}

bool bias_scalar(Case& c) {
  give_bias(c, {});
  return true;
}

// Groups that divide the channels and leave a map over.
bool uneven_groups(Case& c) {
  const Int group = between(2, 3), depth = std::max<Int>(1, std::min<Int>(2, shape_of(c, "W")[1]));
  shape_of(c, "X")[1] = group * depth;
  shape_of(c, "W")[1] = depth;
  shape_of(c, "W")[0] = group * between(0, 1) + between(1, group - 1);
  c.node.attribute("group", Attribute(group));
  if (c.sources.contains("B")) shape_of(c, "B") = {shape_of(c, "W")[0]};
  return true;
}

bool no_group(Case& c) {
  c.node.attribute("group", Attribute(-between(0, 1)));
  return true;
}

bool other_kernel_shape(Case& c) {
  const Shape& w = shape_of(c, "W");
  Ints kernel(w.begin() + 2, w.end());
  kernel[static_cast<std::size_t>(between(0, static_cast<Int>(kernel.size()) - 1))] += pick({1, -1});
  c.node.attribute("kernel_shape", std::move(kernel));
  return true;
}

bool reversed_kernel_shape(Case& c) {
  const Shape& w = shape_of(c, "W");
  c.node.attribute("kernel_shape", Ints(w.rbegin(), w.rend() - 2));
  return true;
}

bool empty_kernel(Case& c) {
  const Int rank = static_cast<Int>(shape_of(c, "W").size()) - 2;
  const auto axis = static_cast<std::size_t>(between(0, rank - 1));
  shape_of(c, "W")[axis + 2] = 0;
  if (const auto stated = c.node.attributes.find("kernel_shape"); stated != c.node.attributes.end())
    std::get<Ints>(stated->second)[axis] = 0;
  return true;
}

bool large_kernel(Case& c) {
  const Int rank = static_cast<Int>(shape_of(c, "W").size()) - 2;
  const auto axis = static_cast<std::size_t>(between(0, rank - 1));
  shape_of(c, "W")[axis + 2] += between(1, 5);
  if (const auto stated = c.node.attributes.find("kernel_shape"); stated != c.node.attributes.end())
    std::get<Ints>(stated->second)[axis] = shape_of(c, "W")[axis + 2];
  return true;
}

bool without_w(Case& c) {
  for (const char* input : {"W", "B"}) {
    c.node.inputs.erase(input);
    c.sources.erase(input);
  }
  return true;
}

bool w_of_another_type(Case& c) {
  DType& type = c.node.inputs.at("W").type.dtype;
  type = type == DType::f32 ? DType::f64 : DType::f32;
  return true;
}

}  // namespace

const Questions& conv() {
  static const Questions questions{draw,
                                   220,  // every theme meets every empty axis: 20 * 11
                                   cost,
                                   {{"no spatial axis", flatten},
                                    {"W has an axis more", widen_w},
                                    {"W has an axis less", narrow_w},
                                    {"X has a channel more", add_channel},
                                    {"X has a channel less", drop_channel},
                                    {"W has all channels", fill_w_channels},
                                    {"a bias too long", lengthen_bias},
                                    {"a bias too short", shorten_bias},
                                    {"a bias of one", broadcast_bias},
                                    {"a bias of rank 2", bias_row},
                                    {"a bias of rank 0", bias_scalar},
                                    {"groups that leave a map over", uneven_groups},
                                    {"no group", no_group},
                                    {"another kernel_shape", other_kernel_shape},
                                    {"kernel_shape reversed", reversed_kernel_shape},
                                    {"an empty kernel", empty_kernel},
                                    {"a kernel too large", large_kernel},
                                    {"no W", without_w},
                                    {"W of another type", w_of_another_type}}};
  return questions;
}

}  // namespace assay::generators
