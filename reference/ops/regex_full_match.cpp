// SPDX-License-Identifier: Apache-2.0
// RegexFullMatch (ai.onnx 20) - https://onnx.ai/onnx/operators/onnx__RegexFullMatch.html
//
//   Y[i] = whether all of X[i] is of the language of pattern
//
// The pattern is of RE2's syntax (https://github.com/google/re2/wiki/Syntax), and a string one of Unicode letters in
// UTF-8. A pattern is read as a tree, laid out as states of a machine that is in several of them at once, and walked
// along the string. Without tables of Unicode \p matches any letter, and case counts but of ASCII (G80).
#include "reference/operator.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>

namespace assay {
namespace {

// -- letters

constexpr char32_t last_letter = 0x10FFFF;

struct Range {
  char32_t first, last;
};
using Letters = std::vector<Range>;

struct Decoded {
  char32_t letter;
  std::size_t bytes;
};
// Reads the letter that begins there; none where no letter does.
std::optional<Decoded> letter_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  if (at >= text.size()) return std::nullopt;
  if (byte(0) < 0x80) return Decoded{byte(0), 1};
  const std::size_t bytes = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || at + bytes > text.size()) return std::nullopt;
  char32_t letter = byte(0) & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return std::nullopt;
    letter = letter << 6 | (byte(i) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool is_half = letter >= 0xD800 && letter <= 0xDFFF;
  if (letter < least[bytes] || letter > last_letter || is_half) return std::nullopt;
  return Decoded{letter, bytes};
}

bool holds(const Letters& letters, char32_t letter) {
  return std::ranges::any_of(letters, [&](const Range& r) { return r.first <= letter && letter <= r.last; });
}

Letters others(Letters letters) {
  std::ranges::sort(letters, {}, &Range::first);
  Letters out;
  char32_t next = 0;
  for (const Range& each : letters) {
    if (each.first > next) out.push_back({next, each.first - 1});
    next = std::max<char32_t>(next, each.last + 1);
  }
  if (next <= last_letter) out.push_back({next, last_letter});
  return out;
}

// Adds the other case of ASCII letters, and the letters beyond that are lower or upper case of one.
Letters in_any_case(Letters letters) {
  const Letters given = letters;
  constexpr std::array<std::pair<char32_t, char32_t>, 2> beyond{{{U'k', 0x212A}, {U's', 0x17F}}};
  for (char32_t lower = 'a'; lower <= 'z'; ++lower) {
    const char32_t upper = lower - 32;
    char32_t third = lower;
    for (const auto& [letter, sign] : beyond)
      if (letter == lower) third = sign;
    if (holds(given, lower) || holds(given, upper) || holds(given, third))
      for (const char32_t each : {lower, upper, third}) letters.push_back({each, each});
  }
  return letters;
}

struct Class {
  std::string_view name;
  std::string_view ends;  // of ranges, two by two
};
constexpr Class classes[] = {{"alnum", "09AZaz"},
                             {"alpha", "AZaz"},
                             {"ascii", std::string_view("\0\x7f", 2)},
                             {"blank", "\t\t  "},
                             {"cntrl", std::string_view("\0\x1f\x7f\x7f", 4)},
                             {"digit", "09"},
                             {"graph", "!~"},
                             {"lower", "az"},
                             {"print", " ~"},
                             {"punct", "!/:@[`{~"},
                             {"space", "\t\r  "},
                             {"upper", "AZ"},
                             {"word", "09AZaz__"},
                             {"xdigit", "09AFaf"},
                             {"d", "09"},
                             {"s", "\t\n\f\r  "},
                             {"w", "09AZaz__"}};

std::optional<Letters> class_named(std::string_view name) {
  const auto found = std::ranges::find(classes, name, &Class::name);
  if (found == std::end(classes)) return std::nullopt;
  Letters out;
  for (std::size_t i = 0; i < found->ends.size(); i += 2)
    out.push_back({static_cast<unsigned char>(found->ends[i]), static_cast<unsigned char>(found->ends[i + 1])});
  return out;
}

// -- patterns

enum class Place { text_begin, text_end, line_begin, line_end, word_edge, no_word_edge };

struct Expression {
  enum class Kind { nothing, letter, byte, place, repeated, joined, either } kind = Kind::nothing;
  Letters letters = {};
  Place place = {};
  Int least = 1, most = 1;  // repeated; -1: without an end
  bool is_counted = false;
  std::vector<Expression> parts = {};
};

struct Flags {
  bool any_case = false, by_lines = false, dot_is_any = false;
};

// Reads a pattern from the left to the right; what is no pattern throws Invalid.
class Reader {
 public:
  struct Invalid {};
  explicit Reader(std::string_view pattern) : rest_(pattern) {}

