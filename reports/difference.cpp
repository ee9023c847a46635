// SPDX-License-Identifier: Apache-2.0
#include "reports/difference.h"

#include "oracles/exact/accuracy.h"
#include "reference/case.h"
#include "reference/result.h"
#include "reference/sequence.h"
#include "reports/report.h"
#include "reports/rows.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_map>

namespace assay::reports {
namespace {

// Tells whether a case counts against the backend; one on special values that was judged apart does not.
bool breaks(const CaseRow& row) { return row.standing == RowOutcome::breaches || row.standing == RowOutcome::error; }

bool was_judged_good(const CaseRow& row) { return row.state == "pass" || row.state == "contested"; }

// Breaches from the mildest on; what is no breach is 0.
int gravity(const CaseRow& row) {
  constexpr std::array<std::string_view, 5> order = {"contested", "refused", "below", "fail", "error"};
  return breaks(row) ? static_cast<int>(std::ranges::find(order, row.state) - order.begin()) + 1 : 0;
}

std::optional<oracles::Level> level_of(const Json& verdict) { return oracles::level_named(words(verdict, "level")); }

std::string told(const CaseRow& row) {
  const std::string level = words(*row.json, "level"), marks = row.marks();
  return row.state + (row.because.empty() || row.because == row.state ? "" : " (" + row.because + ")") +
         (row.state == "pass" && !level.empty() ? " " + level : "") + (marks.empty() ? "" : ", " + marks);
}

bool reads_otherwise(const CaseRow& a, const CaseRow& b) {
  return member(*a.json, "readings") != member(*b.json, "readings") ||
         member(*a.json, "followed") != member(*b.json, "followed");
}

// Nothing where both end alike.
std::optional<ChangeKind> kind_of(const CaseRow& a, const CaseRow& b) {
  if (breaks(b) != breaks(a)) {
    if (breaks(b)) return ChangeKind::broken;
    return was_judged_good(b) ? ChangeKind::fixed : ChangeKind::otherwise;  // declared away is not mended
  }
  if (breaks(b) && a.state != b.state) return gravity(b) > gravity(a) ? ChangeKind::worse : ChangeKind::better;
  if (was_judged_good(a) && b.state == "unsupported") return ChangeKind::lost;
  if (a.state == "unsupported" && was_judged_good(b)) return ChangeKind::gained;
  if (was_judged_good(a) && was_judged_good(b) && reads_otherwise(a, b)) return ChangeKind::reading;
  if (const auto before = level_of(*a.json), after = level_of(*b.json); before && after && before != after)
    return *after > *before ? ChangeKind::level_down
                            : ChangeKind::level_up;  // levels stand from the strongest to the weakest
  return told(a) == told(b) ? std::nullopt : std::optional(ChangeKind::otherwise);
}

std::string side(const Json& report) {
  return backend_text(report) + ", " + configuration_text(report) + ", assay " + words(report.at("tool"), "version");
}

// Tells whether the same backend ran in the same way: then it is not the backend that changed. A backend that gives no
// version may have changed all the same.
bool is_same_backend(const Json& a, const Json& b) {
  const auto of = [](const Json& report) {
    const Json& backend = report.at("backend");
    return std::array{member(backend, "name"),
                      member(backend, "version"),
                      member(backend, "device"),
                      member(backend.at("options"), "threads"),
                      member(backend.at("options"), "optimization"),
                      member(backend.at("options"), "set")};
  };
  return of(a) == of(b) && !words(a.at("backend"), "version").empty();
}

void remark_on(const Json& a, const Json& b, Difference& difference) {
  const auto differs = [&](const char* name) { return member(a, name) != member(b, name); };
  if (differs("judgement"))
    difference.remarks.push_back(
        is_same_backend(a, b)
            ? "the judgement changed and the backend did not: what ends otherwise is judged otherwise, or the backend "
              "does not answer alike twice"
            : "the judgement changed as well: what ends otherwise may be judged otherwise and not be the backend's "
              "doing; for that, run both with one assay");
  else if (is_same_backend(a, b))
    difference.remarks.push_back(
        "backend and judgement are the same: the backend does not answer alike twice where "
        "cases end otherwise");
  if (differs("level") || differs("mode")) difference.remarks.push_back("the two ask for different levels or modes");
}

std::string standing(const Json& row) {
  const std::string level = words(row, "level");
  return words(row, "certified") + (level.empty() ? "" : " " + level) + " " + row.at("judged").dump() + "/" +
         row.at("legal").dump();
}

bool no_longer_conforms(const Json& a, const Json& b) {
  return words(a, "certified") == "conforms" && words(b, "certified") == "not conforming";
}

// The weakest level of either side over the deciding cases that pass on both. Other cases have no say: a mend adds
// passes, and with them weaker levels.
struct Weakest {
  std::optional<oracles::Level> before, after;

