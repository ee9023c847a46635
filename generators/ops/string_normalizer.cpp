// SPDX-License-Identifier: Apache-2.0
// StringNormalizer: words that differ by case alone, with letters beyond ASCII, with blanks and without a letter; stop
// words that are there and not, all of them and none.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const Shape drawn = draw_extents(stratum % shape_strata);
  const Int count = drawn.size() < 2 ? volume(drawn) : drawn.back();
  const Shape shape = drawn.size() < 2 ? Shape{count} : Shape{1, count};
  Texts words{"a", "A", "b", "bB", "A b", "", "z1", "\xe4\xb8\xad", "\xf0\x9f\x98\x80", "e\xcc\x81"};
  const bool has_others = chance(40);
  if (has_others) words.insert(words.end(), {"\xc3\xa9", "\xc3\x89", "a\xc3\xa9", "\xd0\xb6Z", "\xce\xa9", "\xc3\x9f"});
  Texts texts;
  for (Int i = 0; i < count; ++i) texts.push_back(pick(words));
  c.node.input("X", {type, shape});
  c.sources["X"] = {assay::stated(texts), chance(30)};
  if (chance(70)) {
    Texts stops;
    for (Int left = between(1, 3); left > 0; --left) stops.push_back(pick(words));
    if (chance(10)) stops = words;
    c.node.attribute("stopwords", stops);
  }
  if (chance(75)) c.node.attribute("case_change_action", pick<std::string>({"LOWER", "UPPER", "NONE"}));
  if (chance(60)) c.node.attribute("is_case_sensitive", Attribute(between(0, 1)));
  if (chance(10)) c.node.attribute("locale", Attribute(std::string("en_US")));
  return c;
}

}  // namespace

const OperatorGenerator& string_normalizer() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = moving_generator(draw);
    made.damages = {numbers_for_strings(),
                    {"several rows",
                     [](Case& c) {
                       c.node.input("X", {DType::string, {2, 1}});
                       c.sources["X"].recipe = {"text", "a,b"};
                     }},
                    {"a letter with two partners",
                     [](Case& c) {
                       c.node.input("X", {DType::string, {2}});
                       c.sources["X"].recipe = assay::stated(Texts{"a", "\xc3\x9f"});
                       c.node.attribute("stopwords", Texts{"a"}).attribute("is_case_sensitive", 0);
                     }},
                    {"a flag that is none", [](Case& c) { c.node.attribute("is_case_sensitive", 2); }}};
    made.ranks = [](const Definition&) { return std::pair<Int, Int>{1, 2}; };
    return made;
  }();
  return all;
}

}  // namespace assay::generators
