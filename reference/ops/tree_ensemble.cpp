// SPDX-License-Identifier: Apache-2.0
// TreeEnsembleClassifier (ai.onnx.ml 1, 3, 5) -
//   https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsembleClassifier.html
// TreeEnsembleRegressor (ai.onnx.ml 1, 3, 5) -
//   https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsembleRegressor.html
// TreeEnsemble (ai.onnx.ml 5) -
//   https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsemble.html
//
// A row of X reaches one leaf of every tree: a node compares one feature with its value and leads to one of two others.
//
//   score[n, k] = base_values[k] + the aggregate of the weights that those leaves have for k
//
// Lists say the nodes. An ensemble names them by a tree and an id, TreeEnsemble by their place, leaves apart; it alone
// has nodes that ask whether the feature is a member of a set. The classifier returns the label of the largest score
// too; of two labels of which one alone has weights, the scores are the sum and its opposite.
#include "reference/families/elementwise.h"
#include "reference/families/scores.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace assay {
namespace {

using enum DType;
using enum AttributeSpec::Kind;

const Texts& modes() {
  static const Texts all{"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                         "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};
  return all;
}
constexpr Int member = 6, leaf = 7;

struct Vote {
  Int target;
  double weight;
};

struct Junction {
  Int mode = leaf, feature = 0;
  double limit = 0;
  bool takes_missing = false;
  std::size_t yes = 0, no = 0;
  std::vector<double> members;
  std::vector<Vote> votes;
};

// The least of a number of flaws that a model has: none is looked for where a smaller one is found.
enum class Flaw { none, lists, types, modes, flags, ids, trees, votes, targets, features, base };

struct Forest {
  std::vector<Junction> nodes;
  std::vector<std::size_t> roots;
  Row base;
  Flaw flaw = Flaw::none;
  void note(Flaw found, bool is_there) {
    if (is_there && flaw == Flaw::none) flaw = found;
  }
};

// -- lists, which may be absent

Ints ints_of(const Call& call, const std::string& name) { return call.states(name) ? call.ints(name) : Ints(); }
Row numbers_in(const Tensor& tensor) {
  Row all;
  for (Int i = 0; i < tensor.elements(); ++i) all.push_back(number_at(tensor, i));
  return all;
}
Row numbers_of(const Call& call, const std::string& name) {
  const AttributeSpec* const spec = call.definition().attribute(name);
  if (call.states(name) && spec && spec->kind == tensor) return numbers_in(call.tensor(name));
  if (call.states(name + "_as_tensor")) return numbers_in(call.tensor(name + "_as_tensor"));
  if (!call.states(name)) return {};
  const Reals stated = call.reals(name);
  return {stated.begin(), stated.end()};
}
bool is_list(const Call& call, const std::string& name, DType type) {
  return !call.states(name) || (call.tensor(name).dtype() == type && call.tensor(name).shape().size() == 1);
}
bool is_flag(Int value) { return value == 0 || value == 1; }
bool is_below(Int value, std::size_t end) { return value >= 0 && std::cmp_less(value, end); }
template <class List>
bool is_absent_or(const List& list, std::size_t length) {
  return list.empty() || list.size() == length;
}

Int features(const Call& call) { return call.dim("X", 1); }
bool is_new(const Call& call) { return call.definition().attribute("tree_roots") != nullptr; }
bool classifies(const Call& call) { return call.definition().attribute("class_ids") != nullptr; }

Int targets(const Call& call) {
  return classifies(call) ? count_labels(call, "classlabels_int64s") : call.integer("n_targets");
}

// Follows every tree from its root: each node is reached once.
bool are_trees(const Forest& forest) {
  std::vector<int> reached(forest.nodes.size());
  std::vector<std::size_t> open = forest.roots;
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (++reached[at] > 1) return false;
    const Junction& node = forest.nodes[at];
    if (node.mode != leaf) open.insert(open.end(), {node.yes, node.no});
  }
  return std::ranges::all_of(reached, [](int times) { return times == 1; });
}

