// SPDX-License-Identifier: Apache-2.0
// Narrowing: a part of a suite, for who looks for something. What is left is no agreed suite: it says complete: false.
#pragma once

#include "suites/planning/suite.h"
#include "suites/predicates/predicate.h"

#include <filesystem>
#include <string>
#include <vector>

namespace assay::suites {

// Keeps the cases for which the predicate holds. Throws InputError where it can mean nothing for the operator versions
// of the suite.
Suite narrowed(Suite suite, const Predicate& predicate);

// Reads the lines of the cases that broke conformance in a report of certify or of fuzz, in its order: verdicts, and
// marks that breach. Contested ones only where `strict`. Throws InputError where the file is no such report.
std::vector<std::string> failed_lines(const std::filesystem::path& report, bool strict);

// Makes a suite of lines, each once, as far as the selection admits them.
Suite suite_of(const std::vector<std::string>& lines, const std::string& origin, const Selection& selection);

}  // namespace assay::suites
