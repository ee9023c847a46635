// SPDX-License-Identifier: Apache-2.0
#include "oracles/filter/filter.h"

#include "oracles/exact/exact.h"
#include "oracles/filter/clones.h"
#include "oracles/filter/decide.h"
#include "oracles/filter/deformed.h"
#include "oracles/filter/operand_range.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace assay::oracles {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr Int most_terms = Int{1} << 20;

// As instructions have it; std::fmax cares for NaN and is a call.
[[gnu::always_inline]] inline double larger(double a, double b) { return a > b ? a : b; }

// Of f64 everything is doubled: see Chunk.
ASSAY_WIDE void twice(const double* from, Int count, double* to) {
  for (Int i = 0; i < count; ++i) to[i] = from[i] * 2;
}

std::uint64_t mixed(std::uint64_t value) {  // splitmix64
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// An element that may be the worst in one of three ways.
struct Candidate {
  Int index;
  Worst most;
};

const Format& accumulator_of(DType dtype) { return format_of(dtype == DType::f64 ? DType::f64 : DType::f32); }

// Of sums of `terms` products each; the rest is for the caller to fill in.
MapBounds bounds_of(DType dtype, double terms) {
  const Format &type = format_of(dtype), &accumulator = accumulator_of(dtype);
  MapBounds m{.size_up = 1 + (terms + 4) * 0x1p-23,
              .size_down = 1 - (terms + 4) * 0x1p-23,
              .size_least = terms * 0x1p-149,
              .error = (terms + 8) * 0x1p-53,
              .error_least = 0,
              .exact_below = 0,
              .granule = 0,
              .overflow = 0x1p120,
              .underflows_below = 0,
              .unit = std::ldexp(1.0, accumulator.unit_exponent()),
              .collapse = 0,
              .coarsest_weight = 0,
              .underflow = std::ldexp(1.0, accumulator.smallest_exponent()),
              .extra_terms = 0,
              .ulp = std::ldexp(1.0, 1 - type.precision),
              .smallest_normal = std::ldexp(1.0, type.min_exponent),
              .top = std::ldexp(1.0, type.max_exponent)};
  if (dtype != DType::f64) return m;
  m.size_up = 1 + (terms + 8) * 0x1p-52;
  m.size_down = 1 - (terms + 8) * 0x1p-52;
  m.size_least = (terms + 4) * 0x1p-1072;
  m.error = (terms * terms + 2 * terms + 8) * 0x1p-106 * (1 + 0x1p-10);
  m.error_least = (5 * terms + 8) * 0x1p-1073;
  m.overflow = 0x1p900;
  m.underflows_below = 0x1p-900;
  return m;
}

// The finest lowest bits of what is multiplied, and of what is added.
struct Granularity {
  double cell = 0, weight = 0, bias = 0;
};

// Of sums whose terms are multiples of a power of two.
void set_granularity(MapBounds& m, const Granularity& granularity, bool in_pairs) {
  m.exact_below = std::min(granularity.weight * granularity.cell, granularity.bias) * (in_pairs ? 0x1p54 : 0x1p53);
  m.granule = std::isfinite(m.exact_below) ? m.exact_below * 0x1p-53 : 0;
}

// Takes one tile after the other and gathers what is certain of its outputs.
class ElementFilter {
 public:
  // `coarsest`: per map, the coarsest lowest bit of a weight.
  ElementFilter(const Tensor& got, const FilterOptions& how, const PlaneStrides& to, std::span<const double> coarsest,
                Enclosing enclosing, const MapBounds& bounds, const Granularity& granularity = {})
      : got_(got),
        how_(how),
        to_(to),
        coarsest_(coarsest),
        enclosing_(enclosing),
        doubled_(enclosing.in_pairs ? 2 : 1),
        sampler_(how.seed),
        bounds_(bounds),
        granularity_(granularity) {}

  // Terms and divisor of every output of the patches to come, one after the other.
  std::vector<double> terms, divisors;
  bool has_empty = false;

  void take(const Tile& tile, TileDetails& details) {
    for (Int done = 0; done < tile.count; done += chunk) {
      chunk_.count = std::min(chunk, tile.count - done);
      load(tile, done);
      // Windows of one plane lie one behind the other in the output, at one distance.
      const Int step = to_.cell.empty() ? 1 : to_.cell.back();
      const Int first =
          tile.n * to_.batch + tile.map * to_.channel + tile.group * to_.group + (tile.first + done) * step;
      read_outputs(got_, first, step, chunk_);
      decide(tile, details, done, first, step);
    }
  }

  FilterResult finish() {
    for (const Candidate& c : candidates_)
      if (may_be_worst(c.most)) out_.worst.push_back(c.index);
    std::ranges::sort(out_.undecided);
    out_.has_empty = has_empty;
    return std::move(out_);
  }

 private:
  void load(const Tile& tile, Int done) {
    Chunk& c = chunk_;
    if (enclosing_.in_pairs) {
      twice(tile.sum + done, c.count, c.sum.data());
      twice(tile.low + done, c.count, c.low.data());
      twice(tile.size + done, c.count, c.size.data());
      twice(tile.least + done, c.count, c.least.data());
      twice(divisors.data() + done, c.count, c.divisor.data());
      if (enclosing_.deforms) twice(tile.coordinate_error + done, c.count, c.coordinate_error.data());
    } else {
      std::copy_n(tile.sum + done, c.count, c.sum.begin());
      std::copy_n(tile.size + done, c.count, c.size.begin());
      std::copy_n(tile.least + done, c.count, c.least.begin());
      std::copy_n(divisors.begin() + done, c.count, c.divisor.begin());
      if (enclosing_.deforms) std::copy_n(tile.coordinate_error + done, c.count, c.coordinate_error.begin());
    }
    std::copy_n(terms.begin() + done, c.count, c.terms.begin());
    std::fill(c.divisor.begin() + c.count, c.divisor.begin() + std::min(chunk, c.count + 7), 0.0);
    if (!enclosing_.deforms) return;
    std::copy_n(tile.inexact + done, c.count, c.inexact.begin());
    std::copy_n(tile.uncertain + done, c.count, c.uncertain.begin());
  }

  // Where a weight is zero the coarsest tells nothing, since the finest cell may meet it.
  void set_map(Int map) {
    const double coarsest = coarsest_[static_cast<std::size_t>(map)];
    by_product_ = std::isinf(coarsest);
    bounds_.coarsest_weight = doubled_ * (by_product_ ? 1 : coarsest);
    bounds_.collapse = bounds_.coarsest_weight / bounds_.unit;
  }

  struct Marked {
    NearestCount nearest;
    Rest rest;
    bool is_open(Int count) const { return nearest.nearest + rest.right < count; }
  };

  Marked mark(const Tile& tile, TileDetails& details, Int done) {
    Chunk& c = chunk_;
    Marked marked{mark_nearest(c, bounds_, enclosing_), {}};
    if (!marked.is_open(c.count)) return marked;
    if (how_.only_nearest) {
      c.right.fill(0);
      return marked;
    }
    set_map(tile.map);
    find_finest(details, done, false);
    marked.rest = mark_right(c, bounds_, worst_, enclosing_);
    if (by_product_ || !marked.is_open(c.count)) return marked;
    find_finest(details, done, true);
    marked.rest = mark_right(c, bounds_, worst_, enclosing_);
    return marked;
  }

  void decide(const Tile& tile, TileDetails& details, Int done, Int first, Int step) {
    Chunk& c = chunk_;
    Marked marked = mark(tile, details, done);
    const bool sharpened = marked.is_open(c.count) && sharpen(details, done);
    if (sharpened) marked = mark(tile, details, done);
    count(marked);
    if (marked.rest.worst_candidate > 0) keep_worst_candidates(first, step);
    if (marked.is_open(c.count)) keep_undecided(first, step);
    if (!out_.varies && marked.nearest.nearest > 0) look_for_change();
    sampler_.next(c.count, [&](std::size_t i) {
      const Int index = first + static_cast<Int>(i) * step;
      if (static_cast<Int>(out_.sampled.size()) >= most_sampled || !(c.nearest[i] || c.right[i])) return;
      const Level level = c.nearest[i] ? Level::L0 : c.faithful[i] ? Level::L1 : Level::L2;
      out_.sampled.push_back({index, c.nearest[i] != 0, level});
    });
    if (sharpened) set_granularity(bounds_, granularity_, enclosing_.in_pairs);
  }

  // What is exact where only the cells of this chunk count: of large inputs some cell is very fine. Whether that says
  // more.
  bool sharpen(TileDetails& details, Int done) {
    if (enclosing_.deforms) return false;
    const std::span<const double> finest = details.finest_cells(true).subspan(static_cast<std::size_t>(done));
    const double before = bounds_.exact_below;
    const double cell = *std::min_element(finest.begin(), finest.begin() + chunk_.count);
    set_granularity(bounds_, {cell, granularity_.weight, granularity_.bias}, enclosing_.in_pairs);
    return bounds_.exact_below > before;
  }

  void count(const Marked& marked) {
    const auto& [nearest, rest] = marked;
    out_.nearest += nearest.nearest;
    out_.right += nearest.nearest + rest.right;
    out_.zeros += nearest.zeros;
    out_.maybe_zeros += rest.maybe_zeros;
    const auto weaken = [&](Level level) { out_.weakest = std::max(out_.weakest.value_or(Level::L0), level); };
    if (nearest.nearest > 0) weaken(Level::L0);
    if (rest.right > 0) weaken(rest.unfaithful > 0 ? Level::L2 : Level::L1);
  }

  void keep_undecided(Int first, Int step) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(chunk_.count); ++i)
      if (!chunk_.nearest[i] && !chunk_.right[i]) out_.undecided.push_back(first + static_cast<Int>(i) * step);
  }

  void keep_worst_candidates(Int first, Int step) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(chunk_.count); ++i) {
      if (!chunk_.worst_candidate[i]) continue;
      const auto [most, least] = measure(chunk_, bounds_, i, enclosing_);
      worst_ = {larger(least.q, worst_.q), larger(least.ulp, worst_.ulp), larger(least.share, worst_.share)};
      if (may_be_worst(most)) candidates_.push_back({first + static_cast<Int>(i) * step, most});
    }
  }

  bool may_be_worst(const Worst& most) const {
    return most.q >= worst_.q || most.ulp >= worst_.ulp || (most.share > 0 && most.share >= worst_.share);
  }

  // A bound on the lowest bit of the products of every output: of its cells, or product by product where some weight is
  // zero.
  void find_finest(TileDetails& details, Int done, bool all) {
    Chunk& c = chunk_;
    if (!by_product_) {
      std::copy_n(details.finest_cells(all).begin() + done, c.count, c.finest.begin());
      return;
    }
    for (Int i = 0; i < c.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      c.finest[at] = inf;
      if (c.nearest[at]) continue;
      const double enough = c.least[at] * bounds_.size_down * 0.5 / bounds_.collapse;
      details.any_product(done + i, [&](double cell, double weight) {
        if (cell != 0 && weight != 0) c.finest[at] = std::fmin(c.finest[at], lowest_bit(cell) * lowest_bit(weight));
        return c.finest[at] < enough;
      });
    }
  }

  void look_for_change() {
    for (Int i = 0; i < chunk_.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (!chunk_.nearest[at]) continue;
      if (!out_.seen) out_.seen = chunk_.got[at];
      if (*out_.seen != chunk_.got[at]) {
        out_.varies = true;
        return;
      }
    }
  }

  const Tensor& got_;
  const FilterOptions& how_;
  const PlaneStrides& to_;
  std::span<const double> coarsest_;
  Enclosing enclosing_;
  double doubled_;
  Sampler sampler_;
  FilterResult out_;
  MapBounds bounds_;
  Granularity granularity_;  // of the whole input
  Worst worst_;
  Chunk chunk_;
  std::vector<Candidate> candidates_;
  bool by_product_ = false;
};

