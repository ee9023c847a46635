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
#include <set>
#include <string>

namespace assay::oracles {

// Tells whether a node of somebody's model may stand in a graph with one right answer, or at its end.
bool may_be_exact(const Call& call);

// Tells whether there may be data for which a graph has one right answer, by its operators alone.
bool may_be_exact(const GraphCase& graph);

struct Exactness {
  GraphData outputs;  // by our own kernels
  // Says why there is more than one right answer: "e may need 27 bits of 24"; empty where there is one.
  std::string obstacle;
  // Values of nodes that round and that take exact ones, as a Sigmoid behind a Conv, and of what follows them. No
  // evaluation is further off than `coarse`, which only a wrong value exceeds.
  std::set<std::string, std::less<>> rounded;
  double coarse = 0;
};
// Works a graph out and looks at every step; a value goes once no step needs it.
Exactness exactness_of(const GraphCase& graph, const GraphData& leaves, int threads);

// Names a clause of several readings that a step rests on, as far as so many elements of each output tell.
std::optional<std::string> ruling_touched(const GraphStep& step, const GraphData& values, Int most_elements);

// An element of a tensor of numbers.
double number_in(const Tensor& tensor, Int element);

}  // namespace assay::oracles
