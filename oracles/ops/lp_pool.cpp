// SPDX-License-Identifier: Apache-2.0
// The exact answer of LpPool and GlobalLpPool (windows-and-products 3.5). Of p = 1 it is a sum; powers are beyond what
// is asked for there. Else, with S the sum of n powers, an evaluation is off by at most the share
//
//   (e1 + gamma(n, u)) / p + |ln S| u / p + e + 2u
//
// of it, e that of a power (16 ulp) and e1 = u of a square, else max(e, (p - 1) u): |ln S| pays for a 1/p that is
// rounded, 2u for scaling by the largest. Nothing collapses: a power 1/2 need not be a root.
#include "oracles/exact/dot.h"
#include "oracles/exact/expression.h"
#include "oracles/exact/functions.h"
#include "oracles/rules/pool.h"
#include "reference/operator.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::oracles {
namespace {

Dyadic raised(const Dyadic& base, Int exponent) {
  Dyadic power{1, 0};
  for (Int i = 0; i < exponent; ++i) power = power * base;
  return power;
}

// The whole number whose power this is, if there is one.
std::optional<Integer> whole_root(const Integer& power, Int exponent) {
  Integer low = 0, high = Integer(1) << static_cast<unsigned>(static_cast<Int>(msb(power)) / exponent + 1);
  while (low < high) {
    const Integer middle = (low + high + 1) / 2;
    if (raised({middle, 0}, exponent).mantissa > power)
      high = middle - 1;
    else
      low = middle;
  }
  return raised({low, 0}, exponent).mantissa == power ? std::optional(low) : std::nullopt;
}

class Norm final : public Expression {
 public:
  Norm(std::vector<Dyadic> sizes, const Scalar& p) : sizes_(std::move(sizes)), p_(p), of_(p.as_double()) {
    for (const Dyadic& size : sizes_) {
      if (is_whole()) sum_ += raised(size, p_.as_integer());
      const double power = std::pow(approximate(Ratio{size, 1}), of_);
      total_ += power;
      least_ = std::min(least_, power);
    }
  }

  Real value(int bits) const override {
    if (is_whole())
      if (const std::optional<Ratio> root = exact_root()) return Real(*root, bits);
    const Real p(ratio(p_), bits), inverse = Real(Int{1}, bits) / p;
    Real total(Int{0}, bits);
    if (is_whole()) total = Real(Ratio{sum_, 1}, bits);
    for (std::size_t i = 0; !is_whole() && i < sizes_.size(); ++i) {
      const Real operands[] = {Real(Ratio{sizes_[i], 1}, bits), p};
      total = total + enclosed(Function::pow, operands);
    }
    if (of_ == 2) return square_root(total);
    const Real operands[] = {total, inverse};
    return enclosed(Function::pow, operands);
  }

  double error(const Policy& policy) const override {
    const double u = policy.sum_unit(), n = static_cast<double>(sizes_.size()), share = n * u;
    if (share > 0.5) return std::numeric_limits<double>::infinity();
    const double e = 32 * u + policy.imprecision, first = of_ == 2 ? u : std::max(e, (of_ - 1) * u);
    const double lost = least_ < policy.vanishing() ? n * policy.vanishing() / (of_ * total_) : 0;
    const double relative = (first + share * (1 + 2 * share)) / of_ + std::abs(std::log(total_)) * u / of_ + e + 2 * u +
                            lost + policy.input_error;
    return (std::pow(total_, 1 / of_) * relative + n * policy.lost_input) * (1 + 0x1p-20);
  }

  bool breaks_down(const Policy& policy) const override {
    const double most = std::ldexp(1.0, policy.working.max_exponent),
                 least = std::ldexp(1.0, policy.working.min_exponent);
    return !(total_ < most) || total_ < least;
  }
  bool is_met_by(const Policy& p) const override { return p.is_fused() && !p.takes_logarithm; }

 private:
  bool is_whole() const { return p_.exponent >= 0 && of_ <= 64; }

