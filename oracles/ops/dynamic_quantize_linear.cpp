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

enum Output { y, y_scale, y_zero_point };

class DynamicAnswer final : public Answer {
 public:
  DynamicAnswer(Output output, const Tensor& x, const Readings& readings, const std::vector<Tensor>* got)
      : output_(output), x_(x), range_(x_.tensor()), last_{DType::u8, readings.of("A16") == "add-then-round"} {
    if (!range_.unscored.empty() || range_.is_zero()) return;
    scale_ = rounded(range_.scale, format_of(DType::f32));
    zero_ = range_.zero(0);
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
      case y_zero_point: return between(scalar(range_.zero(0)), scalar(range_.zero(-1)), scalar(range_.zero(1)));
      default: return code(index);
    }
  }

 private:
  Element of_zeros() const {
    if (output_ != y_scale) return exactly(scalar(Int{0}), dtype());
    return one_of("W48", {Scalar(), rounded({{1, 0}, 255}, format_of(DType::f32)), scalar(Int{1})});
  }

  Element scale() const {
    Element out;
    out.terms = 1;
    out.value = range_.scale;
    out.magnitude = out.value;
    out.required.arithmetic = "a difference and a quotient in f32";
    out.required.budget = range_.is_exact ? Ratio() : units_of_f32(range_.scale, 3);
    return out;
  }

  Element between(const Scalar& right, const Scalar& low, const Scalar& high) const {
    Element out = exactly(right, DType::u8);
    out.required.range = Interval{low, high};
    out.required.arithmetic = "quotients in f32";
    return out;
  }

  Element code(Int index) const {
    const Ratio e = divided(ratio(x_.at(index)), scale_);
    const bool is_exact = range_.is_exact && ratio(scale_) == range_.scale;
    Ratio slack = is_exact ? Ratio() : DynamicRange::slack(e);
    if (!is_exact && last_.adds_first) slack = slack + units_of_f32(abs(e) + Ratio{{zero_, 0}, 1} + slack, 1);
    return between(last_(e, zero_), last_(e - slack, zero_), last_(e + slack, zero_));
  }

  Output output_;
  Cells x_;
  DynamicRange range_;
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
