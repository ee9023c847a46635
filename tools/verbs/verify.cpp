// SPDX-License-Identifier: Apache-2.0
// assay verify: whether a certificate holds: by itself, by its report, by its signature, and by running it again.
#include "reports/verify.h"

#include "oracles/judging/case_class.h"
#include "reference/sequence.h"
#include "reports/report.h"
#include "suites/campaign/campaign.h"
#include "suites/campaign/errors.h"
#include "suites/golden/detached_signature.h"
#include "suites/text/printable.h"
#include "suites/workers/artefacts.h"
#include "suites/workers/vector_folder.h"
#include "suites/workers/worker.h"
#include "tools/verbs/circumstances.h"
#include "tools/verbs/subject.h"
#include "tools/verbs/verbs.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <set>
#include <string>

namespace assay::tools {
namespace {

using Json = nlohmann::json;

constexpr std::uintmax_t longest_file = std::uintmax_t{1} << 30;

struct Options {
  std::string certificate, report, signature, suites, backend;
  suites::Trust trust;
  Int replay = 0, fresh = 0;
  std::uint64_t seed = 1;
};

std::string contents(const std::string& file, const char* what) {
  Result<std::string> text = suites::file_contents(file, longest_file);
  if (!text) throw InputError(std::string(what) + " " + text.error());
  return *std::move(text);
}

void say(const std::string& what) { std::cout << "  " << what << "\n"; }

// The verdict of the certificate itself, so that nobody takes "it holds" for "it conforms".
void say_what_it_states(const Json& certificate) {
  std::map<std::string, int> versions;
  for (const Json& row : certificate.at("operators")) ++versions[row.at("state").get<std::string>()];
  const std::string words =
      joined(versions, ", ", [](const auto& each) { return std::to_string(each.second) + " " + each.first; });
  const Json& backend = certificate.at("backend");
  say("of " +
      suites::printable(backend.at("name").get<std::string>() + " " + backend.at("version").get<std::string>(), 200) +
      ": " + certificate.at("conclusion").get<std::string>() + "; of its operator versions " + words);
  say("to do it again: " + suites::printable(certificate.at("command").get<std::string>(), 4000));
}

// The command that was certified, with what the certificate says of it.
suites::RunOptions conduct_of(const Json& certificate) {
  const Json& options = certificate.at("backend").at("options");
  suites::RunOptions run_options;
  run_options.level = *oracles::level_named(certificate.at("level").get<std::string>());
  run_options.settings.threads = options.at("threads").get<int>();
  run_options.settings.optimization = options.at("optimization").get<std::string>();
  run_options.options = options.at("set").get<std::map<std::string, std::string>>();
  return run_options;
}

suites::Limits limits_of(const Json& certificate) {
  const Json& options = certificate.at("backend").at("options");
  suites::Limits limits;
  limits.run = std::chrono::milliseconds(static_cast<Int>(options.at("timeout_seconds").get<double>() * 1000));
  limits.memory = static_cast<std::size_t>(options.at("memory_mib").get<Int>()) << 20;
  return limits;
}

// Tells whether what would be run here is what was certified.
std::optional<reports::Broken> other_backend(const Json& certificate, const suites::Description& here,
                                             const std::string& spec) {
  const Json& backend = certificate.at("backend");
  for (const auto& [member, value] :
       {std::pair{"name", here.backend}, {"version", here.version}, {"device", here.device}})
    if (backend.at(member) != value)
      return reports::Broken{"certificate /backend/" + std::string(member), "the backend here says " + value};
  std::set<suites::Artefact> certified;
  const auto text = [](const Json& json) { return json.is_null() ? "" : json.get<std::string>(); };
  for (const Json& each : certificate.at("artefacts"))
    certified.insert({text(each.at("kind")), text(each.at("name")), text(each.at("version")), text(each.at("sha256"))});
  const suites::Artefacts ours = suites::artefacts_of(spec);
  for (const suites::Artefact& each : ours.recorded)
    if (!certified.erase(each))
      return reports::Broken{"certificate /artefacts", "not certified is " + each.kind + " " + each.name + " " +
                                                           each.version + " as it is here, " + each.sha256};
  if (!certified.empty())
    return reports::Broken{"certificate /artefacts", "not here is " + certified.begin()->kind + " " +
                                                         certified.begin()->name + " " + certified.begin()->version};
  return std::nullopt;
}

bool is_marked_unstable(const Json& verdict) {
  for (const Json& mark : verdict.value("marks", Json::array()))
    if (mark.at("mark") == "unstable") return true;
  return false;
}

// What the case ends in here, held against the report.
std::optional<reports::Broken> other_verdict(const Json& told, const oracles::Verdict& verdict, std::size_t index) {
  const Json here{{"state", oracles::name(verdict.state)},
                  {"because", verdict.because},
                  {"level", verdict.level ? Json(oracles::name(*verdict.level)) : Json()}};
  for (const auto& [member, value] : here.items())
    if (told.at(member) != value)
      return reports::Broken{"report /verdicts/" + std::to_string(index) + "/" + member,
                             told.at(member).dump() + ", and run again " + value.dump()};
  return std::nullopt;
}

// Runs a case first in a fresh process: what an earlier one damaged there counts against no other (decisions 1).
oracles::Verdict certify_alone(const suites::SuiteCase& planned, suites::Backend& backend,
                               const suites::RunOptions& run_options) {
  suites::Request request = suites::request_of(planned, run_options);
  request.fresh = true;
  return suites::judged(planned, backend.run(request), backend.describe(), run_options.level);
}

std::optional<reports::Broken> broken_by_replay(const reports::Verification& verification, const Options& options,
                                                suites::Backend& backend, const suites::RunOptions& run_options) {
  Int invocation = 0, unstable = 0;
  for (std::size_t index :
       reports::sample(verification.suite(), static_cast<std::size_t>(options.replay), options.seed)) {
    const Json& told = verification.report().at("verdicts").at(index);
    const suites::SuiteCase& planned = verification.suite().cases[index];
    const oracles::Verdict verdict = suites::certify(planned, backend, run_options);
    ++invocation;
    if (is_marked_unstable(told)) {
      ++unstable;
      continue;
    }
    if (!other_verdict(told, verdict, index)) continue;
    if (auto broken = other_verdict(told, certify_alone(planned, backend, run_options), index)) return broken;
  }
  if (invocation > 0)
    say(std::to_string(invocation) + " cases run again end as in the report" +
        (unstable > 0 ? ", " + std::to_string(unstable) + " unstable ones aside" : ""));
  return std::nullopt;
}

// Lists the operator versions with the types that are certified and of which a ledger excuses nothing: "Conv-11 f32".
std::set<std::string> certified_types(const Json& certificate) {
  std::set<std::string> all;
  for (const Json& row : certificate.at("operators"))
    for (const Json& type : row.at("types"))
      if (type.at("state") == "certified" && type.at("excused").empty())
        all.insert(row.at("op").get<std::string>() + " " + type.at("type").get<std::string>());
  return all;
}

std::string version_and_type(const Case& c) { return text(c.version) + " " + std::string(name(suites::first_type(c))); }

// Runs cases that whoever was certified could not know, under names that are not ours: what is certified must pass.
std::optional<reports::Broken> broken_by_fresh_cases(const Json& certificate, const Options& options,
                                                     suites::Backend& backend, suites::RunOptions run_options) {
  const std::set<std::string> certified = certified_types(certificate);
  suites::SuiteRequest request;
  request.seed = options.seed;
  request.generated = options.fresh;
  if (certificate.at("suite").contains("profile"))
    request.profile = find_profile(certificate.at("suite").at("profile").at("name").get<std::string>());
  Int passed = 0, turn = 0;
  for (const suites::SuiteCase& planned : suites::generated_cases(request)) {
    if (!reports::decides(oracles::class_of(planned.c))) continue;
    if (!certified.contains(version_and_type(planned.c))) continue;
    run_options.settings.names = static_cast<int>(turn++ % 8);
    const auto breaks = [&](const oracles::Verdict& verdict) {
      return reports::breaks_conformance(verdict.state, certificate.at("mode") == "strict");
    };
    oracles::Verdict verdict = suites::certify(planned, backend, run_options);
    if (breaks(verdict)) verdict = certify_alone(planned, backend, run_options);
    if (breaks(verdict))
      return reports::Broken{"certificate /operators",
                             version_and_type(planned.c) + " is certified, and ends as " +
                                 std::string(name(verdict.state)) + " (" + verdict.because + ") where it is run " +
                                 (run_options.settings.names ? "[" + text(run_options.settings) + "] " : "") +
                                 planned.line};
    ++passed;
  }
  say(std::to_string(passed) + " cases of seed " + std::to_string(options.seed) +
      ", which the certificate is not about, end as what is certified must");
  return std::nullopt;
}

std::optional<reports::Broken> broken_by_asking(const reports::Verification& verification, const Options& options) {
  const Json& certificate = verification.certificate();
  const auto backend = suites::open_backend(options.backend, limits_of(certificate));
  if (auto broken = other_backend(certificate, backend->describe(), options.backend)) return broken;
  say("the backend here has the name, the version and the files that were certified");
  const suites::RunOptions run_options = conduct_of(certificate);
  if (auto broken = broken_by_replay(verification, options, *backend, run_options)) return broken;
  if (options.fresh == 0) return std::nullopt;
  return broken_by_fresh_cases(certificate, options, *backend, run_options);
}

// Each step is told when it held.
std::optional<reports::Broken> first_broken(reports::Verification& verification, const Options& options,
                                            const std::string& certificate, const std::string& report) {
  if (!options.signature.empty()) {
    const auto check = suites::check_signature(certificate, options.signature, options.trust);
    if (!check.is_good) return reports::Broken{"signature", check.said};
    say("signature good: " + check.said);
  }
  if (auto broken = verification.broken_by_itself()) return broken;
  if (options.fresh > 0 && verification.certificate().at("suite").at("seed") == options.seed)
    throw InputError("--fresh needs a --seed that is not the one certified, " + std::to_string(options.seed));
  say("schema and digest hold");
  const auto plan = [&](const suites::SuiteRequest& request) {
    return suites::plan(suites_folder(options.suites), request);
  };
  if (auto broken = verification.broken_by_tool(plan)) return broken;
  say("the suite and the judgement are those of this assay");
  const bool is_same = verification.certificate().at("tool").at("sha256") == suites::sha256_of_this_program();
  say(is_same ? "it was made by this very program" : "it was made by another build of assay " ASSAY_VERSION);
  if (options.report.empty()) {
    say("no --report: its numbers were not held against the verdicts");
    return std::nullopt;
  }
  if (auto broken = verification.broken_by_report(report)) return broken;
  say("every total, level and reading follows from the " + std::to_string(verification.report().at("verdicts").size()) +
      " verdicts of the report");
  if (options.backend.empty()) return std::nullopt;
  return broken_by_asking(verification, options);
}

void check(const Options& options) {
  if (options.replay + options.fresh > 0 && options.backend.empty())
    throw InputError("--replay and --fresh need --backend");
  if (!options.backend.empty() && options.report.empty())
    throw InputError("--backend needs --report, whose verdicts are compared");
  const suites::Trust& trust = options.trust;
  if (options.signature.empty() && !(trust.key + trust.signers + trust.signer).empty())
    throw InputError("--signature is missing: name the file of the signature");
}

int verify(const Options& options) {
  check(options);
  const std::string certificate = contents(options.certificate, "the certificate");
  const std::string report = options.report.empty() ? "" : contents(options.report, "the report");
  reports::Verification verification(certificate, ASSAY_VERSION);
  if (const auto broken = first_broken(verification, options, certificate, report)) {
    std::cout << "does not hold: " << suites::printable(broken->where, 300) << ": "
              << suites::printable(broken->why, 400) << "\n";
    return not_conforming;
  }
  say_what_it_states(verification.certificate());
  std::cout << "holds: certificate " << verification.certificate().at("digest").get<std::string>().substr(0, 12)
            << "\n";
  return conforms;
}

}  // namespace

Verb verify_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("verify", "check a certificate: its digests, its numbers, its signature");
  command->add_option("certificate", options->certificate, "the file that certify --certificate wrote")->required();
  command->add_option("--report", options->report,
                      "the report it was read off: every number is worked out from it again");
  command->add_option("--signature", options->signature, "a signature made by minisign or ssh-keygen -Y sign -n assay");
  command->add_option("--public-key", options->trust.key, "minisign: the key of whom you trust, or the file with it");
  command->add_option("--allowed-signers", options->trust.signers, "ssh-keygen: the file of those whom you trust");
  command->add_option("--signer", options->trust.signer, "ssh-keygen: which of them should have signed");
  command->add_option("--backend", options->backend,
                      "hold the files and packages of this backend against those certified (see certify --backend)");
  command->add_option("--replay", options->replay, "run so many cases on the backend again")
      ->check(CLI::Range(Int{0}, Int{100'000'000}));
  command
      ->add_option("--fresh", options->fresh,
                   "run so many cases that the certificate is not about, of what it calls certified")
      ->check(CLI::Range(Int{0}, Int{100'000'000}));
  command->add_option("--seed", options->seed, "which cases --replay takes and --fresh draws")->capture_default_str();
  command->add_option("--suites", options->suites,
                      "the folder with conformance/*.cases (default: the project's suites/)");
  return {command, [options] { return verify(*options); }};
}

}  // namespace assay::tools
