// SPDX-License-Identifier: Apache-2.0
#include "reports/matrix.h"

#include "oracles/exact/accuracy.h"
#include "reference/case.h"
#include "reference/result.h"
#include "reports/report.h"
#include "reports/rows.h"
#include "suites/text/printable.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

namespace assay::reports {
namespace {

constexpr std::array kept_whole = {"tool", "suite",   "judgement", "standard", "backend", "level",
                                   "mode", "profile", "certified", "totals",   "marks"};
constexpr std::array kept_of_version = {"op", "certified", "level", "judged", "legal", "counts"};

// Cases that decide, by what is wrong with them.
Json breaches(const Json& report, const Json& op) {
  Json counts = Json::object();
  for (const Json& finding : report.at("findings")) {
    if (finding.at("op") != op) continue;
    const Json& word = finding.contains("mark") ? finding.at("mark") : finding.at("state");
    const Int deciding = finding.value("deciding", finding.at("count").get<Int>());
    if (deciding > 0) counts[word.get<std::string>()] = counts.value(word.get<std::string>(), Int{0}) + deciding;
  }
  for (const Json& each : member(report, "every_input"))
    if (const Json& own = each.at("counts"); each.at("op") == op && (own.at("below") != 0 || own.at("fail") != 0))
      counts["every input"] =
          counts.value("every input", Int{0}) + own.at("below").get<Int>() + own.at("fail").get<Int>();
  return counts;
}

Json kept(const Json& report, const std::string& file, const std::string& digest) {
  Json row = {{"file", file}, {"report", digest}};
  for (const char* name : kept_whole) row[name] = report.at(name);
  for (const char* name : {"ledger", "baseline"}) row[name] = !member(report, name).is_null();
  row["operators"] = Json::array();
  for (const Json& version : report.at("operators")) {
    Json& of_version = row["operators"].emplace_back(Json::object());
    for (const char* name : kept_of_version) of_version[name] = version.at(name);
    of_version["breaches"] = breaches(report, version.at("op"));
  }
  row["rulings"] = report.at("rulings");
  row["run"] = {{"started", report.at("run").at("started")}, {"seconds", report.at("run").at("seconds")}};
  return row;
}

bool is_matrix(const Json& json) {
  return json.is_object() && member(json, "kind") == "matrix" && member(json, "schema") == schema_version &&
         member(json, "reports").is_array();
}

void add(const std::string& file, std::vector<Json>& reports) {
  const std::string content = bytes_of_report(file);
  const Json json = parsed(content);
  if (is_matrix(json)) {
    for (const Json& each : json.at("reports")) reports.push_back(each);
    return;
  }
  const Json report = report_of(json, file);
  if (report.contains("kind"))
    throw InputError(file + " is a report of a campaign, whose cases are its own; name reports of assay certify");
  reports.push_back(kept(report, std::filesystem::path(file).filename().string(), sha256(content)));
}

// "Conv-11" stands after "Conv-1" and before "DeformConv-19".
std::pair<std::string, int> order_of(const std::string& version) {
  const std::size_t dash = version.rfind('-');
  int number = 0;
  if (dash != version.npos) std::from_chars(version.data() + dash + 1, version.data() + version.size(), number);
  return {version.substr(0, dash), number};
}

// What was run and how, in words; rows compare where these are equal.
std::vector<std::string> measure_of(const Json& row) {
  const Json& suite = row.at("suite");
  const std::string invocation = suite.at("reached").dump(), all = suite.at("cases").dump();
  std::vector<std::string> words_of = {
      "suite " + words(suite, "hash").substr(0, 8) + ", " + (invocation == all ? "" : invocation + " of ") + all +
          " cases",
      "judgement " + words(row.at("judgement"), "hash").substr(0, 8),
      "level " + words(row, "level") + ", " + words(row, "mode"),
      "ONNX " + words(row.at("standard"), "release"),
      "assay " + words(row.at("tool"), "version"),
      row.at("profile") == "default" ? "" : "profile " + words(row, "profile", 40),
      row.at("ledger").get<bool>() ? "with a ledger" : "",
      row.at("baseline").get<bool>() ? "against a baseline" : "",
  };
  if (!suite.at("complete").get<bool>()) words_of.front() += ": a part of the suite";
  return words_of;
}

// Of equally many the one that comes first.
std::vector<std::string> commonest(const std::vector<Json>& reports) {
  std::vector<std::string> best;
  std::ptrdiff_t most = 0;
  for (const Json& each : reports) {
    const auto own = measure_of(each);
    const auto count = std::ranges::count_if(reports, [&](const Json& other) { return measure_of(other) == own; });
    if (count > most) std::tie(most, best) = std::pair(count, own);
  }
  return best;
}

std::vector<std::string> otherwise(const Json& report, const std::vector<std::string>& measure) {
  std::vector<std::string> said;
  const std::vector<std::string> own = measure_of(report);
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i] != measure[i]) said.push_back(own[i].empty() ? "not " + measure[i] : own[i]);
  return said;
}

