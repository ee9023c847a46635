// SPDX-License-Identifier: Apache-2.0
// Pow (ai.onnx 1, 7, 12, 13, 15) - https://onnx.ai/onnx/operators/onnx__Pow.html
//
//   Z[i] = X[i]^Y[i], with the special values of IEEE 754's pow; of an integer base truncated, and wrapped where it
//   does not fit (E17, E22)
#include "reference/families/broadcast.h"
#include "reference/functions.h"
#include "reference/type_lists.h"

#include <cmath>

namespace assay {
namespace {

using enum DType;
// clang-format off

// By squaring, modulo 2^64; 1/x truncated is 0 but for 1 and -1.
template <std::integral T, std::integral E>
T integer_power(T x, E exponent) {
  if (exponent < E(0)) return x == 1 ? T(1) : x != static_cast<T>(-1) ? T(0) : exponent % 2 == 0 ? T(1) : x;
  std::uint64_t power = 1, square = static_cast<std::uint64_t>(x);
  for (auto left = static_cast<std::uint64_t>(exponent); left != 0; left >>= 1, square *= square)
    if (left & 1) power *= square;
  return static_cast<T>(power);
}

template <Number T, Number E>
T raised(T x, E exponent) {
  if constexpr (!std::is_integral_v<T>) {
    return T(power(static_cast<double>(x), static_cast<double>(exponent)));
  } else if constexpr (std::is_integral_v<E>) {
    return integer_power(x, exponent);
  } else {
    const double real = power(static_cast<double>(x), static_cast<double>(exponent));
    return std::abs(real) < 0x1p63 ? static_cast<T>(static_cast<std::int64_t>(real)) : T(0);
  }
}

Values powers(const Call& call, Inputs in) {
  return for_number(in[1]->dtype(), [&]<class E>() {
    const Broadcast meet = Broadcast::of(call);
    Tensor z = Tensor::to_be_written({in[0]->dtype(), meet.shape});
    for_number(z.dtype(), [&]<class T>() {
      if constexpr (Number<T> && Number<E>)
        meet.for_each_row([&](Int out, const Ints& from) {
          for (Int i = 0; i < meet.length(); ++i)
            z.as<T>()[static_cast<std::size_t>(out + i)] =
                raised(in[0]->as<T>()[meet.cell(0, from, i)], in[1]->as<E>()[meet.cell(1, from, i)]);
        });
    });
    return Values(std::move(z));
  });
}

}  // namespace

Operator pow() {
  return Operator("Pow")
      .input("X", "T").input("Y", "T").output("Z", "T").rulings({"A29", "E55"})
      .since(1)
      .type("T", types::all_float_types()).with(limited_broadcast)
      .since(7, "shapes are broadcast as numpy does")
      .with(multidirectional_instead)
      .since(12, "T admits integers; the exponent has a type of its own")
      .input("Y", "T1").type("T", {f16, f32, f64, i32, i64}).type("T1", types::all_numeric_types()).rulings({"E17", "E22"})
      .since(13, "T admits bfloat16")
      .type("T", {bf16, f16, f32, f64, i32, i64})
      .since(15, "T1 admits bfloat16")
      .type("T1", types::all_numeric_types_ir4())
      .shaping(Shaping::broadcast).infer(broadcast_types).kernel(powers);
}
// clang-format on

}  // namespace assay
