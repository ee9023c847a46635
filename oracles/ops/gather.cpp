// SPDX-License-Identifier: Apache-2.0
// The exact answers of Gather, GatherElements and GatherND: data at the position of an element, but for what an index
// says.
#include "oracles/rules/rules.h"
#include "reference/flat_index.h"
#include "reference/operator.h"

namespace assay::oracles {
namespace {

std::size_t axis_of(const Call& call) { return axis_in(call.rank("data"), call.integer("axis")); }

// The index that stands at that position of indices, counted from the front.
Int index_at(const Call& call, const Shape& at) {
  const Int said = call.ints("indices")[static_cast<std::size_t>(flat_index(call.shape("indices"), at))];
  return said < 0 ? said + call.shape("data")[axis_of(call)] : said;
}

std::optional<Shape> with_axes_of_indices(const Call& call, const Readings&) {
  Shape out;
  for (std::size_t axis = 0; axis < call.shape("data").size(); ++axis)
    if (axis != axis_of(call))
      out.push_back(call.shape("data")[axis]);
    else
      out.insert(out.end(), call.shape("indices").begin(), call.shape("indices").end());
  return out;
}

// Readings of M15 refuse what is shorter than data off the axis.
std::optional<Shape> of_indices(const Call& call, const Readings& readings) {
  for (std::size_t axis = 0; axis < call.shape("data").size(); ++axis)
    if (axis != axis_of(call) && call.shape("indices")[axis] != call.shape("data")[axis] &&
        readings.of("M15") == "equal-off-axis")
      return std::nullopt;
  return call.shape("indices");
}

// The axes of indices but the last, and those of data that neither a batch nor a tuple names.
std::optional<Shape> with_axes_of_tuples(const Call& call, const Readings&) {
  Shape out(call.shape("indices").begin(), call.shape("indices").end() - 1);
  const Int named = call.shape("indices").back() + (call.states("batch_dims") ? call.integer("batch_dims") : 0);
  for (Int axis = named; axis < call.rank("data"); ++axis) out.push_back(call.dim("data", axis));
  return out;
}

}  // namespace

Oracle gather() {
  return moved(with_axes_of_indices, [](const CopyPoint& p) {
    Shape at = p.at();
    const auto first = at.begin() + static_cast<std::ptrdiff_t>(axis_of(p.call)), last = first + p.call.rank("indices");
    const Int index = index_at(p.call, {first, last});
    at.insert(at.erase(first, last), index);
    return origin(p.call.shape("data"), at);
  });
}

Oracle gather_elements() {
  return moved(of_indices, [](const CopyPoint& p) {
    Shape at = p.at();
    at[axis_of(p.call)] = index_at(p.call, p.at());
    return origin(p.call.shape("data"), at);
  });
}

Oracle gather_nd() {
  return moved(with_axes_of_tuples, [](const CopyPoint& p) {
    const Shape to = p.at(), &indices = p.call.shape("indices"), &data = p.call.shape("data");
    const auto rest = to.begin() + std::ssize(indices) - 1;
    const auto batch = static_cast<std::size_t>(p.call.states("batch_dims") ? p.call.integer("batch_dims") : 0);
    Shape from(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(batch)), in_tuple(to.begin(), rest);
    in_tuple.push_back(0);
    for (Int& k = in_tuple.back(); k < indices.back(); ++k) {
      const Int said = p.call.ints("indices")[static_cast<std::size_t>(flat_index(indices, in_tuple))];
      from.push_back(said < 0 ? said + data[from.size()] : said);
    }
    from.insert(from.end(), rest, to.end());
    return origin(data, from);
  });
}

}  // namespace assay::oracles
