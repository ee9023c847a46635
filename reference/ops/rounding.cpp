// SPDX-License-Identifier: Apache-2.0
// Ceil, Floor (ai.onnx 1, 6, 13), Round (11, 22) - https://onnx.ai/onnx/operators/onnx__Round.html
//
//   Y[i] = the least integer that is no less than X[i], the largest that is no more, the nearest, ties to even
#include "reference/families/elementwise.h"
#include "reference/type_lists.h"

#include <cmath>

namespace assay {
namespace {

// clang-format off
template <class F>
Operator towards(const char* name, F f) {
  return Operator(name)
      .input("X", "T").output("Y", "T")
      .rulings({"A29", "E1"})
      .since(1)
      .type("T", types::all_float_types()).with(consumed_inputs)
      .since(6, "consumed_inputs is gone")
      .with(without_consumed_inputs)
      .since(13, "T admits bfloat16; integers, NaN and infinities stay, says the text")
      .type("T", types::all_float_types_ir4())
      .shaping(Shaping::one).shape(same_as("X")).kernel(each_in_double(f));
}

}  // namespace

Operator ceil() { return towards("Ceil", [](double x) { return std::ceil(x); }); }
Operator floor() { return towards("Floor", [](double x) { return std::floor(x); }); }

Operator round() {
  return Operator("Round")
      .input("X", "T").output("Y", "T")
      .rulings({"A29", "E1"})
      .since(11)
      .type("T", types::all_float_types())
      .since(22, "T admits bfloat16")
      .type("T", types::all_float_types_ir4())
      .shaping(Shaping::one).shape(same_as("X"))
      .kernel(each_in_double([](double x) {
        const double below = std::floor(x), rest = x - below;
        return rest < 0.5 || (rest == 0.5 && std::fmod(below, 2) == 0) ? below : std::ceil(x);
      }));
}

// clang-format on
}  // namespace assay
