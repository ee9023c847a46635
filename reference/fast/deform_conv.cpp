// SPDX-License-Identifier: Apache-2.0
// DeformConv through the engine: every tap is sampled once, all channels at a time, for all maps.
#include "reference/convolution.h"
#include "reference/fast/engine.h"
#include "reference/fast/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::fast {
namespace {

template <class T>
struct Data {
  std::span<const T> x, w, offset, bias, mask;
};

// Where the samples of a piece's windows lie: for every tap and window the 2^r cells around it and their weights. A
// cell outside counts as some cell with weight 0, which is exact as long as the data are finite.
template <class A>
struct Samples {
  Int corners, count;               // count: taps * windows
  std::vector<std::int32_t> cells;  // [corners][count]
  std::vector<A> weights, masks;    // [corners][count], [count]
};

// Along one axis, per window: the cells on both sides of its coordinate, their weights, 0 outside.
template <class A>
struct Sides {
  std::vector<std::int32_t> low, high;
  std::vector<A> low_weight, high_weight;

  explicit Sides(Int count) {
    for (auto* cells : {&low, &high}) cells->resize(static_cast<std::size_t>(count));
    for (auto* weights : {&low_weight, &high_weight}) weights->resize(static_cast<std::size_t>(count));
  }
};

// The coordinates are tap[i] + offset[i].
template <class A>
ASSAY_IN_EVERY_WIDTH void find_sides(const A* tap, const A* offset, std::int32_t extent, Sides<A>& sides) {
  const auto end = static_cast<A>(extent);
  std::int32_t *const low = sides.low.data(), *const high = sides.high.data();
  A *const low_weight = sides.low_weight.data(), *const high_weight = sides.high_weight.data();
  for (std::size_t i = 0; i < sides.low.size(); ++i) {
    const A p = tap[i] + offset[i];
    const bool is_near = (p > -1) & (p < end);  // else every neighbour is outside
    const A floor = is_near ? std::floor(p) : A{0};
    const auto cell = static_cast<std::int32_t>(floor);
    low_weight[i] = (is_near & (cell >= 0) & (cell < extent)) ? 1 - (p - floor) : A{0};
    high_weight[i] = (is_near & (cell + 1 < extent)) ? p - floor : A{0};
    low[i] = std::clamp(cell, 0, extent - 1);
    high[i] = std::clamp(cell + 1, 0, extent - 1);
  }
}
// What one more axis makes of the cells and weights of a corner.
template <class A>
ASSAY_IN_EVERY_WIDTH void refine(const std::vector<std::int32_t>& side, const std::vector<A>& weight,
                                 std::int32_t extent, std::int32_t* cells, A* weights) {
  for (std::size_t i = 0; i < side.size(); ++i) cells[i] = cells[i] * extent + side[i];
  for (std::size_t i = 0; i < side.size(); ++i) weights[i] *= weight[i];
}
ASSAY_EVERY_WIDTH void sides_of(const float* tap, const float* offset, std::int32_t extent, Sides<float>& sides) {
  find_sides(tap, offset, extent, sides);
}
ASSAY_EVERY_WIDTH void sides_of(const double* tap, const double* offset, std::int32_t extent, Sides<double>& sides) {
  find_sides(tap, offset, extent, sides);
}
ASSAY_EVERY_WIDTH void add_axis(const std::vector<std::int32_t>& side, const std::vector<float>& weight,
                                std::int32_t extent, std::int32_t* cells, float* weights) {
  refine(side, weight, extent, cells, weights);
}
ASSAY_EVERY_WIDTH void add_axis(const std::vector<std::int32_t>& side, const std::vector<double>& weight,
                                std::int32_t extent, std::int32_t* cells, double* weights) {
  refine(side, weight, extent, cells, weights);
}

// Per axis, tap along it and window of the piece: the cell without its offset.
template <class A>
std::vector<std::vector<std::vector<A>>> undisplaced(const Window& window, const engine::Piece& piece) {
  std::vector<std::vector<std::vector<A>>> all(window.axes.size());
  Int inner = volume(window.output());
  for (std::size_t a = 0; a < all.size(); ++a) {
    const Axis& axis = window.axes[a];
    inner /= axis.out;
    for (Int tap = 0; tap < axis.kernel; ++tap) {
      std::vector<A>& cells = all[a].emplace_back();
      for (Int at = piece.first; at < piece.first + piece.count; ++at)
        cells.push_back(static_cast<A>(axis.cell(at / inner % axis.out, tap)));
    }
  }
  return all;
}

// offset [axis][window] and mask [window], or none, are those of an image, offset group and tap 0; taps follow.
template <class A>
Samples<A> samples_of(const Window& window, const engine::Piece& piece, const A* offset, const A* mask) {
  const std::size_t axes = window.axes.size();
  const Int windows = volume(window.output()), count = window.taps() * piece.count, corners = Int{1} << axes;
  const auto all = static_cast<std::size_t>(corners * count);
  Samples<A> samples{corners, count, std::vector<std::int32_t>(all), std::vector<A>(all, A{1}),
                     std::vector<A>(static_cast<std::size_t>(count), A{1})};
  const auto cells = undisplaced<A>(window, piece);
  Sides<A> sides(piece.count);
  for_each_position(window.kernel(), [&](const Shape& k, Int tap) {
    for (std::size_t a = 0; a < axes; ++a) {
      const auto extent = static_cast<std::int32_t>(window.axes[a].in);
      const Int row = tap * static_cast<Int>(axes) + static_cast<Int>(a);
      sides_of(cells[a][static_cast<std::size_t>(k[a])].data(), offset + row * windows + piece.first, extent, sides);
      for (Int corner = 0; corner < corners; ++corner) {
        const bool high = corner >> (axes - 1 - a) & 1;
        const Int at = corner * count + tap * piece.count;
        add_axis(high ? sides.high : sides.low, high ? sides.high_weight : sides.low_weight, extent,
                 samples.cells.data() + at, samples.weights.data() + at);
      }
    }
    if (mask) std::copy_n(mask + tap * windows + piece.first, piece.count, samples.masks.data() + tap * piece.count);
  });
  return samples;
}

// Images with their channels side by side at every cell.
template <class A>
std::vector<A> channels_last(std::span<const A> x, Int images, Int channels, Int x_plane) {
  std::vector<A> last(x.size() + engine::CornerSampling<A>::behind);
  for (Int n = 0; n < images; ++n)
    engine::transpose(x.data() + n * channels * x_plane, channels, x_plane, last.data() + n * channels * x_plane,
                      channels);
  return last;
}

// Returns false where it writes nothing: only of finite data a cell outside counts as one with weight 0.
template <class T>
bool deform(const Convolution& conv, const engine::Extent& extent, Int offset_group, const Data<T>& in, std::span<T> y,
            int threads) {
  using A = accumulator_t<T>;
  const Int x_plane = volume(conv.window.input()), y_plane = volume(conv.window.output());
  std::vector<A> x_room, w_room, bias_room, offset_room, mask_room;
  const std::span<const A> x = engine::lanes(in.x, x_room);
  if (!engine::is_finite(x)) return false;

  const engine::Plan plan = engine::plan(conv.window, extent, true);
  const std::vector<A> cells = channels_last(x, conv.batch, conv.channels, x_plane);
  const std::span<const A> offset = engine::lanes(in.offset, offset_room), mask = engine::lanes(in.mask, mask_room);
  const Int axes = static_cast<Int>(conv.window.axes.size());

  engine::Task<A> task{
      .plan = plan, .weights = engine::lanes(in.w, w_room), .start = engine::lanes(in.bias, bias_room)};
  task.pack = [&](const engine::Piece& piece, A* to, Int pitch) {
    const Int first = piece.group * conv.depth, end = first + conv.depth, together = conv.channels / offset_group;
    for (Int channel = first, next = 0; channel < end; channel = next) {
      next = std::min(end, (channel / together + 1) * together);  // of the same offset group
      const Int displaced = (piece.image * offset_group + channel / together) * plan.taps * y_plane;
      const Samples<A> samples = samples_of<A>(conv.window, piece, offset.data() + displaced * axes,
                                               mask.empty() ? nullptr : mask.data() + displaced);
      for (Int tap = 0; tap < plan.taps; ++tap) {
        const Int at = tap * piece.count;
        engine::sample(engine::CornerSampling<A>{.x = cells.data() + piece.image * conv.channels * x_plane + channel,
                                                 .channels = conv.channels,
                                                 .sampled = next - channel,
                                                 .corners = samples.corners,
                                                 .count = piece.count,
                                                 .stride = samples.count,
                                                 .cells = samples.cells.data() + at,
                                                 .weights = samples.weights.data() + at,
                                                 .masks = samples.masks.data() + at,
                                                 .to = to + ((channel - first) * plan.taps + tap) * pitch,
                                                 .pitch = plan.taps * pitch});
      }
    }
  };
  task.finish = [&](Int n, Int m, Int window, std::span<const A> sums) {
    engine::write(sums, y.subspan(static_cast<std::size_t>((n * conv.maps + m) * y_plane + window), sums.size()));
  };
  engine::run(task, threads);
  return true;
}

}  // namespace

Tensor deform_conv(const Call& call, Inputs in, int threads) {
  const Convolution conv(as_conv(call, "X", "W", "B"));
  const engine::Extent extent{conv.batch, conv.group, conv.maps / conv.group, conv.depth};
  const Int x_plane = volume(conv.window.input());
  if (!engine::pays(conv.window, extent) || x_plane == 0 || x_plane > std::numeric_limits<std::int32_t>::max() / 2)
    return call.definition().kernel(call, in).only();
  Tensor y({call.type("X").dtype, conv.output_shape()});
  const bool is_done = for_float(y.dtype(), [&]<class T>() {
    const auto at = [&](std::size_t i) { return i < in.size() && in[i] ? in[i]->as<T>() : std::span<const T>{}; };
    return deform<T>(conv, extent, call.integer("offset_group"), {at(0), at(1), at(2), at(3), at(4)}, y.as<T>(),
                     threads);
  });
  return is_done ? y : call.definition().kernel(call, in).only();
}

}  // namespace assay::fast
