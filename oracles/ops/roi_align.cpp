// SPDX-License-Identifier: Apache-2.0
// The exact answer of RoiAlign (windows-and-products 3.16). Along an axis of P bins of g samples, with L = end - start:
//
//   sample i = start + L (2i + 1) / (2 P g),  which errs by d = 8u (|start| + |end| + 1)
//
// and by nothing where all it is made of are numbers of the format. S being the slopes of the cells in reach along
// either axis, and A the sum of weight |x|, a sample errs by S d + γ(10) A; a mean of n by the mean of S d and
// γ(4n + 8) of that of A. Nothing is claimed where rounding may carry a sample over the border, or make it one of more.
#include "oracles/exact/operands.h"
#include "oracles/families/normalized.h"
#include "oracles/rules/interpolation.h"
#include "oracles/rules/rules.h"
#include "oracles/rules/sampling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

namespace assay::oracles {
namespace {

constexpr double raised = 1 + 0x1p-40;  // more than the roundings of what is computed here
constexpr Int most_samples = Int{1} << 20;

Integer ceiling(const Ratio& x) { return -floor(Ratio{-x.numerator, x.denominator}); }

// A sample along one axis: two cells, and the weight of the second over the denominator of its line.
struct Spot {
  bool is_outside = false;
  Int low = 0, high = 0;
  Dyadic second;
  double at = 0;
};

// The samples along one axis of a region.
class Line {
 public:
  Line(const Call& call, const Readings& readings, const Scalar& from, const Scalar& to, Int cells, Int bins)
      : cells_(cells), bins_(bins), from_(from.value()), to_(to.value()) {
    const bool is_half = call.definition().attribute("coordinate_transformation_mode") &&
                         call.text("coordinate_transformation_mode") == "half_pixel";
    scale_ = scalar_of(static_cast<double>(call.real("spatial_scale"))).value();
    half_ = is_half ? Dyadic::power_of_two(-1) : Dyadic{};
    start_ = from_ * scale_ - half_;
    length_ = raw_ = (to_ - from_) * scale_;
    if (!is_half && readings.of("W54") == "clamp1" && length_ < Dyadic{1, 0}) length_ = {1, 0};
    reach_ = size_of({abs(start_), 1}) + size_of({abs(to_ * scale_ - half_), 1}) + 1;
    is_counted_ = call.integer("sampling_ratio") == 0;
    count(is_counted_ ? ceiling({length_, bins}) : Integer(call.integer("sampling_ratio")), readings);
  }

  bool is_too_long() const { return is_too_long_; }
  Int each() const { return each_; }
  Integer denominator() const { return Integer(2) * bins_ * each_; }
  std::vector<Spot> spots(Int bin) const {
    std::vector<Spot> all;
    for (Int i = bin * each_; i < (bin + 1) * each_; ++i) all.push_back(spot(i));
    return all;
  }

  // Returns what a coordinate may be off by.
  double drift(const Policy& p) const {
    if (is_exact(p, bins_ * each_)) return 0;
    return (8 * p.unit() + p.input_error) * reach_ * raised + p.lost_input;
  }

  // Tells whether every evaluation takes so many samples.
  bool is_certain(const Policy& p) const {
    if (!is_counted_ || is_exact(p, bins_) || (from_ == to_ && length_.is_zero())) return true;
    const double off = 2 * (drift(p) + 2 * p.unit() * size_of({abs(length_), 1}));
    if (raw_ < length_ && size_of({length_ - raw_, 1}) > off) return true;  // it is 1, whatever is rounded
    const Ratio bin{length_, bins_}, above = ratio_of(ceiling(bin)) - bin;
    const double up = size_of(above);
    return std::min(up, 1 - up) > off / static_cast<double>(bins_);
  }

