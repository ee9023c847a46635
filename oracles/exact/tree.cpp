// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/tree.h"

#include "oracles/exact/functions.h"
#include "oracles/exact/tree_bounds.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace assay::oracles {
namespace {

// Returns how far a root may be off whose operand, no less than `least`, is off by so much.
double root_error(double least, double off) {
  return off < least ? off / (std::sqrt(least) + std::sqrt(least - off)) : unproven;
}

// Returns the root of a fraction that is a square; none of others.
std::optional<Ratio> exact_root(Ratio x) {
  if (x.numerator < Dyadic{}) return std::nullopt;
  if (x.numerator.exponent % 2 != 0) x.numerator.mantissa *= 2, --x.numerator.exponent;
  const Integer common = gcd(x.numerator.mantissa, x.denominator);
  if (common > 1) x.numerator.mantissa /= common, x.denominator /= common;
  const Integer above = sqrt(x.numerator.mantissa), below = sqrt(x.denominator);
  if (above * above != x.numerator.mantissa || below * below != x.denominator) return std::nullopt;
  return Ratio{{above, x.numerator.exponent / 2}, below};
}

std::optional<Ratio> product(const Ratio& a, const Ratio& b) {
  return Ratio{a.numerator * b.numerator, a.denominator * b.denominator};
}

std::optional<Ratio> quotient(const Ratio& a, const Ratio& b) {
  if (b.is_zero()) return std::nullopt;
  Ratio out{{a.numerator.mantissa * b.denominator, a.numerator.exponent - b.numerator.exponent},
            a.denominator * b.numerator.mantissa};
  if (out.denominator < 0) out.denominator = -out.denominator, out.numerator.mantissa = -out.numerator.mantissa;
  return out;
}

// Returns b^y where it is a fraction that is easily told; b is above 0.
std::optional<Ratio> exact_power(Ratio b, const Scalar& y) {
  const Ratio one{{1, 0}, 1};
  if (y.is_zero() || b == one) return one;
  for (int halvings = y.exponent; halvings < 0; ++halvings) {
    const std::optional<Ratio> root = exact_root(b);
    if (!root) return std::nullopt;
    b = *root;
  }
  if (b == one) return one;
  if (y.exponent > 6 || y.significand > 64 || (y.significand << std::max(y.exponent, 0)) > 64) return std::nullopt;
  std::optional<Ratio> out = one;
  for (std::uint64_t i = y.significand << std::max(y.exponent, 0); i > 0; --i) out = product(*out, b);
  return y.negative ? quotient(one, *out) : out;
}

template <class F>
std::optional<Ratio> of_both(const Tree& a, const Tree& b, F f) {
  if (!a->fraction() || !b->fraction()) return std::nullopt;
  return f(*a->fraction(), *b->fraction());
}

// Tells whether a format has the number.
bool holds(const Format& format, const Scalar& x) {
  return x.is_zero() || (std::cmp_less_equal(std::bit_width(x.significand), format.precision) &&
                         x.exponent >= format.smallest_exponent());
}

class Operand final : public TreeNode {
 public:
  explicit Operand(const Scalar& x) : TreeNode({}), x_(x) {}
  double bound(const Policy& p) const override {
    const double own = p.input_error * size() + p.lost_input;
    return holds(p.nodes, x_) ? own : own + rho(p, size() + own) + lost(p);
  }
  // A wider type may hold what the format of the nodes does not.
  bool breaks_down(const Policy& p) const override { return size() >= 2 * two_to(p.nodes.max_exponent); }

 private:
  std::optional<Ratio> exact() const override { return ratio(x_); }
  Near in_double() const override {
    const bool is_double = holds(format_of(DType::f64), x_);
    return is_double ? Near{x_.as_double(), 0} : rounded_once(x_.as_double(), 0);
  }
  Scalar x_;
};

class Sum final : public TreeNode {
 public:
  Sum(const Tree& a, const Tree& b, bool subtracts) : TreeNode({a, b}), subtracts_(subtracts) {}
  double bound(const Policy& p) const override {
    const double off = operands_[0]->error(p) + operands_[1]->error(p);
    return proven(off + rho(p, size() + off) + (p.flushes ? lost(p) : 0));
  }

