// SPDX-License-Identifier: Apache-2.0
// OperatorGenerator about Conv: every window theme, with one group, some groups or one group per channel, and the bias
// given, left out or named "".
#include "generators/convolution.h"
#include "generators/draw.h"
#include "generators/values.h"

namespace assay::generators {

Case draw_conv(const Definition& definition, DType type, const ConvShapes& shapes) {
  Case c = blank(definition);
  write_conv_attributes(c.node, definition, shapes);
  const ConvolutionFill data = draw_convolution_fill({type, shapes.terms(), true});
  const bool constant_weights = chance(50);
  c.node.input("X", {type, shapes.x()}).input("W", {type, shapes.w()});
  c.sources["X"] = {data.x, false};
  c.sources["W"] = {data.w, constant_weights};
  write_bias(c, type, shapes.channels.maps, data.b, constant_weights);
  return c;
}

const OperatorGenerator& conv() {
  static const OperatorGenerator generator{[](const Definition& definition, DType type, std::uint64_t stratum) {
                                             return draw_conv(definition, type,
                                                              draw_conv_shapes(conv_ground(), stratum));
                                           },
                                           strata_of(conv_ground()),
                                           conv_cost,
                                           {},
                                           Layout{}};
  return generator;
}

}  // namespace assay::generators