  bool names_shortly = false;  // any group, so far

  Expression whole() {
    Flags flags;
    Expression out = alternatives(flags, 0);
    require(rest_.empty());
    return out;
  }

 private:
  using Kind = Expression::Kind;
  static void require(bool holds) {
    if (!holds) throw Invalid();
  }
  bool takes(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  char32_t letter() {
    const auto decoded = letter_at(rest_, 0);
    require(decoded.has_value());
    rest_.remove_prefix(decoded->bytes);
    return decoded->letter;
  }

  // Up to the end of a group; flags that are set in it end there.
  Expression alternatives(Flags flags, int depth) {
    require(depth < 500);
    Expression out{Kind::either};
    out.parts.push_back({Kind::joined});
    bool was_repeated = false;
    while (!rest_.empty() && rest_.front() != ')') {
      std::vector<Expression>& parts = out.parts.back().parts;
      if (takes("|")) {
        out.parts.push_back({Kind::joined});
        was_repeated = false;
      } else if (const auto counts = repetition()) {
        require(!parts.empty() && !was_repeated);
        takes("?");  // which of several matches is preferred does not matter
        repeat(parts.back(), *counts);
        was_repeated = true;
      } else {
        read_one(parts, flags, depth);
        was_repeated = false;
      }
    }
    return out;
  }

  struct Counts {
    Int least, most;
    bool is_counted;
  };
  std::optional<Counts> repetition() {
    if (takes("*")) return Counts{0, -1, false};
    if (takes("+")) return Counts{1, -1, false};
    if (takes("?")) return Counts{0, 1, false};
    const std::string_view before = rest_;
    if (takes("{"))
      if (const auto least = number()) {
        if (takes("}")) return Counts{*least, *least, true};
        if (takes(",}")) return Counts{*least, -1, true};
        if (takes(","))
          if (const auto most = number(); most && takes("}")) return Counts{*least, *most, true};
      }
    rest_ = before;  // a brace is a letter
    return std::nullopt;
  }

  std::optional<Int> number() {
    Int value = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      if (value >= 100'000'000) return std::nullopt;
      value = value * 10 + (rest_[digits] - '0');
    }
    if (digits == 0 || (digits > 1 && rest_.front() == '0')) return std::nullopt;
    rest_.remove_prefix(digits);
    return value;
  }

  static void repeat(Expression& of, const Counts& counts) {
    require(counts.least <= 1000 && counts.most <= 1000 && (counts.most < 0 || counts.least <= counts.most));
    Expression out{Kind::repeated, {}, {}, counts.least, counts.most, counts.is_counted};
    out.parts.push_back(std::move(of));
    require(room(out, 1000) > 0);
    of = std::move(out);
  }
  // How often what is innermost may still be counted.
  static Int room(const Expression& of, Int left) {
    if (const Int most = of.most < 0 ? of.least : of.most; of.is_counted && most > 0) left /= most;
    Int least = left;
    for (const Expression& each : of.parts) least = std::min(least, room(each, left));
    return least;
  }

  static Expression of_letters(Letters letters) { return {Kind::letter, std::move(letters)}; }
  static Expression of_letter(char32_t letter, const Flags& flags) {
    return of_letters(flags.any_case ? in_any_case({{letter, letter}}) : Letters{{letter, letter}});
  }
  static Expression of_place(Place place) { return {Kind::place, {}, place}; }

