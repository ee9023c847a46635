// SPDX-License-Identifier: Apache-2.0
#include "suites/waivers.h"

#include "suites/baseline.h"
#include "suites/cover.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <tuple>

namespace assay::suites {
namespace {

using Json = nlohmann::json;

// Refusals for one reason differ in numbers, not in words.
std::string letters(const std::string& detail) {
  std::string all;
  for (const char c : detail.substr(0, 1000))
    if (std::isalpha(static_cast<unsigned char>(c))) all += c;
  return all;
}

// Operator version, breach, and what a refusal said.
using Key = std::tuple<OpVersion, Breach, std::string>;

struct Evidence {
  std::map<Key, std::vector<Case>> breaking;
  std::map<OpVersion, std::vector<Case>> passing, refused;  // legal models, and near misses
};

bool is_expected(const Json& verdict, const Breach& breach) {
  const Json marks = verdict.value("marks", Json::array());
  return std::ranges::any_of(
      marks, [&](const Json& mark) { return mark.at("mark") == "xfail" && mark.at("detail") == breach.word; });
}

void tell(const Json& verdict, const std::set<Breach>& breaches, Evidence& evidence) {
  Result<Case> read = parse_case(verdict.at("line").get<std::string>());
  if (!read) throw InputError(read.error());
  const Case& c = *read;
  const bool passes = verdict.at("state") == "pass" || verdict.at("state") == "contested";
  const bool is_near_miss = verdict.at("class").get<std::string>().starts_with("invalid");
  if (breaches.empty() && passes) (is_near_miss ? evidence.refused : evidence.passing)[c.version].push_back(c);
  for (const Breach& breach : breaches)
    if (!is_expected(verdict, breach))
      evidence
          .breaking[{c.version, breach,
                     breach.word == "refused" ? letters(verdict.at("detail").get<std::string>()) : ""}]
          .push_back(c);
}

Evidence evidence_of(std::string_view text, std::string_view name) {
  const Baseline known = parse_baseline(text, name);  // says what is wrong with what is no report
  const Json report = Json::parse(text);
  const bool strict = report.value("mode", "") == "strict";
  Evidence evidence;
  for (const Json& verdict : report.at("verdicts")) {
    std::set<Breach> breaches = known.breaches.at(verdict.at("id").get<std::string>());
    if (!strict) std::erase_if(breaches, [](const Breach& each) { return each.word == "contested"; });
    tell(verdict, breaches, evidence);
  }
  return evidence;
}

Waiver drafted(const Key& key, const std::vector<Case>& inside, const std::vector<Case>& outside) {
  const auto& [version, breach, said] = key;
  const Cover found = cover(inside, outside);
  return {
      "", {text(version)}, found.when.text(), breach, static_cast<Int>(inside.size()), static_cast<Int>(found.also)};
}

// The same breach under the same predicate of another version of the operator is one waiver.
void join(std::vector<Waiver>& all, Waiver next) {
  const auto name = [](const Waiver& waiver) {
    return waiver.operators.front().substr(0, waiver.operators.front().rfind('-'));
  };
  const auto same = std::ranges::find_if(all, [&](const Waiver& each) {
    return name(each) == name(next) && each.when == next.when && each.breach == next.breach;
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
    std::string words = version.substr(0, version.rfind('-')) + " " + waiver.breach.word;
    if (waiver.breach.because != waiver.breach.word) words += " " + waiver.breach.because;
    for (char& c : words)
      c = std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                                                      : '-';
    const int number = ++used[words];
    waiver.id = number == 1 ? words : words + "-" + std::to_string(number);
  }
}

std::string or_to_do(const std::string& words, const char* what) {
  return words.empty() ? std::string(to_do) + ": " + what : words;
}

std::string entry_text(const Waiver& waiver, const Stand& stand) {
  nlohmann::ordered_json entry{{"id", waiver.id}, {"operators", waiver.operators}};
  if (!waiver.when.empty()) entry["when"] = waiver.when;
  entry["states"] = {waiver.breach.word};
  entry["because"] = {waiver.breach.because};
  entry["reason"] = or_to_do(stand.reason, "why this is accepted for now");
  entry["link"] = or_to_do(stand.link, "where it is tracked");
  entry["owner"] = or_to_do(stand.owner, "who answers for it");
  entry["expires"] = text(stand.expires);
  return entry.dump();
}

}  // namespace

std::vector<Waiver> draft_waivers(std::string_view report, std::string_view name) {
  Evidence evidence = evidence_of(report, name);
  std::vector<Waiver> all;
  for (const auto& [key, inside] : evidence.breaking) {
    const OpVersion& version = std::get<OpVersion>(key);
    std::vector<Case> outside = evidence.passing[version];
    // Near misses that are refused pass, but only a crash can be of their kind.
    if (std::get<Breach>(key).word == "error")
      std::ranges::copy(evidence.refused[version], std::back_inserter(outside));
    join(all, drafted(key, inside, outside));
  }
  name_each(all);
  return all;
}

std::string ledger_text(const std::vector<Waiver>& waivers, const Stand& stand) {
  std::string entries;
  for (const Waiver& each : waivers) entries += (entries.empty() ? "" : ",\n    ") + entry_text(each, stand);
  return "{\n  \"ledger\": 1,\n  \"entries\": [" + (entries.empty() ? "" : "\n    " + entries + "\n  ") + "]\n}\n";
}

}  // namespace assay::suites
