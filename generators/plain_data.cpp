// SPDX-License-Identifier: Apache-2.0
#include "generators/plain_data.h"

#include "generators/family.h"
#include "reference/operator.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace assay::generators {
namespace {

using Recipes = std::vector<Recipe>;
using Values = std::vector<double>;

// So many values are written out; and so many are made rounder one by one.
constexpr Int most_written = 64;
constexpr std::size_t most_rounded = 16;

Values values_of(const Tensor& tensor) {
  Values values;
  const auto widen = [&]<class T>() {
    for (const T value : tensor.as<T>()) values.push_back(static_cast<double>(value));
  };
  if (tensor.dtype() != DType::string) for_value(tensor.dtype(), widen);
  return values;
}

const TensorType& type_of(const Case& c, const std::string& input) { return c.node.inputs.at(input).type; }
Values values_of(const Case& c, const std::string& input, int set = 0) {
  return values_of(fill(c.sources.at(input).recipe, type_of(c, input), set));
}

bool is_eight_bit(DType type) { return type == DType::u8 || type == DType::i8; }
// Negated in odd sets, what is written out would saturate: 8-bit data hold in every set.
std::string written_family(const Recipe& now, DType type) {
  return now.family == "hold" || is_eight_bit(type) ? "hold" : "lit";
}

std::string number(double value) {
  std::array<char, 40> buffer;
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == std::rint(value) && std::abs(value) < 1e6 && !(value == 0 && std::signbit(value)))
    return std::to_string(static_cast<Int>(value));
  const double size = std::abs(value);
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), size, std::chars_format::hex).ptr;
  return (std::signbit(value) ? "-0x" : "0x") + std::string(buffer.data(), end);
}

Recipe written(const std::string& family, const Values& values) {
  Recipe recipe{family, ""};
  for (const double value : values) recipe.argument += (recipe.argument.empty() ? "" : ",") + number(value);
  return recipe;
}

Role role_of(const Case& c, const std::string& input) { return family_of(c.definition()).role(c, input); }

// The plainest first. Weights may all be 1; displacements and biases may be 0.
Recipes plain_recipes(Role role, DType type) {
  Recipes list;
  if (role == Role::other) list.push_back({"const", "0"});
  if (role != Role::data) list.push_back({"const", "1"});
  list.push_back({"iota", "1"});
  if (type == DType::i8) list.push_back({"small", "1"});
  if (type == DType::u8) list.push_back({"around8", "1"});
  if (is_eight_bit(type)) {
    list.push_back({"byte", "1"});
    list.push_back({"edge", "1"});
  } else {
    list.push_back({"small", "1"});
  }
  return list;
}

// Scales and zero points hold a value each.
Recipes plain_parameters(DType type) {
  return is_float(type) ? Recipes{{"hold", "1"}} : Recipes{{"hold", "0"}, {"hold", "1"}};
}

double one_bit(double value) {
  int exponent;
  const double significand = std::frexp(value, &exponent);
  return std::ldexp(significand < 0 ? -0.5 : 0.5, exponent);
}

// Rounder numbers for one value, the plainest first; a number that is as round already has none.
Values rounder(double value, bool may_be_zero) {
  Values list;
  const auto offer = [&](double other) {
    if (other != value && std::ranges::find(list, other) == list.end()) list.push_back(other);
  };
  if (value == 0 || (value == 1 && !may_be_zero)) return list;
  if (may_be_zero) offer(0);
  if (value == 1) return list;
  offer(1);
  if (!std::isfinite(value) || value == 2) return list;
  if (std::abs(value) > 2) offer(2);
  if (value != std::rint(value)) offer(std::rint(value));
  if (value < 0) offer(-value);
  offer(one_bit(value));
  return list;
}

// Runs of values, the longest first, replaced by 1.
void flatten_runs(Recipes& list, const std::string& family, const Values& values) {
  for (std::size_t run = values.size() / 2; run > 1; run /= 2)
    for (std::size_t from = 0; from < values.size(); from += run) {
      Values changed = values;
      std::fill(changed.begin() + static_cast<std::ptrdiff_t>(from),
                changed.begin() + static_cast<std::ptrdiff_t>(std::min(from + run, values.size())), 1.0);
      if (changed != values) list.push_back(written(family, changed));
    }
}

