// SPDX-License-Identifier: Apache-2.0
// assay fuzz: runs a backend on more cases than any suite holds, keeps what was found and says it in a few sentences.
#include "reports/atomic_file.h"
#include "reports/fuzz_report.h"
#include "reports/graph_report.h"
#include "suites/expectations/ledger.h"
#include "suites/graphs/graph_folder.h"
#include "suites/sandbox/process.h"
#include "suites/triage/finding_folder.h"
#include "suites/triage/wrong_models.h"
#include "tools/verbs/circumstances.h"
#include "tools/verbs/failing.h"
#include "tools/verbs/options.h"
#include "tools/verbs/progress.h"
#include "tools/verbs/publish.h"
#include "tools/verbs/subject.h"
#include "tools/verbs/verbs.h"
#include "tools/verbs/words.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

namespace assay::tools {
namespace {

namespace fs = std::filesystem;

struct Options {
  Subject subject;
  std::vector<std::string> operators, types;
  std::uint64_t seed = 1;
  Int cases = 0, islands = 0;
  std::string budget, store, shard = "1/1", report, findings = "findings", regressions, expectations, baseline;
  std::string show = "5";
  bool resume = false, graphs = false;
  int jobs = 0;
};

// Kept findings: folders as `fuzz` writes them, and *.cases files, in the order of their names.
std::vector<suites::SuiteCase> kept_findings(const std::string& folder) {
  std::vector<suites::SuiteCase> kept;
  if (folder.empty()) return kept;
  if (!fs::is_directory(folder)) throw InputError("--regressions " + folder + ": there is no such folder");
  std::set<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder)) entries.insert(entry.path());
  for (const fs::path& entry : entries) {
    if (entry.extension() == ".cases") std::ranges::move(suites::read_case_file(entry), std::back_inserter(kept));
    if (!fs::exists(entry / "finding.json")) continue;
    Result<suites::SuiteCase> planned = suites::read_finding(entry);
    if (!planned) throw InputError("--regressions " + entry.string() + ": " + planned.error());
    kept.push_back(*std::move(planned));
  }
  return kept;
}

suites::FuzzPlan plan_of(const Options& options) {
  suites::FuzzPlan plan;
  plan.selection = selection_of(options.operators, options.types);
  plan.seed = options.seed;
  plan.islands = static_cast<std::uint64_t>(options.islands);
  if (options.cases > 0) plan.cases = static_cast<std::uint64_t>(options.cases);
  if (!options.budget.empty()) plan.budget = duration_of(options.budget);
  plan.limit = options.subject.limits().run;
  if (!plan.cases && !plan.budget) throw InputError("fuzz needs an end: --budget 10m or --cases 100000");
  plan.shard = suites::shard_named(options.shard);
  plan.regressions = kept_findings(options.regressions);
  return plan;
}

// In a folder of its own where the caller wants none kept.
class StorePlace {
 public:
  explicit StorePlace(const std::string& named) {
    if (named.empty()) own_.emplace();
    file_ = named.empty() ? own_->path() / "store" : fs::path(named);
  }
  const fs::path& file() const { return file_; }

 private:
  std::optional<suites::TemporaryDirectory> own_;
  fs::path file_;
};

suites::Store opened(const Options& options, const fs::path& file, const suites::Identity& identity) {
  if (options.resume && options.store.empty()) throw InputError("--resume needs the --store to go on with");
  return options.resume ? suites::Store::resume(file, identity) : suites::Store::create(file, identity);
}

// What a ledger or a baseline knows does not count.
std::vector<bool> excused(const Options& options, const suites::Harvest& harvest) {
  const reports::Expectations agreed = agreed_in(options.expectations, options.baseline);
  std::vector<bool> all;
  for (const suites::Failure& failure : harvest.failures) {
    const std::vector<suites::Breach> breaches = suites::breaches(failure.told.verdict, {});
    const auto is_known = [&](const suites::Breach& breach) {
      if (agreed.ledger)
        for (const suites::Entry& entry : agreed.ledger->entries)
          if (!entry.is_expired(suites::today()) && entry.meets(failure.planned.c) && entry.expects(breach))
            return true;
      return agreed.baseline && agreed.baseline->knows(failure.planned.line, text(failure.signature), breach);
    };
    all.push_back(std::ranges::all_of(breaches, is_known));
  }
  return all;
}

