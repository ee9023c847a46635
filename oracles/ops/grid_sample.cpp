// SPDX-License-Identifier: Apache-2.0
// The exact answer of GridSample (movement 3, 5.1 to 5.3): which coordinate of X a point of the grid names, as a
// fraction, and the nearest elements or the sum around it (rules/interpolation.h).
#include "oracles/exact/operands.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/interpolation.h"
#include "oracles/rules/rules.h"
#include "reference/flat_index.h"
#include "reference/operator.h"

#include <algorithm>
#include <cmath>

namespace assay::oracles {
namespace {

const Ratio half{{1, -1}, 1};

// One spatial axis of X, and how cells outside of it are read.
struct SampledAxis {
  Int extent;
  bool aligns;
  std::string padding;

  Ratio length() const { return ratio(aligns ? extent - 1 : extent); }
  // The coordinate of g.
  Ratio place(const Ratio& g) const {
    const Ratio along = (g + ratio(Int{1})) * half * length();
    return aligns ? along : along - half;
  }
  bool is_inside(const Integer& cell) const { return cell >= 0 && cell < extent; }
  // Folds a cell back at either border, as often as it takes.
  Int folded(const Integer& cell) const {
    const Int period = aligns ? 2 * extent - 2 : 2 * extent;
    if (period == 0) return 0;
    const Integer rest = ((cell % period) + period) % period;
    const auto at = static_cast<Int>(rest);
    if (at < extent) return at;
    return aligns ? period - at : period - 1 - at;
  }
  std::optional<Int> read(const Integer& cell) const {
    if (is_inside(cell)) return static_cast<Int>(cell);
    if (padding == "zeros") return std::nullopt;
    if (padding == "reflection") return folded(cell);
    return cell < 0 ? 0 : extent - 1;
  }
  // Folds a coordinate in the same way.
  Ratio folded(const Ratio& x) const {
    if (extent == 1 && aligns) return {};
    const Ratio low = aligns ? Ratio() : Ratio() - half, span = length();
    const Integer turns = floor((x - low) / span);
    const Ratio off = x - low - ratio(static_cast<Int>(turns)) * span;
    return turns % 2 == 0 ? low + off : low + span - off;
  }
};

// A point along one axis, and by how much an implementation may err (5.1), in u of f32.
struct Point {
  Coordinate x;
  bool is_settled = true;  // its error is less than a quarter, or it is so far outside that it does not matter
};

double drift_of(const SampledAxis& axis, double g, double c) {
  const double length = std::fabs(approximate(axis.length())),
               along = 3 * (std::fabs(g) + 1) * length / 2 + std::fabs(c);
  const double folds = axis.padding == "reflection" ? std::fabs(c) + 2 * static_cast<double>(axis.extent) + 1 : 0;
  return (along + (axis.aligns ? 0 : 1) + folds) * (1 + std::ldexp(1.0, -20));
}

// Tells whether every usual order of the formula is exact: g is a multiple of 2^-k, and (|g| + 1) L 2^(k+1) < 2^24.
bool is_certain(const SampledAxis& axis, const Scalar& g) {
  if (axis.aligns && axis.extent == 1) return true;
  const int down = g.is_zero() ? 0 : std::max(0, -g.value().exponent);
  return down < 24 && std::ldexp((std::fabs(g.as_double()) + 1) * static_cast<double>(axis.extent), down + 1) < 0x1p24;
}

Point point(const SampledAxis& axis, const Scalar& g) {
  Point out{{axis.place(ratio(g)), 0}, true};
  if (is_certain(axis, g)) return out;
  const double c = approximate(out.x.at);
  out.x.drift = drift_of(axis, g.as_double(), c);
  const bool is_far = axis.padding != "reflection" && (c < -1e3 || c > static_cast<double>(axis.extent) + 1e3);
  out.is_settled = is_far || std::ldexp(out.x.drift, -24) < 0.25;
  if (is_far) out.x = {c < 0 ? ratio(Int{-1000}) : ratio(axis.extent + 1000), 0};
  return out;
}

Integer nearest_even(const Ratio& x) {
  const Integer down = floor(x + half);
  const bool is_tie = x + half == Ratio{Dyadic{down, 0}, 1};
  return is_tie && down % 2 != 0 ? Integer(down - 1) : down;
}
Integer away_from_zero(const Ratio& x) { return x < Ratio() ? Integer(-floor(half - x)) : floor(x + half); }

std::optional<Shape> sampled(const Call& call, const Readings&) {
  const Shape &x = call.shape("X"), &grid = call.shape("grid");
  Shape y(grid.begin(), grid.end() - 1);
  y.insert(y.begin() + 1, x[1]);
  return y;
}

class GridAnswer final : public Answer {
 public:
  GridAnswer(const Call& call, const Operands& in, const Readings& readings)
      : shape_(*sampled(call, readings)), mode_(call.text("mode")), readings_(readings), x_(*in[0]), grid_(*in[1]) {
    for (std::size_t axis = 2; axis < x_.shape().size(); ++axis)
      axes_.push_back({x_.shape()[axis], call.integer("align_corners") == 1, call.text("padding_mode")});
  }

  Shape shape() const override { return shape_; }
  DType dtype() const override { return x_.dtype(); }

  Element element(Int index) const override {
    const std::optional<std::vector<Point>> at = points(index);
    if (!at) return unscored("a coordinate that is no number (M45)");
    if (!std::ranges::all_of(*at, &Point::is_settled)) return unscored("coordinates err by more than a cell (M45)");
    if (mode_ != "nearest") return interpolation(index, *at).element("M47");
    const std::vector<Scalar> all = options(index, *at, 1);
    return all.size() == 1 ? exactly(all.front(), dtype()) : one_of("M62", all);
  }

