// SPDX-License-Identifier: Apache-2.0
// QLinearConv through the engine:
//
//   sum of (x - x_zero) * d  =  sum of x * d  -  x_zero * sum of d      where d = w - w_zero[m], and padding reads
//   x_zero
//
// The products are of a byte without a sign (x, or x + 128 where x has one) by one with. A difference that does not fit
// is split in two or three that do, and their channel packed as often. Integer sums are the same in any order: four
// channels far apart make up a lane.
#include "reference/convolution.h"
#include "reference/fast/engine.h"
#include "reference/fast/kernels.h"
#include "reference/requantization.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::fast {
namespace {

constexpr double largest_term = 255.0 * 255.0;

template <class F>
auto for_byte(DType dtype, F&& f) {
  return dtype == DType::u8 ? f.template operator()<std::uint8_t>() : f.template operator()<std::int8_t>();
}

// How the channels of a group, or their parts [part][depth], fall into lanes: lane c holds number c, c + lanes,
// c + 2 * lanes and c + 3 * lanes.
struct Fours {
  Int depth = 1, lanes = 1;

  // The channel at place `of` of lane c; beyond the last part weights are 0 and any channel will do.
  Int channel(Int c, Int of) const { return (c + of * lanes) % depth; }
};

struct Weights {
  Fours fours;
  std::vector<engine::Quad> quads;  // [map][lanes][tap]
  std::vector<std::int32_t> start;  // per map: -x_zero * sum of d
};

// The differences of one map, and what they sum up to.
template <class T>
ASSAY_IN_EVERY_WIDTH std::int32_t subtract(std::span<const T> from, int zero, std::int16_t* to) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = static_cast<std::int16_t>(from[i] - zero);
    sum += from[i] - zero;
  }
  return sum;
}
ASSAY_EVERY_WIDTH std::int32_t differences(std::span<const std::uint8_t> w, int zero, std::int16_t* to) {
  return subtract(w, zero, to);
}
ASSAY_EVERY_WIDTH std::int32_t differences(std::span<const std::int8_t> w, int zero, std::int16_t* to) {
  return subtract(w, zero, to);
}
ASSAY_EVERY_WIDTH int parts_of(std::span<const std::int16_t> all) {
  std::int16_t least = 0, most = 0;
  for (const std::int16_t each : all) {
    least = std::min(least, each);
    most = std::max(most, each);
  }
  int parts = 1;
  while (least < -128 * parts || most > 127 * parts) ++parts;
  return parts;
}
// Part `part` of each difference, which is the sum of its parts.
ASSAY_EVERY_WIDTH void split(std::span<const std::int16_t> all, int part, std::uint8_t* to) {
  const auto low = static_cast<std::int16_t>(128 * part), high = static_cast<std::int16_t>(127 * part);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto below = static_cast<std::int16_t>(std::min<int>(all[i] + low, 0));
    const auto above = static_cast<std::int16_t>(std::max<int>(all[i] - high, 0));
    to[i] = static_cast<std::uint8_t>(std::max<int>(below, -128) + std::min<int>(above, 127));
  }
}
ASSAY_EVERY_WIDTH void join(const std::uint8_t* four, Int count, engine::Quad* to) {
  for (Int i = 0; i < count; ++i) to[i] = {four[i], four[count + i], four[2 * count + i], four[3 * count + i]};
}

Weights weights_of(const Convolution& conv, const Tensor& w, const std::vector<Int>& zero, int x_zero) {
  const Int taps = conv.window.taps();
  const auto terms = static_cast<std::size_t>(conv.depth * taps), maps = static_cast<std::size_t>(conv.maps);
  Weights weights;
  std::vector<std::int16_t> all(maps * terms);
  for_byte(w.dtype(), [&]<class T>() {
    for (std::size_t m = 0; m < maps; ++m)
      weights.start.push_back(-x_zero * differences(w.as<T>().subspan(m * terms, terms),
                                                    static_cast<int>(of_map(zero, static_cast<Int>(m))),
                                                    all.data() + m * terms));
  });
  const int parts = parts_of(all);
  weights.fours = {conv.depth, (conv.depth * parts + 3) / 4};

  const auto count = static_cast<std::size_t>(weights.fours.lanes * taps);
  weights.quads.resize(maps * count);
  std::vector<std::uint8_t> four(4 * count);
  for (std::size_t m = 0; m < maps; ++m) {
    for (int part = 0; part < parts; ++part)
      split(std::span(all).subspan(m * terms, terms), part, four.data() + static_cast<std::size_t>(part) * terms);
    join(four.data(), static_cast<Int>(count), weights.quads.data() + m * count);
  }
  return weights;
}

