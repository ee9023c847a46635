// SPDX-License-Identifier: Apache-2.0
#include "suites/text/printable.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

namespace assay::suites {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  // 0: the bytes are not UTF-8
};

// Well-formed UTF-8 as in table 3-7 of the Unicode standard: no overlong forms, no surrogates.
CodePoint decode(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || bytes.size() < length) return {};
  char32_t value = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = 0xD800 <= value && value <= 0xDFFF;
  if (value < smallest[length] || value > 0x10FFFF || is_surrogate) return {};
  return {value, length};
}

bool is_space(char32_t c) { return c == ' ' || ('\t' <= c && c <= '\r'); }

// Controls, line separators, marks of direction, characters of no width and those no text may hold.
bool is_hidden(char32_t c) {
  return c < 0x20 || (0x7F <= c && c < 0xA0) || c == 0xAD || c == 0x61C || (0x200B <= c && c <= 0x200F) ||
         (0x2028 <= c && c <= 0x202E) || (0x2060 <= c && c <= 0x206F) || c == 0xFEFF || (0xFFF0 <= c && c <= 0xFFFB) ||
         (c & 0xFFFE) == 0xFFFE || 0xE0000 <= c;
}

std::string hexadecimal(std::uint32_t value, std::size_t width) {
  char digits[8];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
  std::string text(digits, end);
  return std::string(width - std::min(width, text.size()), '0') + text;
}

}  // namespace

std::string printable(std::string_view words, std::size_t limit) {
  constexpr std::string_view ellipsis = "...";
  std::string line;
  std::size_t kept = 0;  // how much of the line stays when it is cut
  bool space = false;
  while (!words.empty()) {
    const CodePoint c = decode(words);
    const std::size_t taken = std::max<std::size_t>(c.bytes, 1);
    if (c.bytes > 0 && is_space(c.value)) {
      space = !line.empty();
      words.remove_prefix(taken);
      continue;
    }
    std::string next = std::exchange(space, false) ? " " : "";
    if (c.bytes == 0)
      next += "\\x" + hexadecimal(static_cast<std::uint8_t>(words[0]), 2);
    else if (is_hidden(c.value))
      next += "\\u{" + hexadecimal(c.value, 4) + "}";
    else
      next += words.substr(0, taken);
    if (line.size() + next.size() > limit) {
      line.resize(kept);
      return line.append(ellipsis.substr(0, limit - std::min(kept, limit)));
    }
    line += next;
    if (line.size() + ellipsis.size() <= limit) kept = line.size();
    words.remove_prefix(taken);
  }
  return line;
}

}  // namespace assay::suites
