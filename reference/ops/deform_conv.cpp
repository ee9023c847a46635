// SPDX-License-Identifier: Apache-2.0
// DeformConv (ai.onnx 19, 22) - https://onnx.ai/onnx/operators/onnx__DeformConv.html
//
//   Y[n,m,o] = B[m] + sum over c, k of  W[m,c,k] * (mask[n, q*K + k, o] * v(X[n, g*C + c], p))
//   p_a = o_a*stride_a - pad_a + k_a*dilation_a + offset[n, (q*K + k)*r + a, o]
//
// with C = dim(W,1), g = m / (M / group), K taps in row-major order, r axes, q the offset group of the channel. v is
// the multilinear interpolation of the 2^r cells around p, a cell outside X counting as 0 (A20).
#include "reference/convolution.h"
#include "reference/engine.h"

#include <algorithm>
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

// Where the samples of a piece's windows lie: for every tap and window the 2^r cells around it and their weights. A
// cell outside counts as some cell with weight 0, which is exact as long as the data are finite.
template <class A>
struct Samples {
  Int corners, count;               // count: taps * windows
  std::vector<std::int32_t> cells;  // [corners][count]
  std::vector<A> weights, masks;    // [corners][count], [count]
};

template <class A>
void add_corners(Samples<A>& samples, Int at, const Window& window, const std::vector<A>& p,
                 std::vector<Between<A>>& sides) {
  const std::size_t axes = p.size();
  for (std::size_t a = 0; a < axes; ++a) {
    if (!(p[a] > -1 && p[a] < static_cast<A>(window.axes[a].in))) return;  // every neighbour is outside
    sides[a] = between(p[a]);
  }
  for (Int corner = 0; corner < samples.corners; ++corner) {
    A weight = 1;
    Int flat = 0;
    for (std::size_t a = 0; a < axes; ++a) {
      const Between<A>& side = sides[a];
      const bool high = corner >> (axes - 1 - a) & 1;
      const Int cell = side.low + (high ? 1 : 0);
      weight *= high ? side.high_weight : side.low_weight;
      if (!window.axes[a].is_inside(cell)) flat = -1;
      if (flat >= 0) flat = flat * window.axes[a].in + cell;
    }
    if (flat < 0) continue;
    const auto i = static_cast<std::size_t>(corner * samples.count + at);
    samples.cells[i] = static_cast<std::int32_t>(flat);
    samples.weights[i] = weight;
  }
}

template <class T, class A>
Samples<A> samples_of(const Convolution& conv, const Inputs<T>& in, const engine::Piece& piece, Int displacement) {
  const Shape kernel = conv.window.kernel(), out = conv.window.output();
  const Int axes = static_cast<Int>(kernel.size()), windows = volume(out), taps = conv.window.taps();
  const Int count = taps * piece.count, corners = Int{1} << axes;
  const auto all = static_cast<std::size_t>(corners * count);
  Samples<A> samples{corners, count, std::vector<std::int32_t>(all), std::vector<A>(all),
                     std::vector<A>(static_cast<std::size_t>(count), A{1})};
  std::vector<A> p(kernel.size());
  std::vector<Between<A>> sides(kernel.size());
  Shape o(out.size());
  for (Int i = 0; i < piece.count; ++i) {
    const Int at = piece.first + i;
    for (Int a = axes, rest = at; a-- > 0; rest /= out[static_cast<std::size_t>(a)])
      o[static_cast<std::size_t>(a)] = rest % out[static_cast<std::size_t>(a)];
    for_each_position(kernel, [&](const Shape& k, Int tap) {
      const Int displaced = displacement * taps + tap;
      for (std::size_t a = 0; a < p.size(); ++a)
        p[a] = static_cast<A>(conv.window.axes[a].cell(o[a], k[a])) +
               static_cast<A>(in.offset[(displaced * axes + static_cast<Int>(a)) * windows + at]);
      add_corners(samples, tap * piece.count + i, conv.window, p, sides);
      if (!in.mask.empty())
        samples.masks[static_cast<std::size_t>(tap * piece.count + i)] =
            static_cast<A>(in.mask[displaced * windows + at]);
    });
  }
  return samples;
}

