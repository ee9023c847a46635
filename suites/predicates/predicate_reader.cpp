// SPDX-License-Identifier: Apache-2.0
// From text to the tree.
#include "reference/nearest.h"
#include "suites/predicates/predicate_tree.h"

#include <algorithm>
#include <charconv>

namespace assay::suites {
namespace predicates {
namespace {

constexpr std::size_t longest_text = 4096;
constexpr int deepest = 64;

struct Token {
  enum class Kind { end, word, number, quoted, sign };
  Kind kind = Kind::end;
  std::string_view text;
  std::size_t column = 1;
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
  Claim joined(ClaimKind kind, std::string_view word, Part&& part) {
    Claim first = part();
    if (!is(word)) return first;
    Claim all{.kind = kind, .parts = {std::move(first)}, .name = {}, .column = now().column, .left = {}, .right = {}};
    while (take(word)) all.parts.push_back(part());
    return all;
  }
  Claim either() {
    return joined(ClaimKind::either, "or", [&] { return both(); });
  }
  Claim both() {
    return joined(ClaimKind::both, "and", [&] { return claim(); });
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
      negation.kind = ClaimKind::negation;
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

  Claim stated(ClaimKind kind) {
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
    const auto* function = std::ranges::find(functions, side.name, &InputFunction::name);
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
    for (const InputFunction& each : functions) known.emplace_back(each.name);
    for (const Statement& each : statements) known.emplace_back(each.name);
    throw Misread{side.column, "there is no function '" + side.name + "'" + suggestion(side.name, known)};
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace
}  // namespace predicates

Result<Predicate> parse_predicate(std::string_view text) {
  if (text.size() > predicates::longest_text) return Error{"column 4097: a predicate has at most 4096 characters"};
  try {
    return Predicate(std::make_shared<const Predicate::Claim>(predicates::Reader(text).whole()));
  } catch (const predicates::Misread& misread) {
    return misread.error();
  }
}

Result<Predicate> stated_predicate(std::string_view text) {
  return text.empty() ? Result<Predicate>(Predicate()) : parse_predicate(text);
}

}  // namespace assay::suites
