// SPDX-License-Identifier: Apache-2.0
#include "reports/pieces.h"

#include "oracles/exact/operands.h"
#include "oracles/judging/finding.h"
#include "reference/operator.h"
#include "reference/sequence.h"
#include "suites/triage/clauses.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <tuple>

namespace assay::reports {
namespace {

using suites::Accuracy;

Json arithmetic_json(const oracles::Arithmetic& arithmetic) {
  Json json = Json::object();
  if (arithmetic.accumulator) json["accumulator"] = name(*arithmetic.accumulator);
  json["flushes_subnormals"] = arithmetic.flushes_subnormals;
  json["tf32"] = arithmetic.tf32;
  json["bf16_inputs"] = arithmetic.bf16_inputs;
  json["winograd"] = arithmetic.winograd;
  return json;
}

Json peak_json(const Accuracy::Peak& peak, DType type) {
  return {{"pattern", peak.pattern},
          {"input", oracles::written(oracles::scalar_of(peak.input), type)},
          {"got", oracles::written(oracles::scalar_of(peak.got), type)},
          {"ulp", peak.ulp}};
}

Json breach_json(const Accuracy& of, const Accuracy::Breach& breach, const Invocation& invocation) {
  const std::string line = suites::line_of_patterns(*of.definition, of.type, breach.pattern, 1);
  return {{"pattern", breach.pattern},
          {"standing", suites::standings[static_cast<std::size_t>(breach.standing)]},
          {"got", breach.got},
          {"want", breach.want},
          {"because", breach.because},
          {"line", line},
          {"replay", replay_line(invocation, line)}};
}

Json texts_of(const std::vector<suites::Predicate>& predicates) {
  return transformed<Json>(predicates, &suites::Predicate::text);
}

Json oddity_json(const Accuracy::Oddity& of) { return {{"count", of.count}, {"pattern", of.pattern}}; }

}  // namespace

template <class Sampling>
static std::string_view word_of(Sampling sampling) {
  return sampling == Sampling::none ? "none" : sampling == Sampling::sample ? "sample" : "all";
}
std::string_view name_of(suites::VariantSampling presenting) { return word_of(presenting); }
std::string_view name_of(suites::LawSampling laws) { return word_of(laws); }

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string in_digits(double value, int digits) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*g", digits, value);
  return text.data();
}

Json level_json(std::optional<oracles::Level> level) { return level ? Json(oracles::name(*level)) : Json(nullptr); }

Json ruling_json(const RulingRow& row) { return {{"id", row.id}, {"title", row.title}, {"followed", row.followed}}; }

Json counts_json(const Counts& counts) {
  Json json = Json::object();
  for (oracles::State state : oracles::all_states) json[std::string(oracles::name(state))] = count(counts, state);
  return json;
}

Json tool_json(const Invocation& invocation) { return {{"name", "assay"}, {"version", invocation.tool_version}}; }

Json standard_json() { return {{"name", "ONNX"}, {"release", standard_release}, {"newest_opset", newest_opset}}; }

Json profile_json(const Profile& profile) {
  Json restrictions = Json::array();
  for (const Profile::Part& part : profile.parts)
    for (const Restriction& each : part.restrictions)
      restrictions.push_back({{"id", tag(part, each)}, {"text", each.text}});
  return {{"name", profile.name}, {"title", profile.title}, {"source", profile.source}, {"restrictions", restrictions}};
}

Json judgement_json() { return {{"version", judgement_version}, {"hash", judgement_hash()}}; }

