// SPDX-License-Identifier: Apache-2.0
// (Case, Outcome) -> Verdict. The rule of numerics 2.2 with the collapse of 2.4: accept iff
// RN_T(y - B) <= got <= RN_T(y + B), with B proven. Comparison of floats happens here and nowhere else.
#pragma once

#include "oracles/verdict.h"
#include "reference/case.h"

namespace assay::oracles {

struct Judgement {
  Level level = Level::L2;  // asked for; a value outside it and inside the widest interval is `below`
  Arithmetic arithmetic;    // declared by the backend
};

// Judges what a backend did with a case. Never throws for what a backend returned.
Verdict judge(const Case& c, const Outcome& outcome, const Judgement& judgement = {});

// The class of a case (spec B.1), one label each: "valid-core", "valid-contested", "valid-degenerate", "nonfinite",
// "invalid-static".
std::string_view class_of(const Case& c);

}  // namespace assay::oracles