  // Adds what comes next.
  void read_one(std::vector<Expression>& to, Flags& flags, int depth) {
    if (takes("("))
      read_group(to, flags, depth);
    else if (takes("^"))
      to.push_back(of_place(flags.by_lines ? Place::line_begin : Place::text_begin));
    else if (takes("$"))
      to.push_back(of_place(flags.by_lines ? Place::line_end : Place::text_end));
    else if (takes("."))
      to.push_back(of_letters(flags.dot_is_any ? Letters{{0, last_letter}} : others({{'\n', '\n'}})));
    else if (takes("["))
      to.push_back(of_letters(bracket(flags)));
    else if (takes("\\Q"))
      while (!rest_.empty() && !takes("\\E")) to.push_back(of_letter(letter(), flags));
    else if (rest_.starts_with('\\'))
      to.push_back(escaped(flags));
    else
      to.push_back(of_letter(letter(), flags));
  }

  Expression escaped(const Flags& flags) {
    constexpr std::pair<std::string_view, Place> places[] = {
        {"\\A", Place::text_begin}, {"\\z", Place::text_end}, {"\\b", Place::word_edge}, {"\\B", Place::no_word_edge}};
    for (const auto& [word, place] : places)
      if (takes(word)) return of_place(place);
    if (takes("\\C")) return {Kind::byte};
    if (auto letters = class_escape(flags)) return of_letters(*std::move(letters));
    return of_letter(escape(), flags);
  }

  void read_group(std::vector<Expression>& to, Flags& flags, int depth) {
    Flags inner = flags;
    const bool is_short = rest_.starts_with("?<") && !rest_.starts_with("?<=") && !rest_.starts_with("?<!");
    if (takes(is_short ? "?<" : "?P<")) {
      names_shortly |= is_short;
      const std::size_t end = rest_.find('>');
      require(end != rest_.npos && end > 0);
      for (const char each : rest_.substr(0, end)) require(is_word(each) || (each & 0x80) != 0);
      rest_.remove_prefix(end + 1);
    } else if (takes("?") && read_flags(inner)) {
      flags = inner;
      return;
    }
    to.push_back(alternatives(inner, depth + 1));
    require(takes(")"));
  }

  // Reads flags up to a colon, or true: to the end of the group.
  bool read_flags(Flags& flags) {
    bool is_off = false, are_named = true;
    for (;;) {
      require(!rest_.empty());
      const char each = rest_.front();
      rest_.remove_prefix(1);
      if (each == ':' || each == ')') {
        require(are_named);
        return each == ')';
      }
      if (each == '-') {
        require(!is_off);
        is_off = true;
        are_named = false;
        continue;
      }
      require(each == 'i' || each == 'm' || each == 's' || each == 'U');
      are_named = true;
      if (each == 'i') flags.any_case = !is_off;
      if (each == 'm') flags.by_lines = !is_off;
      if (each == 's') flags.dot_is_any = !is_off;
    }
  }

  // Behind the bracket.
  Letters bracket(const Flags& flags) {
    const bool is_negated = takes("^");
    Letters all;
    const auto add = [&](Letters more) { all.insert(all.end(), more.begin(), more.end()); };
    for (bool is_first = true; is_first || !rest_.starts_with(']'); is_first = false) {
      require(!rest_.empty());
      if (auto letters = class_of_bracket(flags)) {
        add(*std::move(letters));
        continue;
      }
      const char32_t first = rest_.starts_with('\\') ? escape() : letter();
      char32_t last = first;
      if (rest_.size() > 1 && rest_.front() == '-' && rest_[1] != ']') {
        rest_.remove_prefix(1);
        last = rest_.starts_with('\\') ? escape() : letter();
        require(first <= last);
      }
      add(flags.any_case ? in_any_case({{first, last}}) : Letters{{first, last}});
    }
    rest_.remove_prefix(1);
    return is_negated ? others(std::move(all)) : all;
  }

  static Letters named(Letters letters, bool is_negated, const Flags& flags) {
    if (flags.any_case) letters = in_any_case(std::move(letters));
    return is_negated ? others(std::move(letters)) : letters;
  }

