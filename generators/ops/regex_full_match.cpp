// SPDX-License-Identifier: Apache-2.0
// RegexFullMatch: patterns put together of all that the syntax has, and strings that each part may have been written
// for, as they are or with a letter more, less or changed.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

using Words = std::vector<std::string>;

struct Part {
  const char* pattern;
  Words texts;
};
const std::vector<Part>& parts() {
  static const std::vector<Part> all{
      {"a", {"a"}},
      {"\xc3\xa9", {"\xc3\xa9", "e"}},
      {"\xf0\x9f\x98\x80?", {"\xf0\x9f\x98\x80", ""}},
      {".", {"a", "\n", "\xc3\xa9", "\xe4\xb8\xad", ""}},
      {".*", {"", "ab c", "a\nb", "\xc3\xa9\xc3\xa9"}},
      {"(?s).", {"\n", "x"}},
      {"(?s:.+)", {"\n\n", "a", ""}},
      {"a*", {"", "a", "aaa"}},
      {"a+?", {"", "a", "aa"}},
      {"b?", {"", "b"}},
      {"b??", {"", "b", "bb"}},
      {"a{2}", {"a", "aa", "aaa"}},
      {"a{1,3}", {"", "a", "aaa", "aaaa"}},
      {"(ab){2,}?", {"ab", "abab", "ababab"}},
      {"a{0}", {"", "a"}},
      {"a{,2}", {"a{,2}", "aa"}},
      {"x{", {"x{", "x"}},
      {"[abc]", {"a", "b", "d", ""}},
      {"[^abc]", {"a", "d", "\n", "\xc3\xa9"}},
      {"[a-c]+", {"abc", "d", ""}},
      {"[]a]", {"]", "a", "b"}},
      {"[^]a]", {"]", "b"}},
      {"[a\\-z]", {"-", "b", "z"}},
      {"[a-]", {"-", "a", "b"}},
      {"[\\d.]+", {"1.5", "12", "a"}},
      {"[^\\W\\d]", {"_", "a", "1"}},
      {"[[:alpha:]_]*", {"ab_", "1", ""}},
      {"[[:^digit:]]", {"a", "1", "\xc3\xa9"}},
      {"[\xc3\xa0-\xc3\xbf]", {"\xc3\xa9", "\xc3\x80", "a"}},
      {"\\d{1,2}", {"1", "12", "123", "\xd9\xa1"}},
      {"\\D", {"a", "1", "\xd9\xa1"}},
      {"\\w+", {"a_1", "\xc3\xa9", "a b"}},
      {"\\W", {" ", "a", "\xc3\xa9"}},
      {"\\s", {" ", "\t", "\v", "\xc2\xa0", "\n"}},
      {"\\S*", {"ab", "a b", "\v"}},
      {"\\.", {".", "a"}},
      {"\\_", {"_", "a"}},
      {"\\x41", {"A", "a"}},
      {"\\x{e9}", {"\xc3\xa9", "e"}},
      {"\\101", {"A", "a"}},
      {"\\n\\t", {"\n\t", "nt"}},
      {"\\Qa.b\\E", {"a.b", "axb"}},
      {"\\Q*\\E+", {"**", "", "a"}},
      {"^", {"", "a"}},
      {"$", {"", "\n", "a"}},
      {"\\A", {""}},
      {"\\z", {"", "\n"}},
      {"(?m)^", {"", "\n"}},
      {"(?m:$)\\n", {"\n"}},
      {"\\b", {"", " "}},
      {"\\B", {"", " "}},
      {"\\bab\\b", {"ab", " ab", "ab "}},
      {"\\C", {"a", "\xc3\xa9"}},
      {"\\C\\C", {"\xc3\xa9", "ab", "a"}},
      {"(?i)ab", {"Ab", "aB", "AB", "ab"}},
      {"(?i:k)s", {"Ks", "\xe2\x84\xaas", "kS", "ks"}},
      {"(?i)[^s]", {"S", "\xc5\xbf", "k"}},
      {"(?i:a(?-i)b)c", {"Abc", "ABc", "abC"}},
      {"(?U)a+", {"aa"}},
      {"(a|ab)(c|bcd)", {"abcd", "abc", "ac", "abbcd"}},
      {"(?:a|b|)", {"a", "b", ""}},
      {"()", {""}},
      {"a\\x00*", {std::string("a\0", 2), std::string("a\0b", 3), "a"}},
      {"(?P<n>a)|b", {"a", "b", "ab"}},
      {"(?P<n>a)(?P<n>b)?", {"a", "ab"}},
      {"((a*)*b)*", {"aab", "", "bb", "a"}},
      {"(\\W|^)[\\w.\\-]{0,5}@(ya|gm)\\.com(\\W|$)", {"ab@ya.com", " a@gm.com ", "a@hm.com", "a@ya-com"}}};
  return all;
}

