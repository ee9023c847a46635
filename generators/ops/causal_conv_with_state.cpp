// SPDX-License-Identifier: Apache-2.0
// CausalConvWithState: sequences shorter than the kernel and longer, none at all, kernels of one tap up to six, with
// and without a bias and a state, gated or not.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

Shape draw_shape(std::uint64_t stratum) {
  Shape shape{between(1, 3), between(1, 5), between(1, 12)};
  if (stratum % shape_strata == 22) pick(shape) = 0;
  if (stratum % shape_strata == 23) pick(shape) = 1;
  if (stratum % shape_strata == 21) shape = {1, 1, 1};
  if (stratum % shape_strata < 4) shape[2] = between(15, 40);
  return shape;
}

// Makes the other inputs fit the sequences and the kernel.
void refit(Case& c) {
  const Shape& input = shape_of(c);
  if (input.size() != 3 || !c.sources.contains("weight")) return;
  Shape& weight = shape_of(c, "weight");
  const Int taps = weight.empty() ? 1 : std::max<Int>(1, weight.back());
  weight = {input[1], 1, taps};
  if (c.sources.contains("bias")) shape_of(c, "bias") = {input[1]};
  if (c.sources.contains("past_state")) shape_of(c, "past_state") = {input[0], input[1], taps - 1};
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = moving(definition, type, draw_shape(stratum));
  const Int taps = weighted<Int>({{12, 1}, {20, 2}, {20, 3}, {35, 4}, {13, between(5, 6)}});
  const ConvolutionFill fill = draw_convolution_fill({type, taps + 1, true});
  c.sources.at("input").recipe = fill.x;
  c.node.input("weight", {type, {1, 1, taps}});
  c.sources["weight"] = {fill.w, chance(50)};
  const auto add = [&](const char* input, const Recipe& recipe, Int share) {
    if (!chance(share)) return;
    c.node.input(input, {type, {}});
    c.sources[input] = {recipe, chance(30)};
  };
  add("bias", fill.b, 55);
  add("past_state", chance(80) ? Recipe{fill.x.family, fill.x.argument} : seeded("small"), 60);
  if (!c.sources.contains("bias") && c.sources.contains("past_state")) c.node.empty_input("bias");
  if (chance(75)) c.node.attribute("activation", pick({"none", "silu", "silu", "swish"}));
  refit(c);
  return c;
}

Int cost(const Case& c) { return volume(shape_of(c)) * shape_of(c, "weight").back(); }

// Gives an input an axis more, or an extent that does not fit.
bool another_shape(Case& c) {
  const Names names = inputs_of(c);
  Shape& shape = shape_of(c, pick(names));
  if (shape.empty()) return false;
  if (chance(30)) return shape.push_back(1), true;
  Int& extent = pick(shape);
  extent = chance(70) ? extent + 1 : std::max<Int>(0, extent - 1);
  return true;
}

bool another_type(Case& c) {
  DType& type = c.node.inputs.at("weight").type.dtype;
  type = type == DType::f32 ? DType::f16 : DType::f32;
  return true;
}

bool loses_the_weight(Case& c) {
  remove_input(c, "weight");
  return true;
}

}  // namespace

const OperatorGenerator& causal_conv_with_state() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<3, 3>, refit);
    made.cost = cost;
    made.damages.push_back({"another shape", another_shape});
    made.damages.push_back({"another type", another_type});
    made.damages.push_back({"no weight", loses_the_weight});
    made.traits = {{"a state", [](const Case& c) { return c.sources.contains("past_state"); }},
                   {"no state", [](const Case& c) { return !c.sources.contains("past_state"); }},
                   {"a sequence shorter than the state",
                    [](const Case& c) { return shape_of(c)[2] + 1 < shape_of(c, "weight").back(); }},
                   {"a kernel of one tap", [](const Case& c) { return shape_of(c, "weight").back() == 1; }}};
    return made;
  }();
  return all;
}

}  // namespace assay::generators
