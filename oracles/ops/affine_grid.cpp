// SPDX-License-Identifier: Apache-2.0
// The exact answer of AffineGrid (movement 5.6). A coordinate is computed as (2i + 1) / L - 1, as -1 + 1/L + 2i/L with
// a step that is rounded first, as the body has it, or as a fraction of the way: it errs by 7u, and by 16u where L is
// no number of the format. The rest is a sum of products.
#include "oracles/exact/composite.h"
#include "oracles/exact/operands.h"
#include "oracles/families/normalized.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <cmath>

namespace assay::oracles {
namespace {

// Returns where the i-th of so many points lies along an axis; 1, of no points, for the translation.
class GridCoordinate final : public TreeNode {
 public:
  GridCoordinate(const Ratio& at, Int points) : TreeNode({}, at), points_(points) {}
  double bound(const Policy& p) const override {
    const bool is_counted = static_cast<double>(points_) <= std::ldexp(1.0, p.nodes.precision);
    const double roundings = points_ == 0 ? 0 : is_counted ? 7 : 16;
    return roundings * std::max(p.unit(), p.sum_unit()) + 4 * p.imprecision + p.input_error + p.lost_input +
           (p.flushes ? p.vanishing() : 0);
  }

 private:
  Int points_;
};

std::optional<Shape> of_points(const Call& call, const Readings&) {
  const Ints size = call.ints("size");
  Shape shape{call.dim("theta", 0)};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  shape.push_back(call.dim("theta", 1));
  return shape;
}

class PointsAnswer final : public TreeAnswer {
 public:
  PointsAnswer(std::size_t, const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared)
      : TreeAnswer(in[0]->dtype(), declared),
        shape_(*of_points(call, readings)),
        theta_(*in[0]),
        aligns_(call.integer("align_corners") == 1) {
    const Int r = shape_.back();
    const auto is_single = [&](Int axis) { return aligns_ && shape_[static_cast<std::size_t>(axis)] == 1; };
    const std::string_view other = readings.of("M69");
    is_nothing_ = other == "body" && (is_single(r) || is_single(r - 1));
    alone_ = other == "plus-one" ? 1 : other == "body" || readings.of("M42") == "minus-one" ? -1 : 0;
  }

  Shape shape() const override { return shape_; }
  std::vector<ProofTerm> taps(Int index) const override {
    const Shape at = position(shape_, index);
    std::vector<ProofTerm> all;
    for (Int j = 0; j <= axes(); ++j) {
      const Int from = row_of(at) + j;
      all.push_back({{hexadecimal(theta_.at(from))}, place("theta", theta_.shape(), from)});
      if (j < axes()) all.back().factors.push_back(text(coordinate(at, j)));
    }
    return all;
  }

 private:
  Int terms() const override { return axes() + 1; }
  Int axes() const { return shape_.back(); }
  Int row_of(const Shape& at) const { return (at.front() * axes() + at.back()) * (axes() + 1); }
  // Returns the axis of the output that the j-th coordinate goes along.
  std::size_t axis_of(Int j) const { return static_cast<std::size_t>(axes() - j); }

  Ratio coordinate(const Shape& at, Int j) const {
    const Int i = at[axis_of(j)], points = shape_[axis_of(j)];
    if (aligns_ && points == 1) return {{alone_, 0}, 1};
    const Int steps = aligns_ ? points - 1 : points;
    return {{2 * i + (aligns_ ? 0 : 1) - steps, 0}, steps};
  }

  TreeValue value_at(Int index) const override {
    if (is_nothing_) return exactly(nan(), dtype());
    const Shape at = position(shape_, index);
    std::vector<Tree> sum;
    bool has_nan = false, has_least = false, has_most = false, is_open = false, is_large = false;
    for (Int j = 0; j <= axes(); ++j) {
      const Scalar entry = theta_.at(row_of(at) + j);
      const bool is_moved = j == axes();
      const Ratio along = is_moved ? Ratio{{1, 0}, 1} : coordinate(at, j);
      has_nan |= is_nan(entry);
      if (is_infinite(entry)) {
        is_open |= abs(along) < Ratio{{1, -3}, 1};  // which may be computed as 0, or of either sign
        const bool is_negative = entry.negative != (along.numerator < Dyadic{});
        (is_negative ? has_least : has_most) = true;
      }
      if (!entry.is_finite()) continue;
      is_large |= std::abs(entry.as_double()) > 1e4;
      sum.push_back(operand(entry) * std::make_shared<GridCoordinate>(along, is_moved ? 0 : shape_[axis_of(j)]));
    }
    if (has_nan) return exactly(nan(), dtype());
    if (has_least || has_most) {
      if (is_open || is_large)
        return unscored("an infinity times a coordinate that is rounded, or beside what overflows");
      return exactly(has_least && has_most ? nan() : infinity(has_least), dtype());
    }
    return sum_of(std::move(sum));
  }

  Shape shape_;
  Cells theta_;
  bool aligns_, is_nothing_ = false;
  int alone_ = 0;
};

}  // namespace

Oracle affine_grid() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    return answers_of<PointsAnswer>(call, in, readings, declared);
  };
  oracle.shape = of_points;
  oracle.factors = {"theta"};
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
