// SPDX-License-Identifier: Apache-2.0
// What `assay certify` prints: a line per operator version, then what breaks conformance, then one sentence.
#include "reports/report.h"

#include <algorithm>
#include <ostream>
#include <set>
#include <sstream>
#include <utility>

namespace assay::reports {
namespace {

using oracles::Evidence;
using oracles::State;
using oracles::Verdict;

constexpr std::size_t most_findings = 20;
constexpr std::size_t columns = 112;
constexpr std::size_t most_letters = 3 * columns;  // of a backend's message

bool is_loud(State state) { return state == State::fail || state == State::below || state == State::error; }

std::string upper(std::string_view word) {
  std::string loud(word);
  for (char& letter : loud) letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  return loud;
}

std::string painted(const std::string& text, Colour colour) {
  return colour == Colour::terminal ? "\033[1;31m" + text + "\033[0m" : text;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string right(Int number, std::size_t width) {
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < width ? width - digits.size() : 0, ' ') + digits;
}

// A long message keeps its head and its tail: the point comes last.
std::string shortened(const std::string& words) {
  if (words.size() <= most_letters) return words;
  return words.substr(0, columns) + " … " + words.substr(words.size() - (most_letters - columns));
}

void write_wrapped(const std::string& words, std::ostream& out) {
  std::istringstream stream(shortened(words));
  std::string line = "     ";
  for (std::string word; stream >> word; line += " " + word)
    if (line.size() + word.size() > columns) out << std::exchange(line, "     ") << "\n";
  out << line << "\n";
}

// " (A7=text-floor, A8=keep)": the readings a version was contested under.
std::string contested_readings(const Report& report, const OpVersion& version) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < report.suite.cases.size(); ++i) {
    const auto& verdict = report.campaign.verdicts[i];
    if (verdict && verdict->state == State::contested && report.suite.cases[i].c.version == version)
      seen.insert(text(verdict->readings));
  }
  std::string all;
  for (const std::string& readings : seen) all += (all.empty() ? "" : ", ") + readings;
  return all.empty() ? "" : " (" + all + ")";
}

// " (f64)": the types that had unsupported cases.
std::string unsupported_types(const OperatorRow& row) {
  std::string words;
  for (const auto& [type, counts] : row.types)
    if (count(counts, State::unsupported) > 0) words += (words.empty() ? "" : " ") + std::string(name(type));
  return words.empty() ? "" : " (" + words + ")";
}

std::string level_and_share(const OperatorRow& row) {
  std::string words = std::string(name(row.certified));
  if (row.level) words += ", " + std::string(oracles::name(*row.level));
  if (row.judged < row.legal && row.legal > 0)
    words += ", " + std::to_string(100 * row.judged / row.legal) + " % judged";
  return words;
}

void write_row(const Report& report, const OperatorRow& row, Colour colour, std::ostream& out) {
  out << "  " << padded(text(row.version), 16) << right(count(row.counts, State::pass), 6) << " pass";
  for (State state : oracles::all_states) {
    const Int cases = count(row.counts, state);
    if (state == State::pass || cases == 0) continue;
    const std::string words =
        std::to_string(cases) + " " + (is_loud(state) ? upper(name(state)) : std::string(name(state)));
    out << "  " << (is_loud(state) ? painted(words, colour) : words);
    if (state == State::contested) out << contested_readings(report, row.version);
    if (state == State::unsupported) out << unsupported_types(row);
  }
  out << "  [" << level_and_share(row) << "]\n";
}

std::string place(const suites::Planned& planned, const Evidence& evidence) {
  const auto& outputs = planned.c.definition().outputs;
  const auto output = static_cast<std::size_t>(evidence.output);
  std::string place = output < outputs.size() ? outputs[output].name : "output " + std::to_string(evidence.output);
  place += text(evidence.index);
  return evidence.set == 0 ? place : place + " of data set " + std::to_string(evidence.set);
}

