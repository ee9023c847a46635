// SPDX-License-Identifier: Apache-2.0
// Predicate: a claim about cases, as one line of text. Ledgers say with it which breaches are expected, workers which
// cases they exclude.
//
//   auto_pad in (SAME_UPPER, SAME_LOWER) and any(dilations) > 1
//   type(X) == f16 and (rank(X) > 4 or not has(B))
//   any(pads) >= kernel_shape          element by element, the shorter list repeated
//
//   claim   has(B)  initializer(W)  states(strides)  breaks(C6)  not claim  (claim)  claim and claim  claim or claim
//           value RELATION value  value in (value, …)  any(list) RELATION …  all(list) RELATION …
//   value   an attribute (with the default of its version), opset, rank(X), dim(X,0), dim(X,-1), elements(X), type(X),
//           recipe(X) (lit, small, …), shapes (fixed, symbolic), an integer, a word, a word in quotes
//   list    an attribute that is a list, shape(X)
//
// RELATION is == != < <= > >=; `not` binds closer than `and`, `and` closer than `or`. A comparison with something the
// case does not have is false. A word on the right means the attribute of that name, if the operator has one.
#pragma once

#include "reference/case.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace assay::suites {

class Predicate {
 public:
  Predicate() = default;  // holds for every case

  bool holds(const Case& c) const;
  // Canonical: two predicates are the same when their texts are. Empty for the one that always holds.
  std::string text() const;
  // What can mean nothing for these operator versions: names none of them has, numbers compared with words, and so on.
  std::optional<Error> mistake(std::span<const Definition* const> definitions) const;

  struct Claim;  // the tree, in predicate_tree.h

 private:
  friend Result<Predicate> parse_predicate(std::string_view text);
  explicit Predicate(std::shared_ptr<const Claim> claim) : claim_(std::move(claim)) {}
  std::shared_ptr<const Claim> claim_;
};

// Errors begin with the place: "column 17: …". Text from strangers is safe: length and depth are limited.
Result<Predicate> parse_predicate(std::string_view text);
// Reads back what Predicate::text says, which is nothing of the one that always holds.
Result<Predicate> stated_predicate(std::string_view text);

}  // namespace assay::suites
