// SPDX-License-Identifier: Apache-2.0
#include "oracles/filter/conv_filter.h"

#include "oracles/filter/clones.h"
#include "oracles/filter/multiply.h"
#include "oracles/filter/operand_range.h"
#include "oracles/filter/quantized16.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

namespace assay::oracles {
namespace {

constexpr Int some_taps = 1;       // of one channel; they mostly tell how fine the products of a window are
constexpr Int most_cells = 40000;  // of one packed tile: with both kinds of numbers it stays in the second cache
constexpr Int most_weights = Int{1} << 22;  // that are packed at once

ASSAY_WIDE void widen_floats(const float* from, Int count, double* wide, float* size) {
  for (Int i = 0; i < count; ++i) wide[i] = static_cast<double>(from[i]);
  for (Int i = 0; i < count; ++i) size[i] = std::fabs(from[i]);
}

// Subnormals become normal by the exact multiplication; infinities do not come here.
ASSAY_WIDE void widen_halves(const Float16* from, Int count, double* wide, float* size) {
  for (Int i = 0; i < count; ++i) {
    const std::uint32_t bits = from[i].bits;
    const float magnitude = std::bit_cast<float>((bits & 0x7fffu) << 13) * 0x1p112f;
    size[i] = magnitude;
    wide[i] =
        static_cast<double>(std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | (bits & 0x8000u) << 16));
  }
}

ASSAY_WIDE void widen_brains(const BFloat16* from, Int count, double* wide, float* size) {
  for (Int i = 0; i < count; ++i) {
    const std::uint32_t bits = std::uint32_t{from[i].bits} << 16;
    size[i] = std::bit_cast<float>(bits & 0x7fffffffu);
    wide[i] = static_cast<double>(std::bit_cast<float>(bits));
  }
}

void widen(const float* from, Int count, double* wide, float* size) { widen_floats(from, count, wide, size); }
void widen(const Float16* from, Int count, double* wide, float* size) { widen_halves(from, count, wide, size); }
void widen(const BFloat16* from, Int count, double* wide, float* size) { widen_brains(from, count, wide, size); }
template <class T>
void widen(const T* from, Int count, double* wide, float* size) {
  for (Int i = 0; i < count; ++i) wide[i] = static_cast<double>(from[i]);
  for (Int i = 0; i < count; ++i) size[i] = static_cast<float>(std::fabs(wide[i]));
}

ASSAY_WIDE void lowest_bits(const double* from, Int count, double* to) {
  for (Int i = 0; i < count; ++i) to[i] = lowest_bit(from[i]);
}

ASSAY_WIDE void take_least(double* least, const double* from, Int count) {
  for (Int i = 0; i < count; ++i) least[i] = from[i] < least[i] ? from[i] : least[i];
}

ASSAY_WIDE void magnitudes(const double* from, Int count, float* to) {
  for (Int i = 0; i < count; ++i) to[i] = static_cast<float>(std::fabs(from[i]));
}

ASSAY_WIDE void widen_sizes(const float* from, Int count, double* to) {
  for (Int i = 0; i < count; ++i) to[i] = static_cast<double>(from[i]);
}

// One spatial axis of a tile: how windows and taps map to phases.
struct PhasedAxis {
  Int first = 0, windows = 1, extent = 1, pitch = 1;  // extent: cells of one phase
  std::vector<Int> phases;                            // remainders in use
  std::vector<Int> phase_of, shift_of;                // per tap
};

class ConvTiles final : public TileDetails {
 public:
  ConvTiles(const ConvFilter& what, const std::function<void(const Tile&, TileDetails&)>& use)
      : what_(what), use_(use) {
    for (const WindowAxis& t : what.tracks) {
      taps_ *= t.taps;
      plane_ *= t.windows;
      PhasedAxis& axis = axes_.emplace_back();
      axis.windows = t.windows;
      for (Int tap = 0; tap < t.taps; ++tap) {
        const Int phase = tap * t.dilation % t.stride;
        const auto known = std::ranges::find(axis.phases, phase);
        axis.phase_of.push_back(known - axis.phases.begin());
        if (known == axis.phases.end()) axis.phases.push_back(phase);
        axis.shift_of.push_back(tap * t.dilation / t.stride);
      }
      phases_ *= static_cast<Int>(axis.phases.size());
    }
    terms_ = what.depth * taps_;
    words_ = (what.depth + 1) / 2 * taps_;
    const bool is_small = what.x->dtype() == DType::u8 || what.x->dtype() == DType::i8;
    whole_ = is_small && !what.sizes && terms_ * 255 * 255 <= std::numeric_limits<std::int32_t>::max();
    if (packs_sizes() && what.depth > 1 && what.maps >= 4)
      levels_ = Quantized16::of(what.largest_cell, what.largest_weight, terms_);
  }