// Terms and divisors of the windows of a tile: of the same ones for every plane.
class Windows {
 public:
  explicit Windows(const Sums& sums) : sums_(sums) {
    for (const WindowAxis& t : sums.sweep.tracks) counts_.push_back(counts_of(t));
  }

  void of(const Tile& tile, ElementFilter& screener) {
    if (tile.first == first_ && tile.count == static_cast<Int>(screener.terms.size())) return;
    first_ = tile.first;
    screener.terms.resize(static_cast<std::size_t>(tile.count));
    screener.divisors.resize(screener.terms.size());
    const std::vector<WindowAxis>& tracks = sums_.sweep.tracks;
    const double depth = static_cast<double>(sums_.sweep.depth), bias = sums_.sweep.bias.empty() ? 0 : 1;
    const std::size_t last = tracks.size() - 1;
    for (Int done = 0; done < tile.count;) {
      Int at = tile.first + done;
      const Int start = at % tracks[last].windows, run = std::min(tracks[last].windows - start, tile.count - done);
      at /= tracks[last].windows;
      double inside = 1, padded = 1;
      for (std::size_t i = last; i-- > 0; at /= tracks[i].windows) {
        const auto window = static_cast<std::size_t>(at % tracks[i].windows);
        inside *= counts_[i].inside[window];
        padded *= counts_[i].padded[window];
      }
      for (Int j = 0; j < run; ++j, ++done) {
        const auto window = static_cast<std::size_t>(start + j), to = static_cast<std::size_t>(done);
        const double within = inside * counts_[last].inside[window], around = padded * counts_[last].padded[window];
        screener.terms[to] = depth * within + bias;
        screener.divisors[to] = !sums_.averaged ? 1 : sums_.counts_padding ? around : within;
        screener.has_empty |= screener.terms[to] == 0;
      }
    }
  }

