// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/verdict_bytes.h"

#include "suites/text/json_depth.h"

#include <nlohmann/json.hpp>

namespace assay::suites {
namespace {

// CBOR and not JSON text: a backend's words may be any bytes, and a measure may be infinite.
using Json = nlohmann::json;
using oracles::Evidence;
using oracles::Level;
using oracles::ProofTerm;
using oracles::State;
using oracles::Verdict;

using Departures = std::map<std::string, std::string, std::less<>>;

Json json_of(const Readings& readings) { return readings.departures(); }
Readings readings_of(const Json& json) { return Readings(json.get<Departures>()); }

// Structured bindings name every member: a new one does not compile until it is kept as well.
Json json_of(const Evidence& evidence) {
  const auto& [set, output, index, got, want, lower, upper, exact, budget, arithmetic, taps] = evidence;
  Json all = Json::array();
  for (const auto& [factors, where] : taps) all.push_back(Json::array({factors, where}));
  return Json::array({set, output, index, got, want, lower, upper, exact, budget, arithmetic, all});
}

Evidence evidence_of(const Json& json) {
  Evidence evidence;
  auto& [set, output, index, got, want, lower, upper, exact, budget, arithmetic, taps] = evidence;
  json.at(0).get_to(set);
  json.at(1).get_to(output);
  json.at(2).get_to(index);
  std::string* const words[] = {&got, &want, &lower, &upper, &exact, &budget, &arithmetic};
  for (std::size_t i = 0; i < std::size(words); ++i) json.at(3 + i).get_to(*words[i]);
  for (const Json& each : json.at(10))
    taps.push_back({each.at(0).get<std::vector<std::string>>(), each.at(1).get<std::string>()});
  return evidence;
}

Json json_of(const Verdict& verdict) {
  const auto& [state, because, detail, level, readings, also, followed, violated, elements, unscored, exact, worst_q,
               worst_ulp, worst_share, evidence, touched] = verdict;
  Json others = Json::array();
  for (const Readings& each : also) others.push_back(json_of(each));
  return Json::array({oracles::name(state), because, detail, level ? Json(oracles::name(*level)) : Json(),
                      json_of(readings), others, followed, violated, elements, unscored, exact, worst_q, worst_ulp,
                      evidence ? json_of(*evidence) : Json(), worst_share, touched ? Json(*touched) : Json()});
}

Verdict verdict_of(const Json& json) {
  Verdict verdict;
  verdict.state = oracles::state_named(json.at(0).get<std::string>()).value();
  json.at(1).get_to(verdict.because);
  json.at(2).get_to(verdict.detail);
  if (!json.at(3).is_null()) verdict.level = oracles::level_named(json.at(3).get<std::string>()).value();
  verdict.readings = readings_of(json.at(4));
  for (const Json& each : json.at(5)) verdict.also.push_back(readings_of(each));
  json.at(6).get_to(verdict.followed);
  json.at(7).get_to(verdict.violated);
  json.at(8).get_to(verdict.elements);
  json.at(9).get_to(verdict.unscored);
  json.at(10).get_to(verdict.exact);
  json.at(11).get_to(verdict.worst_q);
  json.at(12).get_to(verdict.worst_ulp);
  if (!json.at(13).is_null()) verdict.evidence = evidence_of(json.at(13));
  json.at(14).get_to(verdict.worst_share);
  if (!json.at(15).is_null()) json.at(15).get_to(verdict.touched.emplace());
  return verdict;
}

Json json_of(const Mark& mark) {
  const auto& [name, by, detail, breaches, line] = mark;
  return Json::array({name, by, detail, breaches, line});
}

Mark mark_of(const Json& json) {
  return {json.at(0).get<std::string>(), json.at(1).get<std::string>(), json.at(2).get<std::string>(),
          json.at(3).get<bool>(), json.at(4).get<std::string>()};
}

}  // namespace

std::string bytes_of(const Told& told) {
  Json marks = Json::array();
  for (const Mark& each : told.marks) marks.push_back(json_of(each));
  std::string bytes;
  Json::to_cbor(Json::array({json_of(told.verdict), marks}), bytes);
  return bytes;
}

Result<Told> told_by(std::string_view bytes) {
  if (cbor_nests_too_deep(bytes)) return Error{"it nests too deep"};
  try {
    const Json json = Json::from_cbor(bytes);
    Told told{verdict_of(json.at(0)), {}};
    for (const Json& each : json.at(1)) told.marks.push_back(mark_of(each));
    return told;
  } catch (const std::exception& error) {  // of nlohmann, or a word this version does not know
    return Error{error.what()};
  }
}

}  // namespace assay::suites