  // Where every tap but one is zero, and of squares and the like.
  std::optional<Ratio> exact_root() const {
    Dyadic odd = sum_;
    const auto zeros = static_cast<int>(lsb(odd.mantissa));
    odd.mantissa >>= static_cast<unsigned>(zeros);
    odd.exponent += zeros;
    const Int p = p_.as_integer();
    if (odd.exponent % p != 0) return std::nullopt;
    const std::optional<Integer> root = whole_root(odd.mantissa, p);
    if (!root) return std::nullopt;
    return Ratio{{*root, static_cast<int>(odd.exponent / p)}, 1};
  }

  std::vector<Dyadic> sizes_;  // none of them zero
  Scalar p_;
  double of_;
  Dyadic sum_;
  double total_ = 0, least_ = std::numeric_limits<double>::infinity();
};

class NormAnswer final : public Answer {
 public:
  NormAnswer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared)
      : pool_(call, in, readings), declared_(declared), dtype_(in.at(0)->dtype()) {
    const bool is_real = call.definition().attribute("p")->kind == AttributeSpec::Kind::real;
    p_ = is_real ? scalar_of(static_cast<double>(call.real("p"))) : scalar(call.integer("p"));
  }

  Shape shape() const override { return pool_.shape; }
  DType dtype() const override { return dtype_; }
  Element element(Int index) const override { return is_sum() ? enclose(sum(index), dtype_) : root(index); }
  Element defined(Int index) const override {
    return is_sum() ? enclose(sum(index), dtype_, Summing::definition) : root(index);
  }
  std::vector<Tolerance> wider(Int index) const override {
    const Element element = root(index);
    if (is_sum()) return sums(index, element);
    if (element.kind != Kind::finite || element.value.is_zero()) return {beyond("subnormals flushed")};
    return tolerances(norm(index), element, dtype_, declared_);
  }
  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (const ExactTap& tap : pool_.taps(index))
      all.push_back({{hexadecimal(tap.value)}, place("X", pool_.x.shape(), tap.at)});
    all.push_back({{hexadecimal(p_)}, "p"});
    return all;
  }

 private:
  bool is_sum() const { return p_.significand == 1 && p_.exponent == 0; }

  Dot sum(Int index) const {
    Dot sum;
    for (const ExactTap& tap : pool_.taps(index)) {
      Scalar size = tap.value;
      size.negative = false;
      sum.terms.push_back({size, std::nullopt, tap.at, 0});
    }
    return sum;
  }

  Norm norm(Int index) const {
    std::vector<Dyadic> sizes;
    for (const ExactTap& tap : pool_.taps(index))
      if (!tap.value.is_zero()) sizes.push_back(abs(tap.value.value()));
    return {std::move(sizes), p_};
  }

  // A sum in other arithmetics, and by the functions that any other p takes.
  std::vector<Tolerance> sums(Int index, const Element& as_root) const {
    std::vector<Tolerance> all = widen(sum(index), dtype_, declared_);
    if (as_root.kind != Kind::finite || as_root.value.is_zero()) return all;
    all.push_back(as_root.required);
    all.back().level = Level::widest;
    all.back().arithmetic = "powers by functions";
    return all;
  }

  Element root(Int index) const {
    const std::vector<ExactTap> taps = pool_.taps(index);
    const auto any = [&](bool (*holds)(const Scalar&)) {
      return std::ranges::any_of(taps, [&](const ExactTap& tap) { return holds(tap.value); });
    };
    if (any(is_nan)) return exactly(nan(), dtype_);
    if (any(is_infinite)) return exactly(infinity(), dtype_);
    if (std::ranges::all_of(taps, [](const ExactTap& tap) { return tap.value.is_zero(); }))
      return exactly(Scalar(), dtype_);
    Element out = computed(norm(index), dtype_);
    out.terms = std::ssize(taps);
    return out;
  }

  Pool pool_;
  Arithmetic declared_;
  DType dtype_;
  Scalar p_;
};

std::unique_ptr<Answer> answer(const Call& call, const Operands& in, const Readings& readings,
                               const Arithmetic& declared) {
  return std::make_unique<NormAnswer>(call, in, readings, declared);
}

std::vector<std::string> touched(const Call& call, const Operands*, Int) {
  return touched_by_geometry(call, sliding(call));
}

}  // namespace

Oracle lp_pool() { return {answer, pooled_shape, touched, false, {"X"}}; }
Oracle global_lp_pool() { return lp_pool(); }

}  // namespace assay::oracles
