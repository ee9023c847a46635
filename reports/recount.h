// SPDX-License-Identifier: Apache-2.0
// Recount: totals, levels and readings worked out again from the verdicts of a report, as JSON and as nothing else. It
// shares no line with what wrote the report or the certificate, so that a slip of either, or somebody's pen, shows.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace assay::reports {

// The members of a report that follow from its verdicts: totals, marks, classes, operators, rulings, constraints,
// certified. The report fits its schema.
nlohmann::json recounted_report(const nlohmann::json& report);

// The members of a certificate that follow from the report's verdicts: conclusion, totals, operators, rulings.
nlohmann::json recounted_certificate(const nlohmann::json& report);

// What is wrong with the findings of a report and with its ledger, held against its verdicts; empty where nothing is.
std::string wrong_finding(const nlohmann::json& report);
std::string wrong_ledger(const nlohmann::json& report);
// What is wrong with a function that was run over every input, in itself.
std::string wrong_function(const nlohmann::json& report);
// The same of what a version conforms except for: "Conv-11: 'any(pads) > 0' holds for a case that passes".
std::string wrong_exception(const nlohmann::json& report);

// The first place, in the order of member names, where two documents say something else; empty where they are equal:
// "/operators/3/level: L0 instead of L2".
std::string first_difference(const nlohmann::json& found, const nlohmann::json& derived, const std::string& path = "");

}  // namespace assay::reports
