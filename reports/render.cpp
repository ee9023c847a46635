// SPDX-License-Identifier: Apache-2.0
#include "reports/render.h"

#include "reference/result.h"
#include "reference/sequence.h"
#include "reports/report.h"
#include "suites/text/json_depth.h"

#include <array>
#include <fstream>
#include <iterator>

namespace assay::reports {
namespace {

// Every format of --format, in the order of --help.
constexpr std::array all_formats = {
    OutputFormat{"html", "one page for a browser, without network", write_page},
    OutputFormat{"markdown", "a comment for a pull request", write_markdown},
    OutputFormat{"junit", "JUnit XML for the test view of a CI service", write_junit},
    OutputFormat{"sarif", "SARIF 2.1.0 for code scanning", write_sarif},
    OutputFormat{"csv", "one row per case, for a spreadsheet", write_csv},
};

[[noreturn]] void refuse(const std::string& file) {
  throw InputError(
      file +
      " is no report of this version of assay; write one with certify --report or fuzz --report, without --graphs");
}

}  // namespace

std::span<const OutputFormat> formats() { return all_formats; }

const OutputFormat* find_format(std::string_view name) { return find_in(all_formats, name, &OutputFormat::name); }

std::string bytes_of_report(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file)) throw InputError("cannot read the report " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

Json parsed(std::string_view bytes) {
  return suites::nests_too_deep(bytes) ? Json() : Json::parse(bytes, nullptr, false);
}

Json read_report(const std::filesystem::path& file) { return report_of(parsed(bytes_of_report(file)), file); }

Json report_of(Json report, const std::filesystem::path& file) {
  if (!report.is_object() || report.value("schema", Json()) != schema_version) refuse(file.string());
  const bool is_fuzz = report.value("kind", Json()) == "fuzz" && report.contains("failures");
  const bool is_certify = !report.contains("kind") && report.contains("verdicts") && report.contains("suite");
  if (!is_fuzz && !is_certify) refuse(file.string());
  return report;
}

void render(const OutputFormat& format, const Rendering& rendering, std::ostream& out) {
  try {
    format.write(rendering, out);
  } catch (const Json::exception&) {
    refuse(rendering.file);
  }
}

Rendering rendering(const std::filesystem::path& report, const std::string& baseline) {
  Rendering rendering{read_report(report), std::nullopt, report.filename().string(), "", Grain::cases};
  if (baseline.empty()) return rendering;
  rendering.baseline = read_report(baseline);
  rendering.baseline_file = std::filesystem::path(baseline).filename().string();
  if (rendering.baseline->contains("kind") != rendering.is_fuzz())
    throw InputError(baseline + " is a report of " + (rendering.is_fuzz() ? "certify" : "fuzz") + " and " +
                     report.string() + " is one of the other; name two of one kind");
  return rendering;
}

}  // namespace assay::reports
