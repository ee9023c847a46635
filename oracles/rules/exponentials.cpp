// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/exponentials.h"

#include "oracles/exact/functions.h"
#include "oracles/judging/finding.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace assay::oracles {
namespace {

// More than the roundings of a sum of 2^20 doubles, and of all that is done with it here.
constexpr double raised = 1 + 0x1p-30;
constexpr double farthest = 0x1p1000;  // drops beyond it are no different
constexpr double log_2 = 0.6931471805599453;

// A power of two that is no less than e^x, for the sizes of one that does not break down.
double at_least_exp(double x) { return two_to(static_cast<int>(std::ceil(std::clamp(x, -1e4, 1e4) * 1.4427))); }

// (1 + u)^3 - 1 at most.
double three_roundings(double unit) { return 3 * unit * (1 + 2 * unit); }

// Powers of two that exp(M) and the sum stay within.
bool is_within(double logarithm, double least, double most) {
  return log_2 * least * (least < 0 ? 0.999 : 1.001) <= logarithm && logarithm <= 0.999 * log_2 * most;
}

}  // namespace

struct Exponentials::Line {
  // What is computed to so many bits.
  struct Enclosed {
    std::vector<Real> terms;
    Real sum;
  };

  std::vector<Scalar> x;
  std::vector<Logit> logits;         // where they are computed; x then tells which are -inf
  std::size_t top = 0;               // of those
  Dyadic most;                       // M
  std::vector<double> sizes, drops;  // |x| and M - x, at least; of -inf no more than a mark
  std::vector<double> exponentials;  // at least
  double largest = 0, total = 0;     // M; the sum, at most raised times too small
  Int terms = 0;
  double largest_size = 0;
  mutable std::map<int, Enclosed> enclosed;
  PerPolicy<double> sum_errors, most_errors;
  mutable std::map<std::uint64_t, std::vector<double>> own_errors, share_errors;

  bool in_double = false;  // exponentials are those of the C library, raised alike
  double logits_off = 0;   // by how much logits may miss what they are in double

  explicit Line(std::vector<Scalar> values, bool in_double);
  explicit Line(std::vector<Logit> values, bool in_double);
  bool counts(std::size_t j) const { return x[j].is_finite(); }
  double logarithm() const { return std::log(total) + 0x1p-40; }  // log S, at least
  const Enclosed& at(int bits) const;
  Near near_share(std::size_t j) const;
  double farthest_drop() const { return std::ranges::max(drops); }
  Real term(std::size_t j, int bits) const;
  // What the logits are known to within.
  const std::vector<double>& errors(const Policy& policy) const;
  double most_error(const Policy& policy) const;
  double term_error(const Policy& policy, std::size_t j) const;
  double sum_error(const Policy& policy) const;
  double share_error(const Policy& policy, std::size_t j) const;
  const std::vector<double>& all_share_errors(const Policy& policy) const;
  void work_out_in_double();
  void work_out();
  double log_sum_error(const Policy& policy) const;
  double logarithm_error(const Policy& policy) const;
  bool breaks_down(const Policy& policy) const;
};

Exponentials::Line::Line(std::vector<Scalar> values, bool is_for_filter)
    : x(std::move(values)), in_double(is_for_filter) {
  const auto highest = std::ranges::max_element(x, is_less);
  most = highest->value();
  largest = highest->as_double();
  for (const Scalar& each : x) {
    terms += each.is_finite() ? 1 : 0;
    sizes.push_back(each.is_finite() ? std::abs(each.as_double()) : 0);
    drops.push_back(each.is_finite() ? std::min((largest - each.as_double()) * raised, farthest) : 0);
    largest_size = std::max(largest_size, sizes.back());
  }
  if (in_double)
    for (const Scalar& each : x)
      exponentials.push_back(each.is_finite() ? std::exp(each.as_double() - largest) * raised + 0x1p-1000 : 0);
  else
    for (const Real& each : at(96).terms) exponentials.push_back(each.size());
  for (const double each : exponentials) total += each;
}

// Bounds by the premise of filter/function_filter.h: each exponential is within 2^-46 of what it is, and e^-d d 2^-53
// of a difference that is rounded; the sum rounds once for each term. All are raised alike.
Near Exponentials::Line::near_share(std::size_t j) const {
  if (!in_double) return {};
  const double share = exponentials[j] / total, roundings = drops[j] + static_cast<double>(terms) + 8;
  return {share, share * (0x1p-45 + roundings * 0x1p-52 + 8 * logits_off) + 0x1p-990};
}

