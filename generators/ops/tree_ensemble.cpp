// SPDX-License-Identifier: Apache-2.0
// TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble: a few small trees, from a leaf alone to three nodes
// that branch, of every mode; features that meet a threshold, and NaN; leaves without a weight and with several; lists
// in any order.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/families/scores.h"
#include "generators/ops/simpler_trees.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"
#include "reference/sequence.h"

#include <algorithm>
#include <map>

namespace assay::generators {
namespace {

struct Branch {
  Int mode, feature, yes, no;  // a child below 0 is a leaf: -1 is the first
  std::string limit, members;
};
struct Drawn {
  std::vector<Branch> branches;  // the first is the root
  Int leaves = 1;
};

Names limits_of(DType type) {
  Names all{"0", "1", "-1", "0.5", "2", "-0.25"};
  if (type == DType::f64) all.push_back("0x1.999999999999ap-4");
  if (type == DType::f32) all.push_back("0x1.99999ap-4");
  if (chance(30)) all.insert(all.end(), {"inf", "-inf", "inf", "16777216"});
  return all;
}

// Grows a tree: a leaf becomes a node with two of them.
Drawn draw_tree(Int features, const Names& limits, Int modes) {
  Drawn tree;
  for (Int more = weighted<Int>({{20, 0}, {30, 1}, {30, 2}, {20, 3}}); more > 0; --more) {
    const auto own = std::ssize(tree.branches);
    if (own > 0) {
      Branch& above = tree.branches[static_cast<std::size_t>(between(0, own - 1))];
      Int& child = chance(50) ? above.yes : above.no;
      if (child >= 0) continue;
      child = own;
    }
    tree.branches.push_back({between(0, modes - 1), between(0, features - 1), -1, -1, pick(limits), ""});
  }
  Int leaves = 0;
  for (Branch& each : tree.branches) {
    if (each.yes < 0) each.yes = -++leaves;
    if (each.no < 0) each.no = -++leaves;
    const Names whole{"0", "1", "-1", "2", "7", "40"};
    for (Int many = each.mode == 6 ? between(1, 3) : 0; many > 0; --many)
      each.members += pick(chance(80) ? whole : limits) + ",";
    if (each.mode == 6) each.members += "nan,";
  }
  tree.leaves = std::max<Int>(1, leaves);
  return tree;
}

std::vector<Drawn> draw_trees(Int features, const Names& limits, Int modes) {
  std::vector<Drawn> all;
  for (Int many = weighted<Int>({{35, 1}, {30, 2}, {25, 3}, {10, 4}}); many > 0; --many)
    all.push_back(draw_tree(features, limits, modes));
  if (chance(70)) return all;
  const Int same = between(0, 5);
  for (Drawn& tree : all)
    for (Branch& each : tree.branches) each.mode = same, each.members.clear();
  return all;
}

Recipe draw_rows_data(DType type) {
  if (!is_float(type)) {
    if (chance(30)) return {"hold", type == DType::i64 ? "4294967298,0,-3,1,16777217,4294967295" : "16777217,1,-1,0,2"};
    return chance(50) ? Recipe{"hold", "1,0,2,-1,0,1,-2"} : seeded("small");
  }
  if (chance(30)) return {"hold", pick({"nan,0.5,1,inf,-1,nan,2,0,-inf,-0.25,0.1", "inf,-inf,1,inf,nan,0.5,-1,2,0"})};
  if (chance(40)) return {"hold", "0.5,-1,0.1,2,1,-0.25,0,-0,1.5"};
  return seeded(pick({"quarter", "normal", "small", "uniform"}));
}

std::string draw_weight(bool is_dyadic) {
  return pick(is_dyadic ? Names{"0.25", "-0.5", "1", "0", "-1", "2", "-0.125", "3"}
                        : Names{"0.1", "-0.3", "0.7", "0.2", "-1.1", "1e-3", "5.3"});
}

Tensor list_of(const Names& numbers, DType type) {
  return fill({"values", joined(numbers, ",")}, {type, {std::ssize(numbers)}});
}
// States numbers as a list or, where the version has it, a tensor of f64.
void state_numbers(Case& c, const std::string& name, const Names& numbers) {
  if (c.definition().attribute(name + "_as_tensor") && !numbers.empty() && chance(35)) {
    c.node.attribute(name + "_as_tensor", list_of(numbers, DType::f64));
    return;
  }
  const Tensor all = list_of(numbers, DType::f32);
  c.node.attribute(name, Reals(all.as<float>().begin(), all.as<float>().end()));
}

Shape draw_shape(std::uint64_t stratum) {
  const Shape drawn = draw_extents(stratum % shape_strata);
  return {drawn.empty() ? 1 : std::min<Int>(drawn[0], 20), between(1, 4)};
}

Case draw_rows(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  c.node.input("X", {type, draw_shape(stratum)});
  c.sources["X"] = {draw_rows_data(type), false};
  return c;
}

std::string draw_post() {
  return weighted<const char*>({{55, "NONE"}, {15, "LOGISTIC"}, {15, "SOFTMAX"}, {10, "SOFTMAX_ZERO"}, {5, "PROBIT"}});
}

template <class List>
List in_order(const List& list, const std::vector<std::size_t>& order) {
  List all;
  for (const std::size_t each : order) all.push_back(list[each]);
  return all;
}
std::vector<std::size_t> draw_order(std::size_t many, bool is_any) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < many; ++i)
    all.insert(all.begin() + (is_any ? between(0, static_cast<Int>(i)) : static_cast<Int>(i)), i);
  return all;
}

