// SPDX-License-Identifier: Apache-2.0
#include "reports/annotations.h"

#include "reports/terminal.h"
#include "suites/text/printable.h"

#include <cstdio>
#include <random>
#include <sstream>
#include <vector>

namespace assay::reports {
namespace {

constexpr std::size_t most_letters = 2000;  // of a message

std::string replaced(std::string text, std::string_view letter, std::string_view escape) {
  for (std::size_t at = 0; (at = text.find(letter, at)) != std::string::npos; at += escape.size())
    text.replace(at, letter.size(), escape);
  return text;
}

// The escapes of the toolkit of Actions: of a message, and of a property, where these two end it.
std::string escaped(std::string_view text) {
  return replaced(replaced(replaced(std::string(text), "%", "%25"), "\r", "%0D"), "\n", "%0A");
}
std::string escaped_property(std::string_view text) {
  return replaced(replaced(escaped(text), ":", "%3A"), ",", "%2C");
}

struct Remark {
  std::string file, title, message;
};

Remark remark(const Report& report, const suites::Cause& cause, std::string_view file) {
  const suites::Finding& smallest = report.sorted.findings[cause.smallest];
  std::string versions;
  for (const auto& [version, count] : cause.versions) versions += " " + text(version);
  Remark out;
  out.file = std::string(file);
  out.title = upper(name(cause.state)) + versions + ": " + suites::printable(cause.because, 80);
  const std::string detail = suites::printable(smallest.answered.verdict.detail);
  out.message = suites::printable(cause.sentence, 1000) + (detail.empty() ? "" : "\n" + detail) + "\n" + smallest.line +
                "\nreplay: " + replay_line(report.invocation, smallest.line);
  return out;
}

// Says of a mark, or of a finding without a cause, what is wrong, with which case, how often, and how to see it again.
Remark remark(const Report& report, const ReportedFinding& finding, std::string_view file) {
  const std::string& line = report.suite.cases[finding.first].line;
  const bool is_mark = !finding.mark.empty();
  Remark out;
  out.file = std::string(file);
  out.title = upper(is_mark ? std::string_view(finding.mark) : name(finding.state)) + " " + text(finding.version) +
              ": " + suites::printable(finding.because, 80);
  out.message = suites::printable(finding.detail) + (finding.detail.empty() ? "" : "\n") + line;
  if (finding.count > 1)
    out.message += "\nand " + std::to_string(finding.count - 1) + " more of " + text(finding.version) + " like it";
  out.message += "\nreplay: " + (is_mark ? replay_line(report.invocation, line, mark_of(report, finding))
                                         : replay_line(report.invocation, line));
  return out;
}

std::vector<Remark> remarks(const Report& report, std::string_view file) {
  std::vector<Remark> all;
  for (const suites::Complaint& each : report.agreed.settlement.complaints)
    all.push_back({report.agreed.ledger ? report.agreed.ledger->file : std::string(file),
                   upper(suites::name(each.kind)) + " entry of the ledger", each.entry + ": " + each.detail});
  for (const suites::Cause& cause : report.sorted.causes) all.push_back(remark(report, cause, file));
  for (const ReportedFinding& finding : report.findings) {
    if (finding.cause != suites::no_cause) continue;
    if (!finding.mark.empty() && !mark_of(report, finding).breaches) continue;  // information
    all.push_back(remark(report, finding, file));
  }
  for (const suites::Accuracy& each : report.every_input) {
    if (!each.breaks()) continue;
    Remark out{std::string(file), "EVERY INPUT " + text(each.definition->version) + " " + std::string(name(each.type)),
               suites::printable(each.ended, 1000)};
    if (!each.breaches.empty())
      out.message = "got " + each.breaches.front().got + ", want " + each.breaches.front().want + "\nreplay: " +
                    replay_line(report.invocation, suites::line_of_patterns(*each.definition, each.type,
                                                                            each.breaches.front().pattern, 1));
    all.push_back(std::move(out));
  }
  return all;
}

std::string conclusion(const Report& report, std::string_view file) {
  std::ostringstream session;
  write_session(report, file, Colour::none, session);
  const std::string words = session.str();
  const std::string lines = words.substr(0, words.find_last_not_of('\n') + 1);
  return lines.substr(lines.rfind('\n') + 1);
}

std::string new_token() {
  std::random_device source;
  std::string token = "assay-";
  for (int i = 0; i < 4; ++i) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", source());
    token += digits;
  }
  return token;
}

}  // namespace

std::string annotation(std::string_view kind, std::string_view file, std::string_view title, std::string_view message) {
  std::string properties = file.empty() ? "" : "file=" + escaped_property(suites::printable(file)) + ",";
  properties += "title=" + escaped_property(suites::printable(title, 200));
  return "::" + std::string(kind) + " " + properties + "::" + escaped(message.substr(0, most_letters)) + "\n";
}

void write_annotations(const Report& report, std::string_view file, std::ostream& out) {
  std::vector<Remark> all = remarks(report, file);
  if (all.size() > most_annotations) {
    const std::size_t left = all.size() - (most_annotations - 1);
    all.resize(most_annotations - 1);
    all.push_back(
        {std::string(file), std::to_string(left) + " more kinds of breach", "the log and the report have them"});
  }
  for (const Remark& each : all) out << annotation("error", each.file, each.title, each.message);
  const std::string& backend = report.campaign.backend.backend;
  out << annotation("notice", file, "assay: " + backend + " " + report.campaign.backend.version,
                    conclusion(report, file));
}

Unheeded::Unheeded(std::ostream& out) : out_(out), token_(new_token()) {
  out_ << "::stop-commands::" << token_ << std::endl;
}

Unheeded::~Unheeded() { out_ << "::" << token_ << "::" << std::endl; }

}  // namespace assay::reports
