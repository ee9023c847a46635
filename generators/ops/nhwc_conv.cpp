// SPDX-License-Identifier: Apache-2.0
// Questions about com.microsoft NhwcConv: those of Conv with the channels last, and weights that fit in both layouts
// (A24).
#include "generators/convolution.h"
#include "generators/draw.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>
#include <span>

namespace assay::generators {

const Questions& nhwc_conv();

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
  Case c = blank(definition);
  write_conv_attributes(c.node, definition, shapes);

  const ConvolutionFill data = draw_convolution_fill({type, shapes.terms(), true});
  const bool constant_weights = chance(50);
  c.node.input("X", {type, channels_last(shapes.x())}).input("W", {type, channels_last(shapes.w())});
  c.sources["X"] = {data.x, false};
  c.sources["W"] = {data.w, constant_weights};
  write_bias(c, type, shapes.channels.maps, data.b, constant_weights);
  return c;
}

const Shape& w_of(const Case& c) { return c.node.inputs.at("W").type.shape; }

// M x C/group x k…, as the schema's inference reads it.
bool channels_of_w_second(Case& c) {
  Shape& w = c.node.inputs.at("W").type.shape;
  const Shape second = channels_second(w);
  if (second == w) return false;
  w = second;
  return true;
}

// The channels of X and W where Conv has them.
bool channels_second_in_both(Case& c) {
  Shape& x = c.node.inputs.at("X").type.shape;
  x = channels_second(x);
  return channels_of_w_second(c);
}

bool both_layouts_fit(const Case& c) {
  const Call call = c.call();
  const Shape& w = w_of(c);
  return w.at(1) * call.integer("group") == call.shape("X").back() &&
         (!call.states("kernel_shape") || std::ranges::equal(call.ints("kernel_shape"), std::span(w).subspan(2)));
}

bool layouts_differ(const Case& c) { return channels_second(w_of(c)) != w_of(c); }

bool kernel_differs_by_axis(const Case& c) {
  const Shape& w = w_of(c);
  return std::adjacent_find(w.begin() + 1, w.end() - 1, std::not_equal_to{}) != w.end() - 1;
}

}  // namespace

const Questions& nhwc_conv() {
  static const Questions questions{
      draw,
      strata_of(conv_ground()),
      conv_cost,
      {{"W as M x C/group x k…", channels_of_w_second}, {"X and W as Conv has them", channels_second_in_both}},
      Layout{.channels_last = true},
      {{"W fits both layouts", both_layouts_fit},
       {"W fits both layouts, kernel_shape omitted",
        [](const Case& c) { return both_layouts_fit(c) && !c.node.attributes.contains("kernel_shape"); }},
       {"W of another shape in the other layout", layouts_differ},
       {"kernel differs by axis", kernel_differs_by_axis}}};
  return questions;
}

}  // namespace assay::generators
