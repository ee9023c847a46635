// SPDX-License-Identifier: Apache-2.0
// Evidence: the cases of a report that break conformance, grouped as a person would excuse them, and those that do not.
#pragma once

#include "suites/predicates/predicate.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

// Cases that break in one way.
struct Breaking {
  std::string word;                 // "fail", or a mark: "unstable"
  std::set<std::string> because;    // "shape", "value"
  std::string says = {};            // the sentence of the cause, where the report has one
  std::vector<Case> cases = {};     // of one operator, in one or more versions
  std::vector<Case> simplest = {};  // to which some of them were shrunk
  // What the report says of where they break: each holds for no case of theirs that passes. A fuzz report says nothing.
  std::vector<Predicate> where = {};
};

struct CaseEvidence {
  std::vector<Breaking> groups;
  std::map<OpVersion, std::vector<Case>> passing;  // legal models
  std::map<OpVersion, std::vector<Case>> refused;  // near misses
  std::string about_passing = {};  // how the passing cases are known, where the report does not keep them
};

// Reads a report of certify, which groups by operator version, breach and what a refusal said, or of fuzz, which groups
// by cause. A fuzz report keeps no case that passed: they are drawn again from its seed. Breaches that the report marks
// as expected are left out. Throws InputError where it is no report.
CaseEvidence read_evidence(std::string_view report, std::string_view name);

}  // namespace assay::suites