  // Tells whether rounding may carry a sample into the map, or out of it.
  bool is_at_border(const Spot& s, double drift) const {
    return drift > 0 && std::min(std::abs(s.at + 1), std::abs(s.at - static_cast<double>(cells_))) <= 1.5 * drift;
  }
  // Returns the first and the last cell that a sample may read.
  std::pair<Int, Int> reach(const Spot& s, double drift) const {
    if (drift == 0) return {s.low, s.high};
    const auto cell = [&](double at) {
      return static_cast<Int>(std::clamp(std::floor(at), 0.0, static_cast<double>(cells_ - 1)));
    };
    return {std::min(s.low, cell(s.at - 1.5 * drift)), std::max(s.high, cell(s.at + 1.5 * drift + 1))};
  }

 private:
  static Ratio ratio_of(const Integer& whole) { return {{whole, 0}, 1}; }

  void count(const Integer& samples, const Readings& readings) {
    is_too_long_ = samples * bins_ > most_samples;
    each_ = is_too_long_ || samples < 0 ? 0 : static_cast<Int>(samples);
    if (is_counted_ && each_ == 0 && !is_too_long_ && readings.of("W55") == "at-least-one") each_ = 1;
  }

  Spot spot(Int i) const {
    const Integer parts = denominator();
    const Ratio at{start_ * Dyadic{parts, 0} + length_ * Dyadic{2 * i + 1, 0}, parts};
    Spot out;
    out.at = size_of(abs(at)) * (at.numerator < Dyadic{} ? -1 : 1);
    out.is_outside = cells_ == 0 || at < ratio(Int{-1}) || at > ratio(cells_);
    if (out.is_outside) return out;
    const Integer below = at.numerator < Dyadic{} ? Integer(0) : floor(at);
    out.low = std::min(static_cast<Int>(below), cells_ - 1);
    out.high = std::min(out.low + 1, cells_ - 1);
    if (out.low < out.high && at.numerator > Dyadic{}) out.second = at.numerator - Dyadic{parts * below, 0};
    return out;
  }

  // Tells whether nothing is rounded, in whatever order, of a region cut into so many parts: all that is added up are
  // multiples of one number, and few.
  bool is_exact(const Policy& p, Int parts) const {
    const auto cut = static_cast<std::uint64_t>(std::max<Int>(1, parts));
    if (p.input_error > 0 || p.lost_input > 0 || !std::has_single_bit(cut)) return false;
    const Format& format = p.nodes;
    const auto fits = [&](const Dyadic& size, int granule) {
      return granule >= format.smallest_exponent() && size <= Dyadic::power_of_two(format.precision + granule);
    };
    const auto granule = [](const Dyadic& x) { return x.is_zero() ? 0 : granule_of(x); };
    const Dyadic first = from_ * scale_, last = to_ * scale_;
    const int finest = std::min({granule(first), granule(last), granule(length_), granule(raw_), -1}) -
                       static_cast<int>(std::bit_width(cut));
    const Dyadic size = abs(first) + abs(last) + abs(length_) + abs(raw_) + Dyadic{2, 0};
    return fits(size + size, finest) && fits(abs(from_) + abs(to_), std::min(granule(from_), granule(to_)));
  }

  Int cells_, bins_, each_ = 0;
  bool is_counted_, is_too_long_ = false;
  Dyadic from_, to_, scale_, half_, start_, raw_, length_;
  double reach_;
};

// What one output is made of.
struct Bin {
  const Line &down, &along;
  std::vector<Spot> rows, columns;
  std::function<Scalar(Int row, Int column)> value;
  bool is_mean, by_corners;

  Int count() const { return std::ssize(rows) * std::ssize(columns); }

  // Calls f(spot, spot) for every sample.
  template <class F>
  void each(F f) const {
    for (const Spot& y : rows)
      for (const Spot& x : columns) f(y, x);
  }
  // Calls f(weight, cell) for the four cells of a sample.
  template <class F>
  void each_corner(const Spot& y, const Spot& x, F f) const {
    if (y.is_outside || x.is_outside) return;
    const Dyadic below = y.second, above = Dyadic{down.denominator(), 0} - below;
    const Dyadic right = x.second, left = Dyadic{along.denominator(), 0} - right;
    f(above * left, y.low, x.low);
    f(above * right, y.low, x.high);
    f(below * left, y.high, x.low);
    f(below * right, y.high, x.high);
  }
};

class Pooled final : public TreeNode {
 public:
  explicit Pooled(Bin bin) : TreeNode({}, value_of(bin)), bin_(std::move(bin)) {}

