// SPDX-License-Identifier: Apache-2.0
// assay exhaust: functions of one operand over every input of their type.
#include "reports/atomic_file.h"
#include "reports/exhaust_report.h"
#include "tools/verbs/circumstances.h"
#include "tools/verbs/options.h"
#include "tools/verbs/progress.h"
#include "tools/verbs/subject.h"
#include "tools/verbs/verbs.h"
#include "tools/verbs/words.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

namespace assay::tools {
namespace {

struct Options {
  Subject subject;
  std::vector<std::string> operators, types{"f16", "bf16"};
  std::string report, page;
  int jobs = 0;
  bool resume = false;
};

// The newest version of each operator that is asked for and that the backend takes, or the one that is named.
std::vector<suites::Accuracy> plan(const Options& options, const suites::Description& backend) {
  std::vector<suites::Accuracy> all = exhaustible(selection_of(options.operators, options.types), backend);
  if (all.empty())
    throw InputError(
        "nothing that is asked for is a function of one float that the backend takes; `assay exhaust "
        "--ops Exp,Tanh --types f16,bf16,f32` is an example");
  return all;
}

void save(const reports::ExhaustReport& report, const std::string& file) {
  reports::AtomicFile draft(file);
  write_json(report, draft.out());
  draft.finish();
}

// Judges one function after the other; what is done is kept in the report's file now and then.
void run(reports::ExhaustReport& report, suites::WorkerPool& pool, const Options& options) {
  constexpr std::chrono::seconds between_saves{20};
  suites::RunOptions run_options = options.subject.run_options();
  run_options.jobs = jobs_or_processors(options.jobs);
  run_options.stop = &interrupted();
  ProgressLine progress;
  auto saved = std::chrono::steady_clock::now();
  for (suites::Accuracy& function : report.functions) {
    const std::string stage =
        "inputs of " + text(function.definition->version) + " " + std::string(name(function.type));
    suites::exhaust(function, pool, run_options, [&](const suites::Accuracy& so_far) {
      suites::Progress now;
      now.stage = stage;
      now.done = so_far.inputs;
      now.total = so_far.all_inputs();
      progress.show(now);
      if (std::chrono::steady_clock::now() - saved < between_saves) return;
      save(report, options.report);
      saved = std::chrono::steady_clock::now();
    });
  }
}

int exhaust(const Options& options) {
  const Stopwatch stopwatch;
  if (level_of(options.subject.level) != oracles::Level::L2)
    throw InputError(
        "exhaust counts what is correctly rounded (L0), faithful (L1) and within the bound (L2) in one run; "
        "leave out --level");
  heed_interrupts();
  suites::WorkerPool pool(options.subject.opener(), jobs_or_processors(options.jobs));
  reports::ExhaustReport report{pool.describe(), options.subject.invocation(), {}, {}};
  suites::expect_declared(report.backend, options.subject.options());
  report.functions = plan(options, report.backend);
  if (options.resume && options.report.empty()) throw InputError("--resume needs the --report to go on with");
  if (options.resume) reports::resume(report, options.report);
  reports::AtomicFile page(options.page);
  save(report, options.report);  // before the work, where it cannot be written
  run(report, pool, options);
  report.run = stopwatch.run(jobs_or_processors(options.jobs));
  write_session(report, options.report, std::cout);
  save(report, options.report);
  if (page.is_named()) write_page(report, page.out());
  page.finish();
  return report.conforms() ? conforms : not_conforming;
}

}  // namespace

Verb exhaust_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("exhaust", "run functions of one operand over every input of their type");
  options->subject.add_backend_word(*command);
  options->subject.add_options(*command);
  command->add_option("--ops", options->operators, "only these, the newest version each or the one named: Exp,Tanh-6")
      ->delimiter(',');
  command
      ->add_option("--types", options->types,
                   "f16 and bf16 have 65,536 inputs, f32 has 4,294,967,296: a few minutes each")
      ->delimiter(',')
      ->capture_default_str();
  add_jobs_option(*command, options->jobs, "workers side by side");
  command->add_option("--report", options->report,
                      "write what was found to this file as JSON, now and then and at the end");
  command->add_flag("--resume", options->resume, "go on with what the --report of the same run holds");
  command->add_option("--html", options->page, "draw the error over the inputs into this page");
  return {command, [options] { return exhaust(*options); }};
}

}  // namespace assay::tools
