// SPDX-License-Identifier: Apache-2.0
// assay certify: runs a backend through the whole suite, prints what was found and writes the report.
#include "reference/sequence.h"
#include "reports/annotations.h"
#include "reports/atomic_file.h"
#include "reports/certificate.h"
#include "reports/report.h"
#include "suites/campaign/campaign.h"
#include "suites/campaign/case_runner.h"
#include "suites/campaign/exhaust.h"
#include "suites/campaign/narrowing.h"
#include "suites/golden/golden_outputs.h"
#include "suites/workers/catalogue.h"
#include "tools/verbs/circumstances.h"
#include "tools/verbs/failing.h"
#include "tools/verbs/github.h"
#include "tools/verbs/options.h"
#include "tools/verbs/positional.h"
#include "tools/verbs/progress.h"
#include "tools/verbs/publish.h"
#include "tools/verbs/subject.h"
#include "tools/verbs/verbs.h"
#include "tools/verbs/words.h"

#include <CLI/CLI.hpp>

#include <atomic>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

namespace assay::tools {
namespace {

namespace fs = std::filesystem;

struct Options {
  Subject subject;
  std::vector<std::string> operators, types;
  std::uint64_t seed = 1;
  Int cases = suites::default_generated, graphs = 0;
  int jobs = 0;
  std::string report, certificate, suite, profile, suites, expectations, baseline, save_outputs;
  std::vector<std::string> configurations;
  std::string only_failed, filter, show = "5";
  Int most_failures = 0;
  bool github = false, lists = false, is_quiet = false, every_input = true;

