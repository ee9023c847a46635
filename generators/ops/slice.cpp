// SPDX-License-Identifier: Apache-2.0
// Slice: both directions, bounds before, on and past both ends and as far out as integers go, axes in any order.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/shrink.h"
#include "reference/operator.h"

#include <limits>
#include <numeric>

namespace assay::generators {
namespace {

template <class T>
Int extreme() {
  return chance(50) ? Int{std::numeric_limits<T>::max()} : Int{std::numeric_limits<T>::min()};
}

Int draw_bound(Int extent, bool is_narrow) {
  if (chance(12)) return is_narrow ? extreme<std::int32_t>() : chance(70) ? extreme<Int>() : extreme<std::int32_t>();
  return chance(25) ? pick({-extent - 1, -extent, Int{-1}, Int{0}, extent - 1, extent, extent + 1})
                    : between(-extent - 1, extent + 1);
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape data = draw_extents(stratum % shape_strata);
  if (data.empty()) data = {between(1, 33)};
  Case c = moving(definition, type, data);
  const Int rank = std::ssize(data), count = chance(40) ? rank : between(1, rank);
  const bool has_steps = definition.input("steps"), is_narrow = has_steps && chance(30);
  Ints axes(data.size()), starts, ends, steps;
  std::iota(axes.begin(), axes.end(), Int{0});
  const bool lists_axes = chance(60), states_steps = has_steps && chance(75);
  if (lists_axes) axes = any_order(axes, rank, chance(60));
  axes.resize(static_cast<std::size_t>(count));
  for (const Int axis : axes) {
    const Int extent = data[static_cast<std::size_t>((axis + rank) % rank)];
    const bool is_back = states_steps && chance(45), is_whole = chance(25);
    starts.push_back(is_whole ? (is_back ? -1 : 0) : draw_bound(extent, is_narrow));
    ends.push_back(is_whole ? (is_back ? -extent - 1 : extent) : draw_bound(extent, is_narrow));
    const Int far = is_narrow ? Int{std::numeric_limits<std::int32_t>::max()} : std::numeric_limits<Int>::max();
    const Int step = chance(8) ? far : pick<Int>({1, 1, 2, 3, extent + 1});
    steps.push_back(is_back ? (step == far ? -far - 1 : -step) : step);
  }
  const auto list = [&](const char* name, const Ints& values) {
    if (definition.input(name)) {
      c.node.input(name, {is_narrow ? DType::i32 : DType::i64, {}});
      c.sources[name] = {{}, chance(50)};
    }
    state(c, name, values);
  };
  list("starts", starts);
  list("ends", ends);
  if (lists_axes)
    list("axes", axes);
  else if (states_steps || (has_steps && chance(10)))
    c.node.empty_input("axes");
  if (states_steps)
    list("steps", steps);
  else if (has_steps && chance(10))
    c.node.empty_input("steps");
  return c;
}

bool change_axes(Case& c, void (*change)(Ints& axes, Int rank)) {
  if (!c.call().states("axes") || stated(c, "axes").size() < 2) return false;
  Ints axes = stated(c, "axes");
  change(axes, first_axes(c));
  state(c, "axes", axes);
  return true;
}

}  // namespace

const OperatorGenerator& slice() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<1>);
    made.damages.push_back({"an axis listed twice", [](Case& c) {
                              return change_axes(c, [](Ints& axes, Int) { axes.back() = axes.front(); });
                            }});
    made.damages.push_back({"an axis from the end", [](Case& c) {
                              return change_axes(c, [](Ints& axes, Int rank) { axes.front() -= rank; });
                            }});
    return made;
  }();
  return all;
}

}  // namespace assay::generators
