// SPDX-License-Identifier: Apache-2.0
// The exact answers of LinearRegressor and LinearClassifier (values-and-graphs 3.8). A score is a sum of products in
// any order (scores.h).
#include "oracles/families/scores.h"
#include "oracles/rules/rules.h"

namespace assay::oracles {
namespace {

class Model final : public ScoreModel {
 public:
  Model(const Call& call, const Operands& in, Int columns)
      : call_(call),
        x_(*in[0]),
        columns_(columns),
        features_(x_.shape().back()),
        weights_(call.reals("coefficients")),
        rows_(std::ssize(weights_) / features_) {}

  Int batch() const override { return x_.shape().size() == 1 ? 1 : x_.extent(0); }
  Int columns() const override { return columns_; }
  Int terms() const override { return features_ + 1; }
  std::string post() const override { return call_.text("post_transform"); }
  bool multiplies() const override { return true; }

  ScoreRow row(Int n, const Readings& readings) const override {
    ScoreRow all;
    for (Int k = 0; k < rows_; ++k) all.scores.push_back(score(n, k));
    if (rows_ == columns_) return all;
    all.shares_open_by = "G34";
    const Score s = all.scores.front();
    const bool is_complement = readings.of("G34") == "complement" && post() == "NONE";
    Score other = opposite(s);
    if (is_complement) other.is_nothing = false;
    if (is_complement && s.tree) other.tree = operand(scalar(Int{1})) - s.tree;
    all.scores.insert(all.scores.begin(), other);
    return all;
  }
  ScoreRow compared(Int n, const Readings&) const override { return row(n, Readings()); }

  std::vector<ProofTerm> taps(Int n) const override { return row_taps(x_, n * features_, features_); }

 private:
  Score score(Int n, Int k) const {
    ScoreTerms terms;
    for (Int j = 0; j < features_; ++j)
      terms.add(x_.at(n * features_ + j),
                scalar_of(static_cast<double>(weights_[static_cast<std::size_t>(k * features_ + j)])));
    if (call_.states("intercepts"))
      terms.add(scalar_of(static_cast<double>(call_.reals("intercepts")[static_cast<std::size_t>(k)])), scalar(Int{1}));
    return terms.sum();
  }

  Call call_;
  Cells x_;
  Int columns_, features_;
  Reals weights_;
  Int rows_;
};

Int batch_of(const Call& call) { return call.rank("X") == 1 ? 1 : call.dim("X", 0); }

}  // namespace

Oracle linear_regressor() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    return Answers(scores_answer(std::make_shared<const Model>(call, in, call.integer("targets")), readings, declared));
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
    const auto model = std::make_shared<const Model>(call, in, count_classes(call, "classlabels_ints"));
    Answers all(labels_answer(model, call, "classlabels_ints", readings));
    all.push_back(scores_answer(model, readings, declared));
    return all;
  };
  oracle.shape = [](const Call& call, const Readings&) { return std::optional(Shape{batch_of(call)}); };
  oracle.factors = {"X"};
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
