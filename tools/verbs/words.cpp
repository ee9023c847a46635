// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/words.h"

#include "reference/nearest.h"
#include "reference/sequence.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace assay::tools {
namespace {

// "Conv", "com.microsoft:NhwcConv": an operator as a person names it.
std::string name_of(const Operator& op) { return op.domain().empty() ? op.name() : op.domain() + ":" + op.name(); }

// The domain may be left out where one operator alone has the name: "NhwcConv", "NhwcConv-1".
std::string with_domain(const std::string& word) {
  const std::string bare = word.substr(0, word.rfind('-'));
  for (const Operator* op : operators())
    if (!op->domain().empty() && (op->name() == word || op->name() == bare) && !find_operator("", op->name()))
      return op->domain() + ":" + word;
  return word;
}

std::vector<std::string> operator_names() {
  return transformed<std::string>(operators(), [](const Operator* op) { return name_of(*op); });
}

[[noreturn]] void unknown_version(const std::string& word) {
  const std::string force = in_force(word);
  throw InputError("unknown operator version '" + word + "'" +
                   (force.empty() ? suggestion(word, operator_and_version_names()) : force));
}

// "f32" of float32, Float, FP32; another word as it is.
std::string short_type(std::string word) {
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [name, type] : {std::pair("half", "f16"), {"float", "f32"}, {"single", "f32"}, {"double", "f64"}})
    if (word == name) return type;
  for (const auto& [name, letters] :
       {std::pair("bfloat", "bf"), {"float", "f"}, {"fp", "f"}, {"uint", "u"}, {"int", "i"}})
    if (word.starts_with(name)) return letters + word.substr(std::string_view(name).size());
  return word;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& choices) {
  if (const std::string found = nearest(word, choices); !found.empty()) return "; did you mean " + found + "?";
  const std::string all = joined(choices, ", ");
  return "; there are " + all;
}

std::vector<std::string> level_names() { return {"L0", "L1", "L2", "L2t", "L3"}; }

std::vector<std::string> version_names() {
  std::vector<std::string> names;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions()) names.push_back(text(definition.version));
  return names;
}

std::vector<std::string> operator_and_version_names() {
  std::vector<std::string> names = operator_names();
  std::ranges::copy(version_names(), std::back_inserter(names));
  return names;
}

std::vector<std::string> type_names() {
  std::set<std::string> names;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      for (const TypeVariable& variable : definition.types)
        for (DType type : variable.types) names.insert(std::string(name(type)));
  return {names.begin(), names.end()};
}

oracles::Level level_of(const std::string& word) {
  if (!contains(level_names(), word))
    throw InputError("unknown level '" + word + "'" + suggestion(word, level_names()));
  return *oracles::level_named(word);
}

std::string optimization_of(const std::string& word) {
  const std::vector<std::string> names{"all", "extended", "basic", "none"};
  if (!contains(names, word)) throw InputError("unknown optimization '" + word + "'" + suggestion(word, names));
  return word;
}

std::chrono::seconds duration_of(const std::string& word) {
  Int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const std::string_view unit(end, word.data() + word.size());
  const Int seconds = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (error != std::errc() || seconds == 0 || number < 1 || number > 1'000'000)
    throw InputError("'" + word + "' is no duration; write 90s, 10m or 8h");
  return std::chrono::seconds(number * seconds);
}

std::optional<double> seconds_of(const std::string& word) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(word.data() + word.size() - end));
  const double seconds = unit.empty() || unit == "s" ? 1
                         : unit == "ms"              ? 0.001
                         : unit == "m"               ? 60
                         : unit == "h"               ? 3600
                                                     : 0;
  const double product = number * seconds;
  return product >= 0.001 && product <= 86400 ? std::optional(product) : std::nullopt;
}

int threads_of(const std::string& word) {
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number < 1 || number > 4096)
    throw InputError("threads=" + word + ": write a number from 1 to 4096");
  return number;
}

const Profile& profile_of(const std::string& word) {
  if (const Profile* found = find_profile(word)) return *found;
  const auto names = transformed<std::string>(profiles(), [](const Profile& each) { return std::string(each.name); });
  throw InputError("unknown profile '" + word + "'" + suggestion(word, names));
}

// A version number between two versions: "Conv-12" is Conv-11 at opset 12, which is not what a version is called.
std::string in_force(const std::string& word) {
  const auto dash = word.rfind('-');
  if (dash == std::string::npos || dash + 1 == word.size() || word.size() - dash > 4 ||
      word.find_first_not_of("0123456789", dash + 1) != std::string::npos)
    return "";
  const int opset = std::stoi(word.substr(dash + 1));
  for (const Operator* op : operators())
    if (const Definition* found = op->at(opset); name_of(*op) == word.substr(0, dash) && found && opset <= newest_opset)
      return "; at opset " + std::to_string(opset) + " " + text(found->version) + " is in force";
  return "";
}

const Definition* definition_named(const std::string& given) {
  const std::string word = with_domain(given);
  for (const Operator* op : operators()) {
    if (name_of(*op) == word) return &op->versions().back();
    for (const Definition& definition : op->versions())
      if (text(definition.version) == word) return &definition;
  }
  return nullptr;
}

const Definition& definition_of(const std::string& given) {
  if (const Definition* found = definition_named(given)) return *found;
  unknown_version(with_domain(given));
}

suites::Selection selection_of(const std::vector<std::string>& operators, const std::vector<std::string>& types) {
  suites::Selection selection;
  for (const std::string& given : operators) {
    const std::string word = with_domain(given);
    if (!contains(operator_names(), word) && !contains(version_names(), word)) unknown_version(word);
    selection.operators.insert(word);
  }
  for (const std::string& word : types) {
    const std::string named = short_type(word);
    const std::optional<DType> type = dtype_named(named);
    if (!type || !contains(type_names(), named))
      throw InputError("unknown type '" + word + "'" + suggestion(word, type_names()));
    selection.types.insert(*type);
  }
  return selection;
}

}  // namespace assay::tools
