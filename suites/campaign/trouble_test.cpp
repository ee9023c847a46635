// SPDX-License-Identifier: Apache-2.0
// What a backend is blamed for, and what not: crashes and hangs that come alone, damage that a case does to the next,
// causes that repeat themselves. The workers are real ones, in trouble of one kind each (testing/troubled.py).
#include "suites/campaign/campaign.h"
#include "suites/workers/places.h"
#include "suites/workers/worker.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace assay::suites {
namespace {

using namespace std::chrono_literals;
using oracles::State;

OpenBackend troubled(const std::string& trouble, std::chrono::milliseconds limit = 20s) {
  return [=] {
    Limits limits;
    limits.run = limit;
    limits.memory = std::size_t{512} << 20;
    return std::make_unique<Worker>("troubled",
                                    std::vector<std::string>{python(), "suites/testing/troubled.py", trouble}, limits);
  };
}

// Pools of one axis: `kernel`, and what else the line says.
std::string pool(int seed, const std::string& rest) {
  return "AveragePool-19 opset=19 ir=8 X=f32[1,1,12]~small:" + std::to_string(seed) + " " + rest;
}

Suite suite_of(const std::vector<std::string>& lines) {
  Suite suite;
  for (const std::string& line : lines) suite.cases.push_back(read_cases(line, "test").front());
  return suite;
}

RunOptions plain(int jobs = 1) {
  RunOptions run_options;
  run_options.jobs = jobs;
  run_options.presenting = VariantSampling::none;
  return run_options;
}

std::string told(const Campaign& campaign) {
  std::string all;
  for (std::size_t i = 0; i < campaign.verdicts.size(); ++i) {
    all += campaign.verdicts[i] ? in_words(*campaign.verdicts[i]) : "-";
    for (const Mark& mark : campaign.marks[i]) all += " " + mark.name + " by " + mark.by;
    all += "\n";
  }
  return all;
}

std::vector<State> states(const Campaign& campaign) {
  std::vector<State> all;
  for (const auto& verdict : campaign.verdicts) all.push_back(verdict.value().state);
  return all;
}

TEST_CASE("a case that crashes in a damaged process earns what it earns alone, and the session is the finding",
          "[trouble]") {
  const Suite suite = suite_of({pool(1, "kernel_shape=2"), pool(2, "kernel_shape=3"), pool(3, "kernel_shape=1"),
                                pool(4, "kernel_shape=2 strides=4"), pool(5, "kernel_shape=1")});
  const Campaign campaign = run(suite, troubled("damages"), plain());
  CHECK(told(campaign) == "pass\nfail (value)\npass\npass session by crashed\npass\n");
  const Mark& session = campaign.marks[3].at(0);
  CHECK(session.breaches);
  // Neither the case before the culprit nor the one between them belongs to it.
  CHECK(session.line == suite.cases[1].line + " ; " + suite.cases[3].line);
}

TEST_CASE("a value that is wrong only after another case is no failure of its case", "[trouble]") {
  const Suite suite = suite_of({pool(2, "kernel_shape=3"), pool(4, "kernel_shape=2 strides=4")});
  const Campaign campaign = run(suite, troubled("leaks"), plain());
  CHECK(told(campaign) == "fail (value)\npass session by value\n");
  CHECK(campaign.marks[1].at(0).line == suite.cases[0].line + " ; " + suite.cases[1].line);
}

TEST_CASE("a crash that another presentation brings only after other cases is a finding of the session",
          "[trouble][presentations]") {
  const Suite suite = suite_of({pool(1, "kernel_shape=3")});
  RunOptions run_options = plain();
  run_options.presenting = VariantSampling::all;
  const Campaign campaign = run(suite, troubled("tires"), run_options);
  INFO(told(campaign));
  CHECK(campaign.verdicts[0]->state == State::pass);
  REQUIRE(campaign.marks[0].size() == 1);
  const Mark& mark = campaign.marks[0][0];
  CHECK(mark.name == "session");
  CHECK(mark.by == "crashed");
  CHECK(mark.breaches);
  CHECK(mark.line.ends_with(" ; [threads=2] " + suite.cases[0].line));
  CHECK(parse_session(mark.line)->size() == 2);
}

TEST_CASE("a crash that comes alone is an error of its case, without a mark", "[trouble]") {
  const Suite suite =
      suite_of({pool(1, "kernel_shape=3"), pool(2, "kernel_shape=2 pads=1,0"), pool(3, "kernel_shape=3")});
  CHECK(told(run(suite, troubled("crashes"), plain())) == "pass\nerror (crashed)\npass\n");
}

// One pool in three dilates, at places that no other attribute tells.
Suite dilating(int count) {
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i)
    lines.push_back(pool(i, "kernel_shape=" + std::to_string(1 + i % 2) + " strides=" + std::to_string(1 + i / 2 % 2) +
                                (i % 3 == 1 ? " dilations=2" : "")));
  return suite_of(lines);
}

