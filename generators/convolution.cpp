// SPDX-License-Identifier: Apache-2.0
#include "generators/convolution.h"

#include "generators/draw.h"
#include "generators/families/window.h"
#include "reference/convolution.h"

#include <algorithm>
#include <utility>

namespace assay::generators {
namespace {

using enum WindowPattern;

enum class Empty { none, batch, channels, maps, input };

Channels draw_channels() {
  switch (weighted<int>({{45, 0}, {28, 1}, {27, 2}})) {
    case 1: {  // 1 < group < C
      const Int group = between(2, 3);
      return {group, between(2, 3), group * between(1, 2)};
    }
    case 2: {  // depthwise, with one map per channel or two
      const Int group = chance(22) ? between(8, 12) : between(2, 4);
      return {group, 1, group * between(1, 2)};
    }
    default: return {1, chance(14) ? between(8, 16) : between(1, 3), chance(8) ? between(8, 12) : between(1, 4)};
  }
}

constexpr std::uint64_t empty_every = 11;

Empty draw_empty(std::uint64_t stratum) {
  if (stratum % empty_every != 6) return Empty::none;
  return pick({Empty::batch, Empty::channels, Empty::maps, Empty::input});
}

Shape with_extents(Shape shape, const std::vector<Axis>& axes, Int Axis::*member) {
  for (const Axis& axis : axes) shape.push_back(axis.*member);
  return shape;
}

struct ConvInput {
  const char *ours, *conv;
  bool has_channels;
};

std::vector<ConvInput> conv_inputs(const Layout& layout) {
  return {{layout.x, "X", true}, {layout.w, "W", true}, {layout.b, "B", false}};
}

// A bias that a damage added has the type of X; ours may be another one.
DType bias_type(const Definition& definition, const char* bias, DType type) {
  const std::vector<DType>& admitted = definition.types_of(definition.input(bias)->type);
  return std::ranges::find(admitted, type) == admitted.end() ? admitted.front() : type;
}

// A new bias; its length is what the damage is about.
void give_bias(Case& c, Shape shape) {
  c.node.input("B", {c.node.inputs.at("X").type.dtype, std::move(shape)});
  c.sources["B"] = {{"small", "5"}, false};
}

// Groups that divide the channels and leave a map over.
void make_groups_uneven(Case& c) {
  const Int group = between(2, 3), depth = std::max<Int>(1, std::min<Int>(2, shape_of(c, "W")[1]));
  shape_of(c, "X")[1] = group * depth;
  shape_of(c, "W")[1] = depth;
  const Int whole = group * between(0, 1);
  shape_of(c, "W")[0] = whole + between(1, group - 1);
  c.node.attribute("group", Attribute(group));
  if (c.sources.contains("B")) shape_of(c, "B") = {shape_of(c, "W")[0]};
}

// Changes one spatial extent of W, and of kernel_shape where that is stated.
void set_kernel(Case& c, std::size_t axis, Int extent) {
  shape_of(c, "W")[axis + 2] = extent;
  if (const auto stated = c.node.attributes.find("kernel_shape"); stated != c.node.attributes.end())
    std::get<Ints>(stated->second)[axis] = extent;
}

std::size_t draw_kernel_axis(Case& c) {
  return static_cast<std::size_t>(between(0, static_cast<Int>(shape_of(c, "W").size()) - 3));
}

}  // namespace

const ShapeMix& conv_ground() {
  static const ShapeMix ground{
      {plain,          distinct_pads,  same_odd,      oversized_pads,   same_wide_stride, dilated,
       valid,          even_pads,      distinct_pads, same_dilated,     wide_stride,      same_odd,
       oversized_pads, plain,          same_plain,    same_wide_stride, same_dilated,     distinct_pads,
       same_strided,   oversized_pads, even_pads,     wide_stride,      same_wide_stride, oversized_pads},
      {30, 40, 22, 8},
      limits_of_rank};
  return ground;
}

Shape ConvShapes::x() const { return with_extents({batch, channels_in_all()}, geometry.axes, &Axis::in); }
Shape ConvShapes::w() const { return with_extents({channels.maps, channels.depth}, geometry.axes, &Axis::kernel); }

ConvShapes draw_conv_shapes(const ShapeMix& ground, std::uint64_t stratum) {
  const Empty empty = draw_empty(stratum);
  const WindowPattern theme = empty == Empty::input ? empty_input : ground.themes[stratum % ground.themes.size()];
  const Int rank =
      weighted<Int>({{ground.ranks[0], 1}, {ground.ranks[1], 2}, {ground.ranks[2], 3}, {ground.ranks[3], 4}});
  AxisLimits limits = ground.limits(rank);
  limits.ceil_mode = false;
  ConvShapes shapes{draw_geometry(theme, rank, limits), draw_channels(), 1};
  if (empty == Empty::channels) shapes.channels.depth = 0;
  if (empty == Empty::maps) shapes.channels.maps = 0;
  shapes.batch = empty == Empty::batch ? 0 : weighted<Int>({{65, 1}, {25, 2}, {10, 3}});
  return shapes;
}

std::uint64_t strata_of(const ShapeMix& ground) { return ground.themes.size() * empty_every; }

void write_conv_attributes(Node& node, const Definition& definition, const ConvShapes& shapes) {
  write_window(node, definition, shapes.geometry);
  if (chance(40)) node.attributes.erase("kernel_shape");
  write_default(node, definition, "group", shapes.channels.group, 1);
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

Case conv_of(const Case& c) {
  const std::optional<Layout>& layout = generator_of(c.version).layout;
  if (!layout) return pool_of(c);
  const bool is_last = c.call().has_channels_last();
  Case conv;
  conv.version = conv_definition().version;
  conv.opset = conv.version.since_version;
  for (const ConvInput& name : conv_inputs(*layout)) {
    const auto found = c.node.inputs.find(name.ours);
    if (found == c.node.inputs.end()) continue;
    Input input = found->second;
    if (is_last && name.has_channels) input.type.shape = channels_second(input.type.shape);
    conv.node.inputs[name.conv] = std::move(input);
    if (const auto source = c.sources.find(name.ours); source != c.sources.end())
      conv.sources[name.conv] = source->second;
  }
  for (const auto& [name, value] : c.node.attributes)
    if (conv.definition().attribute(name)) conv.node.attribute(name, value);
  return conv;
}

void stand_for(Case& c, const Case& conv) {
  const std::optional<Layout>& layout = generator_of(c.version).layout;
  if (!layout) {
    c = with_channels_as_in(c, conv);
    return;
  }
  const bool is_last = c.call().has_channels_last();
  for (const ConvInput& name : conv_inputs(*layout)) {
    remove_input(c, name.ours);
    if (!c.definition().input(name.ours)) continue;
    const auto found = conv.node.inputs.find(name.conv);
    if (found == conv.node.inputs.end()) continue;
    Input input = found->second;
    if (is_last && name.has_channels) input.type.shape = channels_last(input.type.shape);
    if (!name.has_channels && input.presence == Input::Presence::given)
      input.type.dtype = bias_type(c.definition(), name.ours, input.type.dtype);
    c.node.inputs[name.ours] = std::move(input);
    if (const auto source = conv.sources.find(name.conv); source != conv.sources.end())
      c.sources[name.ours] = source->second;
  }
  for (const AttributeSpec& spec : conv_definition().attributes) {
    if (!c.definition().attribute(spec.name)) continue;
    c.node.attributes.erase(spec.name);
    if (const auto found = conv.node.attributes.find(spec.name); found != conv.node.attributes.end())
      c.node.attribute(spec.name, found->second);
  }
}

Case pointwise(Case c) {
  const Layout layout = generator_of(c.version).layout.value();
  for (auto& [name, source] : c.sources) {
    if (name == layout.x || name == layout.w || name == layout.b || source.recipe.family != "hold") continue;
    source.recipe.argument.resize(std::min(source.recipe.argument.find(','), source.recipe.argument.size()));
    c.node.inputs.at(name).type.shape = {};
  }
  Case conv = conv_of(c);
  Shape &x = shape_of(conv, "X"), &w = shape_of(conv, "W");
  for (std::size_t axis = 2; axis < w.size(); ++axis) {
    x[1] *= w[axis];
    w[1] *= std::exchange(w[axis], 1);
  }
  conv.node.attributes.erase("kernel_shape");
  stand_for(c, conv);
  return c;
}

Shape channels_last(const Shape& second) {
  Shape last = second;
  if (last.size() > 2) std::rotate(last.begin() + 1, last.begin() + 2, last.end());
  return last;
}

Shape channels_second(const Shape& last) {
  Shape second = last;
  if (second.size() > 2) std::rotate(second.begin() + 1, second.end() - 1, second.end());
  return second;
}

Int conv_cost(const Case& c) {
  const Shape w = conv_of(c).node.inputs.at("W").type.shape;
  return volume(c.definition().shape(c.call())) * (volume(w) / std::max<Int>(1, w[0]));
}

const std::vector<Mutation>& conv_damages() {
  static const std::vector<Mutation> damages{
      {"no spatial axis",
       [](Case& c) {
         shape_of(c, "X").resize(2);
         shape_of(c, "W").resize(2);
         for (const char* list : {"kernel_shape", "strides", "dilations", "pads"}) c.node.attributes.erase(list);
       }},
      {"W has an axis more",
       [](Case& c) {
         shape_of(c, "W").push_back(1);
         c.node.attributes.erase("kernel_shape");
       }},
      {"W has an axis less",
       [](Case& c) {
         if (!c.node.attributes.contains("kernel_shape")) return false;  // its default follows W
         shape_of(c, "W").pop_back();
         return true;
       }},
      {"X has a channel more", [](Case& c) { ++shape_of(c, "X")[1]; }},
      {"X has a channel less", [](Case& c) { return shape_of(c, "X")[1]-- > 1; }},
      // "FILTER_IN_CHANNEL equals DATA_CHANNEL", the other half of the sentence in Conv-1 (A32).
      {"W has all channels", [](Case& c) { shape_of(c, "W")[1] = shape_of(c, "X")[1]; }},
      {"a bias too long", [](Case& c) { give_bias(c, {shape_of(c, "W")[0] + 1}); }},
      {"a bias too short",
       [](Case& c) {
         const Int maps = shape_of(c, "W")[0];
         give_bias(c, {maps - 1});
         return maps >= 1;
       }},
      {"a bias of one", [](Case& c) { give_bias(c, {1}); }},
      {"a bias of rank 2",
       [](Case& c) {
         give_bias(c, {1, shape_of(c, "W")[0]});
       }},
      {"a bias of rank 0", [](Case& c) { give_bias(c, {}); }},
      {"groups that leave a map over", make_groups_uneven},
      {"no group", [](Case& c) { c.node.attribute("group", Attribute(-between(0, 1))); }},
      {"another kernel_shape",
       [](Case& c) {
         const Shape& w = shape_of(c, "W");
         Ints kernel(w.begin() + 2, w.end());
         pick(kernel) += pick({1, -1});
         c.node.attribute("kernel_shape", std::move(kernel));
       }},
      {"kernel_shape reversed",
       [](Case& c) {
         const Shape& w = shape_of(c, "W");
         c.node.attribute("kernel_shape", Ints(w.rbegin(), w.rend() - 2));
       }},
      {"an empty kernel", [](Case& c) { set_kernel(c, draw_kernel_axis(c), 0); }},
      {"a kernel too large",
       [](Case& c) {
         const std::size_t axis = draw_kernel_axis(c);
         set_kernel(c, axis, shape_of(c, "W")[axis + 2] + between(1, 5));
       }},
      {"no W",
       [](Case& c) {
         remove_input(c, "W");
         remove_input(c, "B");
       }},
      {"W of another type", [](Case& c) {
         DType& type = c.node.inputs.at("W").type.dtype;
         type = type == DType::f32 ? DType::f64 : DType::f32;
       }}};
  return damages;
}

}  // namespace assay::generators
