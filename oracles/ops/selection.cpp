// SPDX-License-Identifier: Apache-2.0
// The exact answers of EyeLike, which reads no data, OneHot and Compress, which copy, and NonZero, which tells
// positions.
#include "oracles/exact/operands.h"
#include "oracles/rules/moving.h"
#include "reference/flat_index.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {
namespace {

const Tensor& data_of(const Call& call, std::string_view input) { return *call.node().inputs.find(input)->second.data; }

Integer depth(const Call& call) { return truncated(ratio(scalar(data_of(call, "depth"), 0))); }

// Readings of M64 refuse indices without axes.
std::optional<Shape> one_hot_shape(const Call& call, const Readings& readings) {
  if (call.rank("indices") == 0 && readings.of("M64") == "refuse") return std::nullopt;
  Shape out = call.shape("indices");
  const std::size_t axis = axis_in(call.rank("indices") + 1, call.integer("axis"));
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<Int>(depth(call)));
  return out;
}

Origin on_or_off(const CopyPoint& p, const Operands& in) {
  Shape at = p.at();
  const auto axis = at.begin() + static_cast<std::ptrdiff_t>(axis_in(std::ssize(at), p.call.integer("axis")));
  const Integer own = *axis;
  at.erase(axis);
  const Scalar index = scalar(*in[0], flat_index(p.call.shape("indices"), at));
  if (!index.is_finite()) return {0, 2};
  Integer meant = truncated(ratio(index));
  const bool wraps = !p.call.definition().ruling("M19") || p.readings.of("M19") == "wrap";
  if (meant < 0 && wraps) meant += depth(p.call);
  return {meant == own ? 1 : 0, 2};
}

// Where the element stands that is the n-th of which a condition is true.
Int nth_true(const Ints& condition, Int n) {
  Int at = 0;
  for (const Int holds : condition) {
    if (holds != 0 && n-- == 0) break;
    ++at;
  }
  return at;
}

Int count_true(const Call& call) {
  const Ints condition = call.ints("condition");
  return std::ssize(condition) - std::ranges::count(condition, 0);
}

// NaN is no zero; of strings the empty one is.
bool is_zero(const Tensor& x, Int at) {
  const Scalar value = scalar(x, at);
  return value.text ? value.text->empty() : value.is_zero();
}
Int nonzeros(const Tensor& x) {
  Int count = 0;
  for (Int i = 0; i < x.elements(); ++i) count += is_zero(x, i) ? 0 : 1;
  return count;
}

std::optional<Shape> nonzero_shape(const Call& call, const Readings& readings) {
  const Tensor& x = data_of(call, "X");
  if (x.dtype() == DType::string && readings.of("M16") == "refuse") return std::nullopt;
  const bool is_list = call.rank("X") == 0 && readings.of("M12") == "as-1d";
  return Shape{is_list ? 1 : call.rank("X"), nonzeros(x)};
}

Int coordinate(const Call& call, Int index) {
  const Tensor& x = data_of(call, "X");
  const Int count = nonzeros(x);
  Int at = 0;
  for (Int left = index % count; left > 0 || is_zero(x, at); ++at) left -= is_zero(x, at) ? 0 : 1;
  return call.rank("X") == 0 ? 0 : position(call.shape("X"), at)[static_cast<std::size_t>(index / count)];
}

}  // namespace

Oracle eye_like() {
  return told([](const Call& call, const Readings&) { return std::optional<Shape>(call.shape("input")); },
              [](const Call& call, Int index) {
                const Integer row = index / call.dim("input", 1), column = index % call.dim("input", 1);
                return Int{column - row == Integer(call.integer("k"))};
              });
}

Oracle one_hot() { return moved_by_data(one_hot_shape, on_or_off); }

Oracle compress() {
  return moved(
      [](const Call& call, const Readings&) {
        Shape out = call.shape("input");
        if (call.states("axis"))
          out[axis_in(call.rank("input"), call.integer("axis"))] = count_true(call);
        else
          out = {count_true(call)};
        return std::optional<Shape>(out);
      },
      [](const CopyPoint& p) {
        const Ints condition = p.call.ints("condition");
        if (!p.call.states("axis")) return Origin{nth_true(condition, p.index)};
        Shape at = p.at();
        Int& along = at[axis_in(p.call.rank("input"), p.call.integer("axis"))];
        along = nth_true(condition, along);
        return origin(p.call.shape("input"), at);
      });
}

Oracle nonzero() { return told(nonzero_shape, coordinate); }

}  // namespace assay::oracles
