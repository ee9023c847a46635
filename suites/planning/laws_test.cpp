// SPDX-License-Identifier: Apache-2.0
// How a campaign asks for laws, and what it says of them. The laws themselves are held to the oracles and to planted
// bugs in crosscheck/laws_test.cpp.
#include "suites/planning/laws.h"

#include "suites/testing/altered.h"

#include <catch2/catch.hpp>

#include <set>

namespace assay::suites {
namespace {

using oracles::Outcome;
using oracles::State;

SuiteCase planned(const std::string& line) { return read_cases(line, "laws").front(); }

const char* const exact_conv =
    "Conv-11 opset=11 ir=8 X=f32[2,2,6]~small:3 W=f32[2,1,2]~small:5 auto_pad=SAME_UPPER dilations=2 group=2 strides=2";

using Change = std::function<Outcome(Outcome)>;

// The answers to the related cases, which have one set of data, are changed.
Campaign run_with(const std::string& line, const Change& change, LawSampling laws = LawSampling::all) {
  Suite suite;
  suite.cases = {planned(line)};
  RunOptions run_options;
  run_options.presenting = VariantSampling::none;
  run_options.laws = laws;
  const auto of_related = [change](const Request& request, Outcome outcome) {
    return request.sets.size() == 1 ? change(std::move(outcome)) : outcome;
  };
  return run(suite, altered(of_related), run_options);
}

std::set<std::string> laws_in(const std::vector<Mark>& marks) {
  std::set<std::string> all;
  for (const Mark& mark : marks)
    if (mark.name == "breaks law") all.insert(mark.by);
  return all;
}

Outcome unchanged(Outcome outcome) { return outcome; }

Outcome off_by_an_ulp(Outcome outcome) {
  float& first = outcome.sets[0][0].as<float>()[0];
  first = std::nextafter(first, 1000.0f);
  return outcome;
}

TEST_CASE("a case that keeps every law has no mark, and one whose related answers are off has one per law", "[laws]") {
  CHECK(run_with(exact_conv, unchanged).marks[0].empty());
  const Campaign broken = run_with(exact_conv, off_by_an_ulp);
  CHECK(broken.verdicts[0]->state == State::pass);
  const std::set<std::string> laws = laws_in(broken.marks[0]);
  CHECK(laws == std::set<std::string>{"padding stated", "padding in data", "dilation in kernel",
                                      "stride by subsampling", "images reversed", "image alone", "images twice",
                                      "channels reversed", "groups in weights", "doubling", "additivity"});
  for (const Mark& mark : broken.marks[0]) {
    INFO(mark.by << ": " << mark.detail << " " << mark.line);
    CHECK(mark.breaches);
    const auto related = parse_case(mark.line);
    REQUIRE(bool(related));
    CHECK(related->is_legal());
  }
}

TEST_CASE("where sums round, a difference inside both enclosures breaks no law", "[laws]") {
  CHECK(run_with("Conv-11 opset=11 ir=8 X=f32[2,2,6]~normal:3 W=f32[2,2,2]~normal:5", off_by_an_ulp).marks[0].empty());
}

TEST_CASE("a law whose related request is refused says nothing; one that crashes is told", "[laws]") {
  const auto refusing = [](const Outcome&) { return Outcome::failure(Outcome::Kind::refused, "no"); };
  CHECK(run_with(exact_conv, refusing).marks[0].empty());
  const auto crashing = [](const Outcome&) { return Outcome::failure(Outcome::Kind::crashed, "gone"); };
  const Campaign campaign = run_with(exact_conv, crashing);
  CHECK(laws_in(campaign.marks[0]).contains("additivity"));
  CHECK(campaign.marks[0].size() == laws_in(campaign.marks[0]).size());
  CHECK(campaign.marks[0].front().detail == "a related case: crashed: gone");
}

TEST_CASE("another shape of the related answer breaks the law", "[laws]") {
  const auto longer = [](Outcome outcome) {
    Shape shape = outcome.sets[0][0].shape();
    ++shape.back();
    outcome.sets[0][0] = Tensor({outcome.sets[0][0].dtype(), shape});
    return outcome;
  };
  const Campaign campaign = run_with(exact_conv, longer);
  CHECK(laws_in(campaign.marks[0]).contains("stride by subsampling"));
  CHECK(campaign.marks[0].front().detail.find("instead of") != std::string::npos);
}

TEST_CASE("no law applies where clauses have several readings, data are not finite, or the case fails", "[laws]") {
  const auto silent = [](const std::string& line) {
    return related_cases(planned(line).c, case_id(line), LawSampling::all).empty();
  };
  CHECK(silent("AveragePool-10 opset=10 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 strides=3 ceil_mode=1 pads=1,1"));
  CHECK(silent("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~lit:1,nan,2 kernel_shape=2"));
  CHECK(silent("AveragePool-19 opset=19 ir=8 X=f32[0,1,4]~iota:1 kernel_shape=2"));
  CHECK(silent("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=9"));
  CHECK_FALSE(silent("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2"));
}

TEST_CASE("a sample checks one law of about an eighth of the cases, the same ones each time", "[laws]") {
  Int run_with = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string line = "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~small:" + std::to_string(i) + " kernel_shape=2";
    const auto laws = related_cases(planned(line).c, case_id(line), LawSampling::sample);
    REQUIRE(laws.size() <= 1);
    run_with += static_cast<Int>(laws.size());
  }
  CHECK(run_with > 200);
  CHECK(run_with < 300);
}

TEST_CASE("where ONNX's inference contradicts the text, that is information", "[laws]") {
  const std::string line =
      "AveragePool-10 opset=10 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 strides=3 ceil_mode=1 pads=0,2";
  CHECK(inference_against_text(planned(line).c) == "ONNX's shape inference says [1,1,3]; by the text it is [1,1,2]");
  CHECK(inference_against_text(planned(exact_conv).c).empty());
}

}  // namespace
}  // namespace assay::suites