// The lists of nodes, and those of weights.
struct Lists {
  Ints trees, ids, modes, features, yes, no, flags;
  Names limits;
  Ints vote_trees, vote_ids, targets;
  Names weights;
};

// Numbers the nodes of a tree, those that branch first, or in any order.
void add_tree(Lists& lists, const Drawn& tree, Int name, Int first, bool is_any) {
  const auto branches = std::ssize(tree.branches), many = branches + tree.leaves;
  std::vector<std::size_t> number = draw_order(static_cast<std::size_t>(many), is_any);
  const auto id = [&](Int node) {
    const Int place = node >= 0 ? node : branches - 1 - node;
    return first + static_cast<Int>(number[static_cast<std::size_t>(place)]);
  };
  const std::size_t start = lists.trees.size();
  for (Int i = 0; i < many; ++i) {
    const bool is_leaf = i >= branches;
    const Branch node = is_leaf ? Branch{7, 0, 0, 0, "0", ""} : tree.branches[static_cast<std::size_t>(i)];
    lists.trees.push_back(name);
    lists.ids.push_back(id(is_leaf ? branches - 1 - i : i));
    lists.modes.push_back(node.mode);
    lists.features.push_back(node.feature);
    lists.yes.push_back(is_leaf ? 0 : id(node.yes));
    lists.no.push_back(is_leaf ? 0 : id(node.no));
    lists.limits.push_back(node.limit);
    lists.flags.push_back(between(0, 1));
  }
  // Nodes stand in the order of their ids.
  for (std::size_t i = start; i < lists.ids.size(); ++i)
    for (std::size_t j = start; j + 1 < lists.ids.size(); ++j) {
      if (lists.ids[j] < lists.ids[j + 1]) continue;
      for (Ints* const each : {&lists.ids, &lists.modes, &lists.features, &lists.yes, &lists.no, &lists.flags})
        std::swap((*each)[j], (*each)[j + 1]);
      std::swap(lists.limits[j], lists.limits[j + 1]);
    }
}

