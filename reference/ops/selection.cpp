// SPDX-License-Identifier: Apache-2.0
// EyeLike (ai.onnx 9, 22) - https://onnx.ai/onnx/operators/onnx__EyeLike.html
// OneHot (ai.onnx 9, 11, 28) - https://onnx.ai/onnx/operators/onnx__OneHot.html
// Compress (ai.onnx 9, 11, 28) - https://onnx.ai/onnx/operators/onnx__Compress.html
// NonZero (ai.onnx 9, 13) - https://onnx.ai/onnx/operators/onnx__NonZero.html
//
//   EyeLike:   output[i, j] = 1 where j = i + k, else 0
//   OneHot:    output[a, d, b] = values[1] where indices[a, b] = d, else values[0]; d runs along axis, below depth
//   Compress:  output holds what condition is true of along axis or, where none is said, of all elements in their order
//   NonZero:   column k of Y is the position of the k-th element of X that is not zero
//
// An index counts from the end where it is negative, but for version 9 of OneHot, and is truncated where it is a float.
#include "reference/families/elementwise.h"
#include "reference/families/picked.h"
#include "reference/type_lists.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

std::vector<DType> truths_and(std::vector<DType> numbers) { return std::move(numbers) | DType::boolean; }

Values mark_diagonal(const Call& call, Inputs in) {
  Tensor y(*call.definition().infer(call).front());
  const Int rows = in[0]->shape()[0], columns = in[0]->shape()[1];
  for_number(y.dtype(), [&]<class T>() {
    for (Int i = 0, j = 0; i < rows; ++i)
      if (!__builtin_add_overflow(i, call.integer("k"), &j) && j >= 0 && j < columns)
        y.as<T>()[static_cast<std::size_t>(i * columns + j)] = T(1.0);
  });
  return y;
}

// -- OneHot

// Truncates to an integer; 2^62 stands for any that is larger.
template <class T>
Int truncated(T value) {
  constexpr Int most = Int{1} << 62;
  if constexpr (std::is_integral_v<T>) {
    return std::cmp_less(value, most) ? static_cast<Int>(value) : most;
  } else {
    const auto real = static_cast<double>(value);
    return std::fabs(real) < static_cast<double>(most) ? static_cast<Int>(real) : real > 0 ? most : -most;
  }
}

bool has_one_depth(const Call& call) { return volume(call.shape("depth")) == 1; }
Int depth(const Call& call) {
  const Tensor& said = data_of(call, "depth");
  return for_number(said.dtype(), [&]<class T>() { return truncated(said.as<T>()[0]); });
}

bool has_new_axis(const Call& call) { return is_axis(call.integer("axis"), call.rank("indices") + 1); }
Int new_axis(const Call& call) { return from_front(call.integer("axis"), call.rank("indices") + 1); }

Shape with_depth(const Call& call) {
  Shape shape = call.shape("indices");
  shape.insert(shape.begin() + new_axis(call), depth(call));
  return shape;
}

Values switch_on(const Call& call, Inputs in) {
  const Int deep = depth(call),
            inner = volume(std::span(in[0]->shape()).subspan(static_cast<std::size_t>(new_axis(call))));
  const Int turn = call.definition().ruling("M19") ? 0 : deep;
  Ints on;
  for_number(in[0]->dtype(), [&]<class T>() {
    for (const T each : in[0]->as<T>()) on.push_back(truncated(each) + (truncated(each) < 0 ? turn : 0));
  });
  return in_runs(*in[2], {in[2]->dtype(), with_depth(call)}, 1, [&](Int i) {
    const Int at = i / (inner * deep) * inner + i % inner;
    return Int{on[static_cast<std::size_t>(at)] == i / inner % deep};
  });
}

// -- Compress

bool has_axis(const Call& call) { return !call.states("axis") || is_axis(call.integer("axis"), call.rank("input")); }
std::size_t axis_of(const Call& call) {
  return static_cast<std::size_t>(from_front(call.integer("axis"), call.rank("input")));
}
Int extent(const Call& call) {
  return call.states("axis") ? call.shape("input")[axis_of(call)] : volume(call.shape("input"));
}

Ints taken(const Call& call) {
  Ints places;
  for (Int i = 0; const Int holds : call.ints("condition")) {
    if (holds != 0) places.push_back(i);
    ++i;
  }
  return places;
}

Shape compressed(const Call& call) {
  const Int count = std::ssize(taken(call));
  if (!call.states("axis")) return {count};
  Shape shape = call.shape("input");
  shape[axis_of(call)] = count;
  return shape;
}

Values take(const Call& call, Inputs in) {
  const Ints places = taken(call);
  const Int count = std::ssize(places), whole = extent(call);
  const Int run = call.states("axis") ? volume(std::span(in[0]->shape()).subspan(axis_of(call) + 1)) : 1;
  return in_runs(*in[0], {in[0]->dtype(), compressed(call)}, run,
                 [&](Int i) { return run * (i / count * whole + places[static_cast<std::size_t>(i % count)]); });
}

