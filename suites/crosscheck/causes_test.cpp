// SPDX-License-Identifier: Apache-2.0
// A backend with several bugs at once: its failures are shrunk and read as a sentence per bug.
#include "suites/triage/causes.h"

#include "generators/generators.h"
#include "generators/shrink.h"
#include "suites/mutation/kernel_trial.h"
#include "suites/mutation/mutants.h"
#include "suites/mutation/variants.h"
#include "suites/triage/triage.h"
#include "suites/triage/wrong_models.h"
#include "suites/workers/worker.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <iostream>
#include <set>

namespace assay::mutation {
namespace {

using oracles::State;
using suites::Answered;
using suites::Cause;
using suites::Finding;

// Which bug answers a case; "" is none.
using Backend = std::string (*)(const Call&);

Answered answered(const Case& c, Backend backend) {
  KernelTrial exam(c);
  const std::string bug = backend(c.call());
  oracles::Outcome outcome = exam.answer(bug.empty() ? *variant("sequential", c.version) : *mutant(bug, c.version));
  oracles::Verdict verdict = exam.mark(outcome);
  return {std::move(outcome), std::move(verdict)};
}

// Of the generated cases of an operator; every second failure is shrunk.
std::vector<Finding> findings_of(const std::string& op, std::size_t cases, Backend backend) {
  std::vector<Finding> findings;
  for (const auto& [subject, index] : sampled_versions(op, cases)) {
    const Case c = generators::legal(*subject.definition, subject.type, 21, index);
    Answered first = answered(c, backend);
    if (first.verdict.state != State::fail) continue;
    const suites::RunCase request = [backend](const Case& other) { return answered(other, backend); };
    const bool shrinks = findings.size() % 2 == 0;
    findings.push_back(suites::finding_of(c, "test", std::move(first), suites::wrong_models(), {},
                                          shrinks ? request : suites::RunCase()));
  }
  return findings;
}

bool names(const Cause& cause, const std::string& id) {
  return std::ranges::find(cause.diagnosis.models, id) != cause.diagnosis.models.end();
}

Int counted(const std::vector<Cause>& causes, const std::string& id) {
  Int count = 0;
  for (const Cause& cause : causes) count += names(cause, id) ? cause.count : 0;
  return count;
}

std::string pooling(const Call& call) {
  const auto is_one = [&](const char* name) { return call.definition().attribute(name) && call.integer(name) == 1; };
  if (call.text("auto_pad").starts_with("SAME")) return "pool-pads-same-undilated";
  if (is_one("ceil_mode")) return "pool-divides-tail-by-kernel";
  return is_one("count_include_pad") ? "pool-never-counts-padding" : "";
}

std::string convolving(const Call& call) {
  if (call.integer("group") > 1) return "conv-reads-first-group";
  if (call.text("auto_pad") == "SAME_LOWER") return "conv-takes-lower-for-upper";
  return call.has("B") ? "conv-adds-bias-twice" : "conv-flips-kernel";
}

// Every finding is of one cause, each bug is named by some, and together they are nearly all.
void check_told(const std::vector<Finding>& findings, const std::vector<std::string>& bugs) {
  const std::vector<Cause> causes = suites::causes_of(findings, suites::wrong_models());
  std::cout << findings.size() << " failures, " << causes.size() << " causes\n";
  Int total = 0, explained = 0;
  for (const Cause& cause : causes) {
    std::cout << "  " << cause.sentence << "\n    " << findings[cause.smallest].line << "\n";
    total += cause.count;
  }
  for (const std::string& id : bugs) {
    INFO(id);
    CHECK(counted(causes, id) > 0);
    explained += counted(causes, id);
  }
  CHECK(total == static_cast<Int>(findings.size()));
  CHECK(10 * explained >= 9 * total);
}

}  // namespace

TEST_CASE("The failures of a pool with three bugs read as three sentences", "[causes][AveragePool]") {
  const std::vector<Finding> findings = findings_of("AveragePool", 600, pooling);
  check_told(findings, {"pool-pads-same-undilated", "pool-divides-tail-by-kernel", "pool-never-counts-padding"});
}

TEST_CASE("One bug does not slide into another while it shrinks", "[causes][Conv]") {
  std::size_t shrunk = 0, slid = 0;
  for (const Finding& finding : findings_of("Conv", 300, convolving)) {
    if (!finding.is_shrunk) continue;
    const Case found = *parse_case(finding.found);
    const std::string bug = convolving(found.call());
    ++shrunk;
    slid += convolving(finding.c.call()) != bug;
    INFO(bug << " on " << finding.found << "\n" << finding.line);
    CHECK(signature_of(found, answered(found, convolving)) == finding.signature);
    if (finding.diagnosis.is_confirmed)
      CHECK(std::ranges::find(finding.diagnosis.models, bug) != finding.diagnosis.models.end());
  }
  // Where two bugs give the same bits nothing can tell them apart.
  CHECK(shrunk > 50);
  CHECK(20 * slid <= shrunk);
}

TEST_CASE("A cause keeps few examples, the smallest first, and no line twice", "[causes]") {
  const std::vector<Finding> findings = findings_of("Conv", 150, convolving);
  for (const Cause& cause : suites::causes_of(findings, suites::wrong_models(), 5)) {
    CHECK(cause.examples.size() <= 5);
    REQUIRE_FALSE(cause.examples.empty());
    CHECK(cause.examples.front() == cause.smallest);
    std::set<std::string> lines;
    for (const std::size_t i : cause.examples) CHECK(lines.insert(findings[i].line).second);
  }
}

TEST_CASE("A type that a backend lacks is one cause, whatever the operator", "[causes]") {
  std::vector<Finding> findings;
  const auto add = [&](const char* text, DType type) {
    const Case c = *parse_case(text);
    KernelTrial trial(c);
    oracles::Outcome outcome = trial.answer(*variant("sequential", c.version));
    for (auto& set : outcome.sets) set[0] = Tensor({type, set[0].shape()});
    oracles::Verdict verdict = trial.mark(outcome);
    REQUIRE((verdict.state == State::fail && verdict.because == "type"));
    findings.push_back(suites::finding_of(c, "test", {std::move(outcome), std::move(verdict)}, suites::wrong_models()));
  };
  for (const char* text : {"Shape-13 opset=13 ir=8 data=f32[2]~iota:1", "Shape-15 opset=15 ir=8 data=f32[2]~iota:1",
                           "Size-13 opset=13 ir=8 data=f32[2]~iota:1", "NonZero-13 opset=13 ir=8 X=f32[2]~values:1,2",
                           "ArgMax-13 opset=13 ir=8 data=f32[2]~iota:1", "ArgMin-13 opset=13 ir=8 data=f32[2]~iota:1"})
    add(text, DType::i32);
  add("Size-13 opset=13 ir=8 data=f32[2]~iota:1", DType::f32);
  const std::vector<Cause> causes = suites::causes_of(findings, suites::wrong_models());
  REQUIRE(causes.size() == 2);
  CHECK(causes[0].sentence == "ArgMax, ArgMin, NonZero and 2 more operators: 6 fail (type, type i32 instead of i64)");
  CHECK(causes[1].sentence == "Size-13: 1 fail (type, type f32 instead of i64)");
}

TEST_CASE("What passes is explained by nothing, though wrong models give its bits as well", "[causes]") {
  const Case c = *parse_case("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2");
  const Backend right = [](const Call&) { return std::string(); };
  const Answered passing = answered(c, right);
  REQUIRE(passing.verdict.state == State::pass);
  CHECK_FALSE(suites::diagnose(c, passing.outcome, suites::wrong_models()).models.empty());
  CHECK(suites::finding_of(c, "test", passing, suites::wrong_models()).diagnosis.models.empty());
}

TEST_CASE("What did not end alike twice is explained by nothing, though it comes again", "[causes]") {
  const Case c = *parse_case("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=3 pads=1,1");
  const Answered wrong = answered(c, [](const Call&) { return std::string("pool-divides-by-kernel"); });
  REQUIRE(wrong.verdict.state == State::fail);
  suites::WorkerPool pool([] { return suites::open_backend("mutant:pool-divides-by-kernel"); }, 1);
  suites::Failure failure = suites::failure_of(0, {c, line(c), "test", std::nullopt}, wrong.outcome, wrong.verdict, {});
  const auto found = [&] {
    return suites::findings_of(std::span(&failure, 1), pool, {}, suites::wrong_models()).at(0);
  };
  CHECK(found().comes_again);
  CHECK_FALSE(found().diagnosis.models.empty());
  failure.told.marks.push_back({"unstable", "repeated", "first fail (value), then pass", true, ""});
  CHECK_FALSE(found().comes_again);
  CHECK(found().diagnosis.models.empty());
}

TEST_CASE("The failures of a convolution with four bugs read as four sentences", "[causes][Conv]") {
  const std::vector<Finding> findings = findings_of("Conv", 500, convolving);
  check_told(findings,
             {"conv-reads-first-group", "conv-takes-lower-for-upper", "conv-adds-bias-twice", "conv-flips-kernel"});
}

}  // namespace assay::mutation
