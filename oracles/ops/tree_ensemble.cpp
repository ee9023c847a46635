// SPDX-License-Identifier: Apache-2.0
// The exact answers of TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble (values-and-graphs 3.8). Which
// leaves a row reaches is exact. A score is a sum of their weights in any order (scores.h); of AVERAGE a sum of n is
// divided, or each weight before, or multiplied by 1/n: γ(n + 1), and the rounding of the quotient.
#include "oracles/families/scores.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <set>

namespace assay::oracles {
namespace {

// A weight that a row of X reaches.
struct Vote {
  std::size_t tree, at;  // at: in the list of weights
  Int target;
  Scalar weight;
};

bool states_trees(const Call& call) { return call.definition().attribute("nodes_treeids") != nullptr; }
bool is_classifier(const Call& call) { return call.definition().attribute("classlabels_int64s") != nullptr; }

std::vector<Scalar> listed(const Call& call, const std::string& name) {
  std::vector<Scalar> all;
  if (!states_trees(call) || !call.states(name)) {
    const std::string own = states_trees(call) ? name + "_as_tensor" : name;
    if (call.states(own)) return scalars(call.tensor(own)).values;
    return all;
  }
  for (const float each : call.reals(name)) all.push_back(scalar_of(static_cast<double>(each)));
  return all;
}
Ints integers(const Call& call, const std::string& name) { return call.states(name) ? call.ints(name) : Ints(); }

// Says how two numbers compare; none where one is NaN.
std::partial_ordering order(const Scalar& a, const Scalar& b) {
  if (is_nan(a) || is_nan(b)) return std::partial_ordering::unordered;
  const auto end = [](const Scalar& x) { return x.is_finite() ? 0 : x.negative ? -1 : 1; };
  if (end(a) != end(b)) return end(a) <=> end(b);
  return a.is_finite() ? a.value() <=> b.value() : std::partial_ordering::equivalent;
}

// The nodes as lists state them. A place beyond them is that of a leaf of TreeEnsemble.
class Nodes {
 public:
  explicit Nodes(const Call& call)
      : is_named_(states_trees(call)),
        features_(call.ints("nodes_featureids")),
        yes_(call.ints("nodes_truenodeids")),
        no_(call.ints("nodes_falsenodeids")),
        flags_(integers(call, "nodes_missing_value_tracks_true")),
        limits_(listed(call, is_named_ ? "nodes_values" : "nodes_splits")) {
    if (is_named_) {
      trees_ = call.ints("nodes_treeids");
      ids_ = call.ints("nodes_nodeids");
      for (const std::string& each : call.texts("nodes_modes")) modes_.push_back(number_of(each));
    } else {
      roots_ = call.ints("tree_roots");
      yes_ends_ = call.ints("nodes_trueleafs");
      no_ends_ = call.ints("nodes_falseleafs");
      for (const Scalar& each : scalars(call.tensor("nodes_modes")).values) modes_.push_back(each.as_integer());
      members_ = listed(call, "membership_values");
    }
  }

  std::vector<std::size_t> roots(const Readings& readings) const {
    std::vector<std::size_t> all(roots_.begin(), roots_.end());
    std::set<Int> seen;
    for (std::size_t i = 0; i < trees_.size(); ++i)
      if (readings.of("G71") == "first" ? seen.insert(trees_[i]).second : !is_child(i)) all.push_back(i);
    return all;
  }

  // Follows a row from a node to a leaf.
  std::size_t leaf(std::size_t at, const Cells& x, Int n, const Readings& readings) const {
    while (at < yes_.size() && modes_[at] != leaf_mode) {
      const bool goes_yes = holds(at, x, x.at(n * x.extent(1) + features_[at]), readings);
      const Int to = goes_yes ? yes_[at] : no_[at];
      if (is_named_)
        at = named(trees_[at], to);
      else
        at = static_cast<std::size_t>(to) + ((goes_yes ? yes_ends_ : no_ends_)[at] == 1 ? yes_.size() : 0);
    }
    return at;
  }
  bool is_at(std::size_t leaf, Int tree, Int id) const { return trees_[leaf] == tree && ids_[leaf] == id; }
  std::size_t size() const { return yes_.size(); }

 private:
  static constexpr Int leaf_mode = -1;

