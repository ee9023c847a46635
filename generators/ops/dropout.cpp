// SPDX-License-Identifier: Apache-2.0
// Dropout: in inference and in training, with and without what may be left out; some tensors of so many elements that
// the share of those that are kept is telling.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/values.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

void state_scalar(Case& c, const std::string& input, DType type, const std::string& value) {
  c.node.input(input, {type, {}});
  c.sources[input] = {{"values", value}, chance(50)};
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const bool may_train = !is_small(type) && !definition.ruling("E43");
  const bool trains = may_train && chance(50);
  const bool is_large = trains && chance(10);
  c.node.input("data", {type, is_large ? Shape{between(100, 110), 101} : draw_extents(stratum % shape_strata)});
  c.sources["data"] = {trains ? seeded(pick({"normal", "small", "uniform"})) : draw_data(definition, type), false};
  if (definition.input("training_mode")) {
    const DType of = pick(std::vector{DType::f32, type == DType::f64 ? type : DType::f16});
    if (chance(70)) state_scalar(c, "ratio", of, pick({"0.5", "0.25", "0.75", "0.1", "0"}));
    if (trains || chance(50)) state_scalar(c, "training_mode", DType::boolean, trains ? "1" : "0");
    if (chance(50)) c.node.attribute("seed", Attribute(between(0, 99)));
  } else {
    if (chance(60)) c.node.attribute("ratio", Attribute(pick({0.5F, 0.25F, 0.75F, 0.1F})));
    if (may_train && !trains) c.node.attribute("is_test", 1);
    if (definition.attribute("consumed_inputs") && chance(30)) c.node.attribute("consumed_inputs", Ints{between(0, 2)});
  }
  const bool is_filled = trains || !definition.attribute("is_test");
  if (is_filled && chance(is_large ? 80 : 50)) c.node.output("mask");
  return c;
}

bool wants_an_unfilled_mask(Case& c) {
  if (!c.definition().constraint("unfilled")) return false;
  c.node.attribute("is_test", 1).output("mask");
  return true;
}

bool takes_no_ratio(Case& c) {
  if (!c.definition().constraint("ratio")) return false;
  state_scalar(c, "ratio", DType::f32, pick({"1", "1.5", "-0.5"}));
  return true;
}

}  // namespace

const OperatorGenerator& dropout() {
  static const OperatorGenerator all{
      .draw = draw,
      .strata = shape_strata,
      .damages = {{"a mask that is not filled", wants_an_unfilled_mask}, {"a ratio of 1", takes_no_ratio}},
      .most_outputs = 12'000};
  return all;
}

}  // namespace assay::generators