void write_folders(const reports::FuzzReport& report, const suites::RunOptions& run_options) {
  if (report.folder.empty()) return;
  const suites::Provenance provenance{ASSAY_VERSION, report.invocation.backend, report.backend, run_options};
  for (const suites::Cause& cause : report.causes)
    for (std::size_t i : cause.examples)
      suites::write_finding(fs::path(report.folder) / suites::folder_name(report.findings[i]), report.findings[i],
                            provenance);
}

// Runs drawn graphs instead of single nodes.
int fuzz_graphs(const Options& options) {
  const Stopwatch stopwatch;
  if (!options.operators.empty() || !options.types.empty() || options.islands > 0 || !options.store.empty() ||
      options.shard != "1/1" || !options.regressions.empty() || !options.expectations.empty() ||
      !options.baseline.empty())
    throw InputError("--graphs goes with --seed, --cases, --budget, --jobs, --report, --findings and --show alone");
  reports::GraphReport report;
  report.plan.seed = options.seed;
  if (options.cases > 0) report.plan.graphs = static_cast<std::uint64_t>(options.cases);
  if (!options.budget.empty()) report.plan.budget = duration_of(options.budget);
  if (!report.plan.graphs && !report.plan.budget) throw InputError("fuzz needs an end: --budget 10m or --cases 100000");
  report.invocation = options.subject.invocation();
  report.invocation.seed = options.seed;
  const std::size_t most_causes = causes_of(options.show);
  const int jobs = jobs_or_processors(options.jobs);
  reports::AtomicFile draft(options.report);
  suites::RunOptions run_options = options.subject.run_options();
  run_options.stop = &interrupted();
  suites::WorkerPool pool(options.subject.opener(), jobs);
  report.backend = pool.describe();
  suites::expect_declared(report.backend, run_options.options);
  heed_interrupts();
  auto line = std::make_unique<ProgressLine>(report.plan.budget);
  run_options.progress = [&](const suites::Progress& progress) { line->show(progress); };
  report.harvest = suites::run_graphs(report.plan, pool, run_options);
  line.reset();
  if (!report.harvest.conforms()) report.folder = options.findings;
  const suites::Provenance provenance{ASSAY_VERSION, report.invocation.backend, report.backend, run_options};
  for (const suites::GraphCause& cause : report.harvest.causes) {
    if (report.folder.empty()) break;
    const suites::GraphFinding& example = report.harvest.findings[cause.members.front()];
    suites::write_graph(fs::path(report.folder) / reports::folder_name(example), *parse_graph_case(example.line),
                        example.verdict, provenance);
  }
  report.run = stopwatch.run(jobs);
  report.run.isolation = pool.first().isolation();
  report.run.upkeep = pool.upkeep();
  publish(report, draft, options.report, Detail::all, most_causes);
  return report.harvest.conforms() && report.harvest.complete ? conforms : not_conforming;
}