TEST_CASE("what hangs for a cause that is known is not run again, and everything else is", "[trouble][breaker]") {
  const Suite suite = dilating(90);
  const Campaign campaign = run(suite, troubled("hangs", 1s), plain());
  const std::vector<State> all = states(campaign);
  const auto count = [&](State state) { return std::ranges::count(all, state); };
  CHECK(count(State::pass) == 60);
  CHECK(count(State::error) + count(State::not_run) == 30);
  CHECK(count(State::error) < 15);
  REQUIRE(campaign.breakers.size() == 1);
  CHECK(campaign.breakers[0].when.text() == "any(dilations) > 1");
  CHECK(campaign.breakers[0].because == "timed out");
  CHECK(campaign.is_complete());
  RunOptions exhaustive = plain(2);
  exhaustive.exhaustive = true;
  const Suite few = dilating(15);
  const Campaign whole = run(few, troubled("hangs", 1s), exhaustive);
  CHECK(std::ranges::count(states(whole), State::error) == 5);
}

TEST_CASE("what is known to hang is given less time, what is known to eat memory less of it, and nothing else",
          "[trouble]") {
  CircuitBreaker breaker;
  oracles::Verdict eaten;
  eaten.state = State::error;
  eaten.because = "out of memory";
  const Suite suite = dilating(18);
  for (const SuiteCase& planned : suite.cases)
    breaker.note(planned, planned.line.ends_with("dilations=2") ? eaten : oracles::Verdict{});
  breaker.decide();
  Experience experience;
  experience.breaker = &breaker;
  const Case plain = suite.cases[0].c, dilated = suite.cases[1].c;
  CHECK(experience.case_limits(plain).memory_share == 1);
  CHECK(experience.case_limits(dilated).memory_share > 1);
  CHECK(experience.case_limits(plain).limit == 0ms);  // nothing is known: all there is
  for (int i = 0; i < 200; ++i) experience.pace.note(1ms);
  CHECK(experience.patience() == 1s);
  CHECK(experience.case_limits(plain).limit == 0ms);
  experience.hangs.insert("AveragePool");  // one did, for the full limit
  CHECK(experience.case_limits(plain).limit == 1s);
  CHECK(experience.case_limits(dilated).limit == 0ms);  // it eats memory, and is given the time to do so
}

TEST_CASE("what five operators did under the full limits is expected of any, unless one answers late", "[trouble]") {
  const Case pooling = dilating(1).cases[0].c;
  Experience experience;
  for (int i = 0; i < 200; ++i) experience.pace.note(1ms);
  CHECK(experience.in_session().limit == 1s);
  CHECK(experience.in_session().memory_share == 1);
  for (const char* op : {"Abs", "Add", "And", "Cast", "Conv"}) {
    CHECK(experience.case_limits(pooling).limit == 0ms);
    CHECK(experience.case_limits(pooling).memory_share == 1);
    experience.hangs.insert(op);
    experience.eaters.insert(op);
  }
  CHECK(experience.case_limits(pooling).limit == 1s);
  CHECK(experience.case_limits(pooling).memory_share > 1);
  CHECK(experience.in_session().limit < 1s);  // what is cut off there is run alone
  CHECK(experience.in_session().memory_share > 1);
  experience.has_late_answers = true;
  CHECK(experience.case_limits(pooling).limit == 0ms);
  CHECK(experience.case_limits(pooling).memory_share == 1);
}

