// SPDX-License-Identifier: Apache-2.0
// Ensembles of trees a third time: a row is sent down every tree by recursion, and leaves are asked what they weigh.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace assay::mutation {
namespace {

enum Defect {
  none,
  excludes_threshold,
  confuses_equal,
  ignores_missing,
  asks_next_feature,
  takes_first_weight,
  skips_last_tree,
  divides_base,
  repeats_first_base,
  forgets_base_of_unvoted,
  starts_at_zero,
  transforms_several_alone,
  exchanges_transforms,
  truncates_features,
  takes_first_set,
  takes_smallest,
  labels_voted_alone
};

using Place = std::pair<Int, Int>;  // the tree, or 0 of a node and 1 of a leaf; and the number in it
struct Asked {
  std::string mode;
  Int feature = 0;
  double limit = 0;
  bool is_missing_true = false;
  Place yes, no;
  std::vector<double> set;
};
struct Trees {
  std::map<Place, Asked> nodes;
  std::vector<Place> roots;
  std::multimap<Place, std::pair<Int, double>> weights;
  std::vector<double> base;
};

std::vector<double> doubles_of(const Call& call, const std::string& name) {
  std::vector<double> all;
  if (call.states(name) && !std::holds_alternative<Tensor>(call.node().attributes.at(name))) {
    const Reals stated = call.reals(name);
    all.assign(stated.begin(), stated.end());
    return all;
  }
  for (const std::string& each : {name, name + "_as_tensor"}) {
    if (!call.states(each)) continue;
    const Tensor stated = call.tensor(each);
    for (Int i = 0; i < stated.elements(); ++i) all.push_back(number_at(stated, i));
  }
  return all;
}

// A list without entries is none.
bool is_missing_true(const Call& call, std::size_t node) {
  const char* const name = "nodes_missing_value_tracks_true";
  return call.states(name) && !call.ints(name).empty() && call.ints(name)[node] != 0;
}

Trees trees_by_name(const Call& call, const std::string& stem) {
  Trees trees;
  const Ints names = call.ints("nodes_treeids"), ids = call.ints("nodes_nodeids");
  const std::vector<double> limits = doubles_of(call, "nodes_values"), weights = doubles_of(call, stem + "weights");
  trees.base = doubles_of(call, "base_values");
  std::map<Place, int> parents;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Asked node{call.texts("nodes_modes")[i],
               call.ints("nodes_featureids")[i],
               limits[i],
               is_missing_true(call, i),
               {names[i], call.ints("nodes_truenodeids")[i]},
               {names[i], call.ints("nodes_falsenodeids")[i]},
               {}};
    if (node.mode != "LEAF") ++parents[node.yes], ++parents[node.no];
    trees.nodes.emplace(Place{names[i], ids[i]}, node);
  }
  for (const auto& [place, node] : trees.nodes)
    if (!parents.contains(place)) trees.roots.push_back(place);
  for (std::size_t i = weights.size(); i-- > 0;)
    trees.weights.emplace(Place{call.ints(stem + "treeids")[i], call.ints(stem + "nodeids")[i]},
                          std::pair{call.ints(stem + "ids")[i], weights[i]});
  return trees;
}

