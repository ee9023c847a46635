// SPDX-License-Identifier: Apache-2.0
#include "suites/models/vetting.h"

#include "suites/campaign/errors.h"
#include "suites/predicates/predicate.h"
#include "suites/text/json_depth.h"
#include "suites/text/printable.h"
#include "suites/workers/vector_folder.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <stdexcept>

namespace assay::suites {
namespace {

using Json = nlohmann::json;

using Names = std::set<std::string, std::less<>>;

constexpr std::uintmax_t most_report = std::uintmax_t{1} << 32;

// Tells where a version does not conform, for one cause.
struct KnownException {
  std::size_t cause = 0;
  std::string sentence;
  std::vector<Predicate> when;
  Int others = 0;  // cases that no predicate covers
};

struct KnownVersion {
  std::set<std::string, std::less<>> judged;  // types
  std::vector<KnownException> exceptions;
};
using Known = std::map<std::string, KnownVersion, std::less<>>;  // by "Conv-11"

// Holds what is looked up of a report, each row as JSON.
struct Rows {
  std::vector<std::string> operators, causes;
};

// Parses what somebody may have written, and no deeper than anything assay writes.
Json parsed(const std::string& text) {
  if (nests_too_deep(text)) throw std::invalid_argument("depth");
  return Json::parse(text);
}

KnownException exception_of(const Json& json, const Rows& rows) {
  KnownException exception;
  exception.cause = json.at("cause").get<std::size_t>();
  exception.others = json.at("others").get<Int>();
  const Json told = json.contains("sentence") ? json : parsed(rows.causes.at(exception.cause - 1));
  exception.sentence = printable(told.at("sentence").get<std::string>(), 300);
  for (const Json& when : json.at("when")) {
    Result<Predicate> read = stated_predicate(when.get<std::string>());
    if (!read) throw std::invalid_argument(read.error());
    exception.when.push_back(*std::move(read));
  }
  return exception;
}

// Reads a report, which has the types of a version by name, or a certificate, which lists them.
KnownVersion version_of(const Json& row, const Rows& rows) {
  KnownVersion version;
  if (row.contains("standings")) {
    for (const auto& [type, standing] : row.at("standings").items())
      if (standing.at("judged").get<Int>() > 0) version.judged.insert(type);
  } else {
    for (const Json& each : row.at("types"))
      if (each.at("judged").get<Int>() > 0) version.judged.insert(each.at("type").get<std::string>());
  }
  for (const Json& each : row.at("exceptions")) version.exceptions.push_back(exception_of(each, rows));
  return version;
}

// Reads a report, which has a row a line, up to its findings; of its operators only those that a model has, since all
// that a whole run found takes longer to parse than a model. None where the file is not written so.
std::optional<Rows> rows_by_line(const std::filesystem::path& file, const Names& ops) {
  const std::string operators = "  \"operators\": [", causes = "  \"causes\": [", row = "    {\"op\":\"";
  std::error_code failure;
  if (const std::uintmax_t size = std::filesystem::file_size(file, failure); failure || size > most_report) return {};
  std::ifstream in(file, std::ios::binary);
  Rows rows;
  std::string section;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("  \"findings\": ")) return section.starts_with(causes) ? std::optional(rows) : std::nullopt;
    if (line.starts_with("  \"")) section = line;
    if (line.ends_with(',')) line.pop_back();
    if (section == causes && line.starts_with("    {")) rows.causes.push_back(line);
    if (section != operators || !line.starts_with(row)) continue;
    if (ops.contains(line.substr(row.size(), line.find('"', row.size()) - row.size()))) rows.operators.push_back(line);
  }
  return {};
}

// Reads a certificate, or a report that somebody laid out anew.
Rows rows_anyhow(const std::filesystem::path& file) {
  const Result<std::string> read = file_contents(file, most_report);
  if (!read) throw InputError(read.error());
  const Json report = parsed(*read);
  Rows rows;
  for (const Json& row : report.at("operators")) rows.operators.push_back(row.dump());
  for (const Json& row : report.value("causes", Json::array())) rows.causes.push_back(row.dump());
  return rows;
}

Known known_by(const std::filesystem::path& file, const Names& ops) {
  try {
    std::optional<Rows> rows = rows_by_line(file, ops);
    if (!rows) rows = rows_anyhow(file);
    Known known;
    for (const std::string& line : rows->operators) {
      const Json row = parsed(line);
      known.emplace(row.at("op").get<std::string>(), version_of(row, *rows));
    }
    return known;
  } catch (const InputError&) {
    throw;
  } catch (const std::exception&) {  // of nlohmann, or a predicate that is none
    throw InputError(file.string() + " is no report of certify and no certificate of this version of assay");
  }
}

std::string warning(const KnownException& exception, const std::string& where) {
  return "cause " + std::to_string(exception.cause) + ": " + exception.sentence + "; " + where;
}

void warn(Vetted& vetted, const Case& c, const Known& known) {
  const auto version = known.find(vetted.node.op);
  const std::string type(name(first_type(c)));
  if (version == known.end() || !version->second.judged.contains(type)) {
    vetted.warnings.push_back((version == known.end() ? "" : type + " ") + std::string("is not in the report"));
    return;
  }
  vetted.is_known = true;
  for (const KnownException& each : version->second.exceptions) {
    const auto holds = std::ranges::find_if(each.when, [&](const Predicate& when) { return when.holds(c); });
    if (holds != each.when.end())
      vetted.warnings.push_back(warning(each, holds->text().empty() ? "in every case" : "where " + holds->text()));
    else if (each.others > 0)
      vetted.warnings.push_back(warning(each, "in " + std::to_string(each.others) + " cases nobody can tell apart"));
  }
}

}  // namespace

std::vector<Vetted> vet(const ModelSource& source, const std::filesystem::path& report) {
  std::vector<TypedNode> nodes = typed_nodes(source);
  Names ops;
  for (const TypedNode& typed : nodes) ops.insert(typed.node.op);
  const Known known = known_by(report, ops);
  std::vector<Vetted> all;
  for (TypedNode& typed : nodes) {
    Vetted& vetted = all.emplace_back(Vetted{std::move(typed.node), {}});
    if (!typed.c)
      vetted.warnings.push_back("not vetted: " + vetted.node.because);
    else
      warn(vetted, *typed.c, known);
  }
  return all;
}

}  // namespace assay::suites