 private:
  std::optional<Ratio> exact() const override {
    return of_both(operands_[0], operands_[1],
                   [&](auto& x, auto& y) { return std::optional(subtracts_ ? x - y : x + y); });
  }
  Near in_double() const override {
    const Near a = operands_[0]->near(), b = operands_[1]->near();
    return rounded_once(subtracts_ ? a.value - b.value : a.value + b.value, a.off + b.off);
  }
  Real irrational(int bits) const override {
    const Real a = operands_[0]->value(bits), b = operands_[1]->value(bits);
    return subtracts_ ? a - b : a + b;
  }
  bool subtracts_;
};

class Product final : public TreeNode {
 public:
  Product(const Tree& a, const Tree& b, double roundings) : TreeNode({a, b}), roundings_(roundings) {}
  double bound(const Policy& p) const override {
    const TreeNode &a = *operands_[0], &b = *operands_[1];
    const double off_a = a.error(p), off_b = b.error(p), off = a.size() * off_b + b.size() * off_a + off_a * off_b;
    return proven(off + rho(p, a.size() * b.size() + off, roundings_) + lost(p));
  }

 private:
  std::optional<Ratio> exact() const override { return of_both(operands_[0], operands_[1], product); }
  Near in_double() const override {
    const Near a = operands_[0]->near(), b = operands_[1]->near();
    const double off = std::abs(a.value) * b.off + std::abs(b.value) * a.off + a.off * b.off;
    return rounded_once(a.value * b.value, off);
  }
  Real irrational(int bits) const override { return operands_[0]->value(bits) * operands_[1]->value(bits); }
  double roundings_;
};

class Quotient final : public TreeNode {
 public:
  Quotient(const Tree& a, const Tree& b) : TreeNode({a, b}) {}
  double bound(const Policy& p) const override {
    const double off_a = operands_[0]->error(p), off_b = operands_[1]->error(p), least = operands_[1]->least();
    if (!(off_b < least)) return unproven;
    const double off = (off_a + size() * off_b) / (least - off_b);
    return proven(off + rho(p, size() + off, 2) + (1 + operands_[0]->size() + off_a) * lost(p));
  }
  // Breaks down, too, where 1 over what is divided by overflows: a kernel may multiply by that (reductions 3.2).
  bool breaks_down(const Policy& p) const override {
    const double least = operands_[1]->least() - operands_[1]->error(p);
    return (least > 0 && least < two_to(1 - p.working.max_exponent)) || TreeNode::breaks_down(p);
  }

 private:
  std::optional<Ratio> exact() const override { return of_both(operands_[0], operands_[1], quotient); }
  Near in_double() const override {
    const Near a = operands_[0]->near(), b = operands_[1]->near();
    const double q = a.value / b.value, least = std::abs(b.value) - b.off;
    return least > 0 ? rounded_once(q, (a.off + std::abs(q) * b.off) * raised / least) : Near{};
  }
  Real irrational(int bits) const override { return operands_[0]->value(bits) / operands_[1]->value(bits); }
};

// Is √b, by itself or as b / √b.
class Root final : public TreeNode {
 public:
  explicit Root(const Tree& b) : TreeNode({b}) {}
  double bound(const Policy& p) const override {
    const double off = root_error(operands_[0]->least(), operands_[0]->error(p));
    return proven(off + rho(p, size() + off, 6) + p.imprecision * size() + lost(p));
  }

 private:
  std::optional<Ratio> exact() const override {
    return operands_[0]->fraction() ? exact_root(*operands_[0]->fraction()) : std::nullopt;
  }
  Near in_double() const override {
    const Near b = operands_[0]->near();
    const double root = std::sqrt(b.value);
    return b.off < b.value ? rounded_once(root, b.off * raised / root) : Near{};
  }
  Real irrational(int bits) const override { return square_root(operands_[0]->value(bits)); }
};

// Is 1 / √b, as an estimate and a step of Newton's give it.
class InverseRoot final : public TreeNode {
 public:
  explicit InverseRoot(const Tree& b) : TreeNode({b}) {}
  double bound(const Policy& p) const override {
    const double of_root = root_error(operands_[0]->least(), operands_[0]->error(p));
    const double root = std::sqrt(operands_[0]->least()) / raised;
    if (!(of_root < root)) return unproven;
    const double off = of_root / (root * (root - of_root));
    return proven(off + rho(p, size() + off, 6) + p.imprecision * size() + lost(p));
  }

