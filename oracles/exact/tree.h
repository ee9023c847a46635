// SPDX-License-Identifier: Apache-2.0
// Tree: an expression put together of nodes, so that the exact value and the error under each policy follow from one
// text (reductions 3.1, 3.2). With e of each operand, u, η of a node, ρ(v) = u (|v| + e)(1 + 4u):
//   a ± b     e_a + e_b, ρ
//   a * b     |a| e_b + |b| e_a + e_a e_b, ρ, η
//   a / √b    with r = √b, e_r = e_b / (r + √(b - e_b)), w = 1/r: e_w = e_r / (r (r - e_r)) and six roundings, for an
//             estimate and a step; then as a product with two
//   √b        e_r, and six roundings, for b times an estimate of 1/√b
//   a / b     (e_a + |q| e_b) / (|b| - e_b), two roundings, η (|a| + e_a)
//   b^y       |b^y| ((1 - e_b / b)^-|y| - 1), 32 + |y ln b| roundings; 12 |y ln b| at most (elementwise 5.3)
// Each adds λ for η where subnormals are flushed. The value is a fraction as long as every node is one. How large a
// node is follows from its value in double where that is sharp, else from its enclosure.
#pragma once

#include "oracles/exact/expression.h"

#include <memory>
#include <optional>

namespace assay::oracles {

class TreeNode;
using Tree = std::shared_ptr<const TreeNode>;

// One node of an expression: what it is exactly, and how far a legitimate evaluation may miss it.
class TreeNode : public Expression {
 public:
  Real value(int bits) const final { return fraction() ? Real(*fraction(), bits) : irrational(bits); }
  Near near() const final;
  double error(const Policy& policy) const final;
  bool breaks_down(const Policy& policy) const override;
  // Policies that only exponentials know are those of a tree that has some.
  bool is_met_by(const Policy& policy) const override;

  const std::optional<Ratio>& fraction() const;
  double size() const { return measured().most; }    // |v|, or a little more
  double least() const { return measured().least; }  // |v|, or a little less

 protected:
  // Work out what a node is when that is first needed: its fraction, if it is known to be one, else given here; else an
  // enclosure, by default that of the first operand; and by operations that are rounded right, the same on any machine.
  explicit TreeNode(std::vector<Tree> operands) : operands_(std::move(operands)) {}
  TreeNode(std::vector<Tree> operands, std::optional<Ratio> fraction)
      : operands_(std::move(operands)), fraction_(std::move(fraction)) {}
  virtual std::optional<Ratio> exact() const { return std::nullopt; }
  virtual Real irrational(int bits) const;
  virtual Near in_double() const { return {}; }
  virtual double bound(const Policy& policy) const = 0;  // the error, worked out once under each policy

  std::vector<Tree> operands_;

 private:
  struct Size {
    double most, least;
  };
  const Size& measured() const;

  mutable std::optional<std::optional<Ratio>> fraction_;
  mutable std::optional<Near> near_;
  mutable std::optional<Size> size_;
  PerPolicy<double> errors_;
};

// Returns a result that was rounded to double once, and how far it may miss what operands move by so much.
Near rounded_once(double value, double off);

// The same as an expression that somebody owns.
std::unique_ptr<Expression> expression(Tree tree);

// An element of an input or a number of the text; finite. It is rounded where the nodes are of a format that lacks it.
Tree operand(const Scalar& x);
Tree operator+(const Tree& a, const Tree& b);
Tree operator-(const Tree& a, const Tree& b);
Tree operator*(const Tree& a, const Tree& b);
Tree operator/(const Tree& a, const Tree& b);
Tree root(const Tree& b);                                  // √b
Tree inverse_root(const Tree& b);                          // 1 / √b
Tree over_root(const Tree& a, const Tree& b);              // a / √b
Tree by_inverse_root(const Tree& a, const Tree& inverse);  // the same, of an inverse root that others share
Tree power(const Tree& b, const Scalar& y);                // b^y of b above 0
// The same, which at the widest may be off by so many roundings more.
Tree drifting(const Tree& of, double roundings);
// Of one value that has two legitimate trees: the larger error.
Tree either(const Tree& a, const Tree& b);
// The same, its nodes evaluated in a format of their own: what a body casts to, else the one that is worked in.
Tree in_format(const Tree& of, std::optional<DType> stash = std::nullopt);
// x k + (b - mean k), where k is computed of the group too: its error meets the difference alone (reductions 3.4).
Tree folded(const Tree& x, const Tree& mean, const Tree& k, const Tree& b);
// What a body may cast to a type.
Tree cast(const Tree& of, DType to);

// Elements of one group, whose moments several elements of the output share.
class Group {
 public:
  explicit Group(const std::vector<Scalar>& x);  // finite
  const Tree& mean() const { return mean_; }
  const Tree& variance() const { return variance_; }                // of the population; one pass, two or Welford's
  const Tree& mean_of_squares() const { return mean_of_squares_; }  // as RMS takes it
  const Tree& sum_of_squares() const { return sum_of_squares_; }    // each perhaps scaled by the largest first
  const Tree& sum_of_sizes() const { return sum_of_sizes_; }

 private:
  Tree mean_, variance_, mean_of_squares_, sum_of_squares_, sum_of_sizes_;
};

}  // namespace assay::oracles
