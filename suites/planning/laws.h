// SPDX-License-Identifier: Apache-2.0
// Laws: what must hold between the answers to related cases, whatever the right answers are. Each related case
// is a case with a line of its own, its data written out, so whoever reads of a breach can replay both sides.
//
// A law is asserted by the widest enclosures of both sides (decisions 7): where the data are exact those are points,
// and the law holds bit for bit up to the sign of zero. The answers themselves do not enter, only how far from them a
// correct implementation may land; so a law does not stand or fall with the oracle's values.
//
// Why no correct backend breaks one: a law is checked only where neither side is touched by a clause with several
// readings (padding and windows are settled then), nothing is infinite or NaN, and both sides are legal; what remains
// free is the arithmetic, and that is what the enclosures bound.
#pragma once

#include "oracles/exact/accuracy.h"
#include "reference/case.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

// How many cases are asked for a law as well: none, about an eighth for one law each, or all for every law.
enum class LawSampling { none, sample, all };

// A sum of elements of several answers that is zero for the exact ones. Case 0 is the case itself, the others are
// the related ones in order.
struct Link {
  int factor = 1;
  std::size_t case_index = 0;
  Int element = 0;  // row-major
};
using Equation = std::vector<Link>;

// One law, checked on one case: of its first set of data.
struct RelatedCases {
  std::string_view law;
  std::vector<Case> related;
  std::vector<Equation> equations;
};

struct MetamorphicRelation {
  std::string_view id;       // "stride by subsampling"
  std::string_view formula;  // in one line
  // The related cases; nothing where the law does not speak of this case. The case is legal.
  bool (*applies)(const Case& c, RelatedCases& relation);
};
std::span<const MetamorphicRelation> laws();
const MetamorphicRelation& law(std::string_view id);

// Tells whether a case is among those looked at; `sample` picks by its id.
bool is_picked(std::string_view case_id, LawSampling lawfulness);
// What to run beside a legal case.
std::vector<RelatedCases> related_cases(const Case& c, std::string_view case_id, LawSampling lawfulness);

// The answers, that of the case first, against the law. Empty where it is kept, or else how it is broken, in one line.
// The first answer has the right shape.
std::string breach_of_law(const Case& c, const RelatedCases& relation, std::span<const Tensor> answers,
                          const oracles::Arithmetic& declared);

// Where ONNX's inference contradicts the shape or type of a legal case, in words; else empty. It says nothing about a
// backend.
std::string inference_against_text(const Case& c);

}  // namespace assay::suites
