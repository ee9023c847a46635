// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign.h"

#include <catch2/catch.hpp>

namespace assay::suites {
namespace {

using oracles::Outcome;
using oracles::State;

// Answers by the id of the case alone, as a deterministic backend does.
class Scripted : public Backend {
 public:
  using Answer = std::function<Outcome(const Ask&)>;
  Scripted(Description description, Answer answer) : description_(std::move(description)), answer_(std::move(answer)) {}
  const Description& describe() override { return description_; }
  void ask(const Ask& question) override { question_ = &question; }
  Outcome answer() override { return answer_(*question_); }

 private:
  Description description_;
  Answer answer_;
  const Ask* question_ = nullptr;
};

OpenBackend scripted(Scripted::Answer answer, Description description = {}) {
  return [=] { return std::make_unique<Scripted>(description, answer); };
}

Outcome refusal(const Ask&) { return Outcome::failure(Outcome::Kind::refused, "no"); }

Outcome by_id(const Ask& ask) {
  return Outcome::failure(ask.id[0] < '8' ? Outcome::Kind::refused : Outcome::Kind::crashed, ask.id);
}

Suite pools(int count) {
  Suite suite;
  for (int i = 1; i <= count; ++i)
    suite.cases.push_back(
        read_cases("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:" + std::to_string(i) + " kernel_shape=2", "pools")
            .front());
  return suite;
}

std::string states(const Campaign& campaign) {
  std::string all;
  for (const auto& verdict : campaign.verdicts)
    all += verdict ? std::string(name(verdict->state)) + " " + verdict->detail + "\n" : "-\n";
  return all;
}

TEST_CASE("every planned case ends in one verdict, the same at any number of jobs", "[campaign]") {
  const Suite suite = pools(40);
  Conduct conduct;
  const Campaign alone = run(suite, scripted(by_id), conduct);
  CHECK(alone.is_complete());
  conduct.jobs = 7;
  CHECK(states(run(suite, scripted(by_id), conduct)) == states(alone));
}

TEST_CASE("a refused legal model is refused, and unsupported where the backend declared so", "[campaign]") {
  const Suite suite = pools(1);
  CHECK(run(suite, scripted(refusal), {}).verdicts[0]->state == State::refused);
  Description f16_only;
  f16_only.types = {"f16"};
  const Campaign declared = run(suite, scripted(refusal, f16_only), {});
  CHECK(declared.verdicts[0]->state == State::unsupported);
  CHECK(declared.verdicts[0]->because == "declared");
  CHECK(declared.verdicts[0]->detail == "f32 is not among the declared types");
}

TEST_CASE("capabilities exclude by operator version, type and opset", "[campaign]") {
  const Case c = pools(1).cases[0].c;
  Description backend;
  CHECK(excluded_by(backend, c).empty());
  backend.newest_opset = 19;
  backend.operators = {"AveragePool-19"};
  backend.types = {"f32"};
  CHECK(excluded_by(backend, c).empty());
  backend.newest_opset = 18;
  CHECK(excluded_by(backend, c) == "opset 19 is newer than the declared 18");
  backend.operators = {"AveragePool-11"};
  CHECK(excluded_by(backend, c) == "AveragePool-19 is not among the declared operators");
}

TEST_CASE("an interrupted campaign keeps what was done", "[campaign]") {
  const Suite suite = pools(10);
  std::atomic<bool> stop = false;
  int asked = 0;
  Conduct conduct;
  conduct.stop = &stop;
  const auto interrupt_at_four = [&](const Ask& ask) {
    stop = ++asked == 4;
    return refusal(ask);
  };
  const Campaign campaign = run(suite, scripted(interrupt_at_four), conduct);
  CHECK_FALSE(campaign.is_complete());
  CHECK(campaign.verdicts[2]);
  CHECK_FALSE(campaign.verdicts[3]);  // what a worker does while it is interrupted is no finding
}

TEST_CASE("a promise of ours that breaks names the case", "[campaign]") {
  const auto breaks = [](const Ask&) -> Outcome { throw BrokenPromise("ours"); };
  CHECK_THROWS_WITH(run(pools(1), scripted(breaks), {}), Catch::Contains("AveragePool-19") && Catch::Contains("ours"));
}

TEST_CASE("a backend that cannot be opened ends the campaign with its reason", "[campaign]") {
  const OpenBackend missing = []() -> std::unique_ptr<Backend> { throw InputError("no such program"); };
  CHECK_THROWS_AS(run(pools(3), missing, {}), InputError);
}

TEST_CASE("progress counts every case once", "[campaign]") {
  std::size_t last = 0;
  Conduct conduct;
  conduct.jobs = 3;
  conduct.progress = [&](const Progress& progress) {
    CHECK(progress.done == last + 1);
    CHECK(progress.total == 20);
    last = progress.done;
  };
  run(pools(20), scripted(refusal), conduct);
  CHECK(last == 20);
}

}  // namespace
}  // namespace assay::suites
