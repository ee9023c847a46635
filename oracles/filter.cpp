// SPDX-License-Identifier: Apache-2.0
#include "oracles/filter.h"

#include "oracles/clones.h"
#include "oracles/exact.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace assay::oracles {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Int chunk = 256;
constexpr Int most_terms = Int{1} << 20;
constexpr std::uint64_t exponent_bits = std::uint64_t{0x7ff} << 52, fraction_bits = (std::uint64_t{1} << 52) - 1;

using Lane = std::array<double, chunk>;
using Marks = std::array<std::uint64_t, chunk>;

// One run of outputs side by side; everything times the divisor.
struct Chunk {
  Int count = 0;
  alignas(64) Lane sum, size, terms, divisor, finest, got;
  alignas(64) Marks odd, nearest, right, faithful, maybe_zero;
  alignas(64) Lane q, ulp, share;  // upper bounds of what the definition calls so
};

// What is the same for all outputs of one map.
struct Margins {
  double size_up, size_down, size_least;  // A <= size_up a + size_least, A >= size_down a - size_least
  double error;                           // E = error A
  double exact_below;                     // E = 0 where A is at most this: 2^53 g
  double overflow;                        // no intermediate overflows while A is below this
  double unit;                            // u of the accumulator
  double collapse;                        // 2^p of it, times the coarsest lowest bit of a weight
  double coarsest_weight, underflow;      // that bit; η of the accumulator
  double extra_terms;                     // 1 for an average: the division
  double half_ulp, smallest_normal, top;  // 2^-p, λ and the first power of two of the last binade of T
};

struct Tally {
  Int nearest = 0, zeros = 0;
};

// As instructions have it; std::fmax cares for NaN and is a call.
[[gnu::always_inline]] inline double larger(double a, double b) { return a > b ? a : b; }

[[gnu::always_inline]] inline double power_below(double positive) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(positive) & exponent_bits);
}

// Which answers are RN_T(y) for certain.
ASSAY_WIDE Tally mark_nearest(Chunk& c, const Margins& m) {
  std::uint64_t nearest = 0, zeros = 0;
  for (Int i = 0; i < c.count; ++i) {
    const double size = std::fabs(c.got[i]);
    const double binade = larger(power_below(size), m.smallest_normal), up = binade * m.half_ulp;
    const bool power = (std::bit_cast<std::uint64_t>(size) & fraction_bits) == 0;
    const double down = power & (size > m.smallest_normal) ? up * 0.5 : up;
    const double sum = c.got[i] < 0 ? -c.sum[i] : c.sum[i], bound = c.size[i] * m.size_up + m.size_least;
    const double error = bound <= m.exact_below ? 0 : bound * m.error;
    const double low = (size - down) * c.divisor[i], high = (size + up) * c.divisor[i];
    const double from = sum - error, to = sum + error;
    const bool open = (low < from) & (to < high), closed = (low <= from) & (to <= high);
    const bool is_nearest = (c.odd[i] ? open : closed) & (bound < m.overflow) & (c.divisor[i] > 0);
    c.nearest[i] = is_nearest ? 1 : 0;
    nearest += c.nearest[i];
    zeros += is_nearest & (size == 0) ? 1 : 0;
  }
  return {static_cast<Int>(nearest), static_cast<Int>(zeros)};
}

// Largest certain lower bounds of q, ulp and share seen so far.
struct Worst {
  double q = 0, ulp = 0, share = 0;
};

