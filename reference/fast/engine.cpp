// SPDX-License-Identifier: Apache-2.0
#include "reference/fast/engine.h"

#include "reference/fast/engine_mac.h"

#include <cstdlib>
#include <future>
#include <memory>
#include <numeric>
#include <string_view>
#include <system_error>

#if defined(__x86_64__)
#include <cpuid.h>

#define ASSAY_INSTRUCTIONS avx2
#define ASSAY_TARGET __attribute__((target("avx2,f16c")))
#define ASSAY_VECTOR 32
#define ASSAY_TALL 6
#include "reference/fast/engine_mac.h"

#define ASSAY_INSTRUCTIONS avx512
#define ASSAY_TARGET __attribute__((target("avx512f,avx512bw,f16c")))
#define ASSAY_VECTOR 64
#define ASSAY_TALL 12
#include "reference/fast/engine_mac.h"

#define ASSAY_INSTRUCTIONS avx512_vnni
#define ASSAY_TARGET __attribute__((target("avx512f,avx512bw,avx512vnni,f16c")))
#define ASSAY_VECTOR 64
#define ASSAY_TALL 12
#define ASSAY_FOURFOLD
#include "reference/fast/engine_mac.h"
#endif

namespace assay::engine {
namespace {

// Lanes of packed data that one image and group may take before columns, which are packed piece by piece, are better.
constexpr double many_lanes = 1 << 26;
// Products below which starting a thread costs more than it brings.
constexpr double work_of_a_thread = 4e6;

// One axis of a padded plane: the cells of each phase of the stride that some tap reads.
struct Split {
  std::vector<Int> phases;        // in the order they are packed
  std::vector<Int> phase, shift;  // per tap: index into phases, positions from the window's own
  Int extent = 0;                 // positions of one phase
};

// Index i = o * stride + t * dilation is cell o + shift of phase (t * dilation) mod stride.
Split split(const Axis& axis) {
  Split s;
  for (Int tap = 0; tap < axis.kernel; ++tap) {
    const Int reach = tap * axis.dilation, phase = reach % axis.stride;
    const auto found = std::ranges::find(s.phases, phase);
    s.phase.push_back(found - s.phases.begin());
    s.shift.push_back(reach / axis.stride);
    if (found == s.phases.end()) s.phases.push_back(phase);
  }
  s.extent = axis.out + s.shift.back();
  return s;
}

// Axes of one cell and one tap add nothing to the geometry.
Window squeezed(const Window& window) {
  Window rest;
  for (const Axis& axis : window.axes)
    if (axis.in != 1 || axis.kernel != 1 || axis.begin != 0 || axis.out != 1) rest.axes.push_back(axis);
  if (rest.axes.empty()) rest.axes.push_back(Axis{.in = 1, .out = 1});
  return rest;
}

double product(std::span<const Int> extents) {
  return std::accumulate(extents.begin(), extents.end(), 1.0,
                         [](double all, Int extent) { return all * static_cast<double>(extent); });
}

bool pads(const Window& window) {
  return std::ranges::any_of(window.axes, [](const Axis& axis) {
    return axis.begin > 0 || axis.cell(axis.out - 1, axis.kernel - 1) >= axis.in || axis.begin < 0;
  });
}

// Geometries in which most of a padded plane is never read, or most positions are no window.
bool is_wasteful(const Window& window, const Extent& extent) {
  double lanes = 1, positions = 1, phases = 1;
  for (const Axis& axis : window.axes) {
    const Int phases_read = std::min(axis.kernel, axis.stride);
    const Int shift = axis.dilation / axis.stride + 1;
    const double width =
        static_cast<double>(axis.out) + static_cast<double>(axis.kernel - 1) * static_cast<double>(shift);
    phases *= static_cast<double>(phases_read);
    lanes *= width;
    positions = &axis == &window.axes.front() ? static_cast<double>(axis.out) : positions * width;
  }
  const double windows = product(window.output()), cells = product(window.input());
  const double packed = lanes * phases * static_cast<double>(extent.depth);
  return positions > 4 * windows + 1024 || packed > many_lanes ||
         (lanes * phases > 1 << 16 && lanes * phases > 8 * (cells + windows));
}

void plan_columns(Plan& plan, Int windows) {
  plan.packing = Plan::Packing::columns;
  plan.positions = windows;
  plan.plane = plan.taps * (chunk + slack);
  plan.rows = {{0, 0, windows}};
  for (Int k = 0; k < plan.terms(); ++k) plan.offset.push_back(k * (chunk + slack));
}

// Windows ascend without a gap; positions may.
void add(std::vector<WindowRun>& rows, const WindowRun& row) {
  if (!rows.empty() && rows.back().position + rows.back().count == row.position)
    rows.back().count += row.count;
  else
    rows.push_back(row);
}

void add(std::vector<CellRun>& runs, const CellRun& run) {
  if (!runs.empty() && run.step == 1) {
    CellRun& last = runs.back();
    if (last.step == 1 && last.to + last.count == run.to && last.from + last.count == run.from) {
      last.count += run.count;
      return;
    }
  }
  runs.push_back(run);
}

// The cells inside of one phase of the last axis, at `to` lanes and `from` cells.
void add_inside(std::vector<CellRun>& runs, const Axis& axis, Int phase, Int extent, Int to, Int from) {
  const Int first = phase - axis.begin;  // the cell of position 0
  const Int begin = std::clamp<Int>(ceil_div(-first, axis.stride), 0, extent);
  const Int end = std::clamp<Int>(ceil_div(axis.in - first, axis.stride), begin, extent);
  if (begin < end) add(runs, {to + begin, from + first + begin * axis.stride, end - begin, axis.stride});
}

void plan_planes(Plan& plan, const Window& window) {
  const std::size_t axes = window.axes.size();
  std::vector<Split> splits;
  Shape extents, phases, kernel, out = window.output();
  for (const Axis& axis : window.axes) {
    splits.push_back(split(axis));
    extents.push_back(splits.back().extent);
    phases.push_back(static_cast<Int>(splits.back().phases.size()));
    kernel.push_back(axis.kernel);
  }
  const Int positions = volume(extents);
  plan.plane = positions * volume(phases);

  std::vector<Int> tap_offset;
  for_each_position(kernel, [&](const Shape& tap, Int) {
    Int phase = 0, shift = 0;
    for (std::size_t a = 0; a < axes; ++a) {
      const auto t = static_cast<std::size_t>(tap[a]);
      phase = phase * phases[a] + splits[a].phase[t];
      shift = shift * extents[a] + splits[a].shift[t];
    }
    tap_offset.push_back(phase * positions + shift);
  });
  for (Int c = 0; c < plan.extent.depth; ++c)
    for (const Int offset : tap_offset) plan.offset.push_back(c * plan.plane + offset);

  // Windows and cells row by row of the last axis.
  const Axis& last = window.axes.back();
  const std::span<const Int> outer_out(out.data(), axes - 1), outer_extents(extents.data(), axes - 1);
  for_each_position(outer_out, [&](const Shape& o, Int row) {
    Int position = 0;
    for (std::size_t a = 0; a + 1 < axes; ++a) position = position * extents[a] + o[a];
    add(plan.rows, {position * extents.back(), row * last.out, last.out});
  });
  plan.positions = plan.rows.empty() ? 0 : plan.rows.back().position + plan.rows.back().count;

  for_each_position(phases, [&](const Shape& phase, Int flat_phase) {
    const auto phase_of = [&](std::size_t a) { return splits[a].phases[static_cast<std::size_t>(phase[a])]; };
    for_each_position(outer_extents, [&](const Shape& at, Int row) {
      Int from = 0;
      for (std::size_t a = 0; a + 1 < axes; ++a) {
        const Int cell = at[a] * window.axes[a].stride + phase_of(a) - window.axes[a].begin;
        if (!window.axes[a].is_inside(cell)) return;
        from = from * window.axes[a].in + cell;
      }
      add_inside(plan.runs, last, phase_of(axes - 1), last.out + splits.back().shift.back(),
                 flat_phase * positions + row * extents.back(), from * last.in);
    });
  });
}

// Tells whether the data are planes as they lie. Around them nothing can be read: a tile needs as many positions as it
// is wide, and no map of a multiple of four has a tile by itself.
bool is_identity(const Plan& plan, Int cells) {
  const Int width = plan.extent.maps % 4 == 0 ? slack / 4 : slack;
  return plan.plane == cells && plan.positions >= width && plan.runs.size() == 1 && plan.runs[0].step == 1 &&
         plan.runs[0].count == cells;
}

#if defined(__x86_64__)
// Every processor with AVX2 has it; asked for all the same (leaf 1, ECX bit 29).
bool has_f16c() {
  unsigned a = 1, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c >> 29 & 1) != 0;
}
#endif

enum class Width { portable, avx2, avx512, avx512_vnni };
constexpr const char* width_names[] = {"portable", "avx2", "avx512", "avx512-vnni"};

Width widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
    return __builtin_cpu_supports("avx512vnni") ? Width::avx512_vnni : Width::avx512;
  if (__builtin_cpu_supports("avx2") && has_f16c()) return Width::avx2;
#endif
  return Width::portable;
}

