// SPDX-License-Identifier: Apache-2.0
#include "generators/shrink.h"

#include "generators/generators.h"
#include "reference/case_view.h"
#include "reference/onnx_io.h"
#include "reference/operator.h"
#include "reference/testing/run_size.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace assay::generators {
namespace {

std::vector<ShrinkCandidate> all(const Case& c) {
  std::vector<ShrinkCandidate> list;
  SimplerCases candidates(c);
  while (std::optional<ShrinkCandidate> next = candidates.next()) list.push_back(*std::move(next));
  return list;
}

std::vector<Case> generator(std::size_t each) {
  std::vector<Case> list;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      for (const DType type : definition.types_of(definition.data().type))
        for (std::size_t index = 0; index < each; ++index) list.push_back(legal(definition, type, 5, index));
  return list;
}

// Walks down by candidates that `fails` accepts, never twice by the same line; the case where no candidate is left.
template <class F>
Case bottom(Case c, F&& fails) {
  std::set<std::string> seen{line(c)};
  for (int steps = 0; steps < 1'000; ++steps) {
    const std::vector<ShrinkCandidate> candidates = all(c);
    const auto next = std::ranges::find_if(candidates, [&](const ShrinkCandidate& candidate) {
      return seen.insert(line(candidate.c)).second && fails(candidate.c);
    });
    if (next == candidates.end()) return c;
    c = next->c;
  }
  FAIL("no end from " << line(c));
  return c;
}

bool is_zero(const Case& c, const std::string& input) {
  const Tensor data = fill(c.sources.at(input).recipe, c.node.inputs.at(input).type);
  if (data.dtype() == DType::string) return false;
  return data.elements() > 0 && std::ranges::all_of(data.bytes(), [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

TEST_CASE("A simpler case is legal, has a line of its own and comes in the order of its position", "[shrink]") {
  for (const Case& c : generator(thinned(12))) {
    Position last;
    for (const ShrinkCandidate& candidate : all(c)) {
      INFO(line(c) << "\n" << line(candidate.c));
      CHECK(candidate.c.is_legal());
      CHECK(line(candidate.c) != line(c));
      const Result<Case> again = parse_case(line(candidate.c));
      REQUIRE(again);
      CHECK(*again == candidate.c);
      CHECK_NOTHROW(model_of(candidate.c));
      CHECK(candidate.at >= last);
      last = candidate.at;
    }
  }
}

TEST_CASE("A near miss stays one, and breaks nothing else", "[shrink]") {
  std::size_t smaller = 0;
  for (const Operator* op : operators()) {
    for (const Definition& definition : op->versions())
      for (const std::string& id : breakable(definition)) {
        const auto c = near_miss(definition, definition.types_of(definition.data().type).front(), id, 3, 1);
        if (!c) continue;
        for (const ShrinkCandidate& candidate : all(*c)) {
          INFO(line(*c) << "\n" << line(candidate.c));
          CHECK(definition.violated(candidate.c.call()) == std::vector<std::string>{id});
          CHECK_NOTHROW(model_of(candidate.c));
          smaller += size_of(candidate.c).elements < size_of(*c).elements;
        }
      }
  }
  CHECK(smaller > 0);
}

TEST_CASE("Where everything fails nearly nothing is left, but never data of zeros", "[shrink]") {
  for (const Case& c : generator(thinned(count(6, 20)))) {
    if (c.definition().inputs.empty()) continue;
    const Case least = bottom(c, [](const Case&) { return true; });
    INFO(line(c) << "\n" << line(least));
    const std::string& data = least.definition().inputs.front().name;
    const bool says_a_length = data == "size" || data == "num_mel_bins";  // which may be 0
    CHECK((says_a_length || !is_zero(least, data)));
    const bool has_parts = least.definition().outputs.back().arity == Arity::repeated;  // an element or two for each
    const Int elements = volume(least.node.inputs.at(data).type.shape);
    CHECK(elements >= 1);
    const bool has_kinds = has_parts || least.definition().input("updates");
    const bool may_be_more =
        has_kinds && least.node.inputs.at(data).type.dtype == DType::boolean;        // to be of two kinds
    const bool has_halves = least.definition().attribute("interleaved") != nullptr;  // of each head
    const bool has_rows = data == "boxes" || data == "theta";                        // of four, and two of three
    CHECK((may_be_more || elements <= (has_halves ? 64 : has_parts ? 8 : has_rows ? 6 : 1)));
    CHECK(least.opset == least.version.since_version);
    CHECK(least.declared == DeclaredShapes::fixed);
    const auto required = std::ranges::count(least.definition().attributes, true, &AttributeSpec::required);
    // Two axes that change places together, heads of two kinds; a required list beside the flag that no statistic is
    // asked for.
    const bool has_pair =
        least.definition().attribute("batch_axis") || least.definition().attribute("q_num_heads") ||
        least.version.domain == "ai.onnx.ml" ||  // keys and values
        (least.definition().attribute("consumed_inputs") && least.definition().attribute("is_test") && required > 0);
    const bool has_pool = least.definition().attribute("ngram_counts") != nullptr;  // one of two
    const bool has_rule = least.definition().attribute("update_rule") != nullptr;   // by which inputs may be left out
    const bool has_trees = least.definition().attribute("nodes_modes") != nullptr;  // nodes, weights and labels
    const Int of_lists = has_trees ? 14 : least.definition().attribute("vectors_per_class") ? 3 : 0;
    CHECK(size_of(least).attributes <=
          std::max<Int>(has_pair ? 2 : 1, std::max(of_lists, required + has_pool + has_rule)));
  }
}

TEST_CASE("What the failure needs stays, everything else goes", "[shrink]") {
  const Case c = case_of(
      "Conv-22 opset=24 ir=10 X=f16[2,6,7,9]~normal:3 W=f16[4,3,3,2]~normal:8@init B=f16[4]~odd5:1@init "
      "auto_pad=SAME_LOWER dilations=2,3 group=2 kernel_shape=3,2 strides=2,1 shapes=symbolic");
  const auto has_group_and_dilation = [](const Case& k) {
    return k.call().integer("group") == 2 && std::ranges::max(k.call().ints("dilations")) >= 2;
  };
  CHECK(line(bottom(c, has_group_and_dilation)) ==
        "Conv-22 opset=22 ir=10 X=f16[1,2,1]~iota:1 W=f16[2,1,1]~const:1 dilations=2 group=2");
}

TEST_CASE("An ensemble shrinks tree by tree and node by node to what fails", "[shrink]") {
  const Case c = case_of(
      "ai.onnx.ml:TreeEnsembleRegressor-1 opset=1 ir=8 X=f32[1,2]~iota:1 nodes_treeids=0,0,0,1,1,1,1,1 "
      "nodes_nodeids=0,1,2,0,1,2,3,4 nodes_featureids=0,0,0,0,1,0,0,0 nodes_truenodeids=1,0,0,1,3,0,0,0 "
      "nodes_falsenodeids=2,0,0,2,4,0,0,0 nodes_modes=BRANCH_LEQ,LEAF,LEAF,BRANCH_GT,BRANCH_EQ,LEAF,LEAF,LEAF "
      "nodes_values=1,0,0,2,0.5,0,0,0 target_treeids=0,0,1,1,1 target_nodeids=1,2,2,3,4 target_ids=0,0,0,0,0 "
      "target_weights=0.1,0.2,0.3,0.4,0.5 n_targets=1");
  const auto asks_for_equality = [](const Case& k) {
    return std::ranges::count(k.call().texts("nodes_modes"), "BRANCH_EQ") > 0;
  };
  const Case least = bottom(c, asks_for_equality);
  CHECK(least.call().texts("nodes_modes") == Texts{"BRANCH_EQ", "LEAF", "LEAF"});
  CHECK(least.call().ints("nodes_treeids") == Ints{1, 1, 1});
}

TEST_CASE("What is written out becomes round, value by value", "[shrink]") {
  const Case c = case_of("Conv-11 opset=11 ir=8 X=f32[1,1,3]~lit:0x1.8p+3,-7.25,nan W=f32[1,1,1]~const:1");
  const auto has_nan = [](const Case& k) {
    const Tensor x = fill(k.sources.at("X").recipe, k.node.inputs.at("X").type);
    return x.elements() == 3 && std::isnan(x.as<float>()[2]);
  };
  CHECK(line(bottom(c, has_nan)) == "Conv-11 opset=11 ir=8 X=f32[1,1,3]~lit:1,1,nan W=f32[1,1,1]~const:1");
}

TEST_CASE("Displacements follow the windows", "[shrink][DeformConv]") {
  const Case c = case_of(
      "DeformConv-19 opset=19 ir=8 X=f32[2,4,5,5]~small:1 W=f32[2,4,2,2]~small:2 offset=f32[2,16,4,4]~quarter:3 "
      "mask=f32[2,8,4,4]~uniform:4 B=\"\" offset_group=2");
  const Case least = bottom(c, [](const Case& k) { return k.call().has("mask") && k.call().rank("X") == 4; });
  CHECK(line(least) ==
        "DeformConv-19 opset=19 ir=8 X=f32[1,1,1,1]~iota:1 W=f32[1,1,1,1]~const:1 offset=f32[1,2,1,1]~const:0 B=\"\" "
        "mask=f32[1,1,1,1]~const:1");
}

}  // namespace assay::generators
