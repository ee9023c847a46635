// SPDX-License-Identifier: Apache-2.0
#include "reports/report.h"

#include "reports/atomic_file.h"

#include <catch2/catch.hpp>

#include <sstream>

namespace assay::reports {
namespace {

using oracles::State;
using oracles::Verdict;

const std::string pool = "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2";
const std::string other_pool = "AveragePool-19 opset=19 ir=8 X=f16[1,1,5]~iota:1 kernel_shape=2";
const std::string conv = "Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~lit:1,10";
// Two maps cannot be split into three groups.
const std::string near_miss = "Conv-11 opset=11 ir=8 X=f32[1,3,4]~iota:1 W=f32[2,1,2]~sign:1 group=3";
const std::string nonfinite = "AveragePool-19 opset=19 ir=8 X=f32[1,1,2]~lit:nan,1 kernel_shape=2";

Verdict verdict(State state, std::string because = "", std::string detail = "") {
  Verdict verdict;
  verdict.state = state;
  verdict.because = std::move(because);
  verdict.detail = std::move(detail);
  if (state == State::pass) verdict.level = oracles::Level::L0;
  return verdict;
}

Verdict wrong_value() {
  Verdict wrong = verdict(State::fail, "value", "1 of 3 elements outside the widest interval");
  oracles::Evidence evidence;
  evidence.index = {0, 0, 2};
  evidence.got = "0x1.8p+0";
  evidence.want = "0x1p+0";
  evidence.budget = "0x1/0x1 * 2^-22";
  evidence.arithmetic = "f32 accumulation, any order";
  wrong.evidence = evidence;
  return wrong;
}

struct Told {
  std::string line;
  std::optional<Verdict> verdict;
  std::vector<suites::Mark> marks = {};
};

Report told(const std::vector<Told>& all, bool strict = false) {
  suites::Suite suite;
  suite.version = "0.1";
  suite.hash = std::string(64, 'a');
  suites::Campaign campaign;
  campaign.backend.backend = "example";
  campaign.backend.version = "1.0";
  campaign.backend.device = "cpu";
  for (const Told& each : all) {
    suite.cases.push_back(suites::read_cases(each.line, "example").front());
    campaign.verdicts.push_back(each.verdict);
    campaign.marks.push_back(each.marks);
  }
  Invocation invocation;
  invocation.tool_version = "0.1.0";
  invocation.backend = "example";
  invocation.strict = strict;
  std::vector<suites::Finding> sessions;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const suites::Mark& mark : all[i].marks)
      if (auto finding = suites::finding_of_session(suite.cases[i], mark)) sessions.push_back(*std::move(finding));
  return report(std::move(suite), std::move(campaign), std::move(invocation), {"2026-01-01T00:00:00Z", 1.5, 2, "any"},
                {}, suites::sorted({}, std::move(sessions), {}));
}

std::string session(const Report& report) {
  std::ostringstream out;
  write_session(report, "example.json", Colour::none, out);
  return out.str();
}

std::string json(const Report& report) {
  std::ostringstream out;
  write_json(report, out);
  return out.str();
}

TEST_CASE("a mark that breaks conformance does so beside a pass, and is a finding of its own", "[report][marks]") {
  const suites::Mark unstable{"unstable", "twice in one session", "the same data twice gave different bits", true, ""};
  const suites::Mark threads{"differs", "threads=2", "fail (value) instead of pass", true, pool};
  const suites::Mark harmless{"differs", "shapes=absent", "unsupported instead of pass", false, pool};
  const Report calm = told({{pool, verdict(State::pass), {harmless}}});
  CHECK(calm.certified == Certified::conforms);
  CHECK(calm.findings.size() == 1);  // information
  const Report marked = told({{pool, verdict(State::pass), {unstable, threads}}, {conv, verdict(State::pass)}});
  CHECK(marked.certified == Certified::not_conforming);
  CHECK(marked.marks.at("unstable") == 1);
  CHECK(marked.findings.size() == 2);
  CHECK_THAT(session(marked), Catch::Contains("UNSTABLE") && Catch::Contains("--threads 2") &&
                                  Catch::Contains("not conforming: 1 differs, 1 unstable"));
  CHECK_THAT(json(marked), Catch::Contains("\"mark\":\"differs\""));
  const Report apart = told({{nonfinite, verdict(State::pass), {unstable}}, {conv, verdict(State::pass)}});
  CHECK(apart.certified == Certified::conforms);  // classes that do not decide are shown apart
}

TEST_CASE("a session is a numbered cause, and an error or a fail of the version of its last case", "[report][marks]") {
  const std::string steps = pool + " ; " + other_pool;
  const suites::Mark crashes{"session", "crashed", "error (crashed) after 1 case, alone pass", true, steps};
  const suites::Mark leaks{"session", "value", "fail (value) after 1 case, alone pass", true, steps};
  const Report report = told({{other_pool, verdict(State::pass), {crashes}}, {conv, verdict(State::pass)}});
  CHECK(count(report.totals, State::error) == 1);
  CHECK(count(report.totals, State::pass) == 2);  // the victim keeps what it earns alone
  REQUIRE(report.operators.size() == 2);
  CHECK(count(report.operators[0].counts, State::error) == 1);
  CHECK(report.operators[0].certified == Certified::not_conforming);
  CHECK(report.operators[0].exceptions.at(0).cause == 0);
  CHECK(report.operators[1].certified == Certified::conforms);
  CHECK_THAT(session(report),
             Catch::Contains("1   CRASH     AveragePool-19: 1 error (crashed, only after other cases)") &&
                 Catch::Contains("except 1\n") && Catch::Contains("replay: assay replay --backend example '" + steps) &&
                 Catch::Contains("not conforming: 1 error;"));
  CHECK(count(told({{other_pool, verdict(State::pass), {leaks}}}).totals, State::fail) == 1);
  // A value on special data counts no more than it would alone; a crash always does.
  const Report apart = told({{nonfinite, verdict(State::pass), {leaks}}, {conv, verdict(State::pass)}});
  CHECK(apart.certified == Certified::conforms);
  CHECK(count(apart.special, State::fail) == 1);
  CHECK(told({{nonfinite, verdict(State::pass), {crashes}}, {conv, verdict(State::pass)}}).certified ==
        Certified::not_conforming);
}

TEST_CASE("totals count every verdict once, all nine words present", "[report]") {
  const Report report =
      told({{pool, verdict(State::pass)}, {conv, wrong_value()}, {other_pool, verdict(State::pass)}, {near_miss, {}}});
  Int sum = 0;
  for (const auto& [state, count] : report.totals) sum += count;
  CHECK(report.totals.size() == 10);
  CHECK(sum == 3);
  CHECK(count(report.totals, State::pass) == 2);
  CHECK_FALSE(report.is_complete());
}

TEST_CASE("one version conforms and another does not", "[report]") {
  const Report report = told({{pool, verdict(State::pass)}, {conv, wrong_value()}});
  REQUIRE(report.operators.size() == 2);
  CHECK(text(report.operators[0].version) == "AveragePool-19");
  CHECK(report.operators[0].certified == Certified::conforms);
  CHECK(report.operators[1].certified == Certified::not_conforming);
  CHECK(report.certified == Certified::not_conforming);
}

TEST_CASE("a version without a judged case is not certified", "[report]") {
  const Report report = told({{pool, verdict(State::pass)}, {conv, verdict(State::unsupported, "declared")}});
  CHECK(report.operators[1].certified == Certified::not_certified);
  CHECK(report.operators[1].judged == 0);
  CHECK(report.operators[1].legal == 1);
  CHECK(report.certified == Certified::conforms);
  CHECK(told({{conv, verdict(State::unsupported)}}).certified == Certified::not_certified);
}

TEST_CASE("a refused legal model does not conform", "[report]") {
  CHECK(told({{pool, verdict(State::pass)}, {pool, verdict(State::refused, "refused", "no")}}).certified ==
        Certified::not_conforming);
}

TEST_CASE("contested conforms, except under --strict", "[report]") {
  CHECK(told({{pool, verdict(State::contested)}}).certified == Certified::conforms);
  CHECK(told({{pool, verdict(State::contested)}}, true).certified == Certified::not_conforming);
}

TEST_CASE("an accepted near miss is counted by its constraint and is no breach", "[report]") {
  Verdict accepted = verdict(State::accepted, "accepted");
  accepted.violated = {"C6"};
  const Report report = told({{near_miss, accepted}, {conv, verdict(State::pass)}});
  CHECK(report.certified == Certified::conforms);
  REQUIRE(report.constraints.size() == 1);
  CHECK(report.constraints[0].id == "Conv.C6");
  CHECK(report.constraints[0].text == "dim(W,0) mod group = 0");
  CHECK(report.constraints[0].accepted == 1);
}

TEST_CASE("a crash on a near miss blocks the certificate", "[report]") {
  CHECK(told({{near_miss, verdict(State::error, "crashed")}, {conv, verdict(State::pass)}}).certified ==
        Certified::not_conforming);
}

TEST_CASE("cases with NaN or infinities are shown apart and do not decide", "[report]") {
  const Report report = told({{pool, verdict(State::pass)}, {nonfinite, verdict(State::fail, "special")}});
  REQUIRE(report.classes[1] == "nonfinite");
  CHECK(report.certified == Certified::conforms);
  CHECK(report.operators[0].legal == 1);
  CHECK(session(report).find("special values (NaN, infinities, integer overflow): 1 fail;") != std::string::npos);
  CHECK(report.totals.at(State::fail) == 0);
}

TEST_CASE("the level of a version is that of its weakest pass", "[report]") {
  Verdict weaker = verdict(State::pass);
  weaker.level = oracles::Level::L2;
  const Report report = told({{pool, verdict(State::pass)}, {other_pool, weaker}});
  CHECK(report.operators[0].level == oracles::Level::L2);
}

TEST_CASE("findings that say the same are one, the gravest first", "[report]") {
  const Report report = told({{pool, verdict(State::refused, "refused", "kernel 7 too large")},
                              {other_pool, verdict(State::refused, "refused", "kernel 12 too large")},
                              {conv, wrong_value()}});
  REQUIRE(report.findings.size() == 2);
  CHECK(report.findings[0].state == State::fail);
  CHECK(report.findings[1].count == 2);
}

// A ledger whose one entry expects AveragePool-19 to fail.
Report with_ledger(const std::vector<Told>& all, const std::string& expires) {
  Report plain = told(all);
  Expectations agreed;
  agreed.ledger = suites::parse_ledger(R"({"ledger":1,"entries":[{"id":"pool","operators":["AveragePool-19"],"states":)"
                                       R"(["fail"],"reason":"known","link":"L","owner":"me","expires":")" +
                                           expires + "\"}]}",
                                       "known.json");
  const auto day = *suites::date_named("2026-06-15");
  agreed.settlement = suites::settle(*agreed.ledger, plain.suite, plain.campaign, {}, day);
  return report(plain.suite, plain.campaign, plain.invocation, plain.run, agreed);
}

