// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/totals.h"

#include "oracles/exact/functions.h"
#include "oracles/exact/operands.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace assay::oracles {
namespace {

constexpr double raised = 1 + 0x1p-40;  // more than the roundings of what is computed here

double at_least(const Dyadic& value) { return size_of({value, 1}); }

// What is added up.
struct Terms {
  Dyadic sum, sizes;
  int granule = std::numeric_limits<int>::max();  // log2 of what divides every term
  std::vector<double> x;                          // sizes of the operands
  double magnitude = 0, largest = 0;              // A and the largest term, or a little more

  Terms(const std::vector<Scalar>& operands, bool are_squared) {
    for (const Scalar& each : operands) {
      const Dyadic value = are_squared ? each.value() * each.value() : each.value();
      sum += value;
      sizes += abs(value);
      x.push_back(std::abs(each.as_double()) * raised);
      largest = std::max(largest, at_least(value));
      if (!each.is_zero()) granule = std::min(granule, (are_squared ? 2 : 1) * each.exponent);
    }
    magnitude = at_least(sizes);
  }

  bool is_exact_in(const Format& format) const {
    return sizes.is_zero() || (granule >= format.smallest_exponent() && sizes < format.overflow_threshold() &&
                               sizes <= Dyadic::power_of_two(format.precision + granule));
  }
};

class OfTotal final : public Expression {
 public:
  OfTotal(Total of, const std::vector<Scalar>& x, bool of_integers)
      : of_(of), of_integers_(of_integers), terms_(x, of != Total::logarithm), sum_(at_least(abs(terms_.sum))) {}

  Real value(int bits) const override {
    const Real sum(Ratio{terms_.sum, 1}, bits);
    if (of_ == Total::sum_of_squares) return sum;
    return of_ == Total::root_of_squares ? square_root(sum) : enclosed(Function::log, std::array{sum});
  }

  double error(const Policy& p) const override {
    const double off = sum_error(p);
    if (of_ == Total::sum_of_squares || !std::isfinite(off)) return off;
    return (of_ == Total::root_of_squares ? root_error(p, off) : logarithm_error(p, off)) * raised;
  }

  bool breaks_down(const Policy& p) const override {
    const Format& node = p.is_fused() || of_ == Total::logarithm ? p.working : p.nodes;
    const double limit = std::ldexp(1.0, node.max_exponent), off = sum_error(p);
    if (!(terms_.magnitude + off < limit) && !terms_.sizes.is_zero()) return true;
    return !p.is_fused() && !(sum_ + off < std::ldexp(1.0, p.nodes.max_exponent));
  }

 private:
  // How far the computed sum may lie from S.
  double sum_error(const Policy& p) const {
    const bool is_squared = of_ != Total::logarithm, changes = p.input_error > 0 || p.lost_input > 0 || p.flushes;
    const double to_float = of_integers_ ? std::ldexp(1.0, p.working.unit_exponent()) : 0;
    const bool fits = !of_integers_ ||
                      std::ranges::all_of(terms_.x, [&](double x) { return x < std::ldexp(1.0, p.working.precision); });
    if (!changes && fits && terms_.is_exact_in(p.is_fused() ? p.working : p.nodes)) return 0;
    const auto n = static_cast<double>(terms_.x.size());
    double off = 0;
    for (const double x : terms_.x) {
      const double own = (p.input_error + to_float) * x + p.lost_input;
      off += is_squared ? own * (2 * x + own) : own;
      if (is_squared && !p.is_fused()) off += p.unit() * (x + own) * (x + own) + p.smallest() / 2;
    }
    const double smallest = std::ldexp(1.0, p.working.smallest_exponent());
    off += gamma_of(is_squared ? n : n - 1, p.sum_unit()) * (terms_.magnitude + off) + n * smallest;
    if (p.flushes) off += n * p.vanishing();
    if (!p.is_fused()) off += p.unit() * (sum_ + off) + p.smallest() / 2;
    return off * raised;
  }

  double root_error(const Policy& p, double off) const {
    const double root = std::sqrt(sum_) * raised, least = sum_ / raised;
    double error = 0;
    if (off > 0 && off < least)
      error = off / (std::sqrt(least) + std::sqrt(least - off));
    else if (off > 0)
      error = std::sqrt(sum_ + off);
    if (off == 0 && value(96).is_exact()) return p.imprecision * root;
    return error + (p.unit() * (1 + 4 * p.unit()) + p.imprecision) * (root + error) + p.smallest() / 2;
  }

  double logarithm_error(const Policy& p, double off) const {
    const double share = off / (sum_ / raised);
    if (!(terms_.sum > Dyadic{}) || !(share < 1)) return unproven;
    const double of_sum = share / (1 - share), size = value(96).size() + of_sum;
    const double of_log = bound(Function::log, std::array{sum_ / raised / raised}, size, p.working);
    const double error = of_sum + of_log + p.imprecision * (size + 1);
    return p.is_fused() ? error : error + p.unit() * (size + of_log) + p.smallest();
  }

