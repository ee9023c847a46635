// SPDX-License-Identifier: Apache-2.0
#include "oracles/filter/deformed.h"

#include "oracles/exact/exact.h"
#include "oracles/exact/operands.h"
#include "oracles/filter/clones.h"
#include "oracles/filter/multiply.h"
#include "oracles/filter/operand_range.h"
#include "oracles/filter/pair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

namespace assay::oracles {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr std::size_t most_axes = 3, most_corners = 8;
constexpr Int some_terms = 2;  // they mostly tell how fine the products of an output are

std::size_t at(Int index) { return static_cast<std::size_t>(index); }

// One coordinate h = base + offset of a sample, and how the accumulator may round it.
struct OffsetPosition {
  Pair h;         // exact
  double change;  // what rounding may move it by, 0 where it is exact
  double floor;

  OffsetPosition(double base, double offset, const Format& accumulator) : h(exact_sum(base, offset)) {
    const Pair reach = exact_sum(std::fabs(base), std::fabs(offset));
    const double unit = std::ldexp(1.0, accumulator.unit_exponent()), finest = std::min(1.0, lowest_bit(offset));
    const double most = finest / unit;
    const bool is_exact = finest >= unit && (reach.high < most || (reach.high == most && reach.low <= 0));
    change = is_exact ? 0 : unit * (2 * reach.high + 1);
    floor = std::floor(h.high);
    if (floor == h.high && h.low < 0) floor -= 1;
  }
  // Rounding may carry it into another cell.
  bool is_uncertain() const {
    return change != 0 && (std::floor(h.high - 2 * change) != floor || std::floor(h.high + 2 * change) != floor);
  }
  // No cell within one of it is in the input, nor may be after rounding.
  bool is_far(Int in) const { return h.high + 2 * change < -1 || h.high - 2 * change > static_cast<double>(in); }
  bool is_outside(Int in) const {
    return floor < -1 || floor >= static_cast<double>(in) || (h.high == -1 && h.low == 0);
  }

  double fraction() const { return h.high - floor; }
  double rest() const { return (floor + 1) - h.high; }
  Pair fraction_pair() const { return exact_sum(h.high, -floor) + h.low; }
  Pair rest_pair() const { return exact_sum(floor + 1, -h.high) + -h.low; }
};

// The samples of one tap for the outputs of a tile, shared by all channels of an offset group.
struct Samples {
  std::array<std::vector<Int>, most_corners> cell;  // within a plane; its end where the corner lies outside
  std::array<std::vector<double>, most_corners> omega, omega_low;
  std::vector<double> mask, change, finest;  // finest: the lowest bits of the mask and of all fractions, multiplied
  std::vector<double> uncertain;             // 1 where it is so, else 0

  void resize(Int count, std::size_t corners, bool pairs) {
    for (std::size_t corner = 0; corner < corners; ++corner) {
      cell[corner].resize(at(count));
      omega[corner].resize(at(count));
      if (pairs) omega_low[corner].resize(at(count));
    }
    for (std::vector<double>* each : {&mask, &change, &finest, &uncertain}) each->resize(at(count));
  }
};

// One term of all outputs of a tile before its weight: the samples, what their terms come to without signs, the least
// and the largest cell around each, and what rounded coordinates may move it by.
struct Column {
  std::vector<double> sum, size, low, high, coordinate_error;

  explicit Column(Int width) {
    for (std::vector<double>* each : {&sum, &size, &low, &high, &coordinate_error}) each->resize(at(width));
  }
};

ASSAY_WIDE void add_corner(const double* plane, const Int* cell, const double* omega, Int count, Column& to) {
  double *sum = to.sum.data(), *size = to.size.data(), *low = to.low.data(), *high = to.high.data();
  for (Int o = 0; o < count; ++o) {
    const double x = plane[cell[o]];
    sum[o] += omega[o] * x;
    size[o] += omega[o] * std::fabs(x);
    low[o] = x < low[o] ? x : low[o];
    high[o] = x > high[o] ? x : high[o];
  }
}

// `widest`: how far apart any two cells may be.
ASSAY_WIDE void take_mask(const Samples& s, double widest, Int count, Column& to) {
  const double *mask = s.mask.data(), *change = s.change.data(), *uncertain = s.uncertain.data();
  for (std::size_t o = 0; o < static_cast<std::size_t>(count); ++o) {
    const double range = uncertain[o] != 0 ? widest : to.high[o] - to.low[o];
    to.sum[o] *= mask[o];
    to.size[o] *= std::fabs(mask[o]);
    to.coordinate_error[o] = range * change[o] * std::fabs(mask[o]);
  }
}

template <bool pairs>
class DeformedTiles final : public TileDetails {
  using Size = std::conditional_t<pairs, double, float>;

