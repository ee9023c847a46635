// SPDX-License-Identifier: Apache-2.0
// HannWindow, HammingWindow, BlackmanWindow (ai.onnx 17) - https://onnx.ai/onnx/operators/onnx__HannWindow.html
//
//   output[n] = a - b cos(2 pi n / D) + c cos(4 pi n / D)    n < size; D = size, or size - 1 where it is not periodic
//
//   Hann 1/2, 1/2, 0;  Hamming 25/46, 21/46, 0 (N22);  Blackman 0.42, 0.5, 0.08
//
// Integers are cut. Of a single element that is not periodic 0/0 is left; here it is 1.
#include "reference/families/elementwise.h"
#include "reference/functions.h"
#include "reference/type_lists.h"

#include <numbers>

namespace assay {
namespace {

struct Share {
  double a, b, c;
};

bool has_a_size(const Call& call) { return volume(call.shape("size")) == 1; }

Kernel window(const Share& of) {
  return [of](const Call& call, Inputs) {
    Values y = outputs_of(call);
    const Int size = call.integer("size"), steps = call.integer("periodic") != 0 ? size : size - 1;
    for (Int n = 0; n < size; ++n) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(steps);
      put_number(*y[0], n, steps == 0 ? 1 : of.a - of.b * cosine(angle) + of.c * cosine(2 * angle));
    }
    return y;
  };
}

Types inferred(const Call& call) {
  const Definition& definition = call.definition();
  return {TensorType{definition.type_of(call, definition.outputs.front()), {call.integer("size")}}};
}

// clang-format off
Operator window_of(const char* name, const Share& share) {
  return Operator(name)
      .parameter("size", "T1", "size").output_typed_by("output_datatype", "output", "T2")
      .attribute("output_datatype", 1).attribute("periodic", 1).rulings({"A29", "M4", "N23", "N42"})
      .type("T1", {DType::i32, DType::i64}).type("T2", types::all_numeric_types_ir4())
      .require("C1", "size is a scalar", [](auto& c) { return !has_a_size(c) || c.rank("size") == 0; }, "M4")
      .require("C2", "size has one element", has_a_size)
      .require("C3", "size is not negative", [](auto& c) { return !has_a_size(c) || c.integer("size") >= 0; })
      .require("C4", "output_datatype names a type of T2", names_a_type)
      .require("C5", "periodic is 0 or 1", [](auto& c) { return c.integer("periodic") == 0 || c.integer("periodic") == 1; }, "N42")
      .since(17)
      .shaping(Shaping::normalized).infer(inferred).kernel(window(share));
}
// clang-format on

}  // namespace

Operator hann_window() { return window_of("HannWindow", {0.5, 0.5, 0}); }
Operator hamming_window() { return window_of("HammingWindow", {25.0 / 46, 21.0 / 46, 0}).ruling("N22"); }
Operator blackman_window() { return window_of("BlackmanWindow", {0.42, 0.5, 0.08}); }

}  // namespace assay
