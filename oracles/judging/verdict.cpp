// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/verdict.h"

#include <algorithm>
#include <array>

namespace assay::oracles {
namespace {

constexpr std::array<std::string_view, 10> states{"pass",     "contested",   "below",   "fail",  "unscored",
                                                  "accepted", "unsupported", "refused", "error", "not run"};
constexpr std::array<std::string_view, 9> kinds{"outputs",       "unsupported", "refused", "crashed", "timed out",
                                                "out of memory", "garbled",     "shapes",  "missing"};

}  // namespace

Verdict::Verdict() = default;
Verdict::Verdict(const Verdict&) = default;
Verdict::Verdict(Verdict&&) noexcept = default;
Verdict& Verdict::operator=(const Verdict&) = default;
Verdict& Verdict::operator=(Verdict&&) noexcept = default;
Verdict::~Verdict() = default;

std::string_view name(State state) { return states[static_cast<std::size_t>(state)]; }
std::string_view name(Outcome::Kind kind) { return kinds[static_cast<std::size_t>(kind)]; }

std::optional<State> state_named(std::string_view name) {
  const auto found = std::ranges::find(states, name);
  if (found == states.end()) return std::nullopt;
  return static_cast<State>(found - states.begin());
}

}  // namespace assay::oracles
