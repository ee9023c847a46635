// SPDX-License-Identifier: Apache-2.0
#include "generators/ops/simpler_trees.h"

#include "reference/line_words.h"
#include "reference/operator.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

namespace assay::generators {
namespace {

using Places = std::vector<std::size_t>;

// Keeps those entries of a list.
Attribute kept(const Attribute& list, const Places& places) {
  const auto pick_from = [&](const auto& all) {
    std::remove_cvref_t<decltype(all)> out;
    for (const std::size_t each : places) out.push_back(all[each]);
    return out;
  };
  if (const auto* const numbers = std::get_if<Ints>(&list)) return pick_from(*numbers);
  if (const auto* const numbers = std::get_if<Reals>(&list)) return pick_from(*numbers);
  if (const auto* const words = std::get_if<Texts>(&list)) return pick_from(*words);
  const Tensor& all = std::get<Tensor>(list);
  Tensor out({all.dtype(), {std::ssize(places)}});
  const std::size_t size = size_of(all.dtype());
  for (std::size_t i = 0; i < places.size(); ++i)
    std::memcpy(out.bytes().data() + i * size, all.bytes().data() + places[i] * size, size);
  return out;
}

void keep(Case& c, std::string_view stem, const Places& places) {
  for (auto& [name, value] : c.node.attributes)
    if (name.starts_with(stem)) value = kept(value, places);
}

Ints& list(Case& c, const std::string& name) { return std::get<Ints>(c.node.attributes.at(name)); }
// One that is left out has no entries.
Ints list(const Case& c, const std::string& name) {
  const auto found = c.node.attributes.find(name);
  return found == c.node.attributes.end() ? Ints() : std::get<Ints>(found->second);
}
std::size_t at(Int index) { return static_cast<std::size_t>(index); }

// Numbers places in their order; those that are not kept have none.
std::map<std::size_t, Int> numbers_of(const Places& places) {
  std::map<std::size_t, Int> out;
  for (const std::size_t each : places) out.emplace(each, std::ssize(out));
  return out;
}

// -- ensembles that name their nodes

using NodeId = std::pair<Int, Int>;  // the tree and the node

bool names_nodes(const Case& c) { return c.definition().attribute("nodes_treeids") != nullptr; }
std::string stem(const Case& c) { return c.definition().attribute("class_ids") ? "class_" : "target_"; }

struct Named {
  explicit Named(const Case& c)
      : trees(list(c, "nodes_treeids")),
        ids(list(c, "nodes_nodeids")),
        yes(list(c, "nodes_truenodeids")),
        no(list(c, "nodes_falsenodeids")),
        modes(std::get<Texts>(c.node.attributes.at("nodes_modes"))) {
    for (std::size_t i = 0; i < ids.size(); ++i) place[{trees[i], ids[i]}] = i;
  }
  bool is_leaf(std::size_t node) const { return modes[node] == "LEAF"; }
  std::size_t child(std::size_t node, bool is_yes) const {
    return place.at({trees[node], is_yes ? yes[node] : no[node]});
  }
  Places roots() const {
    std::set<std::size_t> children;
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (!is_leaf(i)) children.insert({child(i, true), child(i, false)});
    Places out;
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (!children.contains(i)) out.push_back(i);
    return out;
  }

  Ints trees, ids, yes, no;
  Texts modes;
  std::map<NodeId, std::size_t> place;
};

// Leaves what these roots lead to, and the weights of its leaves.
Case pruned_named(Case c, Places open) {
  const Named all(c);
  std::set<std::size_t> reached;
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    if (reached.insert(node).second && !all.is_leaf(node))
      open.insert(open.end(), {all.child(node, true), all.child(node, false)});
  }
  const Places nodes(reached.begin(), reached.end());
  std::map<NodeId, Int> number;
  std::map<Int, Int> next;
  for (const std::size_t each : nodes) number[{all.trees[each], all.ids[each]}] = next[all.trees[each]]++;
  Places votes;
  const Ints of_trees = list(std::as_const(c), stem(c) + "treeids"), ids = list(std::as_const(c), stem(c) + "nodeids");
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (number.contains({of_trees[i], ids[i]})) votes.push_back(i);
  keep(c, "nodes_", nodes);
  for (const char* const part : {"treeids", "nodeids", "ids", "weights"}) keep(c, stem(c) + part, votes);
  const auto renumber = [&](const std::string& trees, const std::string& list_of_ids) {
    if (!c.node.attributes.contains(list_of_ids)) return;
    Ints& own = list(c, list_of_ids);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const auto found = number.find({list(c, trees)[i], own[i]});
      own[i] = found == number.end() ? 0 : found->second;
    }
  };
  for (const char* const name : {"nodes_nodeids", "nodes_truenodeids", "nodes_falsenodeids"})
    renumber("nodes_treeids", name);
  renumber(stem(c) + "treeids", stem(c) + "nodeids");
  return c;
}

