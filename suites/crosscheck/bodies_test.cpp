// SPDX-License-Identifier: Apache-2.0
// Bodies of Loop, Scan and If, run by our own kernels: numbers worked out by hand.
#include "reference/onnx_io.h"
#include "reference/recipe.h"
#include "suites/workers/worker.h"
#include "suites/workers/worker_names.h"

#include <catch2/catch.hpp>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

namespace assay::suites {
namespace {

using oracles::Outcome;

// Runs a graph, in ONNX's own text, on X; an answer is the numbers of its outputs, one behind the other.
Outcome run_graph(const std::string& graph, TensorType type, const char* numbers) {
  onnx::ModelProto model;
  const std::string text = "<ir_version: 8, opset_import: [\"\" : 17]>\n" + graph;
  const auto status = onnx::OnnxParser(text.c_str()).Parse(model);
  INFO(status.ErrorMessage());
  REQUIRE(status.IsOK());
  Request request;
  request.model = model.SerializeAsString();
  request.sets = {{encode_tensor(fill({"lit", numbers}, type), "X")}};
  request.threads = 1;
  return open_backend("reference:inprocess")->run(request);
}

std::vector<std::vector<float>> numbers_of(const Outcome& outcome) {
  INFO(outcome.because);
  REQUIRE(outcome.kind == Outcome::Kind::outputs);
  std::vector<std::vector<float>> all;
  for (const Tensor& each : outcome.sets.front()) all.emplace_back(each.as<float>().begin(), each.as<float>().end());
  return all;
}

using Numbers = std::vector<std::vector<float>>;
const TensorType two{DType::f32, {2}};

}  // namespace

TEST_CASE("A Loop ends by its condition, and collects", "[bodies]") {
  const auto loop = [](const std::string& turns, const std::string& values) {
    return "g (float[2] X) => (float[2] last, float[N, 2] rows) <" + values +
           " float[2] step = {1, 10}, int64 limit = {2}> {"
           "last, rows = Loop (" +
           turns +
           ", X) <body = b (int64 i, bool go, float[2] v) => (bool on, float[2] w, float[2] seen) {"
           "w = Add (v, step)  seen = Neg (w)  on = Less (i, limit) }> }";
  };
  const Numbers three{{4, 32}, {-2, -12, -3, -22, -4, -32}};
  CHECK(numbers_of(run_graph(loop(",", ""), two, "1,2")) == three);
  CHECK(numbers_of(run_graph(loop("most, yes", "int64 most = {9}, bool yes = {1},"), two, "1,2")) == three);
  CHECK(numbers_of(run_graph(loop("most,", "int64 most = {1},"), two, "1,2")) == Numbers{{2, 12}, {-2, -12}});
  // Refuses it: of a body that never runs the types of what is collected are not known.
  CHECK(run_graph(loop("most,", "int64 most = {0},"), two, "1,2").kind == Outcome::Kind::refused);
}

TEST_CASE("A Loop without an end is refused", "[bodies]") {
  const Outcome outcome = run_graph(
      "g (float[2] X) => (float[2] last) { last = Loop (, , X) <body = b (int64 i, bool go, float[2] v) => (bool on, "
      "float[2] w) {"
      "w = Neg (v)  on = Identity (go) }> }",
      two, "1,2");
  CHECK(outcome.kind == Outcome::Kind::refused);
  CHECK(outcome.because.find("too many nodes") != std::string::npos);
}

TEST_CASE("A branch within a Loop is taken by turn", "[bodies]") {
  const Outcome outcome = run_graph(
      "g (float[2] X) => (float[2] last) <int64 turns = {3}, int64 one = {1}> {"
      "last = Loop (turns, , X) <body = b (int64 i, bool go, float[2] v) => (bool on, float[2] w) {"
      "on = Identity (go)  is = Equal (i, one)"
      "w = If (is) <then_branch = t () => (float[2] o) { o = Neg (v) }, else_branch = e () => (float[2] o) { o = Add "
      "(v, v) }> }> }",
      two, "1,-3");
  CHECK(numbers_of(outcome) == Numbers{{-4, 12}});
}

TEST_CASE("A Scan cuts and puts together along any axis, from either end", "[bodies]") {
  const auto scan = [](const std::string& attributes) {
    return "g (float[2, 3] X) => (float[2] last, float[A, B] sums) <float[2] zeros = {0, 0}> {"
           "last, sums = Scan (zeros, X) <num_scan_inputs = 1, scan_input_axes = [-1], " +
           attributes +
           "body = b (float[2] before, float[2] part) => (float[2] after, float[2] sum) {"
           "after = Add (before, part)  sum = Add (before, part) }> }";
  };
  const TensorType type{DType::f32, {2, 3}};
  const char* const numbers = "1,2,3,4,5,6";
  CHECK(numbers_of(run_graph(scan(""), type, numbers)) == Numbers{{6, 15}, {1, 4, 3, 9, 6, 15}});
  CHECK(numbers_of(run_graph(scan("scan_output_axes = [1], "), type, numbers)) ==
        Numbers{{6, 15}, {1, 3, 6, 4, 9, 15}});
  CHECK(
      numbers_of(run_graph(scan("scan_input_directions = [1], scan_output_axes = [-1], scan_output_directions = [1], "),
                           type, numbers)) == Numbers{{6, 15}, {6, 5, 3, 15, 11, 6}});
}

}  // namespace assay::suites