// Works out what the filter reads, of logits that are computed.
void Exponentials::Line::work_out_in_double() {
  std::vector<double> all;
  for (const Logit& each : logits) {
    const Near near = each.tree ? each.tree->near() : Near{-HUGE_VAL, 0};
    in_double = in_double && !std::isnan(near.value) && near.off < 0x1p-34;
    all.push_back(near.value);
    logits_off = std::max(logits_off, near.off);
  }
  if (!in_double) return;
  top = static_cast<std::size_t>(std::ranges::max_element(all) - all.begin());
  largest = all[top];
  for (std::size_t j = 0; j < all.size(); ++j) {
    const double size = logits[j].tree ? std::abs(all[j]) * raised + logits_off : 0;
    sizes.push_back(size);
    drops.push_back(logits[j].tree ? std::min((largest - all[j]) * raised + 2 * logits_off, farthest) : 0);
    largest_size = std::max(largest_size, size);
    exponentials.push_back(logits[j].tree ? std::exp(all[j] - largest) * raised * (1 + 4 * logits_off) + 0x1p-1000 : 0);
  }
}

Exponentials::Line::Line(std::vector<Logit> values, bool is_for_filter)
    : logits(std::move(values)), in_double(is_for_filter) {
  for (const Logit& each : logits) {
    x.push_back(each.tree ? Scalar() : infinity(true));
    terms += each.tree ? 1 : 0;
  }
  if (in_double) work_out_in_double();
  if (!in_double) work_out();
  for (const double each : exponentials) total += each;
}

// Works the same out by enclosures.
void Exponentials::Line::work_out() {
  const auto is_above = [&](std::size_t j) {
    return (logits[j].tree->value(96) - logits[top].tree->value(96)).is_positive();
  };
  while (!logits[top].tree) ++top;
  for (std::size_t j = top + 1; j < logits.size(); ++j)
    if (logits[j].tree && is_above(j)) top = j;
  const Real largest_value = logits[top].tree->value(96);
  largest = largest_value.size() * (largest_value.is_negative() ? -1 : 1);
  for (const Logit& each : logits) {
    sizes.push_back(each.tree ? each.tree->size() : 0);
    const bool is_lower = each.tree && each.like != logits[top].like;
    drops.push_back(is_lower ? std::min((each.tree->value(96) - largest_value).size() * raised, farthest) : 0);
    largest_size = std::max(largest_size, sizes.back());
  }
  for (const Real& each : at(96).terms) exponentials.push_back(each.size());
}

Real Exponentials::Line::term(std::size_t j, int bits) const {
  if (!counts(j)) return Real(0, bits);
  const auto exponential = [](const Real& of) { return oracles::enclosed(Function::exp, std::array{of}); };
  if (logits.empty()) return exponential(Real(Ratio{x[j].value() - most, 1}, bits));
  if (logits[j].like == logits[top].like) return Real(1, bits);
  return exponential(logits[j].tree->value(bits) - logits[top].tree->value(bits));
}

const Exponentials::Line::Enclosed& Exponentials::Line::at(int bits) const {
  const auto known = enclosed.find(bits);
  if (known != enclosed.end()) return known->second;
  Enclosed out{{}, Real(0, bits)};
  for (std::size_t j = 0; j < x.size(); ++j) {
    out.terms.push_back(term(j, bits));
    out.sum = out.sum + out.terms.back();
  }
  return enclosed.emplace(bits, std::move(out)).first->second;
}

const std::vector<double>& Exponentials::Line::errors(const Policy& p) const {
  const auto known = own_errors.find(p.arithmetic.key());
  if (known != own_errors.end()) return known->second;
  std::vector<double> all;
  for (std::size_t j = 0; j < x.size(); ++j)
    all.push_back(logits.empty()   ? p.input_error * sizes[j] + p.lost_input
                  : logits[j].tree ? logits[j].tree->error(p)
                                   : 0);
  return own_errors[p.arithmetic.key()] = std::move(all);
}

double Exponentials::Line::most_error(const Policy& p) const {
  if (logits.empty()) return p.input_error * largest_size + p.lost_input;
  return most_errors.of(p.arithmetic, [&] { return std::ranges::max(errors(p)); });
}

