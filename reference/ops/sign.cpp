// SPDX-License-Identifier: Apache-2.0
// Abs, Neg (ai.onnx 1, 6, 13), Sign (9, 13) - https://onnx.ai/onnx/operators/onnx__Abs.html
//
//   Y[i] = |X[i]|, -X[i];  output[i] = 1, 0 or -1 as input[i] is more than, equal to or less than 0
#include "reference/families/elementwise.h"
#include "reference/type_lists.h"

#include <cmath>

namespace assay {
namespace {

using enum DType;
// clang-format off

// Of the lowest integer itself (E17).
template <class T>
T negative_of(T x) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(0 - static_cast<std::uint64_t>(x));
  else return static_cast<T>(-static_cast<double>(x));
}

Operator signs(const char* name) {
  return Operator(name)
      .input("X", "T").output("Y", "T")
      .rulings({"A29", "E1", "E2"})
      .since(1)
      .type("T", types::all_float_types()).with(consumed_inputs)
      .since(6, "T admits integers; consumed_inputs is gone")
      .with(without_consumed_inputs).ruling("E17");
}

}  // namespace

Operator abs() {
  return signs("Abs")
      .type("T", types::all_numeric_types())
      .since(13, "T admits bfloat16")
      .type("T", types::all_numeric_types_ir4())
      .shaping(Shaping::one).shape(same_as("X")).kernel(each([]<class T>(T x) {
        if constexpr (std::is_unsigned_v<T>) return x;
        else return x < 0 || (x == 0 && std::signbit(static_cast<double>(x))) ? negative_of(x) : x;
      }));
}

Operator neg() {
  return signs("Neg")
      .type("T", {f16, f32, f64, i8, i16, i32, i64})
      .since(13, "T admits bfloat16")
      .type("T", {bf16, f16, f32, f64, i8, i16, i32, i64})
      .shaping(Shaping::one).shape(same_as("X")).kernel(each([](auto x) { return negative_of(x); }));
}

Operator sign() {
  return Operator("Sign")
      .input("input", "T").output("output", "T")
      .rulings({"A29", "E1", "E13"})
      .since(9)
      .type("T", types::all_numeric_types())
      .since(13, "T admits bfloat16")
      .type("T", types::all_numeric_types_ir4())
      .shaping(Shaping::one).shape(same_as("input"))
      .kernel(each([]<class T>(T x) { return x > 0 ? T(1) : x < 0 ? negative_of(T(1)) : x; }));
}

// clang-format on
}  // namespace assay
