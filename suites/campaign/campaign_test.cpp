// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/campaign.h"

#include "reference/onnx_io.h"
#include "suites/testing/altered.h"

#include <catch2/catch.hpp>

#include <mutex>

namespace assay::suites {
namespace {

using oracles::Outcome;
using oracles::State;

// Answers by the id of the case alone, as a deterministic backend does.
class Scripted : public Backend {
 public:
  using Answer = std::function<Outcome(const Request&)>;
  Scripted(Description description, Answer answer) : description_(std::move(description)), answer_(std::move(answer)) {}
  const Description& describe() override { return description_; }
  void submit(const Request& case_run) override { requested_ = &case_run; }
  Outcome answer() override { return answer_(*requested_); }

 private:
  Description description_;
  Answer answer_;
  const Request* requested_ = nullptr;
};

OpenBackend scripted(Scripted::Answer answer, Description description = {}) {
  return [answer = std::move(answer), description = std::move(description)] {
    return std::make_unique<Scripted>(description, answer);
  };
}

Outcome refusal(const Request&) { return Outcome::failure(Outcome::Kind::refused, "no"); }

Outcome by_id(const Request& request) {
  return Outcome::failure(request.id[0] < '8' ? Outcome::Kind::refused : Outcome::Kind::crashed, request.id);
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
  RunOptions run_options;
  const Campaign alone = run(suite, scripted(by_id), run_options);
  CHECK(alone.is_complete());
  run_options.jobs = 7;
  CHECK(states(run(suite, scripted(by_id), run_options)) == states(alone));
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
  backend.newest_opset = 0;
  backend.excludes = {*parse_predicate("any(kernel_shape) > 1")};
  CHECK(excluded_by(backend, c) == "declared: any(kernel_shape) > 1");
  backend.excludes = {*parse_predicate("any(kernel_shape) > 2")};
  CHECK(excluded_by(backend, c).empty());
  backend.operators = {"AveragePool-11"};
  CHECK(excluded_by(backend, c) == "AveragePool-19 is not among the declared operators");
}

std::string marks(const Campaign& campaign, std::size_t index) {
  std::string all;
  for (const Mark& mark : campaign.marks[index])
    all += mark.name + " by " + mark.by + ": " + mark.detail + (mark.breaches ? " !" : "") + "\n";
  return all;
}

RunOptions only_once() {
  RunOptions run_options;
  run_options.presenting = VariantSampling::none;
  return run_options;
}

RunOptions every_way() {
  RunOptions run_options;
  run_options.presenting = VariantSampling::all;
  return run_options;
}

Outcome faithful(const Request&, Outcome outcome) { return outcome; }

Outcome with_first_element(Outcome outcome, float value) {
  for (std::vector<Tensor>& set : outcome.sets) set[0].as<float>()[0] = value;
  return outcome;
}

TEST_CASE("a failing case is run three times in all, and unstable where its result changes", "[campaign][unstable]") {
  int runs = 0;
  const auto always_wrong = [&](const Request&, Outcome outcome) {
    ++runs;
    return with_first_element(std::move(outcome), 100);
  };
  const Campaign steady = run(pools(1), altered(always_wrong), only_once());
  CHECK(steady.verdicts[0]->state == State::fail);
  CHECK(marks(steady, 0).empty());
  CHECK(runs == 3);
  runs = 0;
  const auto drifting = [&](const Request&, Outcome outcome) {
    return with_first_element(std::move(outcome), ++runs < 3 ? 100.0F : 101.0F);
  };
  const Campaign unsteady = run(pools(1), altered(drifting), only_once());
  CHECK(unsteady.verdicts[0]->state == State::fail);
  CHECK(marks(unsteady, 0) ==
        "unstable by repeated: first fail (value), then fail (value), fail (value), fail (value), fail (value) !\n");
  CHECK(runs == 5);  // alone in another process, after itself, and both once more
}

TEST_CASE("a crash that does not happen again is unstable, and stays an error", "[campaign][unstable]") {
  int runs = 0;
  const auto once = [&](const Request&, Outcome outcome) {
    return ++runs == 1 ? Outcome::failure(Outcome::Kind::crashed, "boom") : std::move(outcome);
  };
  const Campaign campaign = run(pools(1), altered(once), only_once());
  CHECK(campaign.verdicts[0]->state == State::error);
  CHECK(marks(campaign, 0) == "unstable by repeated: first error (crashed), then pass !\n");
}

TEST_CASE("a session that answers the second set of data with the first is marked stale", "[campaign]") {
  const auto stale = [](const Request&, Outcome outcome) {
    if (outcome.sets.size() > 1) outcome.sets[1] = outcome.sets[0];
    return outcome;
  };
  const Campaign campaign = run(pools(1), altered(stale), only_once());
  CHECK(campaign.verdicts[0]->state == State::fail);
  CHECK(campaign.marks[0].at(0).name == "stale session");
}

TEST_CASE("a second set of data that gets the answer to the first by itself too is no stale session", "[campaign]") {
  std::vector<Tensor> first;
  const auto constant = [&](const Request&, Outcome outcome) {
    if (first.empty()) first = outcome.sets.front();
    for (std::vector<Tensor>& set : outcome.sets) set = first;
    return outcome;
  };
  const Campaign campaign = run(pools(1), altered(constant), only_once());
  CHECK(campaign.verdicts[0]->state == State::fail);
  CHECK(campaign.marks[0].empty());
}

TEST_CASE("the same request put another way must end the same", "[campaign][presentations]") {
  CHECK(marks(run(pools(1), altered(faithful), every_way()), 0).empty());
  const std::string symbolic =
      model_of(*parse_case("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 shapes=symbolic"));
  const auto wants_extents = [&](const Request& request, Outcome outcome) {
    return request.model == symbolic ? Outcome::failure(Outcome::Kind::refused, "no symbols") : std::move(outcome);
  };
  const Campaign fussy = run(pools(1), altered(wants_extents), every_way());
  CHECK(fussy.verdicts[0]->state == State::pass);
  CHECK(marks(fussy, 0) == "differs by shapes=symbolic: refused instead of pass: no symbols !\n");
  CHECK(fussy.marks[0][0].line.ends_with("shapes=symbolic"));
  const auto not_with_threads = [](const Request& request, Outcome outcome) {
    return request.threads == 2 ? with_first_element(std::move(outcome), 100) : std::move(outcome);
  };
  CHECK(marks(run(pools(1), altered(not_with_threads), every_way()), 0) ==
        "differs by threads=2: fail (value) instead of pass !\n");
  const auto unimplemented = [](const Request& request, Outcome outcome) {
    return request.optimization == "none" ? Outcome::failure(Outcome::Kind::unsupported, "no") : std::move(outcome);
  };
  CHECK(marks(run(pools(1), altered(unimplemented), every_way()), 0) ==
        "differs by optimization=none: unsupported (not implemented) instead of pass: no\n");
}

TEST_CASE("constants are compared on the data both ways share", "[campaign][presentations]") {
  Suite suite;
  suite.cases = read_cases("Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~small:1", "convs");
  CHECK(marks(run(suite, altered(faithful), every_way()), 0).empty());
  const auto wrong_on_second = [](const Request&, Outcome outcome) {  // whichever way it is run
    if (outcome.sets.size() == 2 && outcome.sets[0] != outcome.sets[1]) outcome.sets[1][0].as<float>()[0] = 1e6F;
    return outcome;
  };
  const Campaign second = run(suite, altered(wrong_on_second), every_way());
  CHECK(second.verdicts[0]->state == State::fail);
  CHECK(marks(second, 0).empty());
}

TEST_CASE("the same data twice in one session must give the same bits", "[campaign][unstable]") {
  const auto forgetful = [](const Request& request, Outcome outcome) {
    if (request.sets[0] == request.sets[1]) outcome.sets[1][0].as<float>()[0] += 1;
    return outcome;
  };
  CHECK(marks(run(pools(1), altered(forgetful), every_way()), 0) ==
        "unstable by twice in one session: the same data twice gave different bits !\n");
}

TEST_CASE("a refused model that breaks a constraint is not run twice", "[campaign][unstable]") {
  Suite suite;
  suite.cases = read_cases("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:9 kernel_shape=-2", "near miss");
  const Campaign campaign = run(suite, altered(faithful), every_way());
  CHECK(campaign.verdicts[0]->state == State::pass);
  CHECK(marks(campaign, 0).empty());
}

TEST_CASE("cases in one model end as they do alone", "[campaign][pack]") {
  Suite suite = pools(7);
  const auto add = [&](const char* line) { suite.cases.push_back(read_cases(line, "more").front()); };
  add("Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~small:1");    // another opset: another model
  add("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:9 kernel_shape=-2");  // a near miss: alone
  std::mutex mutex;
  std::vector<std::size_t> inputs;
  const auto count = [&](const Request& request, Outcome outcome) {
    const std::lock_guard lock(mutex);
    inputs.push_back(request.sets[0].size());
    return outcome;
  };
  const Campaign alone = run(suite, altered(count), only_once());
  CHECK(inputs == std::vector<std::size_t>{1, 1, 1, 1, 1, 1, 1, 2, 1});
  inputs.clear();
  RunOptions packed = only_once();
  packed.pack = 4;
  CHECK(states(run(suite, altered(count), packed)) == states(alone));
  CHECK(inputs == std::vector<std::size_t>{4, 3, 2, 1});
}

TEST_CASE("a refused pack is run in halves, and a failing node alone", "[campaign][pack]") {
  const Suite suite = pools(4);
  RunOptions packed = only_once();
  packed.pack = 4;
  const std::string third = case_id(suite.cases[2].line);
  int runs = 0;
  const auto refuses_third = [&](const Request& request, Outcome outcome) {
    ++runs;
    const bool has_third =
        request.sets[0].size() == 4 || (request.sets[0].size() == 2 && runs > 2) || request.id == third;
    return has_third ? Outcome::failure(Outcome::Kind::refused, "no") : std::move(outcome);
  };
  const Campaign halved = run(suite, altered(refuses_third), packed);
  CHECK(states(halved) == "pass \npass \nrefused no\npass \n");
  CHECK(runs == 6);  // four, two, two, one, one, and the refused one alone
  const auto wrong_in_company = [](const Request& request, Outcome outcome) {
    if (request.sets[0].size() > 1) outcome.sets[0][1].as<float>()[0] = 100;
    return outcome;
  };
  const Campaign company = run(suite, altered(wrong_in_company), packed);
  CHECK(company.verdicts[1]->state == State::pass);
  CHECK(marks(company, 1) == "differs by pack: fail (value) beside other nodes, pass alone !\n");
}

TEST_CASE("an option the backend did not declare is a mistake of the caller", "[campaign]") {
  Description backend;
  backend.options = {{"precision", {"f32", "bf16"}}, {"isa", {}}};
  RunOptions run_options = only_once();
  run_options.options = {{"isa", "anything"}, {"precision", "bf16"}};
  CHECK_NOTHROW(run(pools(1), scripted(refusal, backend), run_options));
  run_options.options = {{"precisoin", "f32"}};
  CHECK_THROWS_WITH(run(pools(1), scripted(refusal, backend), run_options), Catch::Contains("precision"));
  run_options.options = {{"precision", "f23"}};
  CHECK_THROWS_WITH(run(pools(1), scripted(refusal, backend), run_options), Catch::Contains("f32"));
}

TEST_CASE("an interrupted campaign keeps what was done", "[campaign]") {
  const Suite suite = pools(10);
  std::atomic<bool> stop = false;
  int runs = 0;
  RunOptions run_options;
  run_options.stop = &stop;
  run_options.presenting = VariantSampling::none;
  const auto interrupt_at_four = [&](const Request& request) {
    stop = ++runs == 4;
    return refusal(request);
  };
  const Campaign campaign = run(suite, scripted(interrupt_at_four), run_options);
  CHECK_FALSE(campaign.is_complete());
  CHECK(campaign.verdicts[2]);
  CHECK_FALSE(campaign.verdicts[3]);  // what a worker does while it is interrupted is no finding
}

TEST_CASE("a promise of ours that breaks names the case", "[campaign]") {
  const auto breaks = [](const Request&) -> Outcome { throw BrokenPromise("ours"); };
  CHECK_THROWS_WITH(run(pools(1), scripted(breaks), {}), Catch::Contains("AveragePool-19") && Catch::Contains("ours"));
}

TEST_CASE("a backend that cannot be opened ends the campaign with its reason", "[campaign]") {
  const OpenBackend missing = []() -> std::unique_ptr<Backend> { throw InputError("no such program"); };
  CHECK_THROWS_AS(run(pools(3), missing, {}), InputError);
}

TEST_CASE("progress counts every case once", "[campaign]") {
  std::size_t last = 0;
  RunOptions run_options;
  run_options.jobs = 3;
  run_options.progress = [&](const Progress& progress) {
    CHECK(progress.done == last + 1);
    CHECK(progress.total == 20);
    last = progress.done;
  };
  run(pools(20), scripted(refusal), run_options);
  CHECK(last == 20);
}

}  // namespace
}  // namespace assay::suites
