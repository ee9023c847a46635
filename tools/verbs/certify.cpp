// SPDX-License-Identifier: Apache-2.0
// assay certify: asks a backend the whole suite, prints what was found and writes the report.
#include "reports/draft.h"
#include "reports/report.h"
#include "suites/campaign.h"
#include "tools/verbs/progress.h"
#include "tools/verbs/subject.h"
#include "tools/verbs/verbs.h"
#include "tools/verbs/words.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>
#include <unistd.h>

namespace assay::tools {
namespace {

namespace fs = std::filesystem;

struct Options {
  Subject subject;
  std::vector<std::string> operators, types;
  std::uint64_t seed = 1;
  Int cases = suites::default_generated;
  int jobs = 0;
  std::string report, suite;
};

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "written by a signal handler");

// The first interrupt ends the run with a report of what was done; the second one kills.
void heed_interrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

// The suite lies in ASSAY_HOME, in the project the program was built in, or in the one it is called from.
fs::path suites_folder(const std::string& named) {
  if (!named.empty()) {
    if (!fs::is_directory(fs::path(named) / "conformance"))
      throw InputError("no conformance/ in " + named + "; --suite names a folder like the project's suites/");
    return named;
  }
  std::error_code ignored;
  if (const char* home = std::getenv("ASSAY_HOME"); home && fs::is_directory(fs::path(home) / "suites" / "conformance"))
    return fs::path(home) / "suites";
  for (fs::path place : {fs::read_symlink("/proc/self/exe", ignored).parent_path(), fs::current_path(ignored)})
    for (; place.has_relative_path(); place = place.parent_path())
      if (fs::is_directory(place / "suites" / "conformance")) return place / "suites";
  throw InputError("cannot find suites/conformance; call assay inside the project or name the folder with --suite");
}

std::string now_in_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

std::string cpu_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string row; std::getline(cpuinfo, row);)
    if (row.starts_with("model name") && row.find(": ") != std::string::npos) return row.substr(row.find(": ") + 2);
  return "unknown";
}

int jobs_of(const Options& options) {
  return options.jobs > 0 ? options.jobs : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

suites::Campaign campaign(const suites::Suite& suite, const Options& options) {
  ProgressLine line;
  suites::Conduct conduct = options.subject.conduct();
  conduct.jobs = jobs_of(options);
  conduct.stop = &interrupted;
  conduct.progress = [&](const suites::Progress& progress) { line.show(progress); };
  heed_interrupts();
  return suites::run(suite, options.subject.opener(), conduct);
}

reports::Report certified(suites::Suite suite, const Options& options) {
  reports::Run run{now_in_utc(), 0, jobs_of(options), cpu_model()};
  const auto start = std::chrono::steady_clock::now();
  suites::Campaign done = campaign(suite, options);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  reports::Asked asked = options.subject.asked();
  asked.seed = options.seed;
  return reports::report(std::move(suite), std::move(done), std::move(asked), std::move(run));
}

// Prints the session in any case: a full disk must not cost what was found.
void publish(const reports::Report& report, reports::Draft* draft, const std::string& file) {
  const auto colour = is_coloured(STDOUT_FILENO) ? reports::Colour::terminal : reports::Colour::none;
  try {
    if (draft) {
      reports::write_json(report, draft->out());
      draft->finish();
    }
  } catch (const InputError&) {
    reports::write_session(report, "", colour, std::cout);
    throw;
  }
  reports::write_session(report, file, colour, std::cout);
}

int certify(const Options& options) {
  const suites::Request request{
      .selection = selection_of(options.operators, options.types), .seed = options.seed, .generated = options.cases};
  level_of(options.subject.level);  // mistakes are told before the work
  options.subject.opener();
  std::optional<reports::Draft> draft;
  if (!options.report.empty()) draft.emplace(options.report);
  const reports::Report report = certified(suites::plan(suites_folder(options.suite), request), options);
  publish(report, draft ? &*draft : nullptr, options.report);
  return report.certified == reports::Certified::conforms ? conforms : not_conforming;
}

}  // namespace

Verb certify_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("certify", "ask a backend the suite and report what it honours and breaks");
  options->subject.add_options(*command);
  command->add_option("--ops", options->operators, "only these, separated by commas: Conv,AveragePool-19")
      ->delimiter(',');
  command->add_option("--types", options->types, "only these element types: f16,bf16,f32,f64")->delimiter(',');
  command->add_option("--seed", options->seed, "of the generated cases")->capture_default_str();
  command->add_option("--cases", options->cases, "how many cases to generate; the pinned ones always run")
      ->check(CLI::Range(Int{0}, Int{100'000'000}))
      ->capture_default_str();
  command->add_option("--jobs", options->jobs, "sessions side by side; 0: one per processor")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->add_option("--report", options->report, "write the JSON report (reports/report.schema.json) to this file");
  command->add_option("--suite", options->suite,
                      "the folder with conformance/*.cases (default: the project's suites/)");
  return {command, [options] { return certify(*options); }};
}

}  // namespace assay::tools
