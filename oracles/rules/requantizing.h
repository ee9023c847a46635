// SPDX-License-Identifier: Apache-2.0
// Requantizing: what becomes of a number in steps of a scale where it is rounded to an integer, beside a zero point.
#pragma once

#include "oracles/exact/enclosure.h"

namespace assay::oracles {

// The largest integer that is not above a number, and whether one lies halfway between two integers.
Integer floor_of(const Ratio& value);
bool is_tie(const Ratio& value);
// value + shift, to nearest, ties to even; less the shift. Of a double: from 2^53 on any value does, every output type
// being narrower.
Integer nearest_integer(const Ratio& value, Int shift);
Int nearest_integer(double value, Int shift);

// How the last step is made.
struct Requantizing {
  DType type;
  bool adds_first = false;  // the zero point is added before rounding (A16)

  // sat(rne(v) + zero) or sat(rne(v + zero)), of a Ratio or a double.
  template <class Value>
  Scalar operator()(const Value& v, Int zero) const {
    return clamped(nearest_integer(v, adds_first ? zero : 0) + zero);
  }
  Scalar clamped(const Integer& value) const;
};

// a * sx * sw / sy, which an evaluation in f32 rounds so many times at most.
struct Scaling {
  Scalar sx, sw, sy;
  Int roundings = 5;
  Ratio of(Int a) const;
};

// The answer of an integer a in steps of y, by scales that are f32 or narrower: Q1 (numerics 2.9), and Q2 beyond.
//
// Q1: every evaluation in f32 has at most 5 roundings, k of them, so it lands within k u |v| (1 + 2^-20) of v, u =
// 2^-24, and adding zy before rounding is one more, u (|v| + |zy|). An output is admitted if it rounds from a value
// that near, so two are admitted only next to a tie. The five orders of decisions 3, in f32 and in f64, are computed
// besides and joined; one whose intermediate leaves the normal range makes the element unscored. Collapse: with sy a
// power of two and a * sx * sw of at most 24 significant bits no order rounds, and one value is left. Q2 (fixed-point
// requantisation) is one step off at most; where nothing rounds it can differ on a tie only.
Element requantized(const Requantizing& how, Int a, const Scaling& scaling, Int zero);
std::vector<Tolerance> fixed_point(const Requantizing& how, Int a, const Scaling& scaling, Int zero,
                                   const Element& element);

// The answer v in steps of y where every evaluation in f32 lands within `slack` of v, and rounds nothing where that is
// zero; adding the zero point before rounding is one rounding more.
Element within(const Requantizing& how, const Ratio& v, const Ratio& slack, Int zero);
// Admits what either of two answers does: where both orders of rounding and adding are right.
Element joined(Element a, const Element& b);
// Q2 of an answer whose value is v in steps of y.
std::vector<Tolerance> one_step_off(const Requantizing& how, const Element& element, Int zero, bool nothing_rounds);

// a / by, by other than zero; count u of f32 of it.
Ratio divided(const Ratio& a, const Scalar& by);
Ratio units_of_f32(const Ratio& of, Int count);

// Holds what the data of DynamicQuantizeLinear decide, e = (max - min) / 255 (windows-and-products 3.14).
struct DynamicRange {
  std::string unscored;  // why nothing is claimed
  Ratio low, high, scale;
  bool is_exact = false;  // the scale is a power of two, and nothing rounds

  explicit DynamicRange(const Tensor& x);
  bool is_zero() const { return low.is_zero() && high.is_zero(); }
  // The zero point: rounded from -low / e, moved to one side by as much as that may be off.
  Int zero(Int side) const;
  // How far from x / s an evaluation of it may be, s a scale that is admitted, where it rounds.
  static Ratio slack(const Ratio& quotient);
};

}  // namespace assay::oracles
