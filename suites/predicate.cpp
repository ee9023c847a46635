// SPDX-License-Identifier: Apache-2.0
#include "suites/predicate.h"

#include "reference/nearest.h"

#include <algorithm>
#include <charconv>
#include <variant>
#include <vector>

namespace assay::suites {
namespace {

constexpr std::size_t longest_text = 4096;
constexpr int deepest = 64;

enum class Relation { equal, unequal, less, at_most, greater, at_least, in };
constexpr std::string_view relation_names[] = {"==", "!=", "<", "<=", ">", ">=", "in"};
std::string_view name(Relation relation) { return relation_names[static_cast<int>(relation)]; }

enum class Quantifier { none, any, all };

// What stands on a side of a comparison.
struct Side {
  enum class Kind { integer, quoted, word, opset, shapes, type, recipe, rank, elements, dim, shape };
  Kind kind = Kind::integer;
  std::string name;  // of the word, or of the input
  Int number = 0;    // the integer, or the axis
  std::size_t column = 0;
};

struct Function {
  std::string_view name;
  Side::Kind kind;
};
constexpr Function functions[] = {{"type", Side::Kind::type},         {"recipe", Side::Kind::recipe},
                                  {"rank", Side::Kind::rank},         {"dim", Side::Kind::dim},
                                  {"elements", Side::Kind::elements}, {"shape", Side::Kind::shape}};

std::string text(const Side& side) {
  switch (side.kind) {
    case Side::Kind::integer: return std::to_string(side.number);
    case Side::Kind::quoted: return "\"" + side.name + "\"";
    case Side::Kind::word: return side.name;
    case Side::Kind::opset: return "opset";
    case Side::Kind::shapes: return "shapes";
    default: break;
  }
  const auto* function = std::ranges::find(functions, side.kind, &Function::kind);
  const std::string axis = side.kind == Side::Kind::dim ? "," + std::to_string(side.number) : "";
  return std::string(function->name) + "(" + side.name + axis + ")";
}

// Absent, a number, a word or a list.
using Value = std::variant<std::monostate, Int, std::string, Ints>;

Value value_of(const Attribute& attribute) {
  if (const auto* integer = std::get_if<Int>(&attribute)) return *integer;
  if (const auto* word = std::get_if<std::string>(&attribute)) return *word;
  if (const auto* ints = std::get_if<Ints>(&attribute)) return *ints;
  return {};  // floats are compared in oracles/judge.cpp and nowhere else
}

// Defaults are worked out from the required inputs; a near miss may lack them.
bool has_required_inputs(const Case& c, const Definition& definition) {
  return std::ranges::all_of(definition.inputs, [&](const Parameter& input) {
    const auto found = c.node.inputs.find(input.name);
    return input.arity == Arity::optional ||
           (found != c.node.inputs.end() && found->second.presence == Input::Presence::given);
  });
}

Value attribute_of(const Case& c, const std::string& attribute) {
  const Definition& definition = c.definition();
  const AttributeSpec* spec = definition.attribute(attribute);
  const auto written = c.node.attributes.find(attribute);
  if (written != c.node.attributes.end()) {
    const Value value = value_of(written->second);
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

std::string quantified(const Side& side, Quantifier quantifier) {
  if (quantifier == Quantifier::none) return text(side);
  return (quantifier == Quantifier::any ? "any(" : "all(") + text(side) + ")";
}

}  // namespace

struct Predicate::Claim {
  enum class Kind { either, both, negation, has, initializer, states, breaks, comparison };
  Kind kind = Kind::comparison;
  std::vector<Claim> parts;  // of the first three
  std::string name;          // of the next four
  std::size_t column = 0;
  Quantifier quantifier = Quantifier::none;
  Side left;
  Relation relation = Relation::equal;
  std::vector<Side> right;  // several after `in`
};

namespace {

using Claim = Predicate::Claim;
using Kind = Claim::Kind;

struct Statement {
  std::string_view name;
  Kind kind;
};
constexpr Statement statements[] = {
    {"has", Kind::has}, {"initializer", Kind::initializer}, {"states", Kind::states}, {"breaks", Kind::breaks}};

bool meets(const Value& left, const Claim& claim, const Case& c, std::size_t i) {
  return std::ranges::any_of(claim.right,
                             [&](const Side& side) { return related(left, claim.relation, nth(value(side, c), i)); });
}

bool compares(const Claim& claim, const Case& c) {
  const Value left = value(claim.left, c);
  if (claim.quantifier == Quantifier::none) return meets(left, claim, c, 0);
  const auto* list = std::get_if<Ints>(&left);
  if (!list) return false;
  std::size_t length = list->size();
  for (const Side& side : claim.right) {
    const Value right = value(side, c);
    if (const auto* other = std::get_if<Ints>(&right); other && !list->empty())
      length = std::max(length, other->size());
  }
  std::size_t met = 0;
  for (std::size_t i = 0; i < length; ++i) met += meets(nth(left, i), claim, c, i);
  return claim.quantifier == Quantifier::any ? met > 0 : met == length;
}

bool breaks(const Case& c, const std::string& constraint) {
  const std::vector<std::string> violated = c.definition().violated(c.call());
  return std::ranges::find(violated, constraint) != violated.end();
}

bool holds(const Claim& claim, const Case& c) {
  const auto part_holds = [&](const Claim& part) { return holds(part, c); };
  switch (claim.kind) {
    case Kind::either: return std::ranges::any_of(claim.parts, part_holds);
    case Kind::both: return std::ranges::all_of(claim.parts, part_holds);
    case Kind::negation: return !holds(claim.parts.front(), c);
    case Kind::has: return c.call().has(claim.name);
    case Kind::initializer: return c.sources.contains(claim.name) && c.sources.at(claim.name).initializer;
    case Kind::states: return c.node.attributes.contains(claim.name);
    case Kind::breaks: return breaks(c, claim.name);
    default: return compares(claim, c);
  }
}

std::string text(const Claim& claim);

// In brackets where it binds less than what is around it.
std::string text_within(const Claim& part, Kind around) {
  const bool brackets = part.kind == Kind::either || (part.kind == Kind::both && around != Kind::either);
  return brackets ? "(" + text(part) + ")" : text(part);
}

std::string comparison_text(const Claim& claim) {
  std::string words = quantified(claim.left, claim.quantifier) + " " + std::string(name(claim.relation)) + " ";
  if (claim.relation != Relation::in) return words + text(claim.right.front());
  std::string list;
  for (const Side& side : claim.right) list += (list.empty() ? "" : ", ") + text(side);
  return words + "(" + list + ")";
}

std::string text(const Claim& claim) {
  if (claim.kind == Kind::comparison) return comparison_text(claim);
  if (claim.kind == Kind::negation) return "not " + text_within(claim.parts.front(), Kind::negation);
  if (const auto* statement = std::ranges::find(statements, claim.kind, &Statement::kind);
      statement != std::end(statements))
    return std::string(statement->name) + "(" + claim.name + ")";
  std::string words;
  for (const Claim& part : claim.parts)
    words += (words.empty() ? "" : claim.kind == Kind::either ? " or " : " and ") + text_within(part, claim.kind);
  return words;
}

// --- reading ---------------------------------------------------------------------------------------------------------

struct Token {
  enum class Kind { end, word, number, quoted, sign };
  Kind kind = Kind::end;
  std::string_view text;
  std::size_t column = 1;
};

// Thrown within this file only: a recursive descent has many places to give up.
struct Misread {
  std::size_t column;
  std::string why;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_word(char c) { return starts_word(c) || is_digit(c); }

template <class Admits>
std::size_t run_of(std::string_view text, Admits&& admits) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, admits) - text.begin());
}

// The length of the token that text begins with, and its kind.
Token first_token(std::string_view text, std::size_t column) {
  const auto token = [&](Token::Kind kind, std::size_t length) { return Token{kind, text.substr(0, length), column}; };
  if (starts_word(text[0])) return token(Token::Kind::word, run_of(text, continues_word));
  if (is_digit(text[0]) || (text[0] == '-' && text.size() > 1 && is_digit(text[1])))
    return token(Token::Kind::number, 1 + run_of(text.substr(1), is_digit));
  if (text[0] == '"') {
    const std::size_t closing = text.find('"', 1);
    if (closing == text.npos) throw Misread{column, "this quotation mark is not closed"};
    return token(Token::Kind::quoted, closing + 1);
  }
  for (std::string_view sign : {"==", "!=", "<=", ">=", "<", ">", "(", ")", ","})
    if (text.starts_with(sign)) return token(Token::Kind::sign, sign.size());
  if (text[0] == '=') throw Misread{column, "write == instead of ="};
  if (text[0] >= '!' && text[0] <= '~') throw Misread{column, "'" + std::string(1, text[0]) + "' means nothing here"};
  throw Misread{column, "a character that means nothing here"};
}

std::vector<Token> tokens(std::string_view text) {
  std::vector<Token> all;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    all.push_back(first_token(text.substr(at), at + 1));
    at += all.back().text.size();
  }
  all.push_back({Token::Kind::end, "the end", text.size() + 1});
  return all;
}

constexpr std::string_view reserved[] = {"and", "or", "not", "in", "any", "all"};

class Reader {
 public:
  explicit Reader(std::string_view text) : tokens_(tokens(text)) {}

