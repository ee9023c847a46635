// SPDX-License-Identifier: Apache-2.0
// Draws graphs: chains of nodes that optimisers rewrite, each with what a rewriting forgets (graphs.md 5 and 9). Data
// are small integers, so that most graphs have one right answer; which do, oracles/graphs says.
#pragma once

#include "reference/graph_case.h"

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace assay::generators {

// Chains as the names of their operators: "Conv Mul Relu", "Gather* Concat".
std::span<const std::string_view> graph_patterns();

struct DrawnGraph {
  GraphCase graph;
  std::string_view pattern;            // that it was drawn for; other nodes may stand before, behind and among it
  std::set<std::string_view> hazards;  // "second consumer", "constant of another shape", …
};

// The graph of an index: every pattern comes once in so many indices as there are.
DrawnGraph draw_graph(std::uint64_t seed, std::uint64_t index);

}  // namespace assay::generators
