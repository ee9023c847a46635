// SPDX-License-Identifier: Apache-2.0
// The exact answers of Constant: what is stated; and of ConstantOfShape: the one element of value, everywhere.
#include "oracles/exact/operands.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

namespace assay::oracles {
namespace {

// Readings of M66 refuse a value that is no list.
std::optional<Shape> listed_shape(const Call& call, const Readings& readings) {
  const bool is_list = !call.states("value") || call.tensor("value").shape().size() == 1;
  if (!is_list && readings.of("M66") == "one-d") return std::nullopt;
  const Tensor& entries = *call.node().inputs.find("input")->second.data;
  return Shape(entries.as<Int>().begin(), entries.as<Int>().end());
}

// A tensor of so many axes, which are as long as the list.
template <class List>
Tensor tensor_of(const List& values, std::size_t axes) {
  using T = typename List::value_type;
  Tensor all({dtype_of<T>(), Shape(axes, std::ssize(values))});
  for (std::size_t i = 0; i < values.size(); ++i) all.as<T>()[i] = values[i];
  return all;
}

Tensor said(const Call& call) {
  if (call.states("value")) return call.tensor("value");
  if (call.states("value_float")) return tensor_of(Reals{call.real("value_float")}, 0);
  if (call.states("value_floats")) return tensor_of(call.reals("value_floats"), 1);
  if (call.states("value_int")) return tensor_of(Ints{call.integer("value_int")}, 0);
  if (call.states("value_ints")) return tensor_of(call.ints("value_ints"), 1);
  if (call.states("value_string")) return tensor_of(Texts{call.text("value_string")}, 0);
  return tensor_of(call.texts("value_strings"), 1);
}

// Elements of a tensor in their order; one alone stands everywhere.
class StatedAnswer final : public Answer {
 public:
  StatedAnswer(Tensor value, Shape shape) : value_(std::move(value)), shape_(std::move(shape)) {}

  Shape shape() const override { return shape_; }
  DType dtype() const override { return value_.dtype(); }
  Element element(Int index) const override { return exactly(scalar(value_, at(index)), dtype()); }
  std::vector<Tolerance> wider(Int) const override { return {}; }
  std::vector<ProofTerm> taps(Int index) const override {
    return {{{written(scalar(value_, at(index)), dtype())}, place("value", value_.shape(), at(index))}};
  }
  std::pair<const Tensor*, Int> copied(Int index) const override { return {&value_, at(index)}; }

 private:
  Int at(Int index) const { return value_.elements() == 1 ? 0 : index; }

  Tensor value_;
  Shape shape_;
};

}  // namespace

Oracle constant() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands&, const Readings&, const Arithmetic&) {
    const Tensor value = said(call);
    return Answers(std::make_unique<StatedAnswer>(value, value.shape()));
  };
  oracle.shape = [](const Call& call, const Readings&) { return std::optional(said(call).shape()); };
  return without_rounding(std::move(oracle));
}

Oracle constant_of_shape() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands&, const Readings& readings, const Arithmetic&) {
    const Tensor value = call.states("value") ? call.tensor("value") : Tensor({DType::f32, {1}});
    return Answers(std::make_unique<StatedAnswer>(value, *listed_shape(call, readings)));
  };
  oracle.shape = listed_shape;
  return without_rounding(std::move(oracle));
}

}  // namespace assay::oracles
