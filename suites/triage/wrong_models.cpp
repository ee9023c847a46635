// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/wrong_models.h"

#include "suites/mutation/family.h"

#include <algorithm>

namespace assay::suites {
namespace {

using mutation::GatherAxis;
using mutation::GatherDeviation;
using mutation::GatherPlan;
using mutation::GatherRequest;
using mutation::Place;
using mutation::Point;
using mutation::Points;

Int windows_in(Int room, Int stride) { return room < 0 ? 0 : room / stride + 1; }

// The odd cell at the end for UPPER, and at the beginning for LOWER.
void pad_in_all(const GatherRequest& request, GatherAxis& side, Int total) {
  side.begin = request.auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
  side.end = total - side.begin;
}

// SAME_* as onnxruntime pads pools: for the kernel as if it were not dilated; the windows are then those that fit.
void pad_same_undilated(const GatherRequest& request, GatherPlan& plan) {
  if (!request.is_same()) return;
  for (GatherAxis& side : plan.sides) {
    const Int total = std::max<Int>(0, (side.out - 1) * side.stride + side.kernel - side.in);
    pad_in_all(request, side, total);
    side.out = windows_in(side.in + total - side.reach(), side.stride);
  }
}

// The same without the clamp of A3: padding below zero cuts cells off.
void pad_same_undilated_signed(const GatherRequest& request, GatherPlan& plan) {
  if (!request.is_same()) return;
  for (GatherAxis& side : plan.sides) {
    const Int total = (side.out - 1) * side.stride + side.kernel - side.in;
    side.begin = request.auto_pad == "SAME_UPPER" ? total / 2 : (total + 1) / 2;
    side.end = total - side.begin;
    side.out = std::max<Int>(0, (side.in + total - side.reach()) / side.stride + 1);  // rounds towards zero
  }
}
void cut_off_end(const GatherPlan& plan, const Place&, std::vector<Points>& rows) {
  for (std::size_t axis = 0; axis < rows.size(); ++axis)
    for (Point& p : rows[axis])
      if (p.cell >= plan.sides[axis].in + plan.sides[axis].end) p.where = Point::Where::overhang;
}

// k where the text says (k - 1) * d + 1; the taps are dilated all the same.
void count_undilated(const GatherRequest& request, GatherPlan& plan) {
  if (request.is_same()) return;
  for (GatherAxis& side : plan.sides) {
    const Int room = side.in + side.begin + side.end - side.kernel;
    side.out = request.ceil ? (room + side.stride - 1) / side.stride + 1 : windows_in(room, side.stride);
  }
}

// SAME_* counts windows as explicit padding does, with the padding it would need.
void count_same_by_input(const GatherRequest& request, GatherPlan& plan) {
  if (!request.is_same()) return;
  for (GatherAxis& side : plan.sides) {
    side.out = side.in;
    pad_in_all(request, side, std::max<Int>(0, side.reach() - 1));
  }
}

// What ceil_mode adds past the end, or half of it, is padded at the beginning instead.
void overhang_in_front(const GatherRequest& request, GatherPlan& plan, Int parts) {
  if (!request.ceil || request.is_same()) return;
  for (GatherAxis& side : plan.sides) {
    const Int over = (side.out - 1) * side.stride + side.reach() - (side.in + side.begin + side.end);
    if (over > 0) side.begin += over / parts;
  }
}

void take_upper_for_lower(GatherRequest& request) {
  if (request.auto_pad == "SAME_UPPER") request.auto_pad = "SAME_LOWER";
}
void ignore_pads(GatherRequest& request) { std::ranges::fill(request.pads, 0); }
void ignore_strides(GatherRequest& request) { std::ranges::fill(request.strides, 1); }

struct WindowBug {
  std::string name, sentence;
  GatherDeviation deviation;
};

// Seen in backends, or one bug away; besides the planted bugs.
const std::vector<WindowBug>& window_bugs() {
  static const std::vector<WindowBug> all{
      {"pads-and-counts-same-undilated",
       "SAME_* pads for the undilated kernel and loses windows to the dilated one",
       {.plan = pad_same_undilated}},
      {"pads-same-undilated-below-zero",
       "SAME_* pads for the undilated kernel, and padding below zero cuts cells off",
       {.plan = pad_same_undilated_signed, .rows = cut_off_end}},
      {"counts-undilated",
       "windows are counted with k instead of the effective kernel (k - 1) * d + 1",
       {.plan = count_undilated}},
      {"counts-same-by-input",
       "SAME_* gives as many windows as input cells, whatever the strides",
       {.plan = count_same_by_input}},
      {"overhangs-in-front",
       "what ceil_mode adds is padded in front of the input",
       {.plan = [](const GatherRequest& r, GatherPlan& p) { overhang_in_front(r, p, 1); }}},
      {"overhangs-at-both-ends",
       "what ceil_mode adds is padded at both ends",
       {.plan = [](const GatherRequest& r, GatherPlan& p) { overhang_in_front(r, p, 2); }}},
      {"takes-upper-for-lower", "SAME_UPPER puts the odd cell at the beginning", {.request = take_upper_for_lower}},
      {"ignores-pads", "pads has no effect", {.request = ignore_pads}},
      {"ignores-strides", "strides has no effect", {.request = ignore_strides}},
  };
  return all;
}

// The shape alone, of an operator that is a convolution underneath.
Kernel shape_of(const GatherDeviation& deviation) {
  return [deviation](const Call& call, std::span<const Tensor* const>) {
    const bool last = call.definition().version.name == "NhwcConv", quantised = call.definition().input("x");
    TensorType x = call.type(quantised ? "x" : "X"), w = call.type(quantised ? "w" : "W");
    if (last)
      for (TensorType* type : {&x, &w}) std::rotate(type->shape.begin() + 1, type->shape.end() - 1, type->shape.end());
    Shape shape = plan_of(mutation::standing_for(call, x, w), deviation).output();
    if (last) std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
    return Tensor({quantised ? call.type("y_zero_point").dtype : x.dtype, std::move(shape)});
  };
}

Kernel zeros() {
  return [](const Call& call, std::span<const Tensor* const> in) {
    Values zeros = call.definition().kernel(call, in);
    for (std::optional<Tensor>& each : zeros)
      if (each) each = Tensor(each->type());
    return zeros;
  };
}

}  // namespace

std::span<const WrongModel> wrong_models() {
  static const std::vector<WrongModel> all = [] {
    std::vector<WrongModel> list;
    for (const mutation::Mutant& m : mutation::mutants())
      list.push_back(
          {m.id, m.description, [id = m.id](const OpVersion& version) { return mutation::mutant(id, version); }});
    for (const WindowBug& bug : window_bugs()) {
      list.push_back({bug.name, bug.sentence,
                      [&bug](const OpVersion& version) { return mutation::windowed(version, bug.deviation); }});
      list.push_back({bug.name + "-shape", bug.sentence,
                      [&bug](const OpVersion& version) {
                        return mutation::windowed(version, bug.deviation) ? std::nullopt
                                                                          : std::optional(shape_of(bug.deviation));
                      },
                      true});
    }
    list.push_back({"writes-nothing", "every output is zero", [](const OpVersion&) { return zeros(); }});
    return list;
  }();
  return all;
}

}  // namespace assay::suites
