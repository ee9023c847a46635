// SPDX-License-Identifier: Apache-2.0
// Exactness: the graphs that have one right answer, however an optimiser rewrites them (graphs.md 1).
//
// Every value has an envelope (M, H, g): M bounds the magnitude of its elements with every subtraction turned into an
// addition, H is M as if nothing had been clipped, and the power of two g divides every term of every element. Where
// H <= 2^p g holds of every value, p the precision of its type, and all terms stay in the normal range, no operation of
// any rewriting by the laws of arithmetic rounds: reassociation, distribution, constants merged into others, fusion,
// blocking, FMA, evaluation in a wider type. What a backend computes then equals the composition of the nodes, the sign
// of a zero apart.
#pragma once

#include "reference/graph_case.h"

#include <optional>
#include <string>

namespace assay::oracles {

// Tells whether there are data for which a node of such a call does not round: the operators of the table.
bool may_be_exact(const Call& call);

// Returns why a graph with these values, all that `evaluate` gives, has more than one right answer: "e may need 27 bits
// of 24"; nothing where it has one.
std::optional<std::string> obstacle_to_exactness(const GraphCase& graph, const GraphData& values);

// Names a step that rests on a clause of several readings, as far as so many elements of each output tell.
std::optional<std::string> ruling_touched(const GraphCase& graph, const GraphData& values, Int most_elements);

}  // namespace assay::oracles
