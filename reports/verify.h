// SPDX-License-Identifier: Apache-2.0
// Verify: whether a certificate holds. It is held against its schema and its digest, against the suite and the
// judgement of this tool, and against its report, from whose verdicts every number in both is worked out again
// (recount.h).
//
// What this cannot see: a report and a certificate that were rewritten together, verdict by verdict, in a consistent
// way. That takes a signature, or asking the backend again.
#pragma once

#include "suites/planning/suite.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::reports {

// A certificate that does not hold: where and why, in one line.
struct Broken {
  std::string where, why;  // "certificate /operators/3/level", "L0 instead of L2"
};

// Plans the suite of a request, as suites::plan does.
using Planner = std::function<suites::Suite(const suites::SuiteRequest&)>;

class Verification {
 public:
  // `tool_version` is ours.
  Verification(std::string certificate, std::string tool_version)
      : text_(std::move(certificate)), tool_version_(std::move(tool_version)) {}

  // Each returns the first thing that is wrong, and is called after those before it returned nothing.
  std::optional<Broken> broken_by_itself();
  // Throws InputError where another version of assay made the certificate: only that one can say.
  std::optional<Broken> broken_by_tool(const Planner& plan);
  std::optional<Broken> broken_by_report(const std::string& report_text);

  const nlohmann::json& certificate() const { return certificate_; }
  const nlohmann::json& report() const { return report_; }
  const suites::Suite& suite() const { return suite_; }  // that it is about, once broken_by_tool() returned nothing

 private:
  std::optional<Broken> broken_bonds(const std::string& report_text) const;
  std::optional<Broken> broken_verdicts() const;
  std::optional<Broken> broken_totals() const;

  std::string text_, tool_version_;
  nlohmann::json certificate_, report_;
  suites::Suite suite_;
};

// The cases that `replay` of them would run again, by index of the suite: those whose SHA-256 with the seed is
// smallest, so that whoever made the report could not choose them.
std::vector<std::size_t> sample(const suites::Suite& suite, std::size_t count, std::uint64_t seed);

}  // namespace assay::reports
