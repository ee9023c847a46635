// SPDX-License-Identifier: Apache-2.0
// What the random operators may answer (values-and-graphs 3.7): a number of the support, and of many numbers no
// distribution that chance does not explain. Nothing else is promised, whatever the seed (G20).
#include "oracles/exact/operands.h"
#include "oracles/judging/distribution.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace assay::oracles {
namespace {

// By Hoeffding's inequality, and by that of Dvoretzky, Kiefer, Wolfowitz and Massart, n shares are off by more than
// this with a probability of 10^-12 at most.
double chance(Int n) { return std::sqrt(std::log(2e12) / (2 * static_cast<double>(n))); }

// How many numbers more than chance explains lie at or below a number, or at or above it.
struct Surplus {
  Int low = 0, high = 0;
  double at = 0;
};

// Marks the first so many indices of those for which a predicate holds.
template <class F>
std::vector<bool> first_of(Int n, Int many, F holds) {
  std::vector<bool> marked(static_cast<std::size_t>(n), false);
  for (Int i = 0; i < n && many > 0; ++i)
    if (holds(i)) marked[static_cast<std::size_t>(i)] = true, --many;
  return marked;
}

// Compares numbers with the distribution they are drawn from.
Surplus surplus_of(std::vector<double> numbers, const Distribution& drawn_from) {
  const Int n = std::ssize(numbers);
  if (n < fewest_drawn) return {};
  std::ranges::sort(numbers);
  const double admitted = chance(n) + drawn_from.atom;
  Surplus worst;
  double most = admitted;
  for (Int i = 0; i < n; ++i) {
    const double x = numbers[static_cast<std::size_t>(i)], right = drawn_from.below(x);
    const double below = static_cast<double>(i + 1) / static_cast<double>(n) - right,
                 above = right - static_cast<double>(i) / static_cast<double>(n);
    const auto too_many = [&](double off) {
      return static_cast<Int>(std::ceil((off - admitted) * static_cast<double>(n)));
    };
    if (below > most) most = below, worst = {too_many(below), 0, x};
    if (above > most) most = above, worst = {0, too_many(above), x};
  }
  return worst;
}

std::vector<double> numbers_of(const Tensor& tensor) {
  std::vector<double> all;
  for (Int i = 0; i < tensor.elements(); ++i) {
    const Scalar x = scalar(tensor, i);
    all.push_back(x.is_finite() ? x.as_double() : is_nan(x) || !x.negative ? INFINITY : -INFINITY);
  }
  return all;
}

// Between two numbers, each rounded to the type.
Element within(double low, double high) {
  Element out;
  out.value = (ratio(scalar_of(low)) + ratio(scalar_of(high))) * Dyadic::power_of_two(-1);
  out.magnitude = abs(out.value);
  out.terms = 1;
  out.required.arithmetic = "any number of the support";
  out.required.budget = (ratio(scalar_of(high)) - ratio(scalar_of(low))) * Dyadic::power_of_two(-1);
  return out;
}

class RandomAnswer : public Answer {
 public:
  RandomAnswer(TensorType type, const std::vector<Tensor>& got) : type_(std::move(type)) {
    if (!got.empty()) got_ = got.front();
  }
  Shape shape() const override { return type_.shape; }
  DType dtype() const override { return type_.dtype; }
  std::vector<Tolerance> wider(Int) const override { return {}; }
  std::vector<ProofTerm> taps(Int) const override { return {}; }

 protected:
  const std::optional<Tensor>& got() const { return got_; }

 private:
  TensorType type_;
  std::optional<Tensor> got_;
};

// Returns what the attributes say; none where all numbers are one.
std::optional<Distribution> distribution(const Call& call, DType type) {
  const double unit = std::ldexp(1.0, -format_of(type).precision);
  if (call.definition().attribute("low")) {
    const double low = call.real("low"), high = call.real("high"), width = high - low;
    if (!(width > 0)) return std::nullopt;
    return Distribution{false, low, width, unit * 2 * std::max(std::abs(low), std::abs(high)) / width};
  }
  const double mean = call.real("mean"), scale = call.real("scale");
  if (!(scale > 0)) return std::nullopt;
  return Distribution{true, mean, scale, unit * (std::abs(mean) / scale + 4)};
}

// Answers of a continuous distribution: what lies where too many do has to lie elsewhere. Forty deviations from the
// mean of a normal one there is no number.
class DrawnAnswer final : public RandomAnswer {
 public:
  DrawnAnswer(const Call& call, TensorType type, const std::vector<Tensor>& given)
      : RandomAnswer(std::move(type), given) {
    const bool is_uniform = call.definition().attribute("low") != nullptr;
    const double mean = is_uniform ? 0 : call.real("mean"), reach = is_uniform ? 0 : 40.0 * call.real("scale");
    low_ = is_uniform ? call.real("low") : mean - reach;
    high_ = is_uniform ? call.real("high") : mean + reach;
    if (const std::optional<Distribution> drawn_from = distribution(call, dtype()); drawn_from && got())
      compare(numbers_of(*got()), *drawn_from);
  }