  // Windows are of a model as a whole.
  bool runs_windows() const {
    return operators.empty() && types.empty() && only_failed.empty() && filter.empty() && most_failures == 0;
  }
  bool is_narrowed() const {
    return !only_failed.empty() || !filter.empty() || most_failures > 0 || !subject.model.empty();
  }
};

// Where the answers go. Throws InputError where there are none to save, or others lie there already.
fs::path new_outputs(const fs::path& folder, const suites::Description& backend) {
  if (backend.answers_shapes) throw InputError("--save-outputs: this backend answers shapes and no outputs");
  if (fs::exists(folder) && (!fs::is_directory(folder) || !fs::is_empty(folder)))
    throw InputError(folder.string() + " is there already; name a new or empty folder with --save-outputs");
  suites::save_description(folder, backend);
  return folder;
}

suites::Campaign campaign(const suites::Suite& suite, const Options& options, suites::WorkerPool& pool,
                          suites::RunOptions run_options, Failing& failing) {
  std::atomic<bool> enough = false;
  run_options.enough = &enough;
  std::optional<fs::path> folder;
  if (!options.save_outputs.empty()) folder = new_outputs(options.save_outputs, pool.describe());
  return suites::run(suite, pool, run_options, [&](const suites::CaseResult& each) {
    failing.see(each);
    if (options.most_failures > 0 && failing.count() >= options.most_failures) enough = true;
    if (folder) suites::save_outcome(*folder, suite.cases[each.index], each.outcome);
  });
}

// Functions are run over every input of 16 bits where all cases are: not in a run that was shortened, or narrowed.
bool takes_every_input(const Options& options, const suites::Suite& suite, const suites::Description& backend) {
  return options.every_input && !options.is_narrowed() && !suite.profile && !backend.answers_shapes &&
         suite.length != suites::Length::abridged && options.cases >= suites::default_generated &&
         level_of(options.subject.level) == oracles::Level::L2;
}

std::vector<suites::Accuracy> over_every_input(const Options& options, suites::WorkerPool& pool,
                                               const suites::RunOptions& run_options) {
  suites::Selection selection = selection_of(options.operators, options.types);
  const bool is_any = selection.types.empty();
  std::erase_if(selection.types, [](DType type) { return type != DType::f16 && type != DType::bf16; });
  if (is_any) selection.types = {DType::f16, DType::bf16};
  std::vector<suites::Accuracy> functions = suites::exhaustible(selection, pool.describe());
  suites::Progress progress;
  progress.stage = "functions over every input";
  progress.total = functions.size();
  if (run_options.progress) run_options.progress(progress);
  suites::exhaust_all(functions, pool, run_options);
  return functions;
}

// Refusals say themselves what they are about; hangs, and what eats memory, take too long to be shrunk before the first
// screen.
constexpr suites::Sorting sorting{.most_runs = 100, .most_runs_of_hangs = 0, .most_runs_of_refusals = 0};

void settle(reports::Expectations& agreed, const suites::Suite& suite, const suites::Campaign& campaign,
            const Options& options) {
  tools::settle(agreed, suite, campaign, selection_of(options.operators, options.types), options.subject.strict);
  // Of a part that somebody picked nothing says that an entry is not needed.
  if (options.is_narrowed())
    std::erase_if(agreed.settlement.complaints, [](const suites::Complaint& each) {
      return each.kind == suites::Complaint::Kind::unused || each.kind == suites::Complaint::Kind::passing;
    });
}

struct Planned {
  suites::Suite suite;
  std::optional<reports::ModelRun> model;
  std::vector<suites::ModelWindow> windows = {};  // of the model
};

// Plans the nodes of a model, or those whose cases failed.
Planned planned_model(const Options& options, const suites::SuiteRequest& request) {
  suites::ModelSuite of_model = suites::suite_of(options.subject.model_source(), request.selection, request.seed,
                                                 jobs_or_processors(options.jobs));
  if (!options.runs_windows()) of_model.windows.clear();
  if (!options.only_failed.empty()) {
    const std::vector<std::string> failed = suites::failed_lines(options.only_failed, options.subject.strict);
    const std::set<std::string> wanted(failed.begin(), failed.end());
    std::erase_if(of_model.suite.cases, [&](const suites::SuiteCase& each) { return !wanted.contains(each.line); });
    of_model.suite.hash = suites::suite_hash(of_model.suite.cases);
  }
  return {std::move(of_model.suite), reports::ModelRun{of_model.hash, std::move(of_model.nodes)},
          std::move(of_model.windows)};
}

Planned planned_suite(const Options& options, const suites::SuiteRequest& request) {
  if (!options.subject.model.empty()) return planned_model(options, request);
  if (options.only_failed.empty()) return {suites::plan(suites_folder(options.suites), request), {}};
  const std::vector<std::string> failed = suites::failed_lines(options.only_failed, options.subject.strict);
  return {suites::suite_of(failed, options.only_failed, request.selection), {}};
}

// What is run: the suite, or the part of it that was asked for.
Planned planned(const Options& options, const suites::SuiteRequest& request) {
  std::optional<suites::Predicate> predicate;
  if (!options.filter.empty()) {
    const Result<suites::Predicate> parsed = suites::parse_predicate(options.filter);
    if (!parsed) throw InputError("--filter: " + parsed.error());
    predicate = *parsed;
  }
  Planned all = planned_suite(options, request);
  if (predicate) all.suite = suites::narrowed(std::move(all.suite), *predicate);
  return all;
}

// Names the nodes of a model that do not pass alone.
std::set<std::string> wrong_nodes(const reports::ModelRun& model, const suites::Suite& suite,
                                  const suites::Campaign& campaign) {
  std::set<std::string> wrong_lines, names;
  for (std::size_t i = 0; i < suite.cases.size(); ++i)
    if (const auto& verdict = campaign.verdicts[i];
        !verdict || reports::breaks_conformance(verdict->state, true) || verdict->state == oracles::State::unsupported)
      wrong_lines.insert(suite.cases[i].line);
  for (const suites::ModelNode& node : model.nodes)
    if (std::ranges::any_of(node.lines, [&](const std::string& line) { return wrong_lines.contains(line); }))
      names.insert(node.name);
  return names;
}

reports::Report certified(Planned planned, const Options& options, reports::Expectations agreed,
                          const Stopwatch& stopwatch) {
  suites::Suite suite = std::move(planned.suite);
  reports::Invocation invocation = options.subject.invocation();
  invocation.seed = options.seed;
  invocation.profile = options.profile;
  invocation.most_failures = options.most_failures;
  std::optional<ProgressLine> line;
  if (!options.is_quiet) line.emplace();
  suites::RunOptions run_options = options.subject.run_options();
  run_options.jobs = jobs_or_processors(options.jobs);
  run_options.stop = &interrupted();
  run_options.progress = [&](const suites::Progress& progress) {
    if (line) line->show(progress);
  };
  heed_interrupts();
  suites::WorkerPool pool(options.subject.opener(), run_options.jobs);
  if (options.graphs > 0) suites::expect_values(pool.describe());
  Failing failing(suite, invocation, pool.describe());
  suites::Campaign done = campaign(suite, options, pool, run_options, failing);
  invocation.every_input = takes_every_input(options, suite, pool.describe());
  std::vector<suites::Accuracy> every_input;
  if (invocation.every_input) every_input = over_every_input(options, pool, run_options);
  if (!planned.windows.empty() && !pool.describe().answers_shapes)
    planned.model->windows =
        suites::run_windows(planned.windows, wrong_nodes(*planned.model, suite, done), pool, run_options);
  std::optional<suites::GraphHarvest> graphs;
  if (options.graphs > 0 && !interrupted())
    graphs = suites::run_graphs({options.seed, static_cast<std::uint64_t>(options.graphs), {}}, pool, run_options);
  settle(agreed, suite, done, options);
  suites::Sorted sorted = failing.sorted(agreed, pool, run_options, sorting);
  line.reset();
  reports::Run run = stopwatch.run(run_options.jobs);
  run.isolation = done.isolation;
  run.upkeep = done.upkeep;
  reports::Report report =
      reports::report(std::move(suite), std::move(done), std::move(invocation), std::move(run), std::move(agreed),
                      std::move(sorted), std::move(every_input), std::move(planned.model));
  if (graphs) reports::add_graphs(report, *std::move(graphs));
  return report;
}

// As given; else all there is for a certificate, and for a look as the catalogue says of the backend.
std::string suite_of(const Options& options) {
  if (!options.suite.empty()) return options.suite;
  if (!options.certificate.empty()) return "full";
  if (!options.profile.empty()) return "default";
  const suites::CatalogueEntry* entry = suites::find_entry(suites::catalogue(), options.subject.backend);
  return entry ? entry->suite : "default";
}

// Mistakes that can be told before the work.
void check_certificate(const Options& options, const suites::Suite& suite) {
  if (options.certificate.empty()) return;
  if (options.report.empty())
    throw InputError("--certificate needs --report: it vouches for the verdicts of that file");
  if (!options.baseline.empty())
    throw InputError("--certificate: a baseline excuses breaches that nobody stands for; use --expectations");
  if (options.graphs > 0)
    throw InputError("--certificate is about operators; leave out --graphs, which have a report of their own");
  if (!options.subject.model.empty())
    throw InputError("--certificate is about operators, and takes the whole suite; of a model there is the report");
  if (!suite.complete)
    throw InputError(
        "--certificate takes the whole suite: leave out --ops, --types, --filter and --only-failed, and let --suite be "
        "default or full and --cases at least " +
        std::to_string(suites::default_generated));
}

// Why cases that were pinned or drawn are not in a limited suite: "Conv.R1 1234, Conv.R2 567".
void say_left_out(const suites::Suite& suite) {
  if (!suite.profile) return;
  const std::string reasons = joined(
      suite.left_out, ", ", [](const auto& each) { return each.first + " (" + std::to_string(each.second) + ")"; });
  std::cout << "profile " << suite.profile->name << ": " << suite.cases.size() << " cases lie within; left out for "
            << (reasons.empty() ? "nothing" : reasons) << "\n";
}

// Read off a report that is written. Says why where there can be none.
void publish_certificate(const reports::Report& report, const Options& options, reports::AtomicFile& draft) {
  if (const auto obstacle = reports::obstacle(report)) {
    std::cout << "no certificate: " << *obstacle << "\n";
    return;
  }
  const reports::Sealing sealing{suites::sha256_of_this_program(), suites::artefacts_of(options.subject.backend),
                                 options.cases, options.expectations, reports::report_identity(report)};
  reports::write_certificate(report, sealing, draft.out());
  draft.finish();
  std::cout << "certificate: " << options.certificate
            << " states what was found, operator version by operator version; "
            << "assay verify " << options.certificate << " --report " << options.report << "\n";
}

std::string why_none(const Options& options) {
  if (options.only_failed.empty() && options.filter.empty())
    return "no node of " + options.subject.model + " is one of an operator that --ops and --types admit";
  if (!options.filter.empty()) return "--filter " + options.filter + " holds for none of them";
  return "--ops and --types leave out all that " + options.only_failed + " has";
}

suites::SuiteRequest request_of(const Options& options) {
  return {selection_of(options.operators, options.types), *suites::length_named(suite_of(options)), options.seed,
          options.cases, options.profile.empty() ? nullptr : &profile_of(options.profile)};
}

reports::Report certify_once(const Options& options) {
  const suites::SuiteRequest request = request_of(options);
  level_of(options.subject.level);  // mistakes are told before the work
  causes_of(options.show);
  options.subject.opener();
  reports::Expectations agreed = agreed_in(options.expectations, options.baseline);
  reports::AtomicFile draft(options.report), certificate(options.certificate);
  std::optional<reports::Unheeded> unheeded;
  if (options.github) unheeded.emplace(std::cout);
  const Stopwatch stopwatch;
  Planned all = planned(options, request);
  if (all.suite.cases.empty()) throw InputError("no case is left to run; " + why_none(options));
  check_certificate(options, all.suite);
  if (!options.is_quiet) say_left_out(all.suite);
  reports::Report report = certified(std::move(all), options, std::move(agreed), stopwatch);
  publish(report, draft, options.report, options.is_quiet ? Detail::conclusion : Detail::all, causes_of(options.show));
  if (certificate.is_named()) publish_certificate(report, options, certificate);
  unheeded.reset();
  if (options.github) tell_github(report, options.report);
  return report;
}

// "threads=2,optimization=none,precision=bf16": what it says wins over the options of the command line.
Options configured(const Options& options, const std::string& configuration) {
  Options one = options;
  std::istringstream words(configuration);
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals), value = equals == word.npos ? "" : word.substr(equals + 1);
    if (key.empty() || value.empty())
      throw InputError("--config " + configuration + ": write it as in threads=2,optimization=none");
    if (key == "optimization") {
      one.subject.optimization = optimization_of(value);
    } else if (key == "threads") {
      one.subject.threads = threads_of(value);
    } else {
      std::erase_if(one.subject.settings, [&](const std::string& set) { return set.starts_with(key + "="); });
      one.subject.settings.push_back(word);
    }
  }
  return one;
}

