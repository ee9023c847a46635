// SPDX-License-Identifier: Apache-2.0
#include "suites/kept_outcomes.h"

namespace assay::suites {
namespace {

std::size_t bytes_of(const oracles::Outcome& outcome) {
  std::size_t bytes = 0;
  for (const std::vector<Tensor>& set : outcome.sets)
    for (const Tensor& tensor : set) bytes += tensor.bytes().size();
  return bytes;
}

bool is_of_interest(const Conclusion& conclusion) {
  using oracles::State;
  const State state = conclusion.verdict.state;
  return conclusion.outcome.kind == oracles::Outcome::Kind::outputs &&
         (state == State::fail || state == State::below || state == State::contested);
}

}  // namespace

// The largest go first, so that in the end the smallest are left that fit, in whatever order they came.
void KeptOutcomes::see(const Conclusion& conclusion) {
  if (!is_of_interest(conclusion)) return;
  const std::size_t bytes = bytes_of(conclusion.outcome);
  outcomes_[conclusion.index] = conclusion.outcome;
  by_size_.emplace(bytes, conclusion.index);
  for (bytes_ += bytes; bytes_ > most_bytes_;) {
    const auto [most, index] = *by_size_.rbegin();
    by_size_.erase({most, index});
    outcomes_.erase(index);
    bytes_ -= most;
  }
}

const oracles::Outcome* KeptOutcomes::of(std::size_t index) const {
  const auto found = outcomes_.find(index);
  return found == outcomes_.end() ? nullptr : &found->second;
}

}  // namespace assay::suites
