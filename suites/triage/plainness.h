// SPDX-License-Identifier: Apache-2.0
// Plainness: what of a case would let somebody dispute that its failure is one.
#pragma once

#include "reference/case.h"

#include <string>
#include <vector>

namespace assay::suites {

struct Plainness {
  std::vector<std::string> unclear;  // the rulings with several readings that it touches, "A9"; of a legal case
  bool is_empty = false;             // an input, or the right output, has no element
  bool is_nonfinite = false;         // its data, or its right output, hold NaN or infinities

  // Says whether it has nothing disputable that the other lacks.
  bool is_within(const Plainness& other) const;
};
Plainness plainness_of(const Case& c);

}  // namespace assay::suites