  std::vector<Tolerance> wider(Int index) const override {
    const std::optional<std::vector<Point>> at = points(index);
    if (!at || !std::ranges::all_of(*at, &Point::is_settled)) return {};
    if (mode_ != "nearest") return interpolation(index, *at).wider();
    std::vector<Tolerance> all;
    if (is_float(dtype())) all.push_back(flushing(element(index), options(index, *at, 1), dtype()));
    const bool is_narrow = grid_.dtype() == DType::f16 || grid_.dtype() == DType::bf16;
    const double units = is_narrow ? std::ldexp(1.0, 24 + format_of(grid_.dtype()).unit_exponent()) : 2;
    std::vector<Scalar> finite = options(index, *at, units);
    std::erase_if(finite, [](const Scalar& each) { return !each.is_finite(); });
    if (finite.size() < 2 || dtype() == DType::string || dtype() == DType::boolean) return all;
    Tolerance out = beyond(is_narrow ? "coordinates in the type of the grid" : "coordinates of twice the error");
    const auto less = [](const Scalar& a, const Scalar& b) { return ratio(a) < ratio(b); };
    out.range = Interval{*std::ranges::min_element(finite, less), *std::ranges::max_element(finite, less)};
    all.push_back(out);
    return all;
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::string where = "X at";
    if (const auto at = points(index))
      for (const Point& each : *at) where += " " + std::to_string(approximate(each.x.at));
    return {{{written(nearest(element(index), dtype()), dtype())}, where}};
  }

 private:
  // Where in X the plane of an output begins, as batch and channel.
  std::vector<Int> plane(Int index) const {
    const Shape at = position(shape_, index);
    return {at[0], at[1]};
  }

  // The coordinates of an output; none where one is no number.
  std::optional<std::vector<Point>> points(Int index) const {
    Shape at = position(shape_, index);
    at.erase(at.begin() + 1);
    at.push_back(0);
    std::vector<Point> all;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      at.back() = static_cast<Int>(axes_.size() - 1 - axis);
      const Scalar g = scalar(grid_, flat_index(grid_.shape(), at));
      if (!g.is_finite()) return std::nullopt;
      all.push_back(point(axes_[axis], g));
    }
    return all;
  }

  // The cells that an axis may read, each perhaps outside.
  std::vector<std::optional<Int>> cells(std::size_t axis, const Point& p, double units) const {
    const SampledAxis& along = axes_[axis];
    const bool folds_first = along.padding == "reflection" && readings_.of("M34") == "reflect-first";
    const auto round = [&](const Ratio& x) {
      const bool is_away = readings_.of("M51") == "half-away";
      const Ratio of = folds_first ? along.folded(x) : x;
      return is_away ? away_from_zero(of) : nearest_even(of);
    };
    std::vector<std::optional<Int>> all;
    for (const Int cell : cells_near(p.x, units, round))
      if (const auto read = along.read(Integer(folds_first ? std::clamp<Int>(cell, 0, along.extent - 1) : cell));
          std::ranges::find(all, read) == all.end())
        all.push_back(read);
    return all;
  }

  Scalar value(const std::vector<Int>& at) const { return scalar(x_, flat_index(x_.shape(), at)); }

  std::vector<Scalar> options(Int index, const std::vector<Point>& at, double units) const {
    std::vector<std::optional<std::vector<Int>>> places{plane(index)};
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      std::vector<std::optional<std::vector<Int>>> longer;
      for (const auto& before : places)
        for (const std::optional<Int> cell : cells(axis, at[axis], units)) {
          longer.push_back(before && cell ? before : std::nullopt);
          if (longer.back()) longer.back()->push_back(*cell);
        }
      places = std::move(longer);
    }
    std::vector<Scalar> all;
    for (const auto& each : places)
      if (const Scalar x = each ? value(*each) : zero();
          std::ranges::none_of(all, [&](const Scalar& o) { return same(o, x); }))
        all.push_back(x);
    return all;
  }
  // Of strings that is "".
  Scalar zero() const { return scalar(zero_, 0); }

  Interpolation interpolation(Int index, const std::vector<Point>& at) const {
    const bool is_cubic = mode_ == "cubic" || mode_ == "bicubic";
    std::vector<WeightedAxis> axes;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      const SampledAxis& along = axes_[axis];
      Coordinate x = at[axis].x;
      const Ratio first = along.aligns ? Ratio() : Ratio() - half, last = first + along.length();
      const bool clamps = is_cubic && along.padding == "border" && readings_.of("M33") == "clamp-coordinate";
      if (clamps && x.at < first) x.at = {};
      if (clamps && last < x.at) x.at = ratio(along.extent - 1);
      axes.push_back(weigh(x, {.is_cubic = is_cubic}, [&](Int i) { return Cell{along.read(Integer(i)), false}; }));
    }
    const std::vector<Int> before = plane(index);
    return {std::move(axes), is_cubic, dtype(), [&](const std::vector<Int>& cell) {
              std::vector<Int> place = before;
              place.insert(place.end(), cell.begin(), cell.end());
              return value(place);
            }};
  }

  Shape shape_;
  std::string mode_;
  Readings readings_;
  Tensor x_, grid_, zero_{{x_.dtype(), {}}};
  std::vector<SampledAxis> axes_;
};

}  // namespace

Oracle grid_sample() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
    return Answers(std::make_unique<GridAnswer>(call, in, readings));
  };
  oracle.shape = sampled;
  oracle.factors = {"X"};
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
