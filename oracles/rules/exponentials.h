// SPDX-License-Identifier: Apache-2.0
// Exponentials: a line of logits x and the shares exp(x_i) / sum of exp(x_j), the SoftmaxTerm of reductions 3.4.
//
// With M the largest logit, d = M - x >= 0, E = exp(-d), S the sum of all E >= 1, each logit known to within e, u and η
// of a node, λ the smallest normal:
//   argument     M - x is off by D = e + e_M + u (d + e + e_M) + η at most, so its exponential by a factor exp(±D), and
//                exp(D) - 1 <= D + D^2 for D <= 1
//   function     a factor 1 ± f, f = k ulp <= 2 u k with the row of exp (functions.h); k rescalings of an online
//                softmax 10 u each, a function and a product: its exponents have one sign, so their roundings add to no
//                more than u d; and λ + 128 η absolutely, which the sum hides. Rounded to T, u_T and η_T/2 besides
//   term         t = E ((1 + f)(1 + D + D^2) - 1) + λ + 128 η; where D > 1 and exp(D - d) < λ, it is within [0, 3λ]
//   sum          s = sum of t + γ(n - 1) (S + sum of t), any order; rounded to T, u_T of that besides
//   quotient     (E + t)(1 + u)^3 / (S - s) - E/S <= (t (1 + 3u(1 + 2u)) + E (3u(1 + 2u) + s/S)) / (S - s): reciprocal,
//                product and the last node; λ where it is flushed
// Without the maximum, arguments are exact, the row of exp is that of |x|, and what is lost is exp(-M) times as much;
// it breaks down where exp(M) leaves λ/u … Ω/n.
//
// The logarithm M + log S errs by e_M + l and its own rounding, l = -log(1 - s/S) + the row of log; without the maximum
// by l alone, the row being that of log(exp(M) S). Either is asked for, in float32 or more: bodies are in float64.
//
// The logarithm of a share, v = (x_i - M) - log S or x_i - (M + log S), errs by e + e_M + l, a rounding of the larger
// of the two inner ones and one of v; without the maximum M is 0 and e_M too. Of the share itself, off by r < 1
// relatively, it errs by -log(1 - r) + the row of log: beyond L2, -inf where the share vanishes.
//
// The mean of v, each by its share, is the sum of shares that may be cast to a type, or that of t v over the sum of t:
//   mean         with e of a share and of its cast, the sum of all e |v|, γ(n + 1) of all (share + e) |v|, and n + 1 η
// It is a fraction only if every class of equal logits has the same mean; else it is that of the class of the largest,
// and what the others add, so that its side of that number is known.
//
// A share is a fraction if all finite logits are equal; else it is irrational (Lindemann and Weierstrass: exponentials
// of different fractions have no linear relation), hence never an end of what encloses it.
#pragma once

#include "oracles/exact/tree.h"

namespace assay::oracles {

// Holds a logit that is computed; none of -inf. Those that are equal are like the same one of them.
struct Logit {
  Tree tree;
  std::size_t like = 0;
};

// Numbers to take the mean of, many times.
struct MeanOperands {
  std::vector<Scalar> exact;
  std::vector<double> in_double;  // the same

  explicit MeanOperands(std::vector<Scalar> numbers);
};

class Exponentials {
 public:
  // Finite logits and -inf, not -inf alone. In double they are worked out for the filter: what an expression says of
  // its errors may then be more, by 2^-38 of it.
  explicit Exponentials(std::vector<Scalar> x, bool in_double = false);
  explicit Exponentials(std::vector<Logit> x, bool in_double = false);  // as long as all logits are sharp in double

  std::unique_ptr<Expression> share(Int i) const;
  std::unique_ptr<Expression> logarithm_of_share(Int i) const;
  std::unique_ptr<Expression> logarithm() const;  // of the sum of all exp(x_j)
  // Returns the mean of v by the shares, of logits that are computed; numbers where a share is not 0.
  std::unique_ptr<Expression> mean(std::shared_ptr<const MeanOperands> v, DType cast) const;

 private:
  struct Line;
  std::shared_ptr<const Line> line_;
};

}  // namespace assay::oracles