void check_models(const Call& call, Forest& forest) {
  bool knows_features = true, knows_targets = true;
  for (const Junction& node : forest.nodes) {
    knows_features = knows_features && (node.mode == leaf || (node.feature >= 0 && node.feature < features(call)));
    for (const Vote& each : node.votes)
      knows_targets = knows_targets && each.target >= 0 && each.target < targets(call);
  }
  forest.note(Flaw::targets, !knows_targets);
  forest.note(Flaw::features, !knows_features);
  forest.note(Flaw::base, !is_absent_or(forest.base, static_cast<std::size_t>(targets(call))));
}

// -- TreeEnsembleClassifier and TreeEnsembleRegressor

using NodeId = std::pair<Int, Int>;  // the tree and the node

std::vector<NodeId> pairs(const Ints& trees, const Ints& nodes) {
  std::vector<NodeId> all;
  for (std::size_t i = 0; i < trees.size(); ++i) all.emplace_back(trees[i], nodes[i]);
  return all;
}

// Tells whether each tree stands together, its nodes numbered from 0 on.
bool are_counted(const std::vector<NodeId>& ids) {
  std::map<Int, Int> next;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool goes_on = i > 0 && ids[i - 1].first == ids[i].first;
    if (!goes_on && next.contains(ids[i].first)) return false;
    if (next[ids[i].first]++ != ids[i].second) return false;
  }
  return true;
}

void add_votes(const Call& call, const std::map<NodeId, std::size_t>& place, Forest& forest) {
  const std::string stem = classifies(call) ? "class_" : "target_";
  const Ints trees = ints_of(call, stem + "treeids"), nodes = ints_of(call, stem + "nodeids"),
             ids = ints_of(call, stem + "ids");
  const Row weights = numbers_of(call, stem + "weights");
  const std::size_t many = ids.size();
  if (trees.size() != many || nodes.size() != many || weights.size() != many) return forest.note(Flaw::lists, true);
  for (std::size_t i = 0; i < many; ++i) {
    const auto found = place.find({trees[i], nodes[i]});
    if (found == place.end() || forest.nodes[found->second].mode != leaf) return forest.note(Flaw::votes, true);
    forest.nodes[found->second].votes.push_back({ids[i], weights[i]});
  }
}

// Links the nodes of each tree; one that no other leads to is its root.
void link(const Ints& yes, const Ints& no, const std::vector<NodeId>& ids, const std::map<NodeId, std::size_t>& place,
          Forest& forest) {
  std::vector<bool> is_child(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (forest.nodes[i].mode == leaf) continue;
    const auto to_yes = place.find({ids[i].first, yes[i]}), to_no = place.find({ids[i].first, no[i]});
    if (to_yes == place.end() || to_no == place.end()) return forest.note(Flaw::trees, true);
    forest.nodes[i].yes = to_yes->second;
    forest.nodes[i].no = to_no->second;
    is_child[to_yes->second] = is_child[to_no->second] = true;
  }
  std::map<Int, int> roots;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (is_child[i]) continue;
    forest.roots.push_back(i);
    forest.note(Flaw::trees, ++roots[ids[i].first] > 1);
  }
}