Json backend_json(const Invocation& invocation, const suites::Description& described) {
  return {{"spec", invocation.backend},
          {"name", described.backend},
          {"version", described.version},
          {"device", described.device},
          {"arithmetic", arithmetic_json(described.arithmetic)},
          {"capabilities",
           {{"operators", described.operators},
            {"types", described.types},
            {"newest_opset", described.newest_opset},
            {"excludes", texts_of(described.excludes)},
            {"answers", described.answers_shapes ? "shapes" : "values"}}},
          {"options",
           {{"threads", invocation.threads},
            {"optimization", invocation.optimization},
            {"set", invocation.options},
            {"timeout_seconds", invocation.timeout_seconds},
            {"memory_mib", invocation.memory_mib},
            {"pack", invocation.pack},
            {"presentations", name_of(invocation.presenting)},
            {"laws", name_of(invocation.laws)},
            {"exhaustive", invocation.exhaustive}}}};
}

Json evidence_json(const oracles::Evidence& evidence) {
  return {{"set", evidence.set},
          {"output", evidence.output},
          {"index", evidence.index},
          {"got", evidence.got},
          {"want", evidence.want},
          {"lower", evidence.lower},
          {"upper", evidence.upper},
          {"exact", evidence.exact},
          {"budget", evidence.budget},
          {"arithmetic", evidence.arithmetic},
          {"taps", transformed<Json>(evidence.taps, [](const oracles::ProofTerm& tap) {
             return Json{{"where", tap.where}, {"factors", tap.factors}};
           })}};
}

Json mark_json(const Invocation& invocation, std::string_view line, const suites::Mark& mark, std::size_t cause) {
  Json json = {{"mark", mark.name},
               {"by", mark.by},
               {"detail", mark.detail},
               {"breaches", mark.breaches},
               {"replay", replay_line(invocation, line, mark)}};
  if (const auto state = suites::session_state(mark)) json["counts_as"] = name(*state);
  if (cause != suites::no_cause) json["cause"] = cause + 1;
  return json;
}

Json cause_json(const suites::Cause& cause, std::span<const suites::Finding> findings, std::string_view replay) {
  Json versions = Json::object();
  for (const auto& [version, count] : cause.versions) versions[text(version)] = count;
  Json json = {{"sentence", cause.sentence},
               {"state", name(cause.state)},
               {"because", cause.because},
               {"pattern", cause.pattern},
               {"count", cause.count},
               {"versions", versions},
               {"models", cause.diagnosis.models},
               {"needs", cause.predicate},
               {"first", findings[cause.first].found},
               {"smallest", findings[cause.smallest].line},
               {"replay", replay}};
  if (const std::string& session = findings[cause.smallest].session; !session.empty()) json["session"] = session;
  json["examples"] = transformed<Json>(cause.examples, [&](std::size_t i) { return case_id(findings[i].line); });
  return json;
}

Json exception_json(const Exception& exception) {
  return {{"cause", exception.cause + 1},
          {"cases", exception.cases},
          {"when", texts_of(exception.when)},
          {"others", exception.others}};
}