// Puts a child in the place of its node.
Case lifted_named(Case c, std::size_t node, bool is_yes) {
  const Named all(c);
  const std::size_t child = all.child(node, is_yes);
  Places rows(all.ids.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i == node ? child : i;
  keep(c, "nodes_", rows);
  list(c, "nodes_nodeids")[node] = all.ids[node];
  Ints ids = list(std::as_const(c), stem(c) + "nodeids");
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (list(c, stem(c) + "treeids")[i] == all.trees[child] && ids[i] == all.ids[child]) ids[i] = all.ids[node];
  if (!ids.empty()) c.node.attribute(stem(c) + "nodeids", ids);
  return pruned_named(std::move(c), all.roots());
}

// -- TreeEnsemble, whose nodes have places

// Leaves what its roots lead to.
Case pruned_placed(Case c) {
  std::set<std::size_t> reached, ends;
  Places open;
  for (const Int root : list(c, "tree_roots")) open.push_back(at(root));
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    if (!reached.insert(node).second) continue;
    for (const std::string side : {"true", "false"})
      if (const std::size_t to = at(list(c, "nodes_" + side + "nodeids")[node]);
          list(c, "nodes_" + side + "leafs")[node] == 1)
        ends.insert(to);
      else
        open.push_back(to);
  }
  if (const auto found = c.node.attributes.find("membership_values"); found != c.node.attributes.end()) {
    const Tensor& modes = std::get<Tensor>(c.node.attributes.at("nodes_modes"));
    const Recipe values = stated(std::get<Tensor>(found->second));
    const std::vector<std::string_view> words = parts_of(values.argument);
    Places members;
    std::size_t value = 0;
    for (std::size_t node = 0; node < at(modes.elements()); ++node)
      for (bool goes_on = modes.as<std::uint8_t>()[node] == 6; goes_on; ++value) {
        if (reached.contains(node)) members.push_back(value);
        goes_on = words[value] != "nan";
      }
    if (members.empty())
      c.node.attributes.erase(found);
    else
      found->second = kept(found->second, members);
  }
  const Places nodes(reached.begin(), reached.end()), leaves(ends.begin(), ends.end());
  const auto of_nodes = numbers_of(nodes), of_leaves = numbers_of(leaves);
  keep(c, "nodes_", nodes);
  keep(c, "leaf_", leaves);
  for (Int& root : list(c, "tree_roots")) root = of_nodes.at(at(root));
  for (const std::string side : {"true", "false"})
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      Int& to = list(c, "nodes_" + side + "nodeids")[i];
      to = (list(c, "nodes_" + side + "leafs")[i] == 1 ? of_leaves : of_nodes).at(at(to));
    }
  return c;
}

// Puts a child in the place of its node; a root has to be a node.
Cases lifted_placed(Case c, std::size_t node, const std::string& from) {
  const Int to = list(c, "nodes_" + from + "nodeids")[node], ends = list(c, "nodes_" + from + "leafs")[node];
  for (const std::string side : {"true", "false"})
    for (std::size_t i = 0; i < list(c, "nodes_trueleafs").size(); ++i)
      if (Int& own = list(c, "nodes_" + side + "nodeids")[i], &is_end = list(c, "nodes_" + side + "leafs")[i];
          is_end == 0 && at(own) == node)
        own = to, is_end = ends;
  for (Int& root : list(c, "tree_roots"))
    if (at(root) == node) {
      if (ends == 1) return {};
      root = to;
    }
  return {pruned_placed(std::move(c))};
}

// -- steps

const char* a_list_of_nodes(const Case& c) { return names_nodes(c) ? "nodes_nodeids" : "nodes_truenodeids"; }
// The lists of a near miss need not fit.
bool is_whole(const Case& c) { return c.definition().violated(c.call()).empty(); }

int tree_count(const Case& c) {
  if (!is_whole(c)) return 0;
  return static_cast<int>(names_nodes(c) ? Named(c).roots().size() : list(c, "tree_roots").size());
}
Case with_trees(const Case& c, const Places& trees) {
  if (names_nodes(c)) {
    const Places roots = Named(c).roots();
    Places left;
    for (const std::size_t each : trees) left.push_back(roots[each]);
    return pruned_named(c, left);
  }
  Case out = c;
  out.node.attribute("tree_roots", kept(c.node.attributes.at("tree_roots"), trees));
  return pruned_placed(std::move(out));
}
Cases fewer_trees(const Case& c, int part) {
  Places others;
  for (int i = 0; i < tree_count(c); ++i)
    if (i != part) others.push_back(static_cast<std::size_t>(i));
  if (others.empty()) return {};
  return {with_trees(c, {static_cast<std::size_t>(part)}), with_trees(c, others)};
}

int node_count(const Case& c) { return is_whole(c) ? static_cast<int>(list(c, a_list_of_nodes(c)).size()) : 0; }
Cases fewer_nodes(const Case& c, int part) {
  const auto node = static_cast<std::size_t>(part);
  Cases out;
  for (const bool is_yes : {true, false}) {
    if (!names_nodes(c))
      std::ranges::move(lifted_placed(c, node, is_yes ? "true" : "false"), std::back_inserter(out));
    else if (!Named(c).is_leaf(node))
      out.push_back(lifted_named(c, node, is_yes));
  }
  return out;
}

int weight_count(const Case& c) {
  return is_whole(c) && names_nodes(c) ? static_cast<int>(list(c, stem(c) + "ids").size()) : 0;
}
// Leaves out the weights from one on, or it alone.
Cases fewer_weights(const Case& c, int part) {
  const auto many = static_cast<std::size_t>(weight_count(c)), first = static_cast<std::size_t>(part);
  Cases out;
  for (const std::size_t after : {many, first + 1}) {
    Places left;
    for (std::size_t i = 0; i < many; ++i)
      if (i < first || i >= after) left.push_back(i);
    out.push_back(c);
    for (const char* const list : {"treeids", "nodeids", "ids", "weights"}) keep(out.back(), stem(c) + list, left);
  }
  return out;
}

}  // namespace

std::span<const ShrinkStep> simpler_trees() {
  static const ShrinkStep steps[] = {
      {tree_count, fewer_trees}, {node_count, fewer_nodes}, {weight_count, fewer_weights}};
  return steps;
}

}  // namespace assay::generators