// Less where the environment asks for less.
Width width_here() {
  static const Width width = [] {
    const char* const named = std::getenv("ASSAY_INSTRUCTIONS");
    const auto name = std::ranges::find(width_names, std::string_view(named ? named : ""));
    return std::min(widest(), static_cast<Width>(std::min<std::ptrdiff_t>(name - width_names, 3)));
  }();
  return width;
}

// Calls `function` of the widest instruction set there is.
#if defined(__x86_64__)
#define ASSAY_WIDEST(function, ...)                           \
  switch (width_here()) {                                     \
    case Width::avx512_vnni:                                  \
    case Width::avx512: return avx512::function(__VA_ARGS__); \
    case Width::avx2: return avx2::function(__VA_ARGS__);     \
    default: return portable::function(__VA_ARGS__);          \
  }
#else
#define ASSAY_WIDEST(function, ...) return portable::function(__VA_ARGS__);
#endif

template <class Lane>
void multiply_accumulate(const Mac<Lane>& mac) {
#if defined(__x86_64__)
  if constexpr (std::is_same_v<Lane, Quad>)
    if (width_here() == Width::avx512_vnni) return avx512_vnni::multiply_accumulate(mac);
#endif
  ASSAY_WIDEST(multiply_accumulate, mac)
}

template <class Lane>
void copy_runs(std::span<const CellRun> runs, const Lane* from, Lane* to) {
  ASSAY_WIDEST(copy, runs, from, to)
}