  void see(const CaseRow& a, const CaseRow& b) {
    const auto then = level_of(*a.json), now = level_of(*b.json);
    if (a.state != "pass" || b.state != "pass" || !then || !now || !decides(words(*b.json, "class"))) return;
    before = std::max(before.value_or(*then), *then);
    after = std::max(after.value_or(*now), *now);
  }
  bool is_weaker() const { return before && *after > *before; }
};
using WeakestLevels = std::map<std::string, Weakest>;  // by operator version

void compare_versions(const Json& a, const Json& b, bool same_suite, const WeakestLevels& levels,
                      Difference& difference) {
  std::map<std::string, const Json*> then;
  for (const Json& row : a.at("operators")) then[words(row, "op")] = &row;
  for (const Json& row : b.at("operators")) {
    VersionChange change{words(row, "op"), "", standing(row), {}, false};
    if (const auto found = then.find(change.op); found != then.end()) {
      change.before = standing(*found->second);
      const auto level = levels.find(change.op);
      change.is_worse = (same_suite && no_longer_conforms(*found->second, row)) ||
                        (level != levels.end() && level->second.is_weaker());
      then.erase(found);
    }
    difference.versions.push_back(std::move(change));
  }
  for (const auto& [op, row] : then) difference.versions.push_back({op, standing(*row), "", {}, false});
}

void count(Difference& difference) {
  for (const CaseChange& each : difference.cases) {
    ++difference.counts[each.kind];
    for (VersionChange& version : difference.versions)
      if (version.op == each.op) ++version.counts[each.kind];
  }
}

WeakestLevels compare_cases(const Rendering& reports, Difference& difference) {
  const Rendering earlier{*reports.baseline, std::nullopt, "", "", Grain::cases};
  const CaseRows before(earlier), after(reports);
  std::unordered_map<std::string, const CaseRow*> then;
  WeakestLevels levels;
  for (const CaseRow& row : before.rows()) then.emplace(words(*row.json, "id"), &row);
  for (const CaseRow& row : after.rows()) {
    const std::string id = words(*row.json, "id");
    const auto found = then.find(id);
    if (found == then.end()) {
      ++difference.fresh;
      continue;
    }
    ++difference.common;
    const CaseRow& was = *found->second;
    levels[row.op].see(was, row);
    if (const auto kind = kind_of(was, row))
      difference.cases.push_back({*kind, id, row.op, row.line, told(was), told(row), row.detail,
                                  row.replay().empty() ? was.replay() : row.replay()});
  }
  difference.gone = static_cast<Int>(then.size()) - difference.common;
  return levels;
}

// Compares the windows of a model that both have; which are run depends on the nodes that are wrong alone.
void compare_windows(const Json& a, const Json& b, Difference& difference) {
  const Json before = member(a, "windows"), after = member(b, "windows");
  std::map<std::string, const Json*> then;
  for (const Json& each : before) then[each.at("line").get<std::string>()] = &each;
  for (const Json& each : after) {
    const std::string line = each.at("line"), nodes = joined(each.at("nodes").get<std::vector<std::string>>(), " > ");
    const auto found = then.find(line);
    if (found == then.end() || member(*found->second, "state") == member(each, "state")) continue;
    const bool was_wrong = found->second->contains("replay"), is_wrong = each.contains("replay");
    const ChangeKind kind = is_wrong && !was_wrong                              ? ChangeKind::broken
                            : was_wrong && !is_wrong && each["state"] == "pass" ? ChangeKind::fixed
                                                                                : ChangeKind::otherwise;
    difference.cases.push_back({kind, case_id(line), nodes, line, words(*found->second, "state"), words(each, "state"),
                                words(each, "because"), words(is_wrong ? each : *found->second, "replay", 1 << 20)});
  }
}

// Compares what drawn graphs came to, cause by cause.
void compare_graphs(const Json& a, const Json& b, Difference& difference) {
  if (!a.contains("graphs") || !b.contains("graphs")) return;
  const auto by_text = [](const Json& report) {
    std::map<std::string, const Json*> causes;
    for (const Json& each : report.at("graphs").at("causes")) causes[words(each, "text", 4000)] = &each;
    return causes;
  };
  const auto before = by_text(a), after = by_text(b);
  const auto add = [&](ChangeKind kind, const std::string& text, const Json& cause) {
    const std::string line = words(cause, "line", 1 << 20), state = words(cause, "state");
    const bool is_new = kind == ChangeKind::broken;
    difference.cases.push_back({kind, case_id(line), text, line, is_new ? "pass" : state, is_new ? state : "pass",
                                words(cause, "detail", 4000), words(cause, "replay", 1 << 20)});
  };
  for (const auto& [text, cause] : after)
    if (!before.contains(text)) add(ChangeKind::broken, text, *cause);
  const bool as_many = a.at("graphs").at("graphs") <= b.at("graphs").at("graphs");
  for (const auto& [text, cause] : before)
    if (!after.contains(text) && as_many) add(ChangeKind::fixed, text, *cause);
}

std::map<std::string, Int> signatures(const Json& report) {
  std::map<std::string, Int> all;
  for (const Json& each : report.at("signatures")) all[words(each, "signature", 4000)] = each.at("count").get<Int>();
  return all;
}

// The cases of two campaigns need not be the same, so only what failures look like can be compared.
void compare_signatures(const Rendering& reports, Difference& difference) {
  difference.remarks.emplace_back(
      "these are campaigns: compared is what failures look like, and what was not met again may not have been run");
  const auto before = signatures(*reports.baseline), after = signatures(reports.report);
  std::set<std::string> versions;
  const auto add = [&](ChangeKind kind, const std::string& signature, Int then, Int now) {
    versions.insert(op_of(signature));
    difference.cases.push_back({kind, "", op_of(signature), signature, cases(then), cases(now), "", ""});
  };
  for (const auto& [signature, count] : after)
    before.contains(signature) ? void(++difference.common) : add(ChangeKind::broken, signature, 0, count);
  for (const auto& [signature, count] : before)
    if (!after.contains(signature)) add(ChangeKind::fixed, signature, count, 0);
  for (const std::string& op : versions) difference.versions.push_back({op, "", "", {}, false});
}

}  // namespace

std::string_view name(ChangeKind kind) {
  constexpr std::array<std::string_view, kinds> names = {"broken", "worse",   "lost",       "fixed",    "better",
                                                         "gained", "reading", "level down", "level up", "otherwise"};
  return names[static_cast<std::size_t>(kind)];
}

bool Difference::is_worse() const {
  return counts.contains(ChangeKind::broken) || counts.contains(ChangeKind::worse) ||
         counts.contains(ChangeKind::lost) || std::ranges::any_of(versions, &VersionChange::is_worse);
}

Difference difference(const Rendering& reports) {
  const Json &a = *reports.baseline, &b = reports.report;
  Difference difference;
  difference.before = side(a);
  difference.after = side(b);
  remark_on(a, b, difference);
  if (reports.is_fuzz()) {
    compare_signatures(reports, difference);
  } else {
    const WeakestLevels levels = compare_cases(reports, difference);
    const bool same_suite =
        member(a.at("suite"), "hash") == member(b.at("suite"), "hash") && difference.fresh == 0 && difference.gone == 0;
    if (!same_suite)
      difference.remarks.push_back("the suites or what was reached of them differ: compared are the " +
                                   cases(difference.common) + " that both have; " + cases(difference.fresh) +
                                   " are new, " + cases(difference.gone) + " are gone");
    compare_versions(a, b, same_suite, levels, difference);
    compare_windows(a, b, difference);
    compare_graphs(a, b, difference);
    std::ranges::stable_sort(difference.cases, {}, &CaseChange::kind);
  }
  count(difference);
  return difference;
}

Difference read_difference(const std::string& before, const std::string& after) {
  const Rendering reports = rendering(after, before);
  try {
    return difference(reports);
  } catch (const Json::exception&) {
    throw InputError(before + " and " + after + " are not both reports of this version of assay");
  }
}

}  // namespace assay::reports