  std::optional<Letters> class_of_bracket(const Flags& flags) {
    const std::size_t end = rest_.starts_with("[:") ? rest_.find(":]", 2) : rest_.npos;
    if (end == rest_.npos) return class_escape(flags);
    std::string_view name = rest_.substr(2, end - 2);
    const bool is_negated = name.starts_with('^');
    if (is_negated) name.remove_prefix(1);
    const auto letters = name.size() > 1 ? class_named(name) : std::nullopt;
    require(letters.has_value());
    rest_.remove_prefix(end + 2);
    return named(*letters, is_negated, flags);
  }

  // \d and the like; \p and a letter, or a name in braces.
  std::optional<Letters> class_escape(const Flags& flags) {
    if (rest_.size() < 2 || rest_.front() != '\\') return std::nullopt;
    const char letter_of = rest_[1];
    if (letter_of == 'p' || letter_of == 'P') {
      rest_.remove_prefix(2);
      if (takes("{")) {
        const std::size_t end = rest_.find('}');
        require(end != rest_.npos);
        rest_.remove_prefix(end + 1);
      } else {
        letter();
      }
      return Letters{{0, last_letter}};
    }
    const char lower = static_cast<char>(letter_of | 0x20);
    if (lower != 'd' && lower != 's' && lower != 'w') return std::nullopt;
    rest_.remove_prefix(2);
    return named(*class_named({&lower, 1}), lower != letter_of, flags);
  }

  char32_t escape() {
    rest_.remove_prefix(1);
    require(!rest_.empty());
    const char32_t c = letter();
    require(c < 0x80);
    if (c == 'x') return hexadecimal();
    if (c >= '0' && c <= '7') return octal(c);
    constexpr std::string_view names = "nrtafv", controls = "\n\r\t\a\f\v";
    if (const std::size_t at = names.find(static_cast<char>(c)); at != names.npos)
      return static_cast<unsigned char>(controls[at]);
    require(!is_word(static_cast<char>(c)) || c == '_');
    return c;
  }

  bool has_octal() const { return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '7'; }
  char32_t octal(char32_t first) {
    require(first == '0' || has_octal());  // else a reference to a group
    char32_t code = first - '0';
    for (int more = 0; more < 2 && has_octal(); ++more) code = code * 8 + (letter() - '0');
    return code;
  }

  char32_t hexadecimal() {
    const auto digit = [&]() -> std::optional<char32_t> {
      require(!rest_.empty());
      const char32_t c = letter(), lower = c | 0x20;
      if (c >= '0' && c <= '9') return c - '0';
      if (lower >= 'a' && lower <= 'f' && c < 0x80) return lower - 'a' + 10;
      require(c == '}');
      return std::nullopt;
    };
    char32_t code = 0;
    if (takes("{")) {
      require(!rest_.starts_with('}'));
      while (const auto next = digit()) require((code = code * 16 + *next) <= last_letter);
      return code;
    }
    for (int i = 0; i < 2; ++i) {
      const auto next = digit();
      require(next.has_value());
      code = code * 16 + *next;
    }
    return code;
  }

 public:
  static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  }

 private:
  std::string_view rest_;
};

struct Pattern {
  Expression whole;
  bool names_shortly;  // a group (?<name>)
};
std::optional<Pattern> read(const Call& call) {
  const std::string text = call.text("pattern");
  try {
    Reader reader(text);
    Expression whole = reader.whole();
    return Pattern{std::move(whole), reader.names_shortly};
  } catch (const Reader::Invalid&) {
    return std::nullopt;
  }
}

// -- the machine

class Machine {
 public:
  explicit Machine(const Expression& of) { first_ = lay_out(of, add({})); }

  bool matches(std::string_view text) const {
    std::vector<std::vector<std::size_t>> reached(text.size() + 1);
    reached[0] = {first_};
    for (std::size_t at = 0; at <= text.size(); ++at) {
      std::vector<std::size_t>& now = reached[at];
      std::vector<bool> seen(states_.size());
      const auto letter = letter_at(text, at);
      while (!now.empty()) {
        const std::size_t state = now.back();
        now.pop_back();
        if (seen[state]) continue;
        seen[state] = true;
        const State& s = states_[state];
        if (s.kind == State::Kind::end && at == text.size()) return true;
        if (s.kind == State::Kind::fork || (s.kind == State::Kind::place && stands(s.place, text, at)))
          now.insert(now.end(), s.next.begin(), s.next.end());
        if (s.kind == State::Kind::letter && letter && holds(s.letters, letter->letter))
          reached[at + letter->bytes].push_back(s.next[0]);
        if (s.kind == State::Kind::byte && at < text.size()) reached[at + 1].push_back(s.next[0]);
      }
    }
    return false;
  }

