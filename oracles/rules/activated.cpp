// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/activated.h"

#include "oracles/rules/rules.h"

#include <cmath>

namespace assay::oracles {
namespace {

class ActivatedAnswer final : public Answer {
 public:
  ActivatedAnswer(std::unique_ptr<Answer> z, ActivationRule activation, const Arithmetic& declared)
      : z_(std::move(z)), activation_(std::move(activation)), declared_(declared) {}

  Shape shape() const override { return z_->shape(); }
  DType dtype() const override { return z_->dtype(); }
  std::vector<ProofTerm> taps(Int index) const override { return z_->taps(index); }

  // Applies the activation to the sum. Behind it a NaN is admitted where the sum may be one.
  Element element(Int index) const override {
    const Element z = z_->element(index);
    if (!z.nan_admitted.empty() && !activation_.keeps_nan) return unscored("a comparison with a NaN that may come");
    Element out = of(z);
    if (out.kind != Kind::nan && out.kind != Kind::unscored) out.nan_admitted = z.nan_admitted;
    return out;
  }

  std::vector<Tolerance> wider(Int index) const override {
    const Element z = z_->element(index);
    std::vector<Tolerance> all = z_->wider(index);
    if (z.kind != Kind::finite) return all;
    const Element own = element(index);
    // Makes the expression anew: one remembers its errors by the names of policies, which do not tell these apart.
    const auto widen_by = [&](Tolerance& wider, double imprecision) {
      const std::unique_ptr<Expression> of = activation_.of(z.value);
      Policy p = policy(wider);
      p.imprecision = imprecision;
      const double error = of->error(p);
      wider.vacuous = wider.vacuous || !std::isfinite(error);
      if (!wider.vacuous) wider.budget = budget_of(error, own.blur);
      wider.may_overflow = wider.may_overflow || of->breaks_down(p);
    };
    for (Tolerance& each : all) widen_by(each, 0);
    for (const auto& [words, imprecision] : {std::pair{"fast functions", 0x1p-20}, {"functions of 10 bits", 0x1p-10}}) {
      Tolerance& crude = all.emplace_back(z.required);
      crude.level = Level::widest;
      crude.arithmetic = words;
      widen_by(crude, imprecision);
    }
    return all;
  }

 private:
  Element of(const Element& z) const {
    if (z.kind == Kind::nan) return activation_.of_special(nan());
    if (z.kind == Kind::positive_infinity) return activation_.of_special(infinity());
    if (z.kind == Kind::negative_infinity) return activation_.of_special(infinity(true));
    if (z.kind != Kind::finite) return z;
    Element out = computed(*activation_.of(z.value), dtype(), {policy(z.required)});
    out.terms = z.terms;
    return out;
  }

  Policy policy(const Tolerance& z) const {
    Policy out;
    out.level = z.level;
    out.arithmetic = z.arithmetic;
    const bool is_double = dtype() == DType::f64 && z.level != Level::widest;
    out.working = format_of(z.level == Level::L3 || is_double ? dtype() : DType::f32);
    if (z.level == Level::widest && declared_.accumulator &&
        format_of(*declared_.accumulator).precision < out.working.precision)
      out.working = format_of(*declared_.accumulator);
    const Format own = format_of(dtype());
    out.nodes = own.precision < out.working.precision ? own : out.working;  // a node may be rounded to the type
    if (z.level != Level::L2) out.truncation = 2;
    out.input_error = size_of(z.budget);
    if (z.flushes_output) out.lost_input = std::ldexp(2.0, format_of(dtype()).min_exponent);
    return out;
  }

  std::unique_ptr<Answer> z_;
  ActivationRule activation_;
  Arithmetic declared_;
};

}  // namespace

std::unique_ptr<Answer> activated(std::unique_ptr<Answer> z, ActivationRule activation, const Arithmetic& declared) {
  return std::make_unique<ActivatedAnswer>(std::move(z), std::move(activation), declared);
}

}  // namespace assay::oracles