 private:
  std::optional<Ratio> exact() const override {
    const std::optional<Ratio>& b = operands_[0]->fraction();
    const std::optional<Ratio> root = b ? exact_root(*b) : std::nullopt;
    return root ? quotient(Ratio{{1, 0}, 1}, *root) : std::nullopt;
  }
  Near in_double() const override {
    const Near b = operands_[0]->near();
    const double inverse =
        1 / std::sqrt(b.value);  // two roundings; by less than the share that b is off by, up to half
    return 2 * b.off < b.value ? rounded_once(inverse, inverse * (b.off / b.value * raised + 0x1p-52)) : Near{};
  }
  Real irrational(int bits) const override { return Real(Int{1}, bits) / square_root(operands_[0]->value(bits)); }
};

class Power final : public TreeNode {
 public:
  Power(const Tree& b, const Scalar& y) : TreeNode({b}), y_(y) {}
  double bound(const Policy& p) const override {
    const double off = operands_[0]->error(p), least = operands_[0]->least(), times = std::abs(y_.as_double());
    if (!(off < least)) return unproven;
    const double moved = std::expm1(-times * std::log1p(-off / least)) * raised;
    const double turns = times * std::max(std::abs(std::log(least)), std::abs(std::log(operands_[0]->size()))) * raised;
    const double each = p.level == Level::widest ? 12 : holds(p.nodes, y_) ? 1 : 2;
    const double own = rho(p, size() * (1 + moved), 32 + each * turns) + p.imprecision * size() * (1 + moved);
    return proven(size() * moved + own + lost(p));
  }

 private:
  std::optional<Ratio> exact() const override {
    return operands_[0]->fraction() ? exact_power(*operands_[0]->fraction(), y_) : std::nullopt;
  }
  Real irrational(int bits) const override {
    return enclosed(Function::pow, std::array{operands_[0]->value(bits), Real(ratio(y_), bits)});
  }
  Scalar y_;
};

// Has the value of its first operand.
class Like : public TreeNode {
 protected:
  using TreeNode::TreeNode;

 private:
  std::optional<Ratio> exact() const final { return operands_[0]->fraction(); }
  Near in_double() const final { return operands_[0]->near(); }
};

class Drifting final : public Like {
 public:
  Drifting(const Tree& of, double roundings) : Like({of}), roundings_(roundings) {}
  double bound(const Policy& p) const override {
    const double off = operands_[0]->error(p);
    return p.level == Level::widest ? proven(off + rho(p, size() + off, roundings_)) : off;
  }

 private:
  double roundings_;
};

class Either final : public Like {
 public:
  Either(const Tree& a, const Tree& b) : Like({a, b}) {}
  double bound(const Policy& p) const override { return std::max(operands_[0]->error(p), operands_[1]->error(p)); }
};

class InFormat final : public Like {
 public:
  InFormat(const Tree& of, std::optional<DType> stash) : Like({of}), stash_(stash) {}
  double bound(const Policy& p) const override { return operands_[0]->error(inside(p)); }
  bool breaks_down(const Policy& p) const override { return operands_[0]->breaks_down(inside(p)); }
  // Nodes that are rounded one by one are those of the format, so that this is no policy of its own.
  bool is_met_by(const Policy& p) const override { return (stash_ || p.is_fused()) && TreeNode::is_met_by(p); }