TEST_CASE("a breach the ledger expects does not count, and is told as xfail", "[report]") {
  const Report report = with_ledger({{pool, wrong_value()}, {conv, verdict(State::pass)}}, "2026-12-31");
  CHECK(report.is_as_agreed());
  CHECK(report.findings.empty());
  CHECK(count(report.totals, State::fail) == 1);
  CHECK(json(report).find(R"("marks":[{"mark":"xfail","by":"pool","detail":"fail","breaches":false)") !=
        std::string::npos);
  CHECK(session(report).find("  expected by known.json: 1 xfail under 1 entry\nconforms: 1 pass, 1 as agreed;") !=
        std::string::npos);
}

TEST_CASE("a breach beside the expected ones counts, and is the only finding", "[report]") {
  const Report report = with_ledger({{pool, wrong_value()}, {conv, wrong_value()}}, "2026-12-31");
  CHECK_FALSE(report.is_as_agreed());
  REQUIRE(report.findings.size() == 1);
  CHECK(text(report.findings[0].version) == "Conv-11");
  CHECK(session(report).find("not conforming: 1 fail;") != std::string::npos);
}

TEST_CASE("an expired, unused or passing entry breaks a run that conforms", "[report]") {
  const std::vector<Told> passing{{pool, verdict(State::pass)}}, elsewhere{{conv, verdict(State::pass)}};
  CHECK(with_ledger(passing, "2026-12-31").certified == Certified::conforms);
  CHECK_FALSE(with_ledger(passing, "2026-12-31").is_as_agreed());
  CHECK_FALSE(with_ledger(elsewhere, "2026-12-31").is_as_agreed());
  const Report expired = with_ledger({{pool, wrong_value()}}, "2026-01-01");
  CHECK(expired.certified == Certified::not_conforming);
  CHECK(session(with_ledger(passing, "2026-12-31"))
            .find("PASSING  pool: 1 case it expects to break, none does; remove it\n"
                  "conforms, but the ledger has to be mended: 1 pass;") != std::string::npos);
}