TEST_CASE("a breaker gives up an operator at its first hang once too many cases hung", "[trouble][breaker]") {
  oracles::Verdict late;
  late.state = State::error;
  late.because = "timed out";
  const Suite suite = dilating(12);
  CircuitBreaker breaker;
  breaker.give_up_after(2);
  breaker.note(suite.cases[0], late);
  breaker.decide();
  CHECK_FALSE(breaker.covering(suite.cases[5].c));
  breaker.note(suite.cases[1], late);
  breaker.decide();
  REQUIRE(breaker.covering(suite.cases[5].c));
  CHECK(breaker.covering(suite.cases[5].c)->has_given_up);
  breaker.note(suite.cases[5], {});  // an answer refutes no predicate here
  CHECK(breaker.covering(suite.cases[6].c));
  const SuiteCase other = suite_of({"Relu-14 opset=14 ir=8 X=f32[3]~small:1"}).cases.front();
  CHECK_FALSE(breaker.covering(other.c));
  breaker.note(other, late);
  CHECK(breaker.covering(other.c));
}

TEST_CASE("what the breaker keeps from running does not depend on the number of jobs", "[trouble][breaker]") {
  const Suite suite = dilating(60);
  CHECK(told(run(suite, troubled("crashes"), plain(1))) == told(run(suite, troubled("crashes"), plain(3))));
  CHECK(told(run(suite, troubled("hangs", 2s), plain(1))) == told(run(suite, troubled("hangs", 2s), plain(3))));
}

TEST_CASE("memory that is eaten ends the case and not the campaign", "[trouble][breaker]") {
  std::vector<std::string> lines;
  for (int i = 0; i < 30; ++i) lines.push_back(pool(i, "kernel_shape=2 strides=" + std::to_string(1 + i % 3)));
  const Campaign campaign = run(suite_of(lines), troubled("eats"), plain());
  const std::vector<State> all = states(campaign);
  CHECK(std::ranges::count(all, State::pass) == 20);
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO(i);
    if (i % 3 == 2) CHECK(campaign.verdicts[i]->because == "out of memory");
  }
}

TEST_CASE("a backend that is right only for models of ours differs under other names", "[trouble][presentations]") {
  const Suite suite = suite_of({pool(1, "kernel_shape=2")});
  RunOptions run_options;
  run_options.presenting = VariantSampling::all;
  const Campaign campaign = run(suite, troubled("knows us"), run_options);
  CHECK(campaign.verdicts[0]->state == State::pass);
  REQUIRE(campaign.marks[0].size() == 1);
  CHECK(campaign.marks[0][0].name == "differs");
  CHECK(campaign.marks[0][0].by.starts_with("names="));
  CHECK(campaign.marks[0][0].breaches);
}

TEST_CASE("a buffer that is used for the next data set as well shows", "[trouble]") {
  const Campaign campaign = run(suite_of({pool(1, "kernel_shape=2")}), troubled("reuses"), plain());
  CHECK(campaign.verdicts[0]->state == State::fail);
}

TEST_CASE("a session is read back as it was written", "[trouble]") {
  const std::string a = suite_of({pool(1, "kernel_shape=2")}).cases[0].line,
                    b = suite_of({pool(2, "kernel_shape=3")}).cases[0].line;
  const Steps steps{{a, {}}, {b, {.threads = 2, .optimization = "none", .names = 7, .binds_outputs = true}}, {a, {}}};
  const std::string text = session_text(steps);
  CHECK(text == a + " ; [threads=2 optimization=none names=7 outputs=bound] " + b + " ; " + a);
  CHECK(*parse_session(text) == steps);
  for (const char* wrong : {"", "nonsense", "[threads=0] x", "[color=red] x", "[threads=2"})
    CHECK_FALSE(parse_session(wrong));
}

}  // namespace
}  // namespace assay::suites
