// SPDX-License-Identifier: Apache-2.0
// The exact answers of DynamicQuantizeLinear (windows-and-products 3.14), judged together: y by the scale and the zero
// point that came back with it.
//
// With e = (max - min) / 255 and u of f32: the scale is within 3 u e of e (a subtraction and a division, or a product
// with the reciprocal of 255), the zero point rounds from within 6 u 255 of -255 min / (max - min), and y from within
// 4 u |x / s| of x / s, s the scale that came back or another that is admitted, 6 u further off. Where e is a power of
// two nothing rounds: ties go to even.
#include "oracles/exact/operands.h"
#include "oracles/rules/requantizing.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>
#include <memory>

namespace assay::oracles {
namespace {

const Format& single() { return format_of(DType::f32); }
Ratio units(const Ratio& of, Int count) { return of * Dyadic{count, single().unit_exponent()}; }

// What the data decide.
struct Range {
  std::string unscored;  // why nothing is claimed
  Ratio low, high, scale;
  bool is_exact = false;  // the scale is a power of two

  explicit Range(const Cells& x) {
    const Int count = x.tensor().elements();
    if (count == 0) unscored = "no element";
    for (Int i = 0; i < count && unscored.empty(); ++i) {
      const Scalar each = x.at(i);
      if (!each.is_finite()) unscored = "NaN or an infinity among the data (W49)";
      if (!each.is_finite()) return;
      low = std::min(low, ratio(each));
      high = std::max(high, ratio(each));
    }
    const Ratio width = high - low;
    scale = {width.numerator, width.denominator * 255};
    if (!(width < Ratio{single().overflow_threshold(), 1})) unscored = "the range overflows (W49)";
    if (!width.is_zero() && scale < Ratio{Dyadic::power_of_two(single().min_exponent), 1})
      unscored = "the scale is subnormal";
    const Scalar near = rounded(scale, single());
    is_exact = near.significand == 1 && ratio(near) == scale;
  }
  bool is_zero() const { return low.is_zero() && high.is_zero(); }
};

enum Output { y, y_scale, y_zero_point };

class DynamicAnswer final : public Answer {
 public:
  DynamicAnswer(Output output, const Tensor& x, const Readings& readings, const std::vector<Tensor>* got)
      : output_(output), x_(x), range_(x_), last_{DType::u8, readings.of("A16") == "add-then-round"} {
    if (!range_.unscored.empty() || range_.is_zero()) return;
    scale_ = rounded(range_.scale, single());
    zero_ = zero_at(0).as_integer();
    if (!got) return;
    if (const Scalar own = scalar(got->at(y_scale), 0); own.is_finite() && !own.is_zero() && !own.negative)
      scale_ = own;
    zero_ = scalar(got->at(y_zero_point), 0).as_integer();
  }

  Shape shape() const override { return output_ == y ? x_.shape() : Shape{}; }
  DType dtype() const override { return output_ == y_scale ? DType::f32 : DType::u8; }
  std::vector<Tolerance> wider(Int) const override { return {}; }
  std::vector<ProofTerm> taps(Int index) const override {
    if (output_ != y) return {};
    return {{{hexadecimal(x_.at(index))}, place("x", x_.shape(), index)}};
  }

  Element element(Int index) const override {
    if (!range_.unscored.empty()) return unscored(range_.unscored);
    if (range_.is_zero()) return of_zeros();
    switch (output_) {
      case y_scale: return scale();
      case y_zero_point: return between(zero_at(0), zero_at(-1), zero_at(1));
      default: return code(index);
    }
  }

 private:
  Element of_zeros() const {
    if (output_ != y_scale) return exactly(scalar(Int{0}), dtype());
    return one_of("W48", {Scalar(), rounded({{1, 0}, 255}, single()), scalar(Int{1})});
  }

  Element scale() const {
    Element out;
    out.terms = 1;
    out.value = range_.scale;
    out.magnitude = out.value;
    out.required.arithmetic = "a difference and a quotient in f32";
    out.required.budget = range_.is_exact ? Ratio() : units(range_.scale, 3);
    return out;
  }

  // -255 low / (high - low), moved to one side by 6 u 255, rounded.
  Scalar zero_at(Int side) const {
    const Ratio t = quotient(Ratio() - range_.low, range_.scale);
    const Ratio moved = range_.is_exact ? Ratio() : units({{side * 6 * 255, 0}, 1}, 1);
    return last_.clamped(nearest_integer(t + moved, 0));
  }
  static Ratio quotient(const Ratio& a, const Ratio& positive) {
    const Integer below = positive.numerator.mantissa;
    return {a.numerator * Dyadic{positive.denominator, -positive.numerator.exponent}, a.denominator * below};
  }

  Element between(const Scalar& right, const Scalar& low, const Scalar& high) const {
    Element out = exactly(right, DType::u8);
    out.required.range = Interval{low, high};
    out.required.arithmetic = "quotients in f32";
    return out;
  }

  Element code(Int index) const {
    const Ratio e = quotient(ratio(x_.at(index)), ratio(scale_)), size = abs(e);
    const bool is_exact = range_.is_exact && ratio(scale_) == range_.scale;
    Ratio slack = is_exact ? Ratio() : units(size, 10) + Ratio{Dyadic::power_of_two(single().smallest_exponent()), 1};
    if (!is_exact && last_.adds_first) slack = slack + units(size + Ratio{{zero_, 0}, 1} + slack, 1);
    return between(last_(e, zero_), last_(e - slack, zero_), last_(e + slack, zero_));
  }

  Output output_;
  Cells x_;
  Range range_;
  Requantizing last_;
  Scalar scale_;
  Int zero_ = 0;
};

Answers answers(const Operands& in, const Readings& readings, const std::vector<Tensor>* got) {
  Answers all;
  for (const Output output : {y, y_scale, y_zero_point})
    all.push_back(std::make_unique<DynamicAnswer>(output, *in.at(0), readings, got));
  return all;
}

}  // namespace

Oracle dynamic_quantize_linear() {
  Oracle oracle;
  oracle.answer = [](const Call&, const Operands& in, const Readings& readings, const Arithmetic&) {
    return answers(in, readings, nullptr);
  };
  oracle.shape = [](const Call& call, const Readings&) { return std::optional(call.shape("x")); };
  oracle.given = [](const Call&, const Operands& in, const Readings& readings, const std::vector<Tensor>& got) {
    return answers(in, readings, &got);
  };
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
