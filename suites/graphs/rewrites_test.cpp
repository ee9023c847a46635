// SPDX-License-Identifier: Apache-2.0
// Rewritings of drawn graphs: as optimisers get them wrong, each applied until one is found out, and as they are
// allowed to, none of which is.
#include "generators/graphs/graph_drawing.h"
#include "oracles/graphs/graph_judge.h"
#include "reference/testing/run_size.h"
#include "suites/campaign/signature.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

namespace assay::suites {
namespace {

// A graph that a rewriting changes in place.
class Rewriting {
 public:
  explicit Rewriting(GraphCase graph) : graph_(std::move(graph)) {}
  GraphCase& graph() { return graph_; }
  GraphStep& step(std::size_t at) { return graph_.steps[at]; }
  const std::string& op(std::size_t at) { return step(at).c.version.name; }
  Attributes& attributes(std::size_t at) { return step(at).c.node.attributes; }

  // Calls with every node of an operator until one call changes something.
  bool at(std::string_view wanted, const std::function<bool(std::size_t)>& change) {
    for (std::size_t i = 0; i < graph_.steps.size(); ++i)
      if (op(i) == wanted && change(i)) return true;
    return false;
  }
  // The same for two nodes, where the second takes what the first gives and nobody else does.
  bool pair(std::string_view first, std::string_view second,
            const std::function<bool(std::size_t, std::size_t)>& change, bool is_shared = false) {
    return at(first, [&](std::size_t i) {
      const std::string& value = step(i).results.front();
      if (!is_shared && (takers(value) != 1 || is_output(value))) return false;
      return at(second, [&](std::size_t k) { return step(k).operands.front() == value && change(i, k); });
    });
  }

  std::ptrdiff_t takers(const std::string& value) const {
    std::ptrdiff_t count = 0;
    for (const GraphStep& each : graph_.steps) count += std::ranges::count(each.operands, value);
    return count;
  }
  bool is_output(const std::string& value) const {
    return std::ranges::find(graph_.outputs, value) != graph_.outputs.end();
  }

