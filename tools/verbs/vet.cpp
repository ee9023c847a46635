// SPDX-License-Identifier: Apache-2.0
// assay vet: says which nodes of a model meet what a report knows to be wrong, refused or not judged; runs nothing.
#include "reference/sequence.h"
#include "suites/models/vetting.h"
#include "tools/verbs/positional.h"
#include "tools/verbs/subject.h"
#include "tools/verbs/verbs.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <span>

namespace assay::tools {
namespace {

struct Options {
  Subject subject;
  std::string report;
};

int vet(const Options& options) {
  const suites::ModelSource source = options.subject.model_source();
  if (source.file.empty() || options.report.empty())
    throw InputError("name a model and a report: assay vet MODEL.onnx REPORT.json");
  const std::vector<suites::Vetted> all = suites::vet(source, options.report);
  // Nodes of one operator are mostly warned about for one reason.
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> names;
  for (const suites::Vetted& each : all)
    for (const std::string& warning : each.warnings) names[{each.node.op, warning}].push_back(each.node.name);
  constexpr std::size_t most_named = 5;
  for (const auto& [what, nodes] : names) {
    const std::size_t shown = std::min(nodes.size(), most_named);
    std::cout << what.first << ": " << what.second << "\n    "
              << joined(std::span(nodes).first(shown), ", ", [](const std::string& name) { return name; });
    if (shown < nodes.size()) std::cout << " and " << nodes.size() - shown << " more";
    std::cout << "\n";
  }
  const auto warned = std::ranges::count_if(all, [](const suites::Vetted& each) { return !each.warnings.empty(); });
  std::cout << warned << " of " << all.size() << " nodes of " << source.file << " are in question, by "
            << options.report << "\n";
  return warned > 0 ? not_conforming : conforms;
}

}  // namespace

Verb vet_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("vet", "say which nodes of a model meet what a report or a certificate knows to be wrong");
  options->subject.add_model_options(*command);
  command->add_option("--report", options->report, "of certify, or a certificate");
  take_words(*command, "what", {{Positional::model, &options->subject.model}, {Positional::report, &options->report}},
             "the model, as --model names it, and the report");
  return {command, [options] { return vet(*options); }};
}

}  // namespace assay::tools