  Claim whole() {
    Claim claim = either();
    if (now().kind != Token::Kind::end) fail("expected `and`, `or` or the end");
    return claim;
  }

 private:
  const Token& now() const { return tokens_[at_]; }
  bool is(std::string_view word) const {
    return now().text == word && (now().kind == Token::Kind::word || now().kind == Token::Kind::sign);
  }
  bool is_call_of(std::string_view word) const { return is(word) && tokens_[at_ + 1].text == "("; }
  bool take(std::string_view word) {
    if (!is(word)) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void fail(const std::string& expected) const {
    throw Misread{now().column,
                  expected + ", found " +
                      (now().kind == Token::Kind::end ? "the end" : "'" + std::string(now().text.substr(0, 40)) + "'")};
  }
  void demand(std::string_view sign) {
    if (!take(sign)) fail("expected '" + std::string(sign) + "'");
  }

  // Claims joined by a word; one alone stays itself.
  template <class Part>
  Claim joined(Kind kind, std::string_view word, Part&& part) {
    Claim first = part();
    if (!is(word)) return first;
    Claim all{.kind = kind, .parts = {std::move(first)}, .name = {}, .column = now().column, .left = {}, .right = {}};
    while (take(word)) all.parts.push_back(part());
    return all;
  }
  Claim either() {
    return joined(Kind::either, "or", [&] { return both(); });
  }
  Claim both() {
    return joined(Kind::both, "and", [&] { return claim(); });
  }

  Claim claim() {
    if (++depth_ > deepest) throw Misread{now().column, "nested more than " + std::to_string(deepest) + " deep"};
    Claim read = inner_claim();
    --depth_;
    return read;
  }

  Claim inner_claim() {
    const std::size_t column = now().column;
    if (take("not")) {
      Claim negation;
      negation.kind = Kind::negation;
      negation.column = column;
      negation.parts.push_back(claim());
      return negation;
    }
    if (take("(")) {
      Claim inner = either();
      demand(")");
      return inner;
    }
    for (const Statement& statement : statements)
      if (is_call_of(statement.name)) return stated(statement.kind);
    return comparison();
  }

  Claim stated(Kind kind) {
    Claim claim;
    claim.kind = kind;
    at_ += 2;
    claim.column = now().column;
    claim.name = named("a name");
    demand(")");
    return claim;
  }

  std::string named(const std::string& what) {
    if (now().kind != Token::Kind::word) fail("expected " + what);
    return std::string(tokens_[at_++].text);
  }

  Claim comparison() {
    Claim claim;
    claim.column = now().column;
    if (is_call_of("any") || is_call_of("all")) {
      claim.quantifier = is("any") ? Quantifier::any : Quantifier::all;
      at_ += 2;
      claim.left = side();
      demand(")");
    } else {
      claim.left = side();
    }
    claim.relation = relation();
    if (claim.relation != Relation::in) {
      claim.right = {side()};
      return claim;
    }
    demand("(");
    do claim.right.push_back(side());
    while (take(","));
    demand(")");
    return claim;
  }

  Relation relation() {
    for (int i = 0; i < static_cast<int>(std::size(relation_names)); ++i)
      if (take(relation_names[i])) return static_cast<Relation>(i);
    fail("expected == != < <= > >= or in");
  }

  Int integer() {
    const Token& token = now();
    Int number = 0;
    const auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
    if (token.kind != Token::Kind::number) fail("expected an integer");
    if (error != std::errc()) throw Misread{token.column, "an integer beyond 64 bits"};
    ++at_;
    return number;
  }

  Side side() {
    Side side;
    side.column = now().column;
    if (now().kind == Token::Kind::number) {
      side.number = integer();
      return side;
    }
    if (now().kind == Token::Kind::quoted) {
      side.kind = Side::Kind::quoted;
      side.name = std::string(now().text.substr(1, now().text.size() - 2));
      ++at_;
      return side;
    }
    if (std::ranges::find(reserved, now().text) != std::end(reserved)) fail("expected a value");
    side.name = named("a value");
    if (is("(")) return of_input(std::move(side));
    side.kind = side.name == "opset"    ? Side::Kind::opset
                : side.name == "shapes" ? Side::Kind::shapes
                                        : Side::Kind::word;
    return side;
  }

  Side of_input(Side side) {
    const auto* function = std::ranges::find(functions, side.name, &Function::name);
    if (function == std::end(functions)) unknown_function(side);
    side.kind = function->kind;
    demand("(");
    side.column = now().column;
    side.name = named("the name of an input");
    if (side.kind == Side::Kind::dim) {
      demand(",");
      side.number = integer();
    }
    demand(")");
    return side;
  }

  [[noreturn]] void unknown_function(const Side& side) const {
    std::vector<std::string> known{"any", "all"};
    for (const Function& each : functions) known.emplace_back(each.name);
    for (const Statement& each : statements) known.emplace_back(each.name);
    throw Misread{side.column, "there is no function '" + side.name + "'" + suggestion(side.name, known)};
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

// --- checking --------------------------------------------------------------------------------------------------------

// What a side yields.
enum class Sort { number, word, list };

class Checker {
 public:
  explicit Checker(std::span<const Definition* const> definitions) : definitions_(definitions) {}

  void check(const Claim& claim) const {
    for (const Claim& part : claim.parts) check(part);
    switch (claim.kind) {
      case Kind::has:
      case Kind::initializer: return check_input(claim.name, claim.column);
      case Kind::states:
        if (!spec(claim.name)) unknown("attribute", claim.name, claim.column, attributes());
        return;
      case Kind::breaks: return check_constraint(claim);
      case Kind::comparison: return check_comparison(claim);
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
                                   std::vector<std::string> known) {
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
      default: throw Misread{side.column, side.name + " is a float, which predicates do not compare"};
    }
  }

  void check_comparison(const Claim& claim) const {
    const Sort left = sort(claim.left, false);
    const std::string name = assay::suites::text(claim.left);
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
      throw Misread{side.column, name + " cannot be compared with " + assay::suites::text(side) + "; it is " +
                                     (wants_word ? "a word" : "a number")};
    if (claim.left.kind == Side::Kind::type && side.kind == Side::Kind::word && !dtype_named(side.name))
      unknown("type", side.name, side.column, type_names());
  }
  std::vector<std::string> type_names() const {
    std::vector<std::string> names;
    for (const Definition* definition : definitions_)
      for (const TypeVariable& variable : definition->types)
        for (DType type : variable.types) names.emplace_back(assay::name(type));
    return names;
  }

  std::span<const Definition* const> definitions_;
};

Error error_of(const Misread& misread) {
  return Error{"column " + std::to_string(misread.column) + ": " + misread.why};
}

}  // namespace

bool Predicate::holds(const Case& c) const { return !claim_ || suites::holds(*claim_, c); }

std::string Predicate::text() const { return claim_ ? suites::text(*claim_) : ""; }

std::optional<Error> Predicate::mistake(std::span<const Definition* const> definitions) const {
  try {
    if (claim_) Checker(definitions).check(*claim_);
    return std::nullopt;
  } catch (const Misread& misread) {
    return error_of(misread);
  }
}

Result<Predicate> parse_predicate(std::string_view text) {
  if (text.size() > longest_text) return Error{"column 4097: a predicate has at most 4096 characters"};
  try {
    return Predicate(std::make_shared<const Claim>(Reader(text).whole()));
  } catch (const Misread& misread) {
    return error_of(misread);
  }
}

}  // namespace assay::suites
