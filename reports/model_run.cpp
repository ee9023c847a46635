// SPDX-License-Identifier: Apache-2.0
// Says what a report knows of the nodes of a model.
#include "reports/model_run.h"

#include "reference/sequence.h"
#include "reports/terminal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

namespace assay::reports {
namespace {

using oracles::State;

// The gravest first.
constexpr std::array by_gravity = {State::error,    State::fail,        State::refused, State::below, State::contested,
                                   State::accepted, State::unsupported, State::not_run, State::pass,  State::unscored};

std::size_t gravity(State state) {
  return static_cast<std::size_t>(std::ranges::find(by_gravity, state) - by_gravity.begin());
}

void add(NodeRow& row, const oracles::Verdict& verdict, std::size_t cause) {
  const bool is_graver = !row.state || gravity(verdict.state) < gravity(*row.state);
  if (is_graver) {
    row.state = verdict.state;
    row.cause = cause;
    row.detail = verdict.detail.empty() ? verdict.because : verdict.detail;
  }
  row.is_judged |= is_judged(verdict.state);
  if (verdict.elements == 0) return;
  row.worst_ulp = std::max(row.worst_ulp, verdict.worst_ulp);
  row.worst_share = std::max(row.worst_share, verdict.worst_share);
}

std::string in_words(const NodeRow& row) {
  std::string words(row.state ? name(*row.state) : "not judged");
  if (row.cause != suites::no_cause) words += " (cause " + std::to_string(row.cause + 1) + ")";
  return words;
}

// Prints the windows that do not conform, the first few, and how many passed.
void write_windows(const Report& report, bool shows_all, std::ostream& out) {
  const std::vector<suites::WindowResult>& windows = report.model->windows;
  if (windows.empty()) return;
  constexpr Int most_shown = 5;
  const auto in_state = [&](State state) {
    return std::ranges::count_if(windows,
                                 [&](const suites::WindowResult& each) { return each.verdict.state == state; });
  };
  out << "windows of several nodes, with data that no rewriting of the graph may change: " << in_state(State::pass)
      << " of " << windows.size() << " pass";
  if (const Int left = in_state(State::unscored); left > 0)
    out << ", " << left << (left == 1 ? " has" : " have") << " no single right answer";
  out << "\n";
  Int shown = 0;
  for (const suites::WindowResult& each : windows) {
    if (!breaks_conformance(each.verdict.state, report.invocation.strict)) continue;
    if (++shown > most_shown && !shows_all) continue;
    out << "  " << name(each.verdict.state) << "  " << joined(each.window.nodes, " > ") << ": " << each.verdict.detail
        << "\n    replay: " << replay_line(report.invocation, each.window.line) << "\n";
  }
  if (shown > most_shown && !shows_all) out << "  " << shown - most_shown << " more; --show all\n";
}

bool is_plain(const NodeRow& row) { return row.state == State::pass; }

}  // namespace

std::vector<NodeRow> node_rows(const Report& report) {
  std::map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < report.suite.cases.size(); ++i) index.emplace(report.suite.cases[i].line, i);
  std::vector<NodeRow> rows;
  for (const suites::ModelNode& node : report.model->nodes) {
    NodeRow& row = rows.emplace_back(NodeRow{.node = &node, .detail = node.because});
    for (const std::string& line : node.lines)
      if (const auto at = index.find(line); at != index.end() && report.campaign.verdicts[at->second])
        add(row, *report.campaign.verdicts[at->second], report.cause_of[at->second]);
  }
  return rows;
}

Json model_json(const Report& report) {
  const suites::ModelSource& source = report.invocation.model;
  Json json = {{"file", source.file}, {"hash", report.model->hash}, {"inputs", source.inputs}};
  json["extents"] = Json::object();
  for (const auto& [name, extent] : source.extents) json["extents"][name] = extent;
  return json;
}

Json node_json(const NodeRow& row) {
  Json json = {{"name", row.node->name}, {"op", row.node->op}, {"state", row.state ? name(*row.state) : "not judged"}};
  if (row.cause != suites::no_cause) json["cause"] = row.cause + 1;
  if (!row.detail.empty()) json["because"] = row.detail;
  if (row.is_judged && std::isfinite(row.worst_ulp)) json["worst_ulp"] = row.worst_ulp;
  if (row.is_judged && std::isfinite(row.worst_share)) json["worst_share"] = row.worst_share;
  json["cases"] = transformed<Json>(row.node->lines, [](const std::string& line) { return case_id(line); });
  return json;
}

Json window_json(const Report& report, const suites::WindowResult& result) {
  const auto& [window, verdict] = result;
  Json json = {{"nodes", window.nodes}, {"state", name(verdict.state)}, {"line", window.line}, {"alike", window.count}};
  if (!verdict.detail.empty()) json["because"] = verdict.detail;
  if (breaks_conformance(verdict.state, report.invocation.strict))
    json["replay"] = replay_line(report.invocation, window.line);
  return json;
}

namespace {

// Leaves out the beginning of a long name, where the names of bodies stand.
std::string shortened(const std::string& name) {
  constexpr std::size_t most = 60;
  if (name.size() <= most) return name;
  std::size_t from = name.size() - most;
  while (from < name.size() && (static_cast<unsigned char>(name[from]) & 0xC0) == 0x80) ++from;  // within a letter
  return "…" + name.substr(from);
}

// Says why nodes are not judged, those first that are no consequence of others; five reasons, unless all are asked for.
void write_not_judged(const std::vector<NodeRow>& rows, bool shows_all, std::ostream& out) {
  std::map<std::string, Int> reasons;
  Int behind = 0;
  for (const NodeRow& row : rows) {
    if (row.state) continue;
    if (row.detail.ends_with(suites::is_not_known))
      ++behind;
    else
      ++reasons[row.node->op + ": " + row.detail];
  }
  constexpr std::size_t most = 5;
  std::size_t shown = 0;
  for (const auto& [reason, count] : reasons) {
    if (++shown > most && !shows_all) break;
    out << (shown == 1 ? "  not judged: " : "              ") << count << " " << reason << "\n";
  }
  if (shown > most && !shows_all) out << "              and " << reasons.size() - most << " more; --show all\n";
  if (behind > 0)
    out << (shown == 0 ? "  not judged: " : "              ") << behind << " of which it is not known what arrives\n";
}

}  // namespace

void write_model(const Report& report, bool shows_all, std::ostream& out) {
  const std::vector<NodeRow> rows = node_rows(report);
  const Int judged = std::ranges::count_if(rows, &NodeRow::is_judged);
  out << "model " << report.invocation.model.file << ": " << judged << " of " << rows.size() << " nodes judged\n";
  write_not_judged(rows, shows_all, out);
  Table table({"node", "operator", "worst ulp", "share of bound", ""});
  bool has_rows = false;
  for (const NodeRow& row : rows) {
    if (!row.state || (is_plain(row) && !shows_all)) continue;
    has_rows = true;
    const auto number = [&](double value) { return row.is_judged ? in_digits(value, 3) : std::string(); };
    table.add({shortened(row.node->name), row.node->op, number(row.worst_ulp), number(row.worst_share), in_words(row)},
              {});
  }
  if (has_rows) table.write(Colour::none, out);
  const Int plain = std::ranges::count_if(rows, is_plain);
  if (plain > 0 && !shows_all)
    out << "  " << plain << (plain == 1 ? " node passes" : " nodes pass") << "; --show all\n";
  write_windows(report, shows_all, out);
}

}  // namespace assay::reports
