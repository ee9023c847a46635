// SPDX-License-Identifier: Apache-2.0
// Makes a graph that fails as small as it can be while it still does (graphs.md 7).
#pragma once

#include "reference/graph_case.h"

#include <functional>

namespace assay::suites {

// Fewer outputs, then fewer nodes: a value in the middle becomes one that goes in, with its exact data. Then fewer
// attributes, smaller extents, plainer data. Stops after so many graphs were tried.
GraphCase shrunk(const GraphCase& graph, const std::function<bool(const GraphCase&)>& still_fails, int most_tries);

}  // namespace assay::suites
