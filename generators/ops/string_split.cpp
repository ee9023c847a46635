// SPDX-License-Identifier: Apache-2.0
// StringSplit: strings of a few letters, delimiters and whitespace: none, several in a row, at either end; delimiters
// that overlap themselves; as many splits as there are delimiters, fewer and more.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

using Words = std::vector<std::string>;

// Draws a string of several words and separators, of which there are more where `most` is larger.
std::string drawn_text(const Words& words, const Words& separators, Int most) {
  std::string text;
  for (Int parts = between(0, most); parts > 0; --parts) text += chance(50) ? pick(words) : pick(separators);
  return text;
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const Shape shape = draw_extents(stratum % shape_strata);
  const bool has_delimiter = stratum % 5 > 1;
  const std::string delimiter = pick(Words{",", "aa", "a", "ab", " ", "\xc3\xa9", "::"});
  const Words spaces{" ", " ", "  ", "\t", "\n", "\xc2\xa0", "\x1c", "\xe3\x80\x80"};
  const Words words{"a", "b", "aab", "\xc3\xa9", "c", ""};
  const Words separators = has_delimiter ? Words{delimiter, delimiter, " ", "a"} : spaces;
  Words texts;
  for (Int i = 0; i < volume(shape); ++i) texts.push_back(drawn_text(words, separators, shape.size() > 3 ? 4 : 8));
  c.node.input("X", {type, shape});
  c.sources["X"] = {assay::stated(texts), chance(30)};
  if (has_delimiter || chance(40)) c.node.attribute("delimiter", Attribute(has_delimiter ? delimiter : std::string()));
  if (chance(50)) c.node.attribute("maxsplit", Attribute(between(0, 4)));
  return c;
}

}  // namespace

const OperatorGenerator& string_split() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = moving_generator(draw);
    made.damages = {numbers_for_strings(),
                    {"fewer than no splits", [](Case& c) { c.node.attribute("maxsplit", Attribute(-between(1, 2))); }}};
    return made;
  }();
  return all;
}

}  // namespace assay::generators
