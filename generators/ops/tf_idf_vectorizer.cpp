// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer: pools of n-grams of one to three tokens, some lengths without any; tokens that differ by what fewer
// bits do not hold; skips of none, some and more than a row is long; places out of order, with gaps and, where counts
// are not weighed, shared.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "reference/operator.h"
#include "reference/sequence.h"

#include <algorithm>
#include <set>

namespace assay::generators {
namespace {

using Words = std::vector<std::string>;

// Draws a row, or rows, of any length.
Shape draw_rows(std::uint64_t stratum) {
  const Shape drawn = draw_extents(stratum % shape_strata);
  if (drawn.empty()) return {between(1, 33)};
  if (drawn.size() < 3) return drawn;
  return {volume(std::span(drawn).first(drawn.size() - 1)), drawn.back()};
}

// Draws the few different tokens of a case.
Words draw_tokens(DType type) {
  Words all{"1", "2", "7", "-1", "258", "16777216", "16777217"};
  if (type == DType::string) all = {"a", "b", "", "aa", "A", "\xc3\xa9", "a b"};
  if (type == DType::i64) all.emplace_back("4294967298");
  for (std::size_t left = all.size(); left > 1; --left)
    std::swap(all[left - 1], all[static_cast<std::size_t>(between(0, static_cast<Int>(left) - 1))]);
  all.resize(static_cast<std::size_t>(between(2, 4)));
  return all;
}

// Draws so many different n-grams of that length, as far as there are, most of which stand in the row.
void draw_grams(Words& pool, const Words& tokens, const Words& row, Int length, Int many) {
  std::set<Words> drawn;
  for (Int tries = 4 * many; tries > 0 && std::ssize(drawn) < many; --tries) {
    Words gram;
    const std::size_t from = static_cast<std::size_t>(between(0, std::ssize(row) - 1));
    const bool is_there = drawn.empty() || chance(50);
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i)
      gram.push_back(is_there ? row[(from + i) % row.size()] : pick(tokens));
    if (drawn.insert(gram).second) std::ranges::copy(gram, std::back_inserter(pool));
  }
}

Ints draw_places(Int many, bool may_share) {
  Ints places;
  for (Int i = 0, next = 0; i < many; ++i) {
    places.push_back(next);
    next += may_share && chance(30) ? 0 : chance(20) ? 2 : 1;
  }
  for (std::size_t left = places.size(); left > 1 && chance(80); --left)
    std::swap(places[left - 1], places[static_cast<std::size_t>(between(0, static_cast<Int>(left) - 1))]);
  return places;
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const Shape shape = draw_rows(stratum);
  const Words tokens = draw_tokens(type);
  Words row{tokens[0], tokens[1]};
  for (Int i = between(0, 10); i > 0; --i) row.push_back(pick(tokens));
  c.node.input("X", {type, shape});
  c.sources["X"] = {type == DType::string ? assay::stated(row) : Recipe{chance(50) ? "lit" : "hold", joined(row, ",")},
                    false};
  if (type == DType::string && volume(shape) == 0) c.sources["X"].recipe = {"text", ""};

  const Int longest = between(1, 3);
  Words pool;
  Ints counts;
  for (Int length = 1; length <= longest; ++length) {
    counts.push_back(std::ssize(pool));
    draw_grams(pool, tokens, row, length, length == longest ? between(1, 4) : between(0, 3));
  }
  Int grams = 0;
  for (Int length = 1; length <= longest; ++length)
    grams += ((length < longest ? counts[static_cast<std::size_t>(length)] : std::ssize(pool)) -
              counts[static_cast<std::size_t>(length - 1)]) /
             length;
  const std::string mode = pick<std::string>({"TF", "IDF", "TFIDF"});
  const Int most = chance(80) || counts.back() == 0 ? longest : between(1, longest);
  c.node.attribute("ngram_counts", counts)
      .attribute("ngram_indexes", draw_places(grams, mode == "TF"))
      .attribute("mode", Attribute(mode))
      .attribute("max_gram_length", Attribute(most))
      .attribute("min_gram_length", Attribute(chance(70) ? Int{1} : between(1, most)))
      .attribute("max_skip_count", Attribute(chance(5) ? Int{1000} : between(0, 4)));
  if (type == DType::string)
    c.node.attribute("pool_strings", pool);
  else
    c.node.attribute("pool_int64s", transformed<Int>(pool, [](const std::string& each) { return std::stoll(each); }));
  if (chance(60)) {
    Reals weights;
    for (Int i = 0; i < grams; ++i) weights.push_back(pick({0.5F, 2.0F, 0.1F, -3.0F, 1000.3F, 1.0F}));
    c.node.attribute("weights", weights);
  }
  return c;
}

std::vector<Mutation> damages() {
  const auto stating = [](const char* name, Attribute value) {
    return Mutation(name, [=](Case& c) { c.node.attribute(name, value); });
  };
  return {
      stating("mode", Attribute(std::string("tf"))),
      stating("max_skip_count", Attribute(Int{-1})),
      stating("max_gram_length", Attribute(Int{9})),
      stating("min_gram_length", Attribute(Int{0})),
      {"no pool", [](Case& c) { return c.node.attributes.erase("pool_int64s") > 0; }},
      {"no pool of strings", [](Case& c) { return c.node.attributes.erase("pool_strings") > 0; }},
      {"both pools", [](Case& c) { c.node.attribute("pool_int64s", Ints{1}).attribute("pool_strings", Texts{"a"}); }},
      {"another number of weights",
       [](Case& c) {
         Reals weights(std::get<Ints>(c.node.attributes.at("ngram_indexes")).size(), 1.0F);
         weights.push_back(2.0F);
         c.node.attribute("weights", weights);
       }},
      {"another rank", [](Case& c) {
         shape_of(c) = chance(50) ? Shape{} : Shape{1, 1, 2};
       }}};
}

}  // namespace

const OperatorGenerator& tf_idf_vectorizer() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = moving_generator(draw);
    made.damages = damages();
    made.ranks = [](const Definition&) { return std::pair<Int, Int>{1, 2}; };
    return made;
  }();
  return all;
}

}  // namespace assay::generators
