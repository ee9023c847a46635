// SPDX-License-Identifier: Apache-2.0
// DeformConv (ai.onnx 19, 22) - https://onnx.ai/onnx/operators/onnx__DeformConv.html
//
//   Y[n,m,o] = B[m] + sum over c, k of  W[m,c,k] * (mask[n, q*K + k, o] * v(X[n, g*C + c], p))
//   p_a = o_a*stride_a - pad_a + k_a*dilation_a + offset[n, (q*K + k)*r + a, o]
//
// with C = dim(W,1), g = m / (M / group), K taps in row-major order, r axes, q the offset group of the channel. v is
// the multilinear interpolation of the 2^r cells around p, a cell outside X counting as 0 (A20).
#include "reference/convolution.h"
#include "reference/fast/kernels.h"

#include <cmath>

namespace assay {
namespace {

Call conv_of(const Call& call) { return as_conv(call, "X", "W", "B"); }
Shape output_shape(const Call& call) { return Convolution(conv_of(call)).output_shape(); }

// The cells around one coordinate and their weights.
template <class A>
struct Between {
  Int low = 0;
  A low_weight = 1, high_weight = 0;
};

template <class A>
Between<A> between(A p) {
  const A floor = std::floor(p);
  return {static_cast<Int>(floor), 1 - (p - floor), p - floor};
}

// v(plane, p). The 2^r corners are visited with the last axis fastest.
template <class T, class A>
A sample(std::span<const T> plane, const Window& window, const std::vector<A>& p) {
  std::vector<Between<A>> sides;
  for (std::size_t a = 0; a < p.size(); ++a) {
    if (!(p[a] > -1 && p[a] < static_cast<A>(window.axes[a].in))) return 0;  // every neighbour is outside
    sides.push_back(between(p[a]));
  }
  A value = 0;
  for (std::size_t corner = 0; corner < std::size_t{1} << p.size(); ++corner) {
    A weight = 1;
    Int flat = 0;
    bool inside = true;
    for (std::size_t a = 0; a < p.size(); ++a) {
      const bool high = corner >> (p.size() - 1 - a) & 1;
      const Int cell = sides[a].low + (high ? 1 : 0);
      weight *= high ? sides[a].high_weight : sides[a].low_weight;
      inside = inside && window.axes[a].is_inside(cell);
      flat = flat * window.axes[a].in + cell;
    }
    if (inside) value += weight * static_cast<A>(plane[flat]);
  }
  return value;
}

template <class T>
struct Inputs {
  std::span<const T> x, w, offset, bias, mask;
};

template <class T>
void deform(const Call& call, const Inputs<T>& in, std::span<T> y) {
  using A = accumulator_t<T>;
  const Convolution conv(conv_of(call));
  const Shape kernel = conv.window.kernel(), out = conv.window.output();
  const Int axes = static_cast<Int>(kernel.size()), taps = conv.window.taps(), windows = volume(out);
  const Int x_plane = volume(conv.window.input()), offset_group = call.integer("offset_group");
  std::vector<A> p(kernel.size());

  conv.for_each_output([&](Int n, Int m, const Shape& o, Int at) {
    A sum = in.bias.empty() ? A{0} : static_cast<A>(in.bias[m]);
    for (Int c = 0; c < conv.depth; ++c) {
      const Int channel = conv.first_channel(m) + c, q = channel / (conv.channels / offset_group);
      for_each_position(kernel, [&](const Shape& k, Int tap) {
        const Int displaced = (n * offset_group + q) * taps + tap;
        for (Int a = 0; a < axes; ++a) {
          const auto axis = static_cast<std::size_t>(a);
          p[axis] = static_cast<A>(conv.window.axes[axis].cell(o[axis], k[axis])) +
                    static_cast<A>(in.offset[(displaced * axes + a) * windows + at % windows]);
        }
        const A mask = in.mask.empty() ? A{1} : static_cast<A>(in.mask[displaced * windows + at % windows]);
        const A weight = static_cast<A>(in.w[(m * conv.depth + c) * taps + tap]);
        sum += weight * (mask * sample(in.x.subspan((n * conv.channels + channel) * x_plane, x_plane), conv.window, p));
      });
    }
    y[at] = written<T>(sum);
  });
}

Tensor compute(const Call& call, std::span<const Tensor* const> in) {
  Tensor y({call.type("X").dtype, output_shape(call)});
  for_float(y.dtype(), [&]<class T>() {
    const auto at = [&](std::size_t i) { return i < in.size() && in[i] ? in[i]->as<T>() : std::span<const T>{}; };
    deform<T>(call, {at(0), at(1), at(2), at(3), at(4)}, y.as<T>());
  });
  return y;
}

bool has_geometry(const Call& c, const Call& as_conv) {
  return c.integer("offset_group") >= 1 && conv_definition().violated(as_conv).empty();
}

// [N, offset_group * K * per_tap, O…]
bool matches_windows(const Call& c, const char* input, Int per_tap) {
  if (!c.has(input)) return true;
  const Call as_conv = conv_of(c);
  if (!has_geometry(c, as_conv)) return true;
  const Convolution conv(as_conv);
  Shape want = conv.window.output();
  want.insert(want.begin(), {conv.batch, c.integer("offset_group") * conv.window.taps() * per_tap});
  return c.shape(input) == want;
}

bool offset_group_divides_channels(const Call& c) {
  return c.rank("X") < 2 || c.integer("offset_group") < 1 || c.dim("X", 1) % c.integer("offset_group") == 0;
}

}  // namespace

// clang-format off
Operator deform_conv() {
  using enum DType;
  return Operator("DeformConv")
      .input("X", "T").input("W", "T").input("offset", "T")
      .input("B", "T", Arity::optional).input("mask", "T", Arity::optional).output("Y", "T")
      .attribute("dilations", ones).attribute("group", 1).attribute("kernel_shape", extents_of("W"))
      .attribute("offset_group", 1).attribute("pads", zeros).attribute("strides", ones)

      .with([](Operator& self) { convolution_constraints(self, conv_of, {"W1", "W2"}); })
      .require("D1", "offset_group >= 1",                  [](auto& c) { return c.integer("offset_group") >= 1; })
      .require("D2", "dim(X,1) mod offset_group = 0",      offset_group_divides_channels)
      .require("D3", "shape(offset) = [dim(X,0), offset_group * prod(kernel) * r, windows…] (A22)",
               [](auto& c) { return matches_windows(c, "offset", c.rank("X") - 2); })
      .require("D4", "shape(mask) = [dim(X,0), offset_group * prod(kernel), windows…] (A19)",
               [](auto& c) { return matches_windows(c, "mask", 1); })

      .since(19)
          .type("T", {f16, f32, f64})
          .rulings({"A6", "A12", "A13", "A15", "A19", "A20", "A21", "A22", "A23", "A26", "A29"})
      .since(22, "T admits bfloat16")
          .type("T", {bf16, f16, f32, f64})

      .shaping(Shaping::window)
      .shape(output_shape)
      .kernel(compute)
      .fast(fast::deform_conv);
}
// clang-format on

}  // namespace assay