 public:
  DeformedTiles(const Deformed& what, const std::function<void(const Tile&, TileDetails&)>& use)
      : what_(what), use_(use), axes_(what.tracks.size()), corners_(std::size_t{1} << axes_) {
    for (const WindowAxis& t : what.tracks) {
      box_.push_back(t.taps);
      taps_ *= t.taps;
      plane_ *= t.windows;
      cells_of_plane_ *= t.in;
    }
    terms_ = what.depth * taps_;
    constexpr Int most = 32768;
    width_ = std::min(std::clamp<Int>(most / std::max<Int>(terms_, 1) / 64 * 64, 64, 256), plane_);
    offset_ = doubles(*what.offset);
    if (what.mask) mask_ = doubles(*what.mask);
    for (Int t = 0; t < terms_; ++t) offsets_.push_back(t * width_);
    weights_.resize(at(what.weights.size()));
    what.weights.read(0, what.weights.size(), weights_.data());
    for (const double weight : weights_) weight_sizes_.push_back(static_cast<Size>(std::fabs(weight)));
    term_ = Column(width_);
    const std::size_t columns = at(terms_ * width_ + slack), sums = at(most_abreast * pitch());
    for (std::vector<double>* each : {&column_, &column_low_})
      if (pairs || each == &column_) each->resize(columns);
    for (std::vector<Size>* each : {&size_, &coordinate_error_}) each->resize(columns);
    for (std::vector<double>* each : {&sums_, &lows_, &of_columns_, &wide_size_, &wide_coordinate_error_})
      each->resize(sums);
    for (std::vector<Size>* each : {&sizes_, &moves_}) each->resize(sums);
  }

  void run() {
    if (plane_ == 0) return;
    for (Int n = 0; n < what_.batch; ++n) {
      take_cells(n);
      for (Int g = 0; g < what_.groups; ++g)
        for (Int first = 0; first < plane_; first += width_) fill_tile(n, g, first, std::min(width_, plane_ - first));
    }
  }

  std::span<const double> finest_cells(bool all) override {
    const Int terms = all ? terms_ : std::min(terms_, some_terms);
    if (terms <= finest_of_) return finest_;
    finest_of_ = terms;
    finest_.assign(at(count_), inf);
    for (Int t = (terms_ - terms) / 2; t < (terms_ + terms) / 2; ++t)
      for (Int o = 0; o < count_; ++o) finest_[at(o)] = std::min(finest_[at(o)], finest_at(t, o));
    return finest_;
  }

  bool any_product(Int o, const std::function<bool(double, double)>& f) override {
    for (Int t = 0; t < terms_; ++t) {
      const double finest = finest_at(t, o);
      if (f(finest == inf ? 0 : finest, what_.weights[map_ * terms_ + t])) return true;
    }
    return false;
  }

 private:
  Int pitch() const { return width_ + slack; }

  // All planes of one image, each with a zero at its end.
  void take_cells(Int n) {
    const Int channels = what_.groups * what_.depth;
    cells_.assign(at(channels * (cells_of_plane_ + 1)), 0.0);
    for_float(what_.x->dtype(), [&]<class T>() {
      const T* from = what_.x->as<T>().data() + n * channels * cells_of_plane_;
      for (Int c = 0; c < channels; ++c)
        for (Int i = 0; i < cells_of_plane_; ++i)
          cells_[at(c * (cells_of_plane_ + 1) + i)] = static_cast<double>(from[c * cells_of_plane_ + i]);
    });
  }

