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

// a * sx * sw / sy.
struct Scaling {
  Scalar sx, sw, sy;
  Ratio of(Int a) const;
};

// The answer of an integer a in steps of y, by scales that are f32 or narrower: Q1 (numerics 2.9), and Q2 beyond.
//
// Q1: every evaluation in f32 has at most 5 roundings, so it lands within 5 u |v| (1 + 2^-20) of v, u = 2^-24, and
// adding zy before rounding is one more, u (|v| + |zy|). An output is admitted if it rounds from a value that near, so
// two are admitted only next to a tie. The five orders of decisions 3, in f32 and in f64, are computed besides and
// joined; one whose intermediate leaves the normal range makes the element unscored. Collapse: with sy a power of two
// and a * sx * sw of at most 24 significant bits no order rounds, and one value is left. Q2 (fixed-point
// requantisation) is one step off at most; where nothing rounds it can differ on a tie only.
Element requantized(const Requantizing& how, Int a, const Scaling& scaling, Int zero);
std::vector<Tolerance> fixed_point(const Requantizing& how, Int a, const Scaling& scaling, Int zero,
                                   const Element& element);

}  // namespace assay::oracles