// What is written out with fewer or rounder values.
Recipes rounder_recipes(const Recipe& now, const Values& values, bool may_be_zero) {
  Recipes list;
  const Recipe exact = written(now.family, values);
  if (exact.argument.size() < now.argument.size()) list.push_back(exact);
  // A list that begins with zeros is turned: cut short it would hold nothing else.
  if (const auto first = std::ranges::find_if(values, [](double value) { return value != 0; });
      first != values.begin() && first != values.end()) {
    Values turned = values;
    std::ranges::rotate(turned, turned.begin() + (first - values.begin()));
    list.push_back(written(now.family, turned));
  }
  flatten_runs(list, now.family, values);
  for (std::size_t i = 0; i < values.size() && values.size() <= most_rounded; ++i)
    for (const double other : rounder(values[i], may_be_zero)) {
      if (other == 0 && !may_be_zero) continue;
      Values changed = values;
      changed[i] = other;
      list.push_back(written(now.family, changed));
    }
  return list;
}

bool is_written(const Recipe& recipe) { return recipe.family == "lit" || recipe.family == "hold"; }

// Strings that are written out, then with one after the other made a plain word.
Recipes plainer_strings(const Recipe& now, const Tensor& tensor) {
  const std::span<const std::string> elements = tensor.as<std::string>();
  const std::vector<std::string> strings(elements.begin(), elements.end());
  if (now.family != "text") return {stated(strings)};
  Recipes list;
  for (std::size_t i = 0; i < strings.size() && strings.size() <= most_rounded; ++i) {
    if (strings[i] == "a") continue;
    std::vector<std::string> changed = strings;
    changed[i] = "a";
    list.push_back(stated(changed));
  }
  return list;
}

Recipes plainer_recipes(const Case& c, const std::string& input) {
  const Recipe& now = c.sources.at(input).recipe;
  const TensorType& type = type_of(c, input);
  const Role role = role_of(c, input);
  const bool is_parameter = now.family == "hold" && role == Role::other;
  if (!c.definition().input(input)->reads_as.empty()) return {};  // its values stand in the line
  Recipes list = is_parameter ? plain_parameters(type.dtype) : plain_recipes(role, type.dtype);
  if (const auto known = std::ranges::find(list, now); known != list.end()) {
    list.erase(known, list.end());
    return list;
  }
  if (volume(type.shape) > most_written || volume(type.shape) == 0) return list;
  if (type.dtype == DType::string) {
    std::ranges::move(plainer_strings(now, fill(now, type)), std::back_inserter(list));
    return list;
  }
  const Values values = values_of(c, input);
  if (is_written(now)) {
    const bool may_be_zero = role == Role::other && !(is_parameter && is_float(type.dtype));
    std::ranges::move(rounder_recipes(now, values, may_be_zero), std::back_inserter(list));
    return list;
  }
  const std::string family = written_family(now, type.dtype);
  list.push_back(written(family, values));
  Values other_set = values_of(c, input, 1);
  if (family == "lit")
    for (double& value : other_set) value = -value;
  list.push_back(written(family, other_set));
  return list;
}

bool is_constant(const Values& values) {
  return std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}
bool is_zero(const Values& values) {
  return std::ranges::all_of(values, [](double value) { return value == 0; });
}

bool input_says_as_much(const Case& before, const Case& after, const std::string& input) {
  const auto source = after.sources.find(input);
  if (source == after.sources.end() || !before.sources.contains(input)) return true;
  if (source->second == before.sources.at(input) && type_of(after, input) == type_of(before, input)) return true;
  const Values now = values_of(after, input);
  if (now.empty()) return true;
  const Values was = values_of(before, input);
  if (is_zero(now) && !is_zero(was)) return false;
  const bool may_be_constant = role_of(after, input) == Role::weights || now.size() < 2;
  return may_be_constant || !is_constant(now) || is_constant(was);
}

}  // namespace

std::vector<Case> plainer_data(const Case& c, int part) {
  std::vector<Case> out;
  const std::string& input = c.definition().inputs[static_cast<std::size_t>(part)].name;
  if (!c.sources.contains(input) || !c.definition().inputs[static_cast<std::size_t>(part)].reads_as.empty()) return out;
  // One value for all maps, where that is legal.
  if (c.sources.at(input).recipe.family == "hold" && type_of(c, input).shape.size() == 1 &&
      role_of(c, input) == Role::other) {
    out.push_back(c);
    out.back().node.inputs.at(input).type.shape = {};
    out.back().sources.at(input).recipe = written("hold", {values_of(c, input).empty() ? 1 : values_of(c, input)[0]});
  }
  for (Recipe& recipe : plainer_recipes(c, input)) {
    out.push_back(c);
    out.back().sources.at(input).recipe = std::move(recipe);
  }
  return out;
}

bool says_as_much(const Case& before, const Case& after) {
  return std::ranges::all_of(after.definition().inputs, [&](const Parameter& input) {
    return role_of(after, input.name) == Role::other || input_says_as_much(before, after, input.name);
  });
}

}  // namespace assay::generators