// Draws weights of leaves: mostly one each, of any target.
void add_votes(Lists& lists, Int targets) {
  const bool is_dyadic = chance(60), is_whole = chance(50), is_of_one = chance(25);
  const Int only = between(0, targets - 1);
  for (std::size_t i = 0; i < lists.ids.size(); ++i) {
    if (lists.modes[i] != 7) continue;
    const Int many = is_whole ? targets : weighted<Int>({{85, 1}, {8, 2}, {7, 0}});
    for (Int k = 0; k < many; ++k) {
      lists.vote_trees.push_back(lists.trees[i]);
      lists.vote_ids.push_back(lists.ids[i]);
      lists.targets.push_back(is_of_one ? only : is_whole ? k : between(0, targets - 1));
      lists.weights.push_back(draw_weight(is_dyadic));
    }
  }
}

// Draws the ensemble of a version that names its nodes; `stem` begins the names of the lists of weights.
void draw_ensemble(Case& c, const std::string& stem, Int targets, bool is_free) {
  const Int features = shape_of(c)[1];
  Lists lists;
  Int name = is_free && chance(30) ? weighted<Int>({{90, between(0, 5)}, {10, -1}}) : 0;
  const bool is_any = chance(15), counts_on = is_free && chance(30);
  for (const Drawn& tree : draw_trees(features, limits_of(DType::f32), 6)) {
    add_tree(lists, tree, name, counts_on ? std::ssize(lists.ids) : 0, is_any);
    name += is_free && chance(30) ? 3 : 1;
  }
  add_votes(lists, targets);
  if (is_free && chance(15)) {
    const auto order = draw_order(lists.ids.size(), true);
    for (Ints* const each :
         {&lists.trees, &lists.ids, &lists.modes, &lists.features, &lists.yes, &lists.no, &lists.flags})
      *each = in_order(*each, order);
    lists.limits = in_order(lists.limits, order);
  }
  const auto order = draw_order(lists.weights.size(), chance(30));
  Texts modes;
  for (const Int each : lists.modes)
    modes.emplace_back(Texts{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "",
                             "LEAF"}[static_cast<std::size_t>(each)]);
  c.node.attribute("nodes_treeids", lists.trees).attribute("nodes_nodeids", lists.ids);
  c.node.attribute("nodes_modes", modes).attribute("nodes_featureids", lists.features);
  c.node.attribute("nodes_truenodeids", lists.yes).attribute("nodes_falsenodeids", lists.no);
  state_numbers(c, "nodes_values", lists.limits);
  if (chance(50)) c.node.attribute("nodes_missing_value_tracks_true", lists.flags);
  if (chance(15)) state_numbers(c, "nodes_hitrates", Names(lists.ids.size(), "1"));
  c.node.attribute(stem + "treeids", in_order(lists.vote_trees, order));
  c.node.attribute(stem + "nodeids", in_order(lists.vote_ids, order));
  c.node.attribute(stem + "ids", in_order(lists.targets, order));
  state_numbers(c, stem + "weights", in_order(lists.weights, order));
  if (chance(40)) {
    Names base;
    for (Int k = 0; k < targets; ++k) base.push_back(draw_weight(chance(50)));
    state_numbers(c, "base_values", base);
  }
  if (const std::string post = draw_post(); post != "NONE" || chance(20)) c.node.attribute("post_transform", post);
}

Case draw_regressor(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = draw_rows(definition, type, stratum);
  const Int targets = weighted<Int>({{45, 1}, {30, 2}, {25, 3}});
  draw_ensemble(c, "target_", targets, false);
  c.node.attribute("n_targets", targets);
  if (chance(60)) c.node.attribute("aggregate_function", pick({"AVERAGE", "MIN", "MAX", "SUM"}));
  return c;
}

Case draw_classifier(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = draw_rows(definition, type, stratum);
  const Int labels = weighted<Int>({{45, 2}, {35, 3}, {20, 4}});
  draw_ensemble(c, "class_", labels, true);
  state_labels(c, "classlabels_int64s", labels);
  return c;
}

