// SPDX-License-Identifier: Apache-2.0
// The exact answers of MatMul, MatMulInteger and QLinearMatMul (windows-and-products 3.9, 3.11).
//
// Of float8 the sum of K terms, of sizes A together, the products by the scales, the quotient and the zero point are
// computed in f32 in any order: within γ(K + 5) A sa sb / sy, and u of the sum with the zero point besides (W31).
#include "oracles/exact/bins.h"
#include "oracles/families/products.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/narrowing.h"
#include "oracles/rules/requantizing.h"

namespace assay::oracles {
namespace {

MatrixMeeting meeting_of(const Call& call) { return {call.shape("A"), call.shape("B")}; }
std::optional<Shape> shape(const Call& call, const Readings&) { return meeting_of(call).shape(); }

Answers answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
  return product({*in.at(0), *in.at(1), meeting_of(call)}, readings, declared);
}

// Zero points are counted as rows of A and columns of B are, one matrix after the other.
Answers answer_of_integers(const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
  const MatrixMeeting meeting = meeting_of(call);
  const auto terms = [meeting](Int index, const auto& f) {
    const MatrixLine a = meeting.of_a(index), b = meeting.of_b(index);
    const Int depth = meeting.depth(), columns = meeting.columns();
    for (Int k = 0; k < depth; ++k)
      f({a.at(k), b.at(k), a.at(k) / depth, b.at(k) / (depth * columns) * columns + index % columns});
  };
  return integer_sums(meeting.shape(), {"A", *in.at(0), given(in, 2)}, {"B", *in.at(1), given(in, 3)}, terms, readings);
}

class QuantizedAnswer final : public Answer {
 public:
  QuantizedAnswer(const Call& call, const Operands& in, const Readings& readings)
      : meeting_(call.shape("a"), call.shape("b")),
        last_{call.type("y_zero_point").dtype, readings.of("A16") == "add-then-round"},
        of_integers_(is_integer(call.type("a").dtype) && is_integer(call.type("b").dtype) && is_integer(last_.type)) {
    for (const std::optional<Tensor>& each : in) in_.push_back(scalars(*each));
  }

  Shape shape() const override { return meeting_.shape(); }
  DType dtype() const override { return last_.type; }
  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    each_term(index, [&](Int at_a, Int at_b) {
      all.push_back({{hexadecimal(in_[a].at(at_a)), hexadecimal(in_[b].at(at_b))},
                     place("a", in_[a].shape, at_a) + " " + place("b", in_[b].shape, at_b)});
    });
    return all;
  }

  Element element(Int index) const override {
    Element out =
        of_integers_ ? requantized(last_, whole(index), scaling(index), zero().as_integer()) : of_floats(index);
    out.terms = meeting_.depth();
    return out;
  }
  std::vector<Tolerance> wider(Int index) const override {
    const Element e = element(index);
    if (!of_integers_ || e.kind != Kind::finite) return {};
    return fixed_point(last_, whole(index), scaling(index), zero().as_integer(), e);
  }

 private:
  enum Place : std::size_t { a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero };

  template <class F>
  void each_term(Int index, F&& f) const {
    const MatrixLine left = meeting_.of_a(index), right = meeting_.of_b(index);
    for (Int k = 0; k < meeting_.depth(); ++k) f(left.at(k), right.at(k));
  }
  // What belongs to the row of a or the column of b, counted one matrix after the other.
  const Scalar& beside(Place list, Int at) const { return in_[list].at(in_[list].values.size() == 1 ? 0 : at); }
  Int row(Int at) const { return meeting_.depth() == 0 ? 0 : at / meeting_.depth(); }
  Int column(Int at) const {
    const Int columns = meeting_.columns(), matrix = meeting_.depth() * columns;
    return matrix == 0 ? 0 : at / matrix * columns + at % columns;
  }
  Scalar zero() const { return in_[y_zero].at(0); }

  Scaling scaling(Int index) const {
    return {beside(a_scale, row(meeting_.of_a(index).at(0))), beside(b_scale, column(meeting_.of_b(index).at(0))),
            in_[y_scale].at(0)};
  }

  Int whole(Int index) const {
    Int sum = 0;
    each_term(index, [&](Int at_a, Int at_b) {
      sum += (in_[a].at(at_a).as_integer() - beside(a_zero, row(at_a)).as_integer()) *
             (in_[b].at(at_b).as_integer() - beside(b_zero, column(at_b)).as_integer());
    });
    return sum;
  }

  Element of_floats(Int index) const {
    const Scaling by = scaling(index);
    for (const Scalar* scale : {&by.sx, &by.sw, &by.sy})
      if (!scale->is_finite() || scale->is_zero()) return unscored("a scale is zero, infinite or NaN");
    Dyadic sum, size;
    bool is_finite = zero().is_finite();
    each_term(index, [&](Int at_a, Int at_b) {
      const Scalar &x = in_[a].at(at_a), x_zero = beside(a_zero, row(at_a));
      const Scalar &w = in_[b].at(at_b), w_zero = beside(b_zero, column(at_b));
      is_finite = is_finite && x.is_finite() && x_zero.is_finite() && w.is_finite() && w_zero.is_finite();
      if (!is_finite) return;
      const Dyadic term = (x.value() - x_zero.value()) * (w.value() - w_zero.value());
      sum += term;
      size += abs(term);
    });
    if (!is_finite) return unscored("NaN or an infinity is multiplied (W31)");
    const Ratio one = by.of(1), v = one * sum, most = abs(one) * size;
    const Format& single = format_of(DType::f32);
    // γ(n) is below n u (1 + 2^-6) as long as n u is below 2^-7.
    Ratio slack = most * Dyadic{65 * (meeting_.depth() + 5), single.unit_exponent() - 6} +
                  Ratio{Dyadic::power_of_two(single.smallest_exponent() + 40), 1};
    const Ratio with_zero = v + ratio(zero());
    if (is_integer(last_.type)) {
      if (last_.adds_first) slack = slack + (abs(with_zero) + slack) * Dyadic::power_of_two(single.unit_exponent());
      const Int shift = zero().as_integer();
      Element out = exactly(last_(v, shift), last_.type);
      out.required.range = Interval{last_(v - slack, shift), last_(v + slack, shift)};
      return out;
    }
    slack = slack + (abs(with_zero) + slack) * Dyadic::power_of_two(single.unit_exponent());
    const auto code = [&](const Ratio& value) {
      return std::get<Scalar>(narrowed({value, {}}, last_.type, {.is_minus_zero = value < Ratio()}));
    };
    Element out = exactly(code(with_zero), last_.type);
    out.required.range = Interval{code(with_zero - slack), code(with_zero + slack)};
    return out;
  }

  MatrixMeeting meeting_;
  Requantizing last_;
  bool of_integers_;
  std::vector<Scalars> in_;
};

Answers answer_quantized(const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
  return std::make_unique<QuantizedAnswer>(call, in, readings);
}
std::optional<Shape> quantized_shape(const Call& call, const Readings&) {
  return MatrixMeeting(call.shape("a"), call.shape("b")).shape();
}

}  // namespace

Oracle qlinear_matmul() { return with_touched({answer_quantized, quantized_shape, {}}); }
Oracle matmul() { return of_products({answer, shape, {}}); }
Oracle matmul_integer() { return without_rounding({answer_of_integers, shape, {}}); }

}  // namespace assay::oracles
