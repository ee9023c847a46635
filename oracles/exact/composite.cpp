// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/composite.h"

#include "oracles/exact/tree_bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace assay::oracles {
namespace {

// Works out its value and its bounds once.
class Remembering : public TreeNode {
 public:
  bool breaks_down(const Policy& p) const override {
    return breaks_.of(p.arithmetic, [&] { return TreeNode::breaks_down(p); });
  }
  bool is_met_by(const Policy& p) const override {
    return met_.of(p.arithmetic, [&] { return TreeNode::is_met_by(p); });
  }

 protected:
  using TreeNode::TreeNode;
  virtual double off_by(const Policy& p) const = 0;
  virtual Real enclosed(int bits) const = 0;

 private:
  double bound(const Policy& p) const final { return proven(off_by(p)); }
  Real irrational(int bits) const final {
    const auto found = values_.find(bits);
    return found != values_.end() ? found->second : values_.emplace(bits, enclosed(bits)).first->second;
  }

  PerPolicy<bool> breaks_, met_;
  mutable std::map<int, Real> values_;
};

class Total final : public Remembering {
 public:
  Total(std::vector<Tree> terms, Int divisor)
      : Remembering(terms, fraction_of(terms, divisor)), divisor_(divisor), n_(static_cast<double>(terms.size())) {
    for (const Tree& each : operands_) sizes_ += each->size();
  }

  // Tells whether a partial sum of some order may overflow, be the whole, or its mean, as small as it is.
  bool breaks_down(const Policy& p) const override {
    double most = sizes_;
    for (const Tree& each : operands_) most += each->error(p);
    return (std::isfinite(most) && !(most < two_to(p.nodes.max_exponent))) || Remembering::breaks_down(p);
  }

 private:
  static std::optional<Ratio> fraction_of(const std::vector<Tree>& terms, Int divisor) {
    Ratio sum{};
    for (const Tree& each : terms) {
      if (!each->fraction()) return std::nullopt;
      sum = sum + *each->fraction();
    }
    sum.denominator *= divisor;
    return sum;
  }

  Real enclosed(int bits) const override {
    Real sum(Int{0}, bits);
    for (const Tree& each : operands_) sum = sum + each->value(bits);
    return sum / Real(divisor_, bits);
  }

  double off_by(const Policy& p) const override {
    double off = 0;
    for (const Tree& each : operands_) off += each->error(p);
    const bool averages = divisor_ > 1;
    off += gamma_of(n_ + (averages ? 1 : -1), p.sum_unit()) * (sizes_ + off) * raised;
    off = off / static_cast<double>(divisor_) + (averages || p.flushes ? (n_ + 1) * lost(p) : 0);
    return p.is_fused() || n_ < 2 ? off : off + rho(p, size() + off) + lost(p);
  }

  Int divisor_;
  double n_, sizes_ = 0;
};

// Encloses what nothing is known of, as yet: more bits tell.
Real unknown(const Real& x) { return x / (x - x); }

// The sign of a number, or of what is left of it; none where its ends do not tell.
std::optional<int> sign_of(const Real& x) {
  if (x.is_positive()) return 1;
  if (x.is_negative()) return -1;
  return x.is_exact() ? std::optional(0) : std::nullopt;
}

class Applied final : public Remembering {
 public:
  Applied(Function f, const Tree& x) : Remembering({x}), f_(f) {}
  // The exponential of log(1 + e^x) may, as the text writes it.
  bool breaks_down(const Policy& p) const override {
    const double most = operands_[0]->size() + operands_[0]->error(p);
    return (f_ == Function::softplus && !(most < 0.69 * p.working.max_exponent)) || Remembering::breaks_down(p);
  }

 private:
  Real enclosed(int bits) const override { return oracles::enclosed(f_, std::array{operands_[0]->value(bits)}); }
  double off_by(const Policy& p) const override {
    const double off = operands_[0]->error(p), moved = (f_ == Function::sigmoid ? 0.25 : 1) * off;
    const double most = f_ == Function::softplus ? size() + moved : std::min(1.0, size() + moved);
    const double own = oracles::bound(f_, std::array{operands_[0]->size() + off}, most, p.working);
    return moved + own + p.imprecision * (most + 1);
  }

  Function f_;
};

class Clamped final : public Remembering {
 public:
  Clamped(const Tree& x, std::optional<Scalar> least, std::optional<Scalar> most)
      : Remembering({x}, fraction_of(*x, least, most)), least_(least), most_(most) {}

 private:
  static std::optional<Ratio> fraction_of(const TreeNode& x, const std::optional<Scalar>& least,
                                          const std::optional<Scalar>& most) {
    if (!x.fraction()) return std::nullopt;
    if (least && *x.fraction() < ratio(*least)) return ratio(*least);
    return most && *x.fraction() > ratio(*most) ? ratio(*most) : *x.fraction();
  }
  Real enclosed(int bits) const override {
    const Real x = operands_[0]->value(bits);
    for (const bool is_lower : {true, false}) {
      const std::optional<Scalar>& end = is_lower ? least_ : most_;
      if (!end) continue;
      const Real limit(ratio(*end), bits);
      const std::optional<int> sign = sign_of(x - limit);
      if (!sign) return unknown(x);
      if (is_lower ? *sign < 0 : *sign > 0) return limit;
    }
    return x;
  }
  double off_by(const Policy& p) const override { return operands_[0]->error(p); }

