// SPDX-License-Identifier: Apache-2.0
// Shrinking: from a case that fails to the simplest that fails in the same way, within a bounded number of cases.
#pragma once

#include "suites/campaign/signature.h"

#include <functional>

namespace assay::suites {

// Asks a case and judges what comes back. Throws nothing for what a backend does.
using RunCase = std::function<Answered(const Case&)>;

struct Shrinking {
  int most_runs = 200;
  oracles::Judgement judgement = {};
  // What a simpler case must show besides the signature; empty: nothing.
  std::function<bool(const Case&, const oracles::Outcome&)> keeps = {};
  // Tells whether there is no time for another case; empty: there always is.
  std::function<bool()> is_late = {};
};

struct ShrinkResult {
  Case c;
  Answered answered;        // to `c`
  int runs = 0;             // besides the first
  bool is_minimal = false;  // no simpler case fails in the same way; else the budget ran out
};

// Greedy descent over generators::simpler, the same for the same answers: each candidate whose signature is that of the
// failure becomes the case, and the search goes on from there. No line is run twice. A candidate that is less plain
// (plainness.h) is never run: a failure does not end on a clause, an empty tensor or NaN that it did not rest on.
ShrinkResult shrink(Case failing, Answered answered, const RunCase& run_case, const Shrinking& shrinking = {});

}  // namespace assay::suites
