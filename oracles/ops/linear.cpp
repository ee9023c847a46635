// SPDX-License-Identifier: Apache-2.0
// The exact answers of LinearRegressor and LinearClassifier (values-and-graphs 3.8). A score is a sum of products in
// any order. With e of each score and s its size, the share exp(s_i) / sum of exp(s_j), computed with the largest score
// M taken off or not:
//   argument     off by D = e + u (|s| + |M| + 2 e) + η
//   exponential  of E = exp(s - M): E (exp(D) - 1), the row of exp (functions.h) at |s| + |M| + 2 e + D, and λ; M is
//                off by e, by which E and the sum S of all are multiplied
//   sum          t of all, and γ(n - 1) (S + t)
//   quotient     of p = E / S: (t_i + p t) / (S - t), three roundings
// Without M what is lost is exp(-M) times as much, no more than 2^87: scores are no larger than 60.
// A label is right whose score may be the largest in any admitted arithmetic, transformed or not.
#include "oracles/exact/composite.h"
#include "oracles/exact/operands.h"
#include "oracles/exact/tree_bounds.h"
#include "oracles/families/normalized.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::oracles {
namespace {

class Share final : public Node {
 public:
  Share(const std::vector<Tree>& scores, std::size_t own) : Node(scores, fraction_of(scores)), own_(own) {
    for (const Tree& each : scores) sizes_.push_back(approximate(*each->fraction()));
    measure();
  }
  bool is_met_by(const Policy& p) const override { return !p.takes_logarithm && Node::is_met_by(p); }
  double error(const Policy& p) const override {
    const double largest = *std::ranges::max_element(sizes_);
    double worst = 0, sum = 0, off = 0, of_own = 0, own = 0;
    for (const Tree& each : operands_) worst = std::max(worst, each->error(p));
    if (!(worst < 0.5)) return unproven;
    const double raise = std::exp(worst) * raised;
    const double vanishing = (p.vanishing() + lost(p)) * (p.is_unshifted ? 0x1p87 : 1);
    for (std::size_t j = 0; j < sizes_.size(); ++j) {
      const double apart = std::abs(sizes_[j]) + std::abs(largest) + 2 * worst;
      const double moved = operands_[j]->error(p) + p.sum_unit() * apart * raised + lost(p);
      const double e = std::exp(sizes_[j] - largest) * raise;
      const double row = oracles::bound(Function::exp, std::array{apart + moved}, e * std::exp(moved), p.working);
      const double term = e * std::expm1(moved) * raised + row + p.imprecision * e * 2 + vanishing;
      sum += e;
      off += term;
      if (j == own_) of_own = term, own = e;
    }
    off += gamma_of(static_cast<double>(sizes_.size()), p.sum_unit()) * (sum + off);
    const double least = sum / (raise * raise);
    if (!(off < least / 2)) return unproven;
    const double share = std::min(1.0, own / least), moved = (of_own + share * off) / (least - off);
    return proven(moved + rho(p, share + moved, 3) + lost(p));
  }

 private:
  static std::optional<Ratio> fraction_of(const std::vector<Tree>& scores) {
    for (const Tree& each : scores)
      if (!(*each->fraction() == *scores.front()->fraction())) return std::nullopt;
    return Ratio{{1, 0}, static_cast<Int>(scores.size())};
  }
  Real irrational(int bits) const override {
    Real sum(Int{0}, bits);
    for (const Tree& each : operands_)
      sum = sum + enclosed(Function::exp, std::array{each->value(bits) - operands_[own_]->value(bits)});
    return Real(Int{1}, bits) / sum;
  }

  std::size_t own_;
  std::vector<double> sizes_;
};

Policy coarse() {
  Policy p = wider_policies(DType::f32).front();
  p.arithmetic = "bf16 inputs";
  p.input_error = 0x1p-8;
  return p;
}

// Holds a score: what is computed or, where something is no number, what comes of that.
struct Score {
  Tree tree;
  Scalar strange;
  bool is_nothing = false;  // every term is 0
};

class Model {
 public:
  Model(const Call& call, const Operands& in)
      : call_(call),
        x_(*in[0]),
        columns_(x_.shape().back()),
        weights_(call.reals("coefficients")),
        rows_(std::ssize(weights_) / columns_) {}

  Int batch() const { return x_.shape().size() == 1 ? 1 : x_.extent(0); }
  Int rows() const { return rows_; }
  Int columns() const { return columns_; }
  const Cells& x() const { return x_; }
  const Call& call() const { return call_; }

  std::vector<Score> scores(Int n) const {
    std::vector<Score> all;
    for (Int k = 0; k < rows_; ++k) all.push_back(score(n, k));
    return all;
  }

