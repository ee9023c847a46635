// SPDX-License-Identifier: Apache-2.0
// The exact answers of CumSum and CumProd: each element is a sum or a product by itself, of the elements of its line up
// to its own, which takes no part where exclusive says so; nothing joined is 0 or 1.
#include "oracles/exact/operands.h"
#include "oracles/families/accumulation.h"
#include "oracles/families/axis.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

namespace assay::oracles {
namespace {

class PrefixAnswer final : public Answer {
 public:
  PrefixAnswer(Joining how, const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared)
      : how_(how),
        readings_(readings),
        declared_(declared),
        x_(*in.front()),
        along_(along(call, *axis_of(call, readings))),
        skips_own_(call.integer("exclusive") != 0),
        is_from_end_(call.integer("reverse") != 0) {}

  Shape shape() const override { return x_.shape(); }
  DType dtype() const override { return x_.tensor().dtype(); }
  Element element(Int index) const override {
    const std::vector<Scalar> x = joined_at(index);
    return x.empty() ? exactly(scalar(Int{how_ == Joining::product}), dtype()) : joined(how_, x, dtype(), readings_);
  }
  std::vector<Tolerance> wider(Int index) const override {
    return wider_joined(how_, joined_at(index), dtype(), declared_);
  }
  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (const Int from : places(index)) all.push_back({{written(x_.at(from), dtype())}, place("x", x_.shape(), from)});
    return all;
  }

 private:
  // Where the elements stand that are joined, the farthest from the own first.
  std::vector<Int> places(Int index) const {
    std::vector<Int> all;
    const Int line = along_.line_of(index), own = along_.at(index);
    const Int step = is_from_end_ ? -1 : 1, end = own + (skips_own_ ? 0 : step);
    for (Int at = is_from_end_ ? along_.length - 1 : 0; at != end; at += step) all.push_back(along_.index(line, at));
    return all;
  }

  std::vector<Scalar> joined_at(Int index) const {
    std::vector<Scalar> x;
    for (const Int from : places(index)) x.push_back(x_.at(from));
    return x;
  }

  Joining how_;
  Readings readings_;
  Arithmetic declared_;
  Cells x_;
  Along along_;
  bool skips_own_, is_from_end_;
};

template <Joining how>
Oracle prefixes() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    return Answers(std::make_unique<PrefixAnswer>(how, call, in, readings, declared));
  };
  oracle.shape = [](const Call& call, const Readings&) { return std::optional(call.shape("x")); };
  oracle.factors = {"x"};
  return with_touched(std::move(oracle));
}

}  // namespace

Oracle cum_sum() { return prefixes<Joining::sum>(); }
Oracle cum_prod() { return prefixes<Joining::product>(); }

}  // namespace assay::oracles