Trees trees_by_place(const Call& call, int defect) {
  const Texts words{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER"};
  Trees trees;
  const std::vector<double> modes = doubles_of(call, "nodes_modes"), limits = doubles_of(call, "nodes_splits"),
                            weights = doubles_of(call, "leaf_weights");
  std::vector<double> members = doubles_of(call, "membership_values"), first;
  std::ranges::reverse(members);
  for (std::size_t i = 0; i < modes.size(); ++i) {
    Asked node{words[static_cast<std::size_t>(modes[i])],
               call.ints("nodes_featureids")[i],
               limits[i],
               is_missing_true(call, i),
               {call.ints("nodes_trueleafs")[i], call.ints("nodes_truenodeids")[i]},
               {call.ints("nodes_falseleafs")[i], call.ints("nodes_falsenodeids")[i]},
               {}};
    if (node.mode == "BRANCH_MEMBER") {
      for (; !std::isnan(members.back()); members.pop_back()) node.set.push_back(members.back());
      members.pop_back();
      if (first.empty()) first = node.set;
      if (defect == takes_first_set) node.set = first;
    }
    trees.nodes.emplace(Place{0, i}, node);
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    trees.nodes[{1, i}].mode = "LEAF";
    trees.weights.emplace(Place{1, i}, std::pair{call.ints("leaf_targetids")[i], weights[i]});
  }
  for (const Int root : call.ints("tree_roots")) trees.roots.emplace_back(0, root);
  return trees;
}

bool is_true(const Asked& node, double x, int defect) {
  if (std::isnan(x) && node.is_missing_true && defect != ignores_missing) return true;
  if (defect == truncates_features && node.mode == "BRANCH_MEMBER") x = std::trunc(x);
  const bool is_tie = x == node.limit, is_less = x<node.limit, is_more = x> node.limit;
  if (node.mode == "BRANCH_LEQ") return is_less || (is_tie && defect != excludes_threshold);
  if (node.mode == "BRANCH_LT") return is_less;
  if (node.mode == "BRANCH_GTE") return is_more || is_tie;
  if (node.mode == "BRANCH_GT") return is_more;
  if (node.mode == "BRANCH_EQ") return is_tie != (defect == confuses_equal);
  if (node.mode == "BRANCH_NEQ") return is_tie == (defect == confuses_equal);
  return std::ranges::find(node.set, x) != node.set.end();
}

Place leaf_of(const Trees& trees, const Place& at, const Tensor& x, Int n, int defect) {
  const Asked& node = trees.nodes.at(at);
  if (node.mode == "LEAF") return at;
  const Int width = x.shape()[1], feature = (node.feature + (defect == asks_next_feature)) % width;
  return leaf_of(trees, is_true(node, number_at(x, n * width + feature), defect) ? node.yes : node.no, x, n, defect);
}

struct Sums {
  std::vector<double> scores;
  std::vector<bool> is_voted;
};

Sums scores_of(const Trees& trees, const Tensor& x, Int n, std::size_t many, const std::string& how, int defect) {
  std::vector<std::vector<double>> all(many);
  for (std::size_t i = 0; i < trees.roots.size(); ++i) {
    if (defect == skips_last_tree && i > 0 && i + 1 == trees.roots.size()) continue;
    const auto [from, to] = trees.weights.equal_range(leaf_of(trees, trees.roots[i], x, n, defect));
    for (auto each = from; each != to; ++each) {
      all[static_cast<std::size_t>(each->second.first)].push_back(each->second.second);
      if (defect == takes_first_weight) break;
    }
  }
  Sums out;
  for (std::size_t k = 0; k < many; ++k) {
    double score = 0;
    if (how == "MIN" || how == "MAX") {
      if (defect == starts_at_zero) all[k].push_back(0);
      if (!all[k].empty()) score = how == "MIN" ? std::ranges::min(all[k]) : std::ranges::max(all[k]);
    } else {
      for (const double each : all[k]) score += each;
    }
    const auto by = static_cast<double>(how == "AVERAGE" ? trees.roots.size() : 1);
    double base = trees.base.empty() ? 0 : trees.base[defect == repeats_first_base ? 0 : k];
    if (defect == forgets_base_of_unvoted && all[k].empty()) base = 0;
    out.scores.push_back(defect == divides_base ? (score + base) / by : score / by + base);
    out.is_voted.push_back(!all[k].empty());
  }
  return out;
}

void apply(std::string post, std::vector<double>& row, int defect) {
  if (defect == transforms_several_alone && row.size() == 1) return;
  if (defect == exchanges_transforms) post = post == "LOGISTIC" ? "SOFTMAX" : post == "SOFTMAX" ? "LOGISTIC" : post;
  const std::vector<double> before = row;
  for (std::size_t i = 0; i < row.size(); ++i) {
    double sum = 0;
    for (const double other : before)
      if (other != 0 || post == "SOFTMAX") sum += std::exp(other - before[i]);
    if (post.starts_with("SOFTMAX")) row[i] = before[i] == 0 && post != "SOFTMAX" ? 0 : 1 / sum;
    if (post == "LOGISTIC") row[i] = (1 + std::tanh(before[i] / 2)) / 2;
    if (post == "PROBIT") row[i] = 0;
  }
}

Kernel growing(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    const bool is_placed = call.states("tree_roots");
    const Trees trees = is_placed ? trees_by_place(call, defect) : trees_by_name(call, "target_");
    const Texts hows{"AVERAGE", "SUM", "MIN", "MAX"}, posts{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
    const std::string how = is_placed ? hows[static_cast<std::size_t>(call.integer("aggregate_function"))]
                                      : call.text("aggregate_function"),
                      post = is_placed ? posts[static_cast<std::size_t>(call.integer("post_transform"))]
                                       : call.text("post_transform");
    const auto targets = static_cast<std::size_t>(call.integer("n_targets"));
    Tensor y({is_placed ? in[0]->dtype() : DType::f32, {call.dim("X", 0), call.integer("n_targets")}});
    for (Int n = 0, at = 0; n < call.dim("X", 0); ++n) {
      std::vector<double> row = scores_of(trees, *in[0], n, targets, how, defect).scores;
      apply(post, row, defect);
      for (const double each : row) put_number(y, at++, each);
    }
    return y;
  };
}

Kernel voting(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    const Trees trees = trees_by_name(call, "class_");
    const bool is_text = call.states("classlabels_strings");
    const std::size_t many =
        is_text ? call.texts("classlabels_strings").size() : call.ints("classlabels_int64s").size();
    const Ints ids = call.states("class_ids") ? call.ints("class_ids") : Ints();
    const bool is_paired = many == 2 && !ids.empty() && std::ranges::min(ids) == std::ranges::max(ids);
    Tensor y({is_text ? DType::string : DType::i64, {call.dim("X", 0)}}),
        z({DType::f32, {call.dim("X", 0), static_cast<Int>(many)}});
    for (Int n = 0, at = 0; n < call.dim("X", 0); ++n) {
      auto [row, is_voted] = scores_of(trees, *in[0], n, many, "SUM", defect);
      if (is_paired) row[1] = row[static_cast<std::size_t>(ids[0])], row[0] = -row[1];
      std::size_t best = 0;
      for (std::size_t k = 1; k < many; ++k) {
        const bool is_better = defect == takes_smallest ? row[k] < row[best] : row[k] > row[best];
        if (defect == labels_voted_alone ? is_voted[k] && (is_better || !is_voted[best]) : is_better) best = k;
      }
      put_class(y, n, call, "classlabels_int64s", best);
      apply(call.text("post_transform"), row, defect);
      for (const double each : row) put_number(z, at++, each);
    }
    return {y, z};
  };
}