Forest named_forest(const Call& call) {
  Forest forest;
  const Ints trees = ints_of(call, "nodes_treeids"), nodes = ints_of(call, "nodes_nodeids"),
             yes = ints_of(call, "nodes_truenodeids"), no = ints_of(call, "nodes_falsenodeids"),
             features = ints_of(call, "nodes_featureids"), flags = ints_of(call, "nodes_missing_value_tracks_true");
  const Texts kinds = call.states("nodes_modes") ? call.texts("nodes_modes") : Texts();
  const Row limits = numbers_of(call, "nodes_values"), rates = numbers_of(call, "nodes_hitrates");
  const std::size_t many = trees.size();
  forest.base = numbers_of(call, "base_values");
  for (const std::size_t length : {nodes.size(), yes.size(), no.size(), features.size(), kinds.size(), limits.size()})
    forest.note(Flaw::lists, length != many);
  forest.note(Flaw::lists, many == 0 || !is_absent_or(flags, many) || !is_absent_or(rates, many));
  for (const std::string name : {"nodes_values", "nodes_hitrates", "base_values", "class_weights", "target_weights"}) {
    const std::string other = name + "_as_tensor";
    forest.note(Flaw::types, !is_list(call, other, f64) || (call.states(name) && call.states(other)));
  }
  if (forest.flaw != Flaw::none) return forest;
  const std::vector<NodeId> ids = pairs(trees, nodes);
  std::map<NodeId, std::size_t> place;
  for (std::size_t i = 0; i < many; ++i) {
    Junction node;
    node.mode = std::ranges::find(modes(), kinds[i]) - modes().begin();
    node.feature = features[i];
    node.limit = limits[i];
    node.takes_missing = !flags.empty() && flags[i] == 1;
    forest.nodes.push_back(node);
    forest.note(Flaw::modes, node.mode > leaf || node.mode == member);
    forest.note(Flaw::flags, !flags.empty() && !is_flag(flags[i]));
    place.emplace(ids[i], i);
  }
  forest.note(Flaw::ids, place.size() != many || (!classifies(call) && !are_counted(ids)));
  link(yes, no, ids, place, forest);
  forest.note(Flaw::trees, forest.flaw == Flaw::none && !are_trees(forest));
  if (forest.flaw == Flaw::none) add_votes(call, place, forest);
  if (forest.flaw == Flaw::none) check_models(call, forest);
  return forest;
}

// -- TreeEnsemble

// Takes the sets of values that NaN ends, one of a value or more for each node that asks for one.
void add_members(const Call& call, Forest& forest) {
  const Row values = numbers_of(call, "membership_values");
  std::size_t at = 0;
  for (Junction& node : forest.nodes) {
    if (node.mode != member) continue;
    while (at < values.size() && !std::isnan(values[at])) node.members.push_back(values[at++]);
    forest.note(Flaw::lists, at++ >= values.size() || node.members.empty());
  }
  forest.note(Flaw::lists, at != values.size());
}

Forest placed_forest(const Call& call) {
  Forest forest;
  const Ints yes = call.ints("nodes_truenodeids"), no = call.ints("nodes_falsenodeids"),
             yes_ends = call.ints("nodes_trueleafs"), no_ends = call.ints("nodes_falseleafs"),
             features = call.ints("nodes_featureids"), flags = ints_of(call, "nodes_missing_value_tracks_true"),
             roots = call.ints("tree_roots"), ids = call.ints("leaf_targetids");
  const Row kinds = numbers_of(call, "nodes_modes"), limits = numbers_of(call, "nodes_splits"),
            rates = numbers_of(call, "nodes_hitrates"), weights = numbers_of(call, "leaf_weights");
  const std::size_t many = yes.size(), leaves = ids.size();
  for (const std::size_t length :
       {no.size(), yes_ends.size(), no_ends.size(), features.size(), kinds.size(), limits.size()})
    forest.note(Flaw::lists, length != many);
  forest.note(Flaw::lists, many == 0 || weights.size() != leaves || leaves == 0 || roots.empty() ||
                               !is_absent_or(flags, many) || !is_absent_or(rates, many));
  const DType type = call.type("X").dtype;
  for (const char* const name : {"nodes_splits", "leaf_weights", "membership_values"})
    forest.note(Flaw::types, !is_list(call, name, type));
  forest.note(Flaw::types, !is_list(call, "nodes_modes", u8) || !is_list(call, "nodes_hitrates", f32));
  for (std::size_t i = 0; i < many && forest.flaw == Flaw::none; ++i) {
    Junction node;
    node.mode = static_cast<Int>(kinds[i]);
    node.feature = features[i];
    node.limit = limits[i];
    node.takes_missing = !flags.empty() && flags[i] == 1;
    node.yes = static_cast<std::size_t>(yes[i]) + (yes_ends[i] == 1 ? many : 0);
    node.no = static_cast<std::size_t>(no[i]) + (no_ends[i] == 1 ? many : 0);
    forest.nodes.push_back(node);
    forest.note(Flaw::modes, node.mode > member);
    forest.note(Flaw::flags, !is_flag(yes_ends[i]) || !is_flag(no_ends[i]) || (!flags.empty() && !is_flag(flags[i])));
    forest.note(Flaw::trees, !is_below(yes[i], yes_ends[i] == 1 ? leaves : many) ||
                                 !is_below(no[i], no_ends[i] == 1 ? leaves : many));
  }
  for (const Int root : roots) {
    forest.note(Flaw::trees, !is_below(root, many));
    forest.roots.push_back(static_cast<std::size_t>(root));
  }
  if (forest.flaw != Flaw::none) return forest;
  add_members(call, forest);
  // A leaf may be shared: each node that leads to it has one of its own.
  const auto own = [&](std::size_t to) {
    if (to < many) return to;
    Junction end;
    end.votes.push_back({ids[to - many], weights[to - many]});
    forest.nodes.push_back(end);
    return forest.nodes.size() - 1;
  };
  for (std::size_t i = 0; i < many; ++i) {
    const std::size_t to_yes = own(forest.nodes[i].yes), to_no = own(forest.nodes[i].no);
    forest.nodes[i].yes = to_yes;
    forest.nodes[i].no = to_no;
  }
  forest.note(Flaw::trees, !are_trees(forest));
  if (forest.flaw == Flaw::none) check_models(call, forest);
  return forest;
}

