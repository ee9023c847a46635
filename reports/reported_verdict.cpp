// SPDX-License-Identifier: Apache-2.0
#include "reports/reported_verdict.h"

#include "reference/case.h"
#include "reference/operator.h"
#include "reference/sequence.h"
#include "suites/campaign/errors.h"

#include <map>

namespace assay::reports {
namespace {

using Json = nlohmann::json;

constexpr std::array agreed_marks{"xfail", "xpass", "known"};

// Returns the type of the operator's first input as the line states it: " X=f16[1,2,3]~small:1"; of an operator without
// inputs, that of its output, which attributes give.
std::string type_in(const std::string& line, const std::string& op) {
  const std::size_t colon = op.find(':');
  const std::string name = colon == op.npos ? op : op.substr(colon + 1);
  const Definition* definition =
      find_definition({colon == op.npos ? "" : op.substr(0, colon), name.substr(0, name.rfind('-')),
                       static_cast<int>(std::stoul(name.substr(name.rfind('-') + 1)))});
  if (!definition) return "f32";
  if (definition->inputs.empty()) {
    const Result<Case> c = parse_case(line);
    return c ? std::string(assay::name(suites::first_type(*c))) : "f32";
  }
  const std::string given = " " + definition->data().name + "=";
  const std::size_t at = line.find(given);
  if (at == line.npos || line[at + given.size()] == '"') return "f32";  // absent: a near miss
  const std::size_t begin = at + given.size();
  return line.substr(begin, line.find('[', begin) - begin);
}

}  // namespace

std::vector<ReportedVerdict> verdicts_of(const Json& report) {
  const bool counts_special = report.value("special_values", "apart") == "count";
  return transformed<ReportedVerdict>(report.at("verdicts"), [&](const Json& verdict) -> ReportedVerdict {
    const std::string line = text_of(verdict, "line"), op = line.substr(0, line.find(' '));
    return {op,
            type_in(line, op),
            text_of(verdict, "state"),
            text_of(verdict, "because"),
            text_of(verdict, "id"),
            text_of(verdict, "class"),
            verdict.at("level"),
            &verdict,
            counts_special};
  });
}

std::vector<std::pair<std::string, std::vector<const ReportedVerdict*>>> by_operator(
    const Json& report, const std::vector<ReportedVerdict>& verdicts) {
  std::vector<std::pair<std::string, std::vector<const ReportedVerdict*>>> groups;
  for (const Json& row : report.at("operators")) groups.push_back({text_of(row, "op"), {}});
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < groups.size(); ++i) places.emplace(groups[i].first, i);
  for (const ReportedVerdict& verdict : verdicts) {
    const auto [place, is_new] = places.emplace(verdict.op, groups.size());
    if (is_new) groups.push_back({verdict.op, {}});
    groups[place->second].second.push_back(&verdict);
  }
  std::erase_if(groups, [](const auto& group) { return group.second.empty(); });
  return groups;
}

bool is_strict(const Json& report) { return report.at("mode") == "strict"; }

bool breaks(const std::string& word, bool strict) {
  return word == "fail" || word == "below" || word == "refused" || word == "error" || (strict && word == "contested");
}

bool is_excused(const ReportedVerdict& verdict, const std::string& word) {
  for (const Json& mark : verdict.member("marks"))
    if ((mark.at("mark") == "xfail" || mark.at("mark") == "known") && mark.at("detail") == word) return true;
  return false;
}

std::vector<Json> own_marks(const ReportedVerdict& verdict) {
  return filtered(verdict.member("marks"),
                  [&](const Json& mark) { return !is_among(agreed_marks, text_of(mark, "mark")); });
}

Json functions_of(const Json& report) { return report.value("every_input", Json::array()); }

bool breaks(const Json& function) {
  const Json& counts = function.at("counts");
  return counts.at("below") != 0 || counts.at("fail") != 0 ||
         (function.at("ended") != "" && !function.at("unsupported"));
}

Json exceptions_in(const Json& report, const std::string& op) {
  for (const Json& row : report.at("operators"))
    if (row.at("op") == op) return row.value("exceptions", Json::array());
  return Json::array();
}

}  // namespace assay::reports
