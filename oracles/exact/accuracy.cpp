// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/accuracy.h"

#include <algorithm>
#include <array>
#include <utility>

namespace assay::oracles {
namespace {

constexpr std::array<std::pair<Level, std::string_view>, 6> names{{{Level::L0, "L0"},
                                                                   {Level::L1, "L1"},
                                                                   {Level::L2, "L2"},
                                                                   {Level::L2t, "L2t"},
                                                                   {Level::L3, "L3"},
                                                                   {Level::widest, "widest"}}};

}  // namespace

std::string_view name(Level level) { return names[static_cast<std::size_t>(level)].second; }

std::optional<Level> level_named(std::string_view name) {
  const auto found = std::ranges::find(names, name, &std::pair<Level, std::string_view>::second);
  if (found == names.end()) return std::nullopt;
  return found->first;
}

}  // namespace assay::oracles