TEST_CASE("against a baseline only what is new counts", "[report]") {
  const Report then = told({{pool, wrong_value()}, {conv, verdict(State::pass)}});
  Report now = told({{pool, wrong_value()}, {conv, wrong_value()}});
  Expectations agreed;
  agreed.baseline = suites::parse_baseline(json(then), "old.json");
  agreed.comparison = suites::compare(*agreed.baseline, now.suite, now.campaign, suites::Measure::lenient);
  now = report(now.suite, now.campaign, now.invocation, now.run, agreed);
  CHECK_FALSE(now.is_as_agreed());
  REQUIRE(now.findings.size() == 1);
  CHECK(text(now.findings[0].version) == "Conv-11");
  CHECK(session(now).find("  against old.json: 1 new, 1 known, 0 fixed\nnot conforming: 1 fail;") != std::string::npos);
}

TEST_CASE("a replay line survives a shell", "[report]") {
  Invocation invocation;
  invocation.backend = "exec:./it's mine";
  CHECK(replay_line(invocation, conv) == "assay replay --backend 'exec:./it'\\''s mine' '" + conv + "'");
}

TEST_CASE("nothing but the run section tells two runs apart", "[report]") {
  Report once = told({{pool, verdict(State::pass)}}), again = told({{pool, verdict(State::pass)}});
  again.run = {"2027-01-01T00:00:00Z", 3, 8, "another"};
  const std::string a = json(once), b = json(again);
  CHECK(a != b);
  CHECK(a.substr(0, a.find("\"run\"")) == b.substr(0, b.find("\"run\"")));
}

