// SPDX-License-Identifier: Apache-2.0
// assay matrix: reports of many backends as one table.
#include "reports/matrix.h"

#include "reference/result.h"
#include "reports/atomic_file.h"
#include "tools/verbs/verbs.h"
#include "tools/verbs/words.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace assay::tools {
namespace {

struct Options {
  std::vector<std::string> reports;
  std::string format = "markdown", out;
};

using Write = void (*)(const reports::Matrix&, std::ostream&);

Write writer(const std::string& format) {
  if (format == "markdown") return reports::write_matrix_markdown;
  if (format == "summary") return reports::write_matrix_summary;
  if (format == "html") return reports::write_matrix_page;
  if (format == "json") return reports::write_matrix_json;
  throw InputError("there is no format '" + format + "'" + suggestion(format, {"markdown", "summary", "html", "json"}));
}

int matrix(const Options& options) {
  const Write write = writer(options.format);
  const reports::Matrix matrix = reports::read_matrix(options.reports);
  reports::AtomicFile draft(options.out);
  write(matrix, draft.is_named() ? draft.out() : std::cout);
  draft.finish();
  return conforms;
}

}  // namespace

Verb matrix_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("matrix", "reports of many backends as one table, backends by operator versions");
  command->add_option("reports", options->reports, "written with certify --report, or with matrix --format json")
      ->required();
  command
      ->add_option(
          "--format", options->format,
          "markdown; summary: the same without the cells; html; or json: what the table needs, to make it again")
      ->capture_default_str();
  command->add_option("--out", options->out, "write to this file instead of printing");
  return {command, [options] { return matrix(*options); }};
}

}  // namespace assay::tools
