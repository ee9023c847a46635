// SPDX-License-Identifier: Apache-2.0
#include "reports/rows.h"

#include "reference/sequence.h"
#include "reports/report.h"
#include "suites/text/printable.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <unordered_map>

namespace assay::reports {
namespace {

constexpr std::size_t line_limit = 1 << 16;

bool is_breach(const std::string& state, bool strict) {
  return state == "fail" || state == "below" || state == "refused" || state == "error" ||
         (strict && state == "contested");
}

// The words of breaches, with those that were agreed: marks xfail and known have the breach in `detail`.
struct Breaches {
  std::set<std::string> all, agreed;

  Breaches(const Json& verdict, const std::string& state, bool strict) {
    if (is_breach(state, strict)) all.insert(state);
    for (const Json& mark : member(verdict, "marks")) {
      const std::string name = words(mark, "mark");
      if (name == "xfail" || name == "known") agreed.insert(words(mark, "detail"));
      if (mark.value("breaches", false)) all.insert(name);
    }
    if (verdict.value("excused", false)) agreed.insert(state);
  }
  bool is_agreed() const { return std::ranges::includes(agreed, all); }
};

RowOutcome standing_of(const Json& verdict, const std::string& state, bool strict, bool counts_special) {
  const Breaches breaches(verdict, state, strict);
  if (!breaches.all.empty()) {
    if (breaches.is_agreed()) return RowOutcome::expected;
    if (state == "error" && !breaches.agreed.contains(state)) return RowOutcome::error;
    for (const Json& mark : member(verdict, "marks"))  // a session that crashed, whatever its last case earns alone
      if (words(mark, "counts_as") == "error") return RowOutcome::error;
    const auto of_class = verdict.find("class");
    return of_class == verdict.end() || decides(of_class->get<std::string>(), counts_special) ? RowOutcome::breaches
                                                                                              : RowOutcome::apart;
  }
  return state == "unsupported" || state == "unscored" || state == "not run" ? RowOutcome::skipped : RowOutcome::passes;
}

CaseRow case_row(const Json& verdict, bool strict, bool counts_special) {
  CaseRow row;
  row.json = &verdict;
  row.line = words(verdict, "line", line_limit);
  row.op = op_of(row.line);
  row.state = words(verdict, "state");
  row.because = words(verdict, "because");
  row.detail = words(verdict, "detail");
  if (row.detail.empty()) row.detail = words(verdict, "pattern");
  row.standing = standing_of(verdict, row.state, strict, counts_special);
  return row;
}

// Two refusals for one reason differ in numbers, not in words.
std::string without_digits(const std::string& text) {
  std::string kept;
  for (char letter : text)
    if (!std::isdigit(static_cast<unsigned char>(letter))) kept += letter;
  return kept;
}

CauseRow finding_row(const Json& finding, const Json* first) {
  CauseRow row;
  row.state = words(finding, "state");
  row.because = words(finding, "because");
  row.detail = words(finding, "detail");
  row.mark = words(finding, "mark");
  row.count = finding.at("count").get<Int>();
  row.replay = words(finding, "replay", line_limit);
  row.versions[words(finding, "op")] = row.count;
  row.sentence = words(finding, "op") + ": " + (row.mark.empty() ? row.state : row.mark) + in_brackets(row.because) +
                 (row.detail.empty() ? "" : ": " + row.detail);
  row.identity = words(finding, "op") + "|" + row.mark + "|" + row.state + "|" + row.because;
  if (row.state == "refused") row.identity += "|" + without_digits(row.detail);
  row.row = first;
  if (first) {
    row.line = words(*first, "line", line_limit);
    row.identity += "|" + readings_text(member(*first, "readings"));
  }
  return row;
}

// Tells whether a finding of no cause breaks conformance: its mark does, or some of its cases, which were not sorted.
bool counts(const Json& finding, const Json* first) {
  if (!finding.contains("mark")) return finding.value("deciding", Int{1}) > 0;
  if (finding.at("mark") == "session" && finding.value("deciding", Int{1}) == 0) return false;
  const Json marks = first ? member(*first, "marks") : Json();
  return std::ranges::any_of(marks, [&](const Json& mark) {
    return mark.at("mark") == finding.at("mark") && mark.at("by") == finding.at("because") && mark.at("breaches");
  });
}

// Marks, and what was not sorted into causes. What is judged apart is in neither.
std::vector<CauseRow> findings_of(const Json& report) {
  std::unordered_map<std::string, const Json*> verdicts;
  for (const Json& each : report.at("verdicts")) verdicts.emplace(each.at("id").get<std::string>(), &each);
  std::vector<CauseRow> rows;
  for (const Json& each : report.at("findings")) {
    if (each.contains("cause")) continue;
    const auto found = verdicts.find(each.at("first").get<std::string>());
    const Json* first = found == verdicts.end() ? nullptr : found->second;
    if (counts(each, first)) rows.push_back(finding_row(each, first));
  }
  return rows;
}

CauseRow cause_row(const Json& cause) {
  CauseRow row;
  row.state = words(cause, "state");
  row.because = words(cause, "because");
  row.detail = words(cause, cause.contains("detail") ? "detail" : "pattern");
  row.sentence = words(cause, "sentence", 1000);
  row.count = cause.at("count").get<Int>();
  row.line = words(cause, "smallest", line_limit);
  row.replay = words(cause, "replay", line_limit);
  std::set<std::string> operators;
  for (const auto& [version, count] : cause.at("versions").items()) {
    row.versions[suites::printable(version, 100)] = count.get<Int>();
    operators.insert(version.substr(0, version.rfind('-')));
  }
  row.identity = "cause|" + row.state + "|" + row.because + "|" + without_digits(words(cause, "pattern"));
  for (const std::string& each : operators) row.identity += "|" + each;
  for (const Json& each : cause.at("models")) row.identity += "|" + each.get<std::string>();
  for (const Json& each : cause.at("needs")) row.identity += "|" + each.get<std::string>();
  return row;
}

// Marks of a campaign are in no cause, but for sessions.
void add_marks(const Json& report, std::vector<CauseRow>& rows) {
  std::map<std::pair<std::string, std::string>, CauseRow> groups;
  for (const Json& each : member(report, "marked"))
    for (const Json& mark : member(each, "marks")) {
      if (!mark.value("breaches", false) || mark.contains("counts_as")) continue;
      CauseRow& row = groups[{words(mark, "mark"), words(mark, "by")}];
      ++row.versions[op_of(words(each, "line", line_limit))];
      if (row.count++ > 0) continue;
      row.state = words(each, "state");
      row.mark = words(mark, "mark");
      row.because = words(mark, "by");
      row.detail = words(mark, "detail");
      row.line = words(each, "line", line_limit);
      row.replay = words(mark, "replay", line_limit);
      row.sentence = row.mark + in_brackets(row.because) + (row.detail.empty() ? "" : ": " + row.detail);
      row.identity = "fuzz|" + row.mark + "|" + row.because;
    }
  for (auto& [key, row] : groups) rows.push_back(std::move(row));
}

// Functions that are wrong somewhere over all inputs of a type: each as something found beside the cases.
void add_every_input(const Json& report, std::vector<CauseRow>& rows) {
  for (const Json& each : member(report, "every_input")) {
    const Json &counts = each.at("counts"), &breaches = each.at("breaches");
    const Int below = counts.at("below").get<Int>(), fail = counts.at("fail").get<Int>();
    if (each.at("unsupported").get<bool>() || (below + fail == 0 && words(each, "ended").empty())) continue;
    CauseRow row;
    row.state = fail > 0 ? "fail" : below > 0 ? "below" : "error";
    row.mark = every_input;
    row.count = std::max(Int{1}, below + fail);
    row.versions[words(each, "op")] = row.count;
    row.sentence = words(each, "op") + " over every " + words(each, "type") + " input: ";
    if (breaches.empty()) {
      row.detail = words(each, "ended");
      row.sentence += row.detail;
    } else {
      const Json& first = breaches[0];
      row.detail = "got " + words(first, "got") + ", want " + words(first, "want");
      row.line = words(first, "line", line_limit);
      row.replay = words(first, "replay", line_limit);
      row.sentence += std::to_string(fail) + " fail, " + std::to_string(below) + " below; the first: " + row.detail;
    }
    row.identity = words(each, "op") + "|" + row.mark + "|" + row.state + "|" + words(each, "type");
    rows.push_back(std::move(row));
  }
}

}  // namespace

std::string words(const Json& object, const char* name, std::size_t limit) {
  const auto found = object.find(name);
  return found == object.end() || !found->is_string() ? ""
                                                      : suites::printable(found->get_ref<const std::string&>(), limit);
}

Json member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? Json() : *found;
}