  void run() {
    if (plane_ == 0) return;
    divide();
    pack_weights();
    for (Int n = 0; n < what_.batch; ++n)
      for (Int g = 0; g < what_.groups; ++g)
        for (Int first = 0; first < plane_; first += count_) fill_tile(n, g, first);
  }

  std::span<const double> finest_cells(bool all) override {
    if (finest_of_ == Of::all || (finest_of_ == Of::some && !all)) return finest_;
    finest_of_ = all ? Of::all : Of::some;
    const Int depth = all ? what_.depth : std::min<Int>(what_.depth, 1),
              taps = all ? taps_ : std::min(taps_, some_taps);
    const Int tap = (taps_ - taps) / 2;  // those in the middle mostly lie inside
    std::vector<double>&cells = finest_of_cells_, &flat = finest_flat_, &of_channel = finest_of_channel_;
    cells.assign(static_cast<std::size_t>(phases_ * slab_ + slack), std::numeric_limits<double>::infinity());
    of_channel.resize(cells.size());
    for (Int c = 0; c < depth; ++c) {
      lowest_bits(wide_.data() + c * phases_ * slab_, phases_ * slab_, of_channel.data());
      take_least(cells.data(), of_channel.data(), phases_ * slab_);
    }
    flat.assign(static_cast<std::size_t>(flat_), std::numeric_limits<double>::infinity());
    for (Int t = tap; t < tap + taps && depth > 0; ++t)
      take_least(flat.data(), cells.data() + offsets_[static_cast<std::size_t>(t)], flat_);
    finest_.resize(static_cast<std::size_t>(count_here_));
    compact(flat.data(), finest_.data());
    return finest_;
  }

  bool any_product(Int at, const std::function<bool(double, double)>& f) override {
    const Int flat = flat_of(at);
    for (Int t = 0; t < terms_; ++t)
      if (f(wide_[static_cast<std::size_t>(offsets_[static_cast<std::size_t>(t)] + flat)],
            what_.weights[map_ * terms_ + t]))
        return true;
    return false;
  }

 private:
  // At once where several pieces need them and they are few; else block by block when its time has come.
  void pack_weights() {
    const Int all = what_.groups * what_.maps;
    packs_late_ = what_.batch * plane_ <= count_ || all * terms_ > most_weights;
    const Int rows = packs_late_ ? most_abreast : all;
    weights_.resize(static_cast<std::size_t>(rows * terms_));
    if (packs_sizes()) weight_sizes_.resize(weights_.size());
    if (whole_ || levels_) weight_words_.resize(static_cast<std::size_t>(rows * words_));
    if (levels_) weight_levels_.resize(static_cast<std::size_t>(rows));
    if (packs_late_) return;
    pack_rows(0, rows);
    if (packs_sizes()) magnitudes(weights_.data(), rows * terms_, weight_sizes_.data());
  }

  // From row `map` on, to the first.
  void pack_rows(Int map, Int rows) {
    what_.weights.read(map * terms_, rows * terms_, weights_.data());
    for (Int row = 0; row < rows && (whole_ || levels_); ++row) {
      std::int32_t* words = weight_words_.data() + row * words_;
      pair_up(weights_.data() + row * terms_, taps_, levels_ ? levels_->of_weight : 0, words);
      if (levels_) weight_levels_[static_cast<std::size_t>(row)] = sum_of_levels(words, words_);
    }
  }

