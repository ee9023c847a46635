// SPDX-License-Identifier: Apache-2.0
// ExhaustReport: what functions give over every input of their type. It says more of a few operators than a suite
// does, and nothing of the others.
#pragma once

#include "reports/report.h"
#include "suites/campaign/exhaust.h"

#include <filesystem>
#include <iosfwd>
#include <string_view>
#include <vector>

namespace assay::reports {

struct ExhaustReport {
  suites::Description backend;
  Invocation invocation;
  Run run;
  std::vector<suites::Accuracy> functions;

  bool conforms() const;
};

// The JSON document of exhaust.schema.json.
void write_json(const ExhaustReport& report, std::ostream& out);
// Reads what an earlier run of the same came to, of every function the report has as well. Throws InputError where the
// file is no such report, or of another backend.
void resume(ExhaustReport& report, const std::filesystem::path& file);
// A line for each function, what is wrong with it, and the conclusion.
void write_session(const ExhaustReport& report, std::string_view file, std::ostream& out);
// What `assay certify` prints of them: a line for each type, and what is wrong.
void write_every_input(const Report& report, Colour colour, std::ostream& out);
// How many ulp L2 allows about the middle of each of the bins of the inputs.
std::vector<double> allowed_ulps(const Definition& definition, DType type);
// A page without a script: the error over the inputs, function by function.
void write_page(const ExhaustReport& report, std::ostream& out);

}  // namespace assay::reports
