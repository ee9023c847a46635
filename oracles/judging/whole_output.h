// SPDX-License-Identifier: Apache-2.0
// Arithmetic that changes its inputs before it computes (TF32, bf16, flushed subnormals), held against a whole output:
// it changes every element it touches, so one spoilt element beside others that keep full accuracy is not explained.
#pragma once

#include "oracles/exact/enclosure.h"

#include <string_view>
#include <vector>

namespace assay::oracles {

// One data set of one call, and what came back for it.
struct Computed {
  const Call& call;
  const Operands& operands;
  const Readings& readings;
  const Arithmetic& declared;
  std::size_t output;  // of those asked for
  const Tensor& got;
};

// Returns whether `arithmetic`, by the name a Tolerance gives it, computes every element of all these outputs up to the
// rounding of its sums. Of arithmetic without a known change of inputs, every element was judged under it already; what
// changes nearly all elements has to show in most (`are_most_off`).
bool fits_whole(std::string_view arithmetic, const std::vector<Computed>& outputs, bool are_most_off);

}  // namespace assay::oracles