std::string in_brackets(const std::string& text) { return text.empty() ? "" : " (" + text + ")"; }

std::string cases(Int count) { return std::to_string(count) + (count == 1 ? " case" : " cases"); }

std::string op_of(std::string_view line) { return std::string(line.substr(0, line.find(' '))); }

std::string readings_text(const Json& readings) {
  std::string text;
  if (readings.is_object())
    for (const auto& [ruling, reading] : readings.items())
      text += (text.empty() ? "" : " ") + suites::printable(ruling, 40) + "=" + words(readings, ruling.c_str());
  return text;
}

std::string CaseRow::marks() const {
  return joined(member(*json, "marks"), ", ",
                [](const Json& mark) { return words(mark, "mark") + in_brackets(words(mark, "by")); });
}

std::string CaseRow::replay() const { return words(*json, "replay", line_limit); }

std::vector<Json> kept_cases(const Json& report) {
  std::map<std::uint64_t, Json> rows;
  for (const Json& each : report.at("failures")) rows.emplace(each.at("index").get<std::uint64_t>(), each);
  for (const Json& each : report.at("marked")) {
    const auto [at, is_new] = rows.emplace(each.at("index").get<std::uint64_t>(), each);
    if (!is_new) at->second["marks"] = each.at("marks");
  }
  return transformed<Json>(rows, [](auto& row) { return std::move(row.second); });
}