// Maps whose sums of a chunk stay in the first cache.
constexpr Int maps_at_once = 12;
constexpr Int sums_pitch = chunk + 2 * slack + 16;

// Weights that are used at so many positions are worth the time to transpose them: those of a few maps, many terms
// apart, would lie in one set of the cache.
constexpr Int worth_transposing = 256;

// Holds the weights of maps_at_once maps after the other as [terms][maps], or none where that does not pay.
template <class Lane>
class TransposedWeights {
 public:
  explicit TransposedWeights(const Task<Lane>& task) {
    const Extent& e = task.plan.extent;
    const Int terms = task.plan.terms();
    if (e.batch * task.plan.positions < worth_transposing) return;
    all_.reset(new Lane[task.weights.size()]);
    for (Int group = 0; group < e.group; ++group)
      for (Int map = 0; map < e.maps; map += maps_at_once) {
        const Int first = (group * e.maps + map) * terms, maps = std::min(maps_at_once, e.maps - map);
        const Lane* const from = task.weights.data() + first;
        Lane* const to = all_.get() + first;
        for (Int k = 0; k < terms; ++k)
          for (Int m = 0; m < maps; ++m) to[k * maps + m] = from[m * terms + k];
      }
  }
  const Lane* data() const { return all_.get(); }

 private:
  std::unique_ptr<Lane[]> all_;
};

// How the work falls apart: every item is a chunk of positions of one image and group, and a slab of its maps.
struct Items {
  Int chunks = 0, slabs = 1, slab = 0, count = 0;

