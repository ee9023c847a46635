// SPDX-License-Identifier: Apache-2.0
#include "suites/plainness.h"

#include "oracles/case_class.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::suites {
namespace {

bool is_empty(const Shape& shape) { return std::ranges::find(shape, 0) != shape.end(); }

bool has_empty_input(const Case& c) {
  return std::ranges::any_of(c.node.inputs, [](const auto& input) {
    return input.second.presence == Input::Presence::given && is_empty(input.second.type.shape);
  });
}

bool is_nonfinite(const Case& c) {
  return std::ranges::any_of(c.sources, [](const auto& source) { return assay::is_nonfinite(source.second.recipe); });
}

}  // namespace

bool Plainness::is_within(const Plainness& other) const {
  return (other.is_empty || !is_empty) && (other.is_nonfinite || !is_nonfinite) &&
         std::ranges::all_of(unclear, [&](const std::string& id) {
           return std::ranges::find(other.unclear, id) != other.unclear.end();
         });
}

Plainness plainness_of(const Case& c) {
  Plainness plainness{{}, has_empty_input(c), is_nonfinite(c)};
  const Call call = c.call();
  if (!c.definition().violated(call).empty()) return plainness;
  plainness.unclear = oracles::touched(c);
  const auto output = oracles::oracle_of(c.version).shape(call, {});
  plainness.is_empty |= output && is_empty(*output);
  return plainness;
}

}  // namespace assay::suites
