// SPDX-License-Identifier: Apache-2.0
// com.microsoft FusedConv: the cases of Conv with every activation and none, and with and without what is added.
#include "generators/convolution.h"
#include "generators/draw.h"
#include "generators/values.h"
#include "reference/convolution.h"

#include <algorithm>

namespace assay::generators {
namespace {

// Gives Z the shape of Y; leaves it alone where there are no windows.
void refit(Case& c) {
  const Case conv = conv_of(c);
  if (c.sources.contains("Z") && conv.is_legal()) shape_of(c, "Z") = Convolution(conv.call()).output_shape();
}

void draw_activation(Node& node) {
  if (chance(15)) return;
  const std::string name = pick({"Relu", "Tanh", "Sigmoid", "LeakyRelu", "LeakyRelu", "Clip", "Clip", "HardSigmoid"});
  node.attribute("activation", name);
  if (name == "LeakyRelu") node.attribute("activation_params", Reals{pick({0.25F, 0.01F, 2.0F, -0.5F})});
  if (name == "Clip")
    node.attribute("activation_params", pick({Reals{0, 6}, Reals{-1, 1}, Reals{-0.25F, 3}, Reals{2, 2}}));
  if (name == "HardSigmoid")
    node.attribute("activation_params", pick({Reals{0.2F, 0.5F}, Reals{0.25F, 0.5F}, Reals{-0.5F, 0}}));
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  const ConvShapes shapes = draw_conv_shapes(conv_ground(), stratum);
  Case c = draw_conv(definition, type, shapes);
  draw_activation(c.node);
  if (chance(45)) {
    const bool has_bias = c.node.inputs.contains("B");
    if (!has_bias) c.node.empty_input("B");
    c.node.input("Z", {type, {}});
    c.sources["Z"] = {seeded(pick({"small", "normal", "quarter"})), chance(40)};
  }
  refit(c);
  return c;
}

// Returns the case without an activation, then with one that takes no parameter.
Cases plainer_activations(const Case& c, int) {
  Cases out;
  if (!c.node.attributes.contains("activation")) return out;
  Case without = c;
  for (const char* attribute : {"activation", "activation_params"}) without.node.attributes.erase(attribute);
  out.push_back(without);
  without.node.attribute("activation", "Relu");
  if (c.call().text("activation") != "Relu") out.push_back(std::move(without));
  return out;
}
constexpr ShrinkStep shrink_steps[] = {{[](const Case&) { return 1; }, plainer_activations}};

bool loses_a_parameter(Case& c) {
  const auto stated = c.node.attributes.find("activation_params");
  if (stated == c.node.attributes.end()) {
    c.node.attribute("activation_params", Reals{1});
    return true;
  }
  std::get<Reals>(stated->second).pop_back();
  return true;
}
bool adds_what_is_broadcast(Case& c) {
  if (!c.sources.contains("Z")) return false;
  Shape& z = shape_of(c, "Z");
  const auto longer = std::ranges::find_if(z, [](Int extent) { return extent > 1; });
  if (longer == z.end()) return false;
  *longer = 1;
  return true;
}

}  // namespace

const OperatorGenerator& fused_conv() {
  static const OperatorGenerator generator{
      .draw = draw,
      .strata = strata_of(conv_ground()),
      .cost = conv_cost,
      .damages = {{"a parameter too many or too few", loses_a_parameter}, {"Z is broadcast", adds_what_is_broadcast}},
      .layout = Layout{},
      .refit = refit,
      .steps = shrink_steps};
  return generator;
}

}  // namespace assay::generators