 private:
  const Sums& sums_;
  std::vector<WindowCounts> counts_;
  Int first_ = -1;
};

Shape windows_of(const std::vector<WindowAxis>& tracks) {
  Shape windows;
  for (const WindowAxis& t : tracks) windows.push_back(t.windows);
  return windows;
}

// Neither over- nor underflow in whatever is computed of these, in double or in pairs: products of six such factors.
bool stay_normal(std::span<const OperandRange> all) {
  return std::ranges::all_of(all, [](const OperandRange& s) { return s.least >= 0x1p-150 && s.largest <= 0x1p120; });
}

// 2^53 g: where every fraction has few bits, all coordinates, fractions and their products are exact too.
double exact_below(std::size_t axes, const OperandRange& x, const OperandRange& w, const OperandRange& b,
                   const OperandRange& offset, const OperandRange& mask) {
  const double finest = std::min(1.0, offset.finest);
  if (finest < 0x1p-24 || offset.largest > 0x1p24) return -1;
  const double fraction = std::pow(finest, static_cast<double>(axes));
  return fraction < 0x1p-53 ? -1 : std::min(x.finest * fraction * mask.finest * w.finest, b.finest) * 0x1p53;
}

}  // namespace

std::optional<FilterResult> Answer::screen(const Tensor&, const FilterOptions&) const { return std::nullopt; }