  Total of_;
  bool of_integers_;
  Terms terms_;
  double sum_;  // |S|, or a little more
};

class Product final : public Expression {
 public:
  explicit Product(const std::vector<Scalar>& x) : product_{1, 0} {
    for (const Scalar& each : x) {
      if (!is_out_of_reach()) product_ = product_ * each.value();
      sizes_.push_back(std::abs(each.as_double()));
      if (each.is_zero()) continue;
      const double power = std::log2(sizes_.back());
      (power > 0 ? largest_ : smallest_) += power;
    }
  }

  Real value(int bits) const override { return Real(Ratio{product_, 1}, bits); }

  double error(const Policy& p) const override {
    if (breaks_down(p)) return unproven;
    const double size = at_least(abs(product_));
    double change = 0;
    for (const double x : sizes_)
      if (x > 0) change += p.input_error + p.lost_input / x;
    if (!(change < 0.25)) return p.input_error > 0 ? unproven : size;
    if (change == 0 && has_at_most(p.working.precision)) return 0;
    const double roundings = gamma_of(static_cast<double>(sizes_.size()) - 1, p.sum_unit());
    return size * (roundings + (1 + roundings) * change * (1 + 2 * change)) * raised;
  }

  // Flushed operands make it 0, and no number that is too large.
  bool breaks_down(const Policy& p) const override {
    const bool vanishes = !product_.is_zero() && smallest_ < p.working.min_exponent + 1;
    return largest_ > p.working.max_exponent - 1 || (vanishes && sizes_.size() > 1);
  }

 private:
  // Tells whether partial products leave every format, where nothing is said of the product.
  bool is_out_of_reach() const { return largest_ > 1100 || smallest_ < -1100; }

  // Tells whether the odd factors together have so many bits: those of some of them have no more then.
  bool has_at_most(int bits) const {
    const Scalar once = rounded(Ratio{product_, 1}, Format{bits, -1 << 20, 1 << 20});
    return once.value() == product_;
  }

  Dyadic product_;
  std::vector<double> sizes_;
  double largest_ = 0, smallest_ = 0;  // log2 of the largest and of the smallest partial product
};

}  // namespace

std::unique_ptr<Expression> total(Total of, const std::vector<Scalar>& x, bool of_integers) {
  return std::make_unique<OfTotal>(of, x, of_integers);
}

std::variant<Element, std::unique_ptr<Expression>> product(const std::vector<Scalar>& x, DType dtype) {
  const int least = std::max(format_of(dtype).min_exponent, format_of(DType::f32).min_exponent);
  std::vector<Scalar> finite;
  bool is_negative = false, has_nan = false, has_zero = false, may_be_lost = false;
  for (const Scalar& each : x) {
    is_negative ^= each.negative;
    has_nan |= each.is == Scalar::Class::nan;
    has_zero |= each.is_zero();
    if (each.is_finite()) finite.push_back(each);
    may_be_lost |= each.is_finite() && abs(each.value()) < Dyadic::power_of_two(least);
  }
  const bool has_infinity = finite.size() < x.size();
  if (has_nan || (has_zero && has_infinity)) return exactly(nan(), dtype);
  if (x.empty()) return exactly(scalar(Int{1}), dtype);
  auto product = std::make_unique<Product>(finite);
  if (!has_infinity) return product;
  if (may_be_lost || product->breaks_down(required_policies(dtype).front()))
    return unscored("a partial product may leave the format");
  return exactly(infinity(is_negative), dtype);
}

double summable(DType type) { return std::ldexp(1.0, format_of(type).max_exponent - 1); }

std::optional<int> certain_sign(const std::vector<Scalar>& x, DType type) {
  const Terms terms(x, false);
  const double sum = at_least(abs(terms.sum)) / raised;
  bool is_certain = true;
  for (const Policy& p : required_policies(type)) {
    const bool is_exact = terms.is_exact_in(p.working);
    const double off = gamma_of(static_cast<double>(x.size()) - 1, p.sum_unit()) * terms.magnitude * raised;
    const bool may_overflow = !(terms.magnitude + off < std::ldexp(1.0, p.working.max_exponent));
    is_certain = is_certain && !may_overflow && (is_exact || off < sum);
  }
  // Below the normal numbers of the type or of f32 an operand may be lost, and 0 be left of what is less.
  const double least = std::ldexp(1.0, std::max(format_of(type).min_exponent, format_of(DType::f32).min_exponent));
  double lost = 0;
  for (const double size : terms.x) lost += size < least ? size : 0;
  if (!is_certain || (terms.sum < Dyadic{} && !(lost < sum / 2))) return std::nullopt;
  return terms.sum.is_zero() ? 0 : terms.sum < Dyadic{} ? -1 : 1;
}

}  // namespace assay::oracles
