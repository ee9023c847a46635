// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/plainness.h"

#include "oracles/judging/case_class.h"
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

// An average over no cell is NaN without any in the data. Larger outputs are not looked at: what is kept is small.
constexpr Int most_outputs = 4096;

bool has_nonfinite_output(const Case& c) {
  for (const auto& answer : oracles::oracle_of(c.version).answer(c.call(), operands(c, 0), {}, {})) {
    const Int count = volume(answer->shape());
    for (Int i = 0; i < count && count <= most_outputs; ++i)
      if (const oracles::Kind kind = answer->element(i).kind;
          kind != oracles::Kind::finite && kind != oracles::Kind::unscored)
        return true;
  }
  return false;
}

}  // namespace

bool Plainness::is_within(const Plainness& other) const {
  return (other.is_empty || !is_empty) && (other.is_nonfinite || !is_nonfinite) &&
         std::ranges::all_of(unclear, [&](const std::string& id) {
           return std::ranges::find(other.unclear, id) != other.unclear.end();
         });
}

Plainness plainness_of(const Case& c) {
  Plainness plainness{{}, has_empty_input(c), has_nonfinite_data(c)};
  const Call call = c.call();
  if (!c.definition().violated(call).empty()) return plainness;
  plainness.unclear = oracles::touched(c);
  const auto output = oracles::oracle_of(c.version).shape(call, {});
  plainness.is_empty |= output && is_empty(*output);
  plainness.is_nonfinite = plainness.is_nonfinite || has_nonfinite_output(c);
  return plainness;
}

}  // namespace assay::suites
