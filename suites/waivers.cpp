// SPDX-License-Identifier: Apache-2.0
#include "suites/waivers.h"

#include "suites/cover.h"
#include "suites/evidence.h"

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

// What holds for the simplest cases as well is what the breach needs.
Waiver drafted(const Breaking& group, const CaseEvidence& evidence) {
  std::vector<Case> inside = group.cases;
  inside.insert(inside.end(), group.simplest.begin(), group.simplest.end());
  const Cover found = cover(inside, outside_of(group, evidence));
  return {"",
          versions_of(group.cases),
          found.when.text(),
          group.word,
          group.because,
          group.says,
          static_cast<Int>(group.cases.size()),
          static_cast<Int>(found.also)};
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
  for (const Breaking& group : evidence.groups) join(draft.waivers, drafted(group, evidence));
  name_each(draft.waivers);
  return draft;
}

std::string ledger_text(const std::vector<Waiver>& waivers, const Stand& stand) {
  std::string entries;
  for (const Waiver& each : waivers) entries += (entries.empty() ? "" : ",\n    ") + entry_text(each, stand);
  return "{\n  \"ledger\": 1,\n  \"entries\": [" + (entries.empty() ? "" : "\n    " + entries + "\n  ") + "]\n}\n";
}

}  // namespace assay::suites