  Element element(Int index) const override {
    const bool is_one_too_many = !wrong_.empty() && wrong_[static_cast<std::size_t>(index)];
    if (!is_one_too_many) return within(low_, high_);
    const bool is_low = surplus_.low > 0;
    const Format& format = format_of(dtype());
    const double step =
        std::ldexp(std::abs(surplus_.at), 1 - format.precision) + std::ldexp(1.0, format.smallest_exponent());
    Element out = is_low ? within(surplus_.at + step, high_) : within(low_, surplus_.at - step);
    out.required.arithmetic = std::to_string(surplus_.low + surplus_.high) + " of " + std::to_string(wrong_.size()) +
                              " numbers more than chance explains are " + (is_low ? "no larger" : "no smaller");
    return out;
  }

 private:
  void compare(const std::vector<double>& numbers, const Distribution& drawn_from) {
    surplus_ = surplus_of(numbers, drawn_from);
    wrong_ = first_of(std::ssize(numbers), surplus_.low + surplus_.high, [&](Int i) {
      const double x = numbers[static_cast<std::size_t>(i)];
      return surplus_.low > 0 ? x <= surplus_.at : x >= surplus_.at;
    });
  }

  double low_, high_;
  Surplus surplus_;
  std::vector<bool> wrong_;
};

// Of whole numbers, each with a probability: what was answered is right where it has one.
class ChosenAnswer : public RandomAnswer {
 public:
  using RandomAnswer::RandomAnswer;
  Element element(Int index) const override {
    if (const std::optional<Int> certain = only_choice(index)) return exactly(scalar(*certain), dtype());
    if (!got()) return unscored("which number comes is random");
    const Scalar x = scalar(*got(), index);
    const bool is_whole = x.is_finite() && x.exponent >= 0 && x.exponent < 63;  // significands are odd
    if (is_whole && may_be(index, x.as_integer())) return exactly(scalar(x.as_integer()), dtype());
    return exactly(scalar(other_choice(index)), dtype());
  }

 protected:
  virtual std::optional<Int> only_choice(Int index) const = 0;
  virtual bool may_be(Int index, Int number) const = 0;
  virtual Int other_choice(Int index) const = 0;
};

class TossedAnswer final : public ChosenAnswer {
 public:
  TossedAnswer(TensorType type, const Tensor& p, const Readings& readings, const std::vector<Tensor>& given)
      : ChosenAnswer(std::move(type), given), p_(p), is_complement_(readings.of("G21") == "function-body") {
    const Int n = p.elements();
    if (!got() || n < fewest_drawn) return;
    double off = 0;
    for (Int i = 0; i < n; ++i) off += !scalar(*got(), i).is_zero() - probability(i);
    const double admitted = chance(n) * static_cast<double>(n);
    has_zeros_too_many_ = off < 0;
    wrong_ = first_of(n, static_cast<Int>(std::ceil(std::abs(off) - admitted)),
                      [&](Int i) { return scalar(*got(), i).is_zero() == has_zeros_too_many_; });
  }
  Element element(Int index) const override {
    const Scalar p = scalar(p_, index);
    if (!p.is_finite() || p.as_double() < 0 || p.as_double() > 1) return undefined("G47", "no probability");
    return ChosenAnswer::element(index);
  }

 private:
  double probability(Int index) const {
    const double p = scalar(p_, index).as_double();
    return is_complement_ ? 1 - p : p;
  }
  std::optional<Int> only_choice(Int index) const override {
    const double p = probability(index);
    return p == 0 || p == 1 ? std::optional(static_cast<Int>(p)) : std::nullopt;
  }
  bool is_one_too_many(Int index) const { return !wrong_.empty() && wrong_[static_cast<std::size_t>(index)]; }
  bool may_be(Int index, Int number) const override { return (number == 0 || number == 1) && !is_one_too_many(index); }
  Int other_choice(Int index) const override { return is_one_too_many(index) && has_zeros_too_many_ ? 1 : 0; }

  Tensor p_;
  bool is_complement_, has_zeros_too_many_ = false;
  std::vector<bool> wrong_;
};

class SampledAnswer final : public ChosenAnswer {
 public:
  SampledAnswer(const Call& call, TensorType type, const Tensor& x, const std::vector<Tensor>& given)
      : ChosenAnswer(std::move(type), given), x_(x), classes_(x.shape()[1]), samples_(call.integer("sample_size")) {
    if (!got() || samples_ < fewest_drawn) return;
    for (Int row = 0; row < x.shape()[0]; ++row) count(row);
  }
  Element element(Int index) const override {
    for (Int k = 0; k < classes_; ++k)
      if (!at(row_of(index), k).is_finite()) return unscored("a probability that is no number");
    return ChosenAnswer::element(index);
  }

 private:
  Int row_of(Int index) const { return index / samples_; }
  Scalar at(Int row, Int k) const { return scalar(x_, row * classes_ + k); }