Case draw_placed(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = draw_rows(definition, type, stratum);
  const Int features = shape_of(c)[1], targets = weighted<Int>({{45, 1}, {30, 2}, {25, 3}});
  const bool is_dyadic = chance(60);
  Ints roots, of_features, yes, no, yes_ends, no_ends, flags, ids;
  Names modes, splits, weights;
  std::string members;
  for (const Drawn& tree : draw_trees(features, limits_of(type), 7)) {
    const Int first = std::ssize(yes), first_leaf = std::ssize(ids);
    const auto add = [&](const Branch& node) {
      modes.push_back(std::to_string(node.mode));
      splits.push_back(node.limit);
      of_features.push_back(node.feature);
      yes.push_back(node.yes < 0 ? first_leaf - 1 - node.yes : first + node.yes);
      no.push_back(node.no < 0 ? first_leaf - 1 - node.no : first + node.no);
      yes_ends.push_back(node.yes < 0);
      no_ends.push_back(node.no < 0);
      flags.push_back(between(0, 1));
      members += node.members;
    };
    roots.push_back(first);
    for (const Branch& each : tree.branches) add(each);
    if (tree.branches.empty()) add({between(0, 5), 0, -1, -1, "0", ""});
    for (Int i = 0; i < tree.leaves; ++i) {
      ids.push_back(between(0, targets - 1));
      weights.push_back(draw_weight(is_dyadic));
    }
  }
  if (chance(20)) std::ranges::reverse(roots);
  c.node.attribute("tree_roots", roots).attribute("nodes_featureids", of_features);
  c.node.attribute("nodes_truenodeids", yes).attribute("nodes_falsenodeids", no);
  c.node.attribute("nodes_trueleafs", yes_ends).attribute("nodes_falseleafs", no_ends);
  c.node.attribute("nodes_modes", list_of(modes, DType::u8)).attribute("nodes_splits", list_of(splits, type));
  c.node.attribute("leaf_targetids", ids).attribute("leaf_weights", list_of(weights, type));
  if (chance(50)) c.node.attribute("nodes_missing_value_tracks_true", flags);
  if (chance(15)) c.node.attribute("nodes_hitrates", list_of(Names(yes.size(), "1"), DType::f32));
  if (!members.empty()) {
    members.pop_back();
    const Int many = std::ranges::count(members, ',') + 1;
    c.node.attribute("membership_values", fill({"values", members}, {type, {many}}));
  }
  c.node.attribute("n_targets", targets);
  if (chance(60)) c.node.attribute("aggregate_function", between(0, 3));
  if (chance(50)) c.node.attribute("post_transform", weighted<Int>({{40, 0}, {20, 1}, {20, 2}, {15, 3}, {5, 4}}));
  return c;
}

// Asks for features that are there.
void refit(Case& c) {
  const auto found = c.node.attributes.find("nodes_featureids");
  if (found == c.node.attributes.end() || shape_of(c).size() != 2 || shape_of(c)[1] < 1) return;
  if (Ints* const all = std::get_if<Ints>(&found->second))
    for (Int& each : *all) each = std::clamp<Int>(each, 0, shape_of(c)[1] - 1);
}

// Changes an entry of a list of integers.
Mutation changed(const char* what, const char* name, Int to) {
  return {what, [=](Case& c) {
            const auto found = c.node.attributes.find(name);
            if (found == c.node.attributes.end() || std::get<Ints>(found->second).empty()) return false;
            pick(std::get<Ints>(found->second)) = to;
            return true;
          }};
}

std::vector<Mutation> damages() {
  return {{"another rank",
           [](Case& c) {
             shape_of(c) = chance(50) ? Shape{2} : Shape{1, 1, 2};
           }},
          lengthened("nodes_featureids"),
          changed("a feature that is not there", "nodes_featureids", 9),
          changed("a flag that is none", "nodes_missing_value_tracks_true", 2),
          changed("a child that is not there", "nodes_truenodeids", 99),
          {"no target", [](Case& c) {
             if (!c.definition().attribute("n_targets")) return false;
             c.node.attribute("n_targets", between(-1, 0));
             return true;
           }}};
}

