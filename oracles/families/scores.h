// SPDX-License-Identifier: Apache-2.0
// Scores: rows of sums that models of ai.onnx.ml return, transformed, and the labels of classifiers
// (values-and-graphs 3.8). With e of each score and s its size, the share exp(s_i) / sum of exp(s_j), computed with the
// largest score M taken off or not:
//   argument     off by D = e + u (|s| + |M| + 2 e) + η
//   exponential  of E = exp(s - M): E (exp(D) - 1), the row of exp (functions.h) at |s| + |M| + 2 e + D, and λ; M is
//                off by e, by which E and the sum S of all are multiplied
//   sum          t of all, and γ(n - 1) (S + t)
//   quotient     of p = E / S: (t_i + p t) / (S - t), three roundings
// Without M what is lost is exp(-M) times as much, no more than 2^87: scores are no larger than 60.
// A label is right whose score may be the largest in any admitted arithmetic, transformed or not.
#pragma once

#include "oracles/exact/composite.h"
#include "oracles/exact/operands.h"
#include "oracles/families/normalized.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace assay::oracles {

// Holds a score: what is computed or, where something is no number, what comes of that.
struct Score {
  Tree tree;
  Scalar strange;
  bool is_nothing = false;   // every term is 0
  std::string open_by = {};  // the ruling by which it may be anything
};

// Sums up products, or numbers, of which some may be infinite or NaN.
class ScoreTerms {
 public:
  void add(const Scalar& a);
  void add(const Scalar& a, const Scalar& b);  // their product
  Score sum() const;

 private:
  std::vector<Tree> terms_;
  bool is_nan_there_ = false, has_least_ = false, has_most_ = false, is_nothing_ = true, vanishes_ = false;
};
Score opposite(const Score& score);

// Bounds how far a score may be off in any admitted arithmetic, that of inputs of bf16 where some are multiplied.
double worst_error(const Tree& score, bool multiplies);

// The labels that are right, the likeliest first; or why they are open.
using Choice = std::variant<std::vector<std::size_t>, Element>;

struct ScoreRow {
  std::vector<Score> scores;
  std::string shares_open_by = {};  // the ruling by which shares are open, and what is made of what is no number
};

// Tells what the scores of a model are.
class ScoreModel {
 public:
  virtual ~ScoreModel() = default;
  virtual Int batch() const = 0;
  virtual Int columns() const = 0;  // of the scores
  virtual Int terms() const = 0;    // of a score
  virtual ScoreRow row(Int n, const Readings& readings) const = 0;
  // Those whose largest is the label.
  virtual ScoreRow compared(Int n, const Readings& readings) const { return row(n, readings); }
  // Chooses the labels of a row: those that may have the largest score, transformed or not.
  virtual Choice choice(Int n, const Readings& readings) const;
  virtual std::vector<ProofTerm> taps(Int n) const = 0;
  virtual std::string post() const = 0;
  // Tells whether elements of X are multiplied.
  virtual bool multiplies() const { return false; }
};
using SharedModel = std::shared_ptr<const ScoreModel>;

// Lists so many elements of X from one on.
std::vector<ProofTerm> row_taps(const Cells& x, Int first, Int many);

std::unique_ptr<Answer> scores_answer(SharedModel model, const Readings& readings, const Arithmetic& declared,
                                      DType dtype = DType::f32);
// Answers labels, which stand in an attribute of that name or in classlabels_strings.
std::unique_ptr<Answer> labels_answer(SharedModel model, const Call& call, const std::string& integers,
                                      const Readings& readings);
Int count_classes(const Call& call, const std::string& integers);

}  // namespace assay::oracles