// "mine.json" of the configuration "threads=2,isa=avx2" is "mine.threads-2.isa-avx2.json".
std::string report_of(const std::string& report, std::string configuration) {
  if (report.empty()) return report;
  for (char& letter : configuration) {
    if (letter == ',')
      letter = '.';
    else if (!std::isalnum(static_cast<unsigned char>(letter)) && letter != '_')
      letter = '-';
  }
  const fs::path path(report);
  return (path.parent_path() / (path.stem().string() + "." + configuration + path.extension().string())).string();
}

// Where two configurations of one backend end otherwise.
void print_differences(const reports::Report& first, const reports::Report& other) {
  std::size_t count = 0, at = 0;
  for (std::size_t i = first.suite.cases.size(); i-- > 0;) {
    const auto &a = first.campaign.verdicts[i], &b = other.campaign.verdicts[i];
    if (!a || !b || a->state == b->state) continue;
    ++count;
    at = i;
  }
  std::cout << "configuration " << other.invocation.configuration() << ": " << count
            << " cases end otherwise than under " << first.invocation.configuration();
  if (count > 0)
    std::cout << ", the first " << name(other.campaign.verdicts[at]->state) << " instead of "
              << name(first.campaign.verdicts[at]->state) << ": " << first.suite.cases[at].line;
  std::cout << "\n";
}

