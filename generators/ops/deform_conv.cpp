// SPDX-License-Identifier: Apache-2.0
// OperatorGenerator about DeformConv: group and offset_group drawn apart, mask and bias given, left out or named "",
// and samples on cells, between them, on the borders, beside them and far away.
#include "generators/convolution.h"
#include "generators/draw.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>
#include <cmath>

namespace assay::generators {
namespace {

using enum WindowPattern;

// Every tap reads 2^r cells per axis r, and the answer is exact: small planes, which also puts samples on borders.
AxisLimits small_limits(Int rank) {
  switch (rank) {
    case 1: return {.extent = 8, .kernel = 3, .out = 5};
    case 2: return {.extent = 5, .kernel = 2, .out = 3};
    default: return {.extent = 4, .kernel = 2, .out = 2};
  }
}

// There is no auto_pad.
const ShapeMix& ground() {
  static const ShapeMix explicit_padding{{plain, distinct_pads, dilated, oversized_pads, even_pads, wide_stride, plain,
                                          distinct_pads, wide_stride, dilated},
                                         {30, 50, 20, 0},
                                         small_limits};
  return explicit_padding;
}

// Displaced samples miss a plane of one cell nearly always, and leave nothing but zeros; one axis of one cell they
// meet often enough.
void widen(Geometry& geometry) {
  bool may_stay = chance(30);
  for (Axis& axis : geometry.axes) {
    if (axis.in != 1) continue;
    if (!may_stay) axis.in = between(2, 3);
    may_stay = false;
  }
}

// Any divisor of the channels, whatever the group is.
Int draw_offset_group(Int channels) {
  std::vector<Int> divisors;
  for (Int d = 1; d <= std::max<Int>(1, channels); ++d)
    if (channels % d == 0) divisors.push_back(d);
  return chance(30) ? 1 : pick(divisors);
}

// Where the samples go; the quarters keep everything exact.
Recipe draw_offset() {
  return seeded(
      weighted<const char*>({{50, "quarter"}, {18, "brink"}, {14, "astray"}, {12, "normal"}, {6, "uniform"}}));
}

Recipe draw_mask() {
  return seeded(weighted<const char*>({{30, "small"}, {20, "quarter"}, {15, "sign"}, {15, "pow2"}, {20, "uniform"}}));
}

// N x (offset_group * taps * per_tap) x O…
Shape displacement_shape(const ConvShapes& shapes, const Shape& windows, Int offset_group, Int per_tap) {
  Shape shape{shapes.batch, offset_group * taps(shapes.geometry) * per_tap};
  shape.insert(shape.end(), windows.begin(), windows.end());
  return shape;
}

// The mask is the last input: a bias that is not given is then named "".
void write_mask(Case& c, TensorType type) {
  switch (weighted<int>({{35, 0}, {12, 1}, {53, 2}})) {
    case 0: return;
    case 1: c.node.empty_input("mask"); break;
    default: c.node.input("mask", std::move(type)); c.sources["mask"] = {draw_mask(), chance(15)};
  }
  if (!c.node.inputs.contains("B")) c.node.empty_input("B");
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  ConvShapes shapes = draw_conv_shapes(ground(), stratum);
  widen(shapes.geometry);
  const Int offset_group = draw_offset_group(shapes.channels_in_all());
  Case c = blank(definition);
  write_conv_attributes(c.node, definition, shapes);
  write_default(c.node, definition, "offset_group", offset_group, 1);

  const ConvolutionFill data = draw_convolution_fill({type, shapes.terms() << shapes.geometry.axes.size(), true});
  const bool constant_weights = chance(50);
  c.node.input("X", {type, shapes.x()}).input("W", {type, shapes.w()});
  c.sources["X"] = {data.x, false};
  c.sources["W"] = {data.w, constant_weights};
  const Shape windows = Window::of(conv_of(c).call()).output();
  const auto axes = static_cast<Int>(windows.size());
  if (std::ranges::any_of(windows, [](Int extent) { return extent < 1; })) return c;  // not legal, drawn again
  c.node.input("offset", {type, displacement_shape(shapes, windows, offset_group, axes)});
  c.sources["offset"] = {draw_offset(), chance(12)};
  write_bias(c, type, shapes.channels.maps, data.b, constant_weights);
  write_mask(c, {type, displacement_shape(shapes, windows, offset_group, 1)});
  return c;
}

// Elementary products: every tap reads 2^r corners.
Int cost(const Case& c) { return conv_cost(c) << (c.call().rank("X") - 2); }

Int channels_of(Case& c) { return shape_of(c, "X").at(1); }

// Rewrites offset and mask for another offset_group.
void regroup(Case& c, Int offset_group) {
  const Int before = c.call().integer("offset_group");
  for (const char* input : {"offset", "mask"})
    if (c.sources.contains(input)) shape_of(c, input)[1] = shape_of(c, input)[1] / before * offset_group;
  c.node.attribute("offset_group", Attribute(offset_group));
}

void change_window(Case& c, const char* input) {
  Shape& shape = shape_of(c, input);
  Int& extent = shape[static_cast<std::size_t>(between(2, static_cast<Int>(shape.size()) - 1))];
  extent = extent > 1 && chance(50) ? extent - 1 : extent + 1;
}

void give_mask(Case& c) {
  if (c.sources.contains("mask")) return;
  const TensorType offset = c.node.inputs.at("offset").type;
  c.node.input("mask", offset);
  shape_of(c, "mask")[1] /= c.call().rank("X") - 2;
  c.sources["mask"] = {{"small", "6"}, false};
  if (!c.node.inputs.contains("B")) c.node.empty_input("B");
}

// Offset and mask of another Conv; left alone where there are no windows.
void refit(Case& c) {
  Case conv = conv_of(c);
  for (auto& [name, input] : conv.node.inputs) input.type.dtype = DType::f32;  // Conv-11 does not have them all
  if (!conv.is_legal()) return;
  const Window window = Window::of(conv.call());
  const Shape out = window.output();
  const Int rows = c.call().integer("offset_group") * window.taps();
  for (const auto& [input, per_tap] : {std::pair{"offset", static_cast<Int>(out.size())}, std::pair{"mask", Int{1}}}) {
    if (!c.sources.contains(input)) continue;
    Shape& shape = shape_of(c, input);
    shape = {conv.call().dim("X", 0), rows * per_tap};
    shape.insert(shape.end(), out.begin(), out.end());
  }
}

// Calls f(coordinate, extent) for every coordinate of data set 0, as a double: what f64 rounds away no trait asks for.
template <class F>
void for_each_coordinate(const Case& c, F&& f) {
  const Window window = Window::of(conv_of(c).call());
  const Shape out = window.output(), kernel = window.kernel();
  const TensorType& type = c.node.inputs.at("offset").type;
  const Tensor offset = fill(c.sources.at("offset").recipe, type);
  const Int windows = volume(out), axes = static_cast<Int>(out.size());
  const Int fields = volume(type.shape) / std::max<Int>(1, windows * axes * window.taps());
  for_float(type.dtype, [&]<class T>() {
    for (Int field = 0; field < fields; ++field)
      for_each_position(kernel, [&](const Shape& k, Int tap) {
        for_each_position(out, [&](const Shape& o, Int at) {
          for (Int a = 0; a < axes; ++a) {
            const Axis& axis = window.axes[static_cast<std::size_t>(a)];
            const Int flat = ((field * window.taps() + tap) * axes + a) * windows + at;
            f(static_cast<double>(axis.cell(o[static_cast<std::size_t>(a)], k[static_cast<std::size_t>(a)])) +
                  static_cast<double>(offset.as<T>()[static_cast<std::size_t>(flat)]),
              static_cast<double>(axis.in));
          }
        });
      });
  });
}

CoverageTag some_coordinate(std::string name, bool (*holds)(double at, double extent)) {
  return {std::move(name), [holds](const Case& c) {
            bool found = false;
            for_each_coordinate(c, [&](double at, double extent) { found = found || holds(at, extent); });
            return found;
          }};
}

double off_cell(double at) { return std::abs(at - std::rint(at)); }

std::vector<CoverageTag> all_traits() {
  return {
      {"offset_group unlike group",
       [](const Case& c) { return c.call().integer("offset_group") != c.call().integer("group"); }},
      {"offset_group and group > 1, unlike",
       [](const Case& c) {
         const Int group = c.call().integer("group"), offset_group = c.call().integer("offset_group");
         return group > 1 && offset_group > 1 && group != offset_group;
       }},
      {"mask given", [](const Case& c) { return c.call().has("mask"); }},
      {"mask given, bias empty name", [](const Case& c) { return c.call().has("mask") && !c.call().has("B"); }},
      some_coordinate("a sample on a cell",
                      [](double at, double in) { return at >= 0 && at < in && off_cell(at) == 0; }),
      some_coordinate("a sample half-way",
                      [](double at, double in) { return at > 0 && at < in - 1 && off_cell(at) == 0.5; }),
      some_coordinate(
          "a sample just beside a cell",
          [](double at, double in) { return at > 0 && at < in - 1 && off_cell(at) > 0 && off_cell(at) < 0x1p-5; }),
      some_coordinate("a sample at -1", [](double at, double) { return at == -1; }),
      some_coordinate("a sample at the end", [](double at, double in) { return at == in; }),
      some_coordinate("a sample just inside -1", [](double at, double) { return at > -1 && at < -1 + 0x1p-5; }),
      some_coordinate("a sample just outside -1", [](double at, double) { return at < -1 && at > -1 - 0x1p-5; }),
      some_coordinate("a sample just inside the end", [](double at, double in) { return at < in && at > in - 0x1p-5; }),
      some_coordinate("a sample just outside the end",
                      [](double at, double in) { return at > in && at < in + 0x1p-5; }),
      some_coordinate("a sample blended with the outside",
                      [](double at, double in) { return (at > -1 && at < 0) || (at > in - 1 && at < in); }),
      some_coordinate("a sample far away", [](double at, double in) { return at < -1000 || at > in + 1000; })};
}

}  // namespace

const OperatorGenerator& deform_conv() {
  static const OperatorGenerator generator{
      .draw = draw,
      .strata = strata_of(ground()),
      .cost = cost,
      .damages = {{"no offset_group", [](Case& c) { c.node.attribute("offset_group", Attribute(-between(0, 1))); }},
                  {"an offset_group that leaves channels over",
                   [](Case& c) {
                     regroup(c, channels_of(c) + between(1, 2));
                     return channels_of(c) > 0;
                   }},
                  {"another offset_group, offset as before",
                   [](Case& c) {
                     const Int channels = channels_of(c), now = c.call().integer("offset_group");
                     if (channels < 2) return false;
                     c.node.attribute("offset_group", Attribute(now == channels ? Int{1} : channels));
                     return true;
                   }},
                  {"one displacement per tap",  // not one per tap and axis
                   [](Case& c) {
                     shape_of(c, "offset")[1] /= c.call().rank("X") - 2;
                     return c.call().rank("X") > 3;
                   }},
                  {"a channel more in offset", [](Case& c) { ++shape_of(c, "offset")[1]; }},
                  {"offset of other windows", [](Case& c) { change_window(c, "offset"); }},
                  {"offset of another batch", [](Case& c) { ++shape_of(c, "offset")[0]; }},
                  {"offset an axis short", [](Case& c) { shape_of(c, "offset").pop_back(); }},
                  {"mask per axis",  // "offset_group * prod(kernel) * n", the n-D text (A19)
                   [](Case& c) {
                     give_mask(c);
                     shape_of(c, "mask")[1] *= c.call().rank("X") - 2;
                     return c.call().rank("X") > 3;
                   }},
                  {"mask of other windows",
                   [](Case& c) {
                     give_mask(c);
                     change_window(c, "mask");
                   }},
                  {"mask of one tap",
                   [](Case& c) {
                     give_mask(c);
                     shape_of(c, "mask")[1] = 1;
                   }},
                  {"no offset", [](Case& c) { remove_input(c, "offset"); }},
                  {"offset of another type",
                   [](Case& c) {
                     DType& type = c.node.inputs.at("offset").type.dtype;
                     type = type == DType::f32 ? DType::f16 : DType::f32;
                   }}},
      .layout = Layout{},
      .traits = all_traits(),
      .most_outputs = 300,
      .most_cost = 3000,
      .refit = refit};
  return generator;
}

}  // namespace assay::generators
