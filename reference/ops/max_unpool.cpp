// SPDX-License-Identifier: Apache-2.0
// MaxUnpool (ai.onnx 9, 11, 22) - https://onnx.ai/onnx/operators/onnx__MaxUnpool.html
//
//   output holds X[j] at I[j], counted row by row, and 0 elsewhere
//
// Its shape is output_shape where that is there, else N, C and (D - 1) * stride + kernel - pads per axis: what MaxPool
// made X of, as far as it can be told.
#include "reference/families/moved.h"
#include "reference/families/windows.h"

#include <algorithm>

namespace assay {
namespace {

// The lists of the window have as many entries as there are axes, and entries that a window has.
bool has_window(const Call& c) {
  const Int axes = c.rank("X") - 2;
  return axes >= 1 && std::ssize(c.ints("kernel_shape")) == axes && std::ssize(c.ints("strides")) == axes &&
         std::ssize(c.ints("pads")) == 2 * axes && all_at_least(c.ints("kernel_shape"), 1) &&
         all_at_least(c.ints("strides"), 1) && all_at_least(c.ints("pads"), 0);
}

Shape inferred_shape(const Call& call) {
  const Ints kernel = call.ints("kernel_shape"), strides = call.ints("strides"), pads = call.ints("pads");
  Shape shape{call.dim("X", 0), call.dim("X", 1)};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const Int spread = bounded_product(call.dim("X", static_cast<Int>(i) + 2) - 1, strides[i]);
    shape.push_back(spread + bounded_product(kernel[i], 1) - bounded_product(pads[i], 1) -
                    bounded_product(pads[i + kernel.size()], 1));
  }
  return shape;
}

Shape output_shape(const Call& call) {
  return call.has("output_shape") ? call.ints("output_shape") : inferred_shape(call);
}

// The output is of the batch and the channels of X.
bool shape_is_of_batch(const Call& c) {
  if (!c.has("output_shape") || c.rank("X") < 3) return true;
  const Ints shape = c.ints("output_shape");
  return c.shape("output_shape") == Shape{c.rank("X")} && shape[0] == c.dim("X", 0) && shape[1] == c.dim("X", 1) &&
         all_at_least(std::span(shape).subspan(2), 1);
}

bool shape_is_inferred(const Call& c) {
  if (!has_window(c)) return true;
  const Shape shape = inferred_shape(c);
  return c.has("output_shape") || all_at_least(std::span(shape).subspan(2), 1);
}

bool are_within(const Call& c) {
  if (!has_window(c) || !shape_is_of_batch(c) || !shape_is_inferred(c)) return true;
  const Int elements = bounded_volume(output_shape(c));
  return std::ranges::all_of(c.ints("I"), [&](Int at) { return at >= 0 && at < elements; });
}

Values unpool(const Call& call, Inputs in) {
  Tensor y({in[0]->dtype(), output_shape(call)});
  for_type(y.dtype(), [&]<class T>() {
    const std::span<T> to = y.as<T>();
    for (std::size_t j = 0; const Int at : call.ints("I")) to[static_cast<std::size_t>(at)] = in[0]->as<T>()[j++];
  });
  return y;
}

}  // namespace

// clang-format off
Operator max_unpool() {
  using enum DType;
  return Operator("MaxUnpool")
      .input("X", "T1").parameter("I", "T2", "I").parameter("output_shape", "T2", "output_shape", Arity::optional)
      .output("output", "T1")
      .required_ints("kernel_shape").attribute("pads", zeros).attribute("strides", ones).with(window_constraints)
      .without("W1").without("W2").without("W6").without("W8")
      .require("MU1", "I has the shape of X", [](auto& c) { return c.shape("I") == c.shape("X"); })
      .require("MU2", "indices are in [0, s - 1], s being the elements of output", are_within)
      .require("MU3", "output_shape has an entry for each axis of X, N, C and at least 1", shape_is_of_batch)
      .require("MU4", "rank(X) >= 3: at least one spatial axis", [](auto& c) { return c.rank("X") >= 3; })
      .require("MU6", "without output_shape at least one element on every spatial axis", shape_is_inferred)
      .since(9)
          .type("T1", {f16, f32, f64}).type("T2", {i64}).rulings({"A29", "E1", "W17", "W18", "W63"})
      .since(11, "the defaults of strides are stated")
      .since(22, "T1 admits bfloat16")
          .type("T1", {bf16, f16, f32, f64})
      .shaping(Shaping::moved).infer(moved_to(output_shape)).kernel(unpool);
}
// clang-format on

}  // namespace assay
