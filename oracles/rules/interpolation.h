// SPDX-License-Identifier: Apache-2.0
// Interpolation: an element that is a sum of elements around a coordinate, each axis with weights of its own, and how
// far from it is still right (movement 5.1 to 5.3).
//
// A coordinate of arithmetic with unit roundoff u errs by `drift` u. What it then is nearest to are at most two cells;
// a weight errs by what its slope makes of the drift, and by `rounding` u of its own.
//
//   linear       R sum drift u + γ(4r + 2^r) M: R the range of the values in reach, M the largest, r axes
//   cubic        sum over taps of (prod(|w| + e) - prod|w|) |x| + γ(n + r) sum prod(|w| + e) |x|, n taps
//   normalised   S1 / S0, either as cubic, B1 and B0:  (B1 + |y| B0) / (|S0| - B0) + 3u|y|
#pragma once

#include "oracles/exact/enclosure.h"
#include "oracles/exact/exact.h"

#include <functional>
#include <optional>
#include <vector>

namespace assay::oracles {

Ratio operator*(const Ratio& a, const Ratio& b);
Ratio operator/(const Ratio& a, const Ratio& b);
Integer floor(const Ratio& value);
inline Ratio ratio(Int value) { return {Dyadic{value, 0}, 1}; }

// A coordinate along an axis, exactly, and by how many u an implementation may err.
struct Coordinate {
  Ratio at;
  double drift = 0;
};

// Returns the cells that the coordinate may round to, where it errs by so many u of 2^-24: the exact one first.
std::vector<Int> cells_near(const Coordinate& x, double units, const std::function<Integer(const Ratio&)>& round);

struct WeightedTap {
  std::optional<Int> at;  // none reads zero
  Dyadic weight;          // over the denominator of its axis
  double size, slope, rounding;
};
struct WeightedAxis {
  std::vector<WeightedTap> taps;  // all that may be met within the drift
  Integer denominator = 1;
  double drift = 0;
  bool is_normalised = false;
};

// How an axis is weighted.
struct Weighing {
  bool is_cubic = false;
  Dyadic a{-3, -2};          // of the cubic kernel
  Ratio stretch{{1, 0}, 1};  // at most 1: by how much taps are nearer to each other
  bool is_normalised = false;
};
// Returns the weights of all cells around a coordinate; `cell` says which element a cell reads, or that it is left out.
struct Cell {
  std::optional<Int> at;
  bool is_left_out = false;
};
WeightedAxis weigh(const Coordinate& x, const Weighing& how, const std::function<Cell(Int)>& cell);

// A sum over the taps of all axes.
class Interpolation {
 public:
  // `element` says what stands at a position of the interpolated axes.
  Interpolation(std::vector<WeightedAxis> axes, bool is_cubic, DType type,
                const std::function<Scalar(const std::vector<Int>&)>& element);

  Element element(const char* infinities) const;  // the ruling that admits NaN beside what skips a zero weight
  std::vector<Tolerance> wider() const;

 private:
  struct Product {
    Dyadic weight;
    Scalar x;
    double value = 0;                                // |x|
    std::vector<std::pair<double, double>> factors;  // of each axis: |w|, and its error in u
    double size() const;
    double grown(double unit) const;
  };
  void gather(std::size_t axis, Product so_far, std::vector<Int>& at,
              const std::function<Scalar(const std::vector<Int>&)>& element);
  bool is_plain_linear() const { return !is_cubic_ && !is_normalised_; }
  bool is_exact() const;
  double budget(double coordinate_unit, double unit) const;
  double quotient_budget(double coordinate_unit, double unit) const;
  Ratio value() const;

  std::vector<WeightedAxis> axes_;
  bool is_cubic_, is_normalised_ = false;
  DType type_;
  Int interpolated_ = 0;
  Integer denominator_ = 1;
  std::vector<Product> products_;
};

}  // namespace assay::oracles