// Of the others, which are right at L1 or L2 for certain.
ASSAY_WIDE void mark_right(Chunk& c, const Margins& m, Worst& worst) {
  double least_q = worst.q, least_ulp = worst.ulp, least_share = worst.share;
  for (Int i = 0; i < c.count; ++i) {
    const double size = std::fabs(c.got[i]), n = c.terms[i] + m.extra_terms, divisor = c.divisor[i];
    const double binade = larger(power_below(size), m.smallest_normal), up = binade * m.half_ulp * divisor;
    const bool power = (std::bit_cast<std::uint64_t>(size) & fraction_bits) == 0;
    const double down = power & (size > m.smallest_normal) ? up * 0.5 : up;
    const double sum = c.got[i] < 0 ? -c.sum[i] : c.sum[i], bound = c.size[i] * m.size_up + m.size_least;
    const double least = larger(c.size[i] * m.size_down - m.size_least, 0.0);
    const double error = bound <= m.exact_below ? 0 : bound * m.error;
    const double value = size * divisor, low = value - down, high = value + up;
    const double from = sum - error, to = sum + error;
    const bool outside = (from > high) | (to < low), touching = (from >= high) | (to <= low);
    const bool unlike = c.odd[i] ? touching : outside;
    const bool faithful = (from > value - 2 * down) & (to < value + 2 * up);
    const bool unfaithful = (to <= value - 2 * down) | (from >= value + 2 * up);
    // The lowest bit of some product is at most this; where the divisor is no power of two, that does not matter.
    const double bit = c.finest[i] * m.coarsest_weight;
    const bool divides = (std::bit_cast<std::uint64_t>(divisor) & fraction_bits) == 0;
    const bool fine = bit < m.underflow * divisor;
    const bool rounds = (least > c.finest[i] * m.collapse) | fine | !divides;
    const double lost = fine | (m.extra_terms > 0) ? n * 0.5 * m.underflow * divisor : 0;
    const double budget = rounds ? n * m.unit * least + lost : 0;
    const double distance = std::fabs(value - sum), most = distance * (1 + 0x1p-48) + error;
    const double fewest = larger(distance * (1 - 0x1p-48) - error, 0.0);
    const bool admitted = most - down < budget * (1 - 0x1p-48);
    const bool right = unlike & admitted & (faithful | unfaithful) & (size < m.top) & (bound < m.overflow);
    c.right[i] = right ? 1 : 0;
    c.faithful[i] = faithful ? 1 : 0;
    c.maybe_zero[i] = std::fabs(c.sum[i]) - error <= m.smallest_normal * m.half_ulp * divisor ? 1 : 0;
    const bool counts = right & (c.nearest[i] == 0);
    const double magnitude = std::fabs(sum);
    const double near =
        larger(power_below(larger(magnitude - error, 0.0) / divisor * (1 - 0x1p-50)), m.smallest_normal);
    const double far = larger(power_below((magnitude + error) / divisor * (1 + 0x1p-50)), m.smallest_normal);
    const double ulps = 0.5 / (m.half_ulp * divisor),
                 ample = n * m.unit * (1 + 2 * n * m.unit) * bound * (1 + 0x1p-40) + n * m.underflow * divisor;
    c.q[i] = counts ? most / (m.unit * least) * (1 + 0x1p-45) : 0;
    c.ulp[i] = counts ? most * ulps / near * (1 + 0x1p-45) : 0;
    c.share[i] = counts ? larger(most - down, 0.0) / budget * (1 + 0x1p-45) : 0;
    const double sure_q = counts ? fewest / (m.unit * bound) * (1 - 0x1p-45) : 0;
    const double sure_ulp = counts ? fewest * ulps / far * (1 - 0x1p-45) : 0;
    const double sure_share = counts ? larger(fewest - up, 0.0) / ample * (1 - 0x1p-45) : 0;
    least_q = sure_q > least_q ? sure_q : least_q;
    least_ulp = sure_ulp > least_ulp ? sure_ulp : least_ulp;
    least_share = sure_share > least_share ? sure_share : least_share;
  }
  worst = {least_q, least_ulp, least_share};
}

// The outputs of a backend as doubles, and whether their last bit is set.
ASSAY_WIDE void read_floats(const float* from, Int step, Chunk& c) {
  for (Int i = 0; i < c.count; ++i) c.got[i] = static_cast<double>(from[i * step]);
  for (Int i = 0; i < c.count; ++i) c.odd[i] = std::bit_cast<std::uint32_t>(from[i * step]) & 1u;
}

ASSAY_WIDE void read_halves(const Float16* from, Int step, Chunk& c) {
  for (Int i = 0; i < c.count; ++i) {
    const std::uint32_t bits = from[i * step].bits;
    const bool finite = (bits & 0x7c00u) != 0x7c00u;
    const float magnitude = std::bit_cast<float>((bits & 0x7fffu) << 13) * 0x1p112f;
    const std::uint32_t known = finite ? std::bit_cast<std::uint32_t>(magnitude) : 0x7fc00000u;
    c.got[i] = static_cast<double>(std::bit_cast<float>(known | (bits & 0x8000u) << 16));
    c.odd[i] = bits & 1u;
  }
}

ASSAY_WIDE void read_brains(const BFloat16* from, Int step, Chunk& c) {
  for (Int i = 0; i < c.count; ++i) {
    const std::uint32_t bits = from[i * step].bits;
    c.got[i] = static_cast<double>(std::bit_cast<float>(bits << 16));
    c.odd[i] = bits & 1u;
  }
}

ASSAY_WIDE void widen_sizes(const float* from, Int count, double* to) {
  for (Int i = 0; i < count; ++i) to[i] = static_cast<double>(from[i]);
}