void write_evidence(const suites::Planned& planned, const Evidence& evidence, std::ostream& out) {
  out << "      " << place(planned, evidence) << "  got " << evidence.got << "  want " << evidence.want;
  if (!evidence.budget.empty()) out << "  budget " << evidence.budget;
  if (!evidence.arithmetic.empty()) out << " (" << evidence.arithmetic << ")";
  out << "\n";
}

// What one question showed beside its verdict.
void write_mark(const Report& report, const Finding& finding, Colour colour, std::ostream& out) {
  const suites::Planned& planned = report.suite.cases[finding.first];
  const suites::Mark& mark = mark_of(report, finding);
  out << painted(padded(upper(mark.name) + " ", 9), colour) << planned.line << "\n";
  write_wrapped(mark.by + ": " + mark.detail, out);
  if (finding.count > 1)
    out << "      and " << finding.count - 1 << " more of " << text(finding.version) << " like it\n";
  out << "      replay: " << replay_line(report.asked, planned.line, mark) << "\n";
}

void write_finding(const Report& report, const Finding& finding, Colour colour, std::ostream& out) {
  if (!finding.mark.empty()) return write_mark(report, finding, colour, out);
  const suites::Planned& planned = report.suite.cases[finding.first];
  const Verdict& verdict = *report.campaign.verdicts[finding.first];
  out << painted(padded(upper(name(finding.state)), 9), colour) << planned.line << "\n";
  write_wrapped(finding.because + (finding.detail.empty() ? "" : ": ") + finding.detail, out);
  if (verdict.evidence) write_evidence(planned, *verdict.evidence, out);
  if (finding.count > 1)
    out << "      and " << finding.count - 1 << " more of " << text(finding.version) << " like it\n";
  out << "      replay: " << replay_line(report.asked, planned.line) << "\n";
}

void write_findings(const Report& report, Colour colour, std::ostream& out) {
  const std::size_t shown = std::min(most_findings, report.findings.size());
  for (std::size_t i = 0; i < shown; ++i) write_finding(report, report.findings[i], colour, out);
  if (shown < report.findings.size())
    out << "      … and " << report.findings.size() - shown << " more kinds; the report has them all\n";
}

void write_readings_followed(const Report& report, std::ostream& out) {
  std::string words;
  for (const RulingRow& row : report.rulings) {
    words += words.empty() ? "" : "; ";
    words += row.id;
    for (const auto& [reading, cases] : row.followed) words += " " + reading + " " + std::to_string(cases);
  }
  if (!words.empty()) out << "  readings followed: " << words << "\n";
}

void write_acceptance(const Report& report, std::ostream& out) {
  Int refused = 0, accepted = 0;
  std::string which;
  for (const ConstraintRow& row : report.constraints) {
    refused += row.refused;
    accepted += row.accepted;
    if (row.accepted > 0) which += (which.empty() ? "" : ", ") + row.id + " " + std::to_string(row.accepted);
  }
  if (refused + accepted == 0) return;
  out << "  models that break a constraint: " << refused << " refused, " << accepted << " accepted"
      << (which.empty() ? "" : " (" + which + ")") << "\n";
}

// Classes that do not decide, where something is wrong in them.
void write_apart(const Report& report, std::ostream& out) {
  for (const auto& [name, counts] : report.by_class) {
    if (decides(name) || name.starts_with("invalid")) continue;
    out << "  shown apart, " << name << ":";
    for (State state : oracles::all_states)
      if (count(counts, state) > 0) out << " " << count(counts, state) << " " << oracles::name(state);
    out << "\n";
  }
}

std::string breaches(const Report& report) {
  std::string words;
  for (State state : {State::fail, State::below, State::refused, State::error, State::contested}) {
    if (state == State::contested && !report.asked.strict) continue;
    const Int cases = count(report.totals, state) - count(report.excused, state);
    if (cases > 0)
      words += (words.empty() ? "" : ", ") + std::to_string(cases) + " " + std::string(oracles::name(state));
  }
  for (const auto& [mark, cases] : report.marks)
    if (cases > 0) words += (words.empty() ? "" : ", ") + std::to_string(cases) + " " + mark;
  return words;
}