  static Int number_of(const std::string& mode) {
    const Texts all{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"};
    const auto found = std::ranges::find(all, mode);
    return found == all.end() ? leaf_mode : found - all.begin();
  }

  std::size_t named(Int tree, Int id) const {
    std::size_t at = 0;
    while (!is_at(at, tree, id)) ++at;
    return at;
  }
  bool is_child(std::size_t node) const {
    for (std::size_t i = 0; i < trees_.size(); ++i)
      if (modes_[i] != leaf_mode && trees_[i] == trees_[node] && (yes_[i] == ids_[node] || no_[i] == ids_[node]))
        return true;
    return false;
  }

  bool holds(std::size_t at, const Cells& x, Scalar value, const Readings& readings) const {
    if (is_nan(value) && !flags_.empty() && flags_[at] == 1) return true;
    const bool is_wide = x.tensor().dtype() != DType::f32 && x.tensor().dtype() != DType::f16;
    Scalar limit = limits_[at];
    if (readings.of("G39") == "narrow" && is_wide)
      for (Scalar* const each : {&value, &limit})
        if (each->is_finite()) *each = rounded(ratio(*each), format_of(DType::f32));
    const std::partial_ordering is = order(value, limit);
    switch (modes_[at]) {
      case 0: return is <= 0;
      case 1: return is < 0;
      case 2: return is >= 0;
      case 3: return is > 0;
      case 4: return is == 0;
      case 5: return is == std::partial_ordering::unordered ? readings.of("G37") != "false" : is != 0;
      default: return is_member(at, value);
    }
  }
  // Sets stand in the order of the nodes that ask for one; NaN ends each.
  bool is_member(std::size_t at, const Scalar& value) const {
    const auto sets_before = std::count(modes_.begin(), modes_.begin() + static_cast<std::ptrdiff_t>(at), modes_[at]);
    std::ptrdiff_t set = 0;
    for (const Scalar& each : members_) {
      if (set == sets_before && order(each, value) == 0) return true;
      set += is_nan(each);
    }
    return false;
  }

  bool is_named_;
  Ints features_, yes_, no_, flags_, trees_, ids_, roots_, yes_ends_, no_ends_, modes_;
  std::vector<Scalar> limits_, members_;
};

Int scores_of(const Call& call) {
  return is_classifier(call) ? count_classes(call, "classlabels_int64s") : call.integer("n_targets");
}

class Ensemble final : public ScoreModel {
 public:
  Ensemble(const Call& call, const Operands& in)
      : call_(call), x_(*in[0]), nodes_(call), base_(listed(call, "base_values")) {
    stem_ = is_classifier(call) ? "class_" : "target_";
    ids_ = integers(call, states_trees(call) ? stem_ + "ids" : "leaf_targetids");
    trees_ = integers(call, stem_ + "treeids");
    leaves_ = integers(call, stem_ + "nodeids");
    weights_ = listed(call, name_of_weights());
  }

