// SPDX-License-Identifier: Apache-2.0
// The exact answer of Transpose: an index of the output, each entry put back where perm has it from.
#include "oracles/rules/rules.h"
#include "reference/operator.h"

namespace assay::oracles {
namespace {

// The axis of data that is the k-th of the output.
std::size_t source(const Call& call, std::size_t k) {
  const bool is_stated = call.states("perm") && !call.ints("perm").empty();
  return is_stated ? static_cast<std::size_t>(call.ints("perm")[k]) : call.shape("data").size() - 1 - k;
}

std::optional<Shape> shape(const Call& call, const Readings&) {
  Shape out = call.shape("data");
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = call.shape("data")[source(call, k)];
  return out;
}

}  // namespace

Oracle transpose() {
  return moved(shape, [](const CopyPoint& p) {
    const Shape at = p.at();
    Shape from(at.size());
    for (std::size_t k = 0; k < at.size(); ++k) from[source(p.call, k)] = at[k];
    return origin(p.call.shape("data"), from);
  });
}

}  // namespace assay::oracles