  Items(const Plan& plan, int threads) {
    const Extent& e = plan.extent;
    const Int blocks = (e.maps + maps_at_once - 1) / maps_at_once;
    chunks = (plan.positions + chunk - 1) / chunk;
    const Int without = e.batch * e.group * chunks;
    if (without == 0 || blocks == 0) return;
    slabs = std::clamp<Int>((Int{4} * threads + without - 1) / without, 1, threads == 1 ? 1 : blocks);
    slab = (blocks + slabs - 1) / slabs * maps_at_once;
    slabs = (e.maps + slab - 1) / slab;
    count = without * slabs;
  }
};

// What one thread holds: the packed data of the piece it works on, and the sums of a few maps.
template <class Lane>
class Hand {
 public:
  Hand(const Task<Lane>& task, const Lane* transposed)
      : task_(task),
        plan_(task.plan),
        transposed_(transposed),
        sums_(new Sum<Lane>[maps_at_once * sums_pitch + slack]) {
    if (plan_.packing == Plan::Packing::in_place) return;
    const std::size_t lanes = static_cast<std::size_t>(plan_.extent.depth * plan_.plane + slack + chunk);
    packed_.reset(new Lane[lanes]);
    std::fill_n(packed_.get(), lanes, task.outside);
  }

  void work(const Items& items, Int item) {
    const Int slab = item % items.slabs, first = item / items.slabs % items.chunks * chunk;
    const Int both = item / items.slabs / items.chunks;
    const Piece piece{both / plan_.extent.group, both % plan_.extent.group, first,
                      std::min(chunk, plan_.positions - first)};
    const Lane* const lanes = packed(piece);
    const auto row =
        std::ranges::upper_bound(plan_.rows, first, {}, [](const WindowRun& r) { return r.position + r.count; });
    const Int end = std::min(plan_.extent.maps, (slab + 1) * items.slab);
    for (Int map = slab * items.slab; map < end; map += maps_at_once)
      add_up(piece, lanes, map, std::min(maps_at_once, end - map), row);
  }

 private:
  const Lane* packed(const Piece& piece) {
    if (plan_.packing == Plan::Packing::in_place) return task_.data(piece) + piece.first;
    const bool columns = plan_.packing == Plan::Packing::columns;
    const bool same = holds_ && held_.image == piece.image && held_.group == piece.group;
    if (!same || (columns && held_.first != piece.first)) task_.pack(piece, packed_.get(), chunk + slack);
    held_ = piece;
    holds_ = true;
    return packed_.get() + (columns ? 0 : piece.first);
  }

  void add_up(const Piece& piece, const Lane* lanes, Int map, Int maps, std::vector<WindowRun>::const_iterator row) {
    const Int first_map = piece.group * plan_.extent.maps + map;
    Sum<Lane>* const sums = sums_.get() + slack;
    const bool in_place = plan_.packing == Plan::Packing::in_place;
    multiply_accumulate(
        Mac<Lane>{.x = lanes,
                  .offset = plan_.offset.data(),
                  .terms = plan_.terms(),
                  .w = (transposed_ ? transposed_ : task_.weights.data()) + first_map * plan_.terms(),
                  .transposed = transposed_ != nullptr,
                  .maps = maps,
                  .start = task_.start.empty() ? nullptr : task_.start.data() + first_map,
                  .positions = piece.count,
                  .readable = in_place ? plan_.positions - piece.first : std::numeric_limits<Int>::max(),
                  .sums = sums,
                  .pitch = sums_pitch});
    for (; row != plan_.rows.end() && row->position < piece.first + piece.count; ++row) {
      const Int begin = std::max(row->position, piece.first);
      const Int end = std::min(row->position + row->count, piece.first + piece.count);
      for (Int m = 0; m < maps; ++m)
        task_.finish(piece.image, first_map + m, row->window + begin - row->position,
                     {sums + m * sums_pitch + begin - piece.first, static_cast<std::size_t>(end - begin)});
    }
  }

  const Task<Lane>& task_;
  const Plan& plan_;
  const Lane* const transposed_;  // the weights, or null
  std::unique_ptr<Lane[]> packed_;
  std::unique_ptr<Sum<Lane>[]> sums_;
  Piece held_;
  bool holds_ = false;
};

template <class Lane>
void run_range(const Task<Lane>& task, const Lane* transposed, const Items& items, Int first, Int last) {
  if (first == last) return;
  Hand<Lane> hand(task, transposed);
  for (Int item = first; item < last; ++item) hand.work(items, item);
}

