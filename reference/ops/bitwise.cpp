// SPDX-License-Identifier: Apache-2.0
// BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot (ai.onnx 18), BitShift (11, 28) -
// https://onnx.ai/onnx/operators/onnx__BitwiseAnd.html
//
//   C[i] = A[i] and B[i], A[i] or B[i], A[i] xor B[i];  Y[i] = not X[i], bit by bit, of integers in two's complement
//   Z[i] = X[i] 2^Y[i] modulo 2^width to the LEFT, the floor of X[i] / 2^Y[i] to the RIGHT; no bit of X[i] is left
//   where Y[i] is negative, or as large as the width (E35)
#include "reference/families/broadcast.h"
#include "reference/type_lists.h"

namespace assay {
namespace {

using enum DType;
// clang-format off

template <class F>
Operator bitwise(const char* name, F f) {
  return Operator(name)
      .input("A", "T").input("B", "T").output("C", "T")
      .since(18)
      .type("T", types::all_integer_types()).with(multidirectional_broadcast)
      .shaping(Shaping::broadcast).infer(broadcast_types).kernel(pairwise(f));
}

template <std::integral T>
T shifted(T x, T by, bool to_the_left) {
  if (by < T(0) || by >= T(8 * sizeof(T))) return to_the_left || x >= T(0) ? T(0) : static_cast<T>(-1);
  return to_the_left ? static_cast<T>(static_cast<std::uint64_t>(x) << by) : static_cast<T>(x >> by);
}

}  // namespace

Operator bitwise_and() {
  return bitwise("BitwiseAnd", []<std::integral T>(T a, T b) { return static_cast<T>(a & b); });
}

Operator bitwise_or() {
  return bitwise("BitwiseOr", []<std::integral T>(T a, T b) { return static_cast<T>(a | b); });
}

Operator bitwise_xor() {
  return bitwise("BitwiseXor", []<std::integral T>(T a, T b) { return static_cast<T>(a ^ b); });
}

Operator bitwise_not() {
  return Operator("BitwiseNot")
      .input("X", "T").output("Y", "T")
      .since(18)
      .type("T", types::all_integer_types())
      .shaping(Shaping::one).shape(same_as("X")).kernel(each([]<class T>(T x) {
        if constexpr (std::is_integral_v<T>) return static_cast<T>(~x);
        else return x;
      }));
}

Operator bit_shift() {
  return Operator("BitShift")
      .input("X", "T").input("Y", "T").output("Z", "T").required_word("direction", {"LEFT", "RIGHT"}, "dir")
      .since(11)
      .type("T", {u8, u16, u32, u64}).with(multidirectional_broadcast).ruling("E35")
      .since(28, "T admits signed integers; what no bit is left of is said")
      .type("T", types::all_integer_types()).settled("E35")
      .shaping(Shaping::broadcast).infer(broadcast_types).kernel(pairwise([](const Call& call) {
        return [left = call.text("direction") == "LEFT"]<std::integral T>(T x, T by) { return shifted(x, by, left); };
      }));
}

// clang-format on
}  // namespace assay
