// SPDX-License-Identifier: Apache-2.0
// assay locate: says at which node of a model a backend begins to be wrong.
#include "reference/case_view.h"
#include "suites/models/locating.h"
#include "suites/triage/account.h"
#include "suites/triage/finding_folder.h"
#include "tools/verbs/circumstances.h"
#include "tools/verbs/positional.h"
#include "tools/verbs/progress.h"
#include "tools/verbs/subject.h"
#include "tools/verbs/verbs.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <optional>

namespace assay::tools {
namespace {

struct Options {
  Subject subject;
  bool finds_all = false;
  std::string save;
};

std::string words_of(const suites::LocatedNode& located) {
  const std::string cure = located.cure.empty() ? "wrong at every level of optimization" : "right with " + located.cure;
  switch (located.scope) {
    case suites::Scope::alone: return "the node alone, on the same data, is wrong as well";
    case suites::Scope::in_model:
      return "right alone; wrong in the model, by what arrives there in the same run; " + cure;
    case suites::Scope::unseen:
      return "right alone, and where what arrives there is shown; wrong where it is not, as where nodes are "
             "computed as one; " +
             cure;
  }
  throw BrokenPromise("a scope without words");
}

void print(const suites::LocatedNode& located) {
  const oracles::Verdict& verdict = located.verdict;
  const std::string turn = located.turn.empty() ? "" : ", turn " + located.turn;
  std::cout << located.node.name << " (" << located.node.op << turn << "): " << oracles::name(verdict.state) << " ("
            << verdict.because << ")" << (verdict.detail.empty() ? "" : ": ") << verdict.detail << "\n    "
            << words_of(located) << "\n";
}

void print_not_judged(const suites::Location& location) {
  std::map<std::string, std::vector<std::string>> names;
  for (const suites::ModelNode& node : location.not_judged) names[node.because].push_back(node.name);
  for (const auto& [because, nodes] : names)
    std::cout << nodes.size() << (nodes.size() == 1 ? " node is" : " nodes are") << " not judged, " << nodes.front()
              << (nodes.size() == 1 ? "" : " first") << ": " << because << "\n";
}

// Keeps the first node that is wrong alone as a finding.
void save(const std::string& folder, const suites::Location& location, const Subject& subject, suites::WorkerPool& pool,
          const suites::RunOptions& run_options) {
  const auto alone = std::ranges::find_if(location.wrong, [](const suites::LocatedNode& each) {
    return each.scope == suites::Scope::alone && !each.node.lines.empty();
  });
  if (alone == location.wrong.end()) {
    std::cout << "nothing is saved in " << folder << ": no node is wrong alone\n";
    return;
  }
  const suites::SuiteCase planned{case_of(alone->node.lines.front()), alone->node.lines.front(), "", std::nullopt};
  oracles::Outcome outcome = pool.second(0).run(suites::request_of(planned, run_options));
  const oracles::Verdict verdict = suites::judged(planned, outcome, pool.describe(), run_options.level);
  const suites::Finding finding =
      suites::finding_of(planned.c, alone->node.name, {std::move(outcome), verdict}, {},
                         {.judgement = suites::judgement_of(run_options.level, pool.describe().arithmetic)});
  suites::RunOptions own = run_options;
  own.model = "";  // what arrives at the node is the backend's, not what our kernels make of the model
  suites::write_finding(folder, finding, {ASSAY_VERSION, subject.backend, pool.describe(), own});
  std::cout << alone->node.name << " alone, with its data and repro.py, is in " << folder << "\n";
}

int locate(const Options& options) {
  const suites::ModelSource source = options.subject.model_source();
  if (source.file.empty()) throw InputError("name a model: assay locate MODEL.onnx --backend onnxruntime");
  suites::RunOptions run_options = options.subject.run_options();
  run_options.stop = &interrupted();
  heed_interrupts();
  std::optional<ProgressLine> line(std::in_place);
  run_options.progress = [&](const suites::Progress& progress) { line->show(progress); };
  suites::WorkerPool pool(options.subject.opener(), 1);
  const suites::Location location = suites::locate(source, options.finds_all, pool, run_options);
  line.reset();
  for (const suites::LocatedNode& each : location.wrong) print(each);
  print_not_judged(location);
  std::cout << location.wrong.size() << " of " << location.judged << " nodes judged "
            << (location.wrong.size() == 1 ? "is" : "are") << " wrong";
  if (location.nodes < location.of) std::cout << "; " << location.of - location.nodes << " behind were not looked at";
  std::cout << "\n";
  if (!options.save.empty()) save(options.save, location, options.subject, pool, run_options);
  const bool is_whole = location.nodes == location.of;  // else it ends at a node that fails, or was interrupted
  return location.wrong.empty() && is_whole ? conforms : not_conforming;
}

}  // namespace

Verb locate_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->subject.backend = "onnxruntime";
  CLI::App* command = app.add_subcommand("locate", "say at which node of a model a backend begins to be wrong");
  options->subject.add_options(*command);
  options->subject.add_model_options(*command);
  take_words(*command, "what",
             {{Positional::backend, &options->subject.backend}, {Positional::model, &options->subject.model}},
             "the model, as --model names it, and the backend, as --backend does");
  command->add_flag("--all", options->finds_all, "go on behind the first node that fails");
  command->add_option(
      "--save", options->save,
      "write the first node that is wrong alone to this folder: model, data, README.md, ISSUE.md, repro.py");
  return {command, [options] { return locate(*options); }};
}

}  // namespace assay::tools