  // Finds the classes of a row that come more often than chance explains.
  void count(Int row) {
    std::vector<double> weights;
    for (Int k = 0; k < classes_; ++k) {
      if (!at(row, k).is_finite()) return;
      weights.push_back(at(row, k).as_double());
    }
    const double largest = std::ranges::max(weights);
    double total = 0;
    for (double& weight : weights) total += weight = std::exp(weight - largest);
    std::vector<Int> counts(weights.size(), 0);
    for (Int i = row * samples_; i < (row + 1) * samples_; ++i)
      if (const Int k = scalar(*got(), i).as_integer(); k >= 0 && k < classes_) ++counts[static_cast<std::size_t>(k)];
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const double off = static_cast<double>(counts[k]) / static_cast<double>(samples_) - weights[k] / total;
      if (off > chance(samples_)) too_often_[row] = static_cast<Int>(k);
    }
  }

  // A class beside which the others together have a chance below 2^-80.
  std::optional<Int> only_choice(Int index) const override {
    const Int row = row_of(index);
    if (classes_ == 1) return 0;
    Int best = 0;
    for (Int k = 1; k < classes_; ++k)
      if (at(row, k).as_double() > at(row, best).as_double()) best = k;
    for (Int k = 0; k < classes_; ++k)
      if (k != best &&
          at(row, best).as_double() - at(row, k).as_double() < 60 + std::log(static_cast<double>(classes_)))
        return std::nullopt;
    return best;
  }
  bool may_be(Int index, Int number) const override {
    const auto found = too_often_.find(row_of(index));
    return number >= 0 && number < classes_ && (found == too_often_.end() || found->second != number);
  }
  Int other_choice(Int index) const override {
    const auto found = too_often_.find(row_of(index));
    return found != too_often_.end() && found->second == 0 ? 1 : 0;
  }

  Tensor x_;
  Int classes_, samples_;
  std::map<Int, Int> too_often_;
};

TensorType type_of(const Call& call, Shape shape) {
  const Definition& definition = call.definition();
  return {definition.type_of(call, definition.outputs.front()), std::move(shape)};
}

std::optional<Shape> shape_of(const Call& call, const Readings& readings) {
  if (call.definition().ruling("G19") && call.real("scale") == 0 && readings.of("G19") == "refuse") return std::nullopt;
  if (call.definition().attribute("sample_size")) return Shape{call.dim("input", 0), call.integer("sample_size")};
  return call.definition().attribute("shape") ? call.ints("shape") : call.shape("input");
}

using Answered = std::unique_ptr<Answer> (*)(const Call&, TensorType, const Operands&, const Readings&,
                                             const std::vector<Tensor>& got);

Oracle random(Answered answered) {
  Oracle oracle;
  oracle.given = [answered](const Call& call, const Operands& in, const Readings& readings,
                            const std::vector<Tensor>& got) {
    Answers all;
    all.push_back(answered(call, type_of(call, *shape_of(call, readings)), in, readings, got));
    return all;
  };
  oracle.answer = [given = oracle.given](const Call& call, const Operands& in, const Readings& readings,
                                         const Arithmetic&) { return given(call, in, readings, {}); };
  oracle.shape = shape_of;
  oracle.is_random = [](const Call&) { return true; };
  return with_touched(std::move(oracle));
}

Oracle of_numbers() {
  return random([](const Call& call, TensorType type, const Operands&, const Readings&,
                   const std::vector<Tensor>& got) -> std::unique_ptr<Answer> {
    return std::make_unique<DrawnAnswer>(call, std::move(type), got);
  });
}

}  // namespace

double Distribution::below(double number) const {
  const double at = (number - start) / width;
  return is_normal ? std::erfc(-at / std::sqrt(2.0)) / 2 : std::clamp(at, 0.0, 1.0);
}

std::optional<Distribution> distribution_of(const Call& call) {
  const Definition& definition = call.definition();
  const bool is_drawn = is_random(call) && (definition.attribute("low") || definition.attribute("mean"));
  if (!is_drawn || volume(shape_of(call, {}).value_or(Shape{0})) < fewest_drawn) return std::nullopt;
  return distribution(call, definition.type_of(call, definition.outputs.front()));
}

Oracle random_uniform() { return of_numbers(); }
Oracle random_uniform_like() { return of_numbers(); }
Oracle random_normal() { return of_numbers(); }
Oracle random_normal_like() { return of_numbers(); }
Oracle bernoulli() {
  Oracle oracle = random([](const Call&, TensorType type, const Operands& in, const Readings& readings,
                            const std::vector<Tensor>& got) -> std::unique_ptr<Answer> {
    return std::make_unique<TossedAnswer>(std::move(type), *in.at(0), readings, got);
  });
  // Before there is an answer its readings do not differ, but where a probability is 0 or 1.
  oracle.touched = [](const Call&, const Operands*, Int) { return std::vector<std::string>{"G21"}; };
  oracle.touched_reads_data = false;
  return oracle;
}
Oracle multinomial() {
  return random([](const Call& call, TensorType type, const Operands& in, const Readings&,
                   const std::vector<Tensor>& got) -> std::unique_ptr<Answer> {
    return std::make_unique<SampledAnswer>(call, std::move(type), *in.at(0), got);
  });
}

}  // namespace assay::oracles
