// SPDX-License-Identifier: Apache-2.0
// MatMul through the engine: the rows of B are the channels of an image of one axis, a row of A holds the weights of a
// map with one tap.
#include "reference/families/products.h"
#include "reference/fast/engine.h"
#include "reference/fast/kernels.h"

namespace assay::fast {

Tensor matmul(const Call& call, Inputs in, int threads) {
  const Matrices meet = Matrices::of(call.shape("A"), call.shape("B"));
  Window window;
  window.axes = {Axis{.in = meet.columns, .out = meet.columns}};
  const engine::Extent extent{1, 1, meet.rows, meet.depth};
  if (!is_float(in[0]->dtype()) || !engine::pays(window, extent)) return call.definition().kernel(call, in).only();
  Tensor y = Tensor::to_be_written({in[0]->dtype(), meet.shape});
  const engine::Plan plan = engine::plan(window, extent);
  const auto row = [](Int steps, Int length) { return static_cast<std::size_t>(steps * length); };
  for_float(y.dtype(), [&]<class T>() {
    using Accumulator = accumulator_t<T>;
    std::vector<Accumulator> a_room, b_room;
    const auto a = engine::lanes(in[0]->as<T>(), a_room), b = engine::lanes(in[1]->as<T>(), b_room);
    for (std::size_t matrix = 0; matrix < meet.a.size(); ++matrix) {
      const std::span<T> to = y.as<T>().subspan(matrix * row(meet.rows, meet.columns));
      engine::Task<Accumulator> task{.plan = plan,
                                     .weights = a.subspan(row(meet.a[matrix], 1), row(meet.rows, meet.depth))};
      task.data = [&](const engine::Piece&) { return b.data() + meet.b[matrix]; };
      task.pack = [&](const engine::Piece& piece, Accumulator* lanes, Int pitch) {
        engine::pack(plan, window, piece, lanes, pitch, task.data(piece));
      };
      task.finish = [&](Int, Int i, Int j, std::span<const Accumulator> sums) {
        engine::write(sums, to.subspan(row(i, meet.columns) + row(j, 1), sums.size()));
      };
      engine::run(task, threads);
    }
  });
  return y;
}

}  // namespace assay::fast
