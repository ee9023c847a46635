// SPDX-License-Identifier: Apache-2.0
// Contradictions within a report: findings, exceptions, functions and a ledger that its own verdicts do not bear out.
// Nothing here is shared with what wrote the report, as in recount.h.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace assay::reports {

// Each returns what is wrong in words, or an empty text: of the findings, of the ledger, of functions that were run
// over every input, and of what versions conform except for ("Conv-11: 'any(pads) > 0' holds for a case that passes").
std::string wrong_finding(const nlohmann::json& report);
std::string wrong_ledger(const nlohmann::json& report);
std::string wrong_function(const nlohmann::json& report);
std::string wrong_exception(const nlohmann::json& report);

// Finds the first place, in the order of member names, where two documents say something else; returns an empty text
// where they are equal: "/operators/3/level: L0 instead of L2".
std::string first_difference(const nlohmann::json& found, const nlohmann::json& derived, const std::string& path = "");

}  // namespace assay::reports
