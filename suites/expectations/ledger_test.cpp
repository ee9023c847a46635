// SPDX-License-Identifier: Apache-2.0
#include "suites/expectations/ledger.h"

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

#include <chrono>

namespace assay::suites {
namespace {

using oracles::State;
using oracles::Verdict;

const std::string same = "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 auto_pad=SAME_UPPER kernel_shape=2";
const std::string dilated = same + " dilations=2";
const std::string newer =
    "AveragePool-22 opset=22 ir=10 X=f32[1,1,4]~iota:1 auto_pad=SAME_UPPER kernel_shape=2 dilations=2";
const std::string conv = "Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~lit:1,10";
const Date day = *date_named("2026-06-15");

// An entry with the words that every entry needs.
std::string entry(const std::string& id, const std::string& operators, const std::string& more,
                  const std::string& expires = "2026-12-31") {
  return R"({"id":")" + id + R"(","operators":[)" + operators +
         R"(],"reason":"known","link":"https://example.org/1",)" + R"("owner":"somebody","expires":")" + expires +
         "\"" + (more.empty() ? "" : ",") + more + "}";
}
const std::string same_dilated = R"("when":"auto_pad == SAME_UPPER and any(dilations) > 1","states":["fail"])";

Ledger ledger(const std::vector<std::string>& entries) {
  std::string all;
  for (const std::string& each : entries) all += (all.empty() ? "" : ",") + each;
  return parse_ledger(R"({"ledger":1,"entries":[)" + all + "]}", "known.json");
}

std::string error(const std::string& json) {
  try {
    parse_ledger(json, "known.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}
std::string entry_error(const std::string& entry) { return error(R"({"ledger":1,"entries":[)" + entry + "]}"); }

struct Trial {
  std::string line;
  std::optional<State> state;
  std::string because;
  std::vector<Mark> marks = {};
};

LedgerResult settled(const Ledger& ledger, const std::vector<Trial>& all, const Selection& selection = {}) {
  Suite suite;
  Campaign campaign;
  for (const Trial& each : all) {
    suite.cases.push_back(read_cases(each.line, "example").front());
    campaign.marks.push_back(each.marks);
    campaign.verdicts.emplace_back();
    if (!each.state) continue;
    campaign.verdicts.back().emplace();
    campaign.verdicts.back()->state = *each.state;
    campaign.verdicts.back()->because = each.because;
  }
  return settle(ledger, suite, campaign, selection, day);
}

// "xfail:a - xpass:b"
std::string marks(const LedgerResult& settlement) {
  std::string all;
  for (const auto& expectations : settlement.expectations) {
    std::string here;
    for (const Expectation& each : expectations)
      here += (here.empty() ? "" : "+") + std::string(name(each.kind)) + ":" + each.entry;
    all += (all.empty() ? "" : " ") + (here.empty() ? "-" : here);
  }
  return all;
}
std::string complaints(const LedgerResult& settlement) {
  std::string all;
  for (const Complaint& each : settlement.complaints)
    all += (all.empty() ? "" : "; ") + each.entry + " " + std::string(name(each.kind)) + ": " + each.detail;
  return all;
}

TEST_CASE("a number too large for any computer is told in one line", "[ledger]") {
  CHECK_THROWS_WITH(parse_ledger(R"({"ledger":1e999,"entries":[]})", "l.json"),
                    "l.json: it holds a number that no computer has");
}

TEST_CASE("an expected breach is xfail and nothing else is", "[ledger]") {
  const LedgerResult settlement =
      settled(ledger({entry("a", "\"AveragePool-19\"", same_dilated)}), {{same, State::fail, "value"},
                                                                         {dilated, State::fail, "shape"},
                                                                         {dilated, State::refused, "refused"},
                                                                         {newer, State::fail, "shape"},
                                                                         {conv, State::pass, ""}});
  CHECK(marks(settlement) == "- xfail:a - - -");
  CHECK(complaints(settlement).empty());
  CHECK(settlement.excuses(1, "fail"));
  CHECK_FALSE(settlement.excuses(0, "fail"));
  CHECK_FALSE(settlement.excuses(2, "refused"));
}

TEST_CASE("an operator without a version means all of them", "[ledger]") {
  CHECK(marks(settled(ledger({entry("a", "\"AveragePool\"", same_dilated)}),
                      {{dilated, State::fail, "shape"}, {newer, State::fail, "shape"}})) == "xfail:a xfail:a");
}

TEST_CASE("a cause that is not listed is a new breach", "[ledger]") {
  const Ledger shapes = ledger({entry("a", "\"AveragePool-19\"", same_dilated + R"(,"because":["shape"])")});
  CHECK(marks(settled(shapes, {{dilated, State::fail, "shape"}, {dilated, State::fail, "value"}})) == "xfail:a -");
}

TEST_CASE("an entry whose cases all pass is passing, and they are xpass", "[ledger]") {
  const LedgerResult settlement = settled(ledger({entry("a", "\"AveragePool-19\"", same_dilated)}),
                                          {{dilated, State::pass, ""}, {same, State::pass, ""}});
  CHECK(marks(settlement) == "xpass:a -");
  CHECK(complaints(settlement) == "a passing: 1 case it expects to break, none does; remove it");
}

TEST_CASE("one breach among the cases of an entry keeps it", "[ledger]") {
  const LedgerResult settlement = settled(ledger({entry("a", "\"AveragePool-19\"", R"("states":["fail"])")}),
                                          {{dilated, State::fail, "shape"}, {same, State::pass, ""}});
  CHECK(marks(settlement) == "xfail:a -");
  CHECK(settlement.complaints.empty());
  REQUIRE(settlement.uses.size() == 1);
  CHECK(settlement.uses[0].met == 2);
  CHECK(settlement.uses[0].covered == 1);
  CHECK(settlement.uses[0].passed == 1);
}

TEST_CASE("an entry that meets no case, or only cases that end otherwise, is unused", "[ledger]") {
  const Ledger known = ledger({entry("a", "\"AveragePool-19\"", same_dilated)});
  CHECK(complaints(settled(known, {{same, State::pass, ""}})) ==
        "a unused: no case that was run meets it; remove it or mend its predicate");
  CHECK(complaints(settled(known, {{dilated, State::unsupported, "declared"}})) ==
        "a unused: 1 case it meets end otherwise (1 unsupported); remove it or mend it");
}

TEST_CASE("a run over a part does not call an entry unused or passing whose cases may be elsewhere", "[ledger]") {
  const Ledger known = ledger({entry("a", "\"AveragePool\"", same_dilated)});
  Selection some;
  some.operators = {"AveragePool-19"};
  CHECK(settled(known, {{same, State::pass, ""}}, some).complaints.empty());
  CHECK(settled(known, {{dilated, State::pass, ""}}, some).complaints.empty());
  some.operators = {"AveragePool"};
  CHECK(settled(known, {{same, State::pass, ""}}, some).complaints.size() == 1);
  CHECK(settled(known, {{dilated, State::pass, ""}}, some).complaints.size() == 1);
  some.types = {DType::f32};
  CHECK(settled(known, {{same, State::pass, ""}}, some).complaints.empty());
}

TEST_CASE("an interrupted run does not call an entry passing whose cases were not all reached", "[ledger]") {
  const Ledger known = ledger({entry("a", "\"AveragePool\"", same_dilated)});
  CHECK(settled(known, {{dilated, State::pass, ""}, {newer, {}, ""}}).complaints.empty());
  CHECK(marks(settled(known, {{dilated, State::pass, ""}, {newer, {}, ""}})) == "- -");
}

TEST_CASE("an entry holds on its last day and covers nothing after it", "[ledger]") {
  const std::vector<Trial> run{{dilated, State::fail, "shape"}};
  CHECK(marks(settled(ledger({entry("a", "\"AveragePool\"", same_dilated, "2026-06-15")}), run)) == "xfail:a");
  const LedgerResult late = settled(ledger({entry("a", "\"AveragePool\"", same_dilated, "2026-06-14")}), run);
  CHECK(marks(late) == "-");
  CHECK(complaints(late) ==
        "a expired: on 2026-06-14; 1 case it excused count again: renew it (somebody) or remove it");
}

TEST_CASE("a mark that breaches is expected on its own, by its own word", "[ledger]") {
  const Mark unstable{"unstable", "repeated", "", true, ""}, told{"differs", "shapes=absent", "", false, ""};
  const Ledger known = ledger({entry("a", "\"AveragePool-19\"", R"("states":["unstable"],"because":["repeated"])")});
  const LedgerResult settlement = settled(known, {{same, State::pass, "", {unstable}},
                                                  {dilated, State::fail, "shape", {unstable}},
                                                  {dilated, State::pass, "", {told}}});
  CHECK(marks(settlement) == "xfail:a xfail:a -");
  CHECK(settlement.excuses(1, "unstable"));
  CHECK_FALSE(settlement.excuses(1, "fail"));
  CHECK(settlement.uses[0].passed == 1);
  const Ledger fails = ledger({entry("a", "\"AveragePool-19\"", R"("states":["fail"])")});
  CHECK(complaints(settled(fails, {{same, State::pass, "", {unstable}}})).starts_with("a unused"));
}

TEST_CASE("where two entries expect a breach the first has the mark, and neither is unused", "[ledger]") {
  const LedgerResult settlement = settled(ledger({entry("a", "\"AveragePool\"", same_dilated),
                                                  entry("b", "\"AveragePool-19\"", R"("states":["fail","error"])")}),
                                          {{dilated, State::fail, "shape"}});
  CHECK(marks(settlement) == "xfail:a");
  CHECK(settlement.complaints.empty());
}

TEST_CASE("a mistake in a ledger is told in one line with the entry", "[ledger]") {
  CHECK(error("[") == "known.json: no JSON at byte 2; a ledger looks like suites/expectations/ledger.schema.json says");
  CHECK(error("{}") == R"(known.json: no ledger; it begins {"ledger":1,"entries":[)");
  CHECK(error(R"({"ledger":2,"entries":[]})") == R"(known.json: no ledger; it begins {"ledger":1,"entries":[)");
  CHECK(error(R"({"ledger":1,"entries":[],"abuot":""})") == "known.json: unknown key 'abuot'; did you mean about?");
  CHECK(entry_error("7") == "known.json: entry 1: it is no object");
  CHECK(entry_error(R"({"id":"a","opertors":["Conv"]})") ==
        "known.json: entry 1: unknown key 'opertors'; did you mean operators?");
  CHECK(entry_error(entry("a", "\"Conv-12\"", same_dilated)).find("there is no operator version 'Conv-12'; did you") !=
        std::string::npos);
  CHECK(entry_error(entry("a", "\"Conv\"", R"("states":["pass"])")) ==
        "known.json: entry 1 (a): 'pass' is no breach (fail, below, refused, error, contested, unstable, differs, "
        "stale session, breaks law)");
  CHECK(entry_error(entry("a", "\"Conv\"", R"("states":["fial"])"))
            .starts_with("known.json: entry 1 (a): 'fial' is no breach; did you mean fail?"));
  CHECK(entry_error(entry("a", "\"Conv\"", R"("states":[])")) ==
        "known.json: entry 1 (a): 'states' is a list of words that is not empty");
  CHECK(entry_error(entry("a", "\"Conv\"", "")) == "known.json: entry 1 (a): 'states' is missing");
  CHECK(entry_error(entry("a", "\"Conv\"", R"("states":["fail"],"when":"group = 1")")) ==
        "known.json: entry 1 (a): 'when', column 7: write == instead of =");
  CHECK(entry_error(entry("a", "\"Conv\"", R"("states":["fail"],"when":"grup == 1")")) ==
        "known.json: entry 1 (a): 'when', column 1: there is no attribute 'grup'; did you mean group?");
  CHECK(entry_error(entry("a", "\"Conv\"", R"("states":["fail"])", "2026-02-30")) ==
        "known.json: entry 1 (a): 'expires' is a day as 2027-06-30, not '2026-02-30'");
  const std::string once = entry("a", "\"Conv\"", R"("states":["fail"])");
  CHECK(entry_error(once + "," + once) == "known.json: entry 2 (a): another entry has this id");
  CHECK_THROWS_AS(read_ledger("/nowhere/ledger.json"), InputError);
}

TEST_CASE("a draft is refused until a person has written what only a person can know", "[ledger]") {
  std::string draft = entry("a", "\"Conv\"", R"("states":["fail"])");
  CHECK(entry_error(draft).empty());
  const std::size_t at = draft.find("somebody");
  draft.replace(at, 8, "TODO: who");
  CHECK(entry_error(draft) == "known.json: entry 1 (a): a draft; write its 'owner' before it is applied");
}

TEST_CASE("a date is printed as it is read, and only days that exist are read", "[ledger]") {
  rc::prop("date_named(text(d)) = d", [] {
    const auto days =
        std::chrono::sys_days(*date_named("2000-01-01")) + std::chrono::days(*rc::gen::inRange(0, 200000));
    RC_ASSERT(date_named(text(Date(days))) == Date(days));
  });
  for (const char* no_day :
       {"2027-2-03", "2027-13-01", "2027-00-10", "2026-02-29", "20270203", "2027-02-0x", "", "+027-02-03"})
    CHECK_FALSE(date_named(no_day));
  CHECK(date_named("2028-02-29"));
}

TEST_CASE("a breach is excused exactly where one entry that has not expired describes it", "[ledger]") {
  rc::prop("for any verdicts and any of four entries", [] {
    const std::vector<std::string> kinds{entry("a", "\"AveragePool-19\"", same_dilated),
                                         entry("b", "\"AveragePool\"", R"("states":["refused","error"])"),
                                         entry("c", "\"Conv-11\"", R"("states":["fail"],"because":["value"])"),
                                         entry("d", "\"Conv\",\"AveragePool\"", R"("states":["fail"])", "2026-06-14")};
    std::vector<std::string> some;
    for (const std::string& each : kinds)
      if (*rc::gen::arbitrary<bool>()) some.push_back(each);
    const Ledger known = ledger(some);
    std::vector<Trial> run;
    const int length = *rc::gen::inRange(0, 12);
    for (int i = 0; i < length; ++i)
      run.push_back({*rc::gen::element(same, dilated, newer, conv),
                     *rc::gen::element(State::pass, State::fail, State::refused, State::error, State::unsupported),
                     *rc::gen::element<std::string>("value", "shape")});
    const LedgerResult settlement = settled(known, run);
    for (std::size_t i = 0; i < run.size(); ++i) {
      bool excused = false;
      for (const Entry& each : known.entries)
        excused |= !each.is_expired(day) && each.meets(*parse_case(run[i].line)) &&
                   each.states.contains(std::string(oracles::name(*run[i].state))) &&
                   (each.because.empty() || each.because.contains(run[i].because));
      RC_ASSERT(settlement.excuses(i, oracles::name(*run[i].state)) == excused);
    }
  });
}

}  // namespace
}  // namespace assay::suites
