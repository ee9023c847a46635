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
// For what such a function calls: left to itself it would be compiled once, for the least.
#define ASSAY_IN_EVERY_WIDTH [[gnu::always_inline]] inline

namespace assay::engine {

// Four 8-bit factors of four channels in one 32-bit lane: of data without a sign, of weights the bits of one with a
// sign.
struct alignas(4) Quad {
  std::uint8_t of[4] = {};
};

template <class Lane>
using Sum = std::conditional_t<std::is_same_v<Lane, Quad>, std::int32_t, Lane>;

// What is summed: `maps` sums of `depth` channels each at every window, per image and group.
struct Extent {
  Int batch = 1, group = 1, maps = 1, depth = 1;
};

// count cells from `from`, `step` apart, to consecutive lanes from `to`. Both count from the first of a channel.
struct CellRun {
  Int to = 0, from = 0, count = 0, step = 1;
};

// count windows from `window` on, row-major, whose sums stand at consecutive positions from `position` on.
struct WindowRun {
  Int position = 0, window = 0, count = 0;
};

struct Plan {
  // in_place: the data are laid out as planes already; planes does as well. columns: a lane per tap and window, for
  // geometries in which padded planes would be mostly waste and for operators that sample.
  enum class Packing { planes, in_place, columns };

  Extent extent;
  Packing packing = Packing::planes;
  Int taps = 0;
  Int plane = 0;                // lanes of a packed channel
  Int positions = 0;            // from the first window to the last
  bool pads = false;            // some tap of some window falls outside
  std::vector<Int> offset;      // of term k, in lanes
  std::vector<CellRun> runs;    // planes: the cells of a channel that lie inside
  std::vector<WindowRun> rows;  // positions that are windows, ascending

  Int terms() const { return extent.depth * taps; }
};

// columns: asked for by an operator that samples.
Plan plan(const Window& window, const Extent& extent, bool columns = false);

// Tells whether the engine costs less than the naive loop: it does but for a handful of products.
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
  Lane outside = {};                      // planes: what a tap in padding reads
  // in_place: the first lane of the image and group.
  std::function<const Lane*(const Piece&)> data = {};
  // planes: writes the lanes inside, [depth][plane], once per image and group. columns: writes
  // [depth][taps][pitch] for the windows of the piece.
  std::function<void(const Piece&, Lane* to, Int pitch)> pack = {};
  // Called once for each run of windows of each map in 0 … group * maps - 1, perhaps from several threads.
  std::function<void(Int image, Int map, Int window, std::span<const Sum<Lane>>)> finish = {};
};

// Deterministic to the bit at any number of threads: which of them works a sum out changes nothing in it.
void run(const Task<float>& task, int threads);
void run(const Task<double>& task, int threads);
void run(const Task<Quad>& task, int threads);

// Rows of sums rounded once to the type of the output, as `written` does it.
void write(std::span<const float> sums, std::span<Float16> y);
void write(std::span<const float> sums, std::span<BFloat16> y);
void write(std::span<const float> sums, std::span<float> y);
void write(std::span<const double> sums, std::span<double> y);

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

// Calls part(first, last) for ranges that make up 0 … items - 1, perhaps from several threads; `products` is the work.
void divide(Int items, double products, int threads, const std::function<void(Int first, Int last)>& part);

// Windows without weights, in rows that look alike: with x and y moved on by their pitch from one row to the next,
// y[i] = (the sum over t, ascending, of x[offset[t] + i * step]) / divisor[i], as `written` does it.
template <class Lane>
struct Averages {
  const Lane* x;
  std::span<const Int> offset;
  Int step;
  std::span<const Lane> divisor;
  Lane* y;
  Int rows, x_pitch, y_pitch;
};
void average(const Averages<float>& rows);
void average(const Averages<double>& rows);

// to[column * pitch + row] = from[row * columns + column]
void transpose(const float* from, Int rows, Int columns, float* to, Int pitch);
void transpose(const double* from, Int rows, Int columns, double* to, Int pitch);

// Samples between cells, all of a channel of `channels` that stand side by side at every cell:
// to[c * pitch + i] = mask[i] * (the sum over the corners j, ascending, of weight[j][i] * x[cell[j][i] * channels + c])
template <class Lane>
struct CornerSampling {
  const Lane* x;  // from the first channel that is sampled; `behind` lanes can be read behind the last
  Int channels, sampled;
  Int corners, count, stride;   // from one corner to the next
  const std::int32_t* cells;    // [corners][stride]
  const Lane *weights, *masks;  // [corners][stride], [count]
  Lane* to;                     // `behind` lanes can be written behind each channel
  Int pitch;

  static constexpr Int behind = 16;
};
void sample(const CornerSampling<float>& samples);
void sample(const CornerSampling<double>& samples);

// y[i] = round((sum + bias) * factor) + zero, between lowest and highest, as the bits of a byte.
struct Requantization {
  double bias, factor, zero, lowest, highest;
};
// Tells whether no value lies so near to a tie, a billionth, that a few roundings more or less would decide; else, and
// where there are but a few, y is not to be used. factor is finite.
bool requantize(std::span<const std::int32_t> sums, const Requantization& by, std::uint8_t* y);

// Tells whether none is infinite or not a number.
bool is_finite(std::span<const float> all);
bool is_finite(std::span<const double> all);

// For each tap and each window of the piece the cell it reads, as an index into the input plane, or -1 outside.
std::vector<Int> cells(const Window& window, const Piece& piece);

// Packs a piece of unsampled data: channel(c) gives a function from a cell to the lane that stands there.
template <class Lane, class F>
void pack(const Plan& plan, const Window& window, const Piece& piece, Lane* to, Int pitch, F&& channel,
          Lane outside = {}) {
  const bool columns = plan.packing == Plan::Packing::columns;
  const std::vector<Int> read = columns ? cells(window, piece) : std::vector<Int>{};
  for (Int c = 0; c < plan.extent.depth; ++c, to += plan.plane) {
    const auto lane = channel(c);
    for (Int i = 0; columns && i < plan.taps * piece.count; ++i) {
      const Int cell = read[static_cast<std::size_t>(i)];
      to[i / piece.count * pitch + i % piece.count] = cell < 0 ? outside : lane(cell);
    }
    for (const CellRun& run : plan.runs) {
      if (run.step == 1)
        for (Int i = 0; i < run.count; ++i) to[run.to + i] = lane(run.from + i);
      else
        for (Int i = 0; i < run.count; ++i) to[run.to + i] = lane(run.from + i * run.step);
    }
  }
}
// Data that are lanes already, row-major from the first channel of the piece's image and group.
void pack(const Plan& plan, const Window& window, const Piece& piece, float* to, Int pitch, const float* data);
void pack(const Plan& plan, const Window& window, const Piece& piece, double* to, Int pitch, const double* data);

// The instructions the hot loops use: the best that this machine has of "avx512-vnni", "avx512", "avx2" and "portable",
// or less if ASSAY_INSTRUCTIONS in the environment names less.
const char* instructions();

// One call of the hot loop.
template <class Lane>
struct Mac {
  const Lane* x;
  const Int* offset;
  Int terms;
  const Lane* w;  // [maps][terms], or [terms][maps] where it is transposed
  bool transposed;
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