  double bound(const Policy& p) const override {
    const double of_rows = bin_.down.drift(p), of_columns = bin_.along.drift(p), u = p.unit();
    const double lost = p.flushes ? p.vanishing() : p.smallest(), n = static_cast<double>(bin_.count());
    if (!bin_.down.is_certain(p) || !bin_.along.is_certain(p)) return unproven;
    double moved = 0, size = 0, most = 0;
    bool is_proven = true;
    bin_.each([&](const Spot& y, const Spot& x) {
      const bool shifts_row = bin_.down.is_at_border(y, of_rows),
                 shifts_column = bin_.along.is_at_border(x, of_columns);
      is_proven = is_proven && !(shifts_row && (shifts_column || !x.is_outside)) && !(shifts_column && !y.is_outside);
      if (y.is_outside || x.is_outside) return;
      const double off = change(y, x, of_rows, of_columns), own = magnitude(y, x);
      moved += off;
      size += own;
      most = std::max(most, off + (gamma_of(10, u) + p.input_error) * (own + off));
    });
    moved /= n, size /= n;
    const double mean = moved + (gamma_of(4 * n + 8, u) + p.input_error) * (size + moved);
    const double bound = ((bin_.is_mean ? mean : most) + (4 * n + 8) * lost + p.lost_input) * raised;
    return is_proven && bound >= 0 ? bound : unproven;
  }

  bool breaks_down(const Policy& p) const override {
    double sum = 0, largest = 0;  // the latter of what counts nothing too: it may be infinite in a smaller format
    bin_.each([&](const Spot& y, const Spot& x) {
      sum += magnitude(y, x);
      bin_.each_corner(y, x, [&](const Dyadic&, Int row, Int column) {
        largest = std::max(largest, std::abs(bin_.value(row, column).as_double()));
      });
    });
    return !(2 * std::max(sum, largest) < std::ldexp(1.0, p.nodes.max_exponent));
  }
  bool is_met_by(const Policy& p) const override { return TreeNode::is_met_by(p) && p.is_fused(); }

 private:
  static Ratio value_of(const Bin& bin) {
    Dyadic sum, most;
    bool is_first = true;
    const auto meet = [&](const Dyadic& value) {
      if (is_first || value > most) most = value;
      is_first = false;
    };
    bin.each([&](const Spot& y, const Spot& x) {
      Dyadic value;
      if (bin.by_corners && (y.is_outside || x.is_outside)) meet({});
      bin.each_corner(y, x, [&](const Dyadic& weight, Int row, Int column) {
        const Scalar cell = bin.value(row, column);
        const Dyadic term = weight.is_zero() ? Dyadic{} : weight * cell.value();
        value += term;
        if (bin.by_corners) meet(term);
      });
      sum += value;
      if (!bin.by_corners) meet(value);
    });
    const Integer parts = bin.down.denominator() * bin.along.denominator();
    return bin.is_mean ? Ratio{sum, parts * bin.count()} : Ratio{most, parts};
  }

  double cell(Int row, Int column) const {
    const Scalar value = bin_.value(row, column);
    return value.is_finite() ? value.as_double() : unproven;
  }

  // Returns the sum of weight |x|.
  double magnitude(const Spot& y, const Spot& x) const {
    double sum = 0;
    const Integer parts = bin_.down.denominator() * bin_.along.denominator();
    bin_.each_corner(y, x, [&](const Dyadic& weight, Int row, Int column) {
      if (!weight.is_zero()) sum += size_of({weight, parts}) * std::abs(cell(row, column));
    });
    return sum * raised;
  }

