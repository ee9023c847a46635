// SPDX-License-Identifier: Apache-2.0
// The exact answers of Sum and Mean: sums of one term per input, in any order (numerics 2.3, 2.8).
#include "oracles/exact/dot.h"
#include "oracles/families/elementwise.h"
#include "oracles/rules/broadcast.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

namespace assay::oracles {
namespace {

class SumAnswer final : public Answer {
 public:
  SumAnswer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared, bool averages)
      : inputs_(call, in, readings), dtype_(in.front()->dtype()), declared_(declared), averages_(averages) {}

  Shape shape() const override { return inputs_.shape(); }
  DType dtype() const override { return dtype_; }
  Element element(Int index) const override { return enclose(dot(index), dtype_); }
  Element defined(Int index) const override { return enclose(dot(index), dtype_, Summing::definition); }
  std::vector<Tolerance> wider(Int index) const override { return widen_sum(dot(index), dtype_, declared_); }
  std::vector<ProofTerm> taps(Int index) const override { return inputs_.taps(index); }

 private:
  Dot dot(Int index) const {
    Dot sum;
    for (const Scalar& x : inputs_.at(index)) sum.terms.push_back({x, std::nullopt});
    sum.averaged = averages_;
    sum.divisor = averages_ ? std::ssize(sum.terms) : 1;
    return sum;
  }

  MetInputs inputs_;
  DType dtype_;
  Arithmetic declared_;
  bool averages_;
};

template <bool averages>
Answers answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
  return Answers(std::make_unique<SumAnswer>(call, in, readings, declared, averages));
}

}  // namespace

Oracle sum() { return with_touched({answer<false>, shape_of_meeting, {}}); }
Oracle mean() { return with_touched({answer<true>, shape_of_meeting, {}}); }

}  // namespace assay::oracles
