// SPDX-License-Identifier: Apache-2.0
#include "reference/families/windows.h"

#include <algorithm>

namespace assay {

Int bounded_product(Int a, Int b) {
  constexpr Int most = Int{1} << 48;
  Int out;
  if (__builtin_mul_overflow(a, b, &out) || out > most || out < -most)
    throw InputError("a window is too large: more than 2^48 cells");
  return out;
}

std::vector<Spread> spread(const Call& call) {
  const std::string word = call.text("auto_pad");
  const Ints kernel = call.ints("kernel_shape"), strides = call.ints("strides"), dilations = call.ints("dilations"),
             more = call.ints("output_padding"), pads = call.ints("pads");
  const Ints stated = call.states("output_shape") ? call.ints("output_shape") : Ints();
  std::vector<Spread> axes;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    Spread axis{call.dim("X", static_cast<Int>(i) + 2), kernel[i], strides.at(i), dilations.at(i)};
    const Int full = bounded_product(axis.stride, axis.in - 1) + bounded_product(axis.kernel - 1, axis.dilation) + 1 +
                     bounded_product(more.at(i), 1);
    const bool is_same = word.starts_with("SAME_"), is_padded = !stated.empty() || is_same;
    if (is_padded) {
      axis.out =
          stated.empty() ? std::min(bounded_product(axis.in, axis.stride), full) : bounded_product(stated.at(i), 1);
      const Int total = std::max<Int>(0, full - axis.out), half = total / 2;
      axis.begin = word == "SAME_UPPER" ? half : total - half;
    } else if (word == "VALID") {
      axis.out = full;
    } else {
      axis.begin = bounded_product(pads.at(i), 1);
      axis.out = full - axis.begin - bounded_product(pads.at(i + kernel.size()), 1);
    }
    axes.push_back(axis);
  }
  return axes;
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

Planes Planes::of(const Call& call, Int cells) {
  const bool is_last = call.has_channels_last();
  return {call.dim("X", 0), call.dim("X", is_last ? call.rank("X") - 1 : 1), cells, is_last};
}

Shape pooled_shape(const Call& call) {
  Shape shape = Window::of(call).output();
  const Planes x = Planes::of(call, 0);
  shape.insert(x.is_channel_last ? shape.end() : shape.begin(), x.channels);
  shape.insert(shape.begin(), x.batch);
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
