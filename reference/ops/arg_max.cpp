// SPDX-License-Identifier: Apache-2.0
// ArgMax, ArgMin (ai.onnx 1, 11, 12, 13) - https://onnx.ai/onnx/operators/onnx__ArgMax.html
// Hardmax (ai.onnx 1, 11, 13) - https://onnx.ai/onnx/operators/onnx__Hardmax.html
//
//   reduced holds, of every line of data along axis, where its largest element stands, or its smallest: the first of
//   equal ones or, with select_last_index, the last. Hardmax is 1 at the first of the largest of a line, elsewhere 0.
//
// A NaN is more than any number (M32). Lines of Hardmax lie as those of Softmax.
#include "reference/families/axis.h"
#include "reference/families/elementwise.h"
#include "reference/families/moved.h"
#include "reference/type_lists.h"

namespace assay {
namespace {

const Shape& data(const Call& call) { return call.shape(call.definition().inputs.front().name); }
Int axis_of(const Call& call) { return from_front(call.integer("axis"), std::ssize(data(call))); }
bool has_axis(const Call& call) { return is_axis(call.integer("axis"), std::ssize(data(call))); }
bool is_from_front(const Call& call) { return !has_axis(call) || call.integer("axis") >= 0; }

Shape reduced(const Call& call) {
  Shape shape = data(call);
  const auto at = shape.begin() + axis_of(call);
  if (call.integer("keepdims") != 0)
    *at = 1;
  else
    shape.erase(at);
  return shape;
}

// Finds the place of the extreme among the n elements that x(i) gives.
template <class F>
Int extreme(Int n, bool is_least, bool is_last, F x) {
  Int best = 0;
  for (Int i = 1; i < n; ++i) {
    const auto a = x(i), b = x(best);
    const bool is_better = b == b && (a != a || (is_least ? a < b : a > b));
    if (is_better || (is_last && (a == b || (a != a && b != b)))) best = i;
  }
  return best;
}

template <bool is_least>
Values tell(const Call& call, Inputs in) {
  Tensor y({DType::i64, reduced(call)});
  const bool is_last = call.states("select_last_index") && call.integer("select_last_index") != 0;
  for_number(in[0]->dtype(), [&]<class T>() {
    const std::span<const T> x = in[0]->as<T>();
    for_each_line(data(call), axis_of(call), [&](Int line, Int first, Int step) {
      y.as<Int>()[static_cast<std::size_t>(line)] =
          extreme(data(call)[static_cast<std::size_t>(axis_of(call))], is_least, is_last,
                  [&](Int i) { return x[static_cast<std::size_t>(first + i * step)]; });
    });
  });
  return y;
}

Values mark(const Call& call, Inputs in) {
  Tensor y(in[0]->type());
  Shape lines = data(call);
  const auto axis = static_cast<std::size_t>(axis_of(call));
  if (call.definition().flattens) {
    lines[axis] = volume(std::span(lines).subspan(axis));
    lines.resize(axis + 1);
  }
  for_float(y.dtype(), [&]<class T>() {
    const std::span<const T> x = in[0]->as<T>();
    for_each_line(lines, axis_of(call), [&](Int, Int first, Int step) {
      const auto at = [&](Int i) { return static_cast<std::size_t>(first + i * step); };
      y.as<T>()[at(extreme(lines[axis], false, false, [&](Int i) { return x[at(i)]; }))] = T(1.0);
    });
  });
  return y;
}

// clang-format off
Operator telling(const char* name, Kernel kernel) {
  return Operator(name)
      .input("data", "T").output("reduced", "i64").type("T", types::all_numeric_types())
      .attribute("axis", 0).attribute("keepdims", 1).rulings({"A29", "E1", "E2", "M1", "M31", "M32"})
      .require("C1", "axis is in [-rank(data), rank(data) - 1]", has_axis)
      .require("C2", "data has elements along axis", [](auto& c) {
        return !has_axis(c) || c.dim("data", axis_of(c)) > 0; })
      .require("C4", "axis is not negative", is_from_front, "M1")
      .since(1)
      .since(11, "axis may count from the end; data is not empty").without("C4").settled("M1")
          .require("C3", "data has elements", [](auto& c) {
            return !has_axis(c) || c.dim("data", axis_of(c)) == 0 || volume(c.shape("data")) > 0; })
      .since(12, "select_last_index; data may be empty off the axis").without("C3")
          .attribute("select_last_index", 0).settled("M31")
      .since(13, "T admits bfloat16").type("T", types::all_numeric_types_ir4())
      .shaping(Shaping::moved).infer(moved_to(reduced)).kernel(std::move(kernel));
}

}  // namespace

Operator arg_max() { return telling("ArgMax", tell<false>); }
Operator arg_min() { return telling("ArgMin", tell<true>); }

Operator hardmax() {
  return Operator("Hardmax")
      .with([](Operator& o) { along_axis(o, 1); })
      .rulings({"A29", "E1", "E2", "M32", "N32"})
      .since(1).type("T", types::all_float_types()).flattens(true).ruling("N1")
      .since(11, "a negative axis counts from the end").settled("N1")
      .since(13, "a line lies along one axis; the default is the last; T admits bfloat16")
          .type("T", types::all_float_types_ir4()).flattens(false).attribute("axis", -1)
      .shaping(Shaping::axis).shape(same_as("input")).kernel(mark);
}
// clang-format on

}  // namespace assay