std::vector<std::string> settings(const Json& options) {
  std::vector<std::string> said;
  const auto add = [&](const char* name, const Json& usual) {
    if (const Json value = member(options, name); !value.is_null() && value != usual)
      said.push_back(std::string(name) + "=" + (value.is_string() ? words(options, name, 40) : value.dump()));
  };
  add("threads", 1);
  add("optimization", "all");
  add("pack", 1);
  const Json set = member(options, "set");
  if (const std::string text = set.is_object() ? readings_text(set) : ""; !text.empty()) said.push_back(text);
  return said;
}

// These two are written as they stand.
std::string certified_of(const Json& version) {
  std::string word = words(version, "certified");
  for (const char* each : {"conforms", "not conforming", "not certified"})
    if (word == each) return word;
  throw InputError("'" + word + "' is no word of a report of assay certify");
}

std::string level_of(const Json& version) {
  std::string word = words(version, "level");
  if (!word.empty() && !oracles::level_named(word)) throw InputError("there is no level '" + word + "'");
  return word;
}

MatrixCell cell_of(const Json& version) {
  MatrixCell cell{certified_of(version),
                  level_of(version),
                  {},
                  version.at("judged").get<Int>(),
                  version.at("legal").get<Int>(),
                  version.at("counts").value("unsupported", Int{0})};
  for (const auto& [word, count] : version.at("breaches").items())
    cell.breaches[suites::printable(word, 40)] += count.get<Int>();
  return cell;
}

std::vector<std::string> readings(const Json& rulings) {
  std::vector<std::string> said;
  for (const Json& ruling : rulings) {
    std::string most;
    Int count = 0;
    for (const auto& [reading, seen] : ruling.at("followed").items())
      if (seen.get<Int>() > count) std::tie(most, count) = std::pair(reading, seen.get<Int>());
    if (count > 0) said.push_back(words(ruling, "id", 40) + "=" + suites::printable(most, 40));
  }
  return said;
}

MatrixRow row_of(const Json& report, const std::vector<std::string>& measure) {
  const Json& backend = report.at("backend");
  MatrixRow row{words(backend, "spec", 80),
                words(backend, "version", 40),
                settings(backend.at("options")),
                otherwise(report, measure),
                {},
                {},
                0,
                std::lround(report.at("run").at("seconds").get<double>()),
                readings(report.at("rulings"))};
  for (const Json& version : report.at("operators")) row.cells[words(version, "op", 80)] = cell_of(version);
  for (const auto& [state, count] : report.at("totals").items()) row.totals[state] = count.get<Int>();
  for (const auto& [mark, count] : report.at("marks").items()) row.marks += count.get<Int>();
  return row;
}

Matrix matrix_of(std::vector<Json> reports) {
  Matrix matrix;
  matrix.reports = std::move(reports);
  matrix.measure = commonest(matrix.reports);
  for (const Json& each : matrix.reports) matrix.rows.push_back(row_of(each, matrix.measure));
  std::erase(matrix.measure, "");
  std::set<std::string> versions;
  for (const MatrixRow& row : matrix.rows)
    for (const auto& [version, cell] : row.cells) versions.insert(version);
  matrix.versions.assign(versions.begin(), versions.end());
  std::ranges::sort(matrix.versions, {}, order_of);
  return matrix;
}

}  // namespace

Matrix read_matrix(std::span<const std::string> files) {
  std::vector<Json> reports;
  for (const std::string& file : files) {
    try {
      std::vector<Json> added;
      add(file, added);
      if (!added.empty()) matrix_of(added);  // so that the file that lacks something is named
      std::ranges::move(added, std::back_inserter(reports));
    } catch (const Json::exception&) {
      throw InputError(file + " is no report of this version of assay; write one with certify --report");
    }
  }
  if (reports.empty()) throw InputError("these files hold no report; write one with certify --report");
  return matrix_of(std::move(reports));
}

}  // namespace assay::reports
