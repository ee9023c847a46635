// SPDX-License-Identifier: Apache-2.0
// StringNormalizer (ai.onnx 10) - https://onnx.ai/onnx/operators/onnx__StringNormalizer.html
//
//   Y = the strings of X that are no stop words, their case changed; one empty string where none is left
//
// Beyond ASCII the letters of Latin-1, Greek and Cyrillic change that have one partner each (G16).
#include "reference/families/picked.h"

#include <algorithm>
#include <string_view>

namespace assay {
namespace {

// Lower-case letters, and how far from each its upper-case one is.
struct Letters {
  int first, last, to_upper;
};
constexpr Letters letters[] = {{'a', 'z', -32},     {0xe0, 0xf6, -32},   {0xf8, 0xfe, -32},   {0xff, 0xff, 121},
                               {0x3b1, 0x3c1, -32}, {0x3c4, 0x3cb, -32}, {0x430, 0x44f, -32}, {0x450, 0x45f, -80}};

int changed(int letter, bool to_upper) {
  for (const Letters& each : letters) {
    const int at = to_upper ? letter : letter - each.to_upper;
    if (at >= each.first && at <= each.last) return to_upper ? letter + each.to_upper : at;
  }
  return letter;
}

// All letters that change are of one byte or two.
std::string cased(std::string_view text, bool to_upper) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const int lead = static_cast<unsigned char>(text[at]);
    const bool has_two = lead >= 0xc2 && lead <= 0xdf && at + 1 < text.size();
    if (!has_two) {
      out += lead < 0x80 ? static_cast<char>(changed(lead, to_upper)) : text[at];
      continue;
    }
    const int letter = changed((lead & 0x1f) << 6 | (text[++at] & 0x3f), to_upper);
    out += static_cast<char>(0xc0 | letter >> 6);
    out += static_cast<char>(0x80 | (letter & 0x3f));
  }
  return out;
}

// Tells whether Unicode alone says how the letters of a text change: they do by the table, or have no case.
bool is_plain(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const int lead = static_cast<unsigned char>(text[at]);
    const bool is_ideograph = lead >= 0xe3 && lead <= 0xe9, is_picture = text.substr(at).starts_with("\xf0\x9f");
    if (lead < 0xc2 || is_ideograph || is_picture) continue;  // U+3000 to U+9FFF, U+1F000 to U+1FFFF
    if (lead > 0xdf || at + 1 == text.size()) return false;
    const int letter = (lead & 0x1f) << 6 | (text[at + 1] & 0x3f);
    const bool is_sign = letter >= 0xa0 && letter < 0xc0 && letter != 0xb5, is_mark = letter >= 0x300 && letter < 0x345;
    if (!is_sign && !is_mark && changed(letter, true) == letter && changed(letter, false) == letter) return false;
  }
  return true;
}

bool ignores_case(const Call& call) { return call.integer("is_case_sensitive") == 0 && call.states("stopwords"); }

bool compares_plain_letters(const Call& call) {
  const auto are_plain = [](const auto& texts) { return std::ranges::all_of(texts, is_plain); };
  const bool is_of_english = !call.states("locale") || call.text("locale").starts_with("en_US");
  return !ignores_case(call) ||
         (is_of_english && are_plain(call.texts("stopwords")) && are_plain(data_of(call, "X").as<std::string>()));
}

// The strings that are kept, as they are returned.
Texts normalized(const Call& call) {
  const Texts stops = call.states("stopwords") ? call.texts("stopwords") : Texts();
  const auto is_stop = [&](const std::string& text) {
    return std::ranges::any_of(stops, [&](const std::string& stop) {
      return ignores_case(call) ? cased(stop, false) == cased(text, false) : stop == text;
    });
  };
  const std::string action = call.text("case_change_action");
  Texts kept;
  for (const std::string& text : data_of(call, "X").as<std::string>())
    if (!is_stop(text)) kept.push_back(action == "NONE" ? text : cased(text, action == "UPPER"));
  if (kept.empty()) kept.emplace_back();
  return kept;
}

Shape shape_of_kept(const Call& call) {
  Shape y = call.shape("X");
  y.back() = std::ssize(normalized(call));
  return y;
}

Values normalize(const Call& call, Inputs) {
  Tensor y({DType::string, shape_of_kept(call)});
  std::ranges::copy(normalized(call), y.as<std::string>().begin());
  return y;
}

}  // namespace

// clang-format off
Operator string_normalizer() {
  using enum AttributeSpec::Kind;
  return Operator("StringNormalizer")
      .parameter("X", "string", "X").output("Y", "string")
      .word("case_change_action", {"NONE", "LOWER", "UPPER"}, "SN1").attribute("is_case_sensitive", 0)
      .optional_attribute("locale", text).optional_attribute("stopwords", texts).rulings({"G16", "G49"})
      .require("SN2", "X is [C] or [1, C]",
               [](auto& c) { return c.rank("X") == 1 || (c.rank("X") == 2 && c.dim("X", 0) == 1); })
      .require("SN3", "without case only letters are compared of which Unicode says it alone (G16)", compares_plain_letters)
      .require("SN4", "is_case_sensitive is 0 or 1",
               [](auto& c) { return c.integer("is_case_sensitive") == 0 || c.integer("is_case_sensitive") == 1; })
      .since(10)
      .shaping(Shaping::moved).infer(moved_to(shape_of_kept)).kernel(normalize);
}
// clang-format on

}  // namespace assay