// The lines that would be run, and nothing else.
int list(const Options& options) {
  for (const suites::SuiteCase& each : planned(options, request_of(options)).suite.cases)
    std::cout << each.line << "\n";
  return conforms;
}

// Tells whether there is nothing to run because nothing failed.
bool is_mended(const Options& options) {
  return !options.only_failed.empty() && suites::failed_lines(options.only_failed, options.subject.strict).empty();
}

int certify(const Options& options) {
  if (options.lists) return list(options);
  if (is_mended(options)) {
    std::cout << "nothing to run: " << options.only_failed << " has no case that broke conformance\n";
    return conforms;
  }
  if (options.configurations.empty()) return certify_once(options).is_as_agreed() ? conforms : not_conforming;
  std::vector<Options> all;
  for (const std::string& configuration : options.configurations) {
    all.push_back(configured(options, configuration));
    all.back().report = report_of(options.report, configuration);
    all.back().certificate = report_of(options.certificate, configuration);
  }
  int exit_code = conforms;
  std::optional<reports::Report> first;
  std::vector<reports::Report> others;
  for (const Options& one : all) {
    reports::Report report = certify_once(one);
    if (!report.is_as_agreed()) exit_code = not_conforming;
    if (first)
      others.push_back(std::move(report));
    else
      first = std::move(report);
    if (interrupted()) break;
  }
  for (const reports::Report& other : others) print_differences(*first, other);
  return exit_code;
}

}  // namespace