  // Returns how far a sample may be off whose coordinates are: by the slopes in reach or, of the weight of one corner,
  // by the largest.
  double change(const Spot& y, const Spot& x, double of_rows, double of_columns) const {
    if (of_rows == 0 && of_columns == 0) return 0;
    const auto [top, bottom] = bin_.down.reach(y, of_rows);
    const auto [left, right] = bin_.along.reach(x, of_columns);
    double down = 0, along = 0, largest = 0;
    for (Int row = top; row <= bottom; ++row)
      for (Int column = left; column <= right; ++column) {
        const double own = cell(row, column);
        largest = std::max(largest, std::abs(own));
        if (row > top) down = std::max(down, std::abs(own - cell(row - 1, column)));
        if (column > left) along = std::max(along, std::abs(own - cell(row, column - 1)));
      }
    if (!std::isfinite(largest)) return unproven;
    return bin_.by_corners ? largest * (of_rows + of_columns + of_rows * of_columns)
                           : down * of_rows + along * of_columns;
  }

  Bin bin_;
};

class AlignedAnswer final : public Answer {
 public:
  AlignedAnswer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared)
      : x_(*in[0]),
        rois_(*in[1]),
        batches_(call.ints("batch_indices")),
        shape_{call.dim("rois", 0), call.dim("X", 1), call.integer("output_height"), call.integer("output_width")},
        is_mean_(call.text("mode") == "avg"),
        by_corners_(!is_mean_ && readings.of("W52") == "corner"),
        declared_(declared) {
    for (Int r = 0; r < shape_[0]; ++r) {
      std::optional<std::pair<Line, Line>>& region = regions_.emplace_back();
      const Scalar left = rois_.at(4 * r), top = rois_.at(4 * r + 1), right = rois_.at(4 * r + 2),
                   bottom = rois_.at(4 * r + 3);
      if (left.is_finite() && top.is_finite() && right.is_finite() && bottom.is_finite())
        region.emplace(Line(call, readings, top, bottom, x_.extent(2), shape_[2]),
                       Line(call, readings, left, right, x_.extent(3), shape_[3]));
    }
  }

  Shape shape() const override { return shape_; }
  DType dtype() const override { return x_.tensor().dtype(); }

  Element element(Int index) const override {
    const Said said = at(index);
    if (said.value.index() == 0) return std::get<Element>(said.value);
    Element out = computed(*std::get<Tree>(said.value), dtype());
    if (said.admits_nan) out.nan_admitted = "W57";
    out.terms = 4 * said.samples;
    return out;
  }
  std::vector<Tolerance> wider(Int index) const override {
    const Said said = at(index);
    if (said.value.index() == 0) return {};
    return tolerances(*std::get<Tree>(said.value), element(index), dtype(), declared_);
  }

  std::vector<ProofTerm> taps(Int index) const override {
    const Shape y = position(shape_, index);
    std::vector<ProofTerm> all;
    for (Int i = 4 * y[0]; i < 4 * y[0] + 4; ++i)
      all.push_back({{hexadecimal(rois_.at(i))}, place("rois", rois_.shape(), i)});
    if (!regions_[static_cast<std::size_t>(y[0])]) return all;
    std::map<Int, bool> cells;
    const Bin bin = bin_of(y);
    bin.each([&](const Spot& row, const Spot& column) {
      bin.each_corner(row, column, [&](const Dyadic&, Int r, Int c) { cells[cell(y, r, c)] = true; });
    });
    for (const auto& [i, is_read] : cells) all.push_back({{hexadecimal(x_.at(i))}, place("X", x_.shape(), i)});
    return all;
  }

 private:
  struct Said {
    TreeValue value;
    bool admits_nan = false;
    Int samples = 0;
  };

  Int cell(const Shape& y, Int row, Int column) const {
    const Int plane = batches_[static_cast<std::size_t>(y[0])] * x_.extent(1) + y[1];
    return (plane * x_.extent(2) + row) * x_.extent(3) + column;
  }
  Bin bin_of(const Shape& y) const {
    const auto& [down, along] = *regions_[static_cast<std::size_t>(y[0])];
    return {down,
            along,
            down.spots(y[2]),
            along.spots(y[3]),
            [this, y](Int row, Int column) { return x_.at(cell(y, row, column)); },
            is_mean_,
            by_corners_};
  }

