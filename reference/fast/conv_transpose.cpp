// SPDX-License-Identifier: Apache-2.0
// ConvTranspose through the engine. Outputs a stride apart, one phase of every axis, are a convolution of stride 1:
// taps k with k d = o + begin (mod s) meet them, the last of them the first cell.
#include "reference/families/windows.h"
#include "reference/fast/engine.h"
#include "reference/fast/kernels.h"

#include <algorithm>
#include <numeric>

namespace assay::fast {
namespace {

// One phase of an axis: the outputs `first`, first + stride, … as windows over X, and the taps that meet them.
struct Phase {
  Axis axis;
  Int first = 0;
  Ints taps;  // ascending
};

std::vector<Phase> phases(const Spread& spread) {
  std::vector<Phase> all;
  for (Int first = 0; first < std::min(spread.stride, spread.out); ++first) {
    Phase phase{{}, first, {}};
    for (Int tap = 0; tap < spread.kernel; ++tap)
      if ((first + spread.begin - tap * spread.dilation) % spread.stride == 0) phase.taps.push_back(tap);
    if (phase.taps.empty()) continue;
    phase.axis = {.in = spread.in,
                  .kernel = std::ssize(phase.taps),
                  .dilation = spread.dilation / std::gcd(spread.stride, spread.dilation),
                  .begin = (phase.taps.back() * spread.dilation - spread.begin - first) / spread.stride,
                  .out = (spread.out - first + spread.stride - 1) / spread.stride};
    all.push_back(std::move(phase));
  }
  return all;
}

// Transposed: holds what is worked on, channels and maps as ConvTranspose counts them and the tensors in the type they
// are added up in.
template <class T>
struct Transposed {
  using Lane = accumulator_t<T>;
  std::vector<Spread> spreads;
  engine::Extent extent;
  Ints kernel;
  Shape plane;  // of Y
  std::span<const Lane> x, w, bias;
  std::span<T> y;

  // Returns the taps of a phase as weights [group * maps][depth][taps].
  std::vector<Lane> weights(const Ints& taps) const {
    std::vector<Lane> all;
    all.reserve(static_cast<std::size_t>(extent.group * extent.maps * extent.depth) * taps.size());
    for (Int m = 0; m < extent.group * extent.maps; ++m)
      for (Int c = m / extent.maps * extent.depth; c < (m / extent.maps + 1) * extent.depth; ++c)
        for (const Int tap : taps)
          all.push_back(w[static_cast<std::size_t>((c * extent.maps + m % extent.maps) * volume(kernel) + tap)]);
    return all;
  }

  // Works out the outputs of one phase of each axis.
  void run(std::span<const Phase> phase, int threads) const {
    Window window;
    for (const Phase& each : phase) window.axes.push_back(each.axis);
    Ints taps;
    for_each_position(window.kernel(), [&](const Shape& k, Int) {
      Int tap = 0;
      for (std::size_t a = 0; a < k.size(); ++a) tap = tap * kernel[a] + phase[a].taps[static_cast<std::size_t>(k[a])];
      taps.push_back(tap);
    });
    engine::Plan plan = engine::plan(window, extent);
    for (Int c = 0; c < extent.depth; ++c)  // the first tap meets the last cell
      std::reverse(plan.offset.begin() + c * plan.taps, plan.offset.begin() + (c + 1) * plan.taps);
    const std::vector<Lane> w_here = weights(taps);
    const Int x_plane = volume(window.input());
    engine::Task<Lane> task{.plan = plan, .weights = w_here, .start = bias};
    task.data = [&](const engine::Piece& piece) {
      return x.data() + (piece.image * extent.group + piece.group) * extent.depth * x_plane;
    };
    task.pack = [&](const engine::Piece& piece, Lane* to, Int pitch) {
      engine::pack(plan, window, piece, to, pitch, task.data(piece));
    };
    const Int stride = spreads.back().stride, length = phase.back().axis.out;
    task.finish = [&](Int n, Int m, Int at, std::span<const Lane> sums) {
      T* const image = y.data() + (n * extent.group * extent.maps + m) * volume(plane);
      while (!sums.empty()) {  // a row of windows at a time
        const std::span<const Lane> row =
            sums.first(std::min(sums.size(), static_cast<std::size_t>(length - at % length)));
        T* const to = image + place(phase, at);
        for (std::size_t i = 0; i < row.size(); ++i) to[static_cast<Int>(i) * stride] = written<T>(row[i]);
        sums = sums.subspan(row.size());
        at += std::ssize(row);
      }
    };
    engine::run(task, threads);
  }

  // Returns where in a plane of Y a window of the phase stands.
  Int place(std::span<const Phase> phase, Int index) const {
    Int at = 0, size = 1;
    for (std::size_t a = phase.size(); a-- > 0; index /= phase[a].axis.out) {
      at += (phase[a].first + index % phase[a].axis.out * spreads[a].stride) * size;
      size *= plane[a];
    }
    return at;
  }

  // Fills Y with the bias, which outputs are that no tap meets.
  void fill() const {
    const std::size_t cells = static_cast<std::size_t>(volume(plane));
    for (std::size_t map = 0; map * cells < y.size(); ++map)
      std::ranges::fill(y.subspan(map * cells, cells), written<T>(bias.empty() ? Lane{0} : bias[map % bias.size()]));
  }
};

// Calls f with one phase of each axis, in every combination.
template <class F>
void for_each_combination(const std::vector<std::vector<Phase>>& all, F&& f) {
  Shape counts;
  for (const std::vector<Phase>& axis : all) counts.push_back(std::ssize(axis));
  for_each_position(counts, [&](const Shape& which, Int) {
    std::vector<Phase> one;
    for (std::size_t a = 0; a < all.size(); ++a) one.push_back(all[a][static_cast<std::size_t>(which[a])]);
    f(one);
  });
}

}  // namespace

Tensor conv_transpose(const Call& call, Inputs in, int threads) {
  const std::vector<Spread> spreads = spread(call);
  const Shape shape = call.definition().infer(call).front()->shape;
  const Int group = call.integer("group");
  Window taps;
  for (const Spread& each : spreads) taps.axes.push_back({.in = each.in, .kernel = each.kernel, .out = each.in});
  const engine::Extent extent{shape[0], group, shape[1] / group, call.dim("X", 1) / group};
  if (!engine::pays(taps, extent)) return call.definition().kernel(call, in).only();
  Tensor y = Tensor::to_be_written({in[0]->dtype(), shape});
  std::vector<std::vector<Phase>> all;
  for (const Spread& each : spreads) all.push_back(phases(each));
  const bool is_done = for_float(y.dtype(), [&]<class T>() {
    std::vector<accumulator_t<T>> x_room, w_room, bias_room;
    Transposed<T> work{spreads,
                       extent,
                       call.ints("kernel_shape"),
                       Shape(shape.begin() + 2, shape.end()),
                       engine::lanes(in[0]->as<T>(), x_room),
                       engine::lanes(in[1]->as<T>(), w_room),
                       {},
                       y.as<T>()};
    if (in.size() > 2 && in[2]) work.bias = engine::lanes(in[2]->as<T>(), bias_room);
    if (!engine::is_finite(work.w)) return false;  // 0 times it, of what is outside
    work.fill();
    for_each_combination(all, [&](std::span<const Phase> phase) { work.run(phase, threads); });
    return true;
  });
  return is_done ? y : call.definition().kernel(call, in).only();
}

}  // namespace assay::fast
