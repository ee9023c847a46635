// SPDX-License-Identifier: Apache-2.0
// Words of case lines and recipes: numbers, lists, and text without blanks or commas. Nothing else is read as one.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// Reads an integer.
template <class T>
std::optional<T> whole(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Reads a decimal number, nan or inf, or a hexadecimal one behind 0x.
template <class T>
std::optional<T> real(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const bool is_hexadecimal = text.starts_with("0x");
  if (is_hexadecimal) text.remove_prefix(2);
  if (text.starts_with('-')) return std::nullopt;
  T value = 0;
  const auto format = is_hexadecimal ? std::chars_format::hex : std::chars_format::general;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return is_negative ? -value : value;
}

// Returns what stands between commas: one empty part where there is nothing at all.
inline std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= list.size(); at += parts.back().size() + 1)
    parts.push_back(list.substr(at, std::min(list.find(',', at), list.size()) - at));
  return parts;
}

// Reads every part of a list; none where one cannot be read.
template <class T, class F>
std::optional<std::vector<T>> list_of(std::string_view list, F read) {
  std::vector<T> values;
  for (const std::string_view part : parts_of(list)) {
    std::optional<T> value = read(part);
    if (!value) return std::nullopt;
    values.push_back(*std::move(value));
  }
  return values;
}

inline bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

// Writes everything but letters, digits and _ as %XX: é is %C3%A9.
inline std::string escaped(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain(c))
      out += c;
    else
      out += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return out;
}

// Reads what is written so.
inline std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_code = text[i] == '%' && i + 2 < text.size();
    const auto byte = is_code ? whole<std::uint8_t>(text.substr(i + 1, 2), 16) : std::nullopt;
    if (!byte && !is_plain(text[i])) return std::nullopt;
    out += byte ? static_cast<char>(*byte) : text[i];
    i += byte ? 2 : 0;
  }
  return out;
}

}  // namespace assay
