// SPDX-License-Identifier: Apache-2.0
// Finding: what is said of one element of an output. The rule of numerics 2.2 with the collapse of 2.4: accept iff
// RN_T(y - B) <= got <= RN_T(y + B), with B proven. Comparison of floats happens here and nowhere else.
#pragma once

#include "oracles/judging/verdict.h"

#include <string>
#include <utility>

namespace assay::oracles {

// How far off a number is. An integer has only `ulp`: the difference.
struct Deviation {
  double q = 0;      // |got - y| / (u A)
  double ulp = 0;    // |got - y| / ulp_T(y)
  double share = 0;  // of the budget asked for, what no rounding to T explains
};

struct ElementRating {
  enum class Kind { right, unscored, below, wrong };
  Kind kind = Kind::right;
  Level level = Level::L0;
  std::string because;                           // of below and wrong
  std::vector<std::string> arithmetics;          // of below: those that may land there, the strongest first
  bool is_nearest = false;                       // equals RN_T(y)
  std::pair<std::string, std::string> followed;  // a member of a set ruling: A9, A14
  Deviation off;
};
// `element` is that of `answer` at `index`.
ElementRating examine(const Answer& answer, Int index, const Element& element, const Scalar& got);
// The proof of it; BrokenPromise where the element and its definition disagree.
Evidence evidence_of(const Answer& answer, Int index, const Element& element, const Scalar& got, int set);

// Tells whether `got` lies where an arithmetic may land.
bool admits(const Tolerance& tolerance, const Element& element, const Scalar& got, DType dtype);

// Tells whether a lies below b; neither is NaN.
bool is_less(const Scalar& a, const Scalar& b);

// Equal as values: zeros of either sign are (A29), and so are NaN.
bool same(const Scalar& a, const Scalar& b);

// The right answer rounded once, of a finite element.
Scalar nearest(const Element& element, DType dtype);
// What an element has to be, in words: the right answer rounded once, "nan", "inf", "nan or 0", "unscored".
std::string wanted(const Element& element, DType dtype);

// Of a finite element; zero where what came back is not finite.
Deviation deviation(const Element& element, const Scalar& got, DType dtype);
// Of it |got - y| / ulp_T(y).
double ulps(const Element& element, const Scalar& got, DType dtype);

// The interval of one finite element at one tolerance.
Interval interval(const Element& element, const Tolerance& tolerance, DType dtype);

}  // namespace assay::oracles
