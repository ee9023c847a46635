// SPDX-License-Identifier: Apache-2.0
// assay judge: the answers to golden vectors, brought back as files, get the verdicts and the report of certify.
#include "reports/atomic_file.h"
#include "reports/report.h"
#include "suites/golden/golden_folder.h"
#include "suites/golden/golden_graphs.h"
#include "suites/golden/golden_outputs.h"
#include "tools/verbs/circumstances.h"
#include "tools/verbs/failing.h"
#include "tools/verbs/options.h"
#include "tools/verbs/publish.h"
#include "tools/verbs/verbs.h"
#include "tools/verbs/words.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <set>

namespace assay::tools {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path golden, outputs;
  std::string report, backend, level = "L2", expectations, baseline;
  bool strict = false;
  int jobs = 0;
};

// Returns the suite the vectors were written from. Vectors that were altered are of another case than they say; the
// runner is there to be edited.
suites::Suite suite_in(const suites::Manifest& manifest, const fs::path& folder) {
  std::vector<suites::FileProblem> problems = suites::check_hashes(folder, manifest);
  std::erase_if(problems, [](const suites::FileProblem& each) { return each.file.starts_with("runner/"); });
  if (!problems.empty())
    throw InputError(folder.string() + " is not as it was written (" + text(problems.front()) +
                     "); `assay golden check " + folder.string() + "` names everything");
  if (manifest.judgement_hash != reports::judgement_hash())
    std::cerr << "assay: note: these vectors were written under other rulings or bounds; judged is by those of now\n";
  Result<suites::Suite> suite = suites::suite_of(manifest);
  if (!suite) throw InputError((folder / suites::manifest_name).string() + ": " + suite.error());
  return *std::move(suite);
}

std::vector<GraphCase> graphs_in(const suites::Manifest& manifest, const fs::path& folder) {
  Result<std::vector<GraphCase>> graphs = suites::graphs_of(manifest);
  if (!graphs) throw InputError((folder / suites::manifest_name).string() + ": " + graphs.error());
  return *std::move(graphs);
}

// Every flaw of every file, in the order of the cases, then of the graphs; strangers last.
std::vector<std::string> flaws_in(const fs::path& outputs, const suites::Suite& suite,
                                  const std::vector<GraphCase>& graphs, const suites::RecordedGraphs& recorded) {
  std::set<std::string> names;
  for (const suites::SuiteCase& planned : suite.cases) names.insert(suites::golden_name(planned));
  for (const GraphCase& graph : graphs) names.insert(suites::golden_name(graph));
  std::vector<std::string> all;
  for (const suites::SuiteCase& planned : suite.cases)
    for (const suites::FileProblem& problem : suites::saved_outcome(outputs, planned).problems)
      all.push_back(text(problem));
  for (const suites::FileProblem& problem : recorded.problems) all.push_back(text(problem));
  for (const suites::FileProblem& problem : suites::strangers(outputs, std::move(names))) all.push_back(text(problem));
  return all;
}

reports::Invocation asked_of(const Options& options, const suites::Manifest& manifest,
                             const suites::Description& description) {
  reports::Invocation invocation;
  invocation.tool_version = ASSAY_VERSION;
  invocation.backend = options.backend.empty() ? description.backend : options.backend;
  invocation.seed = manifest.seed;
  invocation.level = level_of(options.level);
  invocation.strict = options.strict;
  invocation.presenting = suites::VariantSampling::none;
  for (const suites::Listed& each : manifest.cases)
    invocation.vectors[each.line] = (options.golden / std::string(name(each.golden_kind)) / each.name).string();
  return invocation;
}

void print_flaws(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) std::cout << problem << "\n";
  if (!problems.empty()) std::cout << problems.size() << " files are not as they should be\n";
}

int judge(const Options& options) {
  const Stopwatch stopwatch;
  const suites::Manifest manifest = suites::read_manifest(options.golden);
  const suites::Suite suite = suite_in(manifest, options.golden);
  if (!fs::is_directory(options.outputs))
    throw InputError(options.outputs.string() + " is no folder; it holds one folder of answers per case");
  const suites::Description description = suites::saved_description(options.outputs);
  reports::Invocation invocation = asked_of(options, manifest, description);
  reports::Expectations agreed = agreed_in(options.expectations, options.baseline);
  reports::AtomicFile draft(options.report);
  suites::RunOptions run_options;
  run_options.level = invocation.level;
  run_options.jobs = jobs_or_processors(options.jobs);
  const std::vector<GraphCase> graphs = graphs_in(manifest, options.golden);
  suites::RecordedGraphs recorded = suites::judged_graphs(graphs, options.outputs, run_options.jobs);
  print_flaws(flaws_in(options.outputs, suite, graphs, recorded));
  run_options.presenting = suites::VariantSampling::none;
  suites::WorkerPool pool(
      [&] { return std::make_unique<suites::RecordedBackend>(options.outputs, suite, description); }, run_options.jobs);
  Failing failing(suite, invocation, description);
  suites::Campaign campaign =
      suites::run(suite, pool, run_options, [&](const suites::CaseResult& done) { failing.see(done); });
  reports::Run run = stopwatch.run(run_options.jobs);
  run.isolation = campaign.isolation;
  settle(agreed, suite, campaign, {}, options.strict);
  constexpr suites::Sorting as_saved{
      .most_runs = 0, .most_runs_of_errors = 0, .most_runs_of_hangs = 0, .most_runs_of_refusals = 0};
  suites::Sorted sorted = failing.sorted(agreed, pool, run_options, as_saved);
  reports::Report report = reports::report(suite, std::move(campaign), std::move(invocation), std::move(run),
                                           std::move(agreed), std::move(sorted));
  if (!graphs.empty()) reports::add_graphs(report, std::move(recorded.harvest));
  publish(report, draft, options.report);
  return report.is_as_agreed() ? conforms : not_conforming;
}

}  // namespace

Verb judge_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("judge", "judge the answers to golden vectors that a device brought back");
  command->add_option("--golden", options->golden, "the vectors, as `assay golden write` wrote them")->required();
  command->add_option("--outputs", options->outputs, "the answers: TEST/test_data_set_N/output_M.pb or .npy")
      ->required();
  command->add_option("--report", options->report, "write the JSON report (reports/report.schema.json) to this file");
  command->add_option("--backend", options->backend,
                      "how the report calls the backend (default: the name in backend.json)");
  command->add_option("--level", options->level, "accuracy asked for: L0, L1, L2, L2t or L3")->capture_default_str();
  command->add_flag("--strict", options->strict, "a contested reading does not conform");
  command->add_option("--expectations", options->expectations, "a ledger, as for certify");
  command->add_option("--baseline", options->baseline, "an earlier report: breaches it has as well do not count");
  add_jobs_option(*command, options->jobs, "threads");
  return {command, [options] { return judge(*options); }};
}

}  // namespace assay::tools
