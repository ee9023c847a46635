// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/broadcast.h"

#include "oracles/exact/operands.h"
#include "reference/operator.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace assay::oracles {
namespace {

// Tells whether the text leaves open what the axis of a call is (E9).
bool is_axis_unclear(const Call& call) {
  return call.states("axis") && (call.integer("axis") < 0 || call.integer("broadcast") == 0);
}

// The axis of A along which the first one of B lies.
std::size_t start_of(const Call& call, std::size_t a, std::size_t b) {
  if (call.integer("broadcast") == 0 || !call.states("axis")) return a - b;
  const Int stated = call.integer("axis");
  return static_cast<std::size_t>(stated < 0 ? static_cast<Int>(a) + stated : stated);
}

// Tells whether the second input lies along the channels of the first, unless it is read as broadcast (E10).
bool is_per_channel(const Call& call, const Readings& readings) {
  return call.definition().constraint("chan") && readings.of("E10") != "numpy";
}

// Tells whether scales and zero points belong to the elements of x, by the axis and in blocks of it.
bool is_quantizing(const Call& call) {
  return call.definition().input("x_zero_point") || call.definition().input("y_zero_point");
}

}  // namespace

// Windows-and-products 2.4: one for all, one for each element along the axis, or one for each block on it.
Meeting::Placed Meeting::scales(const Call& call, const Shape& shape, const Readings& readings) {
  const auto stated = [&](const char* name) { return call.definition().attribute(name) ? call.integer(name) : 0; };
  const Shape& x = call.shape("x");
  const bool is_blocked = stated("block_size") > 0 && !shape.empty() && shape.size() == x.size();
  if (!is_blocked && volume(shape) == 1) return {};
  const Int rank = std::ssize(x);
  const bool is_free = rank == 1 && call.definition().ruling("W43") && readings.of("W43") == "axis-ignored";
  const Int said = is_free ? 0 : stated("axis");
  const auto axis = static_cast<std::size_t>(said < 0 ? said + rank : said);
  if (!is_blocked) return {shape, {axis}};
  Placed out{shape, std::vector<std::size_t>(x.size())};
  std::iota(out.along.begin(), out.along.end(), std::size_t{0});
  out.blocked = axis;
  out.block = stated("block_size");
  return out;
}

std::optional<Meeting> Meeting::of(const Call& call, const Readings& readings) {
  const bool is_limited = call.definition().attribute("broadcast") != nullptr;
  if (is_limited && readings.of("E9") == "axis-invalid" && is_axis_unclear(call)) return std::nullopt;
  Meeting out;
  std::size_t axes = 0;
  for (const Parameter& input : call.definition().inputs) {
    if (call.has(input.name) && call.definition().counts(input.name))
      axes = std::max(axes, call.shape(input.name).size());
    // The output has the shape of X.
    if (is_per_channel(call, readings) || call.definition().constraint("scalar")) break;
  }
  out.shape_.assign(axes, 1);
  for (const Parameter& input : call.definition().inputs) {
    Placed& placed = out.inputs_.emplace_back();
    if (is_quantizing(call) && call.has(input.name) && out.inputs_.size() > 1)
      placed = scales(call, call.shape(input.name), readings);
    if (!call.has(input.name) || !call.definition().counts(input.name)) continue;
    placed.shape = call.shape(input.name);
    if (std::ranges::all_of(placed.shape, [](Int extent) { return extent == 1; })) placed.shape.clear();
    const bool is_second = is_limited && out.inputs_.size() == 2 && !placed.shape.empty();
    const bool is_slope = out.inputs_.size() == 2 && placed.shape.size() == 1 && is_per_channel(call, readings);
    const std::size_t first = is_second  ? start_of(call, axes, placed.shape.size())
                              : is_slope ? std::min<std::size_t>(1, axes - 1)
                                         : axes - placed.shape.size();
    placed.along.resize(placed.shape.size());
    std::iota(placed.along.begin(), placed.along.end(), first);
    for (std::size_t i = 0; i < placed.shape.size(); ++i)
      if (placed.shape[i] != 1) out.shape_[placed.along[i]] = placed.shape[i];
  }
  if (axes == 0 && call.definition().ruling("E54") && readings.of("E54") == "body") out.shape_ = {1};
  const bool is_read_otherwise = call.definition().constraint("chan") && !is_per_channel(call, readings);
  if (!is_read_otherwise || out.inputs_.back().shape.empty()) return out;  // one element fits everywhere
  return out.fits(call.shape(call.definition().inputs.front().name)) ? std::optional(out) : std::nullopt;
}

bool Meeting::fits(const Shape& first) const {
  return shape_ == first && std::ranges::all_of(inputs_, [&](const Placed& placed) {
           for (std::size_t i = 0; i < placed.shape.size(); ++i)
             if (placed.shape[i] != 1 && placed.shape[i] != shape_[placed.along[i]]) return false;
           return true;
         });
}

Int Meeting::cell(std::size_t input, Int index) const {
  const Placed& placed = inputs_[input];
  const Shape at = position(shape_, index);
  Int cell = 0;
  for (std::size_t i = 0; i < placed.shape.size(); ++i)
    cell = cell * placed.shape[i] +
           (placed.shape[i] == 1 ? 0 : at[placed.along[i]] / (placed.blocked == i ? placed.block : 1));
  return cell;
}

MetInputs::MetInputs(const Call& legal, const Operands& in, const Readings& readings)
    : meeting_(Meeting::of(legal, readings).value()) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::string& name = legal.definition().inputs[i].name;
    if (in[i] && (legal.definition().counts(name) || is_quantizing(legal))) given_.push_back({name, i, Cells(*in[i])});
  }
}

std::vector<Scalar> MetInputs::at(Int index) const {
  std::vector<Scalar> x;
  for (const Given& each : given_) x.push_back(each.cells.at(meeting_.cell(each.input, index)));
  return x;
}

std::vector<ProofTerm> MetInputs::taps(Int index) const {
  std::vector<ProofTerm> all;
  for (const Given& each : given_) {
    const Int cell = meeting_.cell(each.input, index);
    all.push_back(
        {{written(each.cells.at(cell), each.cells.tensor().dtype())}, place(each.name, each.cells.shape(), cell)});
  }
  return all;
}

std::optional<Shape> shape_of_meeting(const Call& call, const Readings& readings) {
  const std::optional<Meeting> meeting = Meeting::of(call, readings);
  return meeting ? std::optional(meeting->shape()) : std::nullopt;
}

}  // namespace assay::oracles
