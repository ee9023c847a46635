// SPDX-License-Identifier: Apache-2.0
// AnswerCheck: how a script tells a right answer from a wrong one, in numpy.
#pragma once

#include "suites/triage/telling.h"

#include <string>
#include <vector>

namespace assay::suites {

struct AnswerCheck {
  std::vector<std::string> lines;    // what the expressions refer to; `got` is what came
  std::string shown, wanted, right;  // expressions: what came, what should have, whether it did
};

// Makes the check of an output of a legal case. `is_stacked`: either data set may show what is wrong, and `got` has the
// outputs of both, one behind the other. The error says why there is no script, in words that follow "because".
Result<AnswerCheck> answer_check_of(const JudgedCase& judged, int set, std::size_t output, bool is_stacked);

}  // namespace assay::suites