  Int offset_group(Int channel) const { return channel / (what_.groups * what_.depth / what_.offset_groups); }

  void fill_tile(Int n, Int g, Int first, Int count) {
    count_ = count;
    finest_of_ = -1;
    inexact_.assign(at(count), 0.0);
    uncertain_.assign(at(count), 0.0);
    first_group_ = offset_group(g * what_.depth);
    const Int last_group = offset_group((g + 1) * what_.depth - 1);
    group_ = g;
    samples_.resize(at((last_group - first_group_ + 1) * taps_));
    for (Int q = first_group_; q <= last_group; ++q) {
      Int flat = 0;
      each(box_, [&](const std::vector<Int>& tap) {
        take_samples(n, q, flat, tap, first);
        ++flat;
      });
    }
    for (Int t = 0; t < terms_; ++t) fill_column(t);
    for (Int m = 0; m < what_.maps; m += block_at(m, what_.maps)) sum_up(n, g, m, first);
  }

  void take_samples(Int n, Int q, Int flat, const std::vector<Int>& tap, Int first) {
    static const Format &narrow = format_of(DType::f32), &wide = format_of(DType::f64);
    Samples& s = samples_[at((q - first_group_) * taps_ + flat)];
    s.resize(count_, corners_, pairs);
    const Int row = (n * what_.offset_groups + q) * taps_ + flat, axes = static_cast<Int>(axes_);
    std::array<Int, most_axes> window{};
    Int rest = first;
    for (std::size_t a = axes_; a-- > 0; rest /= what_.tracks[a].windows) window[a] = rest % what_.tracks[a].windows;
    for (Int o = 0; o < count_; ++o) {
      std::array<Pair, most_corners> omega;
      std::array<Int, most_corners> cell{};
      omega[0] = {1, 0};
      double change = 0, finest = 1;
      bool far = false, uncertain = false;
      for (std::size_t a = 0; a < axes_; ++a) {
        const WindowAxis& track = what_.tracks[a];
        const double offset = offset_[at((row * axes + static_cast<Int>(a)) * plane_ + first + o)];
        const OffsetPosition h(static_cast<double>(track.at(window[a], tap[a])), offset, pairs ? wide : narrow);
        change += h.change;
        finest *= std::min(1.0, lowest_bit(offset));
        far |= h.is_far(track.in);
        uncertain |= h.is_uncertain();
        if (h.change != 0) inexact_[at(o)] = 1;
        split(h, track.in, std::size_t{1} << a, omega, cell);
      }
      for (std::size_t corner = 0; corner < corners_; ++corner) {
        s.cell[corner][at(o)] = cell[corner] < 0 ? cells_of_plane_ : cell[corner];
        s.omega[corner][at(o)] = omega[corner].high;
        if constexpr (pairs) s.omega_low[corner][at(o)] = omega[corner].low;
      }
      const double mask = what_.mask ? mask_[at(row * plane_ + first + o)] : 1;
      s.mask[at(o)] = mask;
      s.change[at(o)] = far ? 0 : change;
      s.finest[at(o)] = finest * lowest_bit(mask);
      s.uncertain[at(o)] = !far && uncertain ? 1 : 0;
      if (!far && uncertain) uncertain_[at(o)] = 1;
      for (std::size_t a = axes_; a-- > 0; window[a] = 0)
        if (++window[a] < what_.tracks[a].windows) break;
    }
  }

  // Each of the `known` corners becomes two: at the floor of the coordinate and one cell behind. -1: outside.
  static void split(const OffsetPosition& h, Int in, std::size_t known, std::array<Pair, most_corners>& omega,
                    std::array<Int, most_corners>& cell) {
    const bool outside = h.is_outside(in);
    const Int low = outside ? -1 : static_cast<Int>(h.floor);
    const Pair fraction = outside ? Pair{} : pairs ? h.fraction_pair() : Pair{h.fraction(), 0};
    const Pair rest = outside ? Pair{} : pairs ? h.rest_pair() : Pair{h.rest(), 0};
    for (std::size_t corner = known; corner-- > 0;) {
      const Pair before = omega[corner];
      const Int from = cell[corner];
      omega[corner] = product(before, rest);
      omega[corner + known] = product(before, fraction);
      cell[corner] = from < 0 || low < 0 ? -1 : from * in + low;
      cell[corner + known] = from < 0 || outside || low + 1 >= in ? -1 : from * in + low + 1;
    }
  }