// What is known of an operand before anything is summed.
struct Survey {
  bool finite = true;
  double finest = infinity;  // the finest lowest bit; infinite where all are zero
};

ASSAY_WIDE void survey_floats(const float* from, Int count, Survey& out) {
  float finest = std::numeric_limits<float>::infinity(), largest = 0;
  std::uint32_t strange = 0;
  for (Int i = 0; i < count; ++i) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(from[i]) & 0x7fffffffu;
    strange |= bits >= 0x7f800000u ? 1u : 0u;
    const float size = std::bit_cast<float>(bits), without = std::bit_cast<float>(bits & (bits - 1));
    const float lowest = (bits & 0x7fffffu) == 0 ? size : size - without;
    const float counted = bits == 0 ? std::numeric_limits<float>::infinity() : lowest;
    finest = counted < finest ? counted : finest;
    largest = size > largest ? size : largest;
  }
  out.finite &= strange == 0;
  out.finest = std::fmin(out.finest, static_cast<double>(finest));
}

Survey survey(const Tensor& tensor) {
  Survey out;
  if (tensor.dtype() == DType::f32) {
    survey_floats(tensor.as<float>().data(), tensor.elements(), out);
    return out;
  }
  std::array<float, chunk> wide;
  for_float(tensor.dtype(), [&]<class T>() {
    const T* from = tensor.as<T>().data();
    for (Int done = 0; done < tensor.elements(); done += chunk) {
      const Int some = std::min(chunk, tensor.elements() - done);
      for (Int i = 0; i < some; ++i)
        wide[static_cast<std::size_t>(i)] = static_cast<float>(static_cast<double>(from[done + i]));
      survey_floats(wide.data(), some, out);
    }
  });
  return out;
}

