// SPDX-License-Identifier: Apache-2.0
// assay report: a JSON report said again in another format.
#include "reference/result.h"
#include "reference/sequence.h"
#include "reports/atomic_file.h"
#include "reports/render.h"
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
  std::string report, format = "html", out, baseline, per = "case";
};

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const reports::OutputFormat& each : reports::formats()) names.emplace_back(each.name);
  return names;
}

std::string formats_in_words() {
  return joined(reports::formats(), "; ", [](const reports::OutputFormat& each) {
    return std::string(each.name) + ": " + std::string(each.says);
  });
}

const reports::OutputFormat& format_named(const std::string& name) {
  if (const reports::OutputFormat* format = reports::find_format(name)) return *format;
  throw InputError("there is no format '" + name + "'" + suggestion(name, format_names()));
}

reports::Grain grain_of(const std::string& word) {
  if (word == "case") return reports::Grain::cases;
  if (word == "cause") return reports::Grain::causes;
  throw InputError("--per is case or cause, not '" + word + "'" + suggestion(word, {"case", "cause"}));
}

int report(const Options& options) {
  const reports::OutputFormat& format = format_named(options.format);
  const reports::Grain grain = grain_of(options.per);
  reports::Rendering rendering = reports::rendering(options.report, options.baseline);
  rendering.grain = grain;
  reports::AtomicFile draft(options.out);
  reports::render(format, rendering, draft.is_named() ? draft.out() : std::cout);
  draft.finish();
  return conforms;
}

}  // namespace

Verb report_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("report", "write a JSON report of certify or fuzz in another format");
  command->add_option("report", options->report, "written with certify --report or fuzz --report")->required();
  command->add_option("--format", options->format, formats_in_words())->capture_default_str();
  command->add_option("--out", options->out, "write to this file instead of printing");
  command->add_option("--per", options->per, "junit: a test per case, or per cause, for reports that are too long")
      ->capture_default_str();
  command->add_option("--baseline", options->baseline, "an earlier report: what became of it is told as well");
  return {command, [options] { return report(*options); }};
}

}  // namespace assay::tools
