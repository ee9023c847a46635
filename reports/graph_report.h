// SPDX-License-Identifier: Apache-2.0
// GraphReport: what a campaign over drawn graphs found, causes first.
#pragma once

#include "reports/pieces.h"
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
};

// The name of the folder of a finding: the id of its line.
std::string folder_name(const suites::GraphFinding& finding);

// Makes what graphs.schema.json and, under "graphs", report.schema.json say of a campaign over graphs.
Json graphs_json(const Invocation& invocation, const suites::GraphHarvest& harvest);
// Prints how many graphs were run and came out how, then the causes.
void write_graphs(const Invocation& invocation, const suites::GraphHarvest& harvest, Colour colour, std::ostream& out,
                  std::size_t most_causes);

// The JSON document of graphs.schema.json. Everything but `run` is a function of the seed, the graphs and the backend.
void write_json(const GraphReport& report, std::ostream& out);
void write_session(const GraphReport& report, std::string_view file, Colour colour, std::ostream& out,
                   std::size_t most_causes = few_causes);

}  // namespace assay::reports
