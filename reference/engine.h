// SPDX-License-Identifier: Apache-2.0
// The fast way to the sums of everything that slides, bit for bit those of the naive loops: numerics in order, the
// terms k = (channel, tap) ascending after the start, one rounding per operation, taps outside adding exact zeros.
//
//   plan     integers only: after padding, with every axis split into the phases of its stride, tap t of the window at
//            position o lies at o + offset[t], a constant apart, in any rank and for any stride, dilation and padding
//   pack     the cells of one image and group as accumulator lanes, laid out as the plan says
//   mac      one flat loop over positions and terms (engine_mac.h)
//   finish   the sums of whole rows of windows, handed to the operator, which scales and rounds them to its type
#pragma once

#include "reference/window.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

// A loop over rows compiled for several instruction sets, of which the program takes the best there is. For functions
// that are no templates; without contraction the results are the same. Under the sanitizers it would run before them.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define ASSAY_EVERY_WIDTH __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define ASSAY_EVERY_WIDTH
#endif

namespace assay::engine {

// Two 8-bit factors or their differences from a zero point, of neighbouring channels: one 32-bit lane.
struct alignas(4) Pair {
  std::int16_t even = 0, odd = 0;
};

template <class Lane>
using Sum = std::conditional_t<std::is_same_v<Lane, Pair>, std::int32_t, Lane>;

// What is summed: `maps` sums of `depth` channels each at every window, per image and group.
struct Extent {
  Int batch = 1, group = 1, maps = 1, depth = 1;
};

// count cells from `from`, `step` apart, to consecutive lanes from `to`. Both count from the first of a channel.
struct Run {
  Int to = 0, from = 0, count = 0, step = 1;
};

// count windows from `window` on, row-major, whose sums stand at consecutive positions from `position` on.
struct Row {
  Int position = 0, window = 0, count = 0;
};

struct Plan {
  // in_place: the data are laid out as planes already; planes does as well. columns: a lane per tap and window, for
  // geometries in which padded planes would be mostly waste and for operators that sample.
  enum class Packing { planes, in_place, columns };

  Extent extent;
  Packing packing = Packing::planes;
  Int taps = 0;
  Int plane = 0;            // lanes of a packed channel
  Int positions = 0;        // from the first window to the last
  bool pads = false;        // some tap of some window falls outside
  std::vector<Int> offset;  // of term k, in lanes
  std::vector<Run> runs;    // planes: the cells of a channel that lie inside
  std::vector<Row> rows;    // positions that are windows, ascending

  Int terms() const { return extent.depth * taps; }
};

// columns: asked for by an operator that samples.
Plan plan(const Window& window, const Extent& extent, bool columns = false);

// Whether the engine costs less than the naive loop: it does but for a handful of products.
bool pays(const Window& window, const Extent& extent);

// Positions that are worked on at once, and how far beyond the last one lanes are read and sums written.
inline constexpr Int chunk = 256, slack = 128;

// Positions [first, first + count) of one image and group.
struct Piece {
  Int image = 0, group = 0, first = 0, count = 0;
};

template <class Lane>
struct Task {
  const Plan& plan;
  std::span<const Lane> weights;          // [group * maps][terms]
  std::span<const Sum<Lane>> start = {};  // [group * maps], or empty for zeros
  // in_place: the first lane of the image and group.
  std::function<const Lane*(const Piece&)> data = {};
  // planes: writes the lanes inside, [depth][plane], once per image and group; the others are zero. columns: writes
  // [depth][taps][pitch] for the windows of the piece.
  std::function<void(const Piece&, Lane* to, Int pitch)> pack = {};
  // Called once for each run of windows of each map in 0 … group * maps - 1, perhaps from several threads.
  std::function<void(Int image, Int map, Int window, std::span<const Sum<Lane>>)> finish = {};
};

// Deterministic to the bit at any number of threads: which of them works a sum out changes nothing in it.
void run(const Task<float>& task, int threads);
void run(const Task<double>& task, int threads);
void run(const Task<Pair>& task, int threads);

// Rows of sums rounded once to the type of the output, as `written` does it.
void write(std::span<const float> sums, std::span<Float16> y);
void write(std::span<const float> sums, std::span<BFloat16> y);
void write(std::span<const float> sums, std::span<float> y);
void write(std::span<const double> sums, std::span<double> y);

// The same of sum / divisor.
void write_quotients(std::span<const float> sums, std::span<const float> divisors, std::span<float> y);
void write_quotients(std::span<const double> sums, std::span<const double> divisors, std::span<double> y);
template <class T>
void write_quotients(std::span<const float> sums, std::span<const float> divisors, std::span<T> y) {
  std::vector<float> quotients(sums.size());
  write_quotients(sums, divisors, std::span<float>(quotients));
  write(quotients, y);
}

// Data in the type they are added up in: themselves, or their exact values in `room`.
void widen(std::span<const Float16> from, std::span<float> to);
void widen(std::span<const BFloat16> from, std::span<float> to);
template <class T>
std::span<const accumulator_t<T>> lanes(std::span<const T> data, std::vector<accumulator_t<T>>& room) {
  if constexpr (std::is_same_v<T, accumulator_t<T>>) {
    return data;
  } else {
    room.resize(data.size());
    widen(data, room);
    return room;
  }
}

// For each tap and each window of the piece the cell it reads, as an index into the input plane, or -1 outside.
std::vector<Int> cells(const Window& window, const Piece& piece);

// Packs a piece of unsampled data: lane(channel, cell) gives what stands there.
template <class Lane, class F>
void pack(const Plan& plan, const Window& window, const Piece& piece, Lane* to, Int pitch, F&& lane) {
  if (plan.packing == Plan::Packing::columns) {
    const std::vector<Int> read = cells(window, piece);
    for (Int c = 0; c < plan.extent.depth; ++c, to += plan.plane)
      for (Int i = 0; i < plan.taps * piece.count; ++i) {
        const Int cell = read[static_cast<std::size_t>(i)];
        to[i / piece.count * pitch + i % piece.count] = cell < 0 ? Lane{} : lane(c, cell);
      }
    return;
  }
  for (Int c = 0; c < plan.extent.depth; ++c, to += plan.plane)
    for (const Run& run : plan.runs) {
      if (run.step == 1)
        for (Int i = 0; i < run.count; ++i) to[run.to + i] = lane(c, run.from + i);
      else
        for (Int i = 0; i < run.count; ++i) to[run.to + i] = lane(c, run.from + i * run.step);
    }
}
// Data that are lanes already, row-major from the first channel of the piece's image and group.
void pack(const Plan& plan, const Window& window, const Piece& piece, float* to, Int pitch, const float* data);
void pack(const Plan& plan, const Window& window, const Piece& piece, double* to, Int pitch, const double* data);

// The instructions the hot loop uses on this machine: "avx512", "avx2", "portable".
const char* instructions();

// One call of the hot loop.
template <class Lane>
struct Mac {
  const Lane* x;
  const Int* offset;
  Int terms;
  const Lane* w;  // [maps][terms]
  Int maps;
  const Sum<Lane>* start;  // [maps] or null
  Int positions;
  Int readable;  // positions from x on behind which no lane may be read
  Sum<Lane>* sums;
  Int pitch;  // from the sums of one map to those of the next

  // Where the last tile of that width begins.
  Int last_start(Int width) const { return readable - width; }
};

}  // namespace assay::engine
