// SPDX-License-Identifier: Apache-2.0
// Totals: a sum of operands or of their squares, its root or its logarithm, and a product (reductions 3.2, 4).
//
// With S the sum, A the sum of the sizes |t| of its n terms, each operand known to within r |x| + a, u, η, λ those of
// what is added in, u_T, η_T those of a node of the body:
//   terms        x² errs by 2 |x| e + e², e = r |x| + a; rounded to T, by u_T x² + η_T/2 besides
//   sum          γ(n) (A + terms) + n η/2, any order, fused or not; rounded to T, u_T and η_T/2 of that besides. It is
//   0
//                where every partial sum is a multiple of one η that the format holds (numerics 2.4)
//   root         of an error e the root errs by e / (√S + √(S - e)), then u (1 + 4u) and η/2
//   logarithm    -log(1 - e/S) <= (e/S) / (1 - e/S), then the row of log (functions.h)
//   product      γ(n - 1) |P| where no partial product, in any order, leaves [λ, Ω); 0 where the odd factors together
//                are below 2^p
#pragma once

#include "oracles/exact/expression.h"

#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace assay::oracles {

enum class Total { sum_of_squares, root_of_squares, logarithm };

// Of finite operands. Of integers every policy that is required converts them to float first.
std::unique_ptr<Expression> total(Total of, const std::vector<Scalar>& x, bool of_integers = false);

// Of floats: an element where the product is no number, or nobody can say whether it is.
std::variant<Element, std::unique_ptr<Expression>> product(const std::vector<Scalar>& x, DType dtype);

// Returns what sizes may add up to where no partial sum overflows, in any order.
double summable(DType type);

// Returns the sign of a sum where every evaluation at L2 has it: below 0, 0 or beyond; none where that is not certain.
std::optional<int> certain_sign(const std::vector<Scalar>& x, DType type);

}  // namespace assay::oracles
