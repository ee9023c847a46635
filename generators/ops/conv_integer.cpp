// SPDX-License-Identifier: Apache-2.0
// OperatorGenerator about ConvInteger: the shapes of Conv, in all mixes of 8-bit types, each zero point given or left
// out.
#include "generators/convolution.h"
#include "generators/draw.h"
#include "generators/families/product.h"
#include "reference/convolution.h"

namespace assay::generators {
namespace {

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  stand_for(c, draw_conv(conv_definition(), DType::f32, draw_conv_shapes(conv_ground(), stratum)));
  const DType w = stratum % 2 ? DType::u8 : DType::i8;
  c.node.inputs.at("x").type.dtype = type;
  c.node.inputs.at("w").type.dtype = w;
  for (const char* input : {"x", "w"}) c.sources.at(input).recipe = draw_bytes();
  const Int maps = shape_of(c, "w").front();
  const bool is_single = maps == 1 || chance(45);
  const Recipe x_zero = draw_zero_point(type, true);
  give_or_not(c, "x_zero_point", {type, draw_single()}, x_zero);
  const Recipe w_zero = draw_zero_point(w, is_single);
  give_or_not(c, "w_zero_point", {w, is_single ? draw_single() : Shape{maps}}, w_zero);
  if (c.node.inputs.contains("w_zero_point") && !is_given(c, "x_zero_point")) c.node.empty_input("x_zero_point");
  return c;
}

// A list of zero points follows the number of maps.
void refit(Case& c) {
  if (!is_given(c, "w_zero_point")) return;
  Shape& zeros = shape_of(c, "w_zero_point");
  if (zeros.size() == 1 && zeros[0] != 1) zeros = {shape_of(c, "w").front()};
}

bool zero_points_too_long(Case& c) {
  const char* const input = pick({"x_zero_point", "w_zero_point"});
  if (is_given(c, input)) shape_of(c, input) = {shape_of(c, "w").front() + 2};
  return is_given(c, input);
}

}  // namespace

const OperatorGenerator& conv_integer() {
  static const OperatorGenerator generator{.draw = draw,
                                           .strata = strata_of(conv_ground()),
                                           .cost = conv_cost,
                                           .damages = {{"zero points too long", zero_points_too_long}},
                                           .layout = Layout{.x = "x", .w = "w"},
                                           .refit = refit};
  return generator;
}

}  // namespace assay::generators
