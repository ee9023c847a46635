// SPDX-License-Identifier: Apache-2.0
#include "suites/expectations/evidence.h"

#include "suites/expectations/baseline.h"
#include "suites/planning/shard.h"
#include "suites/planning/stream.h"
#include "suites/text/printable.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <tuple>

namespace assay::suites {
namespace {

using Json = nlohmann::json;

Case case_of(const Json& line) {
  Result<Case> read = parse_case(line.get<std::string>());
  if (!read) throw std::invalid_argument(read.error());
  return *std::move(read);
}

void keep_passing(Case c, CaseEvidence& evidence) {
  auto& cases = c.is_legal() ? evidence.passing : evidence.refused;
  cases[c.version].push_back(std::move(c));
}

// -- certify

// Refusals for one reason differ in numbers, not in words.
std::string letters(const std::string& detail) {
  std::string all;
  for (const char c : detail.substr(0, 1000))
    if (std::isalpha(static_cast<unsigned char>(c))) all += c;
  return all;
}

bool is_expected(const Json& verdict, const Breach& breach) {
  const Json marks = verdict.value("marks", Json::array());
  return std::ranges::any_of(
      marks, [&](const Json& mark) { return mark.at("mark") == "xfail" && mark.at("detail") == breach.word; });
}

// Tells whether a breach is on special values, which the report counts apart.
bool is_apart(const Json& report, const Json& verdict, const Breach& breach) {
  const std::string of_class = verdict.at("class");
  return (of_class == "nonfinite" || of_class == "overflow-int") &&
         report.value("special_values", "apart") == "apart" && breach.word == verdict.at("state").get<std::string>() &&
         breach.word != "error";
}

// The predicates of each operator version and cause, by the version's name and the number of the cause.
using Exceptions = std::map<std::pair<std::string, std::size_t>, std::vector<Predicate>>;

Exceptions exceptions_of(const Json& report) {
  Exceptions all;
  for (const Json& row : report.value("operators", Json::array()))
    for (const Json& each : row.value("exceptions", Json::array()))
      for (const Json& when : each.at("when")) {
        Result<Predicate> read = stated_predicate(when.get<std::string>());
        if (!read) throw std::invalid_argument(read.error());
        all[{row.at("op").get<std::string>(), each.at("cause").get<std::size_t>()}].push_back(*std::move(read));
      }
  return all;
}

CaseEvidence certified(const Json& report, const Baseline& known) {
  const Exceptions exceptions = exceptions_of(report);
  using Key = std::tuple<OpVersion, Breach, std::string>;  // and what a refusal said
  std::map<Key, Breaking> groups;
  CaseEvidence evidence;
  for (const Json& verdict : report.at("verdicts")) {
    Case c = case_of(verdict.at("line"));
    std::set<Breach> breaches = known.breaches.at(verdict.at("id").get<std::string>());
    if (report.at("mode") != "strict") std::erase_if(breaches, [](const Breach& b) { return b.word == "contested"; });
    for (const Breach& breach : breaches) {
      if (is_expected(verdict, breach) || is_apart(report, verdict, breach)) continue;
      const std::size_t cause = verdict.value("cause", std::size_t{0});
      const bool is_sorted = cause > 0 && breach.word == verdict.at("state").get<std::string>();
      const std::string said = is_sorted                  ? std::to_string(cause)
                               : breach.word == "refused" ? letters(verdict.at("detail").get<std::string>())
                                                          : "";
      Breaking& group =
          groups.try_emplace({c.version, breach, said}, Breaking{breach.word, {breach.because}}).first->second;
      if (is_sorted && group.cases.empty()) {
        group.says = printable(report.at("causes").at(cause - 1).at("sentence").get<std::string>());
        if (const auto found = exceptions.find({text(c.version), cause}); found != exceptions.end())
          group.where = found->second;
      }
      group.cases.push_back(c);
    }
    if (breaches.empty() && (verdict.at("state") == "pass" || verdict.at("state") == "contested"))
      keep_passing(std::move(c), evidence);
  }
  for (auto& [key, group] : groups) evidence.groups.push_back(std::move(group));
  return evidence;
}

// -- fuzz

constexpr std::uint64_t most_drawn = 20'000;  // indices; some seconds

// What a failure looks like, where no cause is named.
std::string look_of(const Json& failure) {
  const std::string line = failure.at("line");
  return line.substr(0, line.find(' ')) + "\t" + failure.at("state").get<std::string>() + "\t" +
         failure.at("because").get<std::string>() + "\t" + failure.at("pattern").get<std::string>();
}

// The shrunk cases of each cause, by its number.
std::map<std::size_t, std::vector<Case>> shrunk_cases(const Json& report) {
  std::map<std::size_t, std::vector<Case>> all;
  for (const Json& each : report.at("findings"))
    all[each.value("cause", std::size_t{0})].push_back(case_of(each.at("line")));
  return all;
}

// One group per cause, breach and operator; what no cause claims is grouped by what it looks like.
void group_failures(const Json& report, CaseEvidence& evidence) {
  const std::map<std::size_t, std::vector<Case>> shrunk = shrunk_cases(report);
  const Json& causes = report.at("causes");
  if (!causes.is_array()) throw std::invalid_argument("causes");
  std::map<std::tuple<std::size_t, std::string, std::string, std::string>, Breaking> groups;
  for (const Json& failure : report.at("failures")) {
    if (failure.at("excused").get<bool>()) continue;
    Case c = case_of(failure.at("line"));
    const std::string word = failure.at("state");
    const std::size_t cause = failure.value("cause", std::size_t{0});
    Breaking& group = groups[{cause, c.version.domain, c.version.name, word + (cause > 0 ? "" : look_of(failure))}];
    if (group.cases.empty()) {
      group.word = word;
      if (cause > 0) group.says = printable(causes.at(cause - 1).at("sentence").get<std::string>());
      if (const auto found = shrunk.find(cause); cause > 0 && found != shrunk.end())
        std::ranges::copy_if(found->second, std::back_inserter(group.simplest), [&](const Case& each) {
          return std::tie(each.version.domain, each.version.name) == std::tie(c.version.domain, c.version.name);
        });
    }
    group.because.insert(failure.at("because").get<std::string>());
    group.cases.push_back(std::move(c));
  }
  for (auto& [key, group] : groups) evidence.groups.push_back(std::move(group));
}

// Marks that break conformance, by operator version, name and what showed them.
void group_marks(const Json& report, CaseEvidence& evidence) {
  std::map<std::tuple<OpVersion, std::string, std::string>, Breaking> groups;
  for (const Json& marked : report.at("marked"))
    for (const Json& mark : marked.at("marks")) {
      if (!mark.at("breaches").get<bool>()) continue;
      Case c = case_of(marked.at("line"));
      const std::string word = mark.at("mark"), by = mark.at("by");
      groups.try_emplace({c.version, word, by}, Breaking{word, {by}}).first->second.cases.push_back(std::move(c));
    }
  for (auto& [key, group] : groups) evidence.groups.push_back(std::move(group));
}

struct Plan {
  Selection selection;
  std::uint64_t seed, requested, regressions;
  Shard shard;

