// SPDX-License-Identifier: Apache-2.0
// The counter-examples are those of graphs.md 1.2 and 1.3.
#include "oracles/graphs/exactness.h"

#include "oracles/graphs/graph_judge.h"

#include <catch2/catch.hpp>

namespace assay::oracles {
namespace {

using Catch::Matchers::Contains;

std::string obstacle(const std::string& steps) {
  const Result<GraphCase> graph = parse_graph_case("graph opset=13 ir=8 " + steps);
  INFO((graph ? "" : graph.error()));
  REQUIRE(graph);
  return exactness_of(*graph, leaves_of(*graph, 0), 1).obstacle;
}

TEST_CASE("Sums of products of small integers have one answer", "[graphs]") {
  CHECK(obstacle("a=f32[1,2,4]~small:1 b=f32[3,2,1]~sign:2@init c=Conv(a,b) d=Relu(c) out=d") == "");
  CHECK(obstacle("a=f32[4,64]~small:1 b=f32[64,3]~small:2@init c=f32[3]~small:3@init d=MatMul(a,b) e=Add(d,c) out=e") ==
        "");
}

TEST_CASE("What only says what a node does needs no bits", "[graphs]") {
  const std::string ends = "a=f32[4]~small:1 b=i64[1]~values:1@init c=i64[1]~values:9223372036854775807@init ";
  CHECK(obstacle(ends + "d=Slice(a,b,c) out=d") == "");
  CHECK_THAT(obstacle(ends + "d=Slice(a,b,c) e=Max(b,c) out=d,e"), Contains("63 bits of 53"));
}

TEST_CASE("What rounds has more than one", "[graphs]") {
  CHECK_THAT(obstacle("a=f32[4]~small:1 b=Exp(a) out=b"), Contains("Exp may round"));
  CHECK_THAT(obstacle("a=f32[4]~normal:1 b=Mul(a,a) out=b"), Contains("bits of 24"));
  CHECK_THAT(obstacle("a=f16[1,512]~small:1 b=f16[512,1]~small:2@init c=MatMul(a,b) out=c"), Contains("bits of 11"));
}

TEST_CASE("A bound cuts a number, and not what may be moved across it", "[graphs]") {
  // Clip(15, 0, 1/4) * 7: the factor may go first, and 105 * 2^2 needs nine bits of bfloat16's eight.
  CHECK_THAT(
      obstacle(
          "a=bf16[1]~const:15 b=bf16[]~values:0@init c=bf16[]~values:0.25@init d=bf16[1]~const:7@init e=Clip(a,b,c) "
          "f=Mul(e,d) out=f"),
      Contains("f may need 9 bits of 8"));
  CHECK(obstacle(
            "a=bf16[1]~const:15 b=bf16[]~values:0@init c=bf16[]~values:0.25@init d=bf16[1]~const:3@init e=Clip(a,b,c) "
            "f=Mul(e,d) out=f") == "");
}

TEST_CASE("A product that only a rewriting leaves in range does not count", "[graphs]") {
  // x * 2^-4 * 2^-4 * 2^9: all values are in range, x * 2^9 is not.
  CHECK_THAT(obstacle("a=f16[1]~const:200 b=f16[]~values:0.0625@init c=f16[]~values:512@init d=Mul(a,b) e=Mul(d,b) "
                      "f=Mul(e,c) out=f"),
             Contains("leave the range"));
}

TEST_CASE("The root of a variance has to be exact", "[graphs]") {
  const auto normalized = [](const std::string& variance) {
    return "a=f32[1,2,4]~small:1 b=f32[2]~hold:1,-2@init c=f32[2]~small:2@init d=f32[2]~small:3@init e=f32[2]~hold:" +
           variance + "@init f=BatchNormalization(a,b,c,d,e) out=f";
  };
  CHECK(obstacle(normalized("0.99999")) == "");
  CHECK_THAT(obstacle(normalized("2")), Contains("BatchNormalization may round"));
}

Outcome right_outcome(const GraphCase& graph) {
  const GraphData values = evaluate(graph, leaves_of(graph, 0), 1);
  Outcome outcome;
  outcome.sets.emplace_back();
  for (const std::string& output : graph.outputs) outcome.sets.front().push_back(values.find(output)->second);
  return outcome;
}

TEST_CASE("One wrong element is a finding, the sign of a zero is none", "[graphs]") {
  const GraphCase graph = *parse_graph_case(
      "graph opset=13 ir=8 a=f32[1,2,4]~iota:-3 b=f32[3,2,1]~hold:0,1,-1,0,1,1@init c=f32[3]~small:2@init "
      "d=Conv(a,b,c) "
      "e=Relu(d) out=e");
  const GraphJudge judge(graph, 1);
  CHECK(judge.obstacle() == "");
  CHECK(judge.confirm() == "");
  Outcome outcome = right_outcome(graph);
  CHECK(judge.judge(outcome).state == State::pass);
  const auto elements = outcome.sets.front().front().as<float>();
  for (float& each : elements)
    if (each == 0) each = -0.0F;
  CHECK(judge.judge(outcome).state == State::pass);
  elements[5] += 1;
  const GraphVerdict verdict = judge.judge(outcome);
  CHECK(verdict.state == State::fail);
  CHECK_THAT(verdict.detail, Contains("e[0,1,1] is") && Contains("1 of 12 elements differ"));
  elements[5] = elements[5] - 1 + 0.001F;
  CHECK(judge.judge(outcome).state == State::below);
}

TEST_CASE("What rounds at the end is held to a coarse bound", "[graphs]") {
  const std::string head = "graph opset=13 ir=8 a=f32[1,2,4]~small:1 b=f32[3,2,1]~sign:2@init c=Conv(a,b) ";
  const GraphCase graph = *parse_graph_case(head + "d=Sigmoid(c) e=Mul(c,d) out=e");
  const GraphJudge judge(graph, 1);
  CHECK(judge.obstacle() == "");
  CHECK(judge.confirm() == "");
  Outcome outcome = right_outcome(graph);
  outcome.sets.front().front().as<float>()[3] *= 1 + 0x1p-14F;
  CHECK(judge.judge(outcome).state == State::pass);
  outcome.sets.front().front().as<float>()[3] += 1;
  CHECK(judge.judge(outcome).state == State::fail);
  CHECK_THAT(GraphJudge(*parse_graph_case(head + "d=Sigmoid(c) e=Sub(d,d) out=e"), 1).obstacle(),
             Contains("Sub of what is rounded"));
}

TEST_CASE("Behind an estimate of a root what rounds has its error as well", "[graphs]") {
  const GraphCase graph = *parse_graph_case(
      "graph opset=13 ir=8 a=f32[1,2,4]~small:1 b=f32[2]~hold:1,-2@init c=f32[2]~small:2@init d=f32[2]~small:3@init "
      "e=f32[2]~hold:0.99999@init f=BatchNormalization(a,b,c,d,e) g=Sigmoid(f) out=f,g");
  const GraphJudge judge(graph, 1);
  CHECK(judge.obstacle() == "");
  Outcome outcome = right_outcome(graph);
  for (float& each : outcome.sets.front()[0].as<float>()) each *= 1 + 0x1p-12F;
  for (float& each : outcome.sets.front()[1].as<float>()) each = std::min(each + 0.02F, 1.0F);
  CHECK(judge.judge(outcome).state == State::pass);
  GraphCase alone = graph;  // f is no output, and counts as before
  alone.outputs = {"g"};
  Outcome of_g = outcome;
  of_g.sets.front().erase(of_g.sets.front().begin());
  CHECK(GraphJudge(alone, 1).judge(of_g).state == State::pass);
  outcome.sets.front()[1].as<float>()[0] = 0.5F;
  outcome.sets.front()[1].as<float>()[1] = -0.25F;
  CHECK(judge.judge(outcome).state == State::fail);
}

}  // namespace
}  // namespace assay::oracles
