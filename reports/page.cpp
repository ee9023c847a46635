// SPDX-License-Identifier: Apache-2.0
// The page: its parts put together with the report as data. What strangers said gets into it as JSON only, and the
// script writes it as text only.
#include "reports/page.h"

#include "reference/operator.h"
#include "reference/sequence.h"
#include "reports/difference.h"
#include "reports/exhaust_report.h"
#include "reports/pieces.h"
#include "reports/render.h"
#include "reports/rows.h"
#include "suites/campaign/provenance.h"

#include <openssl/evp.h>

#include <array>
#include <cmath>
#include <map>
#include <unordered_map>

namespace assay::reports {
namespace {

// A column whose values repeat: each value once, and its number per row.
class Dictionary {
 public:
  void add(const Json& value) {
    const auto [at, is_new] = numbers_.emplace(value.dump(), numbers_.size());
    if (is_new) values_.push_back(value);
    rows_.push_back(at->second);
  }
  Json json() && { return {{"values", std::move(values_)}, {"rows", std::move(rows_)}}; }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  Json values_ = Json::array(), rows_ = Json::array();
};

constexpr std::array repeated = {"class", "state",    "because",  "detail",  "origin",  "level", "readings",
                                 "also",  "followed", "violated", "pattern", "excused", "cause"};
constexpr std::array plain = {"id",    "line",    "index",     "elements",   "unscored",
                              "exact", "worst_q", "worst_ulp", "worst_share"};
constexpr std::array rare = {"evidence", "marks"};

// A replay line ends in the case line, and what stands before it is nearly always the same.
Json replay_start(const Json& row) {
  const auto replay = row.find("replay");
  if (replay == row.end()) return nullptr;
  const std::string words = replay->get<std::string>(), end = suites::in_quotes(row.at("line").get<std::string>());
  if (words.ends_with(end)) return words.substr(0, words.size() - end.size());
  return Json{{"whole", words}};
}

// Rows as columns: a tenth of the text, and one array per column for the browser.
Json table_of(const std::vector<const Json*>& rows) {
  Json table = {{"count", rows.size()}};
  for (const char* name : repeated) {
    Dictionary column;
    for (const Json* row : rows) column.add(member(*row, name));
    table[name] = std::move(column).json();
  }
  Dictionary starts;
  for (const Json* row : rows) starts.add(replay_start(*row));
  table["replay"] = std::move(starts).json();
  for (const char* name : plain) {
    Json column = Json::array();
    for (const Json* row : rows) column.push_back(member(*row, name));
    table[name] = std::move(column);
  }
  for (const char* name : rare) {
    Json column = Json::object();
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (const auto found = rows[i]->find(name); found != rows[i]->end()) column[std::to_string(i)] = *found;
    table[name] = std::move(column);
  }
  return table;
}

std::vector<const Json*> verdicts(const Json& report) {
  return transformed<const Json*>(report.at("verdicts"), [](const Json& each) { return &each; });
}

Json table_of(const Rendering& rendering) {
  if (!rendering.is_fuzz()) return table_of(verdicts(rendering.report));
  const std::vector<Json> kept = kept_cases(rendering.report);
  std::vector<const Json*> rows;
  for (const Json& each : kept) rows.push_back(&each);
  return table_of(rows);
}

bool is_in_table(const std::string& member) {
  return member == "verdicts" || member == "failures" || member == "marked" || member == "signatures";
}

// Compares with the baseline as `assay diff` does; null where there is none.
Json changes(const Rendering& rendering) {
  if (!rendering.baseline) return nullptr;
  const Difference told = difference(rendering);
  Json changes = {{"file", rendering.baseline_file},
                  {"from", told.before},
                  {"remarks", told.remarks},
                  {"fresh", told.fresh},
                  {"gone", told.gone},
                  {"counts", Json::object()}};
  for (int kind = 0; kind < kinds; ++kind) {
    const auto found = told.counts.find(static_cast<ChangeKind>(kind));
    if (found != told.counts.end()) changes["counts"][std::string(name(found->first))] = found->second;
  }
  changes["versions"] = Json::array();
  for (const VersionChange& each : told.versions)
    if (each.before != each.after)
      changes["versions"].push_back(
          {{"op", each.op}, {"before", each.before}, {"after", each.after}, {"worse", each.is_worse}});
  changes["cases"] = Json::array();
  for (const CaseChange& each : told.cases)
    changes["cases"].push_back(
        {{"id", each.id}, {"kind", name(each.kind)}, {"before", each.before}, {"after", each.after}});
  return changes;
}

// Lists the web pages of the operator versions: addresses of ours only, whatever the report says.
Json addresses(const Json& report) {
  std::map<std::string, std::string> known;
  for (const Operator* op : operators())
    for (const Definition& each : op->versions()) known.emplace(text(each.version), page_of(each.version));
  Json all = Json::object();
  for (const Json& row : report.at("operators"))
    if (const auto found = known.find(row.at("op").get<std::string>()); found != known.end())
      all[found->first] = found->second;
  return all;
}

// What is allowed over the inputs of each function that was run over all of them, of ours only as well: for every
// fourth bin the ulp, null where the right answer is no number.
Json bounds(const Json& report) {
  constexpr std::size_t step = 4;
  std::map<std::string, const Definition*> known;
  for (const Operator* op : operators())
    for (const Definition& each : op->versions()) known.emplace(text(each.version), &each);
  Json all = Json::object();
  for (const Json& each : member(report, "every_input")) {
    const auto found = known.find(words(each, "op"));
    const std::optional<DType> type = dtype_named(words(each, "type"));
    if (found == known.end() || !type || !suites::is_exhaustible(*found->second, *type)) continue;
    Json& own = all[found->first + " " + std::string(name(*type))] = Json::array();
    const std::vector<double> allowed = allowed_ulps(*found->second, *type);
    for (std::size_t bin = 0; bin < allowed.size(); bin += step)
      own.push_back(std::isfinite(allowed[bin]) ? Json(std::stod(in_digits(allowed[bin], 3))) : Json(nullptr));
  }
  return all;
}

Json data_of(const Rendering& rendering) {
  Json data = {{"file", rendering.file},
               {"changes", changes(rendering)},
               {"pages", addresses(rendering.report)},
               {"bounds", bounds(rendering.report)}};
  for (const auto& [name, value] : rendering.report.items())
    if (!is_in_table(name)) data["report"][name] = value;
  data["table"] = table_of(rendering);
  return data;
}

// ASCII, and nothing in it ends a script or begins a comment: every '<' of JSON is inside a string.
std::string script_text(const Json& data) {
  const std::string json = data.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string text;
  text.reserve(json.size() + json.size() / 64);
  for (const char letter : json) letter == '<' ? text += "\\u003c" : text += letter;
  return text;
}

}  // namespace

std::string page::source_hash(std::string_view source) {
  std::array<unsigned char, 32> digest{};
  std::array<unsigned char, 45> words{};  // of four letters for three bytes, and a zero
  EVP_Digest(source.data(), source.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  EVP_EncodeBlock(words.data(), digest.data(), digest.size());
  return "'sha256-" + std::string(words.begin(), words.end() - 1) + "'";
}

void page::write(std::string_view frame, const Parts& parts, std::ostream& out) {
  for (std::size_t at = frame.find("{{"); at != frame.npos; at = frame.find("{{")) {
    const std::size_t end = frame.find("}}", at);
    const std::string_view name = frame.substr(at + 2, end - at - 2);
    out << frame.substr(0, at);
    for (const auto& [each, text] : parts)
      if (each == name) out << text;
    frame.remove_prefix(end + 2);
  }
  out << frame;
}

void write_page(const Rendering& rendering, std::ostream& out) {
  const std::string data = script_text(data_of(rendering));
  const std::string css_hash = page::source_hash(page::css), js_hash = page::source_hash(page::js);
  page::write(page::html,
              {{"css", page::css}, {"js", page::js}, {"css-hash", css_hash}, {"js-hash", js_hash}, {"data", data}},
              out);
}

}  // namespace assay::reports
