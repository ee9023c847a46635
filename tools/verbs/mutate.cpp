// SPDX-License-Identifier: Apache-2.0
// assay mutate: how strong the suite is. Puts every planted bug to the judge, case by case, and counts.
#include "reference/sequence.h"
#include "reports/atomic_file.h"
#include "suites/mutation/strength.h"
#include "tools/verbs/circumstances.h"
#include "tools/verbs/options.h"
#include "tools/verbs/table.h"
#include "tools/verbs/verbs.h"
#include "tools/verbs/words.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>

namespace assay::tools {
namespace {

using mutation::AccuracyProbe;
using mutation::Mutant;
using mutation::Severity;
using mutation::Trial;
using nlohmann::json;

struct Options {
  std::vector<std::string> operators;
  std::string mutant, report, suites;
  Int cases = 2'000;
  std::uint64_t seed = 1;
  int jobs = 0;
  bool markdown = false;
};

struct Measured {
  std::vector<Trial> trials;
  std::vector<AccuracyProbe> accuracy_probes;

  bool is_strong() const {
    return std::ranges::all_of(trials, [](const Trial& t) { return t.is_bug() ? t.is_killed() : !t.is_refuted(); }) &&
           std::ranges::all_of(accuracy_probes, &AccuracyProbe::is_flagged);
  }
};

// The bugs of one operator version.
struct Score {
  Int bugs = 0, killed = 0, semantic = 0, semantic_killed = 0, pinned = 0, equivalent = 0;
  std::vector<Int> counts = {};  // of the semantic ones: cases to the first kill
  const Trial* latest = nullptr;

