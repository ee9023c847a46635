// SPDX-License-Identifier: Apache-2.0
// Composite: the nodes of whole layers, besides those of tree.h (reductions 3.2). With e of each operand, n of them:
//   sum          all e, γ(n - 1) of all |v| + e: any order; where nodes are rounded, one rounding
//   mean         that over n with γ(n + 1), for sums that are divided and terms that are; n + 1 η
//   -a           e
//   f(a)         L e, L the steepest slope of f, and the row of f (functions.h) at the largest argument
//   clamp(a)     e
//   a < 0 ? f : a   max(1, L) e, and the row of f or the rounding of a product; e alone where a - e >= 0
//   a < limit ? 0 : a   e, or e and all of a where both may come
//   state        u_T (1 + 2 u_T) |v| + η_T / 2: it may be kept with more digits than it is returned with
// An error and what is enclosed are worked out once, however many nodes share them.
#pragma once

#include "oracles/exact/functions.h"
#include "oracles/exact/tree.h"

#include <vector>

namespace assay::oracles {

Tree sum_of(std::vector<Tree> terms);
Tree mean_of(std::vector<Tree> terms);  // of one or more
Tree negative(const Tree& of);
Tree function_of(Function f, const Tree& x);  // tanh, sigmoid, softsign or softplus
Tree clamped(const Tree& x, std::optional<Scalar> least, std::optional<Scalar> most);
Tree leaky(const Tree& x, const Scalar& alpha);             // alpha x below 0
Tree exponential_unit(const Tree& x, const Scalar& alpha);  // alpha (e^x - 1) below 0
Tree thresholded(const Tree& x, const Scalar& limit);
Tree state(const Scalar& returned, DType as);
// Holds what is worked out elsewhere.
Tree leaf(std::unique_ptr<Expression> of);

}  // namespace assay::oracles