  // Channels of `run` numbers each, the second half of them beside the first: levels, or whole numbers as they are.
  template <class T>
  void pair_up(const T* from, Int run, float levels, std::int32_t* to) const {
    const Int first = (what_.depth + 1) / 2 * run, second = what_.depth / 2 * run;
    const auto pack = [&](const T* a, const T* b, Int count, std::int32_t* words) {
      if constexpr (std::is_same_v<T, double>)
        if (whole_) return pack_whole(a, b, count, words);
      pack_levels(a, b, count, levels, words);
    };
    pack(from, from + first, second, to);
    if (first > second) pack(from + second, nullptr, first - second, to + second);
  }

  // A tile is one window on the leading axes, a range on axis `cut_`, and everything behind it.
  void divide() {
    for (PhasedAxis& axis : axes_)
      axis.extent = axis.windows + (axis.shift_of.empty() ? 0 : *std::ranges::max_element(axis.shift_of));
    const std::size_t rank = axes_.size();
    cut_ = 0;
    range_ = rank ? axes_[0].windows : 1;
    for (std::size_t a = 0; a < rank; ++a) {
      Int behind = what_.depth * phases_;
      for (std::size_t i = 0; i < rank; ++i) {
        if (i < a) behind *= axes_[i].extent - axes_[i].windows + 1;
        if (i > a) behind *= axes_[i].extent;
      }
      const Int reach = axes_[a].extent - axes_[a].windows;
      const Int fits = most_cells / std::max<Int>(behind, 1) - reach;
      cut_ = a;
      range_ = std::clamp<Int>(fits, 1, axes_[a].windows);
      // Enough for whole vectors, or for as many rows as are packed twice.
      Int outputs = range_;
      for (std::size_t i = a + 1; i < rank; ++i) outputs *= axes_[i].windows;
      if (fits >= 1 || a + 1 == rank || outputs <= 4096) {
        const Int behind_one = std::max<Int>(outputs / range_, 1);
        if (outputs < 256) range_ = std::min(axes_[a].windows, (255 + behind_one) / behind_one);
        range_ = std::max(range_, std::min(axes_[a].windows, reach));
        break;
      }
    }
    inner_ = 1;
    for (std::size_t i = cut_ + 1; i < rank; ++i) inner_ *= axes_[i].windows;
    count_ = range_ * inner_;
    rows_ = rank ? axes_[cut_].windows : 1;
  }

  void fill_tile(Int n, Int g, Int first) {
    // A tile never crosses the end of the axis that is cut.
    const Int row = first / inner_ % rows_;
    const Int rows = std::min(range_, rows_ - row);
    Int left = first / inner_ / rows_;
    lay_out(row, rows, left);
    fill_rows(n, g);
    pair_cells();
    finest_of_ = Of::none;
    count_here_ = rows * inner_;
    for (Int m = 0; m < what_.maps; m += block_at(m, what_.maps))
      sum_up(n, g * what_.maps + m, block_at(m, what_.maps), first);
  }

  void pair_cells() {
    const Int run = phases_ * slab_;
    if (whole_) pair_up(wide_.data(), run, 0, cell_words_.data());
    if (!levels_) return;
    pair_up(size_.data(), run, levels_->of_cell, cell_words_.data());
    cells_tell_ = Quantized16::tell(sum_of_levels(cell_words_.data(), (what_.depth + 1) / 2 * run), what_.depth * run);
    if (!cells_tell_) return;
    const std::vector<std::int32_t> ones(static_cast<std::size_t>(words_), 0x10001);
    const std::int32_t nothing = 0;
    oracles::run(Multiply<std::int32_t>{cell_words_.data(), offsets_.data(), ones.data(), words_, &nothing,
                                        cell_levels_.data(), pitch_, flat_},
                 1);
  }

