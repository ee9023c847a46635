// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/cover.h"

#include <boost/dynamic_bitset.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace assay::suites {
namespace {

constexpr std::size_t most_claims = 5;
constexpr std::size_t most_alternatives = 3;  // words after `in`
constexpr std::size_t most_told = 8;          // likewise, of those that no case outside has

bool is_plain(const std::string& word) {
  return std::ranges::all_of(word, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

std::string written(const std::string& word) { return is_plain(word) ? word : "\"" + word + "\""; }

// "type(X) == f16", or "type(X) in (f16, f32)", from the words that the cases show; nothing where they show too many.
class Claims {
 public:
  void words(const std::string& left, const std::set<std::string>& seen) {
    if (seen.empty() || seen.size() > most_alternatives) return;
    std::string all;
    for (const std::string& each : seen) all += (all.empty() ? "" : ", ") + written(each);
    add(seen.size() == 1 ? left + " == " + all : left + " in (" + all + ")");
  }
  void add(std::string text) { all_.push_back(std::move(text)); }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_;
};

void about_list(const std::string& list, Claims& claims) {
  for (const char* claim : {" > 1", " > 0", " < 0", " == 0"}) claims.add("any(" + list + ")" + claim);
  for (const char* claim : {" == 1", " == 0", " <= 1", " > 0", " > 1"}) claims.add("all(" + list + ")" + claim);
}

void about_number(const std::string& number, Claims& claims) {
  for (const char* claim : {" == 0", " == 1", " > 0", " > 1"}) claims.add(number + claim);
}

void about_attribute(const AttributeSpec& attribute, const std::vector<Case>& inside, Claims& claims) {
  const std::string& name = attribute.name;
  if (attribute.kind == AttributeSpec::Kind::integer) about_number(name, claims);
  if (attribute.kind == AttributeSpec::Kind::ints) about_list(name, claims);
  if (attribute.kind != AttributeSpec::Kind::text) return;
  std::set<std::string> seen;
  for (const Case& c : inside) {
    const auto written = c.node.attributes.find(name);
    const auto* word = written == c.node.attributes.end() ? nullptr : std::get_if<std::string>(&written->second);
    if (word) seen.insert(word->find('"') == word->npos ? *word : "");
    if (!word && attribute.value) seen.insert(std::get<std::string>(*attribute.value));
  }
  if (!seen.contains("")) claims.words(name, seen);
}

void about_input(const Parameter& input, const std::vector<Case>& inside, Claims& claims) {
  std::set<std::string> types, ranks, recipes;
  for (const Case& c : inside)
    if (const auto found = c.node.inputs.find(input.name);
        found != c.node.inputs.end() && found->second.presence == Input::Presence::given) {
      types.insert(std::string(name(found->second.type.dtype)));
      ranks.insert(std::to_string(found->second.type.shape.size()));
      recipes.insert(c.sources.at(input.name).recipe.family);
    }
  if (input.arity != Arity::required)
    for (const char* claim : {"has", "not has"}) claims.add(std::string(claim) + "(" + input.name + ")");
  claims.words("type(" + input.name + ")", types);
  claims.words("rank(" + input.name + ")", ranks);
  for (const char* claim : {" > 3", " > 4", " > 5"}) claims.add("rank(" + input.name + ")" + claim);
  claims.add("any(shape(" + input.name + ")) == 0");
  for (const char* axis : {",0)", ",1)"}) about_number("dim(" + input.name + axis, claims);
  for (const char* claim : {"initializer", "not initializer"}) claims.add(std::string(claim) + "(" + input.name + ")");
  claims.words("recipe(" + input.name + ")", recipes);
}

// "any(strides) > 2", where the largest is above 2 in every case inside: a threshold that the cases show.
void about_thresholds(const AttributeSpec& attribute, const std::vector<Case>& inside, Claims& claims) {
  constexpr Int least = 3;  // smaller ones are claims about any list
  std::optional<Int> common;
  for (const Case& c : inside) {
    const auto written = c.node.attributes.find(attribute.name);
    const auto* list = written == c.node.attributes.end() ? nullptr : std::get_if<Ints>(&written->second);
    if (!list || list->empty()) return;
    common = std::min(common.value_or(std::ranges::max(*list)), std::ranges::max(*list));
  }
  if (common && *common >= least) claims.add("any(" + attribute.name + ") > " + std::to_string(*common - 1));
}

// Lists of one operator against each other: padding as large as the kernel, steps longer than it.
void about_pairs(const Definition& definition, Claims& claims) {
  std::vector<std::string> lists;
  for (const AttributeSpec& each : definition.attributes)
    if (each.kind == AttributeSpec::Kind::ints) lists.push_back(each.name);
  for (const std::string& a : lists)
    for (const std::string& b : lists)
      if (a != b)
        for (const char* relation : {") > ", ") >= "}) claims.add("any(" + a + relation + b);
}

// What one version has and another has not drops out: no claim about it holds for every case inside.
std::vector<std::string> claims_about(const std::vector<Case>& inside) {
  const Definition& definition = inside.front().definition();
  Claims claims;
  for (const AttributeSpec& each : definition.attributes) about_attribute(each, inside, claims);
  for (const Parameter& each : definition.inputs) about_input(each, inside, claims);
  about_pairs(definition, claims);
  claims.words("shapes", {inside.front().declared == DeclaredShapes::symbolic ? "symbolic" : "fixed"});
  for (const Constraint& each : definition.constraints) claims.add("breaks(" + each.id + ")");
  for (const Constraint& each : general_constraints()) claims.add("breaks(" + each.id + ")");
  for (const AttributeSpec& each : definition.attributes) about_thresholds(each, inside, claims);
  return claims.all();
}

Predicate parsed(const std::string& text) {
  Result<Predicate> read = parse_predicate(text);
  if (!read) throw BrokenPromise("a drafted claim cannot be read: " + text + ": " + read.error());
  return *std::move(read);
}

std::vector<const Definition*> definitions_of(const std::vector<Case>& cases) {
  std::set<const Definition*> all;
  for (const Case& c : cases) all.insert(&c.definition());
  return {all.begin(), all.end()};
}

using Mask = boost::dynamic_bitset<>;

Mask all_of(const std::vector<Case>& cases) { return Mask(cases.size()).set(); }

Mask holding(const Predicate& claim, const std::vector<Case>& cases) {
  Mask out(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) out[i] = claim.holds(cases[i]);
  return out;
}

struct Claimed {
  std::string text;
  Predicate claim;
  Mask inside, outside;

  // So many alternatives it took from what there was to choose from.
  std::size_t words() const {
    std::size_t count = 1;
    for (std::size_t at = text.find(", "); at != text.npos; at = text.find(", ", at + 1)) ++count;
    return count;
  }
  bool is_about_shapes() const {
    return std::ranges::any_of(std::array{"shape(", "rank(", "dim(", "elements("},
                               [&](const char* word) { return text.find(word) != text.npos; });
  }
};

using Chosen = std::vector<const Claimed*>;

std::string conjunction(const Chosen& chosen) {
  std::string text;
  for (const Claimed* each : chosen) text += (text.empty() ? "" : " and ") + each->text;
  return text;
}

std::size_t admitted(const Chosen& chosen, std::size_t outside) {
  Mask left = Mask(outside).set();
  for (const Claimed* each : chosen) left &= each->outside;
  return left.count();
}

// Drops claims that later ones made superfluous: the fewer, the more cases they speak of.
void prune(Chosen& chosen, std::size_t outside) {
  for (std::size_t i = 0; i < chosen.size();) {
    Chosen without = chosen;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    if (admitted(without, outside) == admitted(chosen, outside))
      chosen = std::move(without);
    else
      ++i;
  }
}

// -- one conjunction for all cases inside

std::vector<Claimed> candidates(const std::vector<Case>& inside, const std::vector<Case>& outside) {
  const std::vector<const Definition*> definitions = definitions_of(inside);
  std::vector<Claimed> all;
  for (const std::string& text : claims_about(inside)) {
    const Predicate claim = parsed(text);
    const auto holds = [&](const Case& c) { return claim.holds(c); };
    if (claim.mistake(definitions) || !std::ranges::all_of(inside, holds)) continue;
    all.push_back({text, claim, {}, holding(claim, outside)});
  }
  return all;
}

Chosen chosen_from(const std::vector<Claimed>& candidates, std::size_t outside) {
  Chosen chosen;
  for (std::size_t left = outside; left > 0 && chosen.size() < most_claims;) {
    const Claimed* best = nullptr;
    for (const Claimed& each : candidates) {
      chosen.push_back(&each);
      if (const std::size_t with = admitted(chosen, outside); with < left) {
        left = with;
        best = &each;
      }
      chosen.pop_back();
    }
    if (!best) break;
    chosen.push_back(best);
  }
  prune(chosen, outside);
  return chosen;
}

// -- pieces

// The word of a case that a function of the language gives for an input, "f32" or "normal".
std::string word_of(const Case& c, const std::string& input, bool is_type) {
  const auto found = c.node.inputs.find(input);
  if (found == c.node.inputs.end() || found->second.presence != Input::Presence::given) return "";
  return is_type ? std::string(name(found->second.type.dtype)) : c.sources.at(input).recipe.family;
}

// The cases that show one word.
struct Shown {
  Mask inside, outside;
};

// Works out once what a claim holds for: one case after the other is told from the same others.
class ClaimTable {
 public:
  ClaimTable(const std::vector<Case>& inside, const std::vector<Case>& outside) : inside_(inside), outside_(outside) {}

  const Claimed& claimed(const std::string& text) {
    const auto [at, is_new] = claimed_.try_emplace(text);
    if (is_new) {
      const Predicate claim = parsed(text);
      at->second = {text, claim, holding(claim, inside_), holding(claim, outside_)};
    }
    return at->second;
  }
  // Writes claims in the words that the cases of one version show.
  const std::vector<std::string>& texts_for(const OpVersion& version) {
    const auto [at, is_new] = texts_.try_emplace(version);
    if (!is_new) return at->second;
    std::vector<Case> alike;
    std::ranges::copy_if(inside_, std::back_inserter(alike), [&](const Case& c) { return c.version == version; });
    return at->second = claims_about(alike);
  }
  // The types of an input, or its recipes, each with the cases that show it.
  const std::map<std::string, Shown>& words(const std::string& input, bool is_type) {
    const auto [at, is_new] = words_.try_emplace({input, is_type});
    if (!is_new) return at->second;
    const auto mark = [&](const std::vector<Case>& cases, Mask Shown::*shown) {
      for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::string word = word_of(cases[i], input, is_type);
        if (word.empty()) continue;
        Shown& each = at->second.try_emplace(word, Mask(inside_.size()), Mask(outside_.size())).first->second;
        (each.*shown).set(i);
      }
    };
    mark(inside_, &Shown::inside);
    mark(outside_, &Shown::outside);
    return at->second;
  }
  const std::vector<Case>& inside() const { return inside_; }
  const std::vector<Case>& outside() const { return outside_; }

 private:
  const std::vector<Case>& inside_;
  const std::vector<Case>& outside_;
  std::map<std::pair<std::string, bool>, std::map<std::string, Shown>> words_;
  std::map<std::string, Claimed> claimed_;
  std::map<OpVersion, std::vector<std::string>> texts_;
};

// Lists the claims that hold for one case inside, in the words that it and the cases like it show.
Chosen claims_for(std::size_t seed, ClaimTable& table) {
  const Case& c = table.inside()[seed];
  std::vector<std::string> texts = claims_about({c});
  std::ranges::copy(table.texts_for(c.version), std::back_inserter(texts));
  const Definition* const definition = &c.definition();
  std::set<std::string> seen;
  Chosen all;
  for (const std::string& text : texts) {
    if (!seen.insert(text).second) continue;
    const Claimed& each = table.claimed(text);
    if (each.inside[seed] && !each.claim.mistake({&definition, 1})) all.push_back(&each);
  }
  return all;
}

// How much a claim tells apart: what it keeps inside, weighed by how much purer it makes the rest (Quinlan's FOIL).
double gain(std::size_t kept, std::size_t others, double purity_before) {
  if (kept == 0) return 0;
  const double purity = static_cast<double>(kept) / static_cast<double>(kept + others);
  return static_cast<double>(kept) * (std::log2(purity) - purity_before);
}

double log_purity(const Mask& inside, const Mask& outside) {
  return std::log2(static_cast<double>(inside.count()) / static_cast<double>(inside.count() + outside.count()));
}

// Lists claims for a case inside, given the masks of those that are left.
using ClaimsFor = std::function<Chosen(const Mask& inside, const Mask& outside)>;

// The claims of one piece; empty where no short conjunction tells the seed from the cases outside.
// `word_costs`: bits that a claim has to be better for each further word it lists.
Chosen grown(const ClaimsFor& claims_for, const ClaimTable& table, std::size_t most_per_piece, double word_costs) {
  Chosen chosen;
  Mask inside = all_of(table.inside()), outside = all_of(table.outside());
  while (outside.any()) {
    const Claimed* best = nullptr;
    double most = 0;
    const double before = log_purity(inside, outside);
    for (const Claimed* each : claims_for(inside, outside))
      if (const double with = gain((inside & each->inside).count(), (outside & each->outside).count(), before) -
                              word_costs * static_cast<double>(each->words() - 1);
          with > most) {
        most = with;
        best = each;
      }
    if (!best || chosen.size() == most_per_piece) return {};
    chosen.push_back(best);
    inside &= best->inside;
    outside &= best->outside;
  }
  return chosen;
}

// Finds one piece after the other, each from a case inside that is left: `grow` gives its claims, `is_kept` says of a
// piece whether the cases inside that it holds for are enough.
Pieces pieces_of(const ClaimTable& table, Mask left, const std::function<Chosen(std::size_t seed)>& grow,
                 const std::function<bool(const Chosen&, std::size_t held)>& is_kept) {
  Pieces out;
  const std::vector<Case>& inside = table.inside();
  for (std::size_t seed = 0; seed < inside.size(); ++seed) {
    if (!left[seed]) continue;
    const auto chosen = grow(seed);
    const Predicate when = chosen.empty() ? Predicate() : parsed(conjunction(chosen));
    const Mask held = holding(when, inside);
    const bool is_told_apart = !chosen.empty() || table.outside().empty();
    if (!is_told_apart || !is_kept(chosen, held.count())) {
      out.left_over.push_back(seed);
      continue;
    }
    left -= held;
    out.all.push_back(when);
  }
  std::erase_if(out.left_over, [&](std::size_t i) { return !left[i]; });
  return out;
}

// -- more than chance

// "recipe(X) in (huge, normal)": all words that cases inside have and no case outside; empty where the seed's is not
// one of them.
std::string told_by_words(const std::string& input, bool is_type, const Case& seed, ClaimTable& table,
                          const Mask& inside, const Mask& outside) {
  std::set<std::string> words;
  for (const auto& [word, shown] : table.words(input, is_type))
    if (shown.inside.intersects(inside) && !shown.outside.intersects(outside)) words.insert(word);
  if (words.size() > most_told || !words.contains(word_of(seed, input, is_type))) return "";
  std::string all;
  for (const std::string& each : words) all += (all.empty() ? "" : ", ") + written(each);
  return (is_type ? "type(" : "recipe(") + input + (words.size() == 1 ? ") == " + all : ") in (" + all + ")");
}

double log_of_choices(std::size_t all, std::size_t chosen) {
  const auto n = static_cast<double>(all), k = static_cast<double>(chosen);
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// Fisher's exact test, corrected for the conjunctions that were there to choose from (Bonferroni).
bool beats_chance(std::size_t held, std::size_t inside, std::size_t outside, std::size_t words, std::size_t to_choose) {
  constexpr double least = 20;
  const double chance = log_of_choices(inside, held) - log_of_choices(inside + outside, held);
  return chance + static_cast<double>(words) * std::log(static_cast<double>(to_choose)) + std::log(least) < 0;
}

Pieces told_apart(ClaimTable& table, Mask left, bool by_shapes) {
  Chosen claims;
  const auto grow = [&](std::size_t seed) {
    claims = claims_for(seed, table);
    if (!by_shapes) std::erase_if(claims, [](const Claimed* each) { return each->is_about_shapes(); });
    const Case& c = table.inside()[seed];
    const ClaimsFor with_words = [&](const Mask& inside, const Mask& outside) {
      Chosen all = claims;
      for (const Parameter& input : c.definition().inputs)
        for (const bool is_type : {true, false})
          if (const std::string text = told_by_words(input.name, is_type, c, table, inside, outside); !text.empty())
            all.push_back(&table.claimed(text));
      return all;
    };
    constexpr std::size_t most_per_piece = 3;
    constexpr double word_costs = 3;  // one of eight or so
    Chosen chosen = grown(with_words, table, most_per_piece, word_costs);
    prune(chosen, table.outside().size());
    return chosen;
  };
  return pieces_of(table, std::move(left), grow, [&](const Chosen& chosen, std::size_t held) {
    std::size_t words = 0;
    for (const Claimed* each : chosen) words += each->words();
    return table.outside().empty() ||
           beats_chance(held, table.inside().size(), table.outside().size(), words, claims.size());
  });
}

}  // namespace

Pieces pieces(const std::vector<Case>& inside, const std::vector<Case>& outside, std::size_t least,
              std::size_t most_per_piece) {
  ClaimTable table(inside, outside);
  const auto grow = [&](std::size_t seed) {
    const Chosen claims = claims_for(seed, table);
    return grown([&](const Mask&, const Mask&) { return claims; }, table, most_per_piece, 0);
  };
  return pieces_of(table, all_of(inside), grow, [&](const auto&, std::size_t held) { return held >= least; });
}

Pieces told_apart(const std::vector<Case>& inside, const std::vector<Case>& outside) {
  ClaimTable table(inside, outside);
  Pieces all = told_apart(table, all_of(inside), false);
  Mask left(inside.size());
  for (const std::size_t i : all.left_over) left[i] = true;
  Pieces by_shapes = told_apart(table, std::move(left), true);
  std::ranges::move(by_shapes.all, std::back_inserter(all.all));
  all.left_over = std::move(by_shapes.left_over);
  return all;
}

Cover cover(const std::vector<Case>& inside, const std::vector<Case>& outside) {
  expects(!inside.empty(), "a cover of no case");
  const std::vector<Claimed> all = candidates(inside, outside);
  const Chosen chosen = chosen_from(all, outside.size());
  const std::string text = conjunction(chosen);
  return {text.empty() ? Predicate() : parsed(text), admitted(chosen, outside.size())};
}

}  // namespace assay::suites
