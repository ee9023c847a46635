// SPDX-License-Identifier: Apache-2.0
// What a predicate says of a case, and its canonical text.
#include "reference/sequence.h"
#include "suites/predicates/predicate_tree.h"

#include <algorithm>
#include <variant>

namespace assay::suites {
namespace predicates {

std::string text(const Side& side) {
  switch (side.kind) {
    case Side::Kind::integer: return std::to_string(side.number);
    case Side::Kind::quoted: return "\"" + side.name + "\"";
    case Side::Kind::word: return side.name;
    case Side::Kind::opset: return "opset";
    case Side::Kind::shapes: return "shapes";
    default: break;
  }
  const auto* function = std::ranges::find(functions, side.kind, &InputFunction::kind);
  const std::string axis = side.kind == Side::Kind::dim ? "," + std::to_string(side.number) : "";
  return std::string(function->name) + "(" + side.name + axis + ")";
}

namespace {

// Absent, a number, a word or a list.
using Value = std::variant<std::monostate, Int, std::string, Ints>;

Value value_of(const Attribute& attribute) {
  if (const auto* integer = std::get_if<Int>(&attribute)) return *integer;
  if (const auto* word = std::get_if<std::string>(&attribute)) return *word;
  if (const auto* ints = std::get_if<Ints>(&attribute)) return *ints;
  return {};  // floats are compared in oracles/judging/finding.cpp and nowhere else
}

// Defaults are worked out from the required inputs; a near miss may lack them.
bool has_required_inputs(const Case& c, const Definition& definition) {
  return std::ranges::all_of(definition.inputs, [&](const Parameter& input) {
    const auto found = c.node.inputs.find(input.name);
    return input.arity != Arity::required ||
           (found != c.node.inputs.end() && found->second.presence == Input::Presence::given);
  });
}

Value attribute_of(const Case& c, const std::string& attribute) {
  const Definition& definition = c.definition();
  const AttributeSpec* spec = definition.attribute(attribute);
  const auto written = c.node.attributes.find(attribute);
  if (written != c.node.attributes.end()) {
    Value value = value_of(written->second);
    const bool reads_as_absent = spec && spec->derived && value == Value(Ints{});
    if (!reads_as_absent) return value;
  }
  if (!spec) return {};
  if (spec->value) return value_of(*spec->value);
  return spec->derived && has_required_inputs(c, definition) ? Value(spec->derived(c.call())) : Value();
}

bool has_attribute(const OpVersion& version, std::string_view attribute) {
  const Operator* op = find_operator(version.domain, version.name);
  return op && std::ranges::any_of(op->versions(), [&](const Definition& each) { return each.attribute(attribute); });
}

Value extent(const Shape& shape, Int axis) {
  const auto rank = static_cast<Int>(shape.size());
  const Int at = axis < 0 ? axis + rank : axis;
  return at >= 0 && at < rank ? Value(shape[static_cast<std::size_t>(at)]) : Value();
}

Value of_input(const Side& side, const Case& c) {
  const auto input = c.node.inputs.find(side.name);
  if (input == c.node.inputs.end() || input->second.presence != Input::Presence::given) return {};
  const TensorType& type = input->second.type;
  switch (side.kind) {
    case Side::Kind::type: return std::string(name(type.dtype));
    case Side::Kind::recipe: return c.sources.at(side.name).recipe.family;
    case Side::Kind::rank: return static_cast<Int>(type.shape.size());
    case Side::Kind::elements: return volume(type.shape);
    case Side::Kind::dim: return extent(type.shape, side.number);
    default: return type.shape;
  }
}

Value value(const Side& side, const Case& c) {
  switch (side.kind) {
    case Side::Kind::integer: return side.number;
    case Side::Kind::quoted: return side.name;
    case Side::Kind::word: return has_attribute(c.version, side.name) ? attribute_of(c, side.name) : Value(side.name);
    case Side::Kind::opset: return Int{c.opset};
    case Side::Kind::shapes: return std::string(c.declared == DeclaredShapes::symbolic ? "symbolic" : "fixed");
    default: return of_input(side, c);
  }
}

bool related(Int a, Relation relation, Int b) {
  switch (relation) {
    case Relation::unequal: return a != b;
    case Relation::less: return a < b;
    case Relation::at_most: return a <= b;
    case Relation::greater: return a > b;
    case Relation::at_least: return a >= b;
    default: return a == b;
  }
}

bool related(const Value& a, Relation relation, const Value& b) {
  if (std::holds_alternative<Int>(a) && std::holds_alternative<Int>(b))
    return related(std::get<Int>(a), relation, std::get<Int>(b));
  if (!std::holds_alternative<std::string>(a) || !std::holds_alternative<std::string>(b)) return false;
  return (a == b) != (relation == Relation::unequal);
}

// The i-th of a list that repeats itself; anything else is the same for every i.
Value nth(const Value& value, std::size_t i) {
  const auto* list = std::get_if<Ints>(&value);
  if (!list) return value;
  return list->empty() ? Value() : Value((*list)[i % list->size()]);
}

bool compares(const Claim& claim, const Case& c) {
  const Value left = value(claim.left, c);
  auto right = transformed<Value>(claim.right, [&](const Side& side) { return value(side, c); });
  const auto meets = [&](const Value& one, std::size_t i) {
    return std::ranges::any_of(right, [&](const Value& each) { return related(one, claim.relation, nth(each, i)); });
  };
  if (claim.quantifier == Quantifier::none) return meets(left, 0);
  const auto* list = std::get_if<Ints>(&left);
  if (!list) return false;
  std::size_t length = list->size();
  for (const Value& each : right)
    if (const auto* other = std::get_if<Ints>(&each); other && !list->empty()) length = std::max(length, other->size());
  std::size_t met = 0;
  for (std::size_t i = 0; i < length; ++i) met += meets(nth(left, i), i);
  return claim.quantifier == Quantifier::any ? met > 0 : met == length;
}

bool breaks(const Case& c, const std::string& constraint) {
  const std::vector<std::string> violated = c.definition().violated(c.call());
  return std::ranges::find(violated, constraint) != violated.end();
}

bool holds(const Claim& claim, const Case& c) {
  const auto part_holds = [&](const Claim& part) { return holds(part, c); };
  switch (claim.kind) {
    case ClaimKind::either: return std::ranges::any_of(claim.parts, part_holds);
    case ClaimKind::both: return std::ranges::all_of(claim.parts, part_holds);
    case ClaimKind::negation: return !holds(claim.parts.front(), c);
    case ClaimKind::has: return c.call().has(claim.name);
    case ClaimKind::initializer: return c.sources.contains(claim.name) && c.sources.at(claim.name).initializer;
    case ClaimKind::states: return c.node.attributes.contains(claim.name);
    case ClaimKind::breaks: return breaks(c, claim.name);
    default: return compares(claim, c);
  }
}

// In brackets where it binds less than what is around it.
std::string text_within(const Claim& part, ClaimKind around) {
  const bool brackets = part.kind == ClaimKind::either || (part.kind == ClaimKind::both && around != ClaimKind::either);
  return brackets ? "(" + text(part) + ")" : text(part);
}

std::string quantified(const Side& side, Quantifier quantifier) {
  if (quantifier == Quantifier::none) return text(side);
  return (quantifier == Quantifier::any ? "any(" : "all(") + text(side) + ")";
}

std::string comparison_text(const Claim& claim) {
  std::string words = quantified(claim.left, claim.quantifier) + " " + std::string(name(claim.relation)) + " ";
  if (claim.relation != Relation::in) return words + text(claim.right.front());
  return words + "(" + joined(claim.right, ", ", [](const Side& side) { return text(side); }) + ")";
}

}  // namespace

std::string text(const Claim& claim) {
  if (claim.kind == ClaimKind::comparison) return comparison_text(claim);
  if (claim.kind == ClaimKind::negation) return "not " + text_within(claim.parts.front(), ClaimKind::negation);
  if (const auto* statement = std::ranges::find(statements, claim.kind, &Statement::kind);
      statement != std::end(statements))
    return std::string(statement->name) + "(" + claim.name + ")";
  std::string words;
  for (const Claim& part : claim.parts)
    words += (words.empty() ? "" : claim.kind == ClaimKind::either ? " or " : " and ") + text_within(part, claim.kind);
  return words;
}

}  // namespace predicates

bool Predicate::holds(const Case& c) const { return !claim_ || predicates::holds(*claim_, c); }

std::string Predicate::text() const { return claim_ ? predicates::text(*claim_) : ""; }

}  // namespace assay::suites