  // Of `block` maps side by side.
  void sum_up(Int n, Int map, Int block, Int first) {
    const Int row = packs_late_ ? 0 : map;
    if (packs_late_) pack_rows(map, block);
    const double* weights = weights_.data() + row * terms_;
    double start[most_abreast] = {};
    for (Int i = 0; i < block && !what_.bias.empty(); ++i) start[i] = what_.bias[static_cast<std::size_t>(map + i)];
    if (whole_) {
      sum_words(row, block);
    } else if (what_.pairs) {
      for (Int i = 0; i < block; ++i)
        oracles::run({wide_.data(), nullptr, offsets_.data(), weights + i * terms_, terms_, start[i],
                      sums_.data() + i * pitch_, lows_.data() + i * pitch_, wide_sizes_.data() + i * pitch_, flat_});
    } else {
      oracles::run(Multiply<double>{wide_.data(), offsets_.data(), weights, terms_, start, sums_.data(), pitch_, flat_},
                   block);
    }
    const bool leveled = levels_ && cells_tell_ && weights_tell(row, block);
    if (packs_sizes()) leveled ? sum_words(row, block) : sum_sizes(row, block, start);
    for (Int i = 0; i < block; ++i) {
      map_ = map + i;
      Tile tile{.n = n, .map = map_, .first = first, .count = count_here_, .group = map_ / what_.maps};
      tile.sum = whole_ ? tight_whole(i, start[i]) : tight(sums_, i, tight_sums_);
      if (what_.pairs) tile.low = tight(lows_, i, tight_lows_);
      if (what_.pairs) tile.least = tile.size = tight(wide_sizes_, i, tight_sizes_);
      if (packs_sizes()) {
        leveled ? bound_sizes(i, row + i, std::fabs(start[i])) : widen_sizes(i);
        tile.size = tight_sizes_.data();
        tile.least = leveled ? tight_least_.data() : tile.size;
      }
      use_(tile, *this);
    }
  }

  void sum_sizes(Int row, Int block, const double* start) {
    float sizes[most_abreast] = {};
    for (Int i = 0; i < block; ++i) sizes[i] = static_cast<float>(std::fabs(start[i]));
    if (packs_late_) magnitudes(weights_.data(), block * terms_, weight_sizes_.data());
    oracles::run(Multiply<float>{size_.data(), offsets_.data(), weight_sizes_.data() + row * terms_, terms_, sizes,
                                 sizes_.data(), pitch_, flat_},
                 block);
  }

  void sum_words(Int row, Int block) {
    constexpr std::int32_t start[most_abreast] = {};
    oracles::run(Multiply<std::int32_t>{cell_words_.data(), offsets_.data(), weight_words_.data() + row * words_,
                                        words_, start, word_sums_.data(), pitch_, flat_},
                 block);
  }

  bool weights_tell(Int row, Int block) const {
    const auto first = weight_levels_.begin() + row;
    return std::all_of(first, first + block, [&](Int sum) { return Quantized16::tell(sum, terms_); });
  }

  bool packs_sizes() const { return what_.sizes && !what_.pairs; }

  // What follows leaves out the garbage past the end of each row. Calls f(first of a row, where it goes, its length).
  template <class F>
  void each_row(F&& f) const {
    const Int run = axes_.empty() || count_here_ == flat_ ? count_here_ : axes_.back().windows;
    for (Int done = 0; done < count_here_; done += run) f(flat_of(done), done, run);
  }

  const double* tight(const std::vector<double>& flat, Int i, std::vector<double>& into) const {
    if (count_here_ == flat_) return flat.data() + i * pitch_;
    into.resize(static_cast<std::size_t>(pitch_));
    compact(flat.data() + i * pitch_, into.data());
    return into.data();
  }

  const double* tight_whole(Int i, double start) {
    each_row([&](Int from, Int to, Int run) {
      widen_whole(word_sums_.data() + i * pitch_ + from, run, start, tight_sums_.data() + to);
    });
    return tight_sums_.data();
  }

  void widen_sizes(Int i) {
    each_row([&](Int from, Int to, Int run) {
      oracles::widen_sizes(sizes_.data() + i * pitch_ + from, run, tight_sizes_.data() + to);
    });
  }

  void bound_sizes(Int i, Int row, double start) {
    const Leveled of{levels_->unit(), static_cast<double>(weight_levels_[static_cast<std::size_t>(row)]),
                     static_cast<double>(terms_), start};
    each_row([&](Int from, Int to, Int run) {
      bound(word_sums_.data() + i * pitch_ + from, cell_levels_.data() + from, run, of, tight_sizes_.data() + to,
            tight_least_.data() + to);
    });
  }

