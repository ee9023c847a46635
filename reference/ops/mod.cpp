// SPDX-License-Identifier: Apache-2.0
// Mod (ai.onnx 10, 13, 28) - https://onnx.ai/onnx/operators/onnx__Mod.html
//
//   C[i] = A[i] - trunc(A[i] / B[i]) B[i] with fmod = 1, which has the sign of A[i];
//   C[i] = A[i] - floor(A[i] / B[i]) B[i] with fmod = 0, which has that of B[i]; by an integer 0 it is anything (E15)
#include "reference/families/broadcast.h"
#include "reference/type_lists.h"

#include <cmath>

namespace assay {
namespace {

// clang-format off
template <Number T>
T remainder(T a, T b, bool truncates) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1))) return 0;
    const T rest = static_cast<T>(a % b);
    return truncates || rest == 0 || (rest < 0) == (b < 0) ? rest : static_cast<T>(rest + b);
  } else {
    const double by{b}, rest = std::fmod(static_cast<double>(a), by);
    return T(truncates || rest == 0 || (rest < 0) == (by < 0) ? rest : rest + by);
  }
}

bool truncates_floats(const Call& call) {
  return !is_float(call.type("A").dtype) || call.integer("fmod") != 0;
}

}  // namespace

Operator mod() {
  return Operator("Mod")
      .input("A", "T").input("B", "T").output("C", "T").attribute("fmod", 0)
      .require("fmod", "fmod is 0 or 1", [](const Call& call) { return call.integer("fmod") == 0 || call.integer("fmod") == 1; })
      .require("float", "fmod is 1 where the inputs are floats", truncates_floats)
      .rulings({"A29", "E15", "E21"})
      .since(10)
      .type("T", types::all_numeric_types()).with(multidirectional_broadcast)
      .since(13, "T admits bfloat16")
      .type("T", types::all_numeric_types_ir4()).ruling("E18")
      .since(28, "floats may have fmod = 0")
      .without("float").settled("E18")
      .shaping(Shaping::broadcast).infer(broadcast_types)
      .kernel(pairwise([](const Call& call) {
        return [truncates = call.integer("fmod") == 1]<Number T>(T a, T b) { return remainder(a, b, truncates); };
      }));
}
// clang-format on

}  // namespace assay
