// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/winograd.h"

#include "oracles/exact/dot.h"

#include <algorithm>
#include <limits>

namespace assay::oracles {
namespace {

// A matrix of absolute values, rows first, as integers over `denominator`.
struct Matrix {
  std::vector<std::vector<Int>> rows;
  Int denominator = 1;
};

// The usual points: 0, 1, -1, inf for F(2,3); 0, 1, -1, 2, -2, inf for F(4,3) (Lavin and Gray, arXiv 1509.09308).
struct Transform {
  Matrix output, weight, input;  // |A^T|, |G|, |B^T|
};

const Transform& transform(int m) {
  static const Transform two{{{{1, 1, 1, 0}, {0, 1, 1, 1}}},
                             {{{2, 0, 0}, {1, 1, 1}, {1, 1, 1}, {0, 0, 2}}, 2},
                             {{{1, 0, 1, 0}, {0, 1, 1, 0}, {0, 1, 1, 0}, {0, 1, 0, 1}}}};
  static const Transform four{{{{1, 1, 1, 1, 1, 0}, {0, 1, 1, 2, 2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, 1, 8, 8, 1}}},
                              {{{6, 0, 0}, {4, 4, 4}, {4, 4, 4}, {1, 2, 4}, {1, 2, 4}, {0, 0, 24}}, 24},
                              {{{4, 0, 5, 0, 1, 0},
                                {0, 4, 4, 1, 1, 0},
                                {0, 4, 4, 1, 1, 0},
                                {0, 2, 1, 2, 1, 0},
                                {0, 2, 1, 2, 1, 0},
                                {0, 4, 0, 5, 0, 1}}}};
  return m == 2 ? two : four;
}

// A tensor of absolute values over the axes, row-major.
struct Box {
  std::vector<Int> extents;
  std::vector<Dyadic> values;
};

// Multiplies along one axis: out[.., i, ..] = sum_j rows[i][j] in[.., j, ..].
Box along(const Box& in, std::size_t axis, const Matrix& matrix) {
  Int inner = 1, outer = 1;
  for (std::size_t i = 0; i < in.extents.size(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : in.extents[i];
  Box out{in.extents, {}};
  const auto from = in.extents[axis], to = static_cast<Int>(matrix.rows.size());
  out.extents[axis] = to;
  out.values.resize(static_cast<std::size_t>(outer * to * inner));
  for (Int o = 0; o < outer; ++o)
    for (Int i = 0; i < to; ++i)
      for (Int j = 0; j < from; ++j) {
        const Dyadic factor{matrix.rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)], 0};
        if (factor.is_zero()) continue;
        for (Int k = 0; k < inner; ++k)
          out.values[static_cast<std::size_t>((o * to + i) * inner + k)] +=
              in.values[static_cast<std::size_t>((o * from + j) * inner + k)] * factor;
      }
  return out;
}

struct Gathered {
  Box box;
  int granule = std::numeric_limits<int>::max();
  bool nonfinite = false;
};

template <class Read>
Gathered gather(const std::vector<Int>& extents, Read&& read) {
  Gathered out;
  out.box.extents = extents;
  each(extents, [&](const std::vector<Int>& at) {
    const Scalar value = read(at);
    out.nonfinite |= !value.is_finite();
    if (value.is_finite() && !value.is_zero()) out.granule = std::min(out.granule, value.exponent);
    out.box.values.push_back(value.is_finite() ? abs(value.value()) : Dyadic{});
  });
  return out;
}

std::vector<std::size_t> winograd_axes(const std::vector<WindowAxis>& tracks) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < tracks.size(); ++i)
    if (tracks[i].taps == 3) axes.push_back(i);
  return axes;
}

struct Amplified {
  Dyadic value;  // W, times denominator
  int granule = std::numeric_limits<int>::max();
  bool nonfinite = false;
};