namespace {

Json bins_json(const std::map<int, suites::Errors::Bin>& bins) {
  return transformed<Json>(bins, [](const auto& each) {
    return Json{{"bin", each.first}, {"inside", each.second.inside}, {"outside", each.second.outside}};
  });
}

std::map<int, suites::Errors::Bin> bins_of(const Json& list) {
  std::map<int, suites::Errors::Bin> bins;
  for (const Json& each : list)
    bins[each.at("bin").get<int>()] = {each.at("inside").get<Int>(), each.at("outside").get<Int>()};
  return bins;
}

// Three digits: a picture is looked at.
Json distance_json(const std::optional<double>& ulp) {
  return ulp && std::isfinite(*ulp) ? Json(std::stod(in_digits(*ulp, 3))) : Json(nullptr);
}

std::string text_of_constraint(std::string_view name, std::string_view id) {
  const auto general = std::ranges::find(general_constraints(), id, &Constraint::id);
  if (general != general_constraints().end()) return general->text;
  std::string words;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      if (const Constraint* found = definition.version.name == name ? definition.constraint(id) : nullptr)
        words = found->text;  // the newest version's words
  return words;
}

Json clause_json(const std::string& id) {
  if (const Ruling* ruling = find_ruling(id))
    return {{"id", id}, {"title", ruling->title}, {"text", ruling->decision}, {"readings", ruling->readings}};
  const std::size_t dot = id.rfind('.');
  if (dot == id.npos) return {{"id", id}, {"title", ""}, {"text", ""}, {"readings", Json::array()}};
  return {{"id", id},
          {"title", ""},
          {"text", text_of_constraint(std::string_view(id).substr(0, dot), std::string_view(id).substr(dot + 1))},
          {"readings", Json::array()}};
}

Json picture_json(const oracles::ErrorMap& picture) {
  Json json = {{"type", name(picture.dtype)}, {"shape", picture.shape}, {"axes", picture.axes}};
  if (picture.answered) {
    json["got_shape"] = *picture.answered;
    return json;
  }
  Json ulp = Json::array(), worst = Json::array();
  for (const std::optional<double>& each : picture.ulp) ulp.push_back(distance_json(each));
  for (const oracles::ErrorMap::Drawn& each : picture.worst) {
    worst.push_back({{"index", each.index}, {"got", each.got}, {"want", each.want}});
    if (!each.lower.empty()) worst.back().update(Json{{"lower", each.lower}, {"upper", each.upper}});
    worst.back()["ulp"] = distance_json(each.ulp);
  }
  json.update(Json{{"set", picture.set},
                   {"begin", picture.begin},
                   {"extent", picture.extent},
                   {"cells", picture.cells},
                   {"ulp", ulp},
                   {"worst", worst}});
  return json;
}

// What a text for an issue tracker is put together from.
Json account_json(const suites::Account& account) {
  return {{"title", account.title},
          {"opening", account.opening},
          {"python", account.script ? Json(account.script->text) : Json(nullptr)},
          {"closing", account.closing}};
}

}  // namespace

Json errors_json(const std::map<DType, suites::Errors>& errors) {
  Json all = Json::array();
  for (const auto& [type, each] : errors)
    if (each.cases > 0)
      all.push_back({{"type", name(type)},
                     {"cases", each.cases},
                     {"exact", each.exact},
                     {"special", each.special},
                     {"ulp", bins_json(each.ulp)},
                     {"share", bins_json(each.share)}});
  return all;
}

std::map<DType, suites::Errors> errors_of(const Json& errors) {
  std::map<DType, suites::Errors> all;
  for (const Json& each : errors) {
    const auto type = dtype_named(each.at("type").get<std::string>());
    if (!type) throw std::invalid_argument("type");
    all[*type] = {each.at("cases").get<Int>(), each.at("exact").get<Int>(), each.at("special").get<Int>(),
                  bins_of(each.at("ulp")), bins_of(each.at("share"))};
  }
  return all;
}

Json types_json(const std::map<DType, Counts>& types) {
  Json json = Json::object();
  for (const auto& [type, counts] : types) json[std::string(name(type))] = counts_json(counts);
  return json;
}

void add_explanation(Json& json, const Invocation& invocation, const suites::Description& described,
                     const suites::Finding& finding) {
  const auto& [outcome, verdict] = finding.answered;
  json["clauses"] = suites::clauses_of(finding.c);
  if (verdict.evidence) json["evidence"] = evidence_json(*verdict.evidence);
  const oracles::Judgement judgement = suites::judgement_of(invocation.level, described.arithmetic);
  if (const auto picture = oracles::picture(finding.c, outcome, verdict, judgement))
    json["picture"] = picture_json(*picture);
  json["account"] = account_json(suites::account_of(finding, provenance_of(invocation, described)));
}

Json clauses_json(const std::set<std::string>& ids) {
  std::vector<std::string> sorted(ids.begin(), ids.end());
  // A3 before A10, Conv.C6 before Conv.C12.
  std::ranges::stable_sort(sorted, {}, [](const std::string& id) {
    const std::size_t at = id.find_last_not_of("0123456789") + 1;
    return std::tuple(id.substr(0, at), id.size() - at, id);
  });
  return transformed<Json>(sorted, [](const std::string& id) { return clause_json(id); });
}