int threads_for(double products, int wanted) {
  return static_cast<int>(std::clamp(products / work_of_a_thread, 1.0, static_cast<double>(std::max(1, wanted))));
}

void divide_among(int threads, Int items, const std::function<void(Int, Int)>& part) {
  const auto share = [&](int thread) { part(items * thread / threads, items * (thread + 1) / threads); };
  std::vector<std::future<void>> others;
  std::vector<int> left{0};  // for this thread
  for (int thread = 1; thread < threads; ++thread) try {
      others.push_back(std::async(std::launch::async, share, thread));
    } catch (const std::system_error&) {
      left.push_back(thread);  // no thread to be had
    }
  for (const int thread : left) share(thread);
  for (std::future<void>& other : others) other.get();
}

template <class Lane>
void run_all(const Task<Lane>& task, int wanted) {
  const Extent& e = task.plan.extent;
  const int threads =
      threads_for(product(Shape{e.batch, e.group, e.maps, task.plan.terms(), task.plan.positions}), wanted);
  const Items items(task.plan, threads);
  const TransposedWeights<Lane> weights(task);
  divide_among(threads, items.count, [&](Int first, Int last) { run_range(task, weights.data(), items, first, last); });
}

// To nearest, ties to even, like BFloat16(double): the sign and what is rounded up may carry into the exponent.
inline std::uint16_t bfloat16_bits(float sum) {
  const auto bits = std::bit_cast<std::uint32_t>(written<float>(sum));
  return static_cast<std::uint16_t>((bits + (sum != sum ? 0 : 0x7fff + (bits >> 16 & 1))) >> 16);
}

template <class Lane>
void pack_lanes(const Plan& plan, const Window& window, const Piece& piece, Lane* to, Int pitch, const Lane* data) {
  const Int x_plane = volume(window.input());
  if (plan.packing == Plan::Packing::columns)
    return pack(plan, window, piece, to, pitch,
                [&](Int c) { return [from = data + c * x_plane](Int cell) { return from[cell]; }; });
  for (Int c = 0; c < plan.extent.depth; ++c) copy_runs<Lane>(plan.runs, data + c * x_plane, to + c * plan.plane);
}

}  // namespace

Plan plan(const Window& given, const Extent& extent, bool columns) {
  const Window window = squeezed(given);
  Plan plan;
  plan.extent = extent;
  plan.taps = given.taps();
  plan.pads = pads(given);
  if (columns || is_wasteful(window, extent)) {
    plan_columns(plan, volume(given.output()));
    return plan;
  }
  plan_planes(plan, window);
  if (is_identity(plan, volume(given.input()))) plan.packing = Plan::Packing::in_place;
  return plan;
}

bool pays(const Window& window, const Extent& extent) {
  const Shape sums{extent.batch, extent.group, extent.maps, extent.depth};
  return product(sums) * product(window.kernel()) * product(window.output()) > 150;
}

std::vector<Int> cells(const Window& given, const Piece& piece) {
  const Window window = squeezed(given);
  const Shape kernel = window.kernel();
  const Axis& last = window.axes.back();
  const std::size_t outer = window.axes.size() - 1;
  std::vector<Int> all(static_cast<std::size_t>(window.taps() * piece.count), -1);
  Shape o(outer);
  for (Int done = 0, run = 0; done < piece.count; done += run) {
    const Int at = piece.first + done, first = at % last.out;
    run = std::min(last.out - first, piece.count - done);
    Int rest = at / last.out;
    for (std::size_t a = outer; a-- > 0; rest /= window.axes[a].out) o[a] = rest % window.axes[a].out;
    for_each_position(kernel, [&](const Shape& k, Int tap) {
      Int row = 0;
      for (std::size_t a = 0; a < outer; ++a) {
        const Int cell = window.axes[a].cell(o[a], k[a]);
        if (!window.axes[a].is_inside(cell)) return;
        row = row * window.axes[a].in + cell;
      }
      Int* const to = all.data() + tap * piece.count + done;
      for (Int i = 0; i < run; ++i) {
        const Int cell = last.cell(first + i, k.back());
        to[i] = last.is_inside(cell) ? row * last.in + cell : -1;
      }
    });
  }
  return all;
}