std::optional<FilterResult> screen(Sums sums, const Tensor& got, const FilterOptions& how) {
  ConvFilter& sweep = sums.sweep;
  Int row = sweep.depth;
  for (const WindowAxis& t : sweep.tracks) row *= t.taps;
  if (row + 2 > most_terms) return std::nullopt;
  const OperandRange x = survey(*sweep.x), bias = survey(sweep.bias);
  const auto [weights, coarsest] = survey(sweep.weights, sweep.groups * sweep.maps, row);
  if (!x.finite || !weights.finite || !bias.finite) return std::nullopt;
  sweep.largest_cell = x.largest;
  sweep.largest_weight = weights.largest;
  const bool in_pairs = got.dtype() == DType::f64;
  if (in_pairs && std::max({x.largest, weights.largest, bias.largest}) > 0x1p400) return std::nullopt;
  MapBounds bounds = bounds_of(got.dtype(), static_cast<double>(row + 1));
  const Granularity granularity{x.finest, weights.finest, bias.finest};
  set_granularity(bounds, granularity, in_pairs);
  bounds.extra_terms = sums.averaged ? 1 : 0;
  ElementFilter screener(got, how, sums.to, coarsest, {.in_pairs = in_pairs}, bounds, granularity);
  Windows windows(sums);
  oracles::sweep(sweep, [&](const Tile& tile, TileDetails& details) {
    windows.of(tile, screener);
    screener.take(tile, details);
  });
  return screener.finish();
}

