// SPDX-License-Identifier: Apache-2.0
#include "suites/planning/coverage.h"

#include "generators/features.h"
#include "generators/generators.h"
#include "reference/operator.h"

#include <algorithm>
#include <stdexcept>

namespace assay::suites {
namespace {

using generators::CoverageValue;
using generators::Dimension;

constexpr std::string_view class_name = "class";

bool overflows(const Definition& definition) {
  return std::ranges::any_of(definition.rulings,
                             [](const RulingUse& use) { return find_ruling(use.id)->is(Ruling::overflow); });
}

bool has_float(const Definition& definition) {
  return std::ranges::any_of(definition.types_of(definition.data().type), is_float);
}

// The rulings with several readings that legal cases of ordinary data may differ in.
std::vector<std::string_view> contested(const Definition& definition) {
  std::vector<std::string_view> ids;
  const auto lifts = [&](const std::string& id) {
    return std::ranges::find(definition.constraints, id, &Constraint::ruling) != definition.constraints.end();
  };
  for (const RulingUse& use : definition.rulings) {
    const Ruling& ruling = *find_ruling(use.id);
    const bool is_special = ruling.is(Ruling::nonfinite) || ruling.is(Ruling::overflow);
    if (use.readings.size() > 1 && !ruling.is(Ruling::set) && !is_special && !lifts(use.id)) ids.push_back(use.id);
  }
  return ids;
}

Dimension classes_of(const Definition& definition) {
  Dimension classes{std::string(class_name), {"valid-core", "valid-contested", "valid-degenerate"}};
  if (contested(definition).empty()) std::erase(classes.values, "valid-contested");
  if (has_float(definition)) classes.values.emplace_back("nonfinite");
  if (overflows(definition)) classes.values.emplace_back("overflow-int");
  return classes;
}

// Where neither the data nor the layout are read in several ways (A20, A16, A24), only windows and constraints are.
bool contests_only_windows(const Definition& definition) {
  constexpr std::string_view about_windows[] = {"A1", "A3", "A4", "A6", "A7", "A8", "A10", "A13"};
  return std::ranges::all_of(definition.rulings, [&](const RulingUse& use) {
    return use.readings.size() < 2 || find_ruling(use.id)->is(Ruling::set) ||
           find_ruling(use.id)->is(Ruling::nonfinite) ||
           std::ranges::find(about_windows, use.id) != std::end(about_windows);
  });
}

// Without ceil_mode and floor formulas (A10), windows are read in several ways where SAME_* meets a stride: pads are
// not stated then (W2), and the padding is less than the kernel.
bool is_contested_window(const CoverageValue& b) {
  if (b.dimension == "auto_pad") return b.value.starts_with("SAME_");
  if (b.dimension == "pads") return b.value == "left out";
  if (b.dimension == "strides") return b.value != "left out" && b.value != "all 1";
  return b.dimension != "padding" || b.value != "as large as the kernel";
}

// `a` is a class.
bool is_class_possible(const Definition& definition, const std::string& a, const CoverageValue& b) {
  if (generators::family_of(definition).is_degenerate(b)) return a == "valid-degenerate" || a == "nonfinite";
  const std::string& type = definition.data().type;
  const bool has_other_floats = std::ranges::any_of(definition.inputs, [&](const Parameter& each) {
    return each.type != type && std::ranges::any_of(definition.types_of(each.type), is_float);
  });
  if (a == "nonfinite" && !has_other_floats && b.dimension.starts_with("type ") && b.dimension == "type " + type)
    return is_float(*dtype_named(b.value)) && width_of(*dtype_named(b.value)) >= 8;  // smaller ones have no NaN
  if (a == "valid-contested" && b.value == "within the kernel" && contests_only_windows(definition) &&
      !definition.ruling("A1") && definition.attribute("ceil_mode") == nullptr)
    return false;  // A3 is left, which is about strides beyond the kernel
  const bool is_plain = contests_only_windows(definition) && definition.attribute("ceil_mode") == nullptr;
  return a != "valid-contested" || !is_plain || is_contested_window(b);
}

bool go_together(const Definition& definition, const CoverageValue& a, const CoverageValue& b) {
  if (b.dimension == class_name && !is_class_possible(definition, b.value, a)) return false;
  return generators::is_possible(definition, a, b);
}

// The features of one version, numbered through.
struct Space {
  std::vector<Dimension> dimensions;
  std::vector<int> first;             // number of the first value of each dimension
  std::vector<CoverageValue> values;  // by number
  std::vector<bool> possible;         // pairs a < b
  std::vector<std::string> constraints, rulings;
  Int pairs = 0;