// How far the computed exponential of one logit may lie from E.
double Exponentials::Line::term_error(const Policy& p, std::size_t j) const {
  const double own = errors(p)[j], of_most = most_error(p);
  const double shift = p.is_unshifted ? own : own + of_most + p.unit() * (drops[j] + own + of_most) + p.smallest();
  const double argument = p.is_unshifted ? sizes[j] : drops[j];
  const double unit = two_to(p.working.unit_exponent());
  double factor = 2 * unit * std::min(4 + argument / 8, p.most_ulps > 0 ? p.most_ulps : unproven) + p.imprecision;
  if (p.scales_operands) factor += 2 * unit * (sizes[j] + largest_size);
  factor += 10 * p.sum_unit() * static_cast<double>(std::min(terms - 1, p.most_rescalings));
  double lost = p.vanishing() + 128 * two_to(p.working.smallest_exponent());
  if (p.is_unshifted) lost *= at_least_exp(-largest);
  if (!p.is_fused()) {
    factor += p.unit() * (1 + factor);
    lost += p.smallest();
  }
  if (shift > 1) {
    const bool vanishes = shift - drops[j] * (1 - 0x1p-29) < 1.0001 * log_2 * p.working.min_exponent;
    return vanishes ? exponentials[j] + 3 * p.vanishing() + lost : unproven;
  }
  const double grown = shift + shift * shift;
  return exponentials[j] * (factor * (1 + grown) + grown) + lost;
}

double Exponentials::Line::sum_error(const Policy& p) const {
  return sum_errors.of(p.arithmetic, [&] {
    double off = 0;
    for (std::size_t j = 0; j < x.size(); ++j)
      if (counts(j)) off += term_error(p, j);
    const double additions = static_cast<double>(terms - 1) * p.sum_unit(), gamma = additions * (1 + 2 * additions);
    const double size = (total + off) * (1 + gamma);
    off += gamma * (total + off);
    if (!p.is_fused()) off += p.unit() * size + p.smallest();
    if (additions >= 0.5) off = unproven;
    return off * raised;
  });
}

// How far the computed share of one logit may lie from E / S.
double Exponentials::Line::share_error(const Policy& p, std::size_t j) const {
  if (!counts(j)) return 0;  // exp(-inf) is 0
  const double off = sum_error(p), own = term_error(p, j), sum = total / raised;
  if (!(off < sum)) return unproven;
  const double rounding = three_roundings(p.unit());
  const double error = (own * (1 + rounding) + exponentials[j] * (rounding + off / sum)) / (sum - off) + p.smallest();
  return (error + p.vanishing()) * raised;
}

const std::vector<double>& Exponentials::Line::all_share_errors(const Policy& p) const {
  const auto known = share_errors.find(p.arithmetic.key());
  if (known != share_errors.end()) return known->second;
  std::vector<double> all;
  for (std::size_t j = 0; j < x.size(); ++j) all.push_back(share_error(p, j));
  return share_errors[p.arithmetic.key()] = std::move(all);
}

// How far the computed log S may lie from it, or M + log S where no maximum is subtracted.
double Exponentials::Line::log_sum_error(const Policy& p) const {
  const double sum = total / raised, share = sum_error(p) / sum;
  if (!(share < 1)) return unproven;
  const double of_sum = logarithm(), size = largest_size + of_sum;
  const double argument = p.is_unshifted ? at_least_exp(largest) * total : total;
  const double of_log = bound(Function::log, std::array{argument}, p.is_unshifted ? size : of_sum, p.working);
  return (share / (1 - share) + of_log + p.imprecision * (of_sum + 1)) * raised;
}

double Exponentials::Line::logarithm_error(const Policy& p) const {
  const double error = log_sum_error(p), size = largest_size + logarithm();
  if (p.is_unshifted) return error;
  const double of_most = p.input_error * largest_size + p.lost_input;
  return (error + of_most + p.unit() * (size + of_most + error) + p.smallest()) * raised;
}

bool Exponentials::Line::breaks_down(const Policy& p) const {
  const auto longest = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(terms)));
  if (std::ranges::any_of(logits, [&](const Logit& each) { return each.tree && each.tree->breaks_down(p); }))
    return true;
  if (p.is_unshifted)
    return !is_within(largest, p.nodes.min_exponent + p.nodes.precision, p.nodes.max_exponent - longest - 1);
  return longest >= p.nodes.max_exponent - 1 ||
         (p.input_error > 0 && largest_size >= two_to(p.working.max_exponent - 2));
}

std::unique_ptr<Expression> Exponentials::share(Int i) const {
  class Share final : public Expression {
   public:
    Share(std::shared_ptr<const Line> line, std::size_t i) : line_(std::move(line)), i_(i) {}

    Real value(int bits) const override {
      const Line::Enclosed& enclosed = line_->at(bits);
      return enclosed.terms[i_] / enclosed.sum;
    }
    Near near() const override { return line_->near_share(i_); }

    double error(const Policy& p) const override { return line_->share_error(p, i_); }

    bool breaks_down(const Policy& p) const override { return line_->breaks_down(p); }

   private:
    std::shared_ptr<const Line> line_;
    std::size_t i_;
  };
  return std::make_unique<Share>(line_, static_cast<std::size_t>(i));
}

