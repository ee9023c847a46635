// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/github.h"

#include "reports/annotations.h"
#include "reports/render.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

namespace assay::tools {
namespace {

constexpr std::size_t largest_summary = std::size_t{1} << 20;  // a step may not say more

std::string markdown_of(const reports::Report& report, const std::string& file) {
  const reports::OutputFormat* format = reports::find_format("markdown");
  if (!format) return "";
  std::stringstream json;
  reports::write_json(report, json);
  reports::Rendering rendering{.report = reports::Json::parse(json), .baseline = std::nullopt, .file = file};
  std::ostringstream out;
  format->write(rendering, out);
  return out.str();
}

void write_summary(const std::string& markdown, const char* place) {
  if (markdown.empty()) return;
  std::ofstream out(place, std::ios::app | std::ios::binary);
  if (markdown.size() <= largest_summary)
    out << markdown << "\n";
  else
    out << "The summary of assay is longer than a job may show; the report has it.\n";
  if (!out.flush()) throw InputError("cannot write GITHUB_STEP_SUMMARY, " + std::string(place));
}

}  // namespace

void tell_github(const reports::Report& report, const std::string& file) {
  reports::write_annotations(report, file, std::cout);
  std::cout << std::flush;
  const char* place = std::getenv("GITHUB_STEP_SUMMARY");
  if (place && *place) write_summary(markdown_of(report, file), place);
}

}  // namespace assay::tools