std::optional<FilterResult> screen(Deformed samples, const Tensor& got, const FilterOptions& how) {
  const std::size_t axes = samples.tracks.size();
  Int row = samples.depth;
  for (const WindowAxis& t : samples.tracks) row *= t.taps;
  if (axes > 3 || row + 2 > most_terms) return std::nullopt;
  const double one[] = {1};
  const auto [w, coarsest] = survey(samples.weights, samples.groups * samples.maps, row);
  const OperandRange x = survey(*samples.x), b = survey(samples.bias), offset = survey(*samples.offset),
                     mask = samples.mask ? survey(*samples.mask) : survey(one);
  if (!x.finite || !w.finite || !b.finite || !offset.finite || !mask.finite) return std::nullopt;
  samples.pairs = got.dtype() == DType::f64;
  samples.largest = x.largest;
  if (samples.pairs && !stay_normal(std::array{x, w, b, offset, mask})) return std::nullopt;
  const auto corners = std::ldexp(1.0, static_cast<int>(axes)), terms = static_cast<double>(row + 1);
  const auto at_least_one = [](double value) { return std::max(1.0, value); };
  const double roundings = terms + 2 * static_cast<double>(axes) + corners + 4;
  MapBounds m = bounds_of(got.dtype(), roundings);
  const double doubled = samples.pairs ? 2 : 1;
  const double most =
      terms * corners * at_least_one(x.largest) * at_least_one(w.largest) * at_least_one(mask.largest) + b.largest;
  if (8 * most >= m.overflow) return std::nullopt;
  m.size_least *= 1 + w.largest;
  m.exact_below = doubled * exact_below(axes, x, w, b, offset, mask);
  m.more = doubled * terms * corners * (static_cast<double>(axes) + 4) * m.underflow *
           at_least_one((w.largest + 1) * (mask.largest + 1)) * at_least_one(x.largest) * (1 + 0x1p-20);
  if (samples.pairs)
    m.error = (terms * terms + 8 * terms + 1024) * 0x1p-106 * (1 + 0x1p-10);
  else
    m.displaced = 0x1p-29;
  PlaneStrides to = channels_first(samples.groups * samples.maps, windows_of(samples.tracks));
  ElementFilter screener(got, how, to, coarsest, {.in_pairs = samples.pairs, .deforms = true}, m);
  screener.terms.assign(static_cast<std::size_t>(chunk), roundings);
  screener.divisors.assign(static_cast<std::size_t>(chunk), 1.0);
  oracles::sweep(samples, [&](const Tile& tile, TileDetails& details) { screener.take(tile, details); });
  return screener.finish();
}

void Sampler::draw() {
  const std::uint64_t within = mixed(seed_ + static_cast<std::uint64_t>(period_)) % sample_period;
  drawn_ = period_++ * sample_period + static_cast<Int>(within);
}

}  // namespace assay::oracles
