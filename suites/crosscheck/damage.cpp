// SPDX-License-Identifier: Apache-2.0
#include "suites/crosscheck/damage.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <sstream>

namespace assay::crosscheck {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array numbers = {"-1",
                                "0",
                                "1",
                                "2",
                                "255",
                                "1000",
                                "65536",
                                "2147483648",
                                "4294967296",
                                "9223372036854775807",
                                "-9223372036854775808",
                                "18446744073709551615",
                                "99999999999999999999",
                                "1e308",
                                "-1e999",
                                "0.5",
                                "0x1p-1074",
                                "nan"};

std::size_t below(Generator& chance, std::size_t count) { return static_cast<std::size_t>(chance.below(count)); }

template <class List>
const auto& one_of(const List& list, Generator& chance) {
  return list[below(chance, std::size(list))];
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// One run of digits becomes another number.
void change_number(std::string& text, Generator& chance) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (is_digit(text[i]) && (i == 0 || !is_digit(text[i - 1]))) begins.push_back(i);
  if (begins.empty()) return;
  const std::size_t begin = one_of(begins, chance);
  std::size_t end = begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  text.replace(begin, end - begin, one_of(numbers, chance));
}

void edit(std::string& bytes, Generator& chance) {
  if (bytes.empty()) bytes = "x";
  const std::size_t at = below(chance, bytes.size());
  switch (chance.below(8)) {
    case 0: bytes[at] = static_cast<char>(chance.below(256)); break;
    case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << chance.below(8))); break;
    case 2: bytes.erase(at, 1 + below(chance, 16)); break;
    case 3: {
      const std::size_t length = 1 + below(chance, 64);
      bytes.insert(at, bytes.substr(below(chance, bytes.size()), length));
      break;
    }
    case 4: {
      const auto letter = static_cast<char>(chance.below(256));
      bytes.insert(at, std::string(1 + below(chance, 9), letter));
      break;
    }
    case 5: bytes.resize(at); break;
    default: change_number(bytes, chance);
  }
}

// -- JSON

void collect(Json& value, std::vector<Json*>& places) {
  places.push_back(&value);
  if (value.is_structured())
    for (Json& inner : value) collect(inner, places);
}

std::vector<Json*> places_in(Json& document) {
  std::vector<Json*> places;
  collect(document, places);
  return places;
}

Json other_value(const std::vector<std::string>& donors, Generator& chance) {
  switch (chance.below(12)) {
    case 0: return nullptr;
    case 1: return chance.below(2) == 0;
    case 2: return -1;
    case 3: return std::int64_t{9223372036854775807};
    case 4: return std::uint64_t{18446744073709551615U};
    case 5: return 1e308;
    case 6: return "";
    case 7:
      return one_of(std::array{"x", "pass", "fail", "Conv-11", "A3", "L9", "f32", "\xe2\x80\xae\n\x1b[2J", "1e5"},
                    chance);
    case 8: return std::string(20'000, 'y');
    case 9: return Json::array();
    case 10: return Json::object();
    default: break;
  }
  Json donor = Json::parse(one_of(donors, chance), nullptr, false);
  const std::vector<Json*> places = places_in(donor);
  return *one_of(places, chance);
}

// A member or an element is left out, doubled or renamed.
void rearrange(Json& holder, Generator& chance) {
  if (!holder.is_structured() || holder.empty()) return;
  const auto at = std::next(holder.begin(), static_cast<std::ptrdiff_t>(below(chance, holder.size())));
  const std::uint64_t way = chance.below(3);
  if (way == 0) {
    holder.erase(at);
  } else if (holder.is_array()) {
    Json again = *at;
    holder.push_back(std::move(again));
  } else {
    Json moved = *at;
    if (way == 1) holder.erase(at);
    holder["other"] = std::move(moved);
  }
}

void change(Json& document, const std::vector<std::string>& donors, Generator& chance) {
  const std::vector<Json*> places = places_in(document);
  std::vector<Json*> holders;
  std::ranges::copy_if(places, std::back_inserter(holders), [](const Json* each) { return each->is_structured(); });
  if (chance.below(2) == 0)
    *one_of(places, chance) = other_value(donors, chance);
  else if (!holders.empty())
    rearrange(*one_of(holders, chance), chance);
}

std::string nested(std::string text, Generator& chance) {
  const std::size_t depth = one_of(std::array<std::size_t, 4>{20, 70, 2'000, 300'000}, chance);
  const std::size_t at = text.find_first_of("{[", below(chance, text.size() + 1));
  const std::string inside = "[" + std::string(depth, '[') + std::string(depth, ']') + "]";
  if (at == text.npos) return inside;
  return text.insert(at + 1, text[at] == '{' ? "\"deep\":" + inside + "," : inside + ",");
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; std::getline(in, word, ' ');) words.push_back(word);
  return words;
}

}  // namespace

std::string damaged_bytes(std::string bytes, Generator& chance) {
  if (chance.below(50) == 0) return "";
  for (std::uint64_t edits = 1 + chance.below(4); edits-- > 0;) edit(bytes, chance);
  return bytes;
}

std::string damaged_json(const std::string& document, const std::vector<std::string>& donors, Generator& chance) {
  const std::uint64_t way = chance.below(16);
  if (way == 0) return one_of(donors, chance);
  if (way == 1) return nested(document, chance);
  if (way < 5) return damaged_bytes(document, chance);
  Json changed = Json::parse(document);
  for (std::uint64_t changes = 1 + chance.below(3); changes-- > 0;) change(changed, donors, chance);
  std::string text = changed.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (chance.below(4) == 0) change_number(text, chance);
  return text;
}

std::string damaged_words(const std::string& line, const std::vector<std::string>& donors, Generator& chance) {
  if (chance.below(4) == 0) return damaged_bytes(line, chance);
  std::vector<std::string> words = words_of(line);
  for (std::uint64_t changes = 1 + chance.below(3); changes-- > 0 && !words.empty();) {
    std::string& word = words[below(chance, words.size())];
    const std::vector<std::string> others = words_of(one_of(donors, chance));
    switch (chance.below(6)) {
      case 0: words.erase(words.begin() + (&word - words.data())); break;
      case 1: words.push_back(word); break;
      case 2: std::swap(word, words[below(chance, words.size())]); break;
      case 3:
        if (!others.empty()) word = one_of(others, chance);
        break;
      case 4:
        if (!others.empty()) words.push_back(one_of(others, chance));
        break;
      default: change_number(word, chance);
    }
  }
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace assay::crosscheck
