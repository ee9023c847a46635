// SPDX-License-Identifier: Apache-2.0
// The exact answer of MaxRoiPool (windows-and-products 3.17): the largest of the cells of a bin, 0 where it has none. A
// corner that is rounded before it is rounded to a cell may fall on either side of a half; and a bin that ends on a
// cell, worked out in floats, may end one further (W58).
#include "oracles/exact/operands.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/interpolation.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace assay::oracles {
namespace {

using Range = std::pair<Int, Int>;  // of cells; the second is beyond

Int towards_far(const Ratio& x, bool is_even) {
  const Ratio half{Dyadic::power_of_two(-1), 1}, size = abs(x), up = size + half;
  Integer whole = floor(up);
  if (is_even && whole % 2 != 0 && up == Ratio{{whole, 0}, 1}) --whole;
  return static_cast<Int>(x.numerator < Dyadic{} ? Integer(-whole) : whole);
}

// Returns the cells that a corner may be rounded to where products are of that format.
std::set<Int> cells_of(const Dyadic& corner, const Format& format, const Readings& readings) {
  const Ratio exact{corner, 1};
  const bool is_even = readings.of("W58") == "half-even";
  if (rounded(exact, format).value() == corner) return {towards_far(exact, is_even)};
  const Ratio off{abs(corner) * Dyadic::power_of_two(format.unit_exponent() + 1), 1};
  return {towards_far(exact - off, is_even), towards_far(exact + off, is_even)};
}

Int quotient(Int a, Int b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

// Returns the cells of a bin of so many, by integers or as floats have it.
std::set<Range> ranges(const std::set<Int>& firsts, const std::set<Int>& lasts, Int bins, Int bin, Int extent) {
  std::set<Range> all;
  for (const Int first : firsts)
    for (const Int last : lasts) {
      const Int n = std::max<Int>(last - first + 1, 1);
      std::set<Int> from{quotient(bin * n, bins)}, to{-quotient(-(bin + 1) * n, bins)};
      const auto in_floats = [&]<class F>(F length) {
        const F each = length / static_cast<F>(bins);
        from.insert(static_cast<Int>(std::floor(static_cast<F>(bin) * each)));
        to.insert(static_cast<Int>(std::ceil(static_cast<F>(bin + 1) * each)));
      };
      in_floats(static_cast<float>(n));
      in_floats(static_cast<double>(n));
      for (const Int a : from)
        for (const Int b : to)
          all.emplace(std::clamp<Int>(first + a, 0, extent), std::clamp<Int>(first + b, 0, extent));
    }
  return all;
}

class RoiPooledAnswer final : public Answer {
 public:
  RoiPooledAnswer(const Call& call, const Operands& in, const Readings& readings)
      : x_(*in[0]),
        rois_(*in[1]),
        scale_(scalar_of(static_cast<double>(call.real("spatial_scale"))).value()),
        readings_(readings),
        shape_{call.dim("rois", 0), call.dim("X", 1), call.ints("pooled_shape")[0], call.ints("pooled_shape")[1]} {}

  Shape shape() const override { return shape_; }
  DType dtype() const override { return x_.tensor().dtype(); }

  Element element(Int index) const override {
    if (!is_scored(index)) return unscored("a region that is no number, or far away");
    const std::set<Range> rows = rows_of(index, working()), columns = columns_of(index, working());
    std::vector<Scalar> options;
    for (const Range& row : rows)
      for (const Range& column : columns)
        for (const Scalar& each : largest(index, row, column))
          if (std::ranges::none_of(options, [&](const Scalar& other) { return same(each, other); }))
            options.push_back(each);
    if (options.size() == 1) return exactly(options.front(), dtype());
    if (std::ranges::any_of(options, [&](const Scalar& each) { return each.is_subnormal(format_of(dtype())); }))
      options.emplace_back();  // where subnormals are flushed
    return one_of(rows.size() * columns.size() > 1 ? "W58" : "W59", options);
  }

  std::vector<Tolerance> wider(Int index) const override {
    if (!is_scored(index)) return {};
    std::vector<Scalar> operands;
    for (const Int at : places(index)) operands.push_back(x_.at(at));
    std::vector<Tolerance> all{flushing(element(index), operands, dtype())};
    if (dtype() == DType::f16 || dtype() == DType::bf16) all.push_back(in_type(index));
    return all;
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (Int i = 0; i < 5; ++i) {
      const Int at = 5 * position(shape_, index)[0] + i;
      all.push_back({{hexadecimal(rois_.at(at))}, place("rois", rois_.shape(), at)});
    }
    if (is_scored(index))
      for (const Int at : places(index)) all.push_back({{hexadecimal(x_.at(at))}, place("X", x_.shape(), at)});
    return all;
  }

 private:
  const Format& working() const { return format_of(dtype() == DType::f64 ? DType::f64 : DType::f32); }

  const Scalar corner(Int index, Int column) const { return rois_.at(5 * position(shape_, index)[0] + column); }
  bool is_scored(Int index) const {
    for (const Int column : {1, 2, 3, 4}) {
      const Scalar at = corner(index, column);
      if (!at.is_finite() || abs(at.value() * scale_) > Dyadic::power_of_two(40)) return false;
    }
    return true;
  }

  std::set<Range> along(Int index, const Format& format, Int column, std::size_t axis) const {
    const auto cells = [&](Int which) { return cells_of(corner(index, which).value() * scale_, format, readings_); };
    return ranges(cells(column), cells(column + 2), shape_[axis], position(shape_, index)[axis], x_.extent(axis));
  }
  std::set<Range> rows_of(Int index, const Format& format) const { return along(index, format, 2, 2); }
  std::set<Range> columns_of(Int index, const Format& format) const { return along(index, format, 1, 3); }

  std::vector<Int> places_in(Int index, const Range& rows, const Range& columns) const {
    const Shape at = position(shape_, index);
    const Int plane = corner(index, 0).as_integer() * x_.extent(1) + at[1];
    std::vector<Int> all;
    for (Int row = rows.first; row < rows.second; ++row)
      for (Int column = columns.first; column < columns.second; ++column)
        all.push_back((plane * x_.extent(2) + row) * x_.extent(3) + column);
    return all;
  }
  std::vector<Int> places(Int index) const {
    return places_in(index, *rows_of(index, working()).begin(), *columns_of(index, working()).begin());
  }

  // Returns what the largest may be: with NaN among them that or another, of -inf alone the lowest number too.
  std::vector<Scalar> largest(Int index, const Range& rows, const Range& columns) const {
    const std::vector<Int> all = places_in(index, rows, columns);
    if (all.empty()) return {Scalar()};
    std::optional<Scalar> most;
    bool has_nan = false;
    for (const Int at : all) {
      const Scalar x = x_.at(at);
      has_nan |= is_nan(x);
      if (!is_nan(x) && (!most || is_less(*most, x))) most = x;
    }
    std::vector<Scalar> options;
    if (has_nan) options.push_back(nan());
    options.push_back(most.value_or(infinity(true)));
    if (is_infinite(options.back()) && options.back().negative) options.push_back(lowest_of(dtype()));
    return options;
  }

  // Admits what lies between where corners are computed in the type.
  Tolerance in_type(Int index) const {
    Tolerance out = beyond("corners in " + std::string(name(dtype())));
    out.level = Level::L3;
    std::optional<Interval> range;
    for (const Range& row : rows_of(index, format_of(dtype())))
      for (const Range& column : columns_of(index, format_of(dtype())))
        for (const Scalar& each : largest(index, row, column)) {
          if (is_nan(each)) continue;
          if (!range) range = Interval{each, each};
          if (is_less(each, range->lower)) range->lower = each;
          if (is_less(range->upper, each)) range->upper = each;
        }
    out.range = range;
    return out;
  }

  Cells x_, rois_;
  Dyadic scale_;
  Readings readings_;
  Shape shape_;
};

std::optional<Shape> shape(const Call& call, const Readings&) {
  const Ints pooled = call.ints("pooled_shape");
  return Shape{call.dim("rois", 0), call.dim("X", 1), pooled[0], pooled[1]};
}

Answers answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
  return Answers(std::make_unique<RoiPooledAnswer>(call, in, readings));
}

}  // namespace

Oracle max_roi_pool() { return without_rounding({answer, shape, {}}); }

}  // namespace assay::oracles
