// SPDX-License-Identifier: Apache-2.0
#include "reports/contradictions.h"

#include "reference/case.h"
#include "reference/sequence.h"
#include "reports/reported_verdict.h"
#include "suites/predicates/predicate.h"
#include "suites/text/printable.h"

#include <map>
#include <set>
#include <tuple>

namespace assay::reports {
namespace {

using Json = nlohmann::json;

std::string shortened(const Json& json) {
  return suites::printable(json.dump(-1, ' ', false, Json::error_handler_t::replace), 80);
}

// Tells what is wrong with one exception, of these verdicts of its operator version; empty where nothing is.
std::string wrong_exception(const Json& exception, const std::vector<const ReportedVerdict*>& verdicts) {
  std::vector<suites::Predicate> when;
  for (const Json& each : exception.at("when")) {
    const std::string text = each;
    const Result<suites::Predicate> read = suites::stated_predicate(text);
    if (!read) return read.error();
    when.push_back(*read);
  }
  std::int64_t cases = 0, others = 0;
  std::vector<std::int64_t> covered(when.size(), 0);
  for (const ReportedVerdict* verdict : verdicts) {
    const bool is_of_it = verdict->json->value("cause", 0) == exception.at("cause").get<int>();
    for (const Json& mark : verdict->member("marks"))  // no predicate is about sessions
      cases += mark.value("cause", 0) == exception.at("cause").get<int>() && when.empty();
    const bool passes = !verdict->is_near_miss() && (verdict->word == "pass" || verdict->word == "contested") &&
                        verdict->json->value("cause", 0) == 0;
    if (!is_of_it && !passes) continue;
    const Result<Case> c = parse_case(text_of(*verdict->json, "line"));
    if (!c) return c.error();
    bool is_covered = false;
    for (std::size_t i = 0; i < when.size(); ++i)
      if (when[i].holds(*c)) {
        if (passes) return "'" + when[i].text() + "' holds for a case that passes";
        ++covered[i];
        is_covered = true;
      }
    cases += is_of_it;
    others += is_of_it && !is_covered;
  }
  if (std::ranges::count(covered, 0) > 0) return "a predicate holds for no case";
  if (cases != exception.at("cases")) return "there are " + std::to_string(cases) + " cases";
  return others == exception.at("others") ? "" : "for " + std::to_string(others) + " of its cases no predicate holds";
}

}  // namespace

std::string wrong_exception(const Json& report) {
  const std::vector<ReportedVerdict> verdicts = verdicts_of(report);
  const std::size_t causes = report.value("causes", Json::array()).size();
  for (const auto& [op, own] : by_operator(report, verdicts))
    for (const Json& exception : exceptions_in(report, op)) {
      if (exception.at("cause").get<std::size_t>() > causes)
        return op + ": there is no cause " + exception.at("cause").dump();
      if (const std::string wrong = wrong_exception(exception, own); !wrong.empty()) return op + ": " + wrong;
    }
  return "";
}

std::string wrong_function(const Json& report) {
  std::set<std::string> titles;
  for (const Json& function : functions_of(report)) {
    const std::string title = text_of(function, "op") + " " + text_of(function, "type");
    if (!titles.insert(title).second) return title + ": it is there twice";
    const Json& counts = function.at("counts");
    std::int64_t sum = 0;
    for (const auto& [word, count] : counts.items()) sum += count.get<std::int64_t>();
    if (sum != function.at("inputs")) return title + ": its counts are of " + std::to_string(sum) + " inputs";
    const bool is_whole = function.at("inputs") == 65536;
    if (function.at("ended") == "" ? !is_whole : function.at("inputs") != 0) return title + ": it did not end so";
    if (function.at("conforms") != (is_whole && !breaks(function) && counts.at("not examined") == 0))
      return title + ": whether it conforms does not follow from its counts";
    if (function.at("breaches").empty() != (counts.at("below") == 0 && counts.at("fail") == 0))
      return title + ": what breaks is not named";
    Json worst;
    for (const Json& peak : function.at("peaks"))
      if (worst.is_null() || worst.at("ulp") < peak.at("ulp")) worst = peak;
    if (function.at("worst") != worst) return title + ": its worst error is another one";
    for (const Json& breach : function.at("breaches"))
      if (!text_of(breach, "line").starts_with(text_of(function, "op") + " "))
        return title + ": a breach is of another version";
  }
  return "";
}

std::string wrong_finding(const Json& report) {
  std::map<std::string, ReportedVerdict> by_id;
  std::map<std::tuple<std::string, std::string, std::string>, std::int64_t> told, found;  // op, word, mark
  for (const ReportedVerdict& verdict : verdicts_of(report)) {
    by_id.emplace(verdict.id, verdict);
    if (breaks(verdict.word, is_strict(report)) && !is_excused(verdict, verdict.word))
      ++found[{verdict.op, verdict.word, ""}];
    std::vector<std::string> counted = verdict.counted();
    for (const Json& mark : own_marks(verdict)) {
      if (!is_excused(verdict, text_of(mark, "mark"))) ++found[{verdict.op, "", text_of(mark, "mark")}];
      const bool is_counted = text_of(mark, "mark") == "session" && mark.at("breaches").get<bool>();
      if (is_counted != mark.contains("counts_as") || (is_counted && mark.at("counts_as") != counted[1]))
        return "a session counts otherwise than it ended: " + shortened(mark);
      if (is_counted) counted.erase(counted.begin() + 1);
    }
  }
  for (const Json& finding : report.at("findings")) {
    const std::string op = text_of(finding, "op"), word = text_of(finding, "state"), mark = finding.value("mark", "");
    const auto first = by_id.find(text_of(finding, "first"));
    if (first == by_id.end() || first->second.op != op || first->second.word != word ||
        (mark.empty() && first->second.because != text_of(finding, "because")))
      return "its first case has no such verdict: " + shortened(finding);
    told[{op, mark.empty() ? word : "", mark}] += finding.at("count").get<std::int64_t>();
  }
  for (const auto& [key, count] : found)
    if (told[key] != count) {
      const auto& [op, word, mark] = key;
      return std::to_string(told[key]) + " " + word + mark + " of " + op + " told, " + std::to_string(count) +
             " among the verdicts";
    }
  return told.size() == found.size() ? "" : "more is told than the verdicts say";
}

std::string wrong_ledger(const Json& report) {
  std::map<std::string, std::int64_t> covered, passed;  // by entry
  std::map<std::string, std::set<std::string>> ids;
  for (const ReportedVerdict& verdict : verdicts_of(report))
    for (const Json& mark : verdict.member("marks")) {
      const std::string by = text_of(mark, "by");
      if (mark.at("mark") == "xfail" && ids[by].insert(verdict.id).second) ++covered[by];
      if (mark.at("mark") == "xpass") ++passed[by];
    }
  const Json& ledger = report.at("ledger");
  if (ledger.is_null())
    return covered.empty() && passed.empty() ? "" : "verdicts are marked by a ledger that is not there";
  for (const Json& entry : ledger.at("entries")) {
    const std::string id = text_of(entry, "id");
    if (entry.at("covered") != covered[id])
      return "entry " + suites::printable(id, 60) + ": covers " + entry.at("covered").dump() + ", and " +
             std::to_string(covered[id]) + " verdicts are marked so";
    covered.erase(id);
  }
  for (const auto& [id, count] : covered)
    if (count > 0) return "verdicts are marked by an entry that is not there: " + suites::printable(id, 60);
  return "";
}

std::string first_difference(const Json& found, const Json& derived, const std::string& path) {
  if (found == derived) return "";
  if (found.is_object() && derived.is_object()) {
    for (const auto& [name, value] : derived.items()) {
      if (!found.contains(name)) return path + "/" + suites::printable(name, 60) + ": missing";
      if (std::string inside = first_difference(found.at(name), value, path + "/" + suites::printable(name, 60));
          !inside.empty())
        return inside;
    }
    for (const auto& [name, value] : found.items())
      if (!derived.contains(name)) return path + "/" + suites::printable(name, 60) + ": one too many";
  }
  if (found.is_array() && derived.is_array()) {
    for (std::size_t i = 0; i < std::min(found.size(), derived.size()); ++i)
      if (std::string inside = first_difference(found[i], derived[i], path + "/" + std::to_string(i)); !inside.empty())
        return inside;
    return path + ": " + std::to_string(found.size()) + " elements instead of " + std::to_string(derived.size());
  }
  return path + ": " + shortened(found) + " instead of " + shortened(derived);
}

}  // namespace assay::reports