void run(const Task<float>& task, int threads) { run_all(task, threads); }
void run(const Task<double>& task, int threads) { run_all(task, threads); }
void run(const Task<Quad>& task, int threads) { run_all(task, threads); }

void divide(Int items, double products, int threads, const std::function<void(Int, Int)>& part) {
  divide_among(threads_for(products, threads), items, part);
}

void average(const Averages<float>& rows) { ASSAY_WIDEST(average, rows) }
void average(const Averages<double>& rows) { ASSAY_WIDEST(average, rows) }
void transpose(const float* from, Int rows, Int columns, float* to, Int pitch) {
  ASSAY_WIDEST(transpose, from, rows, columns, to, pitch)
}
void transpose(const double* from, Int rows, Int columns, double* to, Int pitch) {
  ASSAY_WIDEST(transpose, from, rows, columns, to, pitch)
}
bool requantize(std::span<const std::int32_t> sums, const Requantization& by, std::uint8_t* y) {
  ASSAY_WIDEST(requantize, sums, by, y)
}
void sample(const CornerSampling<float>& samples) { ASSAY_WIDEST(sample, samples) }
void sample(const CornerSampling<double>& samples){ASSAY_WIDEST(sample, samples)}

// By their exponents: the largest magnitude as an integer is that of an infinity or beyond.
ASSAY_EVERY_WIDTH bool is_finite(std::span<const float> all) {
  std::uint32_t largest = 0;
  for (const float each : all) largest = std::max(largest, std::bit_cast<std::uint32_t>(each) & 0x7fffffff);
  return largest < 0x7f800000;
}
ASSAY_EVERY_WIDTH bool is_finite(std::span<const double> all) {
  std::int64_t largest = 0;
  for (const double each : all)
    largest = std::max(largest, std::bit_cast<std::int64_t>(each) & std::numeric_limits<std::int64_t>::max());
  return largest < std::int64_t{0x7ff} << 52;
}

ASSAY_EVERY_WIDTH void widen(std::span<const BFloat16> from, std::span<float> to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::bit_cast<float>(std::uint32_t{from[i].bits} << 16);
}
ASSAY_EVERY_WIDTH void write(std::span<const float> sums, std::span<BFloat16> y) {
  for (std::size_t i = 0; i < sums.size(); ++i) y[i].bits = bfloat16_bits(sums[i]);
}

void widen(std::span<const Float16> from, std::span<float> to) {
  switch (width_here()) {
#if defined(__x86_64__)
    case Width::avx512_vnni:
    case Width::avx512: return avx512::widen(from, to);
    case Width::avx2: return avx2::widen(from, to);
#endif
    default: std::ranges::transform(from, to.begin(), [](Float16 half) { return static_cast<float>(half); });
  }
}
void write(std::span<const float> sums, std::span<Float16> y) {
  switch (width_here()) {
#if defined(__x86_64__)
    case Width::avx512_vnni:
    case Width::avx512: return avx512::narrow(sums, y);
    case Width::avx2: return avx2::narrow(sums, y);
#endif
    default: std::ranges::transform(sums, y.begin(), written<Float16>);
  }
}

ASSAY_EVERY_WIDTH void write(std::span<const float> sums, std::span<float> y) {
  for (std::size_t i = 0; i < sums.size(); ++i) y[i] = written<float>(sums[i]);
}
ASSAY_EVERY_WIDTH void write(std::span<const double> sums, std::span<double> y) {
  for (std::size_t i = 0; i < sums.size(); ++i) y[i] = written<double>(sums[i]);
}

void pack(const Plan& plan, const Window& window, const Piece& piece, float* to, Int pitch, const float* data) {
  pack_lanes(plan, window, piece, to, pitch, data);
}
void pack(const Plan& plan, const Window& window, const Piece& piece, double* to, Int pitch, const double* data) {
  pack_lanes(plan, window, piece, to, pitch, data);
}

const char* instructions() { return width_names[static_cast<std::size_t>(width_here())]; }

}  // namespace assay::engine
