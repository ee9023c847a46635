// SPDX-License-Identifier: Apache-2.0
#include "reference/graph_case.h"

#include "reference/onnx_io.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace assay {
namespace {

using Catch::Matchers::Contains;

constexpr const char* residual =
    "graph opset=13 ir=8 a=f32[1,2,4]~iota:1 b=f32[2,2,1]~lit:1,0,0,-1@init c=i64[2]~values:2,4@init d=Conv(a,b) "
    "e=Relu(d) f=Add(a,e) g=Reshape(f,c) h,i=Split(g){axis=0} out=e,h,i";

std::string error_of(const std::string& text) {
  const Result<GraphCase> graph = parse_graph_case(text);
  return graph ? "" : graph.error();
}

TEST_CASE("A graph is its line", "[graph]") {
  const Result<GraphCase> graph = parse_graph_case(residual);
  REQUIRE(graph);
  CHECK(line(*graph) == residual);
  CHECK(graph->steps.size() == 5);
  CHECK(graph->steps[4].c.version == OpVersion{"", "Split", 13});
}

TEST_CASE("A graph is worked out node by node", "[graph]") {
  const GraphCase graph = *parse_graph_case(residual);
  GraphData values;
  const GraphData outputs = evaluate(graph, leaves_of(graph, 0), 1, [&](const GraphStep& step, const GraphData& all) {
    CHECK(all.size() <= 4);
    for (const std::string& each : step.results) values[each] = all.at(each);
  });
  CHECK(outputs.size() == graph.outputs.size());
  const auto floats = [&](const char* name) {
    const auto all = values.find(name)->second.as<float>();
    return std::vector<float>(all.begin(), all.end());
  };
  // The first channel as it is, the second negated and cut off; then a is added.
  CHECK(floats("e") == std::vector<float>{1, 2, 3, 4, 0, 0, 0, 0});
  CHECK(floats("h") == std::vector<float>{2, 4, 6, 8});
  CHECK(floats("i") == std::vector<float>{5, 6, 7, 8});
}

TEST_CASE("The model of a graph is read back as it is", "[graph]") {
  const GraphCase graph = *parse_graph_case(residual);
  const GraphData leaves = leaves_of(graph, 0);
  const Result<GraphModel> model = read_graph(model_of(graph, leaves), {}, {});
  REQUIRE(model);
  CHECK(model->outputs == graph.outputs);
  CHECK(model->inputs.size() == 1);
  CHECK(model->initializers.size() == 2);
  CHECK(model->nodes.size() == 5);
  CHECK(graph_inputs(graph, leaves).size() == 1);
}

TEST_CASE("A graph may stand in a wrapper that computes the same", "[graph]") {
  for (const char* const wrapper : {"if", "loop", "function"}) {
    const std::string text = std::string(residual) + " inside=" + wrapper;
    INFO(text);
    const Result<GraphCase> graph = parse_graph_case(text);
    REQUIRE(graph);
    CHECK(line(*graph) == text);
    CHECK(line(tidied(*graph)).ends_with(std::string(" inside=") + wrapper));
    const Result<GraphModel> model = read_graph(model_of(*graph, leaves_of(*graph, 0)), {}, {});
    REQUIRE(model);
    CHECK(model->inputs.size() == 1);
    CHECK(model->outputs.size() == graph->outputs.size());
    CHECK(model->outputs.front() == graph->outputs.front() + "_out");
    // The nodes stand in the body of another, but for a function, which is inlined.
    const bool is_inlined = std::string_view(wrapper) == "function";
    CHECK(std::ranges::count(model->nodes, "", &GraphNode::body) == (is_inlined ? 5 : 1));
    CHECK(model->nodes.size() >= (is_inlined ? 5U : 6U));
  }
  CHECK_THAT(error_of("graph opset=9 ir=3 a=f32[2]~small:1 b=Relu(a) out=b inside=if"), Contains("takes ir=4 or more"));
  CHECK_THAT(error_of("graph opset=13 ir=8 a=f32[2]~small:1 b=Relu(a) out=b inside=while"), Contains("are known"));
}

TEST_CASE("What is no graph says so in one line", "[graph]") {
  CHECK_THAT(error_of("graph opset=13 ir=8 a=f32[2]~small:1 b=Rlu(a) out=b"), Contains("no operator Rlu"));
  CHECK_THAT(error_of("graph opset=13 ir=8 a=f32[2]~small:1 b=Relu(c) out=b"), Contains("'c' is not there"));
  CHECK_THAT(error_of("graph opset=13 ir=8 a=f32[2]~small:1 b=Relu(a) out=a"), Contains("no result"));
  CHECK_THAT(error_of("graph opset=13 ir=8 a=f32[2]~small:1 z=f32[2]~small:1 b=Relu(a) out=b"),
             Contains("no step takes z"));
  CHECK_THAT(error_of("graph opset=13 ir=8 a=f32[2]~small:1 a=Relu(a) out=a"), Contains("names what is there"));
  CHECK_THAT(error_of("graph opset=13 ir=8 a=f32[2]~small:1 b=f32[3]~small:2 c=Add(a,b) out=c"),
             Contains("breaks Add."));
  CHECK_THAT(error_of("graph opset=13 ir=8 a=f32[2]~small:1 b=Relu(a){alpha=1} out=b"), Contains("alpha"));
  CHECK_THAT(error_of("graph ir=8 opset=13 a=f32[2]~small:1 b=Relu(a) out=b"), Contains("as it would be"));
  CHECK_THAT(error_of("graph opset=13 ir=8 a=f32[2]~small:1"), Contains("no step"));
  CHECK_THAT(error_of("graph opset=13 ir=8 b=Relu( out=b"), Contains("is not OPERATOR"));
}

TEST_CASE("What a node reads may be worked out from extents and from what goes in", "[graph]") {
  constexpr const char* computed =
      "graph opset=13 ir=8 a=f32[2,3]~small:1 b=i64[1]~values:-1@init c=i64[1]~values:0@init d=Shape(a) "
      "e=Gather(d,c){axis=0} "
      "f=Concat(b,e){axis=0} g=Reshape(a,f) out=g";
  const Result<GraphCase> graph = parse_graph_case(computed);
  REQUIRE(graph);
  CHECK(evaluate(*graph, leaves_of(*graph, 0), 1).find("g")->second.shape() == Shape{3, 2});
  CHECK_THAT(error_of("graph opset=13 ir=8 a=f32[2]~small:1 b=Cast(a){to=7} c=Reshape(a,b) out=c"),
             Contains("has to be worked out from what goes in"));
}

}  // namespace
}  // namespace assay
