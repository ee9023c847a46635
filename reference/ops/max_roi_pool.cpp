// SPDX-License-Identifier: Apache-2.0
// MaxRoiPool (ai.onnx 1, 22) - https://onnx.ai/onnx/operators/onnx__MaxRoiPool.html
//
//   Y[r,c,p,q] = the largest of X[rois[r,0],c] in bin (p, q) of region r; 0 of a bin without cells
//
// Along each axis, of P bins, the text gives no formula; as Fast R-CNN has it (W58):
//
//   first, last = rois * spatial_scale, rounded, halves away from zero;   n = last - first + 1, at least 1
//   bin p       = the cells of [first + floor(p n / P), first + ceil((p + 1) n / P)) that there are
#include "reference/families/picked.h"
#include "reference/window.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

constexpr double most = 0x1p40;

struct Cells {
  Int from, to;

  Cells(Int first, Int last, Int bins, Int bin, Int extent) {
    const Int n = std::max<Int>(last - first + 1, 1);
    from = std::clamp<Int>(first + floor_div(bin * n, bins), 0, extent);
    to = std::clamp<Int>(first + ceil_div((bin + 1) * n, bins), 0, extent);
  }
};

template <class T>
T largest(std::span<const T> plane, Int width, const Cells& rows, const Cells& columns) {
  const T* best = nullptr;
  for (Int row = rows.from; row < rows.to; ++row)
    for (Int column = columns.from; column < columns.to; ++column) {
      const T& x = plane[static_cast<std::size_t>(row * width + column)];
      if (!best || x > *best || *best != *best) best = &x;
    }
  return best ? *best : T(0);
}

Shape output_shape(const Call& call) {
  const Ints pooled = call.ints("pooled_shape");
  return {call.dim("rois", 0), call.dim("X", 1), pooled[0], pooled[1]};
}

Values pool(const Call& call, Inputs in) {
  Tensor y({in[0]->dtype(), output_shape(call)});
  const Shape &x = in[0]->shape(), &out = y.shape();
  for_float(y.dtype(), [&]<class T>() {
    using A = accumulator_t<T>;
    const std::span<const T> rois = in[1]->as<T>();
    auto next = y.as<T>().begin();
    for (std::size_t r = 0; r < rois.size(); r += 5) {
      const auto corner = [&](std::size_t i) {
        const A at = std::round(static_cast<A>(rois[r + i]) * static_cast<A>(call.real("spatial_scale")));
        if (!(std::abs(at) < static_cast<A>(most))) throw InputError("a region beyond 2^40 cells");
        return static_cast<Int>(at);
      };
      const Int left = corner(1), top = corner(2), right = corner(3), bottom = corner(4);
      for (Int c = 0; c < x[1]; ++c) {
        const Int first = (static_cast<Int>(static_cast<double>(rois[r])) * x[1] + c) * x[2] * x[3];
        const auto plane =
            in[0]->as<T>().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(x[2] * x[3]));
        for_each_position(std::span(out).subspan(2), [&](const Shape& bin, Int) {
          *next++ = largest<T>(plane, x[3], {top, bottom, out[2], bin[0], x[2]}, {left, right, out[3], bin[1], x[3]});
        });
      }
    }
  });
  return y;
}

bool has_ranks(const Call& c) { return c.rank("X") == 4 && c.rank("rois") == 2 && c.dim("rois", 1) == 5; }

bool are_batches(const Call& c) {
  if (!has_ranks(c)) return true;
  const std::vector<double> rois = reals(c, "rois");
  for (std::size_t at = 0; at < rois.size(); at += 5)
    if (!(rois[at] >= 0 && rois[at] < static_cast<double>(c.dim("X", 0)) && rois[at] == std::floor(rois[at])))
      return false;
  return true;
}

bool is_pair(const Call& c) {
  const Ints pooled = c.ints("pooled_shape");
  return pooled.size() == 2 && std::ranges::all_of(pooled, [](Int extent) { return extent >= 1; });
}

}  // namespace

// clang-format off
Operator max_roi_pool() {
  using enum DType;
  return Operator("MaxRoiPool")
      .input("X", "T").parameter("rois", "T", "rois").output("Y", "T")
      .required_ints("pooled_shape").attribute("spatial_scale", 1.0F)
      .require("MR1", "pooled_shape has two entries, at least 1", is_pair)
      .require("MR2", "X has 4 axes, rois 2 and 5 columns", has_ranks)
      .require("MR3", "the first column of rois is whole and in [0, N - 1]", are_batches)
      .since(1)
          .type("T", {f16, f32, f64}).rulings({"A29", "W58", "W59"})
      .since(22, "T admits bfloat16")
          .type("T", {bf16, f16, f32, f64})
      .shaping(Shaping::reduced).infer(moved_to(output_shape)).kernel(pool);
}
// clang-format on

}  // namespace assay
