// SPDX-License-Identifier: Apache-2.0
// RoiAlign (ai.onnx 10, 16, 22) - https://onnx.ai/onnx/operators/onnx__RoiAlign.html
//
//   Y[r,c,p,q] = the mean, or the largest, of X[batch_indices[r],c] at the samples of bin (p, q) of region r
//
// Along each axis, of P bins over I cells:
//
//   start, end = roi * spatial_scale - 1/2 for half_pixel, else no half and end - start is 1 at least (W53, W54)
//   bin        = (end - start) / P;   g = sampling_ratio or, of 0, ceil(bin) samples of each (W55)
//   sample j   = start + p bin + (j + 1/2) bin / g
//
// A sample is interpolated between the cells beside it. Beyond [-1, I] it is 0, and counts (W56); from there on to the
// first or last cell it is that cell.
#include "reference/families/moved.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

bool is_half_pixel(const Call& call) {
  return call.definition().attribute("coordinate_transformation_mode") &&
         call.text("coordinate_transformation_mode") == "half_pixel";
}

// Two cells and the weight of the second; none outside.
template <class A>
struct Between {
  bool is_outside = false;
  Int low = 0, high = 0;
  A second = 0;
};

// The samples of one axis of a region, those of the first bin first.
template <class A>
struct Line {
  Int each;  // of a bin
  std::vector<Between<A>> samples;

  Line(const Call& call, A from, A to, Int cells, Int bins) {
    const A scale = static_cast<A>(call.real("spatial_scale")), half = is_half_pixel(call) ? A(0.5) : A(0);
    const A start = from * scale - half, end = to * scale - half;
    const A length = is_half_pixel(call) ? end - start : std::max(end - start, A(1));
    const A bin = length / static_cast<A>(bins);
    const Int stated = call.integer("sampling_ratio");
    const A count = stated > 0 ? static_cast<A>(stated) : std::ceil(bin);
    if (count * static_cast<A>(bins) > 0x1p20F) throw InputError("a region of more than 2^20 samples");
    each = count > 0 ? static_cast<Int>(count) : 0;
    for (Int i = 0; i < bins * each; ++i) {
      const A at = start + static_cast<A>(i / each) * bin + (static_cast<A>(i % each) + A(0.5)) * bin / A(each);
      if (cells == 0 || !(at >= -1 && at <= static_cast<A>(cells))) {
        samples.push_back({true});
        continue;
      }
      const A inside = std::max(at, A(0));
      const Int low = std::min(static_cast<Int>(inside), cells - 1), high = std::min(low + 1, cells - 1);
      samples.push_back({false, low, high, low == high ? A(0) : inside - static_cast<A>(low)});
    }
  }

  std::span<const Between<A>> of_bin(Int bin) const {
    return std::span(samples).subspan(static_cast<std::size_t>(bin * each), static_cast<std::size_t>(each));
  }
};

template <class T>
accumulator_t<T> sampled(std::span<const T> plane, Int width, const Between<accumulator_t<T>>& y,
                         const Between<accumulator_t<T>>& x) {
  using A = accumulator_t<T>;
  if (y.is_outside || x.is_outside) return 0;
  const auto cell = [&](Int row, Int column) {
    return static_cast<A>(plane[static_cast<std::size_t>(row * width + column)]);
  };
  const A above = (1 - x.second) * cell(y.low, x.low) + x.second * cell(y.low, x.high);
  const A below = (1 - x.second) * cell(y.high, x.low) + x.second * cell(y.high, x.high);
  return (1 - y.second) * above + y.second * below;
}

// The mean of the samples of a bin or the largest; 0 of none.
template <class T>
accumulator_t<T> pooled(std::span<const T> plane, Int width, std::span<const Between<accumulator_t<T>>> rows,
                        std::span<const Between<accumulator_t<T>>> columns, bool is_mean) {
  using A = accumulator_t<T>;
  A sum = 0, most = 0;
  bool is_first = true;
  for (const auto& y : rows)
    for (const auto& x : columns) {
      const A value = sampled<T>(plane, width, y, x);
      sum += value;
      most = is_first || value > most || value != value ? value : most;
      is_first = false;
    }
  const std::size_t count = std::max<std::size_t>(rows.size() * columns.size(), 1);
  return is_mean ? sum / static_cast<A>(count) : most;
}