 private:
  Policy inside(Policy p) const {
    const auto narrowed = [](Format& format, const Format& to) {
      if (to.precision < format.precision) format = to;
    };
    if (stash_) narrowed(p.working, format_of(DType::f32));
    p.nodes = p.working;
    if (stash_) narrowed(p.nodes, format_of(*stash_));
    p.arithmetic.tell_apart(p.nodes.precision);
    return p;
  }
  std::optional<DType> stash_;
};

class Cast final : public Like {
 public:
  Cast(const Tree& of, DType to) : Like({of}), to_(format_of(to)) {}
  double bound(const Policy& p) const override {
    const double off = operands_[0]->error(p);
    return proven(off + rho(in(p), size() + off) + lost(in(p)));
  }
  bool breaks_down(const Policy& p) const override { return TreeNode::breaks_down(in(p)); }

 private:
  Policy in(Policy p) const {
    if (to_.precision < p.nodes.precision) p.nodes = to_;
    return p;
  }
  Format to_;
};

}  // namespace

const std::optional<Ratio>& TreeNode::fraction() const {
  if (!fraction_) fraction_ = exact();
  return *fraction_;
}
Near TreeNode::near() const {
  if (!near_) near_ = in_double();
  return *near_;
}

double TreeNode::error(const Policy& p) const {
  return errors_.of(p.arithmetic, [&] { return bound(p); });
}

Real TreeNode::irrational(int bits) const { return operands_.front()->value(bits); }

Near rounded_once(double value, double off) {
  return {value, (off + std::abs(value) * 0x1p-53) * raised + std::numeric_limits<double>::denorm_min()};
}

const TreeNode::Size& TreeNode::measured() const {
  if (size_) return *size_;
  size_ = Size{0, 0};
  const Near near_here = near();
  const double about = std::abs(near_here.value);
  if (std::isfinite(about) && (near_here.off < about * 0x1p-40 || near_here.off == 0)) {
    size_->most = (about + near_here.off) * raised;
    size_->least = (about - near_here.off) / raised;
    return *size_;
  }
  const Real known = value(96);
  size_->most = known.size();
  if (!known.is_bounded() || (!known.is_positive() && !known.is_negative())) return *size_;
  const Dyadic nearest = known.is_positive() ? known.lower() : known.upper();  // the end nearer to 0
  size_->least = Real(Ratio{abs(nearest), 1}, 96).size() / raised;
  return *size_;
}

// Tells whether a node overflows, of which no number comes.
bool TreeNode::breaks_down(const Policy& p) const {
  for (const Tree& each : operands_)
    if (each->breaks_down(p)) return true;
  const double off = error(p);
  return !operands_.empty() && std::isfinite(off) && !(size() + off < two_to(p.nodes.max_exponent));
}

bool TreeNode::is_met_by(const Policy& p) const {
  const bool is_plain = !p.takes_logarithm && !p.is_unshifted;
  return is_plain || std::ranges::any_of(operands_, [&](const Tree& each) { return each->is_met_by(p); });
}

std::unique_ptr<Expression> expression(Tree tree) {
  class Held final : public Expression {
   public:
    explicit Held(Tree tree) : tree_(std::move(tree)) {}
    Real value(int bits) const override { return tree_->value(bits); }
    Near near() const override { return tree_->near(); }
    double error(const Policy& p) const override { return tree_->error(p); }
    bool breaks_down(const Policy& p) const override { return tree_->breaks_down(p); }
    bool is_met_by(const Policy& p) const override { return tree_->is_met_by(p); }

   private:
    Tree tree_;
  };
  return std::make_unique<Held>(std::move(tree));
}

