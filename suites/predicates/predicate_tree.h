// SPDX-License-Identifier: Apache-2.0
// The tree of a predicate, for the three files that read it, check it and hold cases against it; everybody else knows
// predicate.h.
#pragma once

#include "suites/predicates/predicate.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {
namespace predicates {

enum class Relation { equal, unequal, less, at_most, greater, at_least, in };
inline constexpr std::string_view relation_names[] = {"==", "!=", "<", "<=", ">", ">=", "in"};
inline std::string_view name(Relation relation) { return relation_names[static_cast<int>(relation)]; }

enum class Quantifier { none, any, all };

// What stands on a side of a comparison.
struct Side {
  enum class Kind { integer, quoted, word, opset, shapes, type, recipe, rank, elements, dim, shape };
  Kind kind = Kind::integer;
  std::string name;  // of the word, or of the input
  Int number = 0;    // the integer, or the axis
  std::size_t column = 0;
};

struct InputFunction {
  std::string_view name;
  Side::Kind kind;
};
inline constexpr InputFunction functions[] = {{"type", Side::Kind::type},         {"recipe", Side::Kind::recipe},
                                              {"rank", Side::Kind::rank},         {"dim", Side::Kind::dim},
                                              {"elements", Side::Kind::elements}, {"shape", Side::Kind::shape}};

// Thrown within these files only: a recursive descent has many places to give up.
struct Misread {
  std::size_t column;
  std::string why;

  Error error() const { return {"column " + std::to_string(column) + ": " + why}; }
};

}  // namespace predicates

struct Predicate::Claim {
  enum class Kind { either, both, negation, has, initializer, states, breaks, comparison };
  Kind kind = Kind::comparison;
  std::vector<Claim> parts;  // of the first three
  std::string name;          // of the next four
  std::size_t column = 0;
  predicates::Quantifier quantifier = predicates::Quantifier::none;
  predicates::Side left;
  predicates::Relation relation = predicates::Relation::equal;
  std::vector<predicates::Side> right;  // several after `in`
};

namespace predicates {

using Claim = Predicate::Claim;
using ClaimKind = Claim::Kind;

std::string text(const Side& side);
std::string text(const Claim& claim);

struct Statement {
  std::string_view name;
  ClaimKind kind;
};
inline constexpr Statement statements[] = {{"has", ClaimKind::has},
                                           {"initializer", ClaimKind::initializer},
                                           {"states", ClaimKind::states},
                                           {"breaks", ClaimKind::breaks}};

}  // namespace predicates
}  // namespace assay::suites
