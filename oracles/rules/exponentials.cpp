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

namespace assay::oracles {
namespace {

// More than the roundings of a sum of 2^20 doubles, and of all that is done with it here.
constexpr double raised = 1 + 0x1p-30;
constexpr double farthest = 0x1p1000;  // drops beyond it are no different
constexpr double log_2 = 0.6931471805599453;

// A power of two that is no less than e^x, for the sizes of one that does not break down.
double at_least_exp(double x) {
  return std::ldexp(1.0, static_cast<int>(std::ceil(std::clamp(x, -1e4, 1e4) * 1.4427)));
}

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
  Dyadic most;                       // M
  std::vector<double> sizes, drops;  // |x| and M - x, at least; of -inf no more than a mark
  std::vector<double> exponentials;  // at least
  double largest = 0, total = 0;     // M; the sum, at most raised times too small
  Int terms = 0;
  double largest_size = 0;
  mutable std::map<int, Enclosed> enclosed;
  mutable std::map<std::string, double> sum_errors;

  explicit Line(std::vector<Scalar> values);
  bool counts(std::size_t j) const { return x[j].is_finite(); }
  double logarithm() const { return std::log(total) + 0x1p-40; }  // log S, at least
  const Enclosed& at(int bits) const;
  double term_error(const Policy& policy, std::size_t j) const;
  double sum_error(const Policy& policy) const;
  double log_sum_error(const Policy& policy) const;
  double logarithm_error(const Policy& policy) const;
  bool breaks_down(const Policy& policy) const;
};

Exponentials::Line::Line(std::vector<Scalar> values) : x(std::move(values)) {
  const auto top = std::ranges::max_element(x, is_less);
  most = top->value();
  largest = top->as_double();
  for (const Scalar& each : x) {
    terms += each.is_finite() ? 1 : 0;
    sizes.push_back(each.is_finite() ? std::abs(each.as_double()) : 0);
    drops.push_back(each.is_finite() ? std::min((largest - each.as_double()) * raised, farthest) : 0);
    largest_size = std::max(largest_size, sizes.back());
  }
  for (const Real& each : at(96).terms) exponentials.push_back(each.size());
  for (const double each : exponentials) total += each;
}

const Exponentials::Line::Enclosed& Exponentials::Line::at(int bits) const {
  const auto known = enclosed.find(bits);
  if (known != enclosed.end()) return known->second;
  Enclosed out{{}, Real(0, bits)};
  for (const Scalar& each : x) {
    const Real term = each.is_finite()
                          ? oracles::enclosed(Function::exp, std::array{Real(Ratio{each.value() - most, 1}, bits)})
                          : Real(0, bits);
    out.sum = out.sum + term;
    out.terms.push_back(term);
  }
  return enclosed.emplace(bits, std::move(out)).first->second;
}

// How far the computed exponential of one logit may lie from E.
double Exponentials::Line::term_error(const Policy& p, std::size_t j) const {
  const double own = p.input_error * sizes[j] + p.lost_input, of_most = p.input_error * largest_size + p.lost_input;
  const double shift = p.is_unshifted ? own : own + of_most + p.unit() * (drops[j] + own + of_most) + p.smallest();
  const double argument = p.is_unshifted ? sizes[j] : drops[j];
  const double unit = std::ldexp(1.0, p.working.unit_exponent());
  double factor = 2 * unit * std::min(4 + argument / 8, p.most_ulps > 0 ? p.most_ulps : unproven) + p.imprecision;
  if (p.scales_operands) factor += 2 * unit * (sizes[j] + largest_size);
  factor += 10 * p.sum_unit() * static_cast<double>(std::min(terms - 1, p.most_rescalings));
  double lost = p.vanishing() + 128 * std::ldexp(1.0, p.working.smallest_exponent());
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
  const auto known = sum_errors.find(p.arithmetic);
  if (known != sum_errors.end()) return known->second;
  double off = 0;
  for (std::size_t j = 0; j < x.size(); ++j)
    if (counts(j)) off += term_error(p, j);
  const double additions = static_cast<double>(terms - 1) * p.sum_unit(), gamma = additions * (1 + 2 * additions);
  const double size = (total + off) * (1 + gamma);
  off += gamma * (total + off);
  if (!p.is_fused()) off += p.unit() * size + p.smallest();
  if (additions >= 0.5) off = unproven;
  return sum_errors[p.arithmetic] = off * raised;
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
  if (p.is_unshifted)
    return !is_within(largest, p.nodes.min_exponent + p.nodes.precision, p.nodes.max_exponent - longest - 1);
  return longest >= p.nodes.max_exponent - 1 ||
         (p.input_error > 0 && largest_size >= std::ldexp(1.0, p.working.max_exponent - 2));
}

std::unique_ptr<Expression> Exponentials::share(Int i) const {
  class Share final : public Expression {
   public:
    Share(std::shared_ptr<const Line> line, std::size_t i) : line_(std::move(line)), i_(i) {}

    Real value(int bits) const override {
      const Line::Enclosed& enclosed = line_->at(bits);
      return enclosed.terms[i_] / enclosed.sum;
    }

    double error(const Policy& p) const override {
      if (!line_->counts(i_)) return 0;  // exp(-inf) is 0
      const double off = line_->sum_error(p), own = line_->term_error(p, i_), sum = line_->total / raised;
      if (!(off < sum)) return unproven;
      const double rounding = three_roundings(p.unit());
      const double error =
          (own * (1 + rounding) + line_->exponentials[i_] * (rounding + off / sum)) / (sum - off) + p.smallest();
      return (error + p.vanishing()) * raised;
    }

    bool breaks_down(const Policy& p) const override { return line_->breaks_down(p); }

   private:
    std::shared_ptr<const Line> line_;
    std::size_t i_;
  };
  return std::make_unique<Share>(line_, static_cast<std::size_t>(i));
}

std::unique_ptr<Expression> Exponentials::logarithm_of_share(Int i) const {
  class LogOfShare final : public Expression {
   public:
    LogOfShare(const Exponentials& of, Int i)
        : line_(of.line_), share_(of.share(i)), i_(static_cast<std::size_t>(i)), size_(value(96).size()) {}

    Real value(int bits) const override {
      const Real sum = oracles::enclosed(Function::log, std::array{line_->at(bits).sum});
      return Real(Ratio{line_->x[i_].value() - line_->most, 1}, bits) - sum;
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
      policy.arithmetic += is_unshifted ? ", unshifted" : "";
      policy.is_unshifted = is_unshifted;
      return policy;
    }

    std::shared_ptr<const Line> line_;
  };
  return std::make_unique<Logarithm>(line_);
}

Exponentials::Exponentials(std::vector<Scalar> x) : line_(std::make_shared<const Line>(std::move(x))) {}

}  // namespace assay::oracles
