// SPDX-License-Identifier: Apache-2.0
#include "suites/text/markup.h"

#include <algorithm>

namespace assay::suites {
namespace {

std::size_t longest_run(std::string_view text, char letter) {
  std::size_t longest = 0, run = 0;
  for (char each : text) longest = std::max(longest, run = each == letter ? run + 1 : 0);
  return longest;
}

}  // namespace

std::string html_text(std::string_view words) {
  std::string text;
  for (char letter : words) switch (letter) {
      case '&': text += "&amp;"; break;
      case '<': text += "&lt;"; break;
      case '>': text += "&gt;"; break;
      case '"': text += "&quot;"; break;
      case '\'': text += "&#39;"; break;
      default: text += letter;
    }
  return text;
}

// In a table GitHub splits cells before it reads code, so a pipe is escaped there; outside of one it never is. A code
// element means the same in both.
std::string code_span(std::string_view words) {
  if (words.empty()) return "";
  if (words.find('|') == words.npos) {
    const std::string fence(longest_run(words, '`') + 1, '`');
    const bool padded = words.front() == '`' || words.back() == '`' || words.front() == ' ' || words.back() == ' ';
    const std::string space = padded ? " " : "";
    return fence + space + std::string(words) + space + fence;
  }
  std::string text;  // an element, with everything that Markdown would read as a reference to a character
  for (unsigned char letter : words)
    text += letter < 0x80 && std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ,.=/")
                                     .find(static_cast<char>(letter)) == std::string_view::npos
                ? "&#" + std::to_string(letter) + ";"
                : std::string(1, static_cast<char>(letter));
  return "<code>" + text + "</code>";
}

std::string code_block(std::string_view lines, std::string_view language) {
  const std::string fence(std::max<std::size_t>(3, longest_run(lines, '`') + 1), '`');
  return fence + std::string(language) + "\n" + std::string(lines) + "\n" + fence + "\n";
}

}  // namespace assay::suites