  std::optional<Scalar> least_, most_;
};

// Is x, but below 0 alpha x or alpha (e^x - 1).
class Bent final : public Remembering {
 public:
  Bent(const Tree& x, const Scalar& alpha, bool is_exponential)
      : Remembering({x}, fraction_of(*x, alpha, is_exponential)), alpha_(alpha), is_exponential_(is_exponential) {}

 private:
  static std::optional<Ratio> fraction_of(const TreeNode& x, const Scalar& alpha, bool is_exponential) {
    if (!x.fraction() || (x.fraction()->numerator < Dyadic{} && is_exponential)) return std::nullopt;
    return x.fraction()->numerator < Dyadic{} ? *x.fraction() * alpha.value() : *x.fraction();
  }
  Real enclosed(int bits) const override {
    const Real x = operands_[0]->value(bits), alpha(ratio(alpha_), bits);
    const std::optional<int> sign = sign_of(x);
    if (!sign) return unknown(x);
    if (*sign >= 0) return x;
    return is_exponential_ ? oracles::enclosed(Function::elu, std::array{x, alpha}) : alpha * x;
  }
  double off_by(const Policy& p) const override {
    const double off = operands_[0]->error(p), slope = std::abs(alpha_.as_double());
    const std::optional<int> sign = sign_of(operands_[0]->value(96));
    if (sign && *sign > 0 && off < operands_[0]->least()) return off;
    const double moved = std::max(1.0, slope) * off, most = operands_[0]->size() + off;
    if (!is_exponential_) return moved + rho(p, slope * most) + lost(p);
    const double size = slope * std::min(1.0, most);
    return moved + oracles::bound(Function::elu, std::array{-most, slope}, size, p.working) +
           p.imprecision * (size + slope);
  }

  Scalar alpha_;
  bool is_exponential_;
};

class Thresholded final : public Remembering {
 public:
  Thresholded(const Tree& x, const Scalar& limit)
      : Remembering({x}, fraction_of(*x, limit)), limit_(limit), distance_(x - operand(limit)) {}

 private:
  static std::optional<Ratio> fraction_of(const TreeNode& x, const Scalar& limit) {
    if (!x.fraction()) return std::nullopt;
    return *x.fraction() < ratio(limit) ? Ratio{} : *x.fraction();
  }
  Real enclosed(int bits) const override {
    const std::optional<int> sign = sign_of(distance_->value(bits));
    if (!sign) return unknown(distance_->value(bits));
    return *sign < 0 ? Real(Int{0}, bits) : operands_[0]->value(bits);
  }
  double off_by(const Policy& p) const override {
    const double off = operands_[0]->error(p);
    if (off >= distance_->least()) return off + operands_[0]->size();  // either may come
    return size() > 0 ? off : 0;
  }

  Scalar limit_;
  Tree distance_;
};

class State final : public TreeNode {
 public:
  State(const Scalar& returned, DType as) : TreeNode({}, ratio(returned)), as_(format_of(as)) {}
  double bound(const Policy& p) const override {
    const double u = std::ldexp(1.0, as_.unit_exponent()), least = std::ldexp(1.0, as_.smallest_exponent());
    return proven((u * (1 + 2 * u) + p.input_error) * size() + least / 2 + p.lost_input);
  }
  bool breaks_down(const Policy&) const override { return false; }

 private:
  Format as_;
};

class Negative final : public TreeNode {
 public:
  explicit Negative(const Tree& of) : TreeNode({of}, opposite(*of)) {}
  double bound(const Policy& p) const override { return operands_[0]->error(p); }

 private:
  static std::optional<Ratio> opposite(const TreeNode& of) {
    if (!of.fraction()) return std::nullopt;
    return Ratio{} - *of.fraction();
  }
  Real irrational(int bits) const override { return -operands_[0]->value(bits); }
};

class Leaf final : public TreeNode {
 public:
  explicit Leaf(std::unique_ptr<Expression> of) : TreeNode({}), of_(std::move(of)) {}
  double bound(const Policy& p) const override { return of_->error(p); }
  bool breaks_down(const Policy& p) const override { return of_->breaks_down(p); }
  bool is_met_by(const Policy& p) const override { return of_->is_met_by(p); }

 private:
  Real irrational(int bits) const override { return of_->value(bits); }
  Near in_double() const override { return of_->near(); }
  std::unique_ptr<Expression> of_;
};

}  // namespace

Tree sum_of(std::vector<Tree> terms) { return std::make_shared<Total>(std::move(terms), Int{1}); }
Tree mean_of(std::vector<Tree> terms) {
  const auto n = static_cast<Int>(terms.size());
  return std::make_shared<Total>(std::move(terms), n);
}
Tree negative(const Tree& of) { return std::make_shared<Negative>(of); }
Tree function_of(Function f, const Tree& x) { return std::make_shared<Applied>(f, x); }
Tree clamped(const Tree& x, std::optional<Scalar> least, std::optional<Scalar> most) {
  return std::make_shared<Clamped>(x, least, most);
}
Tree leaky(const Tree& x, const Scalar& alpha) { return std::make_shared<Bent>(x, alpha, false); }
Tree exponential_unit(const Tree& x, const Scalar& alpha) { return std::make_shared<Bent>(x, alpha, true); }
Tree thresholded(const Tree& x, const Scalar& limit) { return std::make_shared<Thresholded>(x, limit); }
Tree state(const Scalar& returned, DType as) { return std::make_shared<State>(returned, as); }
Tree leaf(std::unique_ptr<Expression> of) { return std::make_shared<Leaf>(std::move(of)); }

}  // namespace assay::oracles
