// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/signature.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

namespace assay::suites {
namespace {

// Averages of neighbours: 1.5 2.5 3.5, and their negation in the second data set.
const std::string pool = "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2";

std::string signature_text(const std::string& line, const Shape& shape, const std::vector<std::vector<float>>& sets) {
  const Case c = *parse_case(line);
  Answered answered;
  for (const std::vector<float>& values : sets) {
    Tensor y({DType::f32, shape});
    std::ranges::copy(values, y.as<float>().begin());
    answered.outcome.sets.push_back({std::move(y)});
  }
  answered.verdict = oracles::judge(c, answered.outcome);
  return text(signature_of(c, answered));
}

std::string refused(const std::string& because) {
  const Case c = *parse_case(pool);
  Answered answered{oracles::Outcome::failure(oracles::Outcome::Kind::refused, because), {}};
  answered.verdict = oracles::judge(c, answered.outcome);
  return signature_of(c, answered).pattern;
}

}  // namespace

TEST_CASE("A signature says where the wrong elements are and what they have in common", "[signature]") {
  const Shape shape{1, 1, 3};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(signature_text(pool, shape, {{9, 9, 9}, {9, 9, 9}}) == "AveragePool-19 fail value anywhere");
  CHECK(signature_text(pool, shape, {{1.5, 2.5, 9}, {-1.5, -2.5, 8}}) ==
        "AveragePool-19 fail value in the last window");
  CHECK(signature_text(pool, shape, {{0, 2.5, 3.5}, {0, -2.5, -3.5}}) ==
        "AveragePool-19 fail value zero in the first window");
  CHECK(signature_text(pool, shape, {{1.5, 2.5, 3.5}, {-1.5, 7, -3.5}}) ==
        "AveragePool-19 fail value in the second data set");
  CHECK(signature_text(pool, shape, {{nan, 2.5, nan}, {nan, -2.5, -3.5}}) ==
        "AveragePool-19 fail value NaN at the border");
  CHECK(signature_text(pool, shape, {{1.5, 7, 3.5}, {-1.5, 8, -3.5}}) == "AveragePool-19 fail value in the interior");
  const std::string two_maps = "AveragePool-19 opset=19 ir=8 X=f32[1,2,1]~iota:1 kernel_shape=1";
  CHECK(signature_text(two_maps, {1, 2, 1}, {{1, 7}, {-1, 8}}) == "AveragePool-19 fail value in the last map");
}

TEST_CASE("A signature says how a shape differs", "[signature]") {
  CHECK(signature_text(pool, {1, 1, 4}, {{1, 2, 3, 4}, {1, 2, 3, 4}}) == "AveragePool-19 fail shape larger");
  CHECK(signature_text(pool, {1, 1, 1}, {{1}, {1}}) == "AveragePool-19 fail shape smaller");
  CHECK(signature_text(pool, {1, 3}, {{1, 2, 3}, {1, 2, 3}}) == "AveragePool-19 fail shape of another rank");
}

TEST_CASE("A reason is the same whatever numbers are in it", "[signature]") {
  CHECK(refused("pads [1, 2, 0] exceed kernel 3") == refused("pads [0, 12] exceed kernel 14"));
  CHECK(refused("pads exceed kernel 3") != refused("strides exceed kernel 3"));
}

TEST_CASE("What was ended from outside is one failure, whatever its last words and its limit were", "[signature]") {
  const auto ended = [](const std::string& because, const std::string& detail) {
    oracles::Verdict verdict;
    verdict.state = oracles::State::error;
    verdict.because = because;
    verdict.detail = detail;
    return reason_pattern(verdict);
  };
  CHECK(ended("timed out", "no answer within 10 s") ==
        ended("timed out", "no answer within 1.28 s; its last words: slow"));
  CHECK(ended("out of memory", "more than 4096 MiB of memory resident") ==
        ended("out of memory", "more than 512 MiB of memory resident; its last words: ret = a / b"));
  CHECK(ended("crashed", "died by SIGABRT; its last words: a") !=
        ended("crashed", "died by SIGABRT; its last words: b"));
}

TEST_CASE("The predicate says what is special about a case, and nothing else", "[signature]") {
  CHECK(predicate_of(*parse_case(pool)).empty());
  const auto special = predicate_of(*parse_case(
      "Conv-22 opset=22 ir=10 X=f32[1,2,9]~iota:1 W=f32[2,1,2]~const:1 auto_pad=SAME_LOWER dilations=2 group=2"));
  CHECK(special == std::vector<std::string>{"SAME_LOWER", "dilation > 1", "group depthwise", "maps > 1"});
}

}  // namespace assay::suites
