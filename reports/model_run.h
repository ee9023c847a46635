// SPDX-License-Identifier: Apache-2.0
// Says what a report knows of the nodes of a model, one row each.
#pragma once

#include "reports/pieces.h"
#include "reports/report.h"

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace assay::reports {

struct NodeRow {
  const suites::ModelNode* node = nullptr;
  std::optional<oracles::State> state = {};  // the gravest of its cases; none where it has none
  std::string detail = {};                   // of that case; why there is none
  std::size_t cause = suites::no_cause;
  bool is_judged = false;
  double worst_ulp = 0, worst_share = 0;
};

// Expects a report about a model.
std::vector<NodeRow> node_rows(const Report& report);
Json model_json(const Report& report);
Json node_json(const NodeRow& row);
Json window_json(const Report& report, const suites::WindowResult& window);
// Prints how many nodes were judged, which were not, and those that do not simply pass; then the windows.
void write_model(const Report& report, bool shows_all, std::ostream& out);

}  // namespace assay::reports
