// SPDX-License-Identifier: Apache-2.0
// Errors: how far off the values of many cases were, as histograms over powers of two. Of each case the worst element
// counts. Information: no verdict comes of it.
#pragma once

#include "oracles/judging/verdict.h"
#include "reference/case.h"

#include <map>

namespace assay::suites {

struct Errors {
  struct Bin {
    Int inside = 0, outside = 0;  // of the level asked for
    bool operator==(const Bin&) const = default;
  };
  // Bin k counts what is in [2^k, 2^(k+1)); the first and the last one also what lies beyond.
  static constexpr int first_bin = -24, last_bin = 40;

  Int cases = 0;                  // whose values were judged
  Int exact = 0;                  // of these, every element correctly rounded
  Int special = 0;                // wrong, and no distance to tell: NaN or an infinity
  std::map<int, Bin> ulp, share;  // of Verdict::worst_ulp and worst_share, where they are above 0

  void add(const oracles::Verdict& verdict);
  void merge(const Errors& other);
  bool operator==(const Errors&) const = default;
};

// The type a case is filed under: that of its first input.
DType first_type(const Case& c);

}  // namespace assay::suites
