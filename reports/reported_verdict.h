// SPDX-License-Identifier: Apache-2.0
// ReportedVerdict: a verdict as a report has it, read as JSON and as nothing else, for recount.h and contradictions.h.
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace assay::reports {

template <class List>
bool is_among(const List& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

inline std::string text_of(const nlohmann::json& json, const char* member) {
  return json.at(member).get<std::string>();
}

struct ReportedVerdict {
  std::string op, type, word, because, id;
  std::string case_class;
  nlohmann::json level;
  const nlohmann::json* json = nullptr;
  bool counts_special = false;  // the report says so

  bool is_near_miss() const { return case_class.starts_with("invalid"); }
  bool is_special() const { return case_class == "nonfinite" || case_class == "overflow-int"; }
  bool decides() const { return case_class.starts_with("valid-") || (counts_special && is_special()); }
  // Tells whether a state, its own or that of a session that it ended, is in no total.
  bool counts_apart(const std::string& state) const { return is_special() && !counts_special && state != "error"; }
  bool is_judged() const { return word == "pass" || word == "contested" || word == "below" || word == "fail"; }
  // Returns a member of the JSON; null where the verdict has none, which is empty as a list and as an object.
  const nlohmann::json& member(const char* name) const {
    static const nlohmann::json none;
    const auto found = json->find(name);
    return found == json->end() ? none : *found;
  }
  // Returns its word, then for each session that it ended what that counts as.
  std::vector<std::string> counted() const {
    std::vector<std::string> all{word};
    for (const nlohmann::json& mark : member("marks")) {
      if (mark.at("mark") != "session" || !mark.at("breaches").get<bool>()) continue;
      const bool has_ended =
          is_among(std::array{"crashed", "timed out", "out of memory", "garbled"}, text_of(mark, "by"));
      all.emplace_back(has_ended ? "error" : "fail");
    }
    return all;
  }
};

// Reads the verdicts of a report that fits its schema, and outlives them.
std::vector<ReportedVerdict> verdicts_of(const nlohmann::json& report);

// Groups verdicts by operator version, in the order of their names and numbers, as reports have them.
std::vector<std::pair<std::string, std::vector<const ReportedVerdict*>>> by_operator(
    const nlohmann::json& report, const std::vector<ReportedVerdict>& verdicts);

bool is_strict(const nlohmann::json& report);
bool breaks(const std::string& word, bool strict);

// Tells whether a breach of this word is expected by the ledger or known by the baseline, as a mark says.
bool is_excused(const ReportedVerdict& verdict, const std::string& word);

// Returns the marks made by running variants, not by agreement.
std::vector<nlohmann::json> own_marks(const ReportedVerdict& verdict);

// Returns the functions that were run over every input; none where that was not asked for.
nlohmann::json functions_of(const nlohmann::json& report);
// Tells whether one of them breaks the standard.
bool breaks(const nlohmann::json& function);

// Returns what an operator version conforms except for, as the report has it: `wrong_exception` holds it against the
// verdicts.
nlohmann::json exceptions_in(const nlohmann::json& report, const std::string& op);

}  // namespace assay::reports