// Cases that break conformance, by their verdict.
Int failures(const Report& report) {
  Int all = 0;
  for (const auto& [state, cases] : report.totals)
    if (suites::is_finding(state) || (report.asked.strict && state == State::contested)) all += cases;
  return all;
}

std::string scope(const Report& report) {
  if (!report.campaign.is_complete() && failures(report) >= report.asked.most_failures &&
      report.asked.most_failures > 0)
    return "stopped after " + std::to_string(failures(report)) + " failures, not a certificate; ";
  if (!report.campaign.is_complete()) return "interrupted, not a certificate; ";
  return report.suite.complete ? "" : "part of the suite, not a certificate; ";
}

Int excused(const Report& report) {
  Int all = 0;
  for (const auto& [state, cases] : report.excused) all += cases;
  return all;
}

// What was agreed before the run, and what has become of it.
void write_agreed(const Report& report, Colour colour, std::ostream& out) {
  const Agreed& agreed = report.agreed;
  if (agreed.ledger) {
    Int covered = 0;
    for (const auto& expectations : agreed.settlement.expectations)
      covered += std::ranges::count(expectations, suites::Expectation::Kind::xfail, &suites::Expectation::kind);
    out << "  expected by " << agreed.ledger->file << ": " << covered << " xfail under "
        << agreed.ledger->entries.size() << (agreed.ledger->entries.size() == 1 ? " entry\n" : " entries\n");
  }
  if (agreed.baseline) {
    const suites::Comparison& comparison = agreed.comparison;
    out << "  against " << agreed.baseline->file << ": " << comparison.fresh << " new, " << comparison.repeated
        << " known, " << comparison.fixed.size() << " fixed";
    if (comparison.unasked > 0)
      out << "; " << comparison.unasked << " cases of this run are not in it: run the same suite";
    out << "\n";
  }
  for (const suites::Complaint& each : agreed.settlement.complaints)
    out << painted(padded(upper(suites::name(each.kind)), 9), colour) << each.entry << ": " << each.detail << "\n";
}

}  // namespace

void write_conclusion(const Report& report, std::string_view file, std::ostream& out) {
  const std::string where = file.empty() ? "no report written" : std::string(file) + " written";
  switch (report.certified) {
    case Certified::conforms:
      out << (report.is_as_agreed() ? "conforms: " : "conforms, but the ledger has to be mended: ")
          << count(report.totals, State::pass) << " pass"
          << (report.campaign.backend.answers_shapes ? " in type and shape, values were not judged" : "");
      if (excused(report) > 0) out << ", " << excused(report) << " as agreed";
      out << "; " << scope(report) << where << "\n";
      break;
    case Certified::not_conforming:
      out << "not conforming: " << breaches(report) << "; " << scope(report) << where
          << ". That is the finding about the backend, not a breakdown of assay.\n";
      break;
    case Certified::not_certified:
      out << "not certified: no case of the selection could be judged; " << scope(report) << where << "\n";
  }
}

void write_heading(const suites::Suite& suite, const suites::Description& backend, const Asked& asked,
                   std::ostream& out) {
  out << "assay " << asked.tool_version << " (suite " << suite.hash.substr(0, 8)
      << (suite.profile ? ", profile " + std::string(suite.profile->name) : "") << ", standard ONNX "
      << standard_release << ")  backend " << backend.backend << (backend.version.empty() ? "" : " ") << backend.version
      << (backend.device.empty() ? "" : ", ") << backend.device << "\n";
}

void write_session(const Report& report, std::string_view file, Colour colour, std::ostream& out) {
  write_heading(report.suite, report.campaign.backend, report.asked, out);
  for (const OperatorRow& row : report.operators) write_row(report, row, colour, out);
  write_readings_followed(report, out);
  write_acceptance(report, out);
  write_apart(report, out);
  write_findings(report, colour, out);
  write_agreed(report, colour, out);
  write_conclusion(report, file, out);
}

}  // namespace assay::reports