  Int batch() const override { return x_.extent(0); }
  Int columns() const override { return scores_of(call_); }
  Int terms() const override { return std::ssize(weights_) + 1; }
  std::string post() const override {
    const Texts words{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
    return states_trees(call_) ? call_.text("post_transform")
                               : words[static_cast<std::size_t>(call_.integer("post_transform"))];
  }

  ScoreRow row(Int n, const Readings& readings) const override {
    const std::vector<std::size_t> roots = nodes_.roots(readings);
    const std::vector<Vote> votes = reached(roots, n, readings);
    ScoreRow all;
    for (Int k = 0; k < columns(); ++k) all.scores.push_back(score(k, votes, roots.size(), readings));
    const bool is_binary = is_classifier(call_) && columns() == 2 && std::set(ids_.begin(), ids_.end()).size() == 1;
    return is_binary && readings.of("G70") != "apart" ? paired(all.scores, readings) : all;
  }

  std::vector<ProofTerm> taps(Int n) const override {
    std::vector<ProofTerm> all;
    for (const Vote& each : reached(nodes_.roots(Readings()), n, Readings()))
      all.push_back({{written(each.weight, DType::f64)}, name_of_weights() + "[" + std::to_string(each.at) + "]"});
    return all;
  }

 private:
  std::string name_of_weights() const { return states_trees(call_) ? stem_ + "weights" : "leaf_weights"; }

  std::vector<Vote> reached(const std::vector<std::size_t>& roots, Int n, const Readings& readings) const {
    std::vector<Vote> all;
    for (std::size_t tree = 0; tree < roots.size(); ++tree) {
      const std::size_t leaf = nodes_.leaf(roots[tree], x_, n, readings);
      for (std::size_t i = 0; i < ids_.size(); ++i)
        if (states_trees(call_) ? nodes_.is_at(leaf, trees_[i], leaves_[i]) : leaf - nodes_.size() == i)
          all.push_back({tree, i, ids_[i], weights_[i]});
    }
    return all;
  }

  std::string aggregate() const {
    const Texts words{"AVERAGE", "SUM", "MIN", "MAX"};
    if (is_classifier(call_)) return "SUM";
    return states_trees(call_) ? call_.text("aggregate_function")
                               : words[static_cast<std::size_t>(call_.integer("aggregate_function"))];
  }

  Score score(Int k, const std::vector<Vote>& votes, std::size_t trees, const Readings& readings) const {
    std::vector<Scalar> own;
    std::set<std::size_t> voting;
    for (const Vote& each : votes)
      if (each.target == k) own.push_back(each.weight), voting.insert(each.tree);
    const std::optional<Scalar> base = base_.empty() ? std::nullopt : std::optional(base_[static_cast<std::size_t>(k)]);
    const std::string how = aggregate();
    if (how == "SUM") return total(own, base);
    if (how == "AVERAGE")
      return plus(mean(own, readings.of("G73") == "votes" ? std::max<std::size_t>(1, own.size()) : trees), base);
    if (readings.of("G72") == "zero" && voting.size() < trees) own.emplace_back();
    if (own.empty()) return {operand(Scalar()), {}, false, "G72"};
    if (!std::ranges::all_of(own, &Scalar::is_finite)) return {operand(Scalar()), {}, false, "G53"};
    const auto is_less = [&](const Scalar& a, const Scalar& b) {
      return how == "MIN" ? a.value() < b.value() : a.value() > b.value();
    };
    return plus(total({*std::ranges::min_element(own, is_less)}, std::nullopt), base);
  }

  static Score total(const std::vector<Scalar>& weights, const std::optional<Scalar>& base) {
    ScoreTerms terms;
    for (const Scalar& each : weights) terms.add(each);
    if (base) terms.add(*base);
    return terms.sum();
  }
  static Score mean(std::vector<Scalar> weights, std::size_t trees) {
    weights.resize(weights.size() + 2);  // the roundings of 1/n and of a product with it
    Score out = total(weights, std::nullopt);
    if (out.tree) out.tree = out.tree / operand(scalar(static_cast<Int>(trees)));
    return out;
  }
  static Score plus(const Score& score, const std::optional<Scalar>& base) {
    if (!base) return score;
    if (!score.tree || !base->is_finite()) return total({score.tree ? Scalar() : score.strange}, base);
    return {score.tree + operand(*base), {}, score.is_nothing && base->is_zero()};
  }

  // Returns the scores of two labels of which one alone has weights.
  ScoreRow paired(const std::vector<Score>& scores, const Readings& readings) const {
    Score own = scores[static_cast<std::size_t>(ids_.front())];
    if (!base_.empty()) own.open_by = "G70";
    Score other = opposite(own);
    if (readings.of("G70") == "complement" && post() == "NONE") {
      other.is_nothing = false;
      if (own.tree) other.tree = operand(scalar(Int{1})) - own.tree;
    }
    return {{other, own}, "G70"};
  }

  Call call_;
  Cells x_;
  Nodes nodes_;
  std::string stem_;
  Ints ids_, trees_, leaves_;
  std::vector<Scalar> weights_, base_;
};

// Readings refuse versions that are deprecated, and lists of f64 beside an X of another type.
bool is_refused(const Call& call, const Readings& readings) {
  if (call.definition().ruling("M54") && readings.of("M54") == "refuse") return true;
  const bool has_tensors = std::ranges::any_of(
      call.node().attributes, [](const auto& each) { return std::holds_alternative<Tensor>(each.second); });
  return states_trees(call) && has_tensors && call.type("X").dtype != DType::f64 && readings.of("G74") == "refuse";
}

Oracle regressing() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    const DType type = states_trees(call) ? DType::f32 : in[0]->dtype();
    return Answers(scores_answer(std::make_shared<const Ensemble>(call, in), readings, declared, type));
  };
  oracle.shape = [](const Call& call, const Readings& readings) {
    return is_refused(call, readings) ? std::nullopt : std::optional(Shape{call.dim("X", 0), scores_of(call)});
  };
  return with_touched(std::move(oracle));
}

}  // namespace

Oracle tree_ensemble() { return regressing(); }
Oracle tree_ensemble_regressor() { return regressing(); }

Oracle tree_ensemble_classifier() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    const auto model = std::make_shared<const Ensemble>(call, in);
    Answers all(labels_answer(model, call, "classlabels_int64s", readings));
    all.push_back(scores_answer(model, readings, declared));
    return all;
  };
  oracle.shape = [](const Call& call, const Readings& readings) {
    return is_refused(call, readings) ? std::nullopt : std::optional(Shape{call.dim("X", 0)});
  };
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