  // Extents, pitches and offsets of the tile at hand.
  void lay_out(Int row, Int rows, Int left) {
    const std::size_t rank = axes_.size();
    for (std::size_t i = rank; i-- > 0;) {
      PhasedAxis& axis = axes_[i];
      const Int reach = axis.shift_of.empty() ? 0 : *std::ranges::max_element(axis.shift_of);
      axis.first = i == cut_ ? row : 0;
      axis.windows = i == cut_ ? rows : what_.tracks[i].windows;
      if (i < cut_) {
        axis.first = left % what_.tracks[i].windows;
        left /= what_.tracks[i].windows;
        axis.windows = 1;
      }
      axis.extent = axis.windows + reach;
    }
    slab_ = 1;
    flat_ = 1;
    for (std::size_t i = rank; i-- > 0;) {
      axes_[i].pitch = slab_;
      flat_ += (axes_[i].windows - 1) * slab_;
      slab_ *= axes_[i].extent;
    }
    if (slab_ == offsets_slab_) return;
    offsets_slab_ = slab_;
    offsets_.clear();
    std::vector<Int> taps;
    for (const WindowAxis& t : what_.tracks) taps.push_back(t.taps);
    std::vector<Int> in_channel;
    each(taps, [&](const std::vector<Int>& tap) {
      Int phase = 0, shift = 0;
      for (std::size_t i = 0; i < rank; ++i) {
        const auto t = static_cast<std::size_t>(tap[i]);
        phase = phase * static_cast<Int>(axes_[i].phases.size()) + axes_[i].phase_of[t];
        shift += axes_[i].shift_of[t] * axes_[i].pitch;
      }
      in_channel.push_back(phase * slab_ + shift);
    });
    for (Int c = 0; c < what_.depth; ++c)
      for (const Int offset : in_channel) offsets_.push_back(c * phases_ * slab_ + offset);
    const auto cells = static_cast<std::size_t>(what_.depth * phases_ * slab_ + slack);
    wide_.resize(std::max(wide_.size(), cells));
    size_.resize(std::max(size_.size(), cells));
    pitch_ = std::max(pitch_, flat_ + slack);
    const auto pitch = static_cast<std::size_t>(pitch_);
    for (std::vector<double>* tight : {&tight_sums_, &tight_sizes_, &tight_least_}) tight->resize(pitch);
    if (!whole_) sums_.resize(most_abreast * pitch);
    if (packs_sizes()) sizes_.resize(most_abreast * pitch);
    if (what_.pairs) lows_.resize(most_abreast * pitch);
    if (what_.pairs) wide_sizes_.resize(most_abreast * pitch);
    if (!whole_ && !levels_) return;
    word_sums_.resize(most_abreast * pitch);
    cell_levels_.resize(pitch);
    cell_words_.resize(std::max(cell_words_.size(), cells));
  }

  void fill_rows(Int n, Int g) {
    switch (what_.x->dtype()) {
      case DType::f16: return fill_typed<Float16>(n, g);
      case DType::bf16: return fill_typed<BFloat16>(n, g);
      case DType::f32: return fill_typed<float>(n, g);
      case DType::f64: return fill_typed<double>(n, g);
      case DType::u8: return fill_typed<std::uint8_t>(n, g);
      default: return fill_typed<std::int8_t>(n, g);
    }
  }

  template <class T>
  void fill_typed(Int n, Int g) {
    const T* x = what_.x->as<T>().data();
    std::vector<Int> phase_counts;
    for (const PhasedAxis& axis : axes_) phase_counts.push_back(static_cast<Int>(axis.phases.size()));
    for (Int c = 0; c < what_.depth; ++c) {
      const T* plane = x + n * what_.from.batch + (g * what_.depth + c) * what_.from.channel + g * what_.from.group;
      Int slab = c * phases_ * slab_;
      each(phase_counts, [&](const std::vector<Int>& phase) {
        fill_axis(plane, phase, 0, slab);
        slab += slab_;
      });
    }
  }