  void count(const Trial& trial) {
    if (!trial.is_bug()) {
      ++equivalent;
      return;
    }
    const bool is_semantic = trial.mutant->severity == Severity::semantic;
    ++bugs;
    semantic += is_semantic;
    pinned += trial.pinned.has_value();
    if (!trial.is_killed()) return;
    ++killed;
    semantic_killed += is_semantic;
    if (is_semantic) counts.push_back(*trial.generated);
    if (!latest || *trial.generated > *latest->generated) latest = &trial;
  }
  Int median() const {
    if (counts.empty()) return 0;
    std::vector<Int> sorted = counts;
    std::ranges::sort(sorted);
    return sorted[(sorted.size() - 1) / 2];
  }
  Int worst() const { return counts.empty() ? 0 : *std::ranges::max_element(counts); }
};

std::vector<std::pair<std::string, Score>> scores(const std::vector<Trial>& trials) {
  std::vector<std::pair<std::string, Score>> list;
  for (const Trial& trial : trials) {
    const std::string version = text(trial.version);
    if (list.empty() || list.back().first != version) list.emplace_back(version, Score{});
    list.back().second.count(trial);
  }
  Score all;
  for (const Trial& trial : trials) all.count(trial);
  list.emplace_back("all", std::move(all));
  return list;
}

std::string of(Int part, Int whole) { return std::to_string(part) + " of " + std::to_string(whole); }

std::vector<TableRow> score_table(const std::vector<Trial>& trials) {
  std::vector<TableRow> rows{{"operator version", "bugs found", "semantic ones", "cases to find one (median)", "worst",
                              "latest of all", "found by the pinned cases alone", "equivalent"}};
  for (const auto& [version, s] : scores(trials))
    rows.push_back({version, of(s.killed, s.bugs), of(s.semantic_killed, s.semantic), std::to_string(s.median()),
                    std::to_string(s.worst()),
                    s.latest ? std::to_string(*s.latest->generated) + ", " + s.latest->mutant->id : "",
                    of(s.pinned, s.bugs), std::to_string(s.equivalent)});
  return rows;
}

std::string cell(const AccuracyProbe& s) {
  const std::string said = s.is_flagged() ? s.right + " → " + s.said : "not flagged";
  return said + " (dense: " + s.dense + ")";
}

std::vector<TableRow> sounding_table(const std::vector<AccuracyProbe>& accuracy_probes) {
  std::vector<TableRow> rows{{"weaker arithmetic", "K = 27", "K = 576", "K = 4608"}};
  for (const AccuracyProbe& s : accuracy_probes) {
    const auto row = std::ranges::find_if(rows, [&](const TableRow& each) { return each.front() == s.mutant->id; });
    if (row == rows.end())
      rows.push_back({s.mutant->id, cell(s)});
    else
      row->push_back(cell(s));
  }
  return rows;
}

void print_survivors(const Measured& measured, Int cases) {
  for (const Trial& t : measured.trials) {
    if (t.is_bug() && !t.is_killed())
      std::cout << "SURVIVES " << cases << " cases: " << t.mutant->id << " in " << text(t.version) << ": "
                << t.mutant->description << "; its outputs differed in " << t.changed << "\n";
    if (t.is_refuted())
      std::cout << "NOT EQUIVALENT: " << t.mutant->id << " in " << text(t.version) << ", said to be for "
                << t.equivalent << "; differs on " << t.line << "\n";
  }
}

void print(const Measured& measured, const Options& options) {
  const auto show = options.markdown ? print_markdown : print_columns;
  if (!measured.trials.empty()) show(score_table(measured.trials));
  if (!measured.accuracy_probes.empty()) {
    std::cout << "\n";
    show(sounding_table(measured.accuracy_probes));
  }
  if (!options.markdown) print_survivors(measured, options.cases);
}

json number_or_null(const std::optional<Int>& number) { return number ? json(*number) : json(nullptr); }

std::string json_text(const Measured& measured, const Options& options) {
  json document{{"assay", ASSAY_VERSION}, {"cases", options.cases}, {"seed", options.seed}};
  for (const auto& [version, s] : scores(measured.trials))
    document["scores"][version] = {
        {"bugs", s.bugs},       {"killed", s.killed}, {"semantic", s.semantic}, {"semantic_killed", s.semantic_killed},
        {"median", s.median()}, {"worst", s.worst()}, {"pinned", s.pinned},     {"equivalent", s.equivalent}};
  document["trials"] = json::array();
  for (const Trial& t : measured.trials)
    document["trials"].push_back({{"mutant", t.mutant->id},
                                  {"version", text(t.version)},
                                  {"description", t.mutant->description},
                                  {"severity", name(t.mutant->severity)},
                                  {"expected", name(t.mutant->expected)},
                                  {"equivalent", t.equivalent},
                                  {"pinned", number_or_null(t.pinned)},
                                  {"generated", number_or_null(t.generated)},
                                  {"changed", t.changed},
                                  {"line", t.line}});
  document["accuracy_probes"] = json::array();
  for (const AccuracyProbe& s : measured.accuracy_probes)
    document["accuracy_probes"].push_back({{"mutant", s.mutant->id},
                                           {"terms", s.terms},
                                           {"right", s.right},
                                           {"said", s.said},
                                           {"dense", s.dense},
                                           {"line", s.line}});
  return document.dump(1) + "\n";
}

void check_mutant(const std::string& id) {
  if (id.empty()) return;
  const auto ids = transformed<std::string>(mutation::mutants(), &Mutant::id);
  if (std::ranges::find(ids, id) == ids.end())
    throw InputError("no planted bug is called '" + id + "'" + suggestion(id, ids));
}

int mutate(const Options& options) {
  check_mutant(options.mutant);
  mutation::Effort effort{.selection = selection_of(options.operators, {}), .mutant = options.mutant};
  effort.pinned = suites::pinned_cases(suites_folder(options.suites));
  effort.cases = options.cases;
  effort.seed = options.seed;
  effort.jobs = jobs_or_processors(options.jobs);
  reports::AtomicFile draft(options.report);
  Measured measured{mutation::strength(effort), {}};
  if (measured.trials.empty()) throw InputError("--mutant " + options.mutant + " is no bug of what --ops names");
  if (options.operators.empty()) measured.accuracy_probes = mutation::accuracy_probes(options.mutant);
  print(measured, options);
  draft.out() << json_text(measured, options);
  draft.finish();
  return measured.is_strong() ? conforms : not_conforming;
}

}  // namespace

Verb mutate_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("mutate", "measure the suite: how soon every planted bug of our own kernels is found");
  command->add_option("--ops", options->operators, "only these, without the table of long sums: Conv,AveragePool-19")
      ->delimiter(',');
  command->add_option("--mutant", options->mutant, "this planted bug alone");
  add_number_option(*command, "--cases", options->cases, Int{0}, Int{1'000'000},
                    "how many cases to generate for each operator version");
  command->add_option("--seed", options->seed, "of the generated cases")->capture_default_str();
  add_jobs_option(*command, options->jobs, "operator versions side by side");
  command->add_option("--report", options->report, "write every planted bug with its counts to this file as JSON");
  command->add_option("--suites", options->suites,
                      "the folder with conformance/*.cases (default: the project's suites/)");
  command->add_flag("--markdown", options->markdown, "as the tables of the README");
  return {command, [options] { return mutate(*options); }};
}

}  // namespace assay::tools
