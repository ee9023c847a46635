// SPDX-License-Identifier: Apache-2.0
// FuzzReport: what a fuzz campaign found, causes first. It never certifies: the cases are no agreed suite.
#pragma once

#include "reports/report.h"
#include "suites/triage/fuzz.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace assay::reports {

struct FuzzReport {
  suites::FuzzPlan plan;
  suites::Description backend;
  Invocation invocation;
  Run run;
  suites::Harvest harvest;
  std::vector<suites::WorstCase> peaks;   // what bound seeking came to, by island
  std::vector<suites::Finding> findings;  // looked at again, shrunk
  std::vector<suites::Cause> causes;      // of these, the most frequent first
  std::vector<std::size_t> cause_of;      // by failure of the harvest, as suites::cause_of_each
  std::vector<bool> excused;              // by failure of the harvest: a ledger or a baseline knows it
  std::string folder;                     // where the findings lie, "" for nowhere
  bool complete = false;                  // the plan was carried out

  Int unexcused() const;
  bool conforms() const;  // nothing that counts was found
};

// The JSON document of fuzz.schema.json. Everything but `run` is a function of the seed, the cases and the backend.
void write_json(const FuzzReport& report, std::ostream& out);
void write_session(const FuzzReport& report, std::string_view file, Colour colour, std::ostream& out,
                   std::size_t most_causes = few_causes);

}  // namespace assay::reports