  // The cells of one phase from axis i on, to `to` on.
  template <class T>
  void fill_axis(const T* from, const std::vector<Int>& phase, std::size_t i, Int to) {
    if (i == axes_.size()) return put(from, 1, 1, to);
    const PhasedAxis& axis = axes_[i];
    const WindowAxis& t = what_.tracks[i];
    const Int start = axis.first * t.stride - t.before + axis.phases[static_cast<std::size_t>(phase[i])];
    // Cells start + j * stride lie in the input for low <= j < high.
    const Int low = std::clamp<Int>(start >= 0 ? 0 : (-start + t.stride - 1) / t.stride, 0, axis.extent);
    const Int high = std::clamp<Int>(start >= t.in ? 0 : (t.in - 1 - start) / t.stride + 1, low, axis.extent);
    clear(to, low * axis.pitch);
    clear(to + high * axis.pitch, (axis.extent - high) * axis.pitch);
    const Int step = t.stride * what_.from.cell[i];
    const T* first = from + (start + low * t.stride) * what_.from.cell[i];
    if (i + 1 == axes_.size()) return put(first, step, high - low, to + low);
    for (Int j = low; j < high; ++j, first += step) fill_axis(first, phase, i + 1, to + j * axis.pitch);
  }

  void clear(Int at, Int count) {
    std::fill_n(wide_.begin() + at, count, 0.0);
    if (what_.sizes) std::fill_n(size_.begin() + at, count, 0.0f);
  }

  template <class T>
  void put(const T* from, Int step, Int count, Int to) {
    double* wide = wide_.data() + to;
    float* size = size_.data() + to;
    if (step == 1) {
      widen(from, count, wide, size);
    } else {
      T near[256];
      for (Int done = 0; done < count; done += 256) {
        const Int some = std::min<Int>(256, count - done);
        for (Int i = 0; i < some; ++i) near[i] = from[(done + i) * step];
        widen(near, some, wide + done, size + done);
      }
    }
    if (what_.x_zero != 0)
      for (Int i = 0; i < count; ++i) wide[i] -= what_.x_zero;
  }

  void compact(const double* flat, double* tight) const {
    each_row([&](Int from, Int to, Int run) {
      std::memcpy(tight + to, flat + from, static_cast<std::size_t>(run) * sizeof(double));
    });
  }

  Int flat_of(Int at) const {
    Int flat = 0;
    for (std::size_t i = axes_.size(); i-- > 0; at /= axes_[i].windows) flat += at % axes_[i].windows * axes_[i].pitch;
    return flat;
  }

  const ConvFilter& what_;
  const std::function<void(const Tile&, TileDetails&)>& use_;
  std::vector<PhasedAxis> axes_;
  Int taps_ = 1, phases_ = 1, plane_ = 1, terms_ = 1;
  std::size_t cut_ = 0;
  Int range_ = 1, inner_ = 1, count_ = 1, rows_ = 1;
  Int slab_ = 1, flat_ = 1, pitch_ = 0, offsets_slab_ = -1, count_here_ = 0, map_ = 0;
  std::vector<Int> offsets_;
  enum class Of { none, some, all } finest_of_ = Of::none;
  bool packs_late_ = false;
  std::vector<double> weights_, wide_, sums_, tight_sums_, tight_sizes_, tight_least_;
  std::vector<double> finest_, finest_of_cells_, finest_of_channel_, finest_flat_;
  std::vector<double> lows_, tight_lows_, wide_sizes_;  // of pairs
  std::vector<float> weight_sizes_, size_, sizes_;
  // Of whole numbers and of levels: words of two terms, and the sum of the levels of each map and window.
  Int words_ = 1;
  bool whole_ = false, cells_tell_ = false;
  std::optional<Quantized16> levels_;
  std::vector<std::int32_t> cell_words_, weight_words_, word_sums_, cell_levels_;
  std::vector<Int> weight_levels_;
};

PlaneStrides dense(Int batch, Int channel, Int step, std::span<const Int> plane) {
  PlaneStrides out{batch, channel, std::vector<Int>(plane.size())};
  for (std::size_t i = plane.size(); i-- > 0; step *= plane[i]) out.cell[i] = step;
  return out;
}

}  // namespace

PlaneStrides channels_first(Int channels, std::span<const Int> plane) {
  const Int cells = volume(plane);
  return dense(channels * cells, cells, 1, plane);
}

PlaneStrides channels_last(Int channels, std::span<const Int> plane) {
  return dense(channels * volume(plane), 1, channels, plane);
}

void sweep(const ConvFilter& what, const std::function<void(const Tile&, TileDetails&)>& use) {
  ConvTiles(what, use).run();
}

}  // namespace assay::oracles