struct Slip {
  const char *name, *what;
  Defect defect;
};

std::vector<Slip> slips(const std::string& op) {
  std::vector<Slip> all{{"excludes-threshold", "BRANCH_LEQ is BRANCH_LT", excludes_threshold},
                        {"confuses-equal", "BRANCH_EQ is BRANCH_NEQ", confuses_equal},
                        {"ignores-missing", "NaN takes no branch of its own", ignores_missing},
                        {"asks-next-feature", "a node asks for the next feature", asks_next_feature},
                        {"skips-last-tree", "the last tree has no weight", skips_last_tree}};
  const auto add = [&](std::initializer_list<Slip> more) { all.insert(all.end(), more); };
  if (op == "TreeEnsemble")
    add({{"exchanges-transforms", "SOFTMAX is LOGISTIC", exchanges_transforms},
         {"truncates-features", "a member is looked for without its fraction", truncates_features},
         {"takes-first-set", "every node asks for the first set", takes_first_set}});
  else
    add({{"takes-first-weight", "of several weights of a leaf one counts", takes_first_weight},
         {"repeats-first-base", "every score has the first of base_values", repeats_first_base},
         {"forgets-base-of-unvoted", "a score without weights has no base value", forgets_base_of_unvoted}});
  if (op == "TreeEnsembleClassifier")
    add({{"takes-smallest", "the label is that of the smallest score", takes_smallest},
         {"labels-voted-alone", "the label is that of a score with weights", labels_voted_alone}});
  else
    add({{"starts-at-zero", "MIN and MAX start at 0", starts_at_zero},
         {"transforms-several-alone", "a single score is not transformed", transforms_several_alone}});
  if (op == "TreeEnsembleRegressor") add({{"divides-base", "AVERAGE divides base_values too", divides_base}});
  return all;
}

bool is_known(const std::string& op) { return op.starts_with("TreeEnsemble"); }
Kernel kernel_of(const std::string& op, int defect) {
  return op == "TreeEnsembleClassifier" ? voting(defect) : growing(defect);
}

}  // namespace

std::vector<VariantKernel> forest_variants(const std::string& op) {
  if (!is_known(op)) return {};
  return {variant_of("sequential", "one row after the other, down by recursion", kernel_of(op, none))};
}

std::vector<Bug> forest_bugs(const std::string& op) {
  std::vector<Bug> bugs;
  if (is_known(op))
    for (const Slip& each : slips(op)) bugs.push_back(bug_of(op, each.name, each.what, kernel_of(op, each.defect)));
  return bugs;
}

}  // namespace assay::mutation