std::uint64_t mixed(std::uint64_t value) {  // splitmix64
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// Cells inside, and inside or padded, per window of one axis.
struct Counts {
  std::vector<double> inside, padded;
};

Counts counts_of(const Track& t) {
  Counts out;
  for (Int window = 0; window < t.windows; ++window) {
    Int inside = 0, padded = 0;
    for (Int tap = 0; tap < t.taps; ++tap) {
      const Cell kind = t.kind(t.at(window, tap));
      inside += kind == Cell::in ? 1 : 0;
      padded += kind != Cell::overhang ? 1 : 0;
    }
    out.inside.push_back(static_cast<double>(inside));
    out.padded.push_back(static_cast<double>(padded));
  }
  return out;
}

// An element that may be the worst in one of three ways.
struct Candidate {
  Int index;
  double q, ulp, share;
};

class Screener {
 public:
  Screener(const Sums& sums, const Tensor& got, const Screen& how)
      : sums_(sums), got_(got), how_(how), sampler_(how.seed) {}

  std::optional<Screening> run() {
    const Sweep& sweep = sums_.sweep;
    if (got_.dtype() == DType::f64) return std::nullopt;
    const Survey x = survey(*sweep.x);
    if (!x.finite) return std::nullopt;
    Int taps = 1;
    plane_ = 1;
    for (const Track& t : sweep.tracks) {
      taps *= t.taps;
      plane_ *= t.windows;
      counts_.push_back(counts_of(t));
    }
    row_ = sweep.depth * taps;
    if (row_ + 2 > most_terms) return std::nullopt;
    if (!std::ranges::all_of(sweep.weights, [](double w) { return std::isfinite(w); })) return std::nullopt;
    if (!std::ranges::all_of(sweep.bias, [](double b) { return std::isfinite(b); })) return std::nullopt;
    set_margins(x.finest);
    assay::oracles::sweep(sweep, [this](const Patch& patch, Piece& piece) { take(patch, piece); });
    finish();
    return std::move(out_);
  }

 private:
  void set_margins(double finest_cell) {
    const Format &type = format_of(got_.dtype()), &accumulator = format_of(DType::f32);
    const auto terms = static_cast<double>(row_ + 1);
    const double finest = finest_of(sums_.sweep.weights), finest_bias = finest_of(sums_.sweep.bias);
    const double granule = std::fmin(finest * finest_cell, finest_bias);
    margins_ = {.size_up = 1 + (terms + 4) * 0x1p-23,
                .size_down = 1 - (terms + 4) * 0x1p-23,
                .size_least = terms * 0x1p-149,
                .error = (terms + 8) * 0x1p-53,
                .exact_below = granule * 0x1p53,
                .overflow = 0x1p120,
                .unit = std::ldexp(1.0, accumulator.unit_exponent()),
                .collapse = 0,
                .coarsest_weight = 0,
                .underflow = std::ldexp(1.0, accumulator.smallest_exponent()),
                .extra_terms = sums_.averaged ? 1.0 : 0.0,
                .half_ulp = std::ldexp(1.0, -type.precision),
                .smallest_normal = std::ldexp(1.0, type.min_exponent),
                .top = std::ldexp(1.0, type.max_exponent)};
  }

  static double finest_of(const std::vector<double>& values) {
    double finest = infinity;
    for (const double value : values) finest = std::min(finest, lowest_bit(value));
    return finest;
  }

  // The coarsest lowest bit of the weights of a map. Where a weight is zero it tells nothing, since the finest cell may
  // meet it.
  void set_map(Int map) {
    if (map == map_) return;
    map_ = map;
    const double* row = sums_.sweep.weights.data() + map * row_;
    double coarsest = 0;
    for (Int t = 0; t < row_; ++t) coarsest = larger(coarsest, lowest_bit(row[t]));
    by_product_ = std::isinf(coarsest);
    margins_.coarsest_weight = by_product_ ? 1 : coarsest;
    margins_.collapse = margins_.coarsest_weight * 0x1p24;
  }

  void take(const Patch& patch, Piece& piece) {
    set_windows(patch);
    for (Int done = 0; done < patch.count; done += chunk) {
      Chunk& c = chunk_;
      c.count = std::min(chunk, patch.count - done);
      const Int at = patch.first + done;
      std::copy_n(patch.sum + done, c.count, c.sum.begin());
      widen_sizes(patch.size + done, c.count, c.size.data());
      std::copy_n(terms_.begin() + done, c.count, c.terms.begin());
      std::copy_n(divisors_.begin() + done, c.count, c.divisor.begin());
      const Int step = plane_step(), first = patch.n * sums_.to.batch + patch.map * sums_.to.channel + at * step;
      read(first, step);
      decide(patch, piece, done, first, step);
    }
  }

  // Windows of one plane lie one behind the other in the output, at one distance.
  Int plane_step() const { return sums_.to.cell.empty() ? 1 : sums_.to.cell.back(); }

  void read(Int first, Int step) {
    switch (got_.dtype()) {
      case DType::f16: return read_halves(got_.as<Float16>().data() + first, step, chunk_);
      case DType::bf16: return read_brains(got_.as<BFloat16>().data() + first, step, chunk_);
      default: return read_floats(got_.as<float>().data() + first, step, chunk_);
    }
  }

  void decide(const Patch& patch, Piece& piece, Int done, Int first, Int step) {
    Chunk& c = chunk_;
    const Tally tally = mark_nearest(c, margins_);
    out_.nearest += tally.nearest;
    out_.right += tally.nearest;
    out_.zeros += tally.zeros;
    if (tally.nearest > 0) out_.weakest = std::max(out_.weakest.value_or(Level::L0), Level::L0);
    if (tally.nearest < c.count) decide_rest(patch, piece, done, first, step);
    if (!out_.varies && tally.nearest > 0) look_for_change();
    sampler_.next(c.count, [&](std::size_t i) {
      const Int index = first + static_cast<Int>(i) * step;
      if (static_cast<Int>(out_.sampled.size()) >= most_sampled || !(c.nearest[i] || c.right[i])) return;
      const Level level = c.nearest[i] ? Level::L0 : c.faithful[i] ? Level::L1 : Level::L2;
      out_.sampled.push_back({index, c.nearest[i] != 0, level});
    });
  }

  void decide_rest(const Patch& patch, Piece& piece, Int done, Int first, Int step) {
    Chunk& c = chunk_;
    if (how_.only_nearest) {
      c.right.fill(0);
      c.maybe_zero.fill(0);
    } else {
      set_map(patch.map);
      find_finest(piece, done);
      mark_right(c, margins_, worst_);
    }
    for (Int i = 0; i < c.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (c.nearest[at]) continue;
      const Int index = first + i * step;
      if (!c.right[at]) {
        out_.undecided.push_back(index);
        continue;
      }
      ++out_.right;
      out_.weakest = std::max(out_.weakest.value_or(Level::L0), c.faithful[at] ? Level::L1 : Level::L2);
      out_.maybe_zeros += static_cast<Int>(c.maybe_zero[at]);
      if (c.q[at] >= worst_.q || c.ulp[at] >= worst_.ulp || (c.share[at] > 0 && c.share[at] >= worst_.share))
        candidates_.push_back({index, c.q[at], c.ulp[at], c.share[at]});
    }
  }

  // A bound on the lowest bit of the products of every output: of its cells, or product by product where some weight is
  // zero.
  void find_finest(Piece& piece, Int done) {
    Chunk& c = chunk_;
    if (!by_product_) {
      std::copy_n(piece.finest_cells().begin() + done, c.count, c.finest.begin());
      return;
    }
    for (Int i = 0; i < c.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      c.finest[at] = infinity;
      if (c.nearest[at]) continue;
      const double enough = c.size[at] * margins_.size_down * 0x1p-25;
      piece.any_product(done + i, [&](double cell, double weight) {
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

  // Terms and divisors of the windows of a patch: of the same ones for every plane.
  void set_windows(const Patch& patch) {
    if (patch.first == first_ && patch.count == static_cast<Int>(terms_.size())) return;
    first_ = patch.first;
    terms_.resize(static_cast<std::size_t>(patch.count));
    divisors_.resize(terms_.size());
    const std::vector<Track>& tracks = sums_.sweep.tracks;
    const double depth = static_cast<double>(sums_.sweep.depth), bias = sums_.sweep.bias.empty() ? 0 : 1;
    const std::size_t last = tracks.size() - 1;
    for (Int done = 0; done < patch.count;) {
      Int at = patch.first + done;
      const Int start = at % tracks[last].windows, run = std::min(tracks[last].windows - start, patch.count - done);
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
        terms_[to] = depth * within + bias;
        divisors_[to] = !sums_.averaged ? 1 : sums_.counts_padding ? around : within;
        out_.has_empty |= terms_[to] == 0;
      }
    }
  }

  void finish() {
    for (const Candidate& c : candidates_)
      if (c.q >= worst_.q || c.ulp >= worst_.ulp || (c.share > 0 && c.share >= worst_.share))
        out_.worst.push_back(c.index);
    std::ranges::sort(out_.undecided);
  }

  const Sums& sums_;
  const Tensor& got_;
  const Screen& how_;
  Sampler sampler_;
  Screening out_;
  Margins margins_{};
  Worst worst_;
  Chunk chunk_;
  std::vector<Counts> counts_;
  std::vector<double> terms_, divisors_;
  std::vector<Candidate> candidates_;
  bool by_product_ = false;
  Int plane_ = 1, row_ = 0, first_ = -1, map_ = -1;
};

}  // namespace

std::optional<Screening> screen(const Sums& sums, const Tensor& got, const Screen& how) {
  return Screener(sums, got, how).run();
}

void Sampler::draw() {
  const std::uint64_t within = mixed(seed_ + static_cast<std::uint64_t>(period_)) % sample_period;
  drawn_ = period_++ * sample_period + static_cast<Int>(within);
}

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

ASSAY_WIDE Tally mark_steps(Steps& c, const Grid& g) {
  std::uint64_t right = 0, zeros = 0;
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
  return {static_cast<Int>(right), static_cast<Int>(zeros)};
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

bool has_empty_window(const Sweep& sweep) {
  if (!sweep.bias.empty()) return false;
  return sweep.depth == 0 || std::ranges::any_of(sweep.tracks, [](const Track& t) {
           return std::ranges::any_of(counts_of(t).inside, [](double inside) { return inside == 0; });
         });
}

Grid grid_of(const Requantising& sums, Int map) {
  const auto at = static_cast<std::size_t>(map);
  return {sums.scale[at], sums.zero, sums.low, sums.high, sums.most, sums.exact[at], sums.adds_first};
}

// Calls f(steps, map, index of the first, distance) for one run of sums after the other.
template <class F>
void each_run(const Requantising& sums, F&& f) {
  Steps c;
  sweep(sums.sweep, [&](const Patch& patch, Piece&) {
    const Int step = sums.to.cell.empty() ? 1 : sums.to.cell.back();
    for (Int done = 0; done < patch.count; done += chunk) {
      c.count = std::min(chunk, patch.count - done);
      std::copy_n(patch.sum + done, c.count, c.sum.begin());
      f(c, patch.map, patch.n * sums.to.batch + patch.map * sums.to.channel + (patch.first + done) * step, step);
    }
  });
}

}  // namespace

Screening screen(const Requantising& sums, const Tensor& got, const Screen& how) {
  Screening out;
  Sampler sampler(how.seed);
  out.has_empty = has_empty_window(sums.sweep);
  each_run(sums, [&](Steps& c, Int map, Int first, Int step) {
    if (got.dtype() == DType::u8)
      read_integers(got.as<std::uint8_t>().data() + first, step, c);
    else
      read_integers(got.as<std::int8_t>().data() + first, step, c);
    const Tally tally = mark_steps(c, grid_of(sums, map));
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

bool leaves_32_bits(const Requantising& sums, double share, const std::function<bool(Int)>& at_tie) {
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