MeanOperands::MeanOperands(std::vector<Scalar> numbers) : exact(std::move(numbers)) {
  for (const Scalar& each : exact) in_double.push_back(each.is_finite() ? each.as_double() : 0);
}

std::unique_ptr<Expression> Exponentials::mean(std::shared_ptr<const MeanOperands> v, DType cast) const {
  class Mean final : public Expression {
   public:
    Mean(std::shared_ptr<const Line> line, std::shared_ptr<const MeanOperands> v, DType cast)
        : line_(std::move(line)), cast_(format_of(cast)), operands_(std::move(v)) {
      for (std::size_t j = 0; j < v_.size(); ++j) sizes_ += line_->counts(j) ? std::abs(double_v_[j]) : 0;
    }

    // The mean of numbers that each may be off by 2^-53 of it.
    Near near() const override {
      if (!line_->in_double) return {};
      double sum = 0, size = 0;
      for (std::size_t j = 0; j < v_.size(); ++j) {  // one that does not count has the exponential 0
        const double part = line_->exponentials[j] * double_v_[j];
        sum += part;
        size += std::abs(part);
      }
      const double roundings = line_->farthest_drop() + 2 * static_cast<double>(line_->terms) + 16;
      const double off =
          size / line_->total * (0x1p-44 + roundings * 0x1p-52 + 16 * line_->logits_off) + sizes_ * 0x1p-980;
      return {sum / line_->total, off};
    }

    Real value(int bits) const override {
      if (classes_.empty()) classify();
      const Line::Enclosed& enclosed = line_->at(bits);
      Real beyond(0, bits);
      for (const auto& [like, each] : classes_)
        if (!each.beyond.is_zero()) beyond = beyond + enclosed.terms[each.first] * Real(each.beyond, bits);
      return Real(of_top_, bits) + beyond / enclosed.sum;
    }

    double error(const Policy& p) const override {
      const bool is_cast = cast_.precision < p.nodes.precision;
      const std::vector<double>& errors = line_->all_share_errors(p);
      double off = 0, size = 0;
      for (std::size_t j = 0; j < v_.size(); ++j) {
        if (!line_->counts(j)) continue;
        const double v = std::abs(double_v_[j]), share = line_->exponentials[j] / (line_->total / raised);
        double own = errors[j];
        if (!std::isfinite(own)) return unproven;
        if (is_cast) own += p.truncation * std::ldexp(share + own, cast_.unit_exponent()) + vanishing(p);
        // Of a wider type than is worked in, v is rounded too.
        const double of_v = (p.input_error + 2 * p.sum_unit()) * v + p.lost_input;
        off += own * v + (share + own) * (is_wide(p, v_[j]) ? of_v : p.input_error * v + p.lost_input);
        size += (share + own) * (v + of_v);
      }
      const auto n = static_cast<double>(line_->terms);
      return (off + gamma_of(n + 1, p.sum_unit()) * size + (n + 1) * (p.smallest() + (p.flushes ? vanishing(p) : 0))) *
             raised;
    }

    bool breaks_down(const Policy& p) const override {
      return line_->breaks_down(p) || !(sizes_ < std::ldexp(0.5, p.working.max_exponent));
    }

   private:
    struct Class {
      Dyadic total;
      Integer count = 0;
      std::size_t first = 0;
      Ratio beyond;  // its total, less what it were if its mean were that of the largest logit
    };

    void classify() const {
      const std::size_t top = line_->logits[line_->top].like;
      for (std::size_t j = 0; j < v_.size(); ++j) {
        if (!line_->counts(j)) continue;
        Class& own = classes_[line_->logits[j].like];
        own.total += v_[j].value();
        own.first = own.count == 0 ? j : own.first;
        own.count += 1;
      }
      of_top_ = {classes_[top].total, classes_[top].count};
      for (auto& [like, each] : classes_)
        each.beyond = Ratio{each.total * Dyadic{of_top_.denominator, 0} - of_top_.numerator * Dyadic{each.count, 0},
                            of_top_.denominator};
    }

    static bool is_wide(const Policy& p, const Scalar& v) {
      return std::cmp_greater(std::bit_width(v.significand), p.working.precision) ||
             (!v.is_zero() && v.exponent < p.working.smallest_exponent());
    }
    double vanishing(const Policy& p) const {
      return two_to(p.flushes ? cast_.min_exponent : cast_.smallest_exponent());
    }

    std::shared_ptr<const Line> line_;
    Format cast_;
    std::shared_ptr<const MeanOperands> operands_;
    const std::vector<Scalar>& v_ = operands_->exact;
    const std::vector<double>& double_v_ = operands_->in_double;
    double sizes_ = 0;
    mutable std::map<std::size_t, Class> classes_;  // of equal logits
    mutable Ratio of_top_;
  };
  return std::make_unique<Mean>(line_, std::move(v), cast);
}