  static Pair product(Pair a, Pair b) { return pairs ? a * b : Pair{a.high * b.high, 0}; }

  const Samples& samples_of(Int term) const {
    const Int q = offset_group(group_ * what_.depth + term / taps_);
    return samples_[at((q - first_group_) * taps_ + term % taps_)];
  }
  const double* plane_of(Int term) const {
    return cells_.data() + (group_ * what_.depth + term / taps_) * (cells_of_plane_ + 1);
  }

  void fill_column(Int term) {
    const Samples& s = samples_of(term);
    const double* plane = plane_of(term);
    Column& c = term_;
    for (std::vector<double>* each : {&c.sum, &c.size}) std::ranges::fill(*each, 0.0);
    std::ranges::fill(c.low, inf);
    std::ranges::fill(c.high, -inf);
    for (std::size_t corner = 0; corner < corners_; ++corner)
      add_corner(plane, s.cell[corner].data(), s.omega[corner].data(), count_, c);
    take_mask(s, 2 * what_.largest, count_, c);
    const Int to = term * width_;
    std::copy_n(c.sum.begin(), count_, column_.begin() + to);
    std::transform(c.size.begin(), c.size.begin() + count_, size_.begin() + to, narrowed);
    std::transform(c.coordinate_error.begin(), c.coordinate_error.begin() + count_, coordinate_error_.begin() + to,
                   narrowed);
    if constexpr (pairs) fill_pairs(s, plane, to);
  }

  static Size narrowed(double value) { return static_cast<Size>(value); }

  void fill_pairs(const Samples& s, const double* plane, Int to) {
    for (Int o = 0; o < count_; ++o) {
      Pair sum;
      for (std::size_t corner = 0; corner < corners_; ++corner)
        sum = sum + Pair{s.omega[corner][at(o)], s.omega_low[corner][at(o)]} * plane[s.cell[corner][at(o)]];
      sum = sum * s.mask[at(o)];
      column_[at(to + o)] = sum.high;
      column_low_[at(to + o)] = sum.low;
    }
  }

  void sum_up(Int n, Int g, Int m, Int first) {
    const Int block = block_at(m, what_.maps), map = g * what_.maps + m;
    double start[most_abreast] = {};
    Size start_size[most_abreast] = {};
    constexpr Size nothing[most_abreast] = {};
    for (Int i = 0; i < block && !what_.bias.empty(); ++i) {
      start[i] = what_.bias[at(map + i)];
      start_size[i] = static_cast<Size>(std::fabs(start[i]));
    }
    const std::size_t from = at(map * terms_);
    if constexpr (pairs) {
      for (Int i = 0; i < block; ++i)
        oracles::run({column_.data(), column_low_.data(), offsets_.data(), weights_.data() + from + i * terms_, terms_,
                      start[i], sums_.data() + i * pitch(), lows_.data() + i * pitch(), of_columns_.data(), count_});
    } else {
      oracles::run(Multiply<double>{column_.data(), offsets_.data(), weights_.data() + from, terms_, start,
                                    sums_.data(), pitch(), count_},
                   block);
    }
    oracles::run(Multiply<Size>{size_.data(), offsets_.data(), weight_sizes_.data() + from, terms_, start_size,
                                sizes_.data(), pitch(), count_},
                 block);
    oracles::run(Multiply<Size>{coordinate_error_.data(), offsets_.data(), weight_sizes_.data() + from, terms_, nothing,
                                moves_.data(), pitch(), count_},
                 block);
    for (Int i = 0; i < block; ++i) {
      map_ = map + i;
      Tile tile{.n = n, .map = map_, .first = first, .count = count_, .sum = sums_.data() + i * pitch()};
      if constexpr (pairs) {
        tile.low = lows_.data() + i * pitch();
        tile.size = sizes_.data() + i * pitch();
        tile.coordinate_error = moves_.data() + i * pitch();
      } else {
        std::copy_n(sizes_.begin() + i * pitch(), count_, wide_size_.begin());
        tile.size = wide_size_.data();
        std::copy_n(moves_.begin() + i * pitch(), count_, wide_coordinate_error_.begin());
        tile.coordinate_error = wide_coordinate_error_.data();
      }
      tile.least = tile.size;
      tile.inexact = inexact_.data();
      tile.uncertain = uncertain_.data();
      use_(tile, *this);
    }
  }

