// SPDX-License-Identifier: Apache-2.0
// com.microsoft NhwcConv 1 - Conv with the channels last:
//
//   Y = NHWC(Conv(NCHW(X), OIHW(W), B))
//
// X is N x I… x C (A25), W is M x k… x C/group (A24), Y is N x O… x M.
#include "reference/convolution.h"

#include <algorithm>

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

// Moves the elements of each outer slice from [plane, channels] to [channels, plane], a square of them at a time so
// that both sides stay in the cache.
template <class T>
void transpose(std::span<const T> in, std::span<T> out, Int planes, Int channels) {
  constexpr Int side = 16;
  const Int slice = planes * channels;
  for (Int start = 0; slice > 0 && start < static_cast<Int>(in.size()); start += slice)
    for (Int plane = 0; plane < planes; plane += side)
      for (Int channel = 0; channel < channels; channel += side)
        for (Int c = channel; c < std::min(channel + side, channels); ++c)
          for (Int p = plane; p < std::min(plane + side, planes); ++p)
            out[static_cast<std::size_t>(start + c * planes + p)] =
                in[static_cast<std::size_t>(start + p * channels + c)];
}

Tensor transposed(const Tensor& in, Shape to, Int planes, Int channels) {
  Tensor out({in.dtype(), std::move(to)});
  for_float(in.dtype(), [&]<class T>() { transpose(in.as<T>(), out.as<T>(), planes, channels); });
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

template <class Conv>
Tensor between_transpositions(std::span<const Tensor* const> in, Conv&& conv) {
  const Tensor x = to_channels_second(*in[0]), w = to_channels_second(*in[1]);
  const Tensor* const inputs[] = {&x, &w, in.size() > 2 ? in[2] : nullptr};
  return to_channels_last(conv(inputs));
}

Tensor compute(const Call& call, std::span<const Tensor* const> in) {
  return between_transpositions(in, [&](std::span<const Tensor* const> inputs) {
    return conv_definition().kernel(conv_of(call), inputs).only();
  });
}

Tensor compute_fast(const Call& call, std::span<const Tensor* const> in, int threads) {
  return between_transpositions(in, [&](std::span<const Tensor* const> inputs) {
    return conv_definition().fast(conv_of(call), inputs, threads).only();
  });
}

// The extents W gives the kernel, in the layout of the ruling.
Ints kernel_of(const Call& call) { return extents_of("W")(conv_of(call)); }

}  // namespace

// clang-format off
Operator nhwc_conv() {
  using enum DType;
  return Operator("NhwcConv", "com.microsoft")
      .input("X", "T").input("W", "T").input("B", "T", Arity::optional).output("Y", "T")
      .attribute("auto_pad", "NOTSET").attribute("dilations", ones).attribute("group", 1)
      .attribute("kernel_shape", kernel_of).attribute("pads", zeros).attribute("strides", ones)

      .with([](Operator& self) { convolution_constraints(self, conv_of); })
      .lifted("C3", "A24").lifted("C8", "A24")

      .since(1)
          .type("T", {f16, f32, f64})
          .rulings({"A2", "A3", "A4", "A5", "A6", "A12", "A13", "A14", "A15", "A24", "A25", "A26", "A29", "A31"})

      .shaping(Shaping::window)
      .shape(output_shape)
      .kernel(compute)
      .fast(compute_fast);
}
// clang-format on

}  // namespace assay