CaseRows::CaseRows(const Rendering& rendering) {
  const bool strict = rendering.report.value("mode", "") == "strict";
  const bool counts_special = rendering.report.value("special_values", "") == "count";
  if (rendering.is_fuzz()) kept_ = kept_cases(rendering.report);
  const Json& causes = member(rendering.report, "causes");
  const auto add = [&](const Json& verdict) {
    rows_.push_back(case_row(verdict, strict, counts_special));
    std::size_t cause = verdict.value("cause", std::size_t{0});
    for (const Json& mark : member(verdict, "marks"))
      if (cause == 0) cause = mark.value("cause", cause);
    if (cause > 0 && cause <= causes.size()) rows_.back().cause = words(causes[cause - 1], "sentence", 1000);
  };
  std::ranges::for_each(kept_, add);
  if (!rendering.is_fuzz())
    for (const Json& each : rendering.report.at("verdicts")) add(each);
}

std::vector<CauseRow> causes_of(const Rendering& rendering) {
  std::vector<CauseRow> rows;
  for (const Json& each : member(rendering.report, "causes")) rows.push_back(cause_row(each));
  if (rendering.is_fuzz())
    add_marks(rendering.report, rows);
  else
    std::ranges::move(findings_of(rendering.report), std::back_inserter(rows));
  add_every_input(rendering.report, rows);
  return rows;
}

std::string backend_text(const Json& report) {
  const Json& backend = report.at("backend");
  const std::string version = words(backend, "version", 100), device = words(backend, "device", 100);
  return words(backend, "name", 100) + (version.empty() ? "" : " " + version) + (device.empty() ? "" : ", " + device);
}

std::string configuration_text(const Json& report) {
  const Json& options = report.at("backend").at("options");
  std::string text = "threads=" + options.at("threads").dump() + " optimization=" + words(options, "optimization");
  const std::string set = readings_text(member(options, "set"));
  return text + (set.empty() ? "" : " " + set);
}

std::string result_text(const Rendering& rendering) {
  if (!rendering.is_fuzz()) return words(rendering.report, "certified");
  return rendering.report.at("conforms").get<bool>() ? "found nothing" : "found something";
}

}  // namespace assay::reports
