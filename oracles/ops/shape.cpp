// SPDX-License-Identifier: Apache-2.0
// The exact answers of Shape and Size, which read no data.
#include "oracles/rules/rules.h"
#include "reference/operator.h"

namespace assay::oracles {
namespace {

// The axes of data from start on and before end.
std::pair<Int, Int> range(const Call& call) {
  const Int rank = call.rank("data");
  const auto inside = [rank](Int axis) {
    const Int counted = axis < 0 ? axis + rank : axis;
    return counted < 0 ? 0 : counted > rank ? rank : counted;
  };
  return {call.states("start") ? inside(call.integer("start")) : 0,
          call.states("end") ? inside(call.integer("end")) : rank};
}

std::optional<Shape> one_each(const Call& call, const Readings&) {
  const auto [start, end] = range(call);
  return Shape{end > start ? end - start : 0};
}

}  // namespace

Oracle shape() {
  return told(one_each, [](const Call& call, Int index) { return call.dim("data", range(call).first + index); });
}

Oracle size() {
  return told([](const Call&, const Readings&) { return std::optional<Shape>(Shape()); },
              [](const Call& call, Int) { return volume(call.shape("data")); });
}

}  // namespace assay::oracles