void add_named(std::vector<Mutation>& all, const char* ids, const char* nodes) {
  all.push_back(changed("a target that is not there", ids, 9));
  all.push_back(changed("the weight of a node that is not there", nodes, 99));
  all.push_back(lengthened(ids));
  all.push_back(lengthened("base_values"));
  all.push_back({"a tensor of the version after", [](Case& c) {
                   if (c.definition().attribute("base_values_as_tensor")) return false;
                   c.node.attribute("base_values_as_tensor", list_of({"1"}, DType::f64));
                   return true;
                 }});
  all.push_back({"a transform that is none", [](Case& c) { c.node.attribute("post_transform", "none"); }});
  all.push_back({"a node that stands twice", [](Case& c) {
                   const auto found = c.node.attributes.find("nodes_nodeids");
                   if (found == c.node.attributes.end()) return false;
                   Ints& own = std::get<Ints>(found->second);
                   own.back() = own.front();
                   return own.size() > 1;
                 }});
  all.push_back({"a mode that is none", [](Case& c) {
                   const auto found = c.node.attributes.find("nodes_modes");
                   if (found == c.node.attributes.end()) return false;
                   pick(std::get<Texts>(found->second)) = "BRANCH_MEMBER";
                   return true;
                 }});
  all.push_back({"thresholds of another type", [](Case& c) {
                   const auto found = c.node.attributes.find("nodes_values");
                   if (found == c.node.attributes.end() || !c.definition().attribute("nodes_values_as_tensor"))
                     return false;
                   const Names zeros(std::get<Reals>(found->second).size(), "0");
                   c.node.attributes.erase("nodes_values");
                   c.node.attribute("nodes_values_as_tensor", list_of(zeros, DType::f32));
                   return true;
                 }});
}

OperatorGenerator made(Case (*draw)(const Definition&, DType, std::uint64_t)) {
  OperatorGenerator all = moving_generator(draw, refit);
  all.ranks = [](const Definition&) { return std::pair<Int, Int>{2, 2}; };
  all.damages = damages();
  all.steps = simpler_trees();
  return all;
}

}  // namespace

const OperatorGenerator& tree_ensemble_classifier() {
  static const OperatorGenerator all = [] {
    OperatorGenerator generator = made(draw_classifier);
    add_named(generator.damages, "class_ids", "class_nodeids");
    generator.damages.push_back(labels_of_both_kinds("classlabels_int64s"));
    return generator;
  }();
  return all;
}
const OperatorGenerator& tree_ensemble_regressor() {
  static const OperatorGenerator all = [] {
    OperatorGenerator generator = made(draw_regressor);
    add_named(generator.damages, "target_ids", "target_nodeids");
    return generator;
  }();
  return all;
}
const OperatorGenerator& tree_ensemble() {
  static const OperatorGenerator all = [] {
    OperatorGenerator generator = made(draw_placed);
    generator.damages.push_back(changed("a target that is not there", "leaf_targetids", 9));
    generator.damages.push_back(
        {"a mode that is none", [](Case& c) {
           const auto many = std::ssize(std::get<Ints>(c.node.attributes.at("nodes_featureids")));
           c.node.attribute("nodes_modes", list_of(Names(static_cast<std::size_t>(many), "7"), DType::u8));
         }});
    generator.damages.push_back(
        {"weights of another type", [](Case& c) {
           const DType other = shape_of(c).empty() ? DType::f32 : DType::f16;
           const auto many = std::ssize(std::get<Ints>(c.node.attributes.at("leaf_targetids")));
           c.node.attribute("leaf_weights", list_of(Names(static_cast<std::size_t>(many), "1"),
                                                    c.node.inputs.at("X").type.dtype == other ? DType::f32 : other));
         }});
    generator.damages.push_back(
        {"a function that is none", [](Case& c) { c.node.attribute("aggregate_function", 4); }});
    generator.damages.push_back({"a transform that is none", [](Case& c) { c.node.attribute("post_transform", 5); }});
    return generator;
  }();
  return all;
}

}  // namespace assay::generators
