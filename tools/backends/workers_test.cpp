// SPDX-License-Identifier: Apache-2.0
// The workers of this folder, each on a case small enough to verify on paper.
#include "reference/case_view.h"
#include "reference/onnx_io.h"
#include "suites/workers/places.h"
#include "suites/workers/worker.h"

#include <catch2/catch.hpp>

namespace assay::suites {
namespace {

using Catch::Matchers::Contains;
using Kind = oracles::Outcome::Kind;

Request submit(const char* text) {
  const Case c = case_of(text);
  Request request;
  request.id = case_id(line(c));
  request.model = model_of(c);
  for (int set = 0; set < data_sets; ++set) request.sets.push_back(graph_inputs(c, set));
  return request;
}

// X = 1 2 3 4 and W = 1 1 in every set: Y = 3 5 7.
const char* const sums = "Conv-11 opset=11 ir=8 X=f32[1,1,4]~lit:1,2,3,4@init W=f32[1,1,2]~lit:1,1@init";

Tensor three_five_seven() {
  Tensor y({DType::f32, {1, 1, 3}});
  std::ranges::copy(std::vector{3.f, 5.f, 7.f}, y.as<float>().begin());
  return y;
}

void check_sums(const std::string& name) {
  INFO(name);
  const auto backend = open_backend(name);
  const oracles::Outcome outcome = backend->run(submit(sums));
  INFO(outcome.because);
  REQUIRE(outcome.kind == Kind::outputs);
  CHECK(outcome.sets == std::vector<std::vector<Tensor>>(2, {three_five_seven()}));
}

}  // namespace

TEST_CASE("workers: each serves a convolution, two data sets in one session", "[workers]") {
  check_sums(GENERATE(as<std::string>(), "reference", "variant:reversed", "onnxruntime", "python:onnx.reference",
                      "python:onnxruntime.backend"));
}

TEST_CASE("workers: bfloat16 and float16 travel as they are", "[workers]") {
  const auto backend = open_backend(GENERATE(as<std::string>(), "reference", "python:onnx.reference"));
  const auto type = GENERATE(as<std::string>(), "f16", "bf16");
  const auto outcome = backend->run(
      submit(("Conv-22 opset=22 ir=10 X=" + type + "[1,1,4]~lit:1,2,3,4 W=" + type + "[1,1,2]~lit:1,1").c_str()));
  INFO(outcome.because);
  REQUIRE(outcome.kind == Kind::outputs);
  CHECK(name(outcome.sets.at(0).at(0).dtype()) == type);
  CHECK(outcome.sets.at(0).at(0).shape() == Shape{1, 1, 3});
}

TEST_CASE("workers: onnxruntime says what it has no kernel for", "[workers]") {
  const auto backend = open_backend("onnxruntime");
  CHECK(backend->describe().backend == "onnxruntime");
  CHECK(backend->describe().newest_opset > 20);
  const auto outcome = backend->run(submit("Conv-22 opset=22 ir=10 X=bf16[1,1,4]~small:1 W=bf16[1,1,2]~small:2"));
  CHECK(outcome.kind == Kind::unsupported);
  CHECK_THAT(outcome.because, Contains("Could not find an implementation for Conv(22)"));
}

TEST_CASE("workers: the reference refuses a near miss by the constraint it breaks", "[workers]") {
  const auto backend = open_backend("reference");
  // Two channels in X, one in W, one group.
  const auto outcome = backend->run(submit("Conv-11 opset=11 ir=8 X=f32[1,2,4]~small:1 W=f32[1,1,2]~small:2"));
  CHECK(outcome.kind == Kind::refused);
  CHECK(outcome.because == "breaks Conv.C3");
}

TEST_CASE("workers: a module that is not there, or no backend, is an input error that says so", "[workers]") {
  CHECK_THROWS_WITH(open_backend("python:no_such_module")->describe(),
                    Contains("cannot import no_such_module") && Contains("set ASSAY_PYTHON"));
  CHECK_THROWS_WITH(open_backend("python:onnx.helper")->describe(), Contains("onnx.helper has no prepare()"));
  CHECK_THROWS_WITH(open_backend("mutant:no-such-bug")->describe(), Contains("there is no no-such-bug"));
}

TEST_CASE("workers: the example of the README is a worker", "[workers]") {
  const auto backend = open_backend("exec:" + python() + " tools/backends/example.py");
  CHECK(backend->describe().backend == "example");
  const auto outcome = backend->run(submit(sums));
  INFO(outcome.because);
  REQUIRE(outcome.kind == Kind::outputs);
  CHECK(outcome.sets.at(1).at(0) == three_five_seven());
}

}  // namespace assay::suites
