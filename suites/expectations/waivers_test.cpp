// SPDX-License-Identifier: Apache-2.0
#include "suites/expectations/waivers.h"

#include <catch2/catch.hpp>

namespace assay::suites {
namespace {

struct Row {
  std::string line, state, because, detail = "", case_class = "valid-core", marks = "[]";
};

std::string report(const std::vector<Row>& rows) {
  std::string verdicts;
  for (const Row& row : rows)
    verdicts += std::string(verdicts.empty() ? "" : ",") + R"({"id":")" + case_id(row.line) + R"(","line":")" +
                row.line + R"(","state":")" + row.state + R"(","because":")" + row.because + R"(","detail":")" +
                row.detail + R"(","class":")" + row.case_class + R"(","marks":)" + row.marks + "}";
  return R"({"schema":1,"mode":"lenient","verdicts":[)" + verdicts + "]}";
}

std::string pool(const std::string& version, const std::string& more, int number = 1) {
  return "AveragePool-" + version + " opset=" + version + " ir=8 X=f32[1,1,4]~iota:" + std::to_string(number) + more;
}
const std::string dilated = " auto_pad=SAME_UPPER kernel_shape=2 dilations=2", plain = " kernel_shape=2",
                  spread = " kernel_shape=2 dilations=2", same = " auto_pad=SAME_UPPER kernel_shape=2";

const std::vector<Row> findings{{pool("19", dilated), "fail", "shape"},
                                {pool("19", dilated, 2), "fail", "shape"},
                                {pool("19", plain), "pass", ""},
                                {pool("19", spread), "pass", ""},
                                {pool("19", same), "contested", "reading"},
                                {pool("22", dilated), "fail", "shape"},
                                {pool("22", plain), "pass", ""},
                                {pool("22", spread), "pass", ""},
                                {pool("22", same), "pass", ""}};

TEST_CASE("what breaks alike in two versions is one waiver, and passing cases are left out of it", "[waivers]") {
  const std::vector<Waiver> waivers = draft_waivers(report(findings), "r.json").waivers;
  REQUIRE(waivers.size() == 1);
  CHECK(waivers[0].id == "averagepool-fail-shape");
  CHECK(waivers[0].operators == std::vector<std::string>{"AveragePool-19", "AveragePool-22"});
  CHECK(waivers[0].covers == 3);
  CHECK(waivers[0].also == 0);
  INFO(waivers[0].when);
  const Predicate when = *parse_predicate(waivers[0].when);
  CHECK(when.holds(*parse_case(pool("19", dilated, 7))));
  for (const std::string& other : {plain, spread, same}) CHECK_FALSE(when.holds(*parse_case(pool("19", other))));
}

TEST_CASE("the predicates of a waiver are those of the report's causes", "[waivers]") {
  // Others than a search over these cases would find.
  const std::string where = "elements(X) == 4 and any(dilations) == 2 and auto_pad == SAME_UPPER";
  const auto verdict = [](const std::string& line, const std::string& state, const std::string& more) {
    return R"({"id":")" + case_id(line) + R"(","line":")" + line + R"(","state":")" + state +
           R"(","because":"shape","detail":"","class":"valid-core")" + more + "}";
  };
  const auto text = [&](const std::string& when) {
    return R"({"schema":1,"mode":"lenient","causes":[{"sentence":"it is odd"}],"operators":[{"op":"AveragePool-19",)"
           R"("exceptions":[{"cause":1,"cases":2,"when":[")" +
           when + R"("],"others":1}]}],"verdicts":[)" + verdict(pool("19", dilated), "fail", R"(,"cause":1)") + "," +
           verdict(pool("19", spread), "fail", R"(,"cause":1)") + "," + verdict(pool("19", plain), "pass", "") + "]}";
  };
  const std::vector<Waiver> waivers = draft_waivers(text(where), "r.json").waivers;
  REQUIRE(waivers.size() == 2);
  CHECK(waivers[0].when == where);
  CHECK(waivers[0].says == "it is odd");
  CHECK(waivers[0].covers == 1);
  CHECK(waivers[1].covers == 1);  // what no predicate of the report holds for
  CHECK(parse_predicate(waivers[1].when)->holds(*parse_case(pool("19", spread))));
  CHECK_THROWS_AS(draft_waivers(text("no predicate"), "r.json"), InputError);
}

TEST_CASE("refusals are told apart by what they said, not by its numbers", "[waivers]") {
  CHECK(draft_waivers(report({{pool("19", plain), "refused", "refused", "kernel 7 too large"},
                              {pool("19", plain, 2), "refused", "refused", "kernel 12 too large"},
                              {pool("19", dilated), "refused", "refused", "no room"},
                              {pool("19", same), "pass", ""}}),
                      "r.json")
            .waivers.size() == 2);
}

TEST_CASE("a breach that a ledger expects already is not drafted again", "[waivers]") {
  std::vector<Row> known = findings;
  for (Row& row : known)
    if (row.state == "fail") row.marks = R"([{"mark":"xfail","by":"a","detail":"fail","breaches":false}])";
  CHECK(draft_waivers(report(known), "r.json").waivers.empty());
}

TEST_CASE("a draft is refused until somebody stands for it, and then covers what it was made from", "[waivers]") {
  const std::vector<Waiver> waivers = draft_waivers(report(findings), "r.json").waivers;
  const Date day = *date_named("2027-06-30");
  CHECK_THROWS_WITH(parse_ledger(ledger_text(waivers, {"", "", "", day}), "d.json"),
                    "d.json: entry 1 (averagepool-fail-shape): a draft; write its 'reason' before it is applied");
  const Ledger ledger = parse_ledger(ledger_text(waivers, {"known", "https://example.org/1", "me", day}), "d.json");
  Suite suite;
  Campaign campaign;
  for (const Row& row : findings) {
    suite.cases.push_back(read_cases(row.line, "r").front());
    campaign.verdicts.emplace_back(oracles::Verdict());
    campaign.verdicts.back()->state = *oracles::state_named(row.state);
    campaign.verdicts.back()->because = row.because;
    campaign.marks.emplace_back();
  }
  const LedgerResult settlement = settle(ledger, suite, campaign, {}, day);
  CHECK(settlement.complaints.empty());
  for (std::size_t i = 0; i < findings.size(); ++i)
    CHECK(settlement.excuses(i, "fail") == (findings[i].state == "fail"));
  CHECK(parse_ledger(ledger_text({}, {}), "none").entries.empty());
}

TEST_CASE("what is no report is refused", "[waivers]") { CHECK_THROWS_AS(draft_waivers("{}", "r.json"), InputError); }

}  // namespace
}  // namespace assay::suites
