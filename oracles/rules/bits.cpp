// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/bits.h"

#include "oracles/exact/operands.h"
#include "oracles/rules/broadcast.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {
namespace {

class BitAnswer final : public Answer {
 public:
  BitAnswer(const Tensor& in, DType type) : in_(in), bits_({type, in.shape()}) {
    std::ranges::copy(in.bytes(), bits_.bytes().begin());
  }

  Shape shape() const override { return bits_.shape(); }
  DType dtype() const override { return bits_.dtype(); }
  Element element(Int index) const override {
    const Scalar value = scalar(bits_, index);
    if (dtype() == DType::boolean && value.as_double() > 1) return undefined("E36", "a byte that is neither 0 nor 1");
    return exactly(value, dtype());
  }
  std::vector<Tolerance> wider(Int) const override { return {}; }
  std::vector<ProofTerm> taps(Int index) const override {
    return {{{written(scalar(in_, index), in_.dtype())}, place("", in_.shape(), index)}};
  }
  std::pair<const Tensor*, Int> copied(Int index) const override { return {&bits_, index}; }
  bool keeps_bits() const override { return true; }

 private:
  Tensor in_, bits_;
};

}  // namespace

Oracle reinterpreted() {
  const auto output_type = [](const Call& call) {
    return call.definition().type_of(call, call.definition().outputs.front());
  };
  Oracle oracle;
  oracle.answer = [output_type](const Call& call, const Operands& in, const Readings&, const Arithmetic&) {
    return Answers(std::make_unique<BitAnswer>(*in.at(0), output_type(call)));
  };
  oracle.shape = [](const Call& call, const Readings&) {
    return std::optional(call.shape(call.definition().inputs.front().name));
  };
  return without_rounding(std::move(oracle));
}

}  // namespace assay::oracles
