// SPDX-License-Identifier: Apache-2.0
#include "oracles/families/scores.h"

#include "oracles/exact/tree_bounds.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace assay::oracles {
namespace {

double nearly(const Tree& tree) {
  if (tree->fraction()) return approximate(*tree->fraction());
  return tree->value(96).is_negative() ? -tree->size() : tree->size();
}

class Share final : public TreeNode {
 public:
  Share(const std::vector<Tree>& scores, std::size_t own) : TreeNode(scores, fraction_of(scores)), own_(own) {
    for (const Tree& each : scores) sizes_.push_back(nearly(each));
  }
  bool is_met_by(const Policy& p) const override { return !p.takes_logarithm && TreeNode::is_met_by(p); }
  double bound(const Policy& p) const override {
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
      if (!each->fraction() || !(*each->fraction() == *scores.front()->fraction())) return std::nullopt;
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

Policy coarse(DType dtype) {
  Policy p = wider_policies(dtype).front();
  p.arithmetic = "bf16 inputs";
  p.input_error = 0x1p-8;
  return p;
}

// Holds the scores of a row as an output has them.
class Transformed {
 public:
  Transformed(const ScoreModel& model, const Readings& readings, Int n, DType dtype)
      : post_(model.post()),
        keeps_zeros_(post_ == "SOFTMAX_ZERO" && readings.of("G38") != "softmax"),
        dtype_(dtype),
        row_(model.row(n, readings)) {}

  TreeValue at(std::size_t k) const {
    const std::vector<Score>& scores = row_.scores;
    if (post_ == "PROBIT") return undefined("G52", "how PROBIT is approximated");
    for (const Score& each : scores)
      if (!each.open_by.empty() && (&each == &scores[k] || post_.starts_with("SOFTMAX")))
        return undefined(each.open_by, "a score that nothing is said of");
    const bool is_strange = std::ranges::any_of(scores, [](const Score& each) { return !each.tree; });
    if (is_strange && (post_ != "NONE" || !row_.shares_open_by.empty()))
      return undefined("G53", "scores that are no numbers");
    if (!scores[k].tree) return exactly(scores[k].strange, dtype_);
    if (post_ == "NONE") return scores[k].tree;
    if (post_ == "LOGISTIC") return function_of(Function::sigmoid, scores[k].tree);
    if (!row_.shares_open_by.empty()) return undefined(row_.shares_open_by, "the shares of one score");
    return share(k);
  }

 private:
  TreeValue share(std::size_t k) const {
    std::vector<Tree> shared;
    std::size_t own = 0;
    for (std::size_t j = 0; j < row_.scores.size(); ++j) {
      const Score& each = row_.scores[j];
      if (each.tree->size() > (dtype_ == DType::f16 ? 8 : 60))
        return unscored("scores whose exponentials may overflow");
      if (keeps_zeros_ && !each.is_nothing && is_near_zero(each)) return undefined("G38", "a score that may be 0");
      if (keeps_zeros_ && each.is_nothing) continue;
      if (j == k) own = shared.size();
      shared.push_back(each.tree);
    }
    if (shared.empty()) return undefined("G38", "no score but 0");
    if (keeps_zeros_ && row_.scores[k].is_nothing) return exactly(Scalar(), dtype_);
    if (shared.size() == 1) return operand(scalar(Int{1})) / operand(scalar(Int{1}));
    return std::make_shared<Share>(shared, own);
  }
  bool is_near_zero(const Score& score) const {
    return score.tree->least() < 1e-5 + 2 * score.tree->error(coarse(dtype_));
  }

  std::string post_;
  bool keeps_zeros_;
  DType dtype_;
  ScoreRow row_;
};

class ScoresAnswer final : public Answer {
 public:
  ScoresAnswer(SharedModel model, const Readings& readings, const Arithmetic& declared, DType dtype)
      : model_(std::move(model)), readings_(readings), declared_(declared), dtype_(dtype) {}
  Shape shape() const override { return {model_->batch(), model_->columns()}; }
  DType dtype() const override { return dtype_; }
  Element element(Int index) const override {
    const TreeValue value = value_at(index);
    Element out = value.index() == 0 ? std::get<Element>(value) : computed(*std::get<Tree>(value), dtype_);
    out.terms = model_->terms();
    return out;
  }
  std::vector<Tolerance> wider(Int index) const override {
    const TreeValue value = value_at(index);
    if (value.index() == 0) return {};
    const Tree& tree = std::get<Tree>(value);
    const Element own = element(index);
    std::vector<Tolerance> all = tolerances(*tree, own, dtype_, declared_);
    if (!model_->multiplies()) return all;
    Tolerance rough;
    rough.level = Level::widest;
    rough.arithmetic = "bf16 inputs";
    rough.may_overflow = tree->breaks_down(coarse(dtype_));
    const double error = tree->error(coarse(dtype_));
    rough.vacuous = !std::isfinite(error);
    if (!rough.vacuous) rough.budget = budget_of(error, own.blur);
    all.push_back(rough);
    return all;
  }
  std::vector<ProofTerm> taps(Int index) const override { return model_->taps(index / model_->columns()); }

 private:
  TreeValue value_at(Int index) const {
    return Transformed(*model_, readings_, index / model_->columns(), dtype_)
        .at(static_cast<std::size_t>(index % model_->columns()));
  }

  SharedModel model_;
  Readings readings_;
  Arithmetic declared_;
  DType dtype_;
};

class LabelsAnswer final : public Answer {
 public:
  LabelsAnswer(SharedModel model, const Call& call, const std::string& integers, const Readings& readings)
      : model_(std::move(model)), readings_(readings) {
    if (call.states("classlabels_strings"))
      texts_ = call.texts("classlabels_strings");
    else
      numbers_ = call.ints(integers);
  }
  Shape shape() const override { return {model_->batch()}; }
  DType dtype() const override { return texts_.empty() ? DType::i64 : DType::string; }
  Element element(Int index) const override {
    const Choice choice = model_->choice(index, readings_);
    if (choice.index() == 1) return std::get<Element>(choice);
    const std::vector<std::size_t>& all = std::get<0>(choice);
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
  SharedModel model_;
  Readings readings_;
  Texts texts_;
  Ints numbers_;
};

// Returns the labels whose score may be the largest, the largest one first; none where some score is no number. Once
// they are transformed by a function of 10 bits, scores may be equal that differ by less than 0.3, or lie beyond ±5
// (LOGISTIC).
std::vector<std::size_t> largest(const ScoreRow& row, const std::string& post, bool multiplies) {
  std::vector<double> values, errors;
  for (const Score& each : row.scores) {
    if (!each.tree) return {};
    values.push_back(nearly(each.tree));
    errors.push_back(worst_error(each.tree, multiplies));
  }
  const auto best = static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
  std::vector<std::size_t> all{best};
  for (std::size_t k = 0; k < values.size(); ++k) {
    const bool saturates = post == "LOGISTIC" && (values[k] > 5 || values[best] < -5);
    const double margin = errors[best] + errors[k] + (post == "NONE" ? 0 : 0.3);
    if (k != best && (saturates || !(values[best] - values[k] > margin))) all.push_back(k);
  }
  return all;
}

}  // namespace

double worst_error(const Tree& score, bool multiplies) {
  double worst = 0x1p-40 * score->size();
  for (const Policy& p : required_policies(DType::f32)) worst = std::max(worst, score->error(p));
  for (const Policy& p : wider_policies(DType::f32)) worst = std::max(worst, score->error(p));
  return multiplies ? std::max(worst, score->error(coarse(DType::f32))) : worst;
}

Choice ScoreModel::choice(Int n, const Readings& readings) const {
  if (post() == "PROBIT" || post() == "SOFTMAX_ZERO")
    return undefined("G54", "labels of scores as they are transformed");
  const ScoreRow row = compared(n, readings);
  for (const Score& each : row.scores)
    if (!each.open_by.empty()) return undefined(each.open_by, "a score that nothing is said of");
  std::vector<std::size_t> all = largest(row, post(), multiplies());
  if (all.empty()) return undefined("G53", "scores that are no numbers");
  return all;
}

void ScoreTerms::add(const Scalar& a) {
  is_nothing_ = is_nothing_ && a.is_zero();
  if (a.is_finite()) return terms_.push_back(operand(a));
  is_nan_there_ = is_nan_there_ || is_nan(a);
  (a.negative ? has_least_ : has_most_) = true;
}

void ScoreTerms::add(const Scalar& a, const Scalar& b) {
  is_nothing_ = is_nothing_ && (a.is_zero() || b.is_zero());
  if (a.is_finite() && b.is_finite()) return terms_.push_back(operand(a) * operand(b));
  is_nan_there_ = is_nan_there_ || is_nan(a) || is_nan(b) || a.is_zero() || b.is_zero();
  for (const Scalar& each : {a, b}) vanishes_ = vanishes_ || each.is_subnormal(format_of(DType::f32));
  (a.negative == b.negative ? has_most_ : has_least_) = true;
}

Score ScoreTerms::sum() const {
  if (is_nan_there_ || (has_most_ && has_least_)) return {nullptr, nan(), false};
  if (has_most_ || has_least_) {
    double sizes = 0;
    for (const Tree& each : terms_) sizes += each->size();
    // A subnormal number that meets an infinity makes NaN where it is flushed, and so does the other infinity.
    if (vanishes_ || !(sizes < 0x1p120)) return {operand(Scalar()), {}, false, "G53"};
    return {nullptr, infinity(has_least_), false};
  }
  return {terms_.empty() ? operand(Scalar()) : sum_of(terms_), {}, is_nothing_};
}

Score opposite(const Score& score) {
  return {score.tree ? negative(score.tree) : nullptr, negated(score.strange), score.is_nothing, score.open_by};
}

std::vector<ProofTerm> row_taps(const Cells& x, Int first, Int many) {
  std::vector<ProofTerm> all;
  for (Int at = first; at < first + many; ++at)
    all.push_back({{written(x.at(at), x.tensor().dtype())}, place("X", x.shape(), at)});
  return all;
}

std::unique_ptr<Answer> scores_answer(SharedModel model, const Readings& readings, const Arithmetic& declared,
                                      DType dtype) {
  return std::make_unique<ScoresAnswer>(std::move(model), readings, declared, dtype);
}

std::unique_ptr<Answer> labels_answer(SharedModel model, const Call& call, const std::string& integers,
                                      const Readings& readings) {
  return std::make_unique<LabelsAnswer>(std::move(model), call, integers, readings);
}

Int count_classes(const Call& call, const std::string& integers) {
  return call.states("classlabels_strings") ? std::ssize(call.texts("classlabels_strings"))
                                            : std::ssize(call.ints(integers));
}

}  // namespace assay::oracles