 private:
  struct State {
    enum class Kind { end, letter, byte, place, fork } kind = Kind::end;
    std::vector<std::size_t> next = {};
    Letters letters = {};
    Place place = {};
  };

  std::size_t add(State state) {
    states_.push_back(std::move(state));
    return states_.size() - 1;
  }

  // The state in which an expression begins that is followed by another state.
  std::size_t lay_out(const Expression& of, std::size_t next) {
    switch (of.kind) {
      case Expression::Kind::nothing: return next;
      case Expression::Kind::letter: return add({State::Kind::letter, {next}, of.letters});
      case Expression::Kind::byte: return add({State::Kind::byte, {next}});
      case Expression::Kind::place: return add({State::Kind::place, {next}, {}, of.place});
      case Expression::Kind::joined:
        for (std::size_t i = of.parts.size(); i-- > 0;) next = lay_out(of.parts[i], next);
        return next;
      case Expression::Kind::either: {
        State fork{State::Kind::fork};
        for (const Expression& each : of.parts) fork.next.push_back(lay_out(each, next));
        return add(std::move(fork));
      }
      case Expression::Kind::repeated: break;
    }
    const Expression& part = of.parts.front();
    const std::size_t after = next;
    if (of.most < 0) {
      next = add({State::Kind::fork});
      const std::size_t again = lay_out(part, next);
      states_[next].next = {again, after};
    }
    for (Int i = of.least; i < of.most; ++i) next = add({State::Kind::fork, {lay_out(part, next), after}});
    for (Int i = 0; i < of.least; ++i) next = lay_out(part, next);
    return next;
  }

  static bool stands(Place place, std::string_view text, std::size_t at) {
    const bool is_first = at == 0, is_last = at == text.size();
    const bool is_edge = (!is_first && Reader::is_word(text[at - 1])) != (!is_last && Reader::is_word(text[at]));
    switch (place) {
      case Place::text_begin: return is_first;
      case Place::text_end: return is_last;
      case Place::line_begin: return is_first || text[at - 1] == '\n';
      case Place::line_end: return is_last || text[at] == '\n';
      case Place::word_edge: return is_edge;
      case Place::no_word_edge: return !is_edge;
    }
    return false;
  }

  std::vector<State> states_;
  std::size_t first_ = 0;
};

Values match(const Call& call, Inputs in) {
  Tensor y({DType::boolean, in[0]->shape()});
  const Machine machine(read(call)->whole);
  std::ranges::transform(in[0]->as<std::string>(), y.as<Bool>().begin(),
                         [&](const std::string& text) { return Bool(machine.matches(text) ? 1.0 : 0.0); });
  return y;
}

bool names_groups(const Call& call) {
  const auto pattern = call.states("pattern") ? read(call) : std::nullopt;
  return !pattern || !pattern->names_shortly;
}

Types inferred(const Call& call) { return {TensorType{DType::boolean, call.shape("X")}}; }

}  // namespace

// clang-format off
Operator regex_full_match() {
  return Operator("RegexFullMatch")
      .input("X", "T1").output("Y", "T2").type("T1", {DType::string}).type("T2", {DType::boolean})
      .optional_attribute("pattern", AttributeSpec::Kind::text).rulings({"G80", "G81"})
      .require("RX1", "pattern is there", [](auto& c) { return c.states("pattern"); })
      .require("RX2", "pattern is of RE2's syntax", [](auto& c) { return !c.states("pattern") || read(c).has_value(); })
      .require("RX3", "groups are named by (?P<name>), not by (?<name>)", names_groups, "G81")
      .since(20)
      .shaping(Shaping::one).infer(inferred).kernel(match);
}
// clang-format on

}  // namespace assay