int fuzz(const Options& options) {
  if (options.graphs) return fuzz_graphs(options);
  const Stopwatch stopwatch;
  const auto started = std::chrono::steady_clock::now();
  const int jobs = jobs_or_processors(options.jobs);
  reports::FuzzReport report;
  report.plan = plan_of(options);
  causes_of(options.show);  // mistakes are told before the work
  report.invocation = options.subject.invocation();
  report.invocation.seed = options.seed;
  reports::AtomicFile draft(options.report);
  suites::RunOptions run_options = options.subject.run_options();
  run_options.jobs = jobs;
  run_options.stop = &interrupted();
  suites::WorkerPool pool(options.subject.opener(), jobs);
  report.backend = pool.describe();
  const StorePlace place(options.store);
  suites::Store store =
      opened(options, place.file(),
             suites::identity_of(report.plan, options.subject.backend, report.backend, run_options, ASSAY_VERSION));
  heed_interrupts();
  auto line = std::make_unique<ProgressLine>(report.plan.budget);
  run_options.progress = [&](const suites::Progress& progress) { line->show(progress); };
  report.complete = suites::fuzz(report.plan, pool, run_options, store);
  const suites::ResourceUse upkeep = pool.upkeep();
  report.harvest = suites::harvest(store, options.subject.strict, options.subject.special_values);
  suites::Sorting sorting;
  sorting.limit = report.plan.limit;
  if (report.plan.budget) sorting.until = started + *report.plan.budget;
  if (report.plan.islands > 0 && report.complete) {
    report.peaks = suites::seek(report.plan, pool, run_options, sorting.until);
    suites::add_peaks(report.harvest, report.peaks, suites::judgement_of(run_options.level, report.backend.arithmetic),
                      options.subject.strict);
  }
  report.excused = excused(options, report.harvest);
  report.findings = suites::findings_of(report.harvest.failures, pool, run_options, suites::wrong_models(), sorting);
  for (const suites::Failure& each : report.harvest.marked)
    for (const suites::Mark& mark : each.told.marks)
      if (std::optional<suites::Finding> session = suites::finding_of_session(each.planned, mark))
        report.findings.push_back(*std::move(session));
  report.causes = suites::causes_of(report.findings, suites::wrong_models());
  report.cause_of = suites::cause_of_each(report.harvest.failures, report.findings, report.causes);
  line.reset();
  if (!report.findings.empty()) report.folder = options.findings;
  write_folders(report, run_options);
  report.run = stopwatch.run(jobs);
  report.run.isolation = pool.first().isolation();
  report.run.upkeep = upkeep;
  publish(report, draft, options.report, Detail::all, causes_of(options.show));
  return report.conforms() && report.complete ? conforms : not_conforming;
}

}  // namespace

Verb fuzz_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("fuzz", "run new cases on a backend for a while; shrink and sort what is found");
  options->subject.laws = "sample";
  options->subject.add_options(*command);
  options->subject.add_campaign_options(*command);
  options->subject.add_backend_word(*command);
  add_selection_options(*command, options->operators, options->types);
  command->add_option("--seed", options->seed, "which cases")->capture_default_str();
  command->add_option("--budget", options->budget,
                      "time for all of it: 90s, 10m, 8h; a quarter is kept for shrinking what fails");
  command->add_option("--cases", options->cases, "how many cases, of all shards together")
      ->check(CLI::Range(Int{1}, Int{1} << 40));
  add_number_option(*command, "--seek", options->islands, 0, 1 << 20,
                    "after that, climb from so many places towards the largest error in its budget");
  command->add_flag("--graphs", options->graphs, "run drawn graphs of several nodes, to find what optimisers do wrong");
  command->add_option("--store", options->store, "keep verdicts in this file, to --resume or `assay merge`");
  command->add_flag("--resume", options->resume, "go on with the store of the same campaign");
  command
      ->add_option("--shard", options->shard,
                   "which part of the cases: 2/8, or auto (SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX with "
                   "ASSAY_SHARDS, CI_NODE_INDEX with CI_NODE_TOTAL)")
      ->capture_default_str();
  add_jobs_option(*command, options->jobs, "sessions side by side");
  command->add_option(
      "--report", options->report,
      "write the JSON report (reports/fuzz.schema.json; of --graphs reports/graphs.schema.json) to this file");
  command
      ->add_option("--findings", options->findings,
                   "folder for what is found, each in the layout of ONNX's backend tests; \"\" for none")
      ->capture_default_str();
  command->add_option("--show", options->show, "so many causes are printed; all: every one")->capture_default_str();
  command->add_option("--regressions", options->regressions, "folder of kept findings and *.cases files, run first");
  command->add_option("--expectations", options->expectations, "a ledger: failures it expects do not count");
  command->add_option("--baseline", options->baseline, "an earlier report: failures it knows do not count");
  return {command, [options] { return fuzz(*options); }};
}

}  // namespace assay::tools
