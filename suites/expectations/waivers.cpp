// SPDX-License-Identifier: Apache-2.0
#include "suites/expectations/waivers.h"

#include "suites/campaign/cover.h"
#include "suites/expectations/evidence.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>

namespace assay::suites {
namespace {

// The versions that broke, oldest first.
std::vector<std::string> versions_of(const std::vector<Case>& cases) {
  std::set<OpVersion> versions;
  for (const Case& c : cases) versions.insert(c.version);
  std::vector<std::string> names;
  for (const OpVersion& version : versions) names.push_back(text(version));
  return names;
}

// Near misses that are refused pass, but only a crash can be of their kind.
std::vector<Case> outside_of(const Breaking& group, const CaseEvidence& evidence) {
  std::set<OpVersion> versions;
  for (const Case& c : group.cases) versions.insert(c.version);
  std::vector<Case> outside;
  const auto add = [&](const std::map<OpVersion, std::vector<Case>>& cases) {
    for (const OpVersion& version : versions)
      if (const auto found = cases.find(version); found != cases.end())
        outside.insert(outside.end(), found->second.begin(), found->second.end());
  };
  add(evidence.passing);
  if (group.word == "error") add(evidence.refused);
  return outside;
}

// The same breach under the same predicate of another version of the operator is one waiver.
void join(std::vector<Waiver>& all, Waiver next) {
  const auto name = [](const Waiver& waiver) {
    return waiver.operators.front().substr(0, waiver.operators.front().rfind('-'));
  };
  const auto same = std::ranges::find_if(all, [&](const Waiver& each) {
    return name(each) == name(next) && each.when == next.when && each.word == next.word &&
           each.because == next.because && each.says == next.says;
  });
  if (same == all.end()) {
    all.push_back(std::move(next));
    return;
  }
  if (std::ranges::find(same->operators, next.operators.front()) == same->operators.end()) {
    same->operators.push_back(next.operators.front());
    same->also += next.also;
  }
  same->covers += next.covers;
}

// A waiver of those cases of the group that `covered` holds.
Waiver waiver_of(const Breaking& group, const std::vector<Case>& covered, const Predicate& when, std::size_t also) {
  return {"",
          versions_of(covered),
          when.text(),
          group.word,
          group.because,
          group.says,
          static_cast<Int>(covered.size()),
          static_cast<Int>(also)};
}

// Takes the cases that a predicate holds for out of `left`.
std::vector<Case> taken(std::vector<Case>& left, const Predicate& when) {
  const auto rest = std::ranges::stable_partition(left, [&](const Case& c) { return when.holds(c); });
  std::vector<Case> out(std::make_move_iterator(left.begin()), std::make_move_iterator(rest.begin()));
  left.erase(left.begin(), rest.begin());
  return out;
}

// Drafts a waiver for each predicate that says where the group breaks and nothing passes: those of the report, else
// what the same search finds (what holds for the shrunk cases as well is what the breach needs). The cases that no such
// predicate holds for have one by what is common to them, which cases that pass may meet as well.
void add_drafts(const Breaking& group, const CaseEvidence& evidence, std::vector<Waiver>& all) {
  const std::vector<Case> outside = outside_of(group, evidence);
  std::vector<Predicate> where = group.where;
  if (where.empty()) {
    std::vector<Case> inside = group.cases;
    inside.insert(inside.end(), group.simplest.begin(), group.simplest.end());
    where = told_apart(inside, outside).all;
  }
  std::vector<Case> left = group.cases;
  for (const Predicate& when : where)
    if (const std::vector<Case> covered = taken(left, when); !covered.empty())
      join(all, waiver_of(group, covered, when, 0));
  if (left.empty()) return;
  const Cover found = cover(left, outside);
  join(all, waiver_of(group, left, found.when, found.also));
}

// "averagepool-fail-shape-2"
void name_each(std::vector<Waiver>& waivers) {
  std::map<std::string, int> used;
  for (Waiver& waiver : waivers) {
    const std::string& version = waiver.operators.front();
    std::string words = version.substr(0, version.rfind('-')) + " " + waiver.word;
    for (const std::string& each : waiver.because)
      if (each != waiver.word) words += " " + each;
    for (char& c : words)
      c = std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                                                      : '-';
    const int number = ++used[words];
    waiver.id = number == 1 ? words : words + "-" + std::to_string(number);
  }
}

std::string or_to_do(const std::string& words, const std::string& what) {
  return words.empty() ? std::string(to_do) + ": " + what : words;
}

std::string entry_text(const Waiver& waiver, const Stand& stand) {
  nlohmann::ordered_json entry{{"id", waiver.id}, {"operators", waiver.operators}};
  if (!waiver.when.empty()) entry["when"] = waiver.when;
  entry["states"] = {waiver.word};
  entry["because"] = waiver.because;
  entry["reason"] =
      or_to_do(stand.reason, "why this is accepted for now" + (waiver.says.empty() ? "" : "; " + waiver.says));
  entry["link"] = or_to_do(stand.link, "where it is tracked");
  entry["owner"] = or_to_do(stand.owner, "who answers for it");
  entry["expires"] = text(stand.expires);
  return entry.dump();
}

}  // namespace

WaiverDraft draft_waivers(std::string_view report, std::string_view name) {
  const CaseEvidence evidence = read_evidence(report, name);
  WaiverDraft draft{{}, evidence.about_passing};
  for (const Breaking& group : evidence.groups) add_drafts(group, evidence, draft.waivers);
  name_each(draft.waivers);
  return draft;
}

std::string ledger_text(const std::vector<Waiver>& waivers, const Stand& stand) {
  std::string entries;
  for (const Waiver& each : waivers) entries += (entries.empty() ? "" : ",\n    ") + entry_text(each, stand);
  return "{\n  \"ledger\": 1,\n  \"entries\": [" + (entries.empty() ? "" : "\n    " + entries + "\n  ") + "]\n}\n";
}

}  // namespace assay::suites
