// SPDX-License-Identifier: Apache-2.0
// Clip (ai.onnx 1, 6, 11, 12, 13) - https://onnx.ai/onnx/operators/onnx__Clip.html
//
//   output[i] = Min(max, Max(input[i], min)), a bound that is absent left out (E5, E7); max where min is larger (E6)
#include "reference/families/broadcast.h"
#include "reference/type_lists.h"

namespace assay {
namespace {

// clang-format off
// Of an attribute, or of a scalar input.
template <Number T>
std::optional<T> bound(const Call& call, Inputs in, const char* name, std::size_t input) {
  if (call.definition().attribute(name)) return call.states(name) ? std::optional(T(call.real(name))) : std::nullopt;
  return input < in.size() && in[input] ? std::optional(in[input]->as<T>()[0]) : std::nullopt;
}

Values clipped(const Call& call, Inputs in) {
  Tensor y = Tensor::to_be_written(in[0]->type());
  for_number(y.dtype(), [&]<class T>() {
    if constexpr (Number<T>) {
      const std::optional<T> least = bound<T>(call, in, "min", 1), most = bound<T>(call, in, "max", 2);
      std::ranges::transform(in[0]->as<T>(), y.as<T>().begin(), [&](T x) {
        if (least && x < *least) x = *least;
        return most && *most < x ? *most : x;
      });
    }
  });
  return y;
}

bool has_single_bounds(const Call& call) {
  const auto is_single = [&](const char* bound) { return !call.has(bound) || volume(call.shape(bound)) == 1; };
  return is_single("min") && is_single("max");
}
bool has_scalar_bounds(const Call& call) {
  const auto is_scalar = [&](const char* bound) { return !call.has(bound) || call.rank(bound) == 0; };
  return !has_single_bounds(call) || (is_scalar("min") && is_scalar("max"));
}

}  // namespace

Operator clip() {
  return Operator("Clip")
      .input("input", "T").output("output", "T")
      .rulings({"A29", "E2", "E4", "E5", "E6", "E7"})
      .since(1)
      .type("T", types::all_float_types()).optional_real("max").optional_real("min").with(consumed_inputs)
      .since(6, "the bounds have defaults; consumed_inputs is gone")
      .attribute("max", 3.40282347e+38F).attribute("min", -3.40282347e+38F).with(without_consumed_inputs)
      .since(11, "the bounds are inputs")
      .without("max").without("min").settled("E7")
      .input("min", "T", Arity::optional).input("max", "T", Arity::optional)
      .require("single", "min and max have one element", has_single_bounds)
      .require("scalar", "min and max are scalars", has_scalar_bounds, "E8").ruling("E8")
      .since(12, "T admits integers")
      .type("T", types::all_numeric_types())
      .since(13, "T admits bfloat16; where min is larger than max the output is max")
      .type("T", types::all_numeric_types_ir4()).settled("E6")
      .shaping(Shaping::broadcast).shape(same_as("input")).kernel(clipped);
}
// clang-format on

}  // namespace assay
