// SPDX-License-Identifier: Apache-2.0
// Stream: the endless suite of a fuzz campaign. The case of an index is a function of the selection, the seed and the
// index, and of nothing that a backend did (decisions 7).
//
// Indices take turns over the operators, then over their versions and types. An eighth are near misses, which take
// turns through every constraint that can be broken alone; of the others an eighth are as deployed models have them.
// The first `steered_indices` are steered: of a few candidates the one is taken that has most pairs of features no
// earlier epoch has. After that coverage has nothing left to ask for that draws can give, and a case is one draw.
#pragma once

#include "suites/planning/suite.h"

#include <cstdint>
#include <memory>

namespace assay::suites {

inline constexpr std::uint64_t steering_epoch = 512, steered_indices = 16 * steering_epoch;

class Stream {
 public:
  enum class Steering { on, off };  // off: to see what steering does

  // Throws InputError where the selection is empty.
  Stream(const Selection& selection, std::uint64_t seed, Steering steering = Steering::on);
  ~Stream();
  Stream(Stream&&) noexcept;

  std::uint64_t index() const;  // of the case that next() gives
  SuiteCase next();
  void skip();              // passes that case over, at no cost
  double coverage() const;  // the share of the pairs of features that steering has seen, as of the last epoch

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay::suites
