// SPDX-License-Identifier: Apache-2.0
#include "reports/certificate.h"

#include "reports/pieces.h"
#include "suites/campaign/errors.h"

#include <algorithm>
#include <ostream>
#include <sstream>

namespace assay::reports {
namespace {

using oracles::Level;
using oracles::State;
using oracles::Verdict;

constexpr std::string_view run_member = "\n  \"run\":";
constexpr std::string_view digest_member = ",\n  \"digest\": \"";
constexpr std::string_view after_digest = "\"\n}\n";

// Breaches of one word for one cause.
struct Breached {
  Int cases = 0;
  std::string first;  // the id of the first case
};
using Breaches = std::map<suites::Breach, Breached>;

// What is said of one operator version at one type, over the cases that decide.
struct Row {
  Counts counts;
  std::map<std::string, Counts> apart;  // classes of legal cases that do not decide
  Int legal = 0, judged = 0;
  std::optional<Level> level;
  bool has_failed = false;  // then no level is met by every judged case
  std::map<std::string, std::map<std::string, Int>> followed;
  std::map<std::string, Int> contested, unsupported, unscored;
  Breaches breaches, excused;

  std::optional<Level> met() const { return has_failed ? std::nullopt : level; }
  std::string_view state() const {
    if (!breaches.empty()) return "not conforming";
    return judged > 0 && count(counts, State::not_run) == 0 ? "certified" : "not certified";
  }
};

struct VersionRows {
  std::map<DType, Row> types;
  Counts near_misses;
  std::vector<Exception> exceptions;
};

void tell_breaches(Row& row, const Report& report, std::size_t index) {
  const std::string& line = report.suite.cases[index].line;
  for (const suites::Breach& breach :
       suites::breaches(*report.campaign.verdicts[index], report.campaign.marks[index])) {
    if (breach.word == "contested" && !report.invocation.strict) continue;
    Breached& group = (report.agreed.excuses(index, breach.word) ? row.excused : row.breaches)[breach];
    if (group.cases++ == 0) group.first = case_id(line);
  }
}

void tell(Row& row, const Report& report, std::size_t index) {
  const Verdict& verdict = *report.campaign.verdicts[index];
  if (!decides(report.classes[index], report.invocation.counts_special())) {
    ++row.apart[report.classes[index]][verdict.state];
    return;
  }
  ++row.counts[verdict.state];
  ++row.legal;
  for (const suites::Mark& mark : report.campaign.marks[index])
    if (const auto state = suites::session_state(mark)) ++row.counts[*state], row.has_failed |= *state == State::fail;
  tell_breaches(row, report, index);
  for (const auto& [ruling, reading] : verdict.followed) ++row.followed[ruling][reading];
  if (verdict.state == State::contested) ++row.contested[text(verdict.readings)];
  if (verdict.state == State::unsupported) ++row.unsupported[verdict.because];
  if (verdict.state == State::unscored) ++row.unscored[verdict.because];
  if (!is_judged(verdict.state)) return;
  ++row.judged;
  row.has_failed |= verdict.state == State::fail;
  if (verdict.level) row.level = std::max(row.level.value_or(*verdict.level), *verdict.level);
}

// What is known of every input holds of the type; the first input that breaks is named by a case of its own.
void tell(Row& row, const suites::Accuracy& of) {
  if (of.inputs == 0) return;
  row.level = std::max(row.level.value_or(of.level()), of.level());
  row.has_failed |= of.count(suites::Closeness::fail) > 0;
  for (const suites::Closeness standing : {suites::Closeness::below, suites::Closeness::fail})
    if (of.count(standing) > 0)
      row.breaches[{std::string(suites::standings[static_cast<std::size_t>(standing)]), "over every input"}] = {
          static_cast<Int>(of.count(standing)),
          case_id(suites::line_of_patterns(*of.definition, of.type, of.breaches.front().pattern, 1))};
}

std::map<OpVersion, VersionRows> rows_of(const Report& report) {
  std::map<OpVersion, VersionRows> rows;
  for (std::size_t i = 0; i < report.suite.cases.size(); ++i) {
    const Case& c = report.suite.cases[i].c;
    VersionRows& version = rows[c.version];
    if (report.classes[i].starts_with("invalid")) {
      ++version.near_misses[report.campaign.verdicts[i]->state];
      continue;
    }
    tell(version.types[suites::first_type(c)], report, i);
  }
  for (const suites::Accuracy& each : report.every_input)
    if (const auto row = rows.find(each.definition->version);
        row != rows.end() && row->second.types.contains(each.type))
      tell(row->second.types[each.type], each);
  for (const OperatorRow& row : report.operators) rows[row.version].exceptions = row.exceptions;
  return rows;
}

Json breaches_json(const Breaches& breaches) {
  Json json = Json::array();
  for (const auto& [breach, group] : breaches)
    json.push_back(
        {{"word", breach.word}, {"because", breach.because}, {"cases", group.cases}, {"first", group.first}});
  return json;
}

Json type_json(DType type, const Row& row) {
  Json apart = Json::object();
  for (const auto& [name, counts] : row.apart) apart[name] = counts_json(counts);
  return {{"type", name(type)},
          {"state", row.state()},
          {"level", level_json(row.met())},
          {"legal", row.legal},
          {"judged", row.judged},
          {"counts", counts_json(row.counts)},
          {"apart", apart},
          {"readings", row.followed},
          {"contested", row.contested},
          {"unsupported", row.unsupported},
          {"unscored", row.unscored},
          {"breaches", breaches_json(row.breaches)},
          {"excused", breaches_json(row.excused)}};
}

// Of the version: the worst of its types.
std::string_view state_of(const VersionRows& version) {
  std::string_view worst = "not certified";
  for (const auto& [type, row] : version.types) {
    if (row.state() == "not conforming") return row.state();
    if (row.state() == "certified") worst = row.state();
  }
  return worst;
}

std::optional<Level> level_of(const VersionRows& version) {
  std::optional<Level> weakest;
  for (const auto& [type, row] : version.types) {
    if (row.has_failed) return std::nullopt;
    if (row.level) weakest = std::max(weakest.value_or(*row.level), *row.level);
  }
  return weakest;
}

Json near_misses_json(const Counts& counts) {
  return {{"refused", count(counts, State::pass)},
          {"accepted", count(counts, State::accepted)},
          {"contested", count(counts, State::contested)},
          {"unsupported", count(counts, State::unsupported)}};
}

// Writes an exception as the report has it, with the sentence of its cause.
Json exception_json(const Report& report, const Exception& exception) {
  Json json = exception_json(exception);
  json["sentence"] = report.sorted.causes[exception.cause].sentence;
  return json;
}

Json version_json(const Report& report, const std::pair<const OpVersion, VersionRows>& entry) {
  const auto& [op, version] = entry;
  Int legal = 0, judged = 0;
  Json types = Json::array();
  for (const auto& [type, row] : version.types) {
    legal += row.legal;
    judged += row.judged;
    types.push_back(type_json(type, row));
  }
  Json exceptions = Json::array();
  for (const Exception& each : version.exceptions) exceptions.push_back(exception_json(report, each));
  return {{"op", text(op)}, {"state", state_of(version)}, {"level", level_json(level_of(version))},
          {"legal", legal}, {"judged", judged},           {"near_misses", near_misses_json(version.near_misses)},
          {"types", types}, {"exceptions", exceptions}};
}

Json suite_json(const Report& report, const Sealing& sealing) {
  Json json = {{"name", report.suite.name},      {"version", report.suite.version},
               {"hash", report.suite.hash},      {"cases", report.suite.cases.size()},
               {"seed", report.invocation.seed}, {"generated", sealing.generated}};
  if (report.suite.profile) json["profile"] = profile_json(*report.suite.profile);
  return json;
}

Json artefact_json(const suites::Artefact& artefact) {
  const auto known = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return {{"kind", artefact.kind},
          {"name", artefact.name},
          {"version", known(artefact.version)},
          {"sha256", known(artefact.sha256)}};
}

Json ledger_json(const Report& report) {
  if (!report.agreed.ledger) return nullptr;
  Json entries = Json::array();
  for (std::size_t i = 0; i < report.agreed.ledger->entries.size(); ++i) {
    const suites::Entry& entry = report.agreed.ledger->entries[i];
    entries.push_back({{"id", entry.id},
                       {"reason", entry.reason},
                       {"owner", entry.owner},
                       {"expires", suites::text(entry.expires)},
                       {"covered", report.agreed.settlement.uses[i].covered}});
  }
  return {{"hash", report.agreed.ledger->hash}, {"entries", entries}};
}

void write_body(const Report& report, const Sealing& sealing, std::ostream& out) {
  Document document(out);
  document.member("certificate", certificate_version);
  document.member("conclusion", name(report.certified));
  document.member("standard", standard_json());
  document.member("suite", suite_json(report, sealing));
  document.member("judgement", judgement_json());
  document.member("level", oracles::name(report.invocation.level));
  document.member("mode", report.invocation.strict ? "strict" : "lenient");
  document.member("tool",
                  {{"name", "assay"}, {"version", report.invocation.tool_version}, {"sha256", sealing.tool_sha256}});
  document.member("backend", backend_json(report.invocation, report.campaign.backend));
  document.list("artefacts", sealing.artefacts.recorded, artefact_json);
  document.member("not_recorded", sealing.artefacts.not_recorded);
  document.member("ledger", ledger_json(report));
  document.member("report", {{"schema", schema_version}, {"sha256", sealing.report_sha256}});
  document.member("command",
                  certify_line(report.invocation, name(report.suite.length), sealing.generated, sealing.ledger));
  document.member("totals", counts_json(report.totals));
  document.list("operators", rows_of(report), [&](const auto& entry) { return version_json(report, entry); });
  document.list("rulings", report.rulings, ruling_json);
}

}  // namespace

std::optional<std::string> obstacle(const Report& report) {
  if (!report.suite.complete)
    return "it takes the whole suite: leave out --ops and --types, and let --suite be default or full and --cases at "
           "least " +
           std::to_string(suites::default_generated);
  if (report.is_interrupted()) return "the run was interrupted";
  if (report.agreed.baseline) return "a baseline excuses breaches that nobody stands for; use --expectations";
  if (report.campaign.backend.answers_shapes) return "the backend answers shapes, and no value was judged";
  if (const Int crashes = count(report.totals, State::error); crashes > 0)
    return std::to_string(crashes) + (crashes == 1 ? " case" : " cases") +
           " ended in an error, and a crash blocks a certificate, whatever a ledger says";
  for (const suites::Accuracy& each : report.every_input)
    if (!each.ended.empty() && !each.is_unsupported)
      return text(each.definition->version) + " ended in an error over every input: " + each.ended;
  return std::nullopt;
}

void write_certificate(const Report& report, const Sealing& sealing, std::ostream& out) {
  expects(!obstacle(report), "a certificate is written where nothing is in its way");
  std::ostringstream body;
  write_body(report, sealing, body);
  std::string text = body.str();
  text.resize(text.size() - std::string_view("\n}\n").size());
  out << text << digest_member << sha256(text + ",\n") << after_digest;
}

std::optional<std::string> report_identity(std::string_view report) {
  const std::size_t run = report.find(run_member);
  if (run == std::string_view::npos) return std::nullopt;
  return sha256(report.substr(0, run + 1));
}

std::string report_identity(const Report& report) {
  std::ostringstream text;
  write_json(report, text);
  return report_identity(text.str()).value();
}

std::optional<std::string> certificate_digest(std::string_view certificate) {
  constexpr std::size_t digits = 64;
  const std::size_t tail = digest_member.size() + digits + after_digest.size();
  if (certificate.size() < tail || !certificate.ends_with(after_digest)) return std::nullopt;
  const std::size_t at = certificate.size() - tail;
  if (certificate.substr(at, digest_member.size()) != digest_member) return std::nullopt;
  return sha256(certificate.substr(0, at + 2));
}

}  // namespace assay::reports
