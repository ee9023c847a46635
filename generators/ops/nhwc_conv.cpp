// SPDX-License-Identifier: Apache-2.0
// OperatorGenerator about com.microsoft NhwcConv: those of Conv with the channels last, and weights that fit in both
// layouts (A24).
#include "generators/convolution.h"
#include "generators/draw.h"

#include <algorithm>
#include <span>

namespace assay::generators {
namespace {

// One group with as many channels as the first kernel extent, at times as all of them: M x k… x C is then as good a
// shape as M x C x k….
void fit_both_layouts(ConvShapes& shapes) {
  std::vector<Axis>& axes = shapes.geometry.axes;
  if (chance(50))
    for (Axis& axis : axes) {
      axis.in = std::max<Int>(0, axis.in + (axes.front().kernel - axis.kernel) * axis.dilation);
      axis.kernel = axes.front().kernel;
    }
  shapes.channels.group = 1;
  shapes.channels.depth = axes.front().kernel;
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  ConvShapes shapes = draw_conv_shapes(conv_ground(), stratum);
  if (shapes.channels.depth > 0 && chance(12)) fit_both_layouts(shapes);
  Case c = draw_conv(definition, type, shapes);
  for (const char* input : {"X", "W"}) shape_of(c, input) = channels_last(shape_of(c, input));
  return c;
}

// Puts the channels of an input where Conv has them; false where that changes nothing.
bool put_channels_second(Case& c, const char* input) {
  Shape& shape = shape_of(c, input);
  return std::exchange(shape, channels_second(shape)) != shape;
}

bool both_layouts_fit(const Case& c) {
  const Call call = c.call();
  const Shape& w = shape_of(c, "W");
  return w.at(1) * call.integer("group") == call.shape("X").back() &&
         (!call.states("kernel_shape") || std::ranges::equal(call.ints("kernel_shape"), std::span(w).subspan(2)));
}

bool layouts_differ(const Case& c) { return channels_second(shape_of(c, "W")) != shape_of(c, "W"); }

bool kernel_differs_by_axis(const Case& c) {
  const Shape& w = shape_of(c, "W");
  return std::adjacent_find(w.begin() + 1, w.end() - 1, std::not_equal_to{}) != w.end() - 1;
}

}  // namespace

const OperatorGenerator& nhwc_conv() {
  static const OperatorGenerator generator{
      draw,
      strata_of(conv_ground()),
      conv_cost,
      {{"W as M x C/group x k…", [](Case& c) { return put_channels_second(c, "W"); }},
       {"X and W as Conv has them",
        [](Case& c) {
          put_channels_second(c, "X");
          return put_channels_second(c, "W");
        }}},
      Layout{},
      {{"W fits both layouts", both_layouts_fit},
       {"W fits both layouts, kernel_shape omitted",
        [](const Case& c) { return both_layouts_fit(c) && !c.node.attributes.contains("kernel_shape"); }},
       {"W of another shape in the other layout", layouts_differ},
       {"kernel differs by axis", kernel_differs_by_axis}}};
  return generator;
}

}  // namespace assay::generators