  // Lets everybody take what a node takes instead of what it gives.
  bool remove(std::size_t at, std::size_t operand = 0) {
    const std::string from = step(at).results.front(), to = step(at).operands.at(operand);
    for (GraphStep& each : graph_.steps) std::ranges::replace(each.operands, from, to);
    std::ranges::replace(graph_.outputs, from, to);
    graph_.steps.erase(graph_.steps.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
  }

  GraphLeaf* leaf(const std::string& name) {
    const auto found = std::ranges::find(graph_.leaves, name, &GraphLeaf::name);
    return found != graph_.leaves.end() && found->source.initializer ? &*found : nullptr;
  }
  // The leaf of an operand, for this node alone.
  GraphLeaf* own_leaf(std::size_t at, std::size_t operand) {
    if (operand >= step(at).operands.size() || !leaf(step(at).operands[operand])) return nullptr;
    GraphLeaf copy = *leaf(step(at).operands[operand]);
    copy.name += "_" + std::to_string(graph_.leaves.size());
    step(at).operands[operand] = copy.name;
    graph_.leaves.push_back(copy);
    return &graph_.leaves.back();
  }

  // A list that is an attribute of some versions and an input of others.
  std::optional<Ints> ints(std::size_t at, const std::string& name, std::size_t operand) {
    if (const auto found = attributes(at).find(name); found != attributes(at).end())
      return std::get<Ints>(found->second);
    if (operand >= step(at).operands.size() || !leaf(step(at).operands[operand])) return std::nullopt;
    const GraphLeaf& own = *leaf(step(at).operands[operand]);
    const Tensor list = fill(own.source.recipe, own.type);
    return Ints(list.as<std::int64_t>().begin(), list.as<std::int64_t>().end());
  }
  bool set_ints(std::size_t at, const std::string& name, std::size_t operand, const Ints& values) {
    if (const auto found = attributes(at).find(name); found != attributes(at).end())
      return found->second = values, true;
    GraphLeaf* const own = own_leaf(at, operand);
    if (!own) return false;
    own->type.shape = {std::ssize(values)};
    Tensor list(own->type);
    std::ranges::copy(values, list.as<std::int64_t>().begin());
    own->source.recipe = stated(list);
    return true;
  }
  // Changes a list where it is there and the change does something.
  bool change_ints(std::size_t at, const std::string& name, std::size_t operand,
                   const std::function<void(Ints&)>& change) {
    const std::optional<Ints> before = ints(at, name, operand);
    if (!before) return false;
    Ints after = *before;
    change(after);
    return after != *before && set_ints(at, name, operand, after);
  }

 private:
  GraphCase graph_;
};

using R = Rewriting;
struct Plant {
  const char* name;
  bool (*apply)(R&);
};

bool drop_attribute(R& r, std::string_view op, const std::string& name) {
  return r.at(op, [&](std::size_t i) { return r.attributes(i).erase(name) > 0; });
}
bool drop_last_operand(R& r, std::string_view op, std::size_t operands) {
  return r.at(op, [&](std::size_t i) {
    if (r.step(i).operands.size() != operands) return false;
    r.step(i).operands.pop_back();
    return true;
  });
}
// Pads that a window takes over from a Pad before it.
bool merge_pads(R& r, std::string_view op, bool is_swapped, bool adds_count) {
  return r.pair("Pad", op, [&](std::size_t i, std::size_t k) {
    const std::optional<Ints> all = r.ints(i, "pads", 1);
    if (!all || all->size() < 6 || r.attributes(k).contains("auto_pad")) return false;
    const std::size_t rank = all->size() / 2;
    Ints own(2 * (rank - 2), 0);
    if (const auto stated = r.attributes(k).find("pads"); stated != r.attributes(k).end())
      own = std::get<Ints>(stated->second);
    for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
      own[axis] += (*all)[(is_swapped ? rank : 0) + axis + 2];
      own[axis + rank - 2] += (*all)[(is_swapped ? 0 : rank) + axis + 2];
    }
    r.attributes(k)["pads"] = own;
    if (adds_count) r.attributes(k)["count_include_pad"] = Int{1};
    return r.remove(i);
  });
}
// A Transpose that is moved behind the next node, whose axis stays what it was.
bool keep_axis(R& r, const std::string& op, const std::string& axis) {
  return r.pair("Transpose", op, [&](std::size_t i, std::size_t k) {
    if (!r.attributes(k).contains(axis)) return false;
    r.step(k).operands.front() = r.step(i).operands.front();
    const GraphStep transpose = r.step(i);
    std::swap(r.step(i), r.step(k));
    const std::string given = r.step(i).results.front();
    r.step(k) = transpose;
    r.step(k).operands.front() = given + "_t";
    r.step(k).results.front() = given;
    r.step(i).results.front() = given + "_t";
    return true;
  });
}

// Lets two nodes change places that follow each other by their first operands.
bool exchange(R& r, const char* before, const char* after, const std::function<bool(std::size_t, std::size_t)>& may) {
  return r.pair(before, after, [&](std::size_t i, std::size_t k) {
    if (!may(i, k)) return false;
    const std::string x = r.step(i).operands.front(), middle = r.step(i).results.front(),
                      end = r.step(k).results.front();
    std::swap(r.step(i), r.step(k));
    r.step(i).operands.front() = x;
    r.step(i).results = {middle};
    r.step(k).operands.front() = middle;
    r.step(k).results = {end};
    return true;
  });
}
const std::vector<Plant>& plants() {
  static const std::vector<Plant> all{
      {"pads of MaxPool are -infinity", [](R& r) { return merge_pads(r, "MaxPool", false, false); }},
      {"pads of AveragePool do not count", [](R& r) { return merge_pads(r, "AveragePool", false, false); }},
      {"pads of AveragePool count, those it had too", [](R& r) { return merge_pads(r, "AveragePool", false, true); }},
      {"pads of Conv are 0 whatever the value", [](R& r) { return merge_pads(r, "Conv", false, false); }},
      {"begin and end of pads are swapped", [](R& r) { return merge_pads(r, "Conv", true, false); }},
      {"Pad by what it has is removed",
       [](R& r) {
         return r.at("Pad", [&](std::size_t i) {
           return r.change_ints(i, "pads", 1, [](Ints& pads) { std::ranges::fill(pads, 0); });
         });
       }},
      {"a negative pad is read as 0",
       [](R& r) {
         return r.at("Pad", [&](std::size_t i) {
           return r.change_ints(i, "pads", 1, [](Ints& pads) {
             for (Int& each : pads) each = std::max<Int>(each, 0);
           });
         });
       }},
      {"of two Clips the second stays",
       [](R& r) { return r.pair("Clip", "Clip", [&](std::size_t i, std::size_t) { return r.remove(i); }); }},
      {"Relu before Clip is removed",
       [](R& r) { return r.pair("Relu", "Clip", [&](std::size_t i, std::size_t) { return r.remove(i); }); }},
      {"Clip before QuantizeLinear is removed",
       [](R& r) { return r.pair("Clip", "QuantizeLinear", [&](std::size_t i, std::size_t) { return r.remove(i); }); }},
      {"Relu before QuantizeLinear is removed",
       [](R& r) { return r.pair("Relu", "QuantizeLinear", [&](std::size_t i, std::size_t) { return r.remove(i); }); }},
      {"the upper bound of Clip is dropped",
       [](R& r) { return drop_last_operand(r, "Clip", 3) || drop_attribute(r, "Clip", "max"); }},
      {"two Transposes always cancel",
       [](R& r) {
         return r.pair("Transpose", "Transpose",
                       [&](std::size_t i, std::size_t k) { return k == i + 1 && r.remove(k) && r.remove(i); });
       }},
      {"Transposes are composed in the wrong order",
       [](R& r) {
         return r.pair("Transpose", "Transpose", [&](std::size_t i, std::size_t k) {
           const Ints p = std::get<Ints>(r.attributes(i)["perm"]), q = std::get<Ints>(r.attributes(k)["perm"]);
           Ints both;
           for (const Int each : p) both.push_back(q[static_cast<std::size_t>(each)]);
           r.attributes(k)["perm"] = both;
           return r.remove(i);
         });
       }},
      {"the axis of Softmax is not permuted", [](R& r) { return keep_axis(r, "Softmax", "axis"); }},
      {"the axis of Gather is not permuted", [](R& r) { return keep_axis(r, "Gather", "axis"); }},
      {"the axis of ArgMax is not permuted", [](R& r) { return keep_axis(r, "ArgMax", "axis"); }},
      {"the axes of ReduceMax are not permuted", [](R& r) { return keep_axis(r, "ReduceMax", "keepdims"); }},
      {"a Transpose before a reduction is removed",
       [](R& r) { return r.pair("Transpose", "ReduceSum", [&](std::size_t i, std::size_t) { return r.remove(i); }); }},
      {"Transpose before MatMul is taken to swap the last two axes",
       [](R& r) {
         return r.pair("Transpose", "MatMul", [&](std::size_t i, std::size_t) {
           return r.change_ints(i, "perm", 1, [](Ints& perm) {
             std::iota(perm.begin(), perm.end(), 0);
             std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
           });
         });
       }},
      {"Reshape moves behind a sum, whatever is added",
       [](R& r) { return exchange(r, "Reshape", "Add", [](std::size_t, std::size_t) { return true; }); }},
      {"adding always adds nothing",
       [](R& r) { return r.at("Add", [&](std::size_t i) { return r.leaf(r.step(i).operands[1]) && r.remove(i); }); }},
      {"x - c is read as c - x",
       [](R& r) {
         return r.at("Sub",
                     [&](std::size_t i) { return std::swap(r.step(i).operands[0], r.step(i).operands[1]), true; });
       }},
      {"division becomes a product",
       [](R& r) {
         return r.at("Div", [&](std::size_t i) {
           const Definition* const mul = find_operator("", "Mul")->at(r.graph().opset);
           r.step(i).c.version = mul->version;
           return true;
         });
       }},
      {"of two products the second is dropped",
       [](R& r) { return r.pair("Mul", "Mul", [&](std::size_t, std::size_t k) { return r.remove(k); }); }},
      {"a sum behind Conv is dropped",
       [](R& r) { return r.pair("Conv", "Add", [&](std::size_t, std::size_t k) { return r.remove(k); }); }},
      {"a factor behind Conv scales no bias",
       [](R& r) {
         return r.pair("Conv", "Mul", [&](std::size_t i, std::size_t) {
           if (r.step(i).operands.size() < 3) return false;
           r.step(i).operands.pop_back();
           return true;
         });
       }},
      {"the mean of BatchNormalization is 0",
       [](R& r) {
         return r.at("BatchNormalization", [&](std::size_t i) {
           GraphLeaf* const mean = r.own_leaf(i, 3);
           return mean && (mean->source.recipe = {"const", "0"}, true);
         });
       }},
      {"epsilon is not added",
       [](R& r) {
         return r.at("BatchNormalization", [&](std::size_t i) { return r.attributes(i)["epsilon"] = 0.0F, true; });
       }},
      {"alpha of Gemm is dropped", [](R& r) { return drop_attribute(r, "Gemm", "alpha"); }},
      {"beta of Gemm is dropped", [](R& r) { return drop_attribute(r, "Gemm", "beta"); }},
      {"the bias of Gemm is dropped", [](R& r) { return drop_last_operand(r, "Gemm", 3); }},
      {"groups of Conv turn",
       [](R& r) { return r.at("Conv", [&](std::size_t i) { return r.attributes(i).erase("dilations") > 0; }); }},
      {"strides of a pool are dropped behind another",
       [](R& r) { return r.pair("MaxPool", "MaxPool", [&](std::size_t, std::size_t k) { return r.remove(k); }); }},
      {"of two Slices the starts are not added",
       [](R& r) { return r.pair("Slice", "Slice", [&](std::size_t i, std::size_t) { return r.remove(i); }); }},
      {"a backward Slice goes forward",
       [](R& r) {
         return r.at("Slice", [&](std::size_t i) {
           return r.change_ints(i, "steps", 4, [](Ints& steps) {
             for (Int& each : steps) each = std::abs(each);
           });
         });
       }},
      {"operands of Concat are sorted",
       [](R& r) {
         return r.at("Concat", [&](std::size_t i) {
           return std::ranges::reverse(r.step(i).operands), r.step(i).operands.size() > 1;
         });
       }},
      {"Split is even",
       [](R& r) {
         return r.at("Split", [&](std::size_t i) {
           return r.change_ints(i, "split", 1, [](Ints& lengths) { std::ranges::reverse(lengths); });
         });
       }},
      {"a negative index is read as 0",
       [](R& r) {
         return r.at("Gather", [&](std::size_t i) {
           GraphLeaf* const own = r.own_leaf(i, 1);
           if (!own || own->source.recipe.family != "values") return false;
           Tensor indices = fill(own->source.recipe, own->type);
           for (std::int64_t& each : indices.as<std::int64_t>()) each = std::max<std::int64_t>(each, 0);
           own->source.recipe = stated(indices);
           return true;
         });
       }},
      {"pairs with other zero points are merged",
       [](R& r) {
         return r.at("DequantizeLinear", [&](std::size_t i) {
           if (r.step(i).operands.size() < 3) return false;
           r.step(i).operands.pop_back();
           return true;
         });
       }},
      {"casts to integers and back cancel",
       [](R& r) {
         return r.pair("Cast", "Cast",
                       [&](std::size_t i, std::size_t k) { return k == i + 1 && r.remove(k) && r.remove(i); });
       }},
      {"Not before Where swaps no branches",
       [](R& r) { return r.pair("Not", "Where", [&](std::size_t i, std::size_t) { return r.remove(i); }); }},
      {"branches of Where are swapped",
       [](R& r) {
         return r.at("Where",
                     [&](std::size_t i) { return std::swap(r.step(i).operands[1], r.step(i).operands[2]), true; });
       }},
      {"a second consumer gets what is fused",
       [](R& r) {
         const auto fuse = [&](std::size_t i, std::size_t k) {
           const std::string before = r.step(i).results.front(), after = r.step(k).results.front();
           bool is_seen = false;
           for (std::size_t at = k + 1; at < r.graph().steps.size(); ++at)
             for (std::string& each : r.step(at).operands)
               if (each == before) each = after, is_seen = true;
           for (std::string& each : r.graph().outputs)
             if (each == before) each = after, is_seen = true;
           return is_seen;
         };
         return std::ranges::any_of(std::vector{"Conv", "Gemm", "MatMul", "Add", "Sub", "BatchNormalization"},
                                    [&](const char* first) { return r.pair(first, "Relu", fuse, true); });
       }},
      {"nodes that differ by an attribute are one",
       [](R& r) {
         for (std::size_t i = 0; i < r.graph().steps.size(); ++i)
           for (std::size_t k = i + 1; k < r.graph().steps.size(); ++k)
             if (r.op(i) == r.op(k) && r.step(i).operands == r.step(k).operands && r.attributes(i) != r.attributes(k)) {
               r.attributes(k) = r.attributes(i);
               return true;
             }
         return false;
       }},
      {"a constant that is shared is scaled for both",
       [](R& r) {
         const auto scale = [&](std::size_t i, std::size_t) {
           GraphLeaf* const weight = r.leaf(r.step(i).operands.back());
           return weight && r.takers(weight->name) > 1 && (weight->source.recipe = {"const", "2"}, true);
         };
         for (const char* first : {"Conv", "ConvTranspose", "MatMul", "Gemm", "Mul", "Add"})
           for (const char* second : {"Mul", "Div", "BatchNormalization"})
             if (r.pair(first, second, scale)) return true;
         return false;
       }},
      {"the mode of DepthToSpace is dropped", [](R& r) { return drop_attribute(r, "DepthToSpace", "mode"); }},
      {"alpha of LeakyRelu is dropped", [](R& r) { return drop_attribute(r, "LeakyRelu", "alpha"); }},
      {"keepdims is dropped",
       [](R& r) { return drop_attribute(r, "ReduceSum", "keepdims") || drop_attribute(r, "ReduceMax", "keepdims"); }},
      {"Max of a constant is Relu",
       [](R& r) {
         return r.at("Max", [&](std::size_t i) {
           return r.step(i).operands.size() > 1 && (r.step(i).operands.resize(1), true);
         });
       }},
      {"phases are taken in their own order",
       [](R& r) {
         return r.pair("Slice", "Slice", [](std::size_t, std::size_t) {
           return false;
         }) || r.at("Concat", [&](std::size_t i) {
           return r.step(i).operands.size() == 4 && (std::swap(r.step(i).operands[1], r.step(i).operands[2]), true);
         });
       }},
      {"a reduction behind a reduction loses its axes",
       [](R& r) { return r.pair("ReduceSum", "ReduceSum", [&](std::size_t, std::size_t k) { return r.remove(k); }); }},
  };
  return all;
}

// -- what is allowed

bool is_one_number(R& r, const std::string& name) {
  const GraphLeaf* const leaf = r.leaf(name);
  return leaf && volume(leaf->type.shape) == 1 && leaf->type.shape.size() < 2;
}
// Changes every number of an operand that is a constant.
bool map(R& r, std::size_t at, std::size_t operand, const std::function<float(float)>& change) {
  const GraphLeaf* const before = operand < r.step(at).operands.size() ? r.leaf(r.step(at).operands[operand]) : nullptr;
  if (!before || before->type.dtype != DType::f32) return false;
  GraphLeaf& own = *r.own_leaf(at, operand);
  Tensor numbers = fill(own.source.recipe, own.type);
  for (float& each : numbers.as<float>()) each = change(each);
  own.source.recipe = stated(numbers);
  return true;
}
float number(R& r, const std::string& name) {
  const GraphLeaf& leaf = *r.leaf(name);
  return fill(leaf.source.recipe, leaf.type).as<float>()[0];
}

// Computes b(a(x, y), z) as b(x, a(y, z)).
bool regroup(R& r, const char* op) {
  return r.pair(op, op, [&](std::size_t i, std::size_t k) {
    GraphStep &first = r.step(i), &second = r.step(k);
    if (first.operands.size() != 2 || second.operands.size() != 2 || !r.leaf(second.operands[1])) return false;
    const std::string x = first.operands[0], y = first.operands[1], z = second.operands[1];
    first.operands = {y, z};
    second.operands = {x, first.results.front()};
    return true;
  });
}
bool is_factor(R& r, std::size_t at, bool is_positive) {
  const std::string& by = r.step(at).operands[1];
  return is_one_number(r, by) && r.leaf(by)->type.dtype == DType::f32 && (!is_positive || number(r, by) > 0);
}

const std::vector<Plant>& laws() {
  static const std::vector<Plant> all{
      {"Identity is removed", [](R& r) { return r.at("Identity", [&](std::size_t i) { return r.remove(i); }); }},
      {"sums commute",
       [](R& r) {
         return r.at("Add",
                     [&](std::size_t i) { return std::swap(r.step(i).operands[0], r.step(i).operands[1]), true; });
       }},
      {"sums are regrouped", [](R& r) { return regroup(r, "Add"); }},
      {"products are regrouped", [](R& r) { return regroup(r, "Mul"); }},
      {"Transposes are composed",
       [](R& r) {
         return r.pair("Transpose", "Transpose", [&](std::size_t i, std::size_t k) {
           if (!r.attributes(i).contains("perm") || !r.attributes(k).contains("perm")) return false;
           const Ints p = std::get<Ints>(r.attributes(i)["perm"]);
           for (Int& each : std::get<Ints>(r.attributes(k)["perm"])) each = p[static_cast<std::size_t>(each)];
           return r.remove(i);
         });
       }},
      {"Relu moves before Transpose",
       [](R& r) { return exchange(r, "Transpose", "Relu", [](std::size_t, std::size_t) { return true; }); }},
      {"a factor moves before a product",
       [](R& r) {
         return exchange(r, "MatMul", "Mul", [&](std::size_t, std::size_t k) { return is_factor(r, k, false); });
       }},
      {"a factor moves behind a product",
       [](R& r) {
         return exchange(r, "Mul", "MatMul", [&](std::size_t i, std::size_t) { return is_factor(r, i, false); });
       }},
      {"a positive factor moves before Relu",
       [](R& r) {
         return exchange(r, "Relu", "Mul", [&](std::size_t, std::size_t k) { return is_factor(r, k, true); });
       }},
      {"a positive factor moves behind MaxPool",
       [](R& r) {
         return exchange(r, "Mul", "MaxPool", [&](std::size_t i, std::size_t) { return is_factor(r, i, true); });
       }},
      {"a factor is folded into Conv",
       [](R& r) {
         return r.pair("Conv", "Mul", [&](std::size_t i, std::size_t k) {
           if (!is_factor(r, k, false)) return false;
           const float by = number(r, r.step(k).operands[1]);
           const auto scale = [by](float each) { return each * by; };
           if (!map(r, i, 1, scale)) return false;
           return (r.step(i).operands.size() < 3 || map(r, i, 2, scale)) && r.remove(k);
         });
       }},
      {"division is a product",
       [](R& r) {
         return r.at("Div", [&](std::size_t i) {
           if (!map(r, i, 1, [](float each) { return 1 / each; })) return false;
           r.step(i).c.version = find_operator("", "Mul")->at(r.graph().opset)->version;
           return true;
         });
       }},
      {"Pad by 0 is padding of Conv",
       [](R& r) {
         const bool is_plain = r.pair("Pad", "Conv", [&](std::size_t i, std::size_t) {
           const std::optional<Ints> pads = r.ints(i, "pads", 1);
           const auto mode = r.attributes(i).find("mode");
           const std::size_t rank = pads ? pads->size() / 2 : 0;
           bool is_spatial = rank > 2;
           for (std::size_t axis = 0; pads && axis < pads->size(); ++axis)
             is_spatial &= axis % rank < 2 ? (*pads)[axis] == 0 : (*pads)[axis] >= 0;
           return is_spatial && r.step(i).operands.size() < 3 && !r.attributes(i).contains("value") &&
                  (mode == r.attributes(i).end() || std::get<std::string>(mode->second) == "constant");
         });
         std::ptrdiff_t count = 0;
         for (std::size_t i = 0; i < r.graph().steps.size(); ++i) count += r.op(i) == "Pad";
         return is_plain && count == 1 && merge_pads(r, "Conv", false, false);
       }},
      {"a pair that loses nothing is removed",
       [](R& r) {
         return r.pair("QuantizeLinear", "DequantizeLinear", [&](std::size_t i, std::size_t k) {
           return k == i + 1 && r.step(i).operands[1] == r.step(k).operands[1] &&
                  r.step(i).operands.size() == r.step(k).operands.size() && r.remove(k) && r.remove(i);
         });
       }},
      {"casts to a wider type and back are removed",
       [](R& r) {
         return r.pair("Cast", "Cast", [&](std::size_t i, std::size_t k) {
           return k == i + 1 && std::get<Int>(r.attributes(i)["to"]) == static_cast<Int>(DType::f64) &&
                  std::get<Int>(r.attributes(k)["to"]) == static_cast<Int>(DType::f32) && r.remove(k) && r.remove(i);
         });
       }},
      {"a product distributes over a sum",
       [](R& r) {
         return r.pair("Add", "MatMul", [&](std::size_t i, std::size_t k) {
           const GraphStep sum = r.step(i), product = r.step(k);
           const auto& terms = sum.c.node.inputs;
           if (terms.at("A").type != terms.at("B").type || sum.operands[0] == sum.operands[1] ||
               !r.leaf(product.operands[1]))
             return false;
           r.step(i) = product;
           r.step(i).operands[0] = sum.operands[0];
           r.step(i).results = {sum.results.front() + "_x"};
           GraphStep other = product, both = sum;
           other.operands[0] = sum.operands[1];
           other.results = {sum.results.front() + "_y"};
           both.operands = {r.step(i).results.front(), other.results.front()};
           both.results = product.results;
           r.step(k) = std::move(both);
           r.graph().steps.insert(r.graph().steps.begin() + static_cast<std::ptrdiff_t>(k), other);
           return true;
         });
       }},
  };
  return all;
}

// Says whether a wrong rewriting of a graph is seen; nothing where it does not apply or the graph is not legal then.
std::optional<bool> is_seen(const Plant& plant, const GraphCase& graph, const oracles::GraphJudge& judge) {
  Rewriting rewriting(graph);
  if (!plant.apply(rewriting)) return std::nullopt;
  const Result<GraphCase> wrong = parse_graph_case(line(tidied(rewriting.graph())));
  if (!wrong || wrong->outputs.size() != graph.outputs.size()) return std::nullopt;
  GraphData given;
  for (const GraphLeaf& leaf : wrong->leaves) given[leaf.name] = fill(leaf.source.recipe, leaf.type);
  const GraphData values = evaluate(*wrong, std::move(given), 1);
  oracles::Outcome outcome;
  outcome.sets.emplace_back();
  for (const std::string& each : wrong->outputs) outcome.sets.front().push_back(values.find(each)->second);
  return is_finding(judge.judge(outcome).state);
}

TEST_CASE("Every wrong rewriting is found", "[graphs]") {
  constexpr std::uint64_t most = 2000;
  std::map<std::string, std::uint64_t> found;
  for (std::uint64_t index = 0; index < most && found.size() < plants().size(); ++index) {
    const GraphCase graph = generators::draw_graph(1, index).graph;
    const oracles::GraphJudge judge(graph, 1);
    if (!judge.obstacle().empty()) continue;
    for (const Plant& plant : plants())
      if (!found.contains(plant.name) && is_seen(plant, graph, judge).value_or(false)) found[plant.name] = index;
  }
  std::vector<std::uint64_t> all;
  for (const Plant& plant : plants()) {
    INFO(plant.name);
    CHECK(found.contains(plant.name));
    if (found.contains(plant.name)) all.push_back(found[plant.name]);
  }
  std::ranges::sort(all);
  CAPTURE(all);
  CHECK(all.at(all.size() / 2) < 200);
}

TEST_CASE("No legal rewriting is taken for wrong", "[graphs]") {
  const std::uint64_t most = is_full_run() ? 300'000 : 12'000;
  std::map<std::string, int> applied;
  for (std::uint64_t index = 0; index < most; ++index) {
    const GraphCase graph = generators::draw_graph(5, index).graph;
    const oracles::GraphJudge judge(graph, 1);
    if (!judge.obstacle().empty()) continue;
    for (const Plant& law : laws()) {
      const std::optional<bool> seen = is_seen(law, graph, judge);
      INFO(law.name << " of " << line(graph));
      CHECK_FALSE(seen.value_or(false));
      applied[law.name] += seen.has_value();
    }
  }
  for (const Plant& law : laws()) {
    INFO(law.name);
    CHECK(applied[law.name] > 0);
  }
}

TEST_CASE("Every node of a drawn graph is right by its own oracle", "[graphs]") {
  Int judged = 0;
  const std::uint64_t most = is_full_run() ? 50'000 : 500;
  for (std::uint64_t index = 0; index < most; ++index) {
    const GraphCase graph = generators::draw_graph(12, index).graph;
    INFO(line(graph));
    const oracles::GraphJudge judge(graph, 1);
    if (!judge.obstacle().empty()) continue;
    CHECK_NOTHROW(judge.confirm());
    ++judged;
  }
  CHECK(judged > static_cast<Int>(most * 8 / 10));
}

}  // namespace
}  // namespace assay::suites