  explicit Plan(const Json& json)
      : seed(json.at("seed")),
        requested(json.at("asked")),
        regressions(json.at("regressions")),
        shard(shard_named(json.at("shard").get<std::string>())) {
    for (const Json& each : json.at("operators")) selection.operators.insert(each.get<std::string>());
    for (const Json& each : json.at("types")) {
      const auto type = dtype_named(each.get<std::string>());
      if (!type) throw std::invalid_argument("type");
      selection.types.insert(*type);
    }
  }
};

// The cases of the stream that were run, as far as they are drawn again.
std::map<std::uint64_t, SuiteCase> drawn_again(const Plan& plan) {
  std::map<std::uint64_t, SuiteCase> cases;
  Stream stream(plan.selection, plan.seed);
  const std::uint64_t own =
      plan.requested - std::min(plan.requested, plan.regressions);  // of a shard, at least so many
  for (std::uint64_t i = 0; i < most_drawn && cases.size() < own; ++i) {
    const std::uint64_t index = plan.regressions + i;
    if (plan.shard.holds(index))
      cases.emplace(index, stream.next());
    else
      stream.skip();
  }
  return cases;
}

// The lines that the report keeps.
struct Kept {
  std::map<std::uint64_t, std::string> lines;  // by index: what failed or was marked
  std::set<std::string> broken;                // of these, what breaks conformance

  explicit Kept(const Json& report) {
    for (const char* list : {"failures", "marked"})
      for (const Json& each : report.at(list)) {
        const std::string line = each.at("line");
        lines[each.at("index").get<std::uint64_t>()] = line;
        const auto breaches = [](const Json& mark) { return mark.at("breaches").get<bool>(); };
        if (!each.contains("marks") || std::ranges::any_of(each.at("marks"), breaches)) broken.insert(line);
      }
  }
};

// What did not fail, drawn again. The lines that the report keeps say whether these are the cases that were run.
void draw_passing(const Plan& plan, const Kept& kept, CaseEvidence& evidence) {
  std::map<std::uint64_t, SuiteCase> cases = drawn_again(plan);
  const bool are_same = std::ranges::all_of(kept.lines, [&](const auto& each) {
    const auto found = cases.find(each.first);
    return found == cases.end() || found->second.line == each.second;
  });
  if (!are_same) {
    evidence.about_passing =
        "another assay drew the cases of this report, so what passed is not known: every entry meets "
        "whatever its breaking cases have in common; narrow them by hand";
    return;
  }
  const std::size_t all = cases.size();
  std::size_t passing = 0;
  for (auto& [index, planned] : cases)
    if (!kept.broken.contains(planned.line)) {
      ++passing;
      keep_passing(std::move(planned.c), evidence);
    }
  evidence.about_passing = "a fuzz report does not keep what passed: drawn again from its seed were " +
                           std::to_string(all) + " of its " + std::to_string(plan.requested) + " cases, of which " +
                           std::to_string(passing) + " did not fail";
}

}  // namespace

CaseEvidence read_evidence(std::string_view text, std::string_view name) {
  const Baseline known = parse_baseline(text, name);  // says what is wrong with what is no report
  std::optional<Plan> plan;
  std::optional<Kept> kept;
  CaseEvidence evidence;
  try {
    const Json report = Json::parse(text);
    if (report.value("kind", "") != "fuzz") return certified(report, known);
    plan.emplace(report.at("plan"));
    kept.emplace(report);
    group_failures(report, evidence);
    group_marks(report, evidence);
  } catch (const std::exception&) {  // of nlohmann, or a line or word that is not known
    throw InputError(std::string(name) +
                     " is no report of this version of assay; write one with certify or fuzz --report");
  }
  draw_passing(*plan, *kept, evidence);
  return evidence;
}

}  // namespace assay::suites