std::string changed(std::string text) {
  const Words letters{"a", "b", " ", "\n", "\xc3\xa9", "1"};
  const Int at = between(0, std::ssize(text));
  while (!text.empty() && at < std::ssize(text) &&
         (static_cast<unsigned char>(text[static_cast<std::size_t>(at)]) & 0x80))
    return text + pick(letters);  // inside of a letter
  if (chance(50) || at == std::ssize(text)) return text.insert(static_cast<std::size_t>(at), pick(letters));
  return text.erase(static_cast<std::size_t>(at), 1);
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const Shape shape = draw_extents(stratum % shape_strata);
  std::vector<const Part*> chosen;
  std::string pattern;
  const bool is_choice = chance(25);
  for (Int count = between(1, 4); count > 0; --count) {
    static const std::vector<Part> of_unicode{{"\\p{Greek}", {"\xce\xb1", "a"}}, {"\\pL+", {"\xce\xb1", "1"}}};
    chosen.push_back(&pick(chance(1) ? of_unicode : parts()));
    const std::string part = chosen.back()->pattern;
    const bool is_in_group = chance(20);
    if (is_choice && !pattern.empty()) pattern += '|';
    pattern += is_in_group ? "(" + part + ")" + pick(Words{"", "", "*", "+", "{0,2}"}) : part;
  }
  Words texts;
  for (Int i = 0; i < volume(shape); ++i) {
    std::string text;
    if (is_choice)
      text = pick(pick(chosen)->texts);
    else
      for (const Part* each : chosen) text += pick(each->texts);
    texts.push_back(chance(25) ? changed(text) : text);
  }
  if (std::ranges::count(texts, texts.empty() ? "" : texts.front()) == std::ssize(texts) && texts.size() > 1)
    texts.back() += 'a';  // else they show little
  c.node.input("X", {type, shape});
  if (chance(10)) {  // numbers, which differ from one data set to another
    c.sources["X"] = {seeded("small"), chance(30)};
    c.node.attribute("pattern", pick<std::string>({"\\d", "-.*", "-?[1-4]"}));
    return c;
  }
  c.sources["X"] = {assay::stated(texts), chance(30)};
  c.node.attribute("pattern", Attribute(pattern));
  return c;
}

}  // namespace

const OperatorGenerator& regex_full_match() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = moving_generator(draw);
    made.damages = {
        numbers_for_strings(),
        {"no pattern", [](Case& c) { c.node.attributes.erase("pattern"); }},
        {"no pattern of RE2", [](Case& c) {
           c.node.attribute(
               "pattern",
               pick<std::string>(
                   {"(a)\\1",       "(?=a)a", "a(?!b)", "(?<=a)b",   "(",       ")",         "a)",         "[a",
                    "[b-a]",        "*",      "a**",    "a|*",       "(?>a)",   "\\",        "\\q",        "a{1001}",
                    "(a{100}){11}", "a{2,1}", "\\Z",    "[[:foo:]]", "(?<n>a)", "(?<n>a)*b", "(?P<a b>a)", "(?x)a",
                    "\\x{110000}",  "a++"}));
         }}};
    return made;
  }();
  return all;
}

}  // namespace assay::generators
