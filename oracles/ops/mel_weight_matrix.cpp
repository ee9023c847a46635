// SPDX-License-Identifier: Apache-2.0
// The exact answer of MelWeightMatrix: a quotient of two integers, between places that are rounded down (reductions 9).
// With A = 1 + low/700, B = 1 + high/700 and t = i / (bins + 2), a place is that of (length + 1) 700 (e^M - 1) / rate,
// M = (1 - t) log A + t log B. In float32 the power errs by less than 32 (M + 1) u of itself: logarithms of 4 ulp, six
// roundings on the way to M and back to the power, an exponential of 4 + M/8 ulp, and the quotient. Nothing is claimed
// of a column one of whose places is then in doubt.
#include "oracles/exact/functions.h"
#include "oracles/exact/operands.h"
#include "oracles/families/normalized.h"
#include "oracles/rules/rules.h"

#include <array>

namespace assay::oracles {
namespace {

Scalar number(const Call& call, std::string_view input) {
  return scalar(*call.node().inputs.find(input)->second.data, 0);
}
Int whole(const Call& call, std::string_view input) { return number(call, input).as_integer(); }

constexpr int bits = 192;

Real times(const Real& x, Int numerator, Int denominator) { return x * Real(Ratio{{numerator, 0}, denominator}, bits); }

Int floor_of(const Dyadic& x) {
  const Integer down = truncated(Ratio{x, 1});
  return static_cast<Int>(Dyadic{down, 0} > x ? Integer(down - 1) : down);
}

class MelAnswer final : public TreeAnswer {
 public:
  MelAnswer(std::size_t, const Call& call, const Readings& readings, const Arithmetic& declared)
      : TreeAnswer(call.definition().type_of(call, call.definition().outputs.front()), declared),
        bins_(whole(call, "num_mel_bins")),
        length_(whole(call, "dft_length")),
        rate_(whole(call, "sample_rate")),
        low_(number(call, "lower_edge_hertz")),
        high_(number(call, "upper_edge_hertz")) {
    steps_ = bins_ + (readings.of("N24") == "plus-one" ? 1 : 2);
    for (Int i = 0; i < bins_ + 2; ++i) places_.push_back(place_of_step(i));
  }

  Shape shape() const override { return {length_ / 2 + 1, bins_}; }
  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (Int i = index % bins_; i < index % bins_ + 3; ++i)
      if (const auto& place = places_[static_cast<std::size_t>(i)])
        all.push_back({{std::to_string(*place)}, "the place of step " + std::to_string(i)});
    return all;
  }

 private:
  Int terms() const override { return 1; }

  static Real logarithm(const Scalar& hertz) {
    const Ratio one{{1, 0}, 1}, share{ratio(hertz).numerator, 700};
    return enclosed(Function::log, std::array{Real(one + share, bits)});
  }

  // None where an evaluation in float32 may round it to another.
  std::optional<Int> place_of_step(Int i) const {
    if (i == 0 && low_.is_zero()) return 0;
    const Real mel = times(logarithm(low_), steps_ - i, steps_) + times(logarithm(high_), i, steps_);
    const Real power = enclosed(Function::exp, std::array{mel});
    const Real one(Int{1}, bits), off = power * (mel + one) * Real(Ratio{{1, 5 - 24}, 1}, bits);
    const Real least = times(power - one - off, 700 * (length_ + 1), rate_);
    const Real most = times(power - one + off, 700 * (length_ + 1), rate_);
    const Int down = floor_of(least.lower()), up = floor_of(most.upper());
    return down == up ? std::optional(down) : std::nullopt;
  }

  TreeValue value_at(Int index) const override {
    const Int i = index % bins_, k = index / bins_;
    const auto place = [&](Int step) { return places_[static_cast<std::size_t>(step)]; };
    const auto first = place(i), centre = place(i + 1), last = place(i + 2);
    if (!first || !centre || !last) return unscored("a place that rounding may move");
    if (k == *centre) return exactly(scalar(Int{1}), dtype());
    const bool rises = k > *first && k<*centre, falls = k> * centre && k < *last;
    if (!rises && !falls) return exactly(Scalar(), dtype());
    if (!is_float(dtype())) return exactly(Scalar(), dtype());
    return rises ? operand(scalar(k - *first)) / operand(scalar(*centre - *first))
                 : operand(scalar(*last - k)) / operand(scalar(*last - *centre));
  }

  Int bins_, length_, rate_, steps_ = 1;
  Scalar low_, high_;
  std::vector<std::optional<Int>> places_;
};

}  // namespace

Oracle mel_weight_matrix() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands&, const Readings& readings, const Arithmetic& declared) {
    return answers_of<MelAnswer>(call, readings, declared);
  };
  oracle.shape = [](const Call& call, const Readings&) {
    return std::optional(Shape{whole(call, "dft_length") / 2 + 1, whole(call, "num_mel_bins")});
  };
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