Forest forest_of(const Call& call) { return is_new(call) ? placed_forest(call) : named_forest(call); }

// -- rows

// Compares exactly: below 0, 0 or above, none where one is NaN.
std::partial_ordering compared(const Tensor& x, Int at, double limit) {
  if (!is_integer(x.dtype())) return number_at(x, at) <=> limit;
  if (std::isnan(limit)) return std::partial_ordering::unordered;
  const Int own =
      x.dtype() == i32 ? x.as<std::int32_t>()[static_cast<std::size_t>(at)] : x.as<Int>()[static_cast<std::size_t>(at)];
  if (limit >= 0x1p63) return std::partial_ordering::less;
  if (limit < -0x1p63) return std::partial_ordering::greater;
  const auto whole = static_cast<Int>(std::floor(limit));
  return own == whole && static_cast<double>(whole) < limit ? std::partial_ordering::less : own <=> whole;
}

bool holds(const Junction& node, const Tensor& x, Int at) {
  if (node.takes_missing && is_float(x.dtype()) && std::isnan(number_at(x, at))) return true;
  const std::partial_ordering order = compared(x, at, node.limit);
  switch (node.mode) {
    case 0: return order <= 0;
    case 1: return order < 0;
    case 2: return order >= 0;
    case 3: return order > 0;
    case 4: return order == 0;
    case 5: return order != 0;
    default: return std::ranges::any_of(node.members, [&](double each) { return compared(x, at, each) == 0; });
  }
}

const Junction& reached(const Forest& forest, std::size_t at, const Tensor& x, Int row) {
  while (forest.nodes[at].mode != leaf) {
    const Junction& node = forest.nodes[at];
    at = holds(node, x, row * x.shape()[1] + node.feature) ? node.yes : node.no;
  }
  return forest.nodes[at];
}

std::string aggregate_of(const Call& call) {
  static const Texts all{"AVERAGE", "SUM", "MIN", "MAX"};
  if (classifies(call)) return "SUM";
  return is_new(call) ? all[static_cast<std::size_t>(call.integer("aggregate_function"))]
                      : call.text("aggregate_function");
}