Tree operand(const Scalar& x) { return std::make_shared<Operand>(x); }
Tree operator+(const Tree& a, const Tree& b) { return std::make_shared<Sum>(a, b, false); }
Tree operator-(const Tree& a, const Tree& b) { return std::make_shared<Sum>(a, b, true); }
Tree operator*(const Tree& a, const Tree& b) { return std::make_shared<Product>(a, b, 1); }
Tree operator/(const Tree& a, const Tree& b) { return std::make_shared<Quotient>(a, b); }
Tree root(const Tree& a) { return std::make_shared<Root>(a); }
Tree inverse_root(const Tree& a) { return std::make_shared<InverseRoot>(a); }
Tree over_root(const Tree& a, const Tree& b) { return by_inverse_root(a, inverse_root(b)); }
Tree by_inverse_root(const Tree& a, const Tree& inverse) { return std::make_shared<Product>(a, inverse, 2); }
Tree power(const Tree& b, const Scalar& y) { return std::make_shared<Power>(b, y); }
Tree drifting(const Tree& of, double roundings) { return std::make_shared<Drifting>(of, roundings); }
Tree either(const Tree& a, const Tree& b) { return std::make_shared<Either>(a, b); }
Tree in_format(const Tree& of, std::optional<DType> stash) { return std::make_shared<InFormat>(of, stash); }
Tree cast(const Tree& of, DType to) { return std::make_shared<Cast>(of, to); }

// -- groups

namespace {

struct Moments {
  Ratio mean, squares, variance, total_squares, total_sizes;
  std::vector<Scalar> unlike;  // some whose digits, or whose size, are the first to be lost
  double n = 0, sizes = 0, most = 0, of_squares = 0, of_variance = 0;  // mean |x|, |mean|, mean x², variance: at least

  explicit Moments(const std::vector<Scalar>& x) : n(static_cast<double>(x.size())) {
    Dyadic sum, all, of_squared;
    for (const Scalar& each : x) {
      if (!std::ranges::all_of(formats, [&](DType type) { return holds(format_of(type), each); }))
        unlike.push_back(each);
      sum += each.value();
      all += abs(each.value());
      of_squared += each.value() * each.value();
    }
    const Integer count = std::max<std::size_t>(x.size(), 1);
    total_squares = {of_squared, 1};
    total_sizes = {all, 1};
    mean = {sum, count};
    squares = {of_squared, count};
    variance = {of_squared * Dyadic{count, 0} - sum * sum, count * count};
    sizes = size_of({all, count});
    most = size_of(abs(mean));
    of_squares = size_of(squares);
    of_variance = size_of(variance);
  }

  static constexpr std::array formats{DType::f16, DType::bf16, DType::f32};

  // Return what operands are off by.
  double relative(const Policy& p) const { return p.input_error + (fits(p) ? 0 : p.unit() * (1 + 4 * p.unit())); }
  double absolute(const Policy& p) const { return p.lost_input + (fits(p) ? 0 : lost(p)); }
  bool fits(const Policy& p) const {
    return std::ranges::all_of(unlike, [&](const Scalar& each) { return holds(p.nodes, each); });
  }

  double mean_error(const Policy& p) const {
    const double roundings = n + 6 + 3 * std::ceil(std::log2(std::max(n, 1.0)));
    const double off = relative(p) * sizes + absolute(p), size = sizes + off;
    const double of_node = p.is_fused() ? 0 : rho(p, most + off);
    return proven(off + gamma_of(roundings, p.sum_unit()) * size + of_node + (n + 1) * lost(p));
  }

  // Bounds the mean of squares: each errs by 2|x| e + e².
  double squares_error(const Policy& p) const {
    const double own = relative(p), a = absolute(p);
    double off = (2 * own + own * own) * of_squares + 2 * (1 + own) * a * sizes + a * a;
    if (!p.is_fused()) off += 2 * rho(p, of_squares + off) + lost(p);
    return proven(off + gamma_of(n + 5, p.sum_unit()) * (of_squares + off) + n * lost(p));
  }
  double total_squares_error(const Policy& p) const { return n * squares_error(p); }
  double total_sizes_error(const Policy& p) const {
    const double off = n * (relative(p) * sizes + absolute(p));
    return proven(off + gamma_of(n + 3, p.sum_unit()) * (n * sizes + off) + n * lost(p));
  }

