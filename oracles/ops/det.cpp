// SPDX-License-Identifier: Apache-2.0
// The exact determinant, and how far from it elimination may land (windows-and-products 3.18): what it computes is that
// of A + D times 1 + γ(M), with |D| <= d = γ(3M) ρ max|a| an entry. With the cofactors c, r the norms of the rows and
// e = √M d:
//
//   B = (d sum |c| + R)(1 + γ(M)) + γ(M) |y|,  R = sum over k >= 2 of e^k E(M - k, r),  E elementary symmetric
//
// ρ bounds how pivots grow: M where L2 is required, 2^(M-1) at the widest. Up to four rows B is at least γ(M(M+1)/2) of
// the permanent of |A|, that of formulas written out.
#include "oracles/exact/operands.h"
#include "oracles/families/normalized.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <cmath>

namespace assay::oracles {
namespace {

constexpr double raised = 1 + 0x1p-40;  // more than the roundings of what is computed here

// A square of integers.
struct Whole {
  std::size_t n;
  std::vector<Integer> a;

  Whole without(std::size_t row, std::size_t column) const {
    Whole out{n - 1, {}};
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (i != row && j != column) out.a.push_back(a[i * n + j]);
    return out;
  }

  // Divides without remainder all the way (Bareiss).
  Integer determinant() const {
    std::vector<Integer> m = a;
    Integer before = 1;
    bool is_negated = false;
    for (std::size_t k = 0; k + 1 < n; ++k) {
      std::size_t row = k;
      while (row < n && m[row * n + k] == 0) ++row;
      if (row == n) return 0;
      if (row != k) std::swap_ranges(&m[k * n], &m[k * n] + n, &m[row * n]);
      is_negated ^= row != k;
      for (std::size_t i = k + 1; i < n; ++i)
        for (std::size_t j = k + 1; j < n; ++j)
          m[i * n + j] = Integer(m[i * n + j] * m[k * n + k] - m[i * n + k] * m[k * n + j]) / before;
      before = m[k * n + k];
    }
    const Integer out = n == 0 ? Integer(1) : m.back();
    return is_negated ? Integer(-out) : out;
  }

  Integer permanent() const {
    if (n == 0) return 1;
    Integer sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += abs(a[j]) * without(0, j).permanent();
    return sum;
  }

  Integer sum_of_cofactors() const {
    Integer sum = 0;
    for (std::size_t i = 0; i < n * n; ++i) sum += abs(without(i / n, i % n).determinant());
    return sum;
  }
};

class Determinant final : public TreeNode {
 public:
  static Tree of(const std::vector<Scalar>& x, std::size_t n) {
    int exponent = 0;
    for (const Scalar& each : x)
      if (!each.is_zero()) exponent = std::min(exponent, each.exponent);
    Whole whole{n, {}};
    for (const Scalar& each : x) {
      const Dyadic value = each.value();
      whole.a.push_back(value.is_zero() ? Integer(0) : Integer(value.mantissa << (value.exponent - exponent)));
    }
    return std::make_shared<Determinant>(x, whole, exponent);
  }

  Determinant(const std::vector<Scalar>& x, const Whole& whole, int exponent)
      : TreeNode({}, scaled(whole.determinant(), whole.n, exponent)), rows_(static_cast<double>(whole.n)) {
    cofactors_ = size_of(scaled(whole.sum_of_cofactors(), whole.n - 1, exponent));
    if (whole.n <= 4) permanent_ = size_of(scaled(whole.permanent(), whole.n, exponent));
    for (std::size_t i = 0; i < whole.n; ++i) norms_.push_back(norm(std::span(x).subspan(i * whole.n, whole.n)));
    for (const Scalar& each : x) largest_ = std::max(largest_, std::abs(each.as_double()));
  }

