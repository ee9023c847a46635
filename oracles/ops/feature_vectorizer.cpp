// SPDX-License-Identifier: Apache-2.0
// The exact answer of FeatureVectorizer (values-and-graphs 3.8): an element of one input, rounded to float32. Integers
// may be rounded to float64 on the way.
#include "oracles/exact/operands.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

namespace assay::oracles {
namespace {

const Parameter& input_of(const Call& call, std::size_t input) { return call.definition().inputs.at(input); }

// Returns how many columns of an input are taken; none of one that is not there.
Int width(const Call& call, std::size_t input) {
  if (!call.has(input_of(call, input).name)) return 0;
  return call.states("inputdimensions") ? call.ints("inputdimensions")[input]
                                        : call.shape(input_of(call, input).name).back();
}

Int total_width(const Call& call) {
  Int sum = 0;
  for (std::size_t input = 0; input < call.definition().inputs.size(); ++input) sum += width(call, input);
  return sum;
}

std::optional<Shape> shape_of(const Call& call, const Readings& readings) {
  const bool is_open = !call.states("inputdimensions") || [&] {
    for (std::size_t input = 0; input < call.ints("inputdimensions").size(); ++input)
      if (width(call, input) < call.shape(input_of(call, input).name).back()) return true;
    return false;
  }();
  if (is_open && readings.of("G51") == "refuse") return std::nullopt;
  const Shape& first = call.shape(input_of(call, 0).name);
  return Shape{first.size() == 1 ? 1 : first.front(), total_width(call)};
}

class ColumnsAnswer final : public Answer {
 public:
  ColumnsAnswer(const Call& call, const Operands& in, const Readings& readings)
      : call_(call), in_(in), shape_(*shape_of(call, readings)) {}
  Shape shape() const override { return shape_; }
  DType dtype() const override { return DType::f32; }
  Element element(Int index) const override {
    const Scalar x = source(index);
    Element out = exactly(x, dtype());
    if (out.kind == Kind::finite && !is_float(type())) out.required.budget = abs(ratio(x)) * Dyadic::power_of_two(-52);
    return out;
  }
  std::vector<Tolerance> wider(Int index) const override {
    if (!is_float(type())) return {};
    return {flushing(element(index), {source(index)}, dtype())};
  }
  std::vector<ProofTerm> taps(Int index) const override {
    const auto [input, at] = origin(index);
    return {{{written(source(index), type())}, place(input_of(call_, input).name, in_[input]->shape(), at)}};
  }

 private:
  DType type() const { return in_[0]->dtype(); }
  std::pair<std::size_t, Int> origin(Int index) const {
    Int column = index % shape_[1];
    std::size_t input = 0;
    for (; column >= width(call_, input); ++input) column -= width(call_, input);
    return {input, index / shape_[1] * in_[input]->shape().back() + column};
  }
  Scalar source(Int index) const {
    const auto [input, at] = origin(index);
    return scalar(*in_[input], at);
  }

  Call call_;
  Operands in_;
  Shape shape_;
};

}  // namespace

Oracle feature_vectorizer() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
    return Answers(std::make_unique<ColumnsAnswer>(call, in, readings));
  };
  oracle.shape = shape_of;
  return without_rounding(std::move(oracle));
}

}  // namespace assay::oracles