// A target that no leaf votes for has 0.
Row scores(const Call& call, const Forest& forest, const Tensor& x, Int n) {
  const std::string aggregate = aggregate_of(call);
  Row all(static_cast<std::size_t>(targets(call)));
  std::vector<bool> is_known(all.size());
  for (const std::size_t root : forest.roots)
    for (const Vote& each : reached(forest, root, x, n).votes) {
      const auto k = static_cast<std::size_t>(each.target);
      if (aggregate == "MIN" || aggregate == "MAX")
        all[k] = !is_known[k]         ? each.weight
                 : aggregate == "MIN" ? std::min(all[k], each.weight)
                                      : std::max(all[k], each.weight);
      else
        all[k] += each.weight;
      is_known[k] = true;
    }
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (aggregate == "AVERAGE") all[k] /= static_cast<double>(forest.roots.size());
    if (!forest.base.empty()) all[k] += forest.base[k];
  }
  return all;
}

Values regress(const Call& call, Inputs in) {
  Values out = outputs_of(call);
  const Forest forest = forest_of(call);
  for (Int n = 0; n < call.dim("X", 0); ++n) {
    Row row = scores(call, forest, *in[0], n);
    transform(is_new(call) ? post_transforms()[static_cast<std::size_t>(call.integer("post_transform"))]
                           : call.text("post_transform"),
              row);
    put(*out[0], n, row);
  }
  return out;
}

Values classify(const Call& call, Inputs in) {
  Values out = outputs_of(call);
  const Forest forest = forest_of(call);
  const Ints ids = ints_of(call, "class_ids");
  const bool is_binary = targets(call) == 2 && !ids.empty() && std::ranges::count(ids, ids[0]) == std::ssize(ids);
  for (Int n = 0; n < call.dim("X", 0); ++n) {
    Row row = scores(call, forest, *in[0], n);
    if (is_binary) row = {-row[static_cast<std::size_t>(ids[0])], row[static_cast<std::size_t>(ids[0])]};
    put_label(*out[0], n, row, call, "classlabels_int64s");
    transform(call.text("post_transform"), row);
    put(*out[1], n, row);
  }
  return out;
}

Types classified_types(const Call& call) {
  const Int rows = call.dim("X", 0);
  return {TensorType{type_of_label(call), {rows}}, TensorType{f32, {rows, targets(call)}}};
}

// -- constraints, each of which holds where a smaller flaw is found

bool is_matrix(const Call& call) { return call.rank("X") == 2; }
bool has_targets(const Call& call) {
  return classifies(call) ? has_labels(call, "classlabels_int64s") : call.states("n_targets");
}
bool is_without(const Call& call, Flaw flaw) {
  return !is_matrix(call) || !has_targets(call) || targets(call) < 1 || forest_of(call).flaw != flaw;
}

Constraint sound(const char* id, const char* text, Flaw flaw) {
  return {id, text, [flaw](const Call& call) { return is_without(call, flaw); }, ""};
}

void ensemble(Operator& op) {
  op.require("T1", "X is [N, F]", is_matrix)
      .require(sound("T2", "the lists of nodes, and those of weights, are as long; there is a node", Flaw::lists))
      .require(sound("T4", "modes are those that the version knows", Flaw::modes))
      .require(sound("T5", "flags are 0 or 1", Flaw::flags))
      .require(sound("T7", "nodes form trees", Flaw::trees))
      .require(sound("T9", "weights are of targets that are there", Flaw::targets))
      .require(sound("T10", "nodes ask for features that are there", Flaw::features));
}

void named(Operator& op) {
  for (const char* const name : {"nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_truenodeids",
                                 "nodes_falsenodeids", "nodes_missing_value_tracks_true"})
    op.optional_ints(name);
  op.optional_attribute("nodes_modes", texts);
  for (const char* const name : {"nodes_values", "nodes_hitrates", "base_values"}) op.optional_attribute(name, reals);
  op.with(ensemble)
      .require(sound("T8", "weights are those of leaves", Flaw::votes))
      .require(sound("T11", "there is one of base_values for each score, or none", Flaw::base));
}
void tensors(Operator& op) {
  for (const char* const name : {"nodes_values_as_tensor", "nodes_hitrates_as_tensor", "base_values_as_tensor"})
    op.optional_attribute(name, tensor);
  op.ruling("G74").require(sound("T3", "what is a tensor is a list of f64, and stated once", Flaw::types));
}

}  // namespace

