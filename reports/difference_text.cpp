// SPDX-License-Identifier: Apache-2.0
// A difference as text for a terminal, as Markdown and as JSON.
#include "reference/sequence.h"
#include "reports/difference.h"
#include "suites/text/markup.h"

#include <ostream>

namespace assay::reports {
namespace {

using suites::code_block;
using suites::code_span;
using suites::html_text;

// Cases that changed in the same way: one line for all of them, and the first one to replay.
struct Group {
  const CaseChange* first;
  Int count;
};

std::vector<Group> groups(const Difference& difference) {
  std::map<std::tuple<ChangeKind, std::string, std::string, std::string>, Group> all;
  for (const CaseChange& each : difference.cases) {
    const auto [at, is_new] = all.emplace(std::tuple(each.kind, each.op, each.before, each.after), Group{&each, 1});
    if (!is_new) ++at->second.count;
  }
  std::vector<Group> list;
  for (const auto& [key, group] : all) list.push_back(group);
  return list;
}

std::string counted(const std::map<ChangeKind, Int>& counts) {
  if (counts.empty()) return "nothing changed";
  return joined(counts, ", ",
                [](const auto& each) { return std::to_string(each.second) + " " + std::string(name(each.first)); });
}

bool is_told(const VersionChange& version) { return !version.counts.empty() || version.before != version.after; }

std::string stands(const VersionChange& version) {
  if (version.before == version.after) return version.after;
  return (version.before.empty() ? "not there" : version.before) + " -> " +
         (version.after.empty() ? "not there" : version.after) + (version.is_worse ? " WORSE" : "");
}

// Leaves what two releases agree in out of the story of a change, not out of its numbers.
bool has_story(ChangeKind kind) { return kind != ChangeKind::level_up && kind != ChangeKind::level_down; }

std::string conclusion(const Difference& difference) {
  return (difference.is_worse() ? "worse: " : "nothing worse: ") + counted(difference.counts) + " of " +
         std::to_string(difference.common) + " compared";
}

}  // namespace

void write_text(const Difference& difference, std::ostream& out) {
  for (const std::string& remark : difference.remarks) out << "NOTE  " << remark << "\n";
  out << "from  " << difference.before << "\nto    " << difference.after << "\n";
  for (const VersionChange& version : difference.versions)
    if (is_told(version)) {
      out << "  " << version.op << ": " << counted(version.counts);
      if (const std::string standing = stands(version); !standing.empty()) out << "; " << standing;
      out << "\n";
    }
  for (const Group& group : groups(difference)) {
    const CaseChange& first = *group.first;
    if (!has_story(first.kind)) continue;
    out << name(first.kind) << "  " << first.op << ": " << first.before << " -> " << first.after << ", " << group.count
        << (group.count == 1 ? " case" : " cases") << "\n";
    if (!first.detail.empty()) out << "      " << first.detail << "\n";
    out << "      " << (first.replay.empty() ? first.line : "replay: " + first.replay) << "\n";
  }
  out << conclusion(difference) << "\n";
}

void write_markdown(const Difference& difference, std::ostream& out) {
  std::string text = "## assay diff: " + std::string(difference.is_worse() ? "worse" : "nothing worse") + "\n\n";
  for (const std::string& remark : difference.remarks) text += "> **Note:** " + remark + "\n\n";
  text += "from " + code_span(difference.before) + "  \nto " + code_span(difference.after) + "\n\n";
  text += "| operator version | cases | before | after |\n|---|---|---|---|\n";
  for (const VersionChange& version : difference.versions)
    if (is_told(version))
      text += "| " + code_span(version.op) + " | " + counted(version.counts) + " | " + code_span(version.before) +
              " | " + code_span(version.after) + (version.is_worse ? " **worse**" : "") + " |\n";
  text += "\n" + conclusion(difference) + ".\n\n";
  std::size_t left = 0;
  for (const Group& group : groups(difference)) {
    const CaseChange& first = *group.first;
    if (!has_story(first.kind)) continue;
    const std::string block = "<details><summary><b>" + std::string(name(first.kind)) + "</b> <code>" +
                              html_text(first.op + ": " + first.before + " -> " + first.after) + "</code> (" +
                              std::to_string(group.count) + ")</summary>\n\n" +
                              (first.detail.empty() ? "" : code_block(first.detail) + "\n") +
                              code_block(first.replay.empty() ? first.line : first.replay, "sh") + "\n</details>\n";
    if (left > 0 || text.size() + block.size() + 200 > comment_limit)
      ++left;
    else
      text += block;
  }
  if (left > 0)
    text += "\n**Cut here:** " + std::to_string(left) + " more kinds of change do not fit into a comment.\n";
  out << text;
}

void write_json(const Difference& difference, std::ostream& out) {
  const auto counts = [](const std::map<ChangeKind, Int>& of) {
    Json json = Json::object();
    for (int kind = 0; kind < kinds; ++kind) {
      const auto found = of.find(static_cast<ChangeKind>(kind));
      json[std::string(name(static_cast<ChangeKind>(kind)))] = found == of.end() ? 0 : found->second;
    }
    return json;
  };
  Json versions = Json::array(), cases = Json::array();
  for (const VersionChange& each : difference.versions)
    versions.push_back({{"op", each.op},
                        {"before", each.before},
                        {"after", each.after},
                        {"worse", each.is_worse},
                        {"counts", counts(each.counts)}});
  for (const CaseChange& each : difference.cases)
    cases.push_back({{"kind", name(each.kind)},
                     {"id", each.id},
                     {"op", each.op},
                     {"line", each.line},
                     {"before", each.before},
                     {"after", each.after},
                     {"detail", each.detail},
                     {"replay", each.replay}});
  const Json document = {{"schema", 1},
                         {"kind", "diff"},
                         {"before", difference.before},
                         {"after", difference.after},
                         {"worse", difference.is_worse()},
                         {"remarks", difference.remarks},
                         {"common", difference.common},
                         {"new", difference.fresh},
                         {"gone", difference.gone},
                         {"counts", counts(difference.counts)},
                         {"versions", versions},
                         {"cases", cases}};
  out << document.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace assay::reports
