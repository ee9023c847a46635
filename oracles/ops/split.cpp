// SPDX-License-Identifier: Apache-2.0
// The exact answer of Split: an element of input, as far behind the parts before as it stands in its own.
#include "oracles/rules/moving.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {
namespace {

std::size_t axis_of(const Call& call) {
  const bool is_known = call.states("axis") || call.definition().attribute("axis")->value;
  return axis_in(call.rank("input"), is_known ? call.integer("axis") : 0);
}

// Where each part begins, and where the last one ends.
Ints bounds(const Call& call) {
  const Int extent = call.shape("input")[axis_of(call)], count = std::ssize(call.requested_outputs());
  const bool states_input = call.has("split"),
             is_attribute = call.definition().attribute("split") && call.states("split");
  const Ints stated = states_input || is_attribute ? call.ints("split") : Ints();
  const Int length = extent / count + (extent % count == 0 ? 0 : 1);
  Ints all{0};
  for (Int i = 0; i < count; ++i)
    all.push_back(stated.empty() ? std::min(extent, (i + 1) * length)
                                 : all.back() + stated[static_cast<std::size_t>(i)]);
  return all;
}

// Readings of M6 refuse a last part of no element.
std::optional<std::vector<Shape>> parts(const Call& call, const Readings& readings) {
  const Ints at = bounds(call);
  const bool is_counted = call.definition().attribute("num_outputs") && call.states("num_outputs");
  if (is_counted && at.back() == at.end()[-2] && readings.of("M6") == "nonempty") return std::nullopt;
  std::vector<Shape> all(at.size() - 1, call.shape("input"));
  for (std::size_t i = 0; i < all.size(); ++i) all[i][axis_of(call)] = at[i + 1] - at[i];
  return all;
}

}  // namespace

Oracle split() {
  return moved_apart(parts, [](const CopyPoint& p, std::size_t output) {
    Shape at = p.at();
    at[axis_of(p.call)] += bounds(p.call)[output];
    return origin(p.call.shape("input"), at);
  });
}

}  // namespace assay::oracles