  // The lowest bit that an elementary product of one column may have, its weight apart.
  double finest_at(Int term, Int o) const {
    const Samples& s = samples_of(term);
    double finest = inf;
    for (std::size_t corner = 0; corner < corners_; ++corner)
      finest = std::min(finest, lowest_bit(plane_of(term)[s.cell[corner][at(o)]]));
    return finest * s.finest[at(o)];
  }

  const Deformed& what_;
  const std::function<void(const Tile&, TileDetails&)>& use_;
  std::size_t axes_, corners_;
  std::vector<Int> box_;
  Int taps_ = 1, plane_ = 1, cells_of_plane_ = 1, terms_ = 0, width_ = 1, count_ = 0, map_ = 0, group_ = 0,
      first_group_ = 0, finest_of_ = -1;
  Column term_{0};
  std::vector<double> offset_, mask_, cells_, weights_, finest_, inexact_, uncertain_;
  std::vector<Size> weight_sizes_;
  std::vector<Int> offsets_;
  std::vector<Samples> samples_;
  std::vector<double> column_, column_low_, sums_, lows_, wide_size_, wide_coordinate_error_;
  std::vector<double> of_columns_;  // sums of |columns|, which are less than those of their terms
  std::vector<Size> size_, coordinate_error_, sizes_, moves_;
};

}  // namespace

void sweep(const Deformed& what, const std::function<void(const Tile&, TileDetails&)>& use) {
  what.pairs ? DeformedTiles<true>(what, use).run() : DeformedTiles<false>(what, use).run();
}

// Each comparison is sure where both sides are further apart than what they lost: nothing where the coordinate is
// exact.
Reach reaches_border(const std::vector<WindowAxis>& tracks, const Tensor& offset, Int rows) {
  const Format& accumulator = format_of(offset.dtype() == DType::f64 ? DType::f64 : DType::f32);
  const std::vector<double> offsets = doubles(offset);
  std::vector<Int> box, windows;
  Int plane = 1;
  for (const WindowAxis& t : tracks) {
    box.push_back(t.taps);
    windows.push_back(t.windows);
    plane *= t.windows;
  }
  const auto axes = static_cast<Int>(tracks.size());
  Reach reach = Reach::no;
  Int row = 0;
  const auto look = [&](const std::vector<Int>& tap) {
    Int o = 0;
    each(windows, [&](const std::vector<Int>& window) {
      bool near = true, beyond = false, unsure = false;
      for (Int a = 0; a < axes; ++a) {
        const WindowAxis& t = tracks[at(a)];
        const double given = offsets[at((row * axes + a) * plane + o)], value = std::isfinite(given) ? given : 0;
        const OffsetPosition h(static_cast<double>(t.at(window[at(a)], tap[at(a)])), value, accumulator);
        const double blur = h.change * 8, place = h.h.high;
        const auto in = static_cast<double>(t.in), first = static_cast<double>(-t.before),
                   last = static_cast<double>(t.in - 1 + t.after);
        near = near && place > -1 - blur && place < in + blur;
        beyond = beyond || place < first + blur || place > last - blur;
        for (const double edge : {-1.0, in, first, last})
          unsure = unsure || (blur != 0 && std::fabs(place - edge) <= blur);
      }
      if (near && beyond && reach != Reach::yes) reach = unsure ? Reach::unsure : Reach::yes;
      ++o;
    });
    ++row;
  };
  for (Int outer = 0; outer < rows && reach != Reach::yes; ++outer) each(box, look);
  return reach;
}

}  // namespace assay::oracles
