// SPDX-License-Identifier: Apache-2.0
// assay diff: two reports side by side, case by case.
#include "reference/result.h"
#include "reports/difference.h"
#include "tools/verbs/verbs.h"
#include "tools/verbs/words.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <string>

namespace assay::tools {
namespace {

struct Options {
  std::string before, after, format = "text";
};

int diff(const Options& options) {
  if (options.format != "text" && options.format != "markdown" && options.format != "json")
    throw InputError("there is no format '" + options.format + "'" +
                     suggestion(options.format, {"text", "markdown", "json"}));
  const reports::Difference difference = reports::read_difference(options.before, options.after);
  if (options.format == "text") reports::write_text(difference, std::cout);
  if (options.format == "markdown") reports::write_markdown(difference, std::cout);
  if (options.format == "json") reports::write_json(difference, std::cout);
  return difference.is_worse() ? not_conforming : conforms;
}

}  // namespace

Verb diff_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("diff", "what changed between two reports; exit 1 where something got worse");
  command->add_option("before", options->before, "the earlier report, or that of the other backend")->required();
  command->add_option("after", options->after, "the later report, of the same kind")->required();
  command->add_option("--format", options->format, "text, markdown or json")->capture_default_str();
  return {command, [options] { return diff(*options); }};
}

}  // namespace assay::tools
