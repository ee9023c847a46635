// SPDX-License-Identifier: Apache-2.0
#include "reference/families/windows.h"

namespace assay {

Int bounded_product(Int a, Int b) {
  constexpr Int most = Int{1} << 48;
  Int out;
  if (__builtin_mul_overflow(a, b, &out) || out > most || out < -most)
    throw InputError("a window is too large: more than 2^48 cells");
  return out;
}

void pool_parameters(Operator& op) {
  op.input("X", "T")
      .output("Y", "T")
      .attribute("auto_pad", "NOTSET")
      .required_ints("kernel_shape")
      .attribute("pads", zeros)
      .attribute("strides", ones)
      .require("C1", "rank(X) >= 3: at least one spatial axis", [](const Call& c) { return c.rank("X") >= 3; })
      .with(window_constraints);
}

void global_pool_parameters(Operator& op) {
  op.input("X", "T")
      .output("Y", "T")
      .require("C1", "rank(X) >= 2: a batch and channels", [](const Call& c) { return c.rank("X") >= 2; })
      .rulings({"A29", "W16"});
}

Shape pooled_shape(const Call& call) {
  Shape shape = Window::of(call).output();
  shape.insert(shape.begin(), {call.dim("X", 0), call.dim("X", 1)});
  return shape;
}

Types pooled(const Call& call) {
  const Shape shape = pooled_shape(call);
  Types types;
  for (const Parameter& output : call.definition().outputs)
    types.push_back(call.requests(output.name)
                        ? std::optional(TensorType{call.definition().type_of(call, output), shape})
                        : std::nullopt);
  return types;
}

}  // namespace assay