// -- NonZero

Ints places_of_nonzeros(const Tensor& x) {
  Ints places;
  for_type(x.dtype(), [&]<class T>() {
    for (Int i = 0; const T& each : x.as<T>()) {
      if constexpr (!Small<T>)
        if (each != T()) places.push_back(i);
      ++i;
    }
  });
  return places;
}

Values locate(const Call&, Inputs in) {
  const Ints places = places_of_nonzeros(*in[0]), steps = steps_of(in[0]->shape());
  Tensor y({DType::i64, {std::ssize(steps), std::ssize(places)}});
  auto to = y.as<Int>().begin();
  for (std::size_t axis = 0; axis < steps.size(); ++axis)
    for (const Int place : places) *to++ = place / steps[axis] % in[0]->shape()[axis];
  return y;
}

}  // namespace

// clang-format off
Operator eye_like() {
  return Operator("EyeLike")
      .input("input", "T1").output_typed_by("dtype", "output", "T2").optional_int("dtype").attribute("k", 0)
      .require("C1", "rank(input) = 2", [](auto& c) { return c.rank("input") == 2; })
      .require("C2", "dtype names a type of T2", names_a_type)
      .since(9).type("T1", truths_and(types::all_numeric_types())).type("T2", truths_and(types::all_numeric_types()))
      .since(22, "T1 and T2 admit bfloat16")
          .type("T1", truths_and(types::all_numeric_types_ir4())).type("T2", truths_and(types::all_numeric_types_ir4()))
      .shaping(Shaping::moved).infer(moved_to([](const Call& c) { return c.shape("input"); })).kernel(mark_diagonal);
}

Operator one_hot() {
  return Operator("OneHot")
      .input("indices", "T1").parameter("depth", "T2", "depth").input("values", "T3").output("output", "T3").attribute("axis", -1)
      .type("T1", types::all_numeric_types()).type("T2", types::all_numeric_types()).type("T3", types::all_tensor_types())
      .rulings({"A29", "E1", "M17", "M18", "M64"})
      .require("C1", "shape(values) = [2]", [](auto& c) { return c.shape("values") == Shape{2}; })
      .require("C2", "depth has one element", has_one_depth)
      .require("C3", "depth is not negative", [](auto& c) { return !has_one_depth(c) || depth(c) >= 0; })
      .require("C4", "axis is in [-rank(indices) - 1, rank(indices)]", has_new_axis)
      .require("C5", "depth is not 0", [](auto& c) { return !has_one_depth(c) || depth(c) != 0; }, "M17")
      .require("C6", "depth has no axis, or one", [](auto& c) { return c.rank("depth") <= 1 || !has_one_depth(c); })
      .since(9).ruling("M19")
      .since(11, "negative indices count from the end").settled("M19")
      .since(28, "T3 admits bfloat16").type("T3", types::all_tensor_types_ir4())
      .shaping(Shaping::moved).infer(moved_to(with_depth)).kernel(switch_on);
}

Operator compress() {
  return Operator("Compress")
      .input("input", "T").parameter("condition", "T1", "condition").output("output", "T").optional_int("axis")
      .type("T", types::all_tensor_types()).type("T1", {DType::boolean}).rulings({"A29", "E1"})
      .require("C1", "rank(condition) = 1", [](auto& c) { return c.rank("condition") == 1; })
      .require("C2", "condition is no longer than what it chooses from", [](auto& c) {
        return !has_axis(c) || volume(c.shape("condition")) <= extent(c); })
      .require("C3", "rank(input) >= 1", [](auto& c) { return c.rank("input") >= 1; })
      .require("C4", "axis is in [-rank(input), rank(input) - 1]", [](auto& c) { return has_axis(c) || c.rank("input") == 0; })
      .require("C5", "axis is not negative", [](auto& c) {
        return !has_axis(c) || !c.states("axis") || c.integer("axis") >= 0; }, "M1").ruling("M1")
      .since(9)
      .since(11, "axis may count from the end").without("C5").settled("M1")
      .since(28, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .shaping(Shaping::moved).infer(moved_to(compressed)).kernel(take);
}

Operator nonzero() {
  return Operator("NonZero")
      .parameter("X", "T", "X").output("Y", "i64").type("T", types::all_tensor_types()).rulings({"M12", "M16"})
      .since(9)
      .since(13, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .shaping(Shaping::moved).kernel(locate)
      .infer(moved_to([](const Call& c) { return Shape{c.rank("X"), std::ssize(places_of_nonzeros(data_of(c, "X")))}; }));
}
// clang-format on

}  // namespace assay
