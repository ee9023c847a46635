// SPDX-License-Identifier: Apache-2.0
// Add, Sub, Mul, Div (ai.onnx 1, 6, 7, 13, 14) - https://onnx.ai/onnx/operators/onnx__Add.html
//
//   C[i] = A[i] + B[i], A[i] - B[i], A[i] B[i], A[i] / B[i]
//
// A float is rounded once. An integer wraps (E16, E17); a quotient of integers is truncated, by 0 it is anything (E15).
#include "reference/families/broadcast.h"
#include "reference/type_lists.h"

namespace assay {
namespace {

// clang-format off

template <Number T>
T quotient(T a, T b) {
  if constexpr (!std::is_integral_v<T>) return T(ComputedIn<T>(a) / ComputedIn<T>(b));
  else if (b == 0) return 0;
  else if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(0 - static_cast<std::uint64_t>(a));
  else return static_cast<T>(a / b);
}

template <class F>
Operator arithmetic(const char* name, std::initializer_list<const char*> of_integers, F f) {
  return Operator(name)
      .input("A", "T").input("B", "T").output("C", "T").rulings({"A29"})
      .since(1)
      .type("T", types::all_float_types()).with(limited_broadcast).with(consumed_inputs)
      .since(6, "T admits integers of 32 and 64 bits; consumed_inputs is gone")
      .type("T", types::numeric_types_for_math_reduction()).with(without_consumed_inputs).rulings(of_integers)
      .since(7, "shapes are broadcast as numpy does")
      .with(multidirectional_instead)
      .since(13, "T admits bfloat16")
      .type("T", types::numeric_types_for_math_reduction_ir4())
      .since(14, "T admits integers of 8 and 16 bits")
      .type("T", types::all_numeric_types_ir4())
      .shaping(Shaping::broadcast).infer(broadcast_types).kernel(pairwise(f));
}

}  // namespace

Operator add() {
  return arithmetic("Add", {"E17"}, []<Number T>(T a, T b) { return T(ComputedIn<T>(a) + ComputedIn<T>(b)); });
}

Operator sub() {
  return arithmetic("Sub", {"E17"}, []<Number T>(T a, T b) { return T(ComputedIn<T>(a) - ComputedIn<T>(b)); });
}

Operator mul() {
  return arithmetic("Mul", {"E17"}, []<Number T>(T a, T b) { return T(ComputedIn<T>(a) * ComputedIn<T>(b)); });
}

Operator div() { return arithmetic("Div", {"E15", "E16"}, []<Number T>(T a, T b) { return quotient(a, b); }); }

// clang-format on
}  // namespace assay