  // Takes the largest of one pass, two passes and Welford's (reductions 3.4).
  double variance_error(const Policy& p) const {
    const double of_mean = mean_error(p), u = p.unit();
    const double squared = (2 * most * of_mean + of_mean * of_mean) * (1 + u) + u * most * most;
    const double terms = squares_error(p) + squared;
    const double once = terms + u * (of_variance + terms);
    // No deviation is moved by more than what operands are off by.
    const double moved = relative(p) * (std::sqrt(of_squares) + most) * raised + 2 * absolute(p),
                 spread = std::sqrt(of_variance) * raised;
    const double shaken = 2 * spread * moved + moved * moved, v = of_variance + shaken;
    const double twice = shaken + of_mean * of_mean + gamma_of(n + 4, p.sum_unit()) * (v + of_mean * of_mean);
    const double running = shaken + gamma_of(n + 6, p.sum_unit()) * v +
                           gamma_of(3 * n + 32, p.sum_unit()) * std::sqrt(v * (of_squares + shaken)) * raised;
    return proven(std::max({once, twice, running}) + n * lost(p));
  }
};

// A moment of a group.
class Moment final : public TreeNode {
 public:
  using Of = double (Moments::*)(const Policy&) const;
  Moment(std::shared_ptr<const Moments> moments, const Ratio& value, Of of)
      : TreeNode({}), value_(value), moments_(std::move(moments)), of_(of) {}
  double bound(const Policy& p) const override { return (moments_.get()->*of_)(p); }
  bool breaks_down(const Policy& p) const override {
    const double limit = two_to(p.nodes.max_exponent), off = error(p);
    const double total = moments_->n * std::max(moments_->sizes, squares());
    return !(total * 2 < two_to(p.working.max_exponent)) || (std::isfinite(off) && !(largest() + off < limit));
  }

 private:
  std::optional<Ratio> exact() const override { return value_; }
  Near in_double() const override {  // rounded once, the enclosure besides
    const Real known(value_, 96);
    return rounded_once(known.is_negative() ? -known.size() : known.size(), known.size() * 0x1p-52);
  }
  // Returns what a node may hold: squares beside the moment itself.
  double largest() const { return std::max(size(), squares()); }
  double squares() const {
    return of_ == &Moments::mean_error || of_ == &Moments::total_sizes_error ? 0.0 : moments_->of_squares;
  }

  Ratio value_;
  std::shared_ptr<const Moments> moments_;
  Of of_;
};

// x k + (b - mean k), whose exact value is the other form's.
class Folded final : public TreeNode {
 public:
  Folded(const Tree& x, const Tree& mean, const Tree& k, const Tree& b)
      : TreeNode({x, mean, k, b}), apart_(x - mean), together_(apart_ * k + b) {}
  double bound(const Policy& p) const override {
    const TreeNode &x = *operands_[0], &mean = *operands_[1], &k = *operands_[2], &b = *operands_[3];
    const double of_mean = mean.error(p), of_k = k.error(p), of_x = x.error(p), of_b = b.error(p), u = p.unit();
    const double rounded = 3 * u * (1 + 4 * u) * (x.size() + mean.size() + of_mean + of_x);
    const double off = apart_->size() * of_k + (k.size() + of_k) * (of_mean + of_x + rounded) + of_b;
    return proven(off + 2 * u * (1 + 4 * u) * (b.size() + size() + off + of_b) + 4 * lost(p));
  }

 private:
  std::optional<Ratio> exact() const override { return together_->fraction(); }
  Near in_double() const override { return together_->near(); }
  Real irrational(int bits) const override { return together_->value(bits); }
  Tree apart_, together_;
};

}  // namespace

Tree folded(const Tree& x, const Tree& mean, const Tree& k, const Tree& b) {
  return std::make_shared<Folded>(x, mean, k, b);
}

Group::Group(const std::vector<Scalar>& x) {
  const auto all = std::make_shared<const Moments>(x);
  const auto moment = [&](const Ratio& value, Moment::Of error) { return std::make_shared<Moment>(all, value, error); };
  mean_ = moment(all->mean, &Moments::mean_error);
  variance_ = moment(all->variance, &Moments::variance_error);
  mean_of_squares_ = moment(all->squares, &Moments::squares_error);
  sum_of_squares_ = moment(all->total_squares, &Moments::total_squares_error);
  sum_of_sizes_ = moment(all->total_sizes, &Moments::total_sizes_error);
}

}  // namespace assay::oracles
