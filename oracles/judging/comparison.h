// SPDX-License-Identifier: Apache-2.0
// Comparison: what the findings about the elements of one outcome add up to, taken in order.
#pragma once

#include "oracles/filter/filter.h"
#include "oracles/judging/finding.h"

#include <optional>
#include <string>
#include <vector>

namespace assay::oracles {

// Gathers, as all elements are compared, what tells whether the case shows anything at all.
struct Variety {
  Int counted = 0, zeros = 0, maybe_zeros = 0;
  bool special = false, varies = false;  // special: an element without a number or without a term
  std::optional<Scalar> first;

  void add(const Element& element, const Scalar& nearest);
  void add(const FilterResult& screening);

 private:
  void see(const Scalar& nearest);
};

class Comparison {
 public:
  explicit Comparison(Level required) : required_(required) { out_.state = State::pass; }

  // What the filter decided.
  void add(const FilterResult& screening);
  // One more element of what came back, that of `answer` at `index`.
  void add(const Answer& answer, Int index, const Element& element, const Tensor& got, int set, int output);
  // One that is already counted, and maybe the worst.
  void measure(const Element& element, const Scalar& got, DType dtype);

  const Variety& variety() const { return variety_; }
  Int wrong() const { return wrong_; }
  Int below() const { return below_; }
  // Arithmetic that each element below the level may come from, the strongest first.
  const std::vector<std::string>& arithmetics() const { return arithmetics_; }
  Verdict verdict() const;

 private:
  void count(const ElementRating& finding);
  void widen(const Deviation& off);
  void keep_common(const std::vector<std::string>& arithmetics);

  Level required_;
  Verdict out_;
  std::optional<Level> weakest_;
  ElementRating::Kind worst_ = ElementRating::Kind::right;
  Int wrong_ = 0, below_ = 0;
  std::vector<std::string> arithmetics_;
  std::string unscored_reason_;
  Variety variety_;
};

}  // namespace assay::oracles