// to[i] = mask[i] * (sum over the corners of weight * cell), the corners in order.
template <class A>
inline void interpolate(const Samples<A>& samples, Int first, Int count, const A* plane, A* to) {
  std::fill_n(to, count, A{0});
  for (Int corner = 0; corner < samples.corners; ++corner) {
    const std::int32_t* const cells = samples.cells.data() + corner * samples.count + first;
    const A* const weights = samples.weights.data() + corner * samples.count + first;
    for (Int i = 0; i < count; ++i) to[i] += weights[i] * plane[cells[i]];
  }
  const A* const masks = samples.masks.data() + first;
  for (Int i = 0; i < count; ++i) to[i] = masks[i] * to[i];
}

ASSAY_EVERY_WIDTH void sample_row(const Samples<float>& samples, Int first, Int count, const float* plane, float* to) {
  interpolate(samples, first, count, plane, to);
}
ASSAY_EVERY_WIDTH void sample_row(const Samples<double>& samples, Int first, Int count, const double* plane,
                                  double* to) {
  interpolate(samples, first, count, plane, to);
}

// The same through the engine: every tap is sampled once, for all maps.
template <class T>
void deform_fast(const Call& call, const Inputs<T>& in, std::span<T> y, int threads) {
  using A = accumulator_t<T>;
  const Convolution conv(conv_of(call));
  const engine::Extent extent{conv.batch, conv.group, conv.maps / conv.group, conv.depth};
  const Int x_plane = volume(conv.window.input()), y_plane = volume(conv.window.output());
  const bool is_finite = std::ranges::all_of(in.x, [](T cell) { return std::isfinite(static_cast<A>(cell)); });
  if (!engine::pays(conv.window, extent) || !is_finite || x_plane == 0 ||
      x_plane > std::numeric_limits<std::int32_t>::max())
    return deform(call, in, y);

  const engine::Plan plan = engine::plan(conv.window, extent, true);
  std::vector<A> x_room, w_room, bias_room;
  const std::span<const A> x = engine::lanes(in.x, x_room);
  const Int offset_group = call.integer("offset_group");

  engine::Task<A> task{
      .plan = plan, .weights = engine::lanes(in.w, w_room), .start = engine::lanes(in.bias, bias_room)};
  task.pack = [&](const engine::Piece& piece, A* to, Int pitch) {
    std::optional<Samples<A>> samples;
    for (Int c = 0, of = -1; c < conv.depth; ++c) {
      const Int channel = piece.group * conv.depth + c, q = channel / (conv.channels / offset_group);
      if (q != of) samples = samples_of<T, A>(conv, in, piece, piece.image * offset_group + q);
      of = q;
      for (Int tap = 0; tap < plan.taps; ++tap)
        sample_row(*samples, tap * piece.count, piece.count, &x[(piece.image * conv.channels + channel) * x_plane],
                   to + (c * plan.taps + tap) * pitch);
    }
  };
  task.finish = [&](Int n, Int m, Int window, std::span<const A> sums) {
    engine::write(sums, y.subspan(static_cast<std::size_t>((n * conv.maps + m) * y_plane + window), sums.size()));
  };
  engine::run(task, threads);
}

template <class F>
Tensor with_types(const Call& call, std::span<const Tensor* const> in, F&& f) {
  Tensor y({call.type("X").dtype, output_shape(call)});
  for_float(y.dtype(), [&]<class T>() {
    const auto at = [&](std::size_t i) { return i < in.size() && in[i] ? in[i]->as<T>() : std::span<const T>{}; };
    f(Inputs<T>{at(0), at(1), at(2), at(3), at(4)}, y.as<T>());
  });
  return y;
}

Tensor compute(const Call& call, std::span<const Tensor* const> in) {
  return with_types(call, in, [&]<class T>(const Inputs<T>& data, std::span<T> y) { deform(call, data, y); });
}

Tensor compute_fast(const Call& call, std::span<const Tensor* const> in, int threads) {
  return with_types(call, in,
                    [&]<class T>(const Inputs<T>& data, std::span<T> y) { deform_fast(call, data, y, threads); });
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
const Operator& deform_conv() {
  using enum DType;
  static const Operator op = Operator("DeformConv")
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

      .shape(output_shape)
      .kernel(compute)
      .fast(compute_fast);
  return op;
}
// clang-format on

}  // namespace assay
