// SPDX-License-Identifier: Apache-2.0
// com.microsoft NhwcConv 1 - Conv with the channels last:
//
//   Y = NHWC(Conv(NCHW(X), OIHW(W), B))
//
// X is N x I… x C (A25), W is M x k… x C/group (A24), Y is N x O… x M.
#include "reference/convolution.h"

namespace assay {
namespace {

Shape channels_second(const Shape& last) {
  if (last.size() < 3) return last;
  Shape shape{last.front(), last.back()};
  shape.insert(shape.end(), last.begin() + 1, last.end() - 1);
  return shape;
}

Shape channels_last(const Shape& second) {
  Shape shape{second.front()};
  shape.insert(shape.end(), second.begin() + 2, second.end());
  shape.push_back(second[1]);
  return shape;
}

Call conv_of(const Call& call) {
  Node node;
  node.input("X", {call.type("X").dtype, channels_second(call.shape("X"))});
  node.input("W", {call.type("W").dtype, channels_second(call.shape("W"))});
  if (call.has("B")) node.input("B", call.type("B"));
  node.attributes = call.node().attributes;
  return Call(conv_definition(), std::move(node));
}

// Moves the elements of each outer slice between [plane, channels] and [channels, plane].
Tensor transposed(const Tensor& in, Shape to, Int planes, Int channels) {
  Tensor out({in.dtype(), std::move(to)});
  const std::size_t size = size_of(in.dtype());
  const Int slice = planes * channels;
  for (Int i = 0; i < in.elements(); ++i) {
    const Int outer = i / slice, plane = i % slice / channels, channel = i % channels;
    const Int at = outer * slice + channel * planes + plane;
    std::memcpy(&out.bytes()[static_cast<std::size_t>(at) * size], &in.bytes()[static_cast<std::size_t>(i) * size],
                size);
  }
  return out;
}

Tensor to_channels_second(const Tensor& in) {
  const Shape to = channels_second(in.shape());
  return transposed(in, to, volume(std::span(to).subspan(2)), to[1]);
}

Tensor to_channels_last(const Tensor& in) {
  return transposed(in, channels_last(in.shape()), in.shape()[1], volume(std::span(in.shape()).subspan(2)));
}

Shape output_shape(const Call& call) { return channels_last(Convolution(conv_of(call)).output_shape()); }

Tensor compute(const Call& call, std::span<const Tensor* const> in) {
  const Tensor x = to_channels_second(*in[0]), w = to_channels_second(*in[1]);
  const Tensor* const inputs[] = {&x, &w, in.size() > 2 ? in[2] : nullptr};
  return to_channels_last(conv_definition().kernel(conv_of(call), inputs));
}

// The extents W gives the kernel, in the layout of the ruling.
Ints kernel_of(const Call& call) { return extents_of("W")(conv_of(call)); }

}  // namespace

// clang-format off
const Operator& nhwc_conv() {
  using enum DType;
  static const Operator op = Operator("NhwcConv", "com.microsoft")
      .input("X", "T").input("W", "T").input("B", "T", Arity::optional).output("Y", "T")
      .attribute("auto_pad", "NOTSET").attribute("dilations", ones).attribute("group", 1)
      .attribute("kernel_shape", kernel_of).attribute("pads", zeros).attribute("strides", ones)

      .with([](Operator& self) { convolution_constraints(self, conv_of); })
      .lifted("C3", "A24").lifted("C8", "A24")

      .since(1)
          .type("T", {f16, f32, f64})
          .rulings({"A2", "A3", "A4", "A5", "A6", "A12", "A13", "A14", "A15", "A24", "A25", "A26", "A29", "A31"})

      .shape(output_shape)
      .kernel(compute);
  return op;
}
// clang-format on

}  // namespace assay