  std::size_t at(int a, int b) const {
    return static_cast<std::size_t>(a) * values.size() + static_cast<std::size_t>(b);
  }
};

Space made(const Definition& definition) {
  Space space;
  space.dimensions = generators::dimensions(definition);
  space.dimensions.push_back(classes_of(definition));
  std::vector<std::size_t> of;  // the dimension of each value
  for (std::size_t d = 0; d < space.dimensions.size(); ++d) {
    space.first.push_back(static_cast<int>(space.values.size()));
    for (const std::string& value : space.dimensions[d].values) {
      space.values.push_back({space.dimensions[d].name, value});
      of.push_back(d);
    }
  }
  const std::size_t count = space.values.size();
  space.possible.assign(count * count, false);
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = a + 1; b < count; ++b) {
      if (of[a] == of[b] || !go_together(definition, space.values[a], space.values[b])) continue;
      space.possible[a * count + b] = true;
      ++space.pairs;
    }
  for (const RulingUse& use : definition.rulings)
    if (use.readings.size() > 1) space.rulings.push_back(use.id);
  return space;
}

const Space& space_of(const OpVersion& version) {
  static const std::map<OpVersion, Space> spaces = [] {
    std::map<OpVersion, Space> all;
    for (const Operator* op : operators())
      for (const Definition& definition : op->versions()) all.emplace(definition.version, made(definition));
    return all;
  }();
  return spaces.at(version);
}

std::string written(const CoverageValue& feature) { return feature.dimension + ": " + feature.value; }

// A pair no case has, though each of its values occurred that often at least.
struct Unseen {
  Int often;
  std::string text;
};

void split(const std::vector<std::string>& all, const std::set<std::string>& met, std::vector<std::string>& in,
           std::vector<std::string>& out) {
  for (const std::string& id : all) (met.contains(id) ? in : out).push_back(id);
}

// Calls f(number of the pair, a * values + b) for each possible pair.
template <class F>
void for_each_pair(const Space& space, F&& f) {
  std::size_t number = 0;
  for (std::size_t at = 0; at < space.possible.size(); ++at)
    if (space.possible[at]) f(number++, at);
}

std::string bits_of(const Space& space, const std::vector<bool>& pairs) {
  std::vector<unsigned> digits((static_cast<std::size_t>(space.pairs) + 3) / 4, 0);
  for_each_pair(space,
                [&](std::size_t number, std::size_t at) { digits[number / 4] |= (pairs[at] ? 8U : 0U) >> number % 4; });
  std::string hexadecimal;
  for (const unsigned digit : digits) hexadecimal += "0123456789abcdef"[digit];
  return hexadecimal;
}

// The dimension of each value, by number.
std::vector<std::size_t> dimension_of_values(const Space& space) {
  std::vector<std::size_t> of;
  for (std::size_t d = 0; d < space.dimensions.size(); ++d) of.resize(of.size() + space.dimensions[d].values.size(), d);
  return of;
}

std::vector<CoveredPairs> by_dimension(const Space& space, const std::vector<bool>& pairs) {
  const std::size_t count = space.dimensions.size();
  const std::vector<std::size_t> of = dimension_of_values(space);
  std::vector<CoveredPairs> square(count * count);
  for_each_pair(space, [&](std::size_t, std::size_t at) {
    CoveredPairs& cell = square[of[at / of.size()] * count + of[at % of.size()]];
    ++cell.possible;
    cell.seen += pairs[at] ? 1 : 0;
  });
  std::vector<CoveredPairs> upper;
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = a + 1; b < count; ++b) upper.push_back(square[a * count + b]);
  return upper;
}

}  // namespace

CoverageValues aspects_of(const Case& legal) {
  std::vector<std::string> touched = oracles::touched(legal);
  const std::string_view case_class = oracles::class_of(legal, touched);
  return aspects_of(legal, {{}, std::move(touched), case_class});
}

CoverageValues aspects_of(const Case& legal, const oracles::Classification& nature) {
  const Space& space = space_of(legal.version);
  CoverageValues aspects{legal.version, {}, nature.touched};
  const std::vector<int> features = generators::features(legal);
  for (std::size_t d = 0; d < features.size(); ++d)
    if (features[d] >= 0) aspects.values.push_back(space.first[d] + features[d]);
  const std::vector<std::string>& classes = space.dimensions.back().values;
  const auto at = std::ranges::find(classes, nature.case_class);
  if (at != classes.end()) aspects.values.push_back(space.first.back() + static_cast<int>(at - classes.begin()));
  return aspects;
}

Coverage::Version& Coverage::version(const OpVersion& named) {
  const auto [at, fresh] = versions_.try_emplace(named);
  if (fresh) {
    const std::size_t count = space_of(named).values.size();
    at->second.values.assign(count, 0);
    at->second.pairs.assign(count * count, false);
  }
  return at->second;
}

void Coverage::add(const Case& c) { add(c, oracles::nature_of(c)); }

void Coverage::add(const Case& c, const oracles::Classification& nature) {
  const std::vector<std::string>& violated = nature.violated;
  if (violated.empty()) {
    add(aspects_of(c, nature));
    return;
  }
  Version& own = version(c.version);
  ++own.near_misses;
  if (violated.size() != 1) return;
  own.broken.insert(violated.front());
  // Another reading would lift the constraint: the case shows which is followed.
  if (const Constraint* constraint = c.definition().constraint(violated.front());
      constraint && !constraint->ruling.empty())
    own.touched.insert(constraint->ruling);
}