TEST_CASE("words of a backend that are no UTF-8 leave the report readable", "[report]") {
  CHECK(json(told({{pool, verdict(State::error, "garbled", "\xff\xfe")}})).find("\xef\xbf\xbd") != std::string::npos);
}

TEST_CASE("the session of certify", "[report][approval]") {
  Verdict contested = verdict(State::contested, "reading");
  contested.readings = contested.readings.with("A8", "keep");
  contested.followed = {{"A8", "keep"}};
  Verdict accepted = verdict(State::accepted, "accepted");
  accepted.violated = {"C6"};
  const Report report =
      told({{pool, wrong_value()}, {other_pool, contested}, {conv, verdict(State::pass)}, {near_miss, accepted}});
  CHECK(session(report) ==
        "assay 0.1.0 (suite aaaaaaaa, standard ONNX 1.23.2)  backend example 1.0, cpu\n"
        "                  judged  pass  contested  fail  accepted\n"
        "  AveragePool-19   100 %                1     1            does not conform\n"
        "  Conv-11          100 %     1                          1  conforms, L0\n"
        "  readings followed: A8 keep 1\n"
        "  models that break a constraint: 0 refused, 1 accepted: Conv.C6 1\n"
        "FAIL          AveragePool-19: 1 value\n"
        "      1 of 3 elements outside the widest interval\n"
        "      replay: assay replay --backend example '" +
            pool +
            "'\n"
            "not conforming: 1 fail; example.json written. That is the finding about the backend, not a breakdown of "
            "assay.\n");
}

TEST_CASE("a report that cannot be written is found when it is opened", "[report]") {
  CHECK_THROWS_AS(AtomicFile("/nowhere/at/all.json"), InputError);
  CHECK_THROWS_AS(AtomicFile("/dev/null"), InputError);
}

TEST_CASE("a draft takes its name only when it is finished", "[report]") {
  const auto target = std::filesystem::temp_directory_path() / ("assay-draft-" + std::to_string(std::rand()) + ".json");
  {
    AtomicFile draft(target);
    draft.out() << "half";
  }
  CHECK_FALSE(std::filesystem::exists(target));
  AtomicFile draft(target);
  draft.out() << "whole";
  draft.finish();
  CHECK(std::filesystem::file_size(target) == 5);
  std::filesystem::remove(target);
}

}  // namespace
}  // namespace assay::reports
