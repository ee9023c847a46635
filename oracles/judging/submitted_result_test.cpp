// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/submitted_result.h"

#include "oracles/judging/expected.h"
#include "reference/case_view.h"
#include "reference/onnx_io.h"

#include <catch2/catch.hpp>

#include <cfenv>
#include <cmath>

namespace assay::oracles {
namespace {

const std::string conv = "Conv-11 opset=11 ir=8 X=f32[1,1,3]~lit:1,2,4 W=f32[1,1,2]~lit:1,10@init B=f32[1]~lit:0.5";

// The model of a case, its first data set, and an output.
struct Told {
  std::string model;
  SubmittedResult claim;

  Told(const std::string& line, Tensor output) : model(model_of(case_of(line))) {
    claim.model = model;
    for (const std::string& bytes : graph_inputs(case_of(line), 0)) claim.inputs.push_back({"", *decode_tensor(bytes)});
    claim.outputs.push_back({"", std::move(output)});
  }
};

Tensor tensor(Shape shape, const std::vector<float>& values) {
  Tensor out({DType::f32, std::move(shape)});
  std::ranges::copy(values, out.as<float>().begin());
  return out;
}

ExaminedResult examined(const SubmittedResult& claim, const Judgement& judgement = {}) {
  const Result<ExaminedResult> result = examine(claim, judgement);
  if (!result) throw InputError(result.error());
  return *result;
}

std::string complaint(const SubmittedResult& claim) {
  const Result<ExaminedResult> result = examine(claim);
  return result ? "" : result.error();
}

Judgement at(Level level) {
  Judgement judgement;
  judgement.level = level;
  return judgement;
}

}  // namespace

TEST_CASE("claim: a right answer passes, an initializer and an operand that is given come together", "[claim]") {
  const ExaminedResult out = examined(Told(conv, tensor({1, 1, 2}, {21.5, 42.5})).claim);
  CHECK(text(out.version) == "Conv-11");
  CHECK(out.output == "Y");
  CHECK(out.verdict.state == State::pass);
  CHECK(out.verdict.level == Level::L0);
  CHECK(out.offenders == 0);
}

TEST_CASE("claim: of a wrong answer the worst element is told, not the first", "[claim]") {
  const ExaminedResult out = examined(Told(conv, tensor({1, 1, 2}, {22, 99})).claim);
  CHECK(out.verdict.state == State::fail);
  CHECK(out.offenders == 2);
  REQUIRE(out.worst);
  CHECK(out.worst->index == Shape{0, 0, 1});
  CHECK(out.worst->want == "0x1.54p+5");
  CHECK(out.worst->lower == out.worst->upper);  // exact data leave one value
  CHECK(out.worst_ulp > 1e6);
  const ExaminedResult nan = examined(Told(conv, tensor({1, 1, 2}, {NAN, 1e9f})).claim);
  CHECK(nan.worst->index == Shape{0, 0, 0});
  CHECK(std::isinf(nan.worst_ulp));
}

TEST_CASE("claim: a wrong shape fails without an element", "[claim]") {
  const ExaminedResult out = examined(Told(conv, tensor({1, 1, 3}, {21.5, 42.5, 0})).claim);
  CHECK(out.verdict.because == "shape");
  CHECK_FALSE(out.worst);
}

TEST_CASE("claim: inputs come by name in any order", "[claim]") {
  Told told(conv, tensor({1, 1, 2}, {21.5, 42.5}));
  told.claim.inputs[0].name = "X";
  told.claim.inputs[1].name = "B";
  std::swap(told.claim.inputs[0], told.claim.inputs[1]);
  told.claim.outputs[0].name = "Y";
  CHECK(examined(told.claim).verdict.state == State::pass);
  told.claim.inputs[0].name = "W";  // an initializer
  CHECK(complaint(told.claim) == "the graph has no such name among its inputs: X, B");
  told.claim.inputs[0].name = "X";
  CHECK(complaint(told.claim) == "one of the inputs is given twice");
  told.claim.inputs.pop_back();
  CHECK(complaint(told.claim) == "1 inputs given, the graph has 2: X, B");
}

TEST_CASE("claim: what is not covered and what does not fit is one line", "[claim]") {
  Told told(conv, tensor({1, 1, 2}, {21.5, 42.5}));
  told.claim.inputs[0].tensor = tensor({1, 1, 4}, {1, 2, 3, 4});
  CHECK(complaint(told.claim) == "the input for X is f32[1,1,4], the model declares f32[1,1,3]");
  told.claim.model = "no model";
  CHECK(complaint(told.claim) == "these 8 bytes are no ModelProto");
  const Case one = case_of(conv);
  const std::string two = packed_model_of({&one, &one});
  told.claim.model = two;
  CHECK_THAT(complaint(told.claim), Catch::StartsWith("this model is not covered: a model of 2 nodes, expected one; "
                                                      "covered is a model of one node of Conv-1, Conv-11, Conv-22, "));
  told.claim.model = "";
  CHECK_THAT(complaint(told.claim), Catch::StartsWith("this model is not covered: a model of 0 nodes"));
}

TEST_CASE("claim: a model that breaks constraints names them, in words", "[claim]") {
  const Told told("Conv-11 opset=11 ir=8 X=f32[1,3,4]~iota:1 W=f32[2,1,2]~sign:1 group=3",
                  tensor({1, 2, 3}, {0, 0, 0, 0, 0, 0}));
  const ExaminedResult out = examined(told.claim);
  CHECK(out.verdict.state == State::accepted);
  REQUIRE(out.violated.size() == 1);
  CHECK_THAT(out.violated[0], Catch::Contains("dim(W,0) mod group = 0"));
}

TEST_CASE("claim: another reading is told with the ruling it departs from, and what that would want", "[claim]") {
  const std::string ceil =
      "AveragePool-11 opset=11 ir=8 X=f32[1,1,5]~iota:1 auto_pad=VALID kernel_shape=2 strides=2 ceil_mode=1";
  const Told told(ceil, tensor({1, 1, 2}, {1.5, 3.5}));
  const ExaminedResult out = examined(told.claim);
  CHECK(out.verdict.state == State::contested);
  REQUIRE_FALSE(out.rulings.empty());
  const auto named = std::ranges::find(out.rulings, std::string("A7"), &Ruled::id);
  REQUIRE(named != out.rulings.end());
  CHECK(named->reading == "text-floor");
  CHECK_FALSE(named->title.empty());
}

TEST_CASE("claim: a level and a declared accumulator are what is asked for", "[claim]") {
  const std::string sum = "AveragePool-7 opset=7 ir=8 X=f32[1,1,3]~lit:1,1,1.1 kernel_shape=3";
  const Tensor right = expected(case_of(sum), 0)->front();
  Tensor near = right;
  near.as<float>()[0] = std::nextafter(right.as<float>()[0], 2.0f);
  CHECK(examined(Told(sum, near).claim).verdict.state == State::pass);
  CHECK(examined(Told(sum, near).claim, at(Level::L0)).verdict.state == State::below);
  CHECK(examined(Told(sum, right).claim, at(Level::L0)).verdict.state == State::pass);
  Tensor coarse = right;
  coarse.as<float>()[0] = 1.06f;  // beyond what bf16 inputs explain
  Judgement half = at(Level::widest);
  CHECK(examined(Told(sum, coarse).claim, half).verdict.state != State::pass);
  half.arithmetic.accumulator = DType::bf16;
  CHECK(examined(Told(sum, coarse).claim, half).verdict.state == State::pass);
}

TEST_CASE("claim: the caller's rounding mode changes nothing and stays", "[claim]") {
  const Told told(conv, tensor({1, 1, 2}, {21.5, 42.5}));
  std::fesetround(FE_UPWARD);
  const ExaminedResult out = examined(told.claim);
  const int after = std::fegetround();
  std::fesetround(FE_TONEAREST);
  CHECK(after == FE_UPWARD);
  CHECK(out.verdict.state == State::pass);
}

}  // namespace assay::oracles
