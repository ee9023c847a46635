// SPDX-License-Identifier: Apache-2.0
#include "reports/verify.h"

#include "oracles/judging/case_class.h"
#include "reference/sequence.h"
#include "reports/certificate.h"
#include "reports/checked_json.h"
#include "reports/contradictions.h"
#include "reports/recount.h"

#include <algorithm>
#include <set>

namespace assay::reports {
namespace {

using Json = nlohmann::json;

// Reads one of the two documents; says where it cannot.
std::optional<Broken> unreadable(const std::string& text, const char* name, const std::string& schema, Json& into) {
  Result<Json> document = parse_stranger(text);
  if (!document) return Broken{name, document.error()};
  into = *std::move(document);
  if (const std::string breach = breach_of_schema(into, schema); !breach.empty())
    return Broken{std::string(name) + " " + breach.substr(0, breach.find(": ")), breach.substr(breach.find(": ") + 2)};
  return std::nullopt;
}

// "/operators/3/level: L0 instead of L2", as found in the document.
std::optional<Broken> difference(const char* name, const Json& found, const Json& derived, const std::string& path) {
  const std::string first = first_difference(found, derived, path);
  if (first.empty()) return std::nullopt;
  const std::size_t colon = first.find(": ");
  return Broken{std::string(name) + " " + first.substr(0, colon), first.substr(colon + 2)};
}

// The members of `document` that `derived` has.
std::optional<Broken> different_members(const char* name, const Json& document, const Json& derived) {
  for (const auto& [member, value] : derived.items())
    if (auto broken = difference(name, document.at(member), value, "/" + member)) return broken;
  return std::nullopt;
}

Json violated_by(const Case& c) {
  return transformed<Json>(c.definition().violated(c.call()),
                           [&](const std::string& id) { return c.version.name + "." + id; });
}

std::string profile_of(const suites::Suite& suite) {
  return std::string(suite.profile ? suite.profile->name : "default");
}

Json restrictions_of(const Profile& profile) {
  Json all = Json::array();
  for (const Profile::Part& part : profile.parts)
    for (const Restriction& each : part.restrictions) all.push_back({{"id", tag(part, each)}, {"text", each.text}});
  return all;
}

// Tags of the restrictions that a case of a limited suite keeps; empty where the suite is not limited.
Json kept_by(const suites::Suite& suite, const Case& c) {
  Json kept = Json::array();
  if (!suite.profile) return kept;
  for (const std::string& each : outside(*suite.profile, c)) kept.push_back("not " + each);
  if (const Profile::Part* part = suite.profile->part(c.version); part && kept.empty())
    for (const std::string& each : tags(*part)) kept.push_back(each);
  return kept;
}

// Words a legal case and a near miss can end in (decisions 1).
bool can_end(const Json& verdict, bool is_near_miss) {
  static const std::set<std::string> near_miss{"pass", "accepted", "contested", "unsupported", "error"};
  const std::string word = verdict.at("state").get<std::string>();
  return is_near_miss ? near_miss.contains(word) : word != "accepted";
}

bool is_agreed(const std::string& mark) { return mark == "xfail" || mark == "xpass" || mark == "known"; }

// What is wrong with one verdict by the rules every verdict keeps; empty where nothing is.
std::string inconsistency(const Json& verdict, const suites::SuiteCase& planned, const suites::Suite& suite,
                          const std::string& invocation) {
  if (verdict.at("line") != planned.line) return "another case than the suite has there";
  if (verdict.at("id") != case_id(planned.line)) return "the id is not that of its line";
  if (verdict.at("origin") != planned.origin) return "the suite has it from " + planned.origin;
  const Json violated = violated_by(planned.c);
  if (verdict.value("violated", Json::array()) != violated) return "it breaks the constraints " + violated.dump();
  if (const Json kept = kept_by(suite, planned.c); verdict.value("restrictions", Json::array()) != kept)
    return "the restrictions it keeps are " + kept.dump();
  if (verdict.at("class") != oracles::class_of(planned.c))
    return "its class is " + std::string(oracles::class_of(planned.c));
  if (!can_end(verdict, !violated.empty())) return "such a case cannot end in " + verdict.at("state").dump();
  const bool departs = !verdict.value("readings", Json::object()).empty();
  if ((verdict.at("state") == "contested") != departs)
    return "contested goes with the readings that fit, and only that";
  for (const Json& mark : verdict.value("marks", Json::array()))
    if (mark.at("breaches") == true && is_agreed(mark.at("mark"))) return "an agreement is no breach";
  const Json& level = verdict.at("level");
  if (level.is_null()) return "";
  const bool misses = *oracles::level_named(level.get<std::string>()) > *oracles::level_named(invocation);
  if (verdict.at("state") == "below" ? !misses : misses && verdict.at("state") == "pass")
    return "its level and its state do not go together";
  return "";
}

// The command has to be the one that runs what the report says was run; only it knows where the ledger lay.
std::optional<Broken> broken_command(const Json& certificate, const Json& report) {
  const Json &backend = report.at("backend"), &options = backend.at("options");
  Invocation invocation;
  invocation.backend = backend.at("spec").get<std::string>();
  invocation.seed = report.at("seed").get<std::uint64_t>();
  if (report.at("profile") != "default") invocation.profile = report.at("profile").get<std::string>();
  invocation.level = *oracles::level_named(report.at("level").get<std::string>());
  invocation.strict = report.at("mode") == "strict";
  invocation.special_values = !invocation.strict && report.value("special_values", "") == "count";
  invocation.threads = options.at("threads").get<int>();
  invocation.optimization = options.at("optimization").get<std::string>();
  invocation.options = options.at("set").get<std::map<std::string, std::string>>();
  invocation.pack = options.at("pack").get<int>();
  invocation.presenting = options.at("presentations") == "none"  ? suites::VariantSampling::none
                          : options.at("presentations") == "all" ? suites::VariantSampling::all
                                                                 : suites::VariantSampling::sample;
  invocation.laws = options.at("laws") == "none"  ? suites::LawSampling::none
                    : options.at("laws") == "all" ? suites::LawSampling::all
                                                  : suites::LawSampling::sample;
  invocation.every_input = report.contains("every_input");
  invocation.exhaustive = options.value("exhaustive", false);
  invocation.timeout_seconds = options.at("timeout_seconds").get<double>();
  invocation.memory_mib = options.at("memory_mib").get<Int>();
  const std::string command = certificate.at("command").get<std::string>();
  const Json& suite = certificate.at("suite");
  const suites::Length length = suites::length_of(suite.at("name").get<std::string>());
  const std::string plain = certify_line(invocation, name(length), suite.at("generated").get<Int>(), "");
  const std::size_t files = plain.rfind(" --report ");
  const bool has_ledger = !report.at("ledger").is_null();
  if (has_ledger
          ? command.starts_with(plain.substr(0, files) + " --expectations ") && command.ends_with(plain.substr(files))
          : command == plain)
    return std::nullopt;
  return Broken{"certificate /command", "what the report says was run is run by " + plain};
}

}  // namespace

std::optional<Broken> Verification::broken_by_itself() {
  if (auto broken = unreadable(text_, "certificate", "certificate.schema.json", certificate_)) return broken;
  const std::optional<std::string> digest = certificate_digest(text_);
  if (!digest) return Broken{"certificate", "it does not end with the line of its digest, as assay writes it"};
  if (certificate_.at("digest") != *digest)
    return Broken{"certificate /digest", "the text above it has another one, " + *digest};
  return std::nullopt;
}

std::optional<Broken> Verification::broken_by_tool(const Planner& plan) {
  const std::string made_by = certificate_.at("tool").at("version").get<std::string>();
  const Json& suite = certificate_.at("suite");
  const bool is_ours = made_by == tool_version_;
  const auto refuse = [&](const std::string& where, const std::string& why) -> Broken {
    if (is_ours) return {where, why};
    throw InputError("the certificate was made by assay " + made_by +
                     ", whose suite or judgement is not that of this assay " + tool_version_ +
                     "; verify it with assay " + made_by);
  };
  if (certificate_.at("judgement").at("hash") != judgement_hash())
    return refuse("certificate /judgement/hash", "this assay judges by " + judgement_hash());
  const Json& generated = suite.at("generated");
  if (generated > 100'000'000) return Broken{"certificate /suite/generated", "more than certify takes"};
  suites::SuiteRequest request;
  request.seed = suite.at("seed").get<std::uint64_t>();
  request.generated = generated.get<Int>();
  request.length = suites::length_of(suite.at("name").get<std::string>());
  if (suite.contains("profile")) {
    request.profile = find_profile(suite.at("profile").at("name").get<std::string>());
    expects(request.profile, "the schema has the names of the profiles");
    const Profile& profile = *request.profile;
    const Json told{{"name", profile.name},
                    {"title", profile.title},
                    {"source", profile.source},
                    {"restrictions", restrictions_of(profile)}};
    if (auto broken = difference("certificate", suite.at("profile"), told, "/suite/profile"))
      return refuse(broken->where, broken->why);
  }
  suite_ = plan(request);
  if (!suite_.complete) return Broken{"certificate /suite/generated", "that is not the whole suite"};
  if (suite.at("hash") != suite_.hash)
    return refuse("certificate /suite/hash", "of this seed and number the suite of this assay has " + suite_.hash);
  if (suite.at("cases") != suite_.cases.size())
    return Broken{"certificate /suite/cases", "the suite has " + std::to_string(suite_.cases.size())};
  return std::nullopt;
}

// What binds the certificate to this report, and says what it is about.
std::optional<Broken> Verification::broken_bonds(const std::string& report_text) const {
  const std::optional<std::string> identity = report_identity(report_text);
  if (!identity) return Broken{"report", "it has no line of its run, as assay writes it"};
  if (certificate_.at("report").at("sha256") != *identity)
    return Broken{"certificate /report/sha256", "this report has " + *identity};
  Json bonds = {{"standard", report_.at("standard")},
                {"judgement", report_.at("judgement")},
                {"level", report_.at("level")},
                {"mode", report_.at("mode")},
                {"backend", report_.at("backend")}};
  if (auto broken = different_members("certificate", certificate_, bonds)) return broken;
  for (const char* member : {"name", "version"})
    if (certificate_.at("tool").at(member) != report_.at("tool").at(member))
      return Broken{std::string("certificate /tool/") + member,
                    "the report has " + report_.at("tool").at(member).dump()};
  const Json suite = {{"name", suite_.name}, {"version", suite_.version},    {"hash", suite_.hash},
                      {"complete", true},    {"cases", suite_.cases.size()}, {"reached", suite_.cases.size()}};
  if (auto broken = difference("report", report_.at("suite"), suite, "/suite")) return broken;
  for (const char* member : {"name", "version"})
    if (certificate_.at("suite").at(member) != suite.at(member))
      return Broken{std::string("certificate /suite/") + member, "the suite has " + suite.at(member).dump()};
  if (report_.at("profile") != profile_of(suite_))
    return Broken{"report /profile", "the suite is that of the profile " + profile_of(suite_)};
  if (certificate_.at("suite").at("seed") != report_.at("seed"))
    return Broken{"certificate /suite/seed", "the report has " + report_.at("seed").dump()};
  return broken_command(certificate_, report_);
}

std::optional<Broken> Verification::broken_verdicts() const {
  const Json& verdicts = report_.at("verdicts");
  const std::string level = report_.at("level").get<std::string>();
  for (std::size_t i = 0; i < std::min(verdicts.size(), suite_.cases.size()); ++i)
    if (const std::string wrong = inconsistency(verdicts[i], suite_.cases[i], suite_, level); !wrong.empty())
      return Broken{"report /verdicts/" + std::to_string(i), wrong};
  if (verdicts.size() != suite_.cases.size())
    return Broken{"report /verdicts",
                  std::to_string(verdicts.size()) + " verdicts on " + std::to_string(suite_.cases.size()) + " cases"};
  return std::nullopt;
}

std::optional<Broken> Verification::broken_totals() const {
  if (auto broken = different_members("report", report_, recounted_report(report_))) return broken;
  if (const std::string wrong = wrong_finding(report_); !wrong.empty()) return Broken{"report /findings", wrong};
  if (const std::string wrong = wrong_exception(report_); !wrong.empty()) return Broken{"report /operators", wrong};
  if (const std::string wrong = wrong_function(report_); !wrong.empty()) return Broken{"report /every_input", wrong};
  if (const std::string wrong = wrong_ledger(report_); !wrong.empty()) return Broken{"report /ledger", wrong};
  if (report_.at("totals").at("error") != 0) return Broken{"report /totals/error", "a crash blocks a certificate"};
  if (!report_.at("baseline").is_null())
    return Broken{"report /baseline", "there is no certificate against a baseline"};
  if (auto broken = different_members("certificate", certificate_, recounted_certificate(report_))) return broken;
  Json ledger = nullptr;
  if (const Json& told = report_.at("ledger"); !told.is_null()) {
    ledger = {{"hash", told.at("hash")}, {"entries", Json::array()}};
    for (const Json& entry : told.at("entries"))
      ledger["entries"].push_back({{"id", entry.at("id")},
                                   {"reason", entry.at("reason")},
                                   {"owner", entry.at("owner")},
                                   {"expires", entry.at("expires")},
                                   {"covered", entry.at("covered")}});
  }
  return difference("certificate", certificate_.at("ledger"), ledger, "/ledger");
}

std::optional<Broken> Verification::broken_by_report(const std::string& report_text) {
  if (auto broken = unreadable(report_text, "report", "report.schema.json", report_)) return broken;
  if (auto broken = broken_bonds(report_text)) return broken;
  if (auto broken = broken_verdicts()) return broken;
  return broken_totals();
}

std::vector<std::size_t> sample(const suites::Suite& suite, std::size_t count, std::uint64_t seed) {
  std::vector<std::pair<std::string, std::size_t>> all;
  for (std::size_t i = 0; i < suite.cases.size(); ++i)
    all.emplace_back(sha256(std::to_string(seed) + " " + suite.cases[i].line), i);
  std::ranges::sort(all);
  std::vector<std::size_t> chosen;
  for (const auto& [digest, index] : all)
    if (chosen.size() < count) chosen.push_back(index);
  return chosen;
}

}  // namespace assay::reports
