// SPDX-License-Identifier: Apache-2.0
#include "suites/expectations/baseline.h"

#include "suites/text/json_depth.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace assay::suites {
namespace {

using Json = nlohmann::json;

// A verdict of the report with nothing but what makes breaches.
std::set<Breach> breaches_of(const Json& json) {
  oracles::Verdict verdict;
  const auto state = oracles::state_named(json.at("state").get<std::string>());
  if (!state) throw std::invalid_argument("state");
  verdict.state = *state;
  json.at("because").get_to(verdict.because);
  std::vector<Mark> marks;
  for (const Json& each : json.value("marks", Json::array())) {
    Mark mark;
    mark.name = each.at("mark").get<std::string>();
    mark.by = each.at("by").get<std::string>();
    mark.breaches = each.at("breaches").get<bool>();
    marks.push_back(std::move(mark));
  }
  const std::vector<Breach> all = breaches(verdict, marks);
  return {all.begin(), all.end()};
}

void drop_contested(std::set<Breach>& breaches) {
  std::erase_if(breaches, [](const Breach& breach) { return breach.word == "contested"; });
}

}  // namespace

Baseline parse_baseline(std::string_view text, std::string_view name) {
  Baseline baseline{std::string(name), sha256(text), {}, {}};
  try {
    if (nests_too_deep(text)) throw std::invalid_argument("depth");
    const Json report = Json::parse(text);
    if (report.at("schema") != 1) throw std::invalid_argument("schema");
    const bool is_fuzz = report.value("kind", "") == "fuzz";
    if (is_fuzz)
      for (const Json& each : report.at("signatures"))
        baseline.signatures.insert(each.at("signature").get<std::string>());
    for (const Json& each : report.at(is_fuzz ? "failures" : "verdicts"))
      baseline.breaches[each.at("id").get<std::string>()] = breaches_of(each);
  } catch (const std::exception&) {  // of nlohmann, or a word that is not known
    throw InputError(baseline.file + " is no report of this version of assay; write one with certify --report");
  }
  return baseline;
}

Baseline read_baseline(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError("cannot read the baseline " + file.string() + "; write one with certify --report");
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  return parse_baseline(bytes, file.string());
}

bool Baseline::knows(std::string_view line, const std::string& signature, const Breach& breach) const {
  if (signatures.contains(signature)) return true;
  const auto found = breaches.find(case_id(line));
  return found != breaches.end() && found->second.contains(breach);
}

bool BaselineComparison::excuses(std::size_t index, std::string_view word) const {
  return std::ranges::any_of(known[index], [&](const Breach& each) { return each.word == word; });
}

BaselineComparison compare(const Baseline& baseline, const Suite& suite, const Campaign& campaign, Measure measure) {
  BaselineComparison comparison;
  comparison.known.resize(suite.cases.size());
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    if (!campaign.verdicts[i]) continue;
    const std::vector<Breach> all = breaches(*campaign.verdicts[i], campaign.marks[i]);
    std::set<Breach> now(all.begin(), all.end()), then;
    const auto found = baseline.breaches.find(case_id(suite.cases[i].line));
    if (found != baseline.breaches.end()) then = found->second;
    comparison.not_requested += found == baseline.breaches.end();
    if (measure == Measure::lenient) {
      drop_contested(now);
      drop_contested(then);
    }
    std::ranges::set_intersection(now, then, std::inserter(comparison.known[i], comparison.known[i].end()));
    const auto repeated = static_cast<Int>(comparison.known[i].size());
    comparison.repeated += repeated;
    comparison.fresh += static_cast<Int>(now.size()) - repeated;
    if (now.empty() && !then.empty()) comparison.fixed.push_back(i);
  }
  return comparison;
}

}  // namespace assay::suites
