// SPDX-License-Identifier: Apache-2.0
// Conv through the engine.
#include "reference/convolution.h"
#include "reference/fast/engine.h"
#include "reference/fast/kernels.h"

namespace assay::fast {
namespace {

// Returns false where it writes nothing. The engine multiplies padding by weights where the operator's loop leaves it
// out: both are exact as long as the weights are finite.
template <class T>
bool convolve(const Convolution& conv, const engine::Extent& extent, std::span<const T> x, std::span<const T> w,
              std::span<const T> bias, std::span<T> y, int threads) {
  using Accumulator = accumulator_t<T>;
  const engine::Plan plan = engine::plan(conv.window, extent);
  std::vector<Accumulator> x_room, w_room, bias_room;
  const std::span<const Accumulator> weights = engine::lanes(w, w_room);
  if (plan.pads && !engine::is_finite(weights)) return false;

  const std::span<const Accumulator> cells = engine::lanes(x, x_room);
  const Int x_plane = volume(conv.window.input()), y_plane = volume(conv.window.output());
  engine::Task<Accumulator> task{.plan = plan, .weights = weights, .start = engine::lanes(bias, bias_room)};
  task.data = [&](const engine::Piece& piece) {
    return cells.data() + (piece.image * conv.channels + piece.group * conv.depth) * x_plane;
  };
  task.pack = [&](const engine::Piece& piece, Accumulator* to, Int pitch) {
    engine::pack(plan, conv.window, piece, to, pitch, task.data(piece));
  };
  task.finish = [&](Int n, Int m, Int window, std::span<const Accumulator> sums) {
    engine::write(sums, y.subspan(static_cast<std::size_t>((n * conv.maps + m) * y_plane + window), sums.size()));
  };
  engine::run(task, threads);
  return true;
}

}  // namespace

Tensor conv(const Call& call, Inputs in, int threads) {
  const Convolution conv(call);
  const engine::Extent extent{conv.batch, conv.group, conv.maps / conv.group, conv.depth};
  if (!engine::pays(conv.window, extent)) return call.definition().kernel(call, in).only();
  Tensor y({call.type("X").dtype, conv.output_shape()});
  const bool is_done = for_float(y.dtype(), [&]<class T>() {
    const std::span<const T> bias = in.size() > 2 && in[2] ? in[2]->as<T>() : std::span<const T>{};
    return convolve<T>(conv, extent, in[0]->as<T>(), in[1]->as<T>(), bias, y.as<T>(), threads);
  });
  return is_done ? y : call.definition().kernel(call, in).only();
}

}  // namespace assay::fast