std::unique_ptr<Expression> Exponentials::logarithm_of_share(Int i) const {
  class LogOfShare final : public Expression {
   public:
    LogOfShare(const Exponentials& of, Int i)
        : line_(of.line_), share_(of.share(i)), i_(static_cast<std::size_t>(i)), size_(size_of_value()) {}

    Real value(int bits) const override {
      const Real sum = oracles::enclosed(Function::log, std::array{line_->at(bits).sum});
      return Real(Ratio{line_->x[i_].value() - line_->most, 1}, bits) - sum;
    }
    Near near() const override {
      if (!line_->in_double || !line_->logits.empty()) return {};
      const double apart = line_->x[i_].as_double() - line_->largest, log_sum = std::log(line_->total / raised);
      const double off = 0x1p-44 + static_cast<double>(line_->terms) * 0x1p-51 + (log_sum - apart) * 0x1p-45;
      return {apart - log_sum, off};
    }

    double error(const Policy& p) const override {
      if (p.takes_logarithm) return last_error(p);
      const double of_sum = line_->log_sum_error(p), own = p.input_error * line_->sizes[i_] + p.lost_input;
      const double of_most = p.is_unshifted ? 0 : p.input_error * line_->largest_size + p.lost_input;
      const double inner = std::max(line_->drops[i_], line_->largest_size + line_->logarithm());
      const double error = own + of_most + of_sum + p.unit() * (inner + own + of_most + of_sum);
      // A node of its own rounds log S too.
      const double of_node = p.is_fused() ? 0 : p.unit() * (line_->logarithm() + of_sum);
      return (error + of_node + p.unit() * (size_ + error + of_node) + 3 * p.smallest()) * raised;
    }

    bool breaks_down(const Policy& p) const override {
      if (line_->breaks_down(p)) return true;
      return p.takes_logarithm && size_ > -log_2 * (p.nodes.smallest_exponent() - 2);  // nothing is left of the share
    }

    bool is_met_by(const Policy&) const override { return true; }

   private:
    double size_of_value() const { return line_->in_double ? std::abs(near().value) + near().off : value(96).size(); }
    double last_error(const Policy& p) const {
      const double share = share_->value(96).size() / raised, off = share_->error(p) / share;
      if (!(off < 1)) return unproven;
      const double of_log = bound(Function::log, std::array{share}, size_, p.working);
      return (off / (1 - off) + of_log + p.unit() * (size_ + of_log) + p.smallest()) * raised;
    }

    std::shared_ptr<const Line> line_;
    std::unique_ptr<Expression> share_;
    std::size_t i_;
    double size_;  // |v|, at least
  };
  return std::make_unique<LogOfShare>(*this, i);
}

std::unique_ptr<Expression> Exponentials::logarithm() const {
  class Logarithm final : public Expression {
   public:
    explicit Logarithm(std::shared_ptr<const Line> line) : line_(std::move(line)) {}

    Real value(int bits) const override {
      const Real sum = oracles::enclosed(Function::log, std::array{line_->at(bits).sum});
      return Real(Ratio{line_->most, 1}, bits) + sum;
    }

    double error(const Policy& policy) const override {
      const Policy shifted = in_one(policy, false), direct = in_one(policy, true);
      const double error = policy.is_unshifted ? 0 : line_->logarithm_error(shifted);
      return line_->breaks_down(direct) ? error : std::max(error, line_->logarithm_error(direct));
    }

    bool breaks_down(const Policy& policy) const override {
      return line_->breaks_down(in_one(policy, policy.is_unshifted));
    }

   private:
    // The same without roundings between the nodes.
    static Policy in_one(Policy policy, bool is_unshifted) {
      policy.nodes = policy.working;
      policy.arithmetic.tell_apart(is_unshifted);
      policy.is_unshifted = is_unshifted;
      return policy;
    }

    std::shared_ptr<const Line> line_;
  };
  return std::make_unique<Logarithm>(line_);
}

Exponentials::Exponentials(std::vector<Scalar> x, bool in_double)
    : line_(std::make_shared<const Line>(std::move(x), in_double)) {}
Exponentials::Exponentials(std::vector<Logit> x, bool in_double)
    : line_(std::make_shared<const Line>(std::move(x), in_double)) {}

}  // namespace assay::oracles
