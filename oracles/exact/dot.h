// SPDX-License-Identifier: Apache-2.0
// A sum of products (plus a bias), perhaps divided by a count: the exact value and the proven budgets of numerics 2.3
// to 2.8 for it. Shared by every operator whose output is such a sum.
//
// Notation: u unit roundoff, η smallest subnormal, λ smallest normal, Ω overflow threshold of an accumulator format;
// n terms, A = sum of |a*b|, g a power of two that divides every term, N the divisor.
//
//   any order, multiply and add or fused       |s - y| <= γ(n,u) A + n η/2 (if g < η),  γ(n,u) = nu(1 + 2nu) >=
//   nu/(1-nu) exactness collapse (2.4)                   A <= 2^p g, g >= η, A < Ω: every order is exact, the budget is
//   0 average (2.8)                              γ(n+1,u) A/N + (n+1) η/2; collapses too where N is a power of two
//   scaled: α (sum of a*b) + sum of β*c             γ(n+2,u) A, A = |α| sum |ab| + sum |βc|, for α on an operand, on
//   partial sums or on the sum; an underflow anywhere in between costs η/2 (n (1+|α|) + sum |a| + sum |b| + 2) at most;
//   collapses where the sum of a*b does, the whole does, and every αa and αb is representable
//   (windows-and-products 2.6)
#pragma once

#include "oracles/exact/accuracy.h"
#include "oracles/exact/enclosure.h"
#include "oracles/exact/exact.h"

#include <optional>
#include <vector>

namespace assay::oracles {

// One term a*b, or a alone. `where` are flat indices into the tensors they come from, for certificates.
struct Term {
  Scalar a;
  std::optional<Scalar> b;
  Int where_a = 0, where_b = 0;
};

struct Dot {
  std::vector<Term> terms;
  bool padded_nonfinite = false;  // A14: a tap outside X meets an infinite or NaN weight
  bool averaged = false;
  Int divisor = 1;
  // α, which multiplies the sum of `terms`, and what is added to that: of a scaled dot alone, which has no divisor.
  std::optional<Scalar> scale = {};
  std::vector<Term> added = {};
};

// How the exact sums are formed: as the definition says, one Dyadic addition after the other, or in bins.
enum class Summing { definition, bins };

// The element of a dot whose operands and output are of type `dtype`, judged at L2.
Element enclose(const Dot& dot, DType dtype, Summing summing = Summing::bins);

// The tolerances beyond L2 (decisions 1: the widest admissible interval), without Winograd.
std::vector<Tolerance> widen(const Dot& dot, DType dtype, const Arithmetic& declared);

// The same of operands that are added up as they are: infinities of f64 computed in f32 may cancel.
std::vector<Tolerance> widen_sum(const Dot& sum, DType dtype, const Arithmetic& declared);

// γ(n, 2^-p), rounded up; n * 2^-p <= 1/2.
Dyadic gamma(Int n, int unit_exponent);

}  // namespace assay::oracles
