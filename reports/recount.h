// SPDX-License-Identifier: Apache-2.0
// Recount: totals, levels and readings worked out again from the verdicts of a report, as JSON and as nothing else. It
// shares no line with what wrote the report or the certificate, so that a slip of either, or somebody's pen, shows.
#pragma once

#include <nlohmann/json.hpp>

namespace assay::reports {

// Returns the members of a report that follow from its verdicts: totals, marks, classes, operators, rulings,
// constraints, certified. The report fits its schema.
nlohmann::json recounted_report(const nlohmann::json& report);

// Returns the members of a certificate that follow from the report's verdicts: conclusion, totals, operators, rulings.
nlohmann::json recounted_certificate(const nlohmann::json& report);

}  // namespace assay::reports