 private:
  Score score(Int n, Int k) const {
    std::vector<Tree> terms;
    bool is_nan_there = false, has_least = false, has_most = false, is_nothing = true;
    const auto add = [&](const Scalar& a, const Scalar& b) {
      is_nothing = is_nothing && (a.is_zero() || b.is_zero());
      if (a.is_finite() && b.is_finite()) return terms.push_back(operand(a) * operand(b));
      is_nan_there = is_nan_there || is_nan(a) || is_nan(b) || a.is_zero() || b.is_zero();
      (a.negative == b.negative ? has_most : has_least) = true;
    };
    for (Int j = 0; j < columns_; ++j)
      add(x_.at(n * columns_ + j),
          scalar_of(static_cast<double>(weights_[static_cast<std::size_t>(k * columns_ + j)])));
    if (call_.states("intercepts"))
      add(scalar_of(static_cast<double>(call_.reals("intercepts")[static_cast<std::size_t>(k)])), scalar(Int{1}));
    if (is_nan_there || (has_most && has_least)) return {nullptr, nan()};
    if (has_most || has_least) return {nullptr, infinity(has_least)};
    return {sum_of(std::move(terms)), {}, is_nothing};
  }

  Call call_;
  Cells x_;
  Int columns_;
  Reals weights_;
  Int rows_;
};

// Holds the scores of a row as an output has them.
class Transformed {
 public:
  Transformed(const Model& model, const Readings& readings, Int n, Int classes)
      : post_(model.call().text("post_transform")),
        keeps_zeros_(post_ == "SOFTMAX_ZERO" && readings.of("G38") != "softmax"),
        scores_(model.scores(n)) {
    is_binary_ = classes == 2 && scores_.size() == 1;
    if (!is_binary_) return;
    const Score s = scores_.front();
    const bool is_complement = readings.of("G34") == "complement" && post_ == "NONE";
    Score other{nullptr, negated(s.strange), s.is_nothing && !is_complement};
    if (s.tree) other.tree = is_complement ? operand(scalar(Int{1})) - s.tree : negative(s.tree);
    scores_.insert(scores_.begin(), other);
  }

  const std::vector<Score>& scores() const { return scores_; }

  TreeValue at(std::size_t k) const {
    if (post_ == "PROBIT") return undefined("G52", "how PROBIT is approximated");
    const bool is_strange = std::ranges::any_of(scores_, [](const Score& each) { return !each.tree; });
    if (is_strange && (post_ != "NONE" || is_binary_)) return undefined("G53", "scores that are no numbers");
    if (!scores_[k].tree) return exactly(scores_[k].strange, DType::f32);
    if (post_ == "NONE") return scores_[k].tree;
    if (post_ == "LOGISTIC") return function_of(Function::sigmoid, scores_[k].tree);
    if (is_binary_) return undefined("G34", "the shares of one score");
    return share(k);
  }

 private:
  TreeValue share(std::size_t k) const {
    std::vector<Tree> shared;
    std::size_t own = 0;
    for (std::size_t j = 0; j < scores_.size(); ++j) {
      const Score& each = scores_[j];
      if (each.tree->size() > 60) return unscored("scores whose exponentials may overflow");
      if (keeps_zeros_ && !each.is_nothing && is_near_zero(each)) return undefined("G38", "a score that may be 0");
      if (keeps_zeros_ && each.is_nothing) continue;
      if (j == k) own = shared.size();
      shared.push_back(each.tree);
    }
    if (shared.empty()) return undefined("G38", "no score but 0");
    if (keeps_zeros_ && scores_[k].is_nothing) return exactly(Scalar(), DType::f32);
    return std::make_shared<Share>(shared, own);
  }
  static bool is_near_zero(const Score& score) { return score.tree->least() < 1e-5 + 2 * score.tree->error(coarse()); }

  std::string post_;
  bool keeps_zeros_, is_binary_;
  std::vector<Score> scores_;
};

// Answers the scores that are returned.
class ScoresAnswer final : public Answer {
 public:
  ScoresAnswer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared, Int classes)
      : model_(call, in), readings_(readings), declared_(declared), classes_(classes) {}
  Shape shape() const override { return {model_.batch(), classes_}; }
  DType dtype() const override { return DType::f32; }
  Element element(Int index) const override {
    const TreeValue value = value_at(index);
    Element out = value.index() == 0 ? std::get<Element>(value) : computed(*std::get<Tree>(value), dtype());
    out.terms = model_.columns() + 1;
    return out;
  }
  std::vector<Tolerance> wider(Int index) const override {
    const TreeValue value = value_at(index);
    if (value.index() == 0) return {};
    const Tree& tree = std::get<Tree>(value);
    const Element own = element(index);
    std::vector<Tolerance> all = tolerances(*tree, own, dtype(), declared_);
    Tolerance rough;
    rough.level = Level::widest;
    rough.arithmetic = "bf16 inputs";
    rough.may_overflow = tree->breaks_down(coarse());
    const double error = tree->error(coarse());
    rough.vacuous = !std::isfinite(error);
    if (!rough.vacuous) rough.budget = budget_of(error, own.blur);
    all.push_back(rough);
    return all;
  }
  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    const Int first = index / classes_ * model_.columns();
    for (Int j = 0; j < model_.columns(); ++j)
      all.push_back({{written(model_.x().at(first + j), model_.x().tensor().dtype())},
                     place("X", model_.x().shape(), first + j)});
    return all;
  }

 private:
  TreeValue value_at(Int index) const {
    return Transformed(model_, readings_, index / classes_, classes_).at(static_cast<std::size_t>(index % classes_));
  }

  Model model_;
  Readings readings_;
  Arithmetic declared_;
  Int classes_;
};

