// SPDX-License-Identifier: Apache-2.0
// Constant: tensors of every rank and type; scalars and lists, empty ones among them, of f32, i64 and strings.
// ConstantOfShape: shapes of every rank, and elements of every type, in a list of one as a rule.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

// A tensor as a line writes it out: its NaN are of one kind.
Tensor drawn(DType type, const Shape& shape) {
  const Tensor any = fill(draw_selection_fill(type), {type, shape});
  return fill(stated(any), any.type());
}

template <class T>
std::vector<T> listed(const Tensor& tensor) {
  return {tensor.as<T>().begin(), tensor.as<T>().end()};
}

// States a scalar or a list by the attribute that is called so.
template <class T>
void state_plainly(Case& c, const std::string& name, std::vector<T> values) {
  if (values.size() == 1 && chance(50))
    c.node.attribute(name, Attribute(values.front()));
  else
    c.node.attribute(name + "s", Attribute(std::move(values)));
}

// States a number, a string or a list of them, one in five of which is empty.
void draw_plain(Case& c, DType type) {
  const Tensor value = drawn(type, {weighted<Int>({{20, 0}, {50, 1}, {30, between(2, 9)}})});
  if (type == DType::i64) return state_plainly(c, "value_int", listed<Int>(value));
  if (type == DType::string) return state_plainly(c, "value_string", listed<std::string>(value));
  Reals all = listed<float>(value);
  for (float& each : all)
    if (each != each) each = 0.5F;  // NaN, which a line has in tensors alone
  state_plainly(c, "value_float", all);
}

Case draw_constant(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const bool may_be_plain = type == DType::f32 || type == DType::i64 || type == DType::string;
  if (may_be_plain && definition.attribute("value_int") && chance(85))
    draw_plain(c, type);
  else
    c.node.attribute("value", drawn(type, draw_extents(stratum % shape_strata)));
  return c;
}

// Gives a value of a type that the version does not admit.
void give_another_type(Case& c) {
  std::vector<DType> others(std::begin(all_dtypes), std::end(all_dtypes));
  const std::vector<DType>& admitted = c.definition().types_of(c.definition().outputs.front().type);
  std::erase_if(others, [&](DType type) { return std::ranges::count(admitted, type) > 0; });
  c.node.attribute("value", drawn(pick(others), {1}));
}

Case draw_of_shape(const Definition& definition, DType, std::uint64_t stratum) {
  Case c = blank(definition);
  const Shape shape = draw_extents(stratum % shape_strata);
  write_out(c, "input", {std::ssize(shape)}, shape);
  const Shape of_value = chance(85) ? Shape{1} : Shape(static_cast<std::size_t>(2 * between(0, 1)), 1);
  if (chance(85)) c.node.attribute("value", drawn(pick(definition.types_of("T2")), of_value));
  return c;
}

}  // namespace

const OperatorGenerator& constant() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = moving_generator(draw_constant);
    made.describes_output = true;
    made.damages = {{"no value", [](Case& c) { c.node.attributes.clear(); }},
                    {"two values", [](Case& c) { c.node.attribute("value_float", Attribute(1.0F)); }},
                    {"a value of another type", [](Case& c) {
                       c.node.attributes.clear();
                       give_another_type(c);
                     }}};
    return made;
  }();
  return all;
}

const OperatorGenerator& constant_of_shape() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = moving_generator(draw_of_shape);
    made.ranks = axes<0, 7>;
    made.describes_output = true;
    made.damages = {{"another number of values",
                     [](Case& c) { c.node.attribute("value", drawn(DType::f32, chance(50) ? Shape{2} : Shape{0})); }},
                    {"a value of another type", give_another_type}};
    return made;
  }();
  return all;
}

}  // namespace assay::generators
