// SPDX-License-Identifier: Apache-2.0
#include "oracles/filter/requantize_filter.h"

#include "oracles/filter/clones.h"
#include "oracles/filter/decide.h"

#include <algorithm>
#include <cmath>

namespace assay::oracles {
namespace {

// One run of integer outputs.
struct Steps {
  Int count = 0;
  alignas(64) Lane sum, got;
  alignas(64) Marks right;
};

// To nearest, ties to even, of |value| <= 2^50.
[[gnu::always_inline]] inline double to_nearest(double value) { return (value + 0x1.8p52) - 0x1.8p52; }

struct Grid {
  double scale, zero, low, high, most;
  bool exact, adds_first;
};

ASSAY_WIDE NearestCount mark_steps(Steps& c, const Grid& g) {
  Int right = 0, zeros = 0;
  const double shift = g.adds_first ? g.zero : 0, after = g.zero - shift;
  for (Int i = 0; i < c.count; ++i) {
    const double wide = c.sum[i] * g.scale, below = wide < 0x1p40 ? wide : 0x1p40;
    const double value = below > -0x1p40 ? below : -0x1p40;  // both are far outside of any type
    const double nearest = to_nearest(value + (g.exact ? shift : 0)) + (g.exact ? after : g.zero);
    const double gap = 0.5 - std::fabs(value - to_nearest(value));
    const bool decided = g.exact | (gap > std::fabs(value) * 0x1p-49);
    const double capped = nearest < g.high ? nearest : g.high, answer = capped > g.low ? capped : g.low;
    const bool is_right = decided & (answer == c.got[i]) & (std::fabs(c.sum[i]) <= g.most);
    c.right[i] = is_right ? 1 : 0;
    right += c.right[i];
    zeros += is_right & (answer == 0) ? 1 : 0;
  }
  return {right, zeros};
}

// How many lie within `share` of a tie, or beyond `most`.
ASSAY_WIDE void mark_ties(Steps& c, const Grid& g, double share) {
  for (Int i = 0; i < c.count; ++i) {
    const double value = c.sum[i] * g.scale, size = std::fabs(value);
    const double gap = 0.5 - std::fabs(value - to_nearest(value));
    const bool saturates = size > 0x1p12;  // on either side of any tie
    c.right[i] = (gap <= share * (size + std::fabs(g.zero))) & !saturates ? 1 : 0;
  }
}

template <class T>
void read_integers(const T* from, Int step, Steps& c) {
  for (Int i = 0; i < c.count; ++i) c.got[static_cast<std::size_t>(i)] = static_cast<double>(from[i * step]);
}

bool has_empty_window(const ConvFilter& sweep) {
  if (!sweep.bias.empty()) return false;
  return sweep.depth == 0 || std::ranges::any_of(sweep.tracks, [](const WindowAxis& t) {
           return std::ranges::any_of(counts_of(t).inside, [](double inside) { return inside == 0; });
         });
}

Grid grid_of(const RequantizeFilter& sums, Int map) {
  const auto at = static_cast<std::size_t>(map);
  return {sums.scale[at], sums.zero, sums.low, sums.high, sums.most, sums.exact[at], sums.adds_first};
}

// Calls f(steps, map, index of the first, distance) for one run of sums after the other.
template <class F>
void each_run(const RequantizeFilter& sums, F&& f) {
  Steps c;
  sweep(sums.sweep, [&](const Tile& tile, TileDetails&) {
    const Int step = sums.to.cell.empty() ? 1 : sums.to.cell.back();
    for (Int done = 0; done < tile.count; done += chunk) {
      c.count = std::min(chunk, tile.count - done);
      std::copy_n(tile.sum + done, c.count, c.sum.begin());
      f(c, tile.map, tile.n * sums.to.batch + tile.map * sums.to.channel + (tile.first + done) * step, step);
    }
  });
}

}  // namespace

FilterResult screen(const RequantizeFilter& sums, const Tensor& got, const FilterOptions& how) {
  FilterResult out;
  Sampler sampler(how.seed);
  out.has_empty = has_empty_window(sums.sweep);
  each_run(sums, [&](Steps& c, Int map, Int first, Int step) {
    if (got.dtype() == DType::u8)
      read_integers(got.as<std::uint8_t>().data() + first, step, c);
    else
      read_integers(got.as<std::int8_t>().data() + first, step, c);
    const NearestCount tally = mark_steps(c, grid_of(sums, map));
    out.right += tally.nearest;
    out.nearest += tally.nearest;
    out.zeros += tally.zeros;
    for (std::size_t i = 0; i < static_cast<std::size_t>(c.count); ++i) {
      if (!c.right[i]) {
        out.undecided.push_back(first + static_cast<Int>(i) * step);
      } else if (!out.varies) {
        if (!out.seen) out.seen = c.got[i];
        out.varies = *out.seen != c.got[i];
      }
    }
    sampler.next(c.count, [&](std::size_t i) {
      if (c.right[i] && static_cast<Int>(out.sampled.size()) < most_sampled)
        out.sampled.push_back({first + static_cast<Int>(i) * step, true, Level::L0});
    });
  });
  if (out.right > 0) out.weakest = Level::L0;
  std::ranges::sort(out.undecided);
  return out;
}

bool leaves_32_bits(const RequantizeFilter& sums, double share, const std::function<bool(Int)>& at_tie) {
  bool leaves = false, told = false;
  each_run(sums, [&](Steps& c, Int map, Int first, Int step) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(c.count); ++i)
      leaves |= c.sum[i] < -0x1p31 || c.sum[i] > 0x1p31 - 1;
    if (told) return;
    mark_ties(c, grid_of(sums, map), share);
    for (std::size_t i = 0; i < static_cast<std::size_t>(c.count) && !told; ++i)
      if (c.right[i] || std::fabs(c.sum[i]) > sums.most) told = at_tie(first + static_cast<Int>(i) * step);
  });
  return leaves;
}

}  // namespace assay::oracles
