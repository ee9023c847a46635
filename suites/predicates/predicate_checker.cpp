// SPDX-License-Identifier: Apache-2.0
// Whether a predicate can mean something for some operator versions.
#include "reference/nearest.h"
#include "suites/predicates/predicate_tree.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace assay::suites {
namespace predicates {
namespace {

// What a side yields.
enum class Sort { number, word, list };

class Checker {
 public:
  explicit Checker(std::span<const Definition* const> definitions) : definitions_(definitions) {}

  void check(const Claim& claim) const {
    for (const Claim& part : claim.parts) check(part);
    switch (claim.kind) {
      case ClaimKind::has:
      case ClaimKind::initializer: return check_input(claim.name, claim.column);
      case ClaimKind::states:
        if (!spec(claim.name)) unknown("attribute", claim.name, claim.column, attributes());
        return;
      case ClaimKind::breaks: return check_constraint(claim);
      case ClaimKind::comparison: return check_comparison(claim);
      default: return;
    }
  }

 private:
  const AttributeSpec* spec(std::string_view name) const {
    for (const Definition* definition : definitions_)
      if (const AttributeSpec* found = definition->attribute(name)) return found;
    return nullptr;
  }
  std::vector<std::string> attributes() const {
    std::vector<std::string> names;
    for (const Definition* definition : definitions_)
      for (const AttributeSpec& each : definition->attributes) names.push_back(each.name);
    return names;
  }
  [[noreturn]] static void unknown(const std::string& what, const std::string& name, std::size_t column,
                                   const std::vector<std::string>& known) {
    throw Misread{column, "there is no " + what + " '" + name + "'" + suggestion(name, known)};
  }
  void check_input(const std::string& name, std::size_t column) const {
    std::vector<std::string> known;
    for (const Definition* definition : definitions_) {
      if (definition->input(name)) return;
      for (const Parameter& input : definition->inputs) known.push_back(input.name);
    }
    unknown("input", name, column, known);
  }
  void check_constraint(const Claim& claim) const {
    std::vector<std::string> known;
    for (const Constraint& each : general_constraints()) known.push_back(each.id);
    for (const Definition* definition : definitions_)
      for (const Constraint& each : definition->constraints) known.push_back(each.id);
    if (std::ranges::find(known, claim.name) == known.end()) unknown("constraint", claim.name, claim.column, known);
  }

  Sort sort(const Side& side, bool may_be_word) const {
    switch (side.kind) {
      case Side::Kind::quoted:
      case Side::Kind::shapes: return Sort::word;
      case Side::Kind::word: return sort_of_word(side, may_be_word);
      case Side::Kind::integer:
      case Side::Kind::opset: return Sort::number;
      default: break;
    }
    check_input(side.name, side.column);
    if (side.kind == Side::Kind::shape) return Sort::list;
    return side.kind == Side::Kind::type || side.kind == Side::Kind::recipe ? Sort::word : Sort::number;
  }
  Sort sort_of_word(const Side& side, bool may_be_word) const {
    const AttributeSpec* attribute = spec(side.name);
    if (!attribute && may_be_word) return Sort::word;
    if (!attribute) unknown("attribute", side.name, side.column, attributes());
    switch (attribute->kind) {
      case AttributeSpec::Kind::integer: return Sort::number;
      case AttributeSpec::Kind::text: return Sort::word;
      case AttributeSpec::Kind::ints: return Sort::list;
      case AttributeSpec::Kind::real:
        throw Misread{side.column, side.name + " is a float, which predicates do not compare"};
      default: throw Misread{side.column, side.name + " is of a kind that predicates do not compare"};
    }
  }

  void check_comparison(const Claim& claim) const {
    const Sort left = sort(claim.left, false);
    const std::string name = text(claim.left);
    if (claim.quantifier == Quantifier::none && left == Sort::list)
      throw Misread{claim.column, name + " is a list; write any(" + name + ") or all(" + name + ")"};
    if (claim.quantifier != Quantifier::none && left != Sort::list)
      throw Misread{claim.left.column, name + " is no list; leave any and all out"};
    if (left == Sort::word && claim.relation != Relation::equal && claim.relation != Relation::unequal &&
        claim.relation != Relation::in)
      throw Misread{claim.column, name + " is a word; compare it with ==, != or in"};
    for (const Side& side : claim.right) check_right(claim, left, name, side);
  }

  void check_right(const Claim& claim, Sort left, const std::string& name, const Side& side) const {
    const Sort right = sort(side, true);
    const bool wants_word = left == Sort::word;
    if (wants_word != (right == Sort::word) || (right == Sort::list && claim.quantifier == Quantifier::none))
      throw Misread{side.column, name + " cannot be compared with " + text(side) + "; it is " +
                                     (wants_word ? "a word" : "a number")};
    if (claim.left.kind == Side::Kind::type && side.kind == Side::Kind::word && !dtype_named(side.name))
      unknown("type", side.name, side.column, type_names());
  }
  std::vector<std::string> type_names() const {
    std::vector<std::string> names;
    for (const Definition* definition : definitions_)
      std::ranges::copy(definition->type_names(), std::back_inserter(names));
    return names;
  }

  std::span<const Definition* const> definitions_;
};

}  // namespace
}  // namespace predicates

std::optional<Error> Predicate::mistake(std::span<const Definition* const> definitions) const {
  try {
    if (claim_) predicates::Checker(definitions).check(*claim_);
    return std::nullopt;
  } catch (const predicates::Misread& misread) {
    return misread.error();
  }
}

}  // namespace assay::suites
