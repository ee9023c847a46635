// SPDX-License-Identifier: Apache-2.0
#include "reports/pieces.h"

namespace assay::reports {
namespace {

Json arithmetic_json(const oracles::Arithmetic& arithmetic) {
  Json json = Json::object();
  if (arithmetic.accumulator) json["accumulator"] = name(*arithmetic.accumulator);
  json["flushes_subnormals"] = arithmetic.flushes_subnormals;
  json["tf32"] = arithmetic.tf32;
  json["bf16_inputs"] = arithmetic.bf16_inputs;
  json["winograd"] = arithmetic.winograd;
  return json;
}

std::string_view name_of(suites::Presenting presenting) {
  switch (presenting) {
    case suites::Presenting::none: return "none";
    case suites::Presenting::sample: return "sample";
    default: return "all";
  }
}

std::string_view name_of(suites::Lawfulness laws) {
  switch (laws) {
    case suites::Lawfulness::none: return "none";
    case suites::Lawfulness::sample: return "sample";
    default: return "all";
  }
}

}  // namespace

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json counts_json(const Counts& counts) {
  Json json = Json::object();
  for (oracles::State state : oracles::all_states) json[std::string(oracles::name(state))] = count(counts, state);
  return json;
}

Json tool_json(const Asked& asked) { return {{"name", "assay"}, {"version", asked.tool_version}}; }

Json standard_json() { return {{"name", "ONNX"}, {"release", standard_release}, {"newest_opset", newest_opset}}; }

Json judgement_json() { return {{"version", judgement_version}, {"hash", judgement_hash()}}; }

Json backend_json(const Asked& asked, const suites::Description& described) {
  return {{"spec", asked.backend},
          {"name", described.backend},
          {"version", described.version},
          {"device", described.device},
          {"arithmetic", arithmetic_json(described.arithmetic)},
          {"capabilities",
           {{"operators", described.operators},
            {"types", described.types},
            {"newest_opset", described.newest_opset},
            {"answers", described.answers_shapes ? "shapes" : "values"}}},
          {"options",
           {{"threads", asked.threads},
            {"optimization", asked.optimization},
            {"set", asked.options},
            {"timeout_seconds", asked.timeout_seconds},
            {"memory_mib", asked.memory_mib},
            {"pack", asked.pack},
            {"presentations", name_of(asked.presenting)},
            {"laws", name_of(asked.laws)}}}};
}

Json evidence_json(const oracles::Evidence& evidence) {
  Json taps = Json::array();
  for (const oracles::Tap& tap : evidence.taps) taps.push_back({{"where", tap.where}, {"factors", tap.factors}});
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
          {"taps", taps}};
}

Json mark_json(const Asked& asked, std::string_view line, const suites::Mark& mark) {
  return {{"mark", mark.name},
          {"by", mark.by},
          {"detail", mark.detail},
          {"breaches", mark.breaches},
          {"replay", replay_line(asked, line, mark)}};
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

}  // namespace assay::reports
