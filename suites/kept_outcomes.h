// SPDX-License-Identifier: Apache-2.0
// Kept outcomes: what came back for the cases that were answered wrongly, to be looked at when all are asked. Within a
// budget of bytes the smallest ones are kept: a function of what came back, and not of the order it came in.
#pragma once

#include "suites/inquiry.h"

#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace assay::suites {

class KeptOutcomes {
 public:
  explicit KeptOutcomes(std::size_t most_bytes = std::size_t{64} << 20) : most_bytes_(most_bytes) {}

  // By one thread at a time.
  void see(const Conclusion& conclusion);
  const oracles::Outcome* of(std::size_t index) const;

 private:
  std::size_t most_bytes_, bytes_ = 0;
  std::map<std::size_t, oracles::Outcome> outcomes_;
  std::set<std::pair<std::size_t, std::size_t>> by_size_;  // bytes, index
};

}  // namespace assay::suites
