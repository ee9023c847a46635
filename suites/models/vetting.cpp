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
#include <unordered_set>

namespace assay::suites {
namespace {

using Json = nlohmann::json;

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

KnownException exception_of(const Json& json, const Json& causes) {
  KnownException exception;
  exception.cause = json.at("cause").get<std::size_t>();
  exception.others = json.at("others").get<Int>();
  const Json& told = json.contains("sentence") ? json : causes.at(exception.cause - 1);
  exception.sentence = printable(told.at("sentence").get<std::string>(), 300);
  for (const Json& when : json.at("when")) {
    Result<Predicate> read = stated_predicate(when.get<std::string>());
    if (!read) throw std::invalid_argument(read.error());
    exception.when.push_back(*std::move(read));
  }
  return exception;
}

// Reads a report, which has the types of a version by name, or a certificate, which lists them.
KnownVersion version_of(const Json& row, const Json& causes) {
  KnownVersion version;
  if (row.contains("standings")) {
    for (const auto& [type, standing] : row.at("standings").items())
      if (standing.at("judged").get<Int>() > 0) version.judged.insert(type);
  } else {
    for (const Json& each : row.at("types"))
      if (each.at("judged").get<Int>() > 0) version.judged.insert(each.at("type").get<std::string>());
  }
  for (const Json& each : row.at("exceptions")) version.exceptions.push_back(exception_of(each, causes));
  return version;
}

// Reads a report up to its findings: with the verdicts they are nearly all of it, and nothing is looked up in them.
Result<std::string> up_to_findings(const std::filesystem::path& file) {
  const std::string findings = "\n  \"findings\": ";
  std::error_code failure;
  if (!std::filesystem::is_regular_file(file, failure)) return file_contents(file, most_report);
  std::ifstream in(file, std::ios::binary);
  std::string text, block(std::size_t{1} << 20, '\0');
  text.reserve(8 * block.size());
  while (text.size() < most_report && (in.read(block.data(), std::ssize(block)), in.gcount() > 0)) {
    const std::size_t before = text.size() - std::min(text.size(), findings.size());
    text.append(block, 0, static_cast<std::size_t>(in.gcount()));
    const std::size_t at = text.find(findings, before);
    if (at == text.npos) continue;
    text.resize(text.find_last_not_of(",\n ", at) + 1);
    return text + "\n}";
  }
  return in.eof() ? Result<std::string>(std::move(text)) : file_contents(file, most_report);
}

// Returns a member of a report as it stands there, on lines of its own; none where it does not.
std::optional<std::string> member(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("\n  \"" + name + "\": ");
  if (at == text.npos) return std::nullopt;
  const std::size_t end = std::min(text.find("\n  \"", at + 1), text.find("\n}", at + 1));
  return text.substr(at, text.find_last_not_of(",\n ", std::min(end, text.size()) - 1) + 1 - at);
}

// Reduces a report to what is looked up: with all that a run found the rest takes longer to read than a model.
std::string looked_up(std::string text) {
  const std::optional<std::string> operators = member(text, "operators"), causes = member(text, "causes");
  return operators && causes ? "{" + *operators + "," + *causes + "\n}" : std::move(text);
}

// Parses a report without what nothing is looked up in, of which a whole run has millions of letters.
Json parsed(const std::string& text) {
  std::unordered_set<std::string> passed_over{"account", "detail",  "errors",  "evidence", "examples",
                                              "first",   "pattern", "picture", "replay",   "smallest"};
  if (text.find("\"standings\"") != text.npos) passed_over.insert("types");
  return Json::parse(text, [&](int, Json::parse_event_t event, const Json& key) {
    return event != Json::parse_event_t::key || !passed_over.contains(key.get_ref<const std::string&>());
  });
}

Known known_by(const std::filesystem::path& file) {
  Result<std::string> read = up_to_findings(file);
  if (!read) throw InputError(read.error());
  try {
    const std::string text = looked_up(*std::move(read));
    if (nests_too_deep(text)) throw std::invalid_argument("depth");
    const Json report = parsed(text);
    const Json causes = report.value("causes", Json::array());
    Known known;
    for (const Json& row : report.at("operators"))
      known.emplace(row.at("op").get<std::string>(), version_of(row, causes));
    return known;
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
  const Known known = known_by(report);
  std::vector<Vetted> all;
  for (TypedNode& typed : typed_nodes(source)) {
    Vetted& vetted = all.emplace_back(Vetted{std::move(typed.node), {}});
    if (!typed.c)
      vetted.warnings.push_back("not vetted: " + vetted.node.because);
    else
      warn(vetted, *typed.c, known);
  }
  return all;
}

}  // namespace assay::suites