// W for one place of the output in its tile.
Amplified amplified(const Neighbourhood& around, int m, const std::vector<Int>& place) {
  const Transform& t = transform(m);
  const std::vector<std::size_t> axes = winograd_axes(around.tracks);
  std::vector<Int> tile(around.tracks.size(), 1), taps(around.tracks.size(), 1), corner = around.window;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    tile[axes[i]] = m + 2;
    taps[axes[i]] = 3;
    corner[axes[i]] -= place[i];
  }
  Amplified out;
  for (Int c = 0; c < around.channels; ++c) {
    Gathered x = gather(tile, [&](std::vector<Int> at) {
      for (std::size_t i = 0; i < at.size(); ++i) at[i] += corner[i] - around.tracks[i].before;
      return around.input(c, at);
    });
    Gathered w = gather(taps, [&](const std::vector<Int>& tap) { return around.weight(c, tap); });
    out.nonfinite |= x.nonfinite || w.nonfinite;
    if (x.granule != std::numeric_limits<int>::max() && w.granule != std::numeric_limits<int>::max())
      out.granule = std::min(out.granule, x.granule + w.granule);
    for (const std::size_t axis : axes) {
      x.box = along(x.box, axis, t.input);
      w.box = along(w.box, axis, t.weight);
    }
    Box product = std::move(x.box);
    for (std::size_t i = 0; i < product.values.size(); ++i) product.values[i] = product.values[i] * w.box.values[i];
    for (std::size_t i = 0; i < axes.size(); ++i)
      product = along(product, axes[i], {{t.output.rows[static_cast<std::size_t>(place[i])]}, 1});
    out.value += product.values.front();
  }
  return out;
}

}  // namespace

bool winograd_applies(const std::vector<WindowAxis>& tracks) {
  const bool fits = std::ranges::all_of(
      tracks, [](const WindowAxis& t) { return (t.taps == 3 || t.taps == 1) && t.stride == 1 && t.dilation == 1; });
  return fits && !winograd_axes(tracks).empty();
}

Tolerance winograd(const Neighbourhood& around, int m, const Format& format, std::string arithmetic) {
  const Int axes = static_cast<Int>(winograd_axes(around.tracks).size());
  Tolerance out;
  out.level = Level::widest;
  out.arithmetic = std::move(arithmetic);
  Integer denominator = 1;
  for (Int i = 0; i < axes; ++i) denominator *= transform(m).weight.denominator;
  Amplified widest;
  each(std::vector<Int>(static_cast<std::size_t>(axes), m), [&](const std::vector<Int>& place) {
    Amplified here = amplified(around, m, place);
    widest.value = std::max(widest.value, here.value);
    widest.granule = std::min(widest.granule, here.granule);
    widest.nonfinite |= here.nonfinite;
  });
  out.blurs_nonfinite = widest.nonfinite;
  Ratio w{widest.value, denominator};
  int granule = widest.granule;
  if (around.bias && around.bias->is_finite() && !around.bias->is_zero()) {
    w = w + Ratio{abs(around.bias->value()), 1};
    granule = std::min(granule, around.bias->exponent);
  }
  out.may_overflow = w + w >= Ratio{format.overflow_threshold(), 1};
  // Halves only: F(2,3) is exact on data with r bits to spare (numerics 2.4). Sixths in F(4,3) never are.
  const int finest = granule - static_cast<int>(axes);
  const bool exact =
      granule == std::numeric_limits<int>::max() || (m == 2 && finest >= format.smallest_exponent() &&
                                                     w <= Ratio{Dyadic::power_of_two(format.precision + finest), 1});
  if (exact) return out;
  const Int path = 2 * axes * (m + 2) + around.channels + 10;
  out.budget = w * gamma(path, format.unit_exponent());
  Int points = around.channels + 1;
  const Int side = m + 2;  // of a tile
  for (Int i = 0; i < axes; ++i) points *= side * side;
  // Every value that underflows on the way is off by η/2 and amplified like the rest; 2^5 per axis bounds |A^T| |B^T|.
  out.budget = out.budget + Ratio{Dyadic{points, format.smallest_exponent() + static_cast<int>(5 * axes)}, 1};
  return out;
}

}  // namespace assay::oracles
