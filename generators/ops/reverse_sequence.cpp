// SPDX-License-Identifier: Apache-2.0
// ReverseSequence: sequences of every length from none to all the time there is, time first or second.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(stratum % shape_strata);
  while (shape.size() < 2) insert_axis(shape, between(1, 5));
  Case c = moving(definition, type, shape);
  const bool is_time_first = chance(50);
  write_default(c.node, definition, "time_axis", is_time_first ? 0 : 1, 0);
  write_default(c.node, definition, "batch_axis", is_time_first ? 1 : 0, 1);
  Ints lengths;
  for (Int i = 0; i < shape[is_time_first ? 1 : 0]; ++i) lengths.push_back(between(0, shape[is_time_first ? 0 : 1]));
  state(c, "sequence_lens", lengths);
  return c;
}

// Gives as many lengths as there are sequences, none longer than there is time.
void refit(Case& c) {
  const Call call = c.call();
  const Int time = call.integer("time_axis"), batch = call.integer("batch_axis");
  if (call.rank("input") < 2 || time + batch != 1 || time * batch != 0) return;
  Ints lengths = call.ints("sequence_lens");
  lengths.resize(static_cast<std::size_t>(call.dim("input", batch)));
  for (Int& length : lengths) length = std::clamp<Int>(length, 0, call.dim("input", time));
  state(c, "sequence_lens", lengths);
}

bool same_axes(Case& c) {
  const Int axis = pick<Int>({0, 1, 2, -1});
  c.node.attribute(pick({"time_axis", "batch_axis"}), Attribute(axis));
  return true;
}

}  // namespace

const OperatorGenerator& reverse_sequence() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<2>, refit);
    made.damages.push_back({"another axis", same_axes});
    return made;
  }();
  return all;
}

}  // namespace assay::generators