Json coverage_json(const suites::CoverageRow& row) {
  Json dimensions = Json::array(), by_dimension = Json::array();
  for (const suites::CoveredDimension& each : row.dimensions)
    dimensions.push_back({{"name", each.name}, {"values", each.values}});
  for (const suites::CoveredPairs& each : row.by_dimension) by_dimension.push_back({each.seen, each.possible});
  Json followed = Json::object();
  for (const auto& [ruling, readings] : row.followed) followed[ruling] = readings;
  return {
      {"op", text(row.version)},
      {"legal", row.legal},
      {"near_misses", row.near_misses},
      {"pairs", {{"seen", row.seen}, {"possible", row.possible}, {"by_dimension", by_dimension}, {"bits", row.pairs}}},
      {"dimensions", dimensions},
      {"values", row.values},
      {"unseen_values", row.unseen_values},
      {"unseen_pairs", row.unseen_pairs},
      {"unseen_left_out", row.unseen_left_out},
      {"constraints", {{"broken", row.broken}, {"unbroken", row.unbroken}}},
      {"rulings", {{"touched", row.touched}, {"untouched", row.untouched}, {"followed", followed}}}};
}

std::map<suites::Signature, Int> signatures_of(std::span<const suites::Failure> failures) {
  std::map<suites::Signature, Int> counts;
  for (const suites::Failure& failure : failures) ++counts[failure.signature];
  return counts;
}

Json signature_json(const std::pair<const suites::Signature, Int>& signature) {
  return {{"signature", text(signature.first)}, {"count", signature.second}};
}

bool is_judged(oracles::State state) {
  using enum oracles::State;
  return state == pass || state == contested || state == below || state == fail;
}

Json run_json(const Run& run, std::size_t reached) {
  Json json = {
      {"started", run.started},
      {"seconds", run.seconds},
      {"cases_per_second", run.seconds > 0 ? static_cast<double>(reached) / run.seconds : 0.0},
      {"jobs", run.jobs},
      {"cpu", run.cpu},
      {"isolation", run.isolation},
      {"host_microseconds_per_case", reached > 0 ? 1e6 * run.host_seconds / static_cast<double>(reached) : 0.0},
      {"workers", run.upkeep.processes}};
  // The first answer of each process is where its growth begins.
  if (run.upkeep.answers > run.upkeep.processes)
    json["worker_growth_kib_per_case"] =
        static_cast<double>(run.upkeep.grown_bytes) / 1024 / static_cast<double>(run.upkeep.answers);
  return json;
}

Json accuracy_json(const Accuracy& of, const Invocation& invocation) {
  Json counts = Json::object(), peaks = Json::array(), breaches = Json::array();
  for (std::size_t i = 0; i < of.counts.size(); ++i) counts[std::string(suites::standings[i])] = of.counts[i];
  for (const std::optional<Accuracy::Peak>& each : of.peaks)
    if (each) peaks.push_back(peak_json(*each, of.type));
  for (const Accuracy::Breach& each : of.breaches) breaches.push_back(breach_json(of, each, invocation));
  return {{"op", text(of.definition->version)},
          {"type", name(of.type)},
          {"inputs", of.inputs},
          {"of", of.all_inputs()},
          {"ended", of.ended},
          {"contested", of.contested},
          {"unsupported", of.is_unsupported},
          {"conforms", of.conforms()},
          {"counts", std::move(counts)},
          {"worst", of.worst() ? peak_json(*of.worst(), of.type) : Json(nullptr)},
          {"errors", of.errors},
          {"disorders", oddity_json(of.disorders)},
          {"exits", oddity_json(of.exits)},
          {"breaches", std::move(breaches)},
          {"peaks", std::move(peaks)}};
}

}  // namespace assay::reports