  Said at(Int index) const {
    const Shape y = position(shape_, index);
    if (!regions_[static_cast<std::size_t>(y[0])]) return {unscored("a region that is no number")};
    const auto& [down, along] = *regions_[static_cast<std::size_t>(y[0])];
    if (x_.extent(2) == 0 || x_.extent(3) == 0) return {unscored("a map of no cells")};
    if (down.is_too_long() || along.is_too_long()) return {unscored("a region of too many samples")};
    const Policy& required = required_policies(dtype()).front();
    if (!down.is_certain(required) || !along.is_certain(required))
      return {unscored("one sample more may be taken, or less")};
    if (down.each() == 0 || along.each() == 0) return {exactly(Scalar(), dtype())};
    Bin bin = bin_of(y);
    std::vector<Scalar> strange;  // what is not finite and counts, or may count
    bool is_open = false, admits_nan = false;
    bin.each([&](const Spot& row, const Spot& column) {
      const bool is_inside = !row.is_outside && !column.is_outside;
      if (down.is_at_border(row, down.drift(required)) || along.is_at_border(column, along.drift(required)) ||
          (is_inside && (!is_settled(down, row, required) || !is_settled(along, column, required))))
        is_open |= reaches_strange(bin, row, column, required);
      else if (!is_inside)
        admits_nan |= !x_.at(cell(y, 0, 0)).is_finite();
      else
        bin.each_corner(row, column, [&](const Dyadic& weight, Int r, Int c) {
          const Scalar x = bin.value(r, c);
          if (!x.is_finite() && weight.is_zero()) admits_nan = true;
          if (!x.is_finite() && !weight.is_zero()) strange.push_back(x);
        });
    });
    if (is_open || (!is_mean_ && (admits_nan || !strange.empty())))
      return {unscored("a value that is no number near a sample")};
    if (!strange.empty()) return {of_strange(strange, admits_nan)};
    auto pooled = std::make_shared<Pooled>(std::move(bin));
    if (pooled->error(required) == unproven) return {unscored("rounding may carry a sample over the border")};
    const Int samples = down.each() * along.each();
    return {Tree(std::move(pooled)), admits_nan, samples};
  }

  // Tells whether rounding leaves a sample between its cells.
  static bool is_settled(const Line& line, const Spot& s, const Policy& p) {
    return line.reach(s, line.drift(p)) == std::pair(s.low, s.high);
  }
  bool reaches_strange(const Bin& bin, const Spot& row, const Spot& column, const Policy& p) const {
    const auto [top, bottom] = bin.down.reach(row, bin.down.drift(p));
    const auto [left, right] = bin.along.reach(column, bin.along.drift(p));
    for (Int r = top; r <= bottom; ++r)
      for (Int c = left; c <= right; ++c)
        if (!bin.value(r, c).is_finite()) return true;
    return false;
  }

  Element of_strange(const std::vector<Scalar>& strange, bool admits_nan) const {
    const bool has_both = std::ranges::any_of(
        strange, [&](const Scalar& x) { return is_nan(x) || x.negative != strange.front().negative; });
    if (has_both || !admits_nan) return exactly(has_both ? nan() : strange.front(), dtype());
    return one_of("W57", {strange.front(), nan()});
  }

  Cells x_, rois_;
  Ints batches_;
  Shape shape_;
  bool is_mean_, by_corners_;
  Arithmetic declared_;
  std::vector<std::optional<std::pair<Line, Line>>> regions_;
};

std::optional<Shape> shape(const Call& call, const Readings&) {
  return Shape{call.dim("rois", 0), call.dim("X", 1), call.integer("output_height"), call.integer("output_width")};
}

Answers answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
  return Answers(std::make_unique<AlignedAnswer>(call, in, readings, declared));
}

}  // namespace

Oracle roi_align() { return with_touched({answer, shape, {}}); }

}  // namespace assay::oracles
