// SPDX-License-Identifier: Apache-2.0
// GraphReport: what a campaign over drawn graphs found, causes first.
#pragma once

#include "reports/report.h"
#include "reports/terminal.h"
#include "suites/graphs/graph_campaign.h"

#include <iosfwd>
#include <string>

namespace assay::reports {

struct GraphReport {
  suites::GraphPlan plan;
  suites::Description backend;
  Invocation invocation;
  Run run;
  suites::GraphHarvest harvest;
  std::string folder;  // where the findings lie, "" for nowhere

  bool conforms() const { return harvest.causes.empty() && harvest.unsorted == 0; }
};

// The name of the folder of a finding: the id of its line.
std::string folder_name(const suites::GraphFinding& finding);

// The JSON document of graphs.schema.json. Everything but `run` is a function of the seed, the graphs and the backend.
void write_json(const GraphReport& report, std::ostream& out);
void write_session(const GraphReport& report, std::string_view file, Colour colour, std::ostream& out,
                   std::size_t most_causes = few_causes);

}  // namespace assay::reports