  double bound(const Policy& p) const override {
    const double u = p.unit(), growth = p.level == Level::widest ? std::exp2(rows_ - 1) : rows_;
    const double lost = rows_ * (p.flushes ? p.vanishing() : p.smallest());
    const double given = p.input_error * largest_ + p.lost_input;
    const double moved = gamma_of(3 * rows_, u) * growth * (largest_ + given) + given + lost * (1 + growth * largest_);
    const double off = (moved * cofactors_ + beyond(std::sqrt(rows_) * moved)) * (1 + gamma_of(rows_, u)) +
                       gamma_of(rows_, u) * size();
    const double written_out = gamma_of(rows_ * (rows_ + 1) / 2, u) * permanent_ * (1 + 8 * p.input_error);
    const double own = p.input_error > 0 ? off + written_out : std::max(off, written_out);
    const double bound = (own + 32 * lost * product([](double r) { return std::max(1.0, r); }, growth)) * raised;
    return bound >= 0 ? bound : unproven;
  }

  // Tells whether a product of some entries may leave the format.
  bool breaks_down(const Policy& p) const override {
    const double most = product([](double r) { return std::max(1.0, r); }, 2);
    const double least = product([](double r) { return std::min(1.0, r); }, 1);
    return !(most < std::ldexp(1.0, p.working.max_exponent)) ||
           (!fraction()->is_zero() && !(least >= std::ldexp(1.0, p.working.min_exponent)));
  }
  bool is_met_by(const Policy& p) const override { return TreeNode::is_met_by(p) && p.is_fused(); }

 private:
  static Ratio scaled(const Integer& whole, std::size_t n, int exponent) {
    return {{whole, static_cast<int>(n) * exponent}, 1};
  }

  static double norm(std::span<const Scalar> row) {
    double most = 0, squares = 0;
    for (const Scalar& each : row) most = std::max(most, std::abs(each.as_double()));
    for (const Scalar& each : row) squares += most > 0 ? std::pow(each.as_double() / most, 2) : 0;
    return most * std::sqrt(squares) * raised;
  }

  template <class F>
  double product(F of, double times) const {
    double out = 1;
    for (const double r : norms_) out *= of(times * r);
    return out;
  }

  // Returns R.
  double beyond(double e) const {
    std::vector<double> terms{1};  // of the product of r + e t, by powers of t
    for (const double r : norms_) {
      terms.push_back(0);
      for (std::size_t k = terms.size(); k-- > 0;) terms[k] = terms[k] * r + (k > 0 ? terms[k - 1] * e : 0);
    }
    double sum = 0;
    for (std::size_t k = 2; k < terms.size(); ++k) sum += terms[k];
    return sum;
  }

  double rows_, cofactors_ = 0, permanent_ = 0, largest_ = 0;
  std::vector<double> norms_;
};

class DeterminantAnswer final : public TreeAnswer {
 public:
  DeterminantAnswer(const Call& call, const Operands& in, const Arithmetic& declared)
      : TreeAnswer(in[0]->dtype(), declared), x_(*in[0]), shape_(call.shape("X")) {
    rows_ = shape_.back();
    shape_.resize(shape_.size() - 2);
  }

  Shape shape() const override { return shape_; }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (Int i = 0; i < rows_ * rows_; ++i) {
      const Int at = index * rows_ * rows_ + i;
      all.push_back({{hexadecimal(x_.at(at))}, place("X", x_.shape(), at)});
    }
    return all;
  }

 private:
  Int terms() const override { return rows_ * rows_; }

  TreeValue value_at(Int index) const override {
    std::vector<Scalar> x;
    for (Int i = 0; i < rows_ * rows_; ++i) x.push_back(x_.at(index * rows_ * rows_ + i));
    if (x.empty()) return exactly(scalar(Int{1}), dtype());
    if (x.size() == 1) return exactly(x.front(), dtype());
    if (std::ranges::any_of(x, is_nan)) return one_of("W60", {nan(), Scalar()});
    if (std::ranges::any_of(x, is_infinite)) return unscored("a determinant of infinities");
    if (std::ranges::all_of(x, &Scalar::is_zero)) return exactly(Scalar(), dtype());
    return Determinant::of(x, static_cast<std::size_t>(rows_));
  }

  Cells x_;
  Shape shape_;
  Int rows_;
};

}  // namespace

Oracle det() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings&, const Arithmetic& declared) {
    return Answers(std::make_unique<DeterminantAnswer>(call, in, declared));
  };
  oracle.shape = [](const Call& call, const Readings&) {
    Shape shape = call.shape("X");
    shape.resize(shape.size() - 2);
    return std::optional(shape);
  };
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