void Coverage::add(const CoverageValues& aspects) {
  const Space& space = space_of(aspects.version);
  Version& own = version(aspects.version);
  ++own.legal;
  for (const int a : aspects.values) {
    ++own.values[static_cast<std::size_t>(a)];
    for (const int b : aspects.values)
      if (a < b) own.pairs[space.at(a, b)] = true;
  }
  own.touched.insert(aspects.touched.begin(), aspects.touched.end());
}

void Coverage::follow(const OpVersion& named, const std::string& ruling, const std::string& reading) {
  Version& own = version(named);
  own.touched.insert(ruling);
  own.followed[ruling].insert(reading);
}

void Coverage::merge(const Coverage& other) {
  for (const auto& [named, theirs] : other.versions_) {
    Version& own = version(named);
    own.legal += theirs.legal;
    own.near_misses += theirs.near_misses;
    for (std::size_t i = 0; i < own.values.size(); ++i) own.values[i] += theirs.values[i];
    for (std::size_t i = 0; i < own.pairs.size(); ++i)
      if (theirs.pairs[i]) own.pairs[i] = true;
    own.broken.insert(theirs.broken.begin(), theirs.broken.end());
    own.touched.insert(theirs.touched.begin(), theirs.touched.end());
    for (const auto& [ruling, readings] : theirs.followed)
      own.followed[ruling].insert(readings.begin(), readings.end());
  }
}

std::size_t Coverage::gain(const CoverageValues& aspects) const {
  const Space& space = space_of(aspects.version);
  const auto own = versions_.find(aspects.version);
  std::size_t fresh = 0;
  for (const int a : aspects.values)
    for (const int b : aspects.values)
      if (a < b && (own == versions_.end() || !own->second.pairs[space.at(a, b)])) ++fresh;
  return fresh;
}

Int Coverage::pairs_seen() const {
  Int seen = 0;
  for (const auto& [named, own] : versions_) seen += std::ranges::count(own.pairs, true);
  return seen;
}

void Coverage::tell_pairs(CoverageRow& row, const Version& own, std::size_t most_unseen) {
  const Space& space = space_of(row.version);
  const std::size_t count = space.values.size();
  std::vector<Unseen> unseen;
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = a + 1; b < count; ++b) {
      if (!space.possible[a * count + b]) continue;
      const Int often = std::min(own.values[a], own.values[b]);
      if (own.pairs[a * count + b])
        ++row.seen;
      else if (often > 0)
        unseen.push_back({often, written(space.values[a]) + ", " + written(space.values[b])});
    }
  std::ranges::stable_sort(unseen, std::ranges::greater(), &Unseen::often);
  const std::size_t told = std::min(most_unseen, unseen.size());
  for (std::size_t i = 0; i < told; ++i) row.unseen_pairs.push_back(std::move(unseen[i].text));
  row.unseen_left_out = static_cast<Int>(unseen.size() - told);
}

Coverage Coverage::of(const CoverageTable& table) {
  Coverage coverage;
  for (const CoverageRow& row : table.rows) {
    if (!find_definition(row.version)) throw std::invalid_argument("operator version");
    const Space& space = space_of(row.version);
    Version& own = coverage.version(row.version);
    if (row.values.size() != own.values.size() || row.pairs.size() != (static_cast<std::size_t>(space.pairs) + 3) / 4)
      throw std::invalid_argument("coverage");
    own.legal = row.legal;
    own.near_misses = row.near_misses;
    own.values = row.values;
    for_each_pair(space, [&](std::size_t number, std::size_t at) {
      const std::size_t digit = std::string_view("0123456789abcdef").find(row.pairs[number / 4]);
      if (digit == std::string_view::npos) throw std::invalid_argument("coverage");
      own.pairs[at] = (digit & (8U >> number % 4)) != 0;
    });
    own.broken.insert(row.broken.begin(), row.broken.end());
    own.touched.insert(row.touched.begin(), row.touched.end());
    own.followed = row.followed;
  }
  return coverage;
}

CoverageTable Coverage::table(std::size_t most_unseen) const {
  CoverageTable table;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions()) {
      const auto own = versions_.find(definition.version);
      if (own == versions_.end()) continue;
      const Space& space = space_of(definition.version);
      CoverageRow row;
      row.version = definition.version;
      row.legal = own->second.legal;
      row.near_misses = own->second.near_misses;
      row.possible = space.pairs;
      for (std::size_t i = 0; i < space.values.size(); ++i)
        if (own->second.values[i] == 0) row.unseen_values.push_back(written(space.values[i]));
      tell_pairs(row, own->second, most_unseen);
      split(generators::breakable(definition), own->second.broken, row.broken, row.unbroken);
      split(space.rulings, own->second.touched, row.touched, row.untouched);
      row.followed = own->second.followed;
      for (const Dimension& each : space.dimensions) row.dimensions.push_back({each.name, each.values});
      row.by_dimension = by_dimension(space, own->second.pairs);
      row.values = own->second.values;
      row.pairs = bits_of(space, own->second.pairs);
      table.rows.push_back(std::move(row));
    }
  return table;
}

}  // namespace assay::suites