Verb certify_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->subject.backend = "onnxruntime";
  CLI::App* command =
      app.add_subcommand("certify", "run the suite on a backend and report what it gets right and wrong");
  options->subject.add_options(*command);
  options->subject.add_campaign_options(*command);
  options->subject.add_model_options(*command);
  take_words(*command, "what",
             {{Positional::backend, &options->subject.backend}, {Positional::model, &options->subject.model}},
             "the backend, as --backend names it; a model, as --model does");
  add_selection_options(*command, options->operators, options->types);
  command->add_option("--seed", options->seed, "of the generated cases")->capture_default_str();
  add_number_option(
      *command, "--cases", options->cases, Int{0}, Int{100'000'000},
      "how many cases the whole suite generates, of which --ops and --types keep a part; the pinned ones always run");
  add_number_option(*command, "--graphs", options->graphs, Int{0}, Int{100'000'000},
                    "run so many drawn graphs of several nodes as well, to find what optimisers do wrong");
  add_jobs_option(*command, options->jobs, "sessions side by side");
  command->add_option("--report", options->report, "write the JSON report (reports/report.schema.json) to this file");
  command->add_option(
      "--certificate", options->certificate,
      "write what may be relied on (reports/certificate.schema.json) to this file; takes the whole suite "
      "and --report");
  command->add_option(
      "--expectations", options->expectations,
      "a ledger (suites/expectations/ledger.schema.json): breaches it expects do not count; one that is expired, "
      "unused or passing breaks the run");
  command->add_option("--baseline", options->baseline, "an earlier report: breaches it has as well do not count");
  command
      ->add_option("--suite", options->suite,
                   "short: 1,500 cases of the first operators and a quarter of the others, whatever --seed and --cases "
                   "say; default; full: default and ten times as many; left out: full for a certificate, else as the "
                   "catalogue says")
      ->check(CLI::IsMember({"default", "full", "short"}));
  command->add_option("--profile", options->profile,
                      "only cases within this profile, spelt out: sonnx; `assay explain` has its restrictions");
  command->add_option("--suites", options->suites,
                      "the folder with conformance/*.cases (default: the project's suites/)");
  command->add_option("--filter", options->filter,
                      "only the cases for which this holds, as in 'auto_pad == VALID and any(strides) > 1' "
                      "(suites/predicates/predicate.h); no certificate");
  command->add_option("--only-failed", options->only_failed,
                      "only the cases that broke conformance in this report; no certificate");
  add_number_option(*command, "--max-failures", options->most_failures, Int{0}, Int{1} << 40,
                    "begin no further case after so many that break conformance; 0: run all");
  command->add_flag("--list", options->lists, "print the case lines that would be run, and run none");
  command->add_flag("-q,--quiet", options->is_quiet, "print nothing but the conclusion");
  command->add_option("--show", options->show, "so many causes are printed; all: every one")->capture_default_str();
  command->add_flag("--github", options->github,
                    "in a GitHub job: breaches as annotations, and the report in the summary of the job");
  command->add_flag(
      "--every-input,!--no-every-input", options->every_input,
      "run functions of one float over all 65,536 inputs of f16 and of bf16; left out where cases are: "
      "with --cases below the default, --suite short, --profile, --filter, --only-failed, --max-failures");
  CLI::Option* save = command->add_option(
      "--save-outputs", options->save_outputs,
      "write what the backend did to this new folder, one folder per case, as `assay judge` reads it");
  command
      ->add_option("--config", options->configurations,
                   "a configuration of the backend, as in threads=2,optimization=none,precision=f32; repeated, "
                   "each is run and reported apart")
      ->take_all()
      ->allow_extra_args(false)
      ->excludes(save);
  return {command, [options] { return certify(*options); }};
}

}  // namespace assay::tools
