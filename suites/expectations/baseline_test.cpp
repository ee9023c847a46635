// SPDX-License-Identifier: Apache-2.0
#include "suites/expectations/baseline.h"

#include <catch2/catch.hpp>

namespace assay::suites {
namespace {

using oracles::State;

std::string pool(int number) {
  return "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:" + std::to_string(number) + " kernel_shape=2";
}

struct Was {
  State state;
  std::string because;
  std::string marks = "";  // as in a report
};

Baseline baseline(const std::vector<Was>& all) {
  std::string verdicts;
  for (std::size_t i = 0; i < all.size(); ++i)
    verdicts += std::string(i ? "," : "") + R"({"id":")" + case_id(pool(static_cast<int>(i))) + R"(","state":")" +
                std::string(name(all[i].state)) + R"(","because":")" + all[i].because + "\"" + all[i].marks + "}";
  return parse_baseline(R"({"schema":1,"verdicts":[)" + verdicts + "]}", "old.json");
}

struct Is {
  State state;
  std::string because;
  std::vector<Mark> marks = {};
};

BaselineComparison compared(const Baseline& then, const std::vector<Is>& now, Measure measure = Measure::lenient) {
  Suite suite;
  Campaign campaign;
  for (std::size_t i = 0; i < now.size(); ++i) {
    suite.cases.push_back(read_cases(pool(static_cast<int>(i)), "pools").front());
    campaign.verdicts.emplace_back(oracles::Verdict());
    campaign.verdicts.back()->state = now[i].state;
    campaign.verdicts.back()->because = now[i].because;
    campaign.marks.push_back(now[i].marks);
  }
  return compare(then, suite, campaign, measure);
}

TEST_CASE("a breach the baseline has is known; another state or cause of the same case is new", "[baseline]") {
  const Baseline old = baseline({{State::fail, "value"}, {State::fail, "value"}, {State::below, "value"}});
  const BaselineComparison comparison =
      compared(old, {{State::fail, "value"}, {State::fail, "shape"}, {State::fail, "value"}});
  CHECK(comparison.excuses(0, "fail"));
  CHECK_FALSE(comparison.excuses(1, "fail"));
  CHECK_FALSE(comparison.excuses(2, "fail"));
  CHECK(comparison.repeated == 1);
  CHECK(comparison.fresh == 2);
  CHECK(comparison.fixed.empty());
}

TEST_CASE("what no longer breaks is fixed, and a case the baseline never ran is new", "[baseline]") {
  const Baseline old = baseline({{State::error, "crashed"}, {State::pass, ""}});
  const BaselineComparison comparison =
      compared(old, {{State::pass, ""}, {State::refused, "refused"}, {State::fail, "value"}});
  CHECK(comparison.fixed == std::vector<std::size_t>{0});
  CHECK(comparison.fresh == 2);
  CHECK(comparison.not_requested == 1);
}

TEST_CASE("contested is a breach under the strict measure only", "[baseline]") {
  const Baseline old = baseline({{State::pass, ""}, {State::contested, "reading"}});
  const std::vector<Is> now{{State::contested, "reading"}, {State::pass, ""}};
  CHECK(compared(old, now).fresh == 0);
  CHECK(compared(old, now).fixed.empty());
  CHECK(compared(old, now, Measure::strict).fresh == 1);
  CHECK(compared(old, now, Measure::strict).fixed.size() == 1);
}

TEST_CASE("marks that breach are compared by their words and what showed them", "[baseline]") {
  const std::string unstable = R"(,"marks":[{"mark":"unstable","by":"repeated","detail":"","breaches":true}])";
  const Baseline old = baseline({{State::pass, "", unstable}});
  CHECK(compared(old, {{State::pass, "", {{"unstable", "repeated", "", true, ""}}}}).excuses(0, "unstable"));
  CHECK(compared(old, {{State::pass, "", {{"unstable", "twice in one session", "", true, ""}}}}).fresh == 1);
  CHECK(compared(old, {{State::pass, "", {{"unstable", "repeated", "", false, ""}}}}).fixed.size() == 1);
}

TEST_CASE("what is no report is refused in one line", "[baseline]") {
  for (const char* text : {"", "[]", "{}", R"({"schema":2,"verdicts":[]})", R"({"schema":1,"verdicts":[{}]})",
                           R"({"schema":1,"verdicts":[{"id":"a","state":"splendid","because":""}]})"})
    CHECK_THROWS_WITH(parse_baseline(text, "old.json"),
                      "old.json is no report of this version of assay; write one with certify --report");
  CHECK_THROWS_AS(read_baseline("/nowhere/old.json"), InputError);
}

}  // namespace
}  // namespace assay::suites
