// SPDX-License-Identifier: Apache-2.0
// Telling: which output of which data set shows that an answer is wrong, and what is right there.
#pragma once

#include "oracles/judging/expected.h"
#include "suites/campaign/provenance.h"
#include "suites/campaign/signature.h"

#include <vector>

namespace assay::suites {

// A case and how it was judged; what it refers to outlives it. `outcome` is null where what came back was not kept.
struct JudgedCase {
  const Case& c;
  const oracles::Verdict& verdict;
  const oracles::Outcome* outcome;
  const Provenance& provenance;
};

// Tells whether what is wrong is the shape or the type of an output, whatever is in it.
bool is_about_type(const oracles::Verdict& verdict);

// Finds the data set that shows a wrong answer, the first whose output is not admitted, and the output: of those asked
// for, the one that offends.
int telling_set(const JudgedCase& judged);
std::size_t telling_output(const Case& c, const oracles::Verdict& verdict, const oracles::Outcome* outcome);

// Returns what came back for an output, or null where it was not kept.
const Tensor* output_of(const oracles::Outcome* outcome, int set, std::size_t output);

// Tells whether the outputs are too large to be looked at whole: of those it is the element that the verdict names.
bool has_large_outputs(const Case& c);

// Returns type and shape of the right output, under the rulings.
TensorType right_type(const Case& c, int set, std::size_t output);

// Returns what is admitted of an output under each reading, at the level that was judged.
std::vector<oracles::Admitted> answers_of(const JudgedCase& judged, int set, std::size_t output);

}  // namespace assay::suites
