// SPDX-License-Identifier: Apache-2.0
// Oracles of operators of Shaping::normalized, and others whose elements are trees.
#pragma once

#include "oracles/exact/tree.h"
#include "reference/operator.h"

#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace assay::oracles {

// An element that needs no rounding, or what is computed.
using TreeValue = std::variant<Element, Tree>;

// An output whose elements are said one by one.
class TreeAnswer : public Answer {
 public:
  DType dtype() const final { return dtype_; }
  Element element(Int index) const final;
  std::vector<Tolerance> wider(Int index) const final;
  std::optional<FilterResult> screen(const Tensor& got, const FilterOptions& how) const final;

 protected:
  TreeAnswer(DType dtype, const Arithmetic& declared) : dtype_(dtype), declared_(declared) {}
  virtual TreeValue value_at(Int index) const = 0;
  virtual Int terms() const = 0;  // of an element

 private:
  DType dtype_;
  Arithmetic declared_;
};

// The elements that are normalized together, and their moments where all are numbers.
struct Together {
  explicit Together(std::vector<Scalar> elements);
  std::vector<Scalar> x;
  std::optional<Group> group;
};

// Makes the answer of every output that is asked for: One(which, …).
template <class One, class... Arguments>
Answers answers_of(const Call& call, const Arguments&... arguments) {
  Answers all;
  const std::vector<Parameter>& outputs = call.definition().outputs;
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (call.requests(outputs[k].name)) all.push_back(std::make_unique<One>(k, call, arguments...));
  return all;
}

}  // namespace assay::oracles
