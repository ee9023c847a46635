// SPDX-License-Identifier: Apache-2.0
// com.microsoft's products of matrices of integers: one scale and zero point, or one for each column, given or not; a
// bias; data that are quantized on the way; and matrices whose batch moves.
#include "generators/draw.h"
#include "generators/families/product.h"
#include "generators/values.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

void add(Case& c, const std::string& name, TensorType type, Recipe recipe) {
  c.node.input(name, std::move(type));
  c.sources[name] = {std::move(recipe), chance(50)};
}

// One for all columns of B, or one for each.
Shape draw_per_column(const MatrixExtents& e) { return e.b_is_vector || chance(40) ? draw_single() : Shape{e.columns}; }
Recipe draw_scale(const Shape& shape) {
  if (volume(shape) > 1) return {"hold", pick({"0.25,0.5,2", "0.1,0.3,0.7", "0.5,1", "-1,0.125,3"})};
  return {"hold", pick({"0.5", "1", "0.25", "0.1", "0.01", "-0.5", "3"})};
}

// Zero points and the bias, which may be left out or named "".
void draw_optional(Case& c, const MatrixExtents& e, DType floats) {
  if (c.definition().input("a_zero_point")) {
    const DType a = c.node.inputs.at("A").type.dtype;
    const Shape zero = draw_single();
    give_or_not(c, "a_zero_point", {a, zero}, draw_zero_point(a, true));
  }
  const DType b = c.node.inputs.at("B").type.dtype;
  const Shape zeros = draw_per_column(e);
  give_or_not(c, "b_zero_point", {b, zeros}, draw_zero_point(b, volume(zeros) <= 1));
  give_or_not(c, "bias", {floats, {e.columns}}, seeded(pick({"quarter", "normal", "small"})));
  // Names what stands before an input that is given, at least by an empty name.
  const std::vector<std::string> in_order{"a_zero_point", "b_zero_point", "bias"};
  for (std::size_t i = 0; i + 1 < in_order.size(); ++i)
    for (std::size_t later = i + 1; later < in_order.size(); ++later)
      if (c.definition().input(in_order[i]) && c.node.inputs.contains(in_order[later]) &&
          !c.node.inputs.contains(in_order[i]))
        c.node.empty_input(in_order[i]);
}

Case draw_to_float(const Definition& definition, DType type, std::uint64_t stratum) {
  auto [c, e, added] = draw_operands(definition, type, stratum);
  const DType floats = pick(definition.types_of("T3"));
  const Shape scale = draw_single(), per_column = draw_per_column(e);
  add(c, "a_scale", {floats, scale}, draw_scale(scale));
  add(c, "b_scale", {floats, per_column}, draw_scale(per_column));
  draw_optional(c, e, floats);
  return c;
}

// Data of which the range is a power of two, so that ties are ties, or any; of one sign; of zeros alone.
Case draw_dynamic(const Definition& definition, DType type, std::uint64_t stratum) {
  auto [c, e, added] = draw_operands(definition, type, stratum);
  c.sources["A"].recipe =
      chance(40)
          ? Recipe{"lit", pick({"0,255,1.5,2.5,0.5,7.5,100.5", "-1.5,253.5,0.5,1,2.5", "-127.5,0.25,127.5,1.75,-3.25",
                                "-1,-3,-255,-0.5,-1.5", "3,4,5,6.5", "0,0", "-0.1,0.2,0.3,0.7"})}
          : seeded(pick({"normal", "small", "uniform", "odd9", "logu"}));
  c.sources["B"].recipe = draw_bytes();
  const Shape per_column = draw_per_column(e);
  add(c, "b_scale", {DType::f32, per_column}, draw_scale(per_column));
  draw_optional(c, e, DType::f32);
  return c;
}

Case draw_qgemm(const Definition& definition, DType type, std::uint64_t stratum) {
  auto [c, e, added] = draw_operands(definition, type, stratum);
  const DType b = c.node.inputs.at("B").type.dtype;
  const Shape scale = draw_single(), zero = draw_single(), per_column = draw_per_column(e), added_shape = draw_added(e);
  add(c, "a_scale", {DType::f32, scale}, draw_scale(scale));
  add(c, "a_zero_point", {type, zero}, draw_zero_point(type, true));
  add(c, "b_scale", {DType::f32, per_column}, draw_scale(per_column));
  add(c, "b_zero_point", {b, per_column}, draw_zero_point(b, volume(per_column) <= 1));
  give_or_not(c, "C", {DType::i32, added_shape}, seeded(pick({"small", "around9", "around12"})));
  if (chance(70)) {
    if (!c.node.inputs.contains("C")) c.node.empty_input("C");
    const DType y = pick(definition.types_of("TYZ"));
    const Shape one = draw_single();
    add(c, "y_scale", {DType::f32, one}, {"hold", pick({"1", "2", "64", "256", "0.3", "1000", "3.7", "16"})});
    add(c, "y_zero_point", {y, one}, draw_zero_point(y, true));
  }
  if (const float alpha = draw_factor(DType::f32); alpha != 1 || chance(30))
    c.node.attribute("alpha", Attribute(alpha));
  return c;
}

Case draw_scaled(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = draw_product(definition, type, stratum);
  if (const float alpha = draw_factor(type); alpha != 1 || chance(30)) c.node.attribute("alpha", Attribute(alpha));
  return c;
}

bool moves_the_batch_of_a_matrix(Case& c) {
  const std::string operand = pick({"A", "B"});
  c.node.attribute("transBatch" + operand, 1);
  return shape_of(c, operand).size() < 3;
}
bool loses_its_zero_point(Case& c) {
  const bool is_given = c.sources.contains("y_zero_point");
  remove_input(c, "y_zero_point");
  return is_given;
}

const OperatorGenerator& scaled_products() {
  static const OperatorGenerator all{.draw = draw_scaled, .strata = product_strata, .cost = product_cost};
  return all;
}

}  // namespace

const OperatorGenerator& matmul_integer_to_float() {
  static const OperatorGenerator all{.draw = draw_to_float, .strata = product_strata, .cost = product_cost};
  return all;
}
const OperatorGenerator& dynamic_quantize_matmul() {
  static const OperatorGenerator all{.draw = draw_dynamic, .strata = product_strata, .cost = product_cost};
  return all;
}
const OperatorGenerator& qgemm() {
  static const OperatorGenerator all{.draw = draw_qgemm,
                                     .strata = product_strata,
                                     .cost = product_cost,
                                     .damages = {{"a scale alone", loses_its_zero_point}}};
  return all;
}
const OperatorGenerator& fused_matmul() {
  static const OperatorGenerator all{.draw = draw_scaled,
                                     .strata = product_strata,
                                     .cost = product_cost,
                                     .damages = {{"a batch of a matrix", moves_the_batch_of_a_matrix}}};
  return all;
}
const OperatorGenerator& transpose_matmul() { return scaled_products(); }

}  // namespace assay::generators