// clang-format off
Operator tree_ensemble_classifier() {
  return Operator("TreeEnsembleClassifier", "ai.onnx.ml")
      .input("X", "T1").output("Y", "T2").output("Z", "f32").type("T1", {f32, f64, i64, i32}).type("T2", {string, i64})
      .with(named).optional_ints("class_treeids").optional_ints("class_nodeids").optional_ints("class_ids")
      .optional_attribute("class_weights", reals)
      .optional_ints("classlabels_int64s").optional_attribute("classlabels_strings", texts)
      .word("post_transform", post_transforms(), "T12")
      .rulings({"A29", "G37", "G38", "G39", "G52", "G53", "G54", "G70", "G71"})
      .require(sound("T6", "no node stands twice", Flaw::ids))
      .require("T13", "labels of one kind are there", has_targets)
      .since(1)
      .since(3, "lists of f64 may be tensors").with(tensors).optional_attribute("class_weights_as_tensor", tensor)
      .since(5, "deprecated").ruling("M54")
      .shaping(Shaping::normalized).typed(type_of_label).infer(classified_types).kernel(classify);
}

Operator tree_ensemble_regressor() {
  return Operator("TreeEnsembleRegressor", "ai.onnx.ml")
      .input("X", "T").output("Y", "f32").type("T", {f32, f64, i64, i32})
      .with(named).optional_ints("target_treeids").optional_ints("target_nodeids").optional_ints("target_ids")
      .optional_attribute("target_weights", reals).optional_int("n_targets")
      .word("aggregate_function", {"SUM", "AVERAGE", "MIN", "MAX"}, "T14").word("post_transform", post_transforms(), "T12")
      .rulings({"A29", "G37", "G38", "G39", "G52", "G53", "G71", "G72", "G73"})
      .require(sound("T6", "no node stands twice, and those of a tree stand together, from 0 on", Flaw::ids))
      .require("T13", "n_targets >= 1", [](auto& c) { return has_targets(c) && targets(c) >= 1; })
      .since(1)
      .since(3, "lists of f64 may be tensors").with(tensors).optional_attribute("target_weights_as_tensor", tensor)
      .since(5, "deprecated").ruling("M54")
      .shaping(Shaping::normalized).shape([](const Call& c) { return Shape{c.dim("X", 0), targets(c)}; }).kernel(regress);
}

Operator tree_ensemble() {
  const auto is_in = [](const char* name, Int most) {
    return [=](auto& c) { return c.integer(name) >= 0 && c.integer(name) <= most; };
  };
  return Operator("TreeEnsemble", "ai.onnx.ml")
      .input("X", "T").output("Y", "T").type("T", {f16, f32, f64})
      .required_ints("tree_roots").required_ints("nodes_featureids").required_ints("nodes_truenodeids")
      .required_ints("nodes_falsenodeids").required_ints("nodes_trueleafs").required_ints("nodes_falseleafs")
      .required_attribute("nodes_modes", tensor).required_attribute("nodes_splits", tensor)
      .required_ints("leaf_targetids").required_attribute("leaf_weights", tensor)
      .optional_ints("nodes_missing_value_tracks_true").optional_attribute("nodes_hitrates", tensor)
      .optional_attribute("membership_values", tensor).optional_int("n_targets")
      .attribute("aggregate_function", 1).attribute("post_transform", 0)
      .rulings({"A29", "G37", "G38", "G52", "G53", "G72", "G73"})
      .with(ensemble)
      .require(sound("T3", "tensors are lists of the type of X, nodes_modes one of u8, nodes_hitrates of f32", Flaw::types))
      .require("T12", "post_transform is in [0, 4]", is_in("post_transform", 4))
      .require("T13", "n_targets >= 1", [](auto& c) { return has_targets(c) && targets(c) >= 1; })
      .require("T14", "aggregate_function is in [0, 3]", is_in("aggregate_function", 3))
      .since(5)
      .shaping(Shaping::normalized).shape([](const Call& c) { return Shape{c.dim("X", 0), targets(c)}; }).kernel(regress);
}
// clang-format on

}  // namespace assay
