// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/narrowing.h"

#include "reference/operator.h"
#include "suites/campaign/errors.h"
#include "suites/campaign/signature.h"
#include "suites/text/json_depth.h"
#include "suites/workers/vector_folder.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace assay::suites {
namespace {

using Json = nlohmann::json;

constexpr std::uintmax_t most_report = std::uintmax_t{1} << 32;

bool breaches_conformance(const Json& verdict, bool strict) {
  const auto state = oracles::state_named(verdict.at("state").get<std::string>());
  if (!state) throw std::invalid_argument("state");
  if (is_finding(*state) || (strict && *state == oracles::State::contested)) return true;
  const Json marks = verdict.value("marks", Json::array());
  return std::ranges::any_of(marks, [](const Json& mark) { return mark.at("breaches").get<bool>(); });
}

std::vector<std::string> lines_in(const Json& report, bool strict) {
  if (report.at("schema") != 1) throw std::invalid_argument("schema");
  const bool is_fuzz = report.value("kind", "") == "fuzz";
  std::vector<std::string> lines;
  for (const char* list : is_fuzz ? std::vector{"failures", "marked"} : std::vector{"verdicts"})
    for (const Json& each : report.at(list))
      if (breaches_conformance(each, strict)) lines.push_back(each.at("line").get<std::string>());
  return lines;
}

std::vector<const Definition*> definitions_in(const Suite& suite) {
  std::set<const Definition*> all;
  for (const SuiteCase& planned : suite.cases) all.insert(&planned.c.definition());
  return {all.begin(), all.end()};
}

}  // namespace

Suite narrowed(Suite suite, const Predicate& predicate) {
  if (const auto mistake = predicate.mistake(definitions_in(suite))) throw InputError(mistake->text);
  std::erase_if(suite.cases, [&](const SuiteCase& planned) { return !predicate.holds(planned.c); });
  suite.complete = false;
  suite.hash = suite_hash(suite.cases);
  return suite;
}

std::vector<std::string> failed_lines(const std::filesystem::path& file, bool strict) {
  const Result<std::string> text = file_contents(file, most_report);
  if (!text) throw InputError(text.error());
  try {
    if (nests_too_deep(*text)) throw std::invalid_argument("depth");
    return lines_in(Json::parse(*text), strict);
  } catch (const std::exception&) {  // of nlohmann, or a word that is not known
    throw InputError(file.string() + " is no report of this version of assay; write one with certify --report");
  }
}

Suite suite_of(const std::vector<std::string>& lines, const std::string& origin, const Selection& selection) {
  Suite suite;
  suite.version = suite_version;
  suite.complete = false;
  std::set<std::string> seen;
  for (const std::string& text : lines) {
    Result<Case> c = parse_case(text);
    if (!c) throw InputError(origin + ": " + c.error());
    std::string canonical = line(*c);
    if (!selection.admits(c->definition(), first_type(*c)) || !seen.insert(canonical).second) continue;
    suite.cases.push_back({*std::move(c), std::move(canonical), origin, std::nullopt});
  }
  suite.hash = suite_hash(suite.cases);
  return suite;
}

}  // namespace assay::suites
