// SPDX-License-Identifier: Apache-2.0
// Vetting: holds the nodes of a model against what a report or a certificate says of a backend, without running
// anything.
#pragma once

#include "suites/models/model_suite.h"

#include <filesystem>
#include <string>
#include <vector>

namespace assay::suites {

struct Vetted {
  ModelNode node;
  // What the report says of nodes like it: "cause 3: …". Empty: nothing speaks against it.
  std::vector<std::string> warnings;
  bool is_known = false;  // the report judged its operator version and type
};

// A node is warned about where a predicate of an exception of its operator version holds, where some cases break
// conformance and no predicate says which, and where its version or its type was not judged. Throws InputError where
// `report` is neither a report of certify nor a certificate.
std::vector<Vetted> vet(const ModelSource& source, const std::filesystem::path& report);

}  // namespace assay::suites