Int classes_of(const Call& call) {
  return call.states("classlabels_strings") ? std::ssize(call.texts("classlabels_strings"))
                                            : std::ssize(call.ints("classlabels_ints"));
}

class LabelsAnswer final : public Answer {
 public:
  LabelsAnswer(const Call& call, const Operands& in) : model_(call, in) {
    if (call.states("classlabels_strings"))
      texts_ = call.texts("classlabels_strings");
    else
      numbers_ = call.ints("classlabels_ints");
  }
  Shape shape() const override { return {model_.batch()}; }
  DType dtype() const override { return texts_.empty() ? DType::i64 : DType::string; }
  Element element(Int index) const override {
    const std::string post = model_.call().text("post_transform");
    if (post == "PROBIT" || post == "SOFTMAX_ZERO") return undefined("G54", "labels of scores as they are transformed");
    const std::vector<std::size_t> all = candidates(index);
    if (all.empty()) return undefined("G53", "scores that are no numbers");
    if (texts_.empty()) {
      if (all.size() == 1) return exactly(scalar(numbers_[all.front()]), DType::i64);
      std::vector<Scalar> options;
      for (const std::size_t each : all) options.push_back(scalar(numbers_[each]));
      return one_of("G54", std::move(options));
    }
    Element out = exactly(texts_[all.front()]);
    Texts admitted;
    for (const std::size_t each : all) admitted.push_back(texts_[each]);
    out.says_same = [admitted](const std::string& text) { return std::ranges::count(admitted, text) > 0; };
    return out;
  }
  std::vector<Tolerance> wider(Int) const override { return {}; }
  std::vector<ProofTerm> taps(Int) const override { return {}; }

 private:
  // Returns the labels whose score may be the largest, the largest one first; none where some score is no number. Once
  // they are transformed by a function of 10 bits, scores may be equal that differ by less than 0.3, or lie beyond ±5
  // (LOGISTIC).
  std::vector<std::size_t> candidates(Int index) const {
    const Transformed row(model_, Readings(), index, classes_of(model_.call()));
    std::vector<Policy> policies = required_policies(DType::f32);
    std::ranges::copy(wider_policies(DType::f32), std::back_inserter(policies));
    policies.push_back(coarse());
    std::vector<double> values, errors;
    for (const Score& each : row.scores()) {
      if (!each.tree) return {};
      values.push_back(approximate(*each.tree->fraction()));
      errors.push_back(0x1p-40 * each.tree->size());
      for (const Policy& p : policies) errors.back() = std::max(errors.back(), each.tree->error(p));
    }
    const std::string post = model_.call().text("post_transform");
    const auto best = static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
    std::vector<std::size_t> all{best};
    for (std::size_t k = 0; k < values.size(); ++k) {
      const bool saturates = post == "LOGISTIC" && (values[k] > 5 || values[best] < -5);
      const double margin = errors[best] + errors[k] + (post == "NONE" ? 0 : 0.3);
      if (k != best && (saturates || !(values[best] - values[k] > margin))) all.push_back(k);
    }
    return all;
  }

  Model model_;
  Texts texts_;
  Ints numbers_;
};

Int batch_of(const Call& call) { return call.rank("X") == 1 ? 1 : call.dim("X", 0); }

}  // namespace

Oracle linear_regressor() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    return Answers(std::make_unique<ScoresAnswer>(call, in, readings, declared, call.integer("targets")));
  };
  oracle.shape = [](const Call& call, const Readings&) {
    return std::optional(Shape{batch_of(call), call.integer("targets")});
  };
  oracle.factors = {"X"};
  return with_touched(std::move(oracle));
}

Oracle linear_classifier() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    Answers all(std::make_unique<LabelsAnswer>(call, in));
    all.push_back(std::make_unique<ScoresAnswer>(call, in, readings, declared, classes_of(call)));
    return all;
  };
  oracle.shape = [](const Call& call, const Readings&) { return std::optional(Shape{batch_of(call)}); };
  oracle.factors = {"X"};
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
