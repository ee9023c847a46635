// SPDX-License-Identifier: Apache-2.0
// SARIF 2.1.0. A rule is a clause: a constraint that a model broke, a ruling that was read otherwise, or what an
// operator version says of its outputs. A result is a finding; what a ledger expects is a result that is suppressed.
#include "reference/case.h"
#include "reports/render.h"
#include "reports/rows.h"
#include "suites/text/printable.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace assay::reports {
namespace {

constexpr std::string_view changelog = "https://github.com/onnx/onnx/blob/main/docs/Changelog.md#";
constexpr std::string_view contributed = "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#";

// Where the text of an operator version stands: "Conv-11", "com.microsoft:NhwcConv-1".
std::string text_of(const std::string& op) {
  const std::size_t colon = op.find(':');
  if (colon == std::string::npos) return std::string(changelog) + op;
  return std::string(contributed) + op.substr(0, colon) + "." + op.substr(colon + 1, op.rfind('-') - colon - 1);
}

// A relative reference of RFC 3986.
std::string uri(std::string_view path) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string text;
  for (char letter : path) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) || std::string_view("-._~/").find(letter) != std::string_view::npos)
      text += letter;
    else
      text += std::string{'%', digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

struct Rule {
  std::string id, name, text, help;
  Json properties = Json::object();
};

// What a shape, a value, a refusal is a breach of, in words.
std::string_view duty(const CauseRow& cause) {
  if (!cause.mark.empty()) return "The same case ends alike however and whenever it is run.";
  if (cause.state == "refused") return "A legal model that nothing declared excludes is accepted.";
  if (cause.state == "error") return "Every model is answered, by outputs or by a refusal.";
  if (cause.state == "below")
    return "Values lie inside the interval of the accuracy level asked for. The standard itself promises no accuracy.";
  if (cause.because == "shape") return "Outputs have the shape that the text gives them.";
  if (cause.because == "type") return "Outputs have the type that the text gives them.";
  return "Outputs are what the text gives, within what any legitimate arithmetic may make of it.";
}

std::string_view level(const CauseRow& cause) {
  return cause.mark.empty() && (cause.state == "fail" || cause.state == "error") ? "error" : "warning";
}

class Log {
 public:
  explicit Log(const Rendering& rendering) : rendering_(rendering) {
    const Json& report = rendering.report;
    for (const char* list : {"constraints", "rulings", "clauses"})
      if (const auto found = report.find(list); found != report.end())
        for (const Json& each : *found) clauses_[words(each, "id")] = &each;
    for (const CauseRow& cause : causes_of(rendering)) add(cause);
    if (!rendering.is_fuzz()) add_expected();
  }

  Json json() && {
    const Json& report = rendering_.report;
    Json rules = Json::array();
    for (Rule& rule : rules_)
      rules.push_back({{"id", rule.id},
                       {"name", rule.name},
                       {"shortDescription", {{"text", rule.text}}},
                       {"fullDescription", {{"text", rule.text}}},
                       {"helpUri", rule.help},
                       {"help", {{"text", rule.text + " " + rule.help}}},
                       {"properties", rule.properties}});
    Json run = {{"tool",
                 {{"driver",
                   {{"name", "assay"},
                    {"version", words(report.at("tool"), "version")},
                    {"informationUri", "https://onnx.ai/onnx/operators/"},
                    {"rules", std::move(rules)}}}}},
                {"automationDetails", {{"id", "assay/" + words(report.at("backend"), "name") + "/"}}},
                {"columnKind", "unicodeCodePoints"},
                {"results", std::move(results_)},
                {"properties",
                 {{"backend", backend_text(report)},
                  {"configuration", configuration_text(report)},
                  {"result", result_text(rendering_)},
                  {"judgement", words(report.at("judgement"), "hash")},
                  {"totals", report.at("totals")}}}};
    return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs", Json::array({std::move(run)})}};
  }

 private:
  std::size_t number_of(const Rule& rule) {
    const auto [at, is_new] = numbers_.emplace(rule.id, rules_.size());
    if (is_new) rules_.push_back(rule);
    return at->second;
  }

  // Of "Conv.C6" or "A3", as the report quotes it.
  Rule clause(const std::string& id, const std::string& op) const {
    const auto found = clauses_.find(id);
    std::string text = found == clauses_.end() ? "" : words(*found->second, "text", 2000);
    if (text.empty() && found != clauses_.end()) text = words(*found->second, "title", 2000);
    return {
        id, id, text.empty() ? "Clause " + id + "." : text, text_of(op), {{"tags", Json::array({"onnx", "clause"})}}};
  }

  Rule rule_of(const CauseRow& cause, const std::string& op) const {
    if (cause.row && cause.mark.empty()) {
      const Json violated = member(*cause.row, "violated");
      if (!violated.empty()) return clause(suites::printable(violated[0].get<std::string>(), 80), op);
      if (const Json readings = member(*cause.row, "readings"); cause.state == "contested" && !readings.empty())
        return clause(suites::printable(readings.begin().key(), 80), op);
    }
    const std::string what =
        cause.mark.empty()
            ? (cause.state == "refused" || cause.because.empty() ? cause.state : cause.state + "/" + cause.because)
            : cause.mark;
    return {op + "/" + what,
            op + " " + what,
            std::string(duty(cause)),
            text_of(op),
            {{"tags", Json::array({"onnx", cause.mark.empty() ? cause.state : cause.mark})}}};
  }

  // A pinned case stands in a file; any other is known by the report it is in.
  Json place(const CauseRow& cause) const {
    const std::string origin = cause.row ? words(*cause.row, "origin") : "";
    const std::size_t at = origin.find(".cases:");
    if (at == std::string::npos) return {{"artifactLocation", {{"uri", uri(rendering_.file)}}}};
    const std::size_t digits = at + 7, end = std::min(origin.find_first_not_of("0123456789", digits), origin.size());
    Json location = {{"artifactLocation", {{"uri", uri("suites/" + origin.substr(0, at + 6))}}}};
    if (end > digits && end - digits < 9)
      location["region"]["startLine"] = std::max(1, std::stoi(origin.substr(digits, end - digits)));
    return location;
  }

  // GitHub shows the first location; a cause in several versions has one each.
  Json locations(const CauseRow& cause) const {
    Json all = Json::array();
    for (const auto& [op, count] : cause.versions)
      all.push_back(
          {{"physicalLocation", place(cause)},
           {"logicalLocations", Json::array({{{"fullyQualifiedName", op}, {"name", op}, {"kind", "function"}}})}});
    return all;
  }

  std::string fingerprint(const std::string& identity) {
    const int again = seen_[identity]++;
    return sha256(words(rendering_.report.at("backend"), "name") + "|" + identity +
                  (again > 0 ? "|" + std::to_string(again) : ""))
        .substr(0, 32);
  }

  Json& add(const CauseRow& cause) {
    const std::string op = cause.versions.empty() ? op_of(cause.line) : cause.versions.begin()->first;
    const Rule rule = rule_of(cause, op);
    std::string text =
        cause.sentence + " (" + std::to_string(cause.count) + (cause.count == 1 ? " case" : " cases") + ")";
    if (!cause.line.empty()) text += "\n" + cause.line;
    if (!cause.replay.empty()) text += "\nreplay: " + cause.replay;
    const std::size_t number = number_of(rule);
    Json result = {
        {"ruleId", rule.id},
        {"ruleIndex", number},
        {"level", level(cause)},
        {"message", {{"text", text}}},
        {"locations", locations(cause)},
        {"occurrenceCount", cause.count},
        {"partialFingerprints", {{"assayFinding/v1", fingerprint(cause.identity)}}},
        {"properties",
         {{"state", cause.state}, {"because", cause.because}, {"case", cause.line}, {"replay", cause.replay}}}};
    const auto baseline = rendering_.report.find("baseline");  // what it knows is no finding
    if (baseline != rendering_.report.end() && baseline->is_object()) result["baselineState"] = "new";
    results_.push_back(std::move(result));
    return results_.back();
  }

  // Breaches that somebody stands for: one result per entry of the ledger and operator version.
  void add_expected() {
    const Json ledger = member(rendering_.report, "ledger");
    if (!ledger.is_object()) return;
    std::map<std::pair<std::string, std::string>, CauseRow> groups;
    for (const Json& verdict : rendering_.report.at("verdicts"))
      for (const Json& mark : member(verdict, "marks")) {
        if (words(mark, "mark") != "xfail") continue;
        const std::string line = words(verdict, "line", 1 << 16);
        CauseRow& cause = groups[{words(mark, "by"), op_of(line)}];
        ++cause.versions[op_of(line)];
        if (cause.count++ == 0) start(cause, verdict, line);
      }
    for (const auto& [key, cause] : groups) suppress(cause, key.first, ledger);
  }

  static void start(CauseRow& cause, const Json& verdict, const std::string& line) {
    cause.row = &verdict;
    cause.line = line;
    cause.state = words(verdict, "state");
    cause.because = words(verdict, "because");
    cause.detail = words(verdict, "detail");
    cause.replay = words(verdict, "replay", 1 << 16);
    cause.sentence = op_of(line) + ": expected " + cause.state + " (" + cause.because + ")";
  }

  void suppress(CauseRow cause, const std::string& id, const Json& ledger) {
    cause.identity = "xfail|" + id + "|" + cause.versions.begin()->first;
    Json& result = add(cause);
    result.erase("baselineState");
    std::string why = id;
    for (const Json& entry : ledger.at("entries"))
      if (words(entry, "id") == id)
        why += ": " + words(entry, "reason", 2000) + " (" + words(entry, "owner") + ", until " +
               words(entry, "expires") + ", " + words(entry, "link") + ")";
    result["suppressions"] = Json::array({{{"kind", "external"}, {"status", "accepted"}, {"justification", why}}});
  }

  const Rendering& rendering_;
  std::map<std::string, const Json*> clauses_;
  std::map<std::string, std::size_t> numbers_;
  std::map<std::string, int> seen_;
  std::vector<Rule> rules_;
  Json results_ = Json::array();
};

}  // namespace

void write_sarif(const Rendering& rendering, std::ostream& out) {
  out << Log(rendering).json().dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace assay::reports
