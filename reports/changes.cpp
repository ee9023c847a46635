// SPDX-License-Identifier: Apache-2.0
// Two reports of one kind side by side: which cases ended otherwise, which versions stand otherwise.
#include "reports/render.h"

#include <map>
#include <string>
#include <unordered_map>

namespace assay::reports {
namespace {

bool is_breach(const Json& verdict, bool strict) {
  const std::string& state = verdict.at("state").get_ref<const std::string&>();
  return state == "fail" || state == "below" || state == "refused" || state == "error" ||
         (strict && state == "contested");
}

// "broken" where it breaches now and did not, "fixed" the other way round, "otherwise" where only the words differ.
std::string_view kind_of(const Json& before, const Json& after, bool strict) {
  const bool was = is_breach(before, strict), is = is_breach(after, strict);
  return is == was ? "otherwise" : is ? "broken" : "fixed";
}

std::string words(const Json& verdict) {
  const std::string because = verdict.value("because", "");
  return verdict.at("state").get<std::string>() + (because.empty() ? "" : " (" + because + ")");
}

Json standing(const Json& row) { return {{"certified", row.at("certified")}, {"level", row.at("level")}}; }

Json changed_versions(const Rendering& rendering) {
  Json all = Json::array();
  for (const Json& now : rendering.report.at("operators"))
    for (const Json& then : rendering.baseline->at("operators"))
      if (now.at("op") == then.at("op") && standing(now) != standing(then))
        all.push_back({{"op", now.at("op")}, {"before", standing(then)}, {"after", standing(now)}});
  return all;
}

// By id of the case.
void add_verdicts(Json& changes, const Rendering& rendering) {
  std::unordered_map<std::string_view, const Json*> then;
  for (const Json& each : rendering.baseline->at("verdicts"))
    then.emplace(each.at("id").get_ref<const std::string&>(), &each);
  const bool strict = rendering.report.value("mode", "") == "strict";
  std::size_t added = 0, shared = 0;
  std::map<std::string, std::size_t> counts{{"broken", 0}, {"fixed", 0}, {"otherwise", 0}};
  Json cases = Json::array();
  for (const Json& now : rendering.report.at("verdicts")) {
    const auto found = then.find(now.at("id").get_ref<const std::string&>());
    if (found == then.end()) {
      ++added;
      continue;
    }
    ++shared;
    const std::string before = words(*found->second), after = words(now);
    if (before == after) continue;
    const std::string kind(kind_of(*found->second, now, strict));
    ++counts[kind];
    cases.push_back({{"id", now.at("id")}, {"kind", kind}, {"before", before}, {"after", after}});
  }
  changes["same_suite"] = rendering.report.at("suite").at("hash") == rendering.baseline->at("suite").at("hash");
  for (const auto& [kind, count] : counts) changes[kind] = count;
  changes["added"] = added;
  changes["gone"] = then.size() - shared;
  changes["versions"] = changed_versions(rendering);
  changes["cases"] = std::move(cases);
}

// By what failures look like: the questions of two campaigns need not be the same.
void add_signatures(Json& changes, const Rendering& rendering) {
  const auto missing = [](const Json& from, const Json& in) {
    Json all = Json::array();
    for (const Json& each : from.at("signatures")) {
      bool found = false;
      for (const Json& other : in.at("signatures")) found |= other.at("signature") == each.at("signature");
      if (!found) all.push_back(each);
    }
    return all;
  };
  changes["new_signatures"] = missing(rendering.report, *rendering.baseline);
  changes["gone_signatures"] = missing(*rendering.baseline, rendering.report);
}

}  // namespace

Json changes(const Rendering& rendering) {
  if (!rendering.baseline) return nullptr;
  const Json& then = *rendering.baseline;
  Json changes = {{"file", rendering.baseline_file},
                  {"backend", {{"name", then.at("backend").at("name")}, {"version", then.at("backend").at("version")}}},
                  {"tool", then.at("tool").at("version")},
                  {"same_judgement", then.at("judgement").at("hash") == rendering.report.at("judgement").at("hash")}};
  if (rendering.is_fuzz())
    add_signatures(changes, rendering);
  else
    add_verdicts(changes, rendering);
  return changes;
}

}  // namespace assay::reports