struct Scaling {
  double bias, x_scale, w_scale, y_scale, zero;
};

// A row of sums. The engine has one product where the formula has two and a quotient, whose roundings differ by less
// than a billionth in values that do not saturate: near a tie, and where the scales leave no number, the formula
// counts.
template <class T>
void requantize(std::span<const std::int32_t> sums, const Scaling& by, T* y) {
  const double factor = by.x_scale * by.w_scale / by.y_scale;
  const engine::Requantization at_once{by.bias, factor, by.zero, std::numeric_limits<T>::min(),
                                       std::numeric_limits<T>::max()};
  if (std::isfinite(factor) && engine::requantize(sums, at_once, reinterpret_cast<std::uint8_t*>(y))) return;
  for (std::size_t i = 0; i < sums.size(); ++i)
    y[i] =
        saturated<T>(requantized(static_cast<double>(sums[i]) + by.bias, by.x_scale, by.w_scale, by.y_scale) + by.zero);
}

}  // namespace

Tensor qlinear_conv(const Call& call, Inputs in, int threads) {
  const Convolution conv(as_conv(call, "x", "w", "B"));
  engine::Extent extent{conv.batch, conv.group, conv.maps / conv.group, conv.depth};
  const double terms = static_cast<double>(conv.depth) * static_cast<double>(conv.window.taps());
  if (!engine::pays(conv.window, extent) || (terms + 1) * largest_term > std::numeric_limits<std::int32_t>::max())
    return call.definition().kernel(call, in).only();

  const int flip = in[0]->dtype() == DType::i8 ? 128 : 0;  // turns one with a sign into one without
  const int x_zero = static_cast<int>(integers(*in[2])[0]) + flip;
  const Weights weights = weights_of(conv, *in[3], integers(*in[5]), x_zero);
  const Fours& fours = weights.fours;
  extent.depth = fours.lanes;
  engine::Plan plan = engine::plan(conv.window, extent);
  if (plan.packing == engine::Plan::Packing::in_place) plan.packing = engine::Plan::Packing::planes;
  const std::vector<Int> bias = in.size() > 8 && in[8] ? integers(*in[8]) : std::vector<Int>{0};
  const Scaling each{0, in[1]->as<float>()[0], 0, in[6]->as<float>()[0], static_cast<double>(integers(*in[7])[0])};
  const Int x_plane = volume(conv.window.input()), y_plane = volume(conv.window.output());
  Tensor y({call.type("y_zero_point").dtype, conv.output_shape()});

  const auto zero = static_cast<std::uint8_t>(x_zero);
  engine::Task<engine::Quad> task{.plan = plan, .weights = weights.quads, .start = weights.start};
  task.outside = {zero, zero, zero, zero};
  task.pack = [&](const engine::Piece& piece, engine::Quad* to, Int pitch) {
    const auto* const x = reinterpret_cast<const std::uint8_t*>(in[0]->bytes().data()) +
                          (piece.image * conv.channels + piece.group * conv.depth) * x_plane;
    engine::pack(
        plan, conv.window, piece, to, pitch,
        [&](Int c) {
          const auto at = [&](Int of) { return x + fours.channel(c, of) * x_plane; };
          return [a = at(0), b = at(1), c = at(2), d = at(3), flip](Int cell) {
            const auto as_unsigned = [flip](std::uint8_t byte) { return static_cast<std::uint8_t>(byte ^ flip); };
            return engine::Quad{as_unsigned(a[cell]), as_unsigned(b[cell]), as_unsigned(c[cell]), as_unsigned(d[cell])};
          };
        },
        task.outside);
  };
  task.finish = [&](Int n, Int m, Int window, std::span<const std::int32_t> sums) {
    Scaling by = each;
    by.bias = static_cast<double>(of_map(bias, m));
    by.w_scale = of_map(in[4]->as<float>(), m);
    const Int at = (n * conv.maps + m) * y_plane + window;
    for_byte(y.dtype(), [&]<class T>() { requantize(sums, by, y.as<T>().data() + at); });
  };
  engine::run(task, threads);
  return y;
}

}  // namespace assay::fast