Shape output_shape(const Call& call) {
  return {call.dim("rois", 0), call.dim("X", 1), call.integer("output_height"), call.integer("output_width")};
}

Values align(const Call& call, Inputs in) {
  Tensor y({in[0]->dtype(), output_shape(call)});
  const Int channels = call.dim("X", 1), height = call.dim("X", 2), width = call.dim("X", 3);
  const Int rows = call.integer("output_height"), columns = call.integer("output_width");
  const Ints batches = call.ints("batch_indices");
  const bool is_mean = call.text("mode") == "avg";
  for_float(y.dtype(), [&]<class T>() {
    using A = accumulator_t<T>;
    const std::span<const T> x = in[0]->as<T>(), rois = in[1]->as<T>();
    auto next = y.as<T>().begin();
    for (std::size_t r = 0; r < batches.size(); ++r) {
      const auto corner = [&](std::size_t i) { return static_cast<A>(rois[4 * r + i]); };
      const Line<A> down(call, corner(1), corner(3), height, rows), along(call, corner(0), corner(2), width, columns);
      for (Int c = 0; c < channels; ++c) {
        const std::span<const T> plane =
            x.subspan(static_cast<std::size_t>((batches[r] * channels + c) * height * width),
                      static_cast<std::size_t>(height * width));
        for (Int p = 0; p < rows; ++p)
          for (Int q = 0; q < columns; ++q)
            *next++ = written<T>(pooled<T>(plane, width, down.of_bin(p), along.of_bin(q), is_mean));
      }
    }
  });
  return y;
}

bool are_batches(const Call& c) {
  return c.rank("X") != 4 ||
         std::ranges::all_of(c.ints("batch_indices"), [&](Int b) { return b >= 0 && b < c.dim("X", 0); });
}
bool are_regions(const Call& c) {
  return c.rank("rois") != 2 || c.rank("batch_indices") != 1 ||
         (c.dim("rois", 1) == 4 && c.dim("rois", 0) == c.dim("batch_indices", 0));
}

}  // namespace

// clang-format off
Operator roi_align() {
  using enum DType;
  return Operator("RoiAlign")
      .input("X", "T1").input("rois", "T1").parameter("batch_indices", "T2", "batch_indices").output("Y", "T1")
      .word("mode", {"avg", "max"}, "RA6").attribute("output_height", 1).attribute("output_width", 1)
      .attribute("sampling_ratio", 0).attribute("spatial_scale", 1.0F)
      .require("RA1", "X has 4 axes, rois 2, batch_indices 1", [](auto& c) {
        return c.rank("X") == 4 && c.rank("rois") == 2 && c.rank("batch_indices") == 1; })
      .require("RA2", "rois has 4 columns, and a row for each of batch_indices", are_regions)
      .require("RA3", "batch_indices are in [0, N - 1]", are_batches)
      .require("RA4", "output_height and output_width are at least 1", [](auto& c) {
        return c.integer("output_height") >= 1 && c.integer("output_width") >= 1; })
      .require("RA5", "sampling_ratio is not negative", [](auto& c) { return c.integer("sampling_ratio") >= 0; })
      .since(10)
          .type("T1", {f16, f32, f64}).type("T2", {i64})
          .rulings({"A29", "W52", "W53", "W54", "W55", "W56", "W57"})
      .since(16, "a half is taken off coordinates, unless output_half_pixel")
          .word("coordinate_transformation_mode", {"half_pixel", "output_half_pixel"}, "RA7").settled("W53")
      .since(22, "T1 admits bfloat16")
          .type("T1", {bf16, f16, f32, f64})
      .shaping(Shaping::reduced).infer(moved_to(output_shape)).kernel(align);
}
// clang-format on

}  // namespace assay
