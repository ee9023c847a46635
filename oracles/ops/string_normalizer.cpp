// SPDX-License-Identifier: Apache-2.0
// The exact answer of StringNormalizer (values-and-graphs 3.6). Letters change by two alphabets that are written side
// by side; where a string has others beyond ASCII, or the locale is not en_US, any string is admitted (G16).
#include "oracles/exact/operands.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {
namespace {

using Letters = std::u32string_view;

constexpr Letters lower =
    U"abcdefghijklmnopqrstuvwxyzàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿαβγδεζηθικλμνξοπρτυφχψωϊϋ"
    U"абвгдежзийклмнопрстуфхцчшщъыьэюяѐёђѓєѕіїјљњћќѝўџ";
constexpr Letters upper =
    U"ABCDEFGHIJKLMNOPQRSTUVWXYZÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞŸΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΤΥΦΧΨΩΪΫ"
    U"АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏ";
static_assert(lower.size() == upper.size());

// Decodes a text into code points; a byte that begins none stands for itself.
std::u32string decoded(std::string_view text) {
  std::u32string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[at + i])); };
    const std::size_t length = byte(0) < 0xc0 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
    if (at + length > text.size()) return out;
    char32_t point = length == 1 ? byte(0) : byte(0) & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) point = point << 6 | (byte(i) & 0x3f);
    out += point;
    at += length;
  }
  return out;
}

std::string encoded(const std::u32string& points) {
  std::string out;
  for (const char32_t point : points) {
    const int more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    const char32_t lead = more == 0 ? 0 : 0xf00U >> (more + 1) & 0xffU;
    out += static_cast<char>(lead | point >> 6 * more);
    for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | (point >> 6 * i & 0x3f));
  }
  return out;
}

class Normalizing {
 public:
  Normalizing(const Call& call, const Readings& readings)
      : x_(*call.node().inputs.at("X").data),
        action_(call.text("case_change_action")),
        is_ascii_(readings.of("G16") == "ascii"),
        is_of_english_(!call.states("locale") || call.text("locale").starts_with("en_US")) {
    const bool ignores_case = call.integer("is_case_sensitive") == 0;
    const Texts stops = call.states("stopwords") ? call.texts("stopwords") : Texts();
    for (Int i = 0; i < x_.elements(); ++i) {
      const std::string& text = x_.as<std::string>()[static_cast<std::size_t>(i)];
      const auto equals = [&](const std::string& stop) {
        return stop == text || (ignores_case && changed(stop, upper, lower) == changed(text, upper, lower));
      };
      if (std::ranges::none_of(stops, equals)) kept_.push_back(i);
    }
    none_is_left_ = kept_.empty();
    if (none_is_left_ && x_.elements() == 0) nothing_ = readings.of("G49");
  }

  std::optional<Shape> shape() const {
    if (nothing_ == "refuse") return std::nullopt;
    Shape y = x_.shape();
    y.back() = !none_is_left_ ? std::ssize(kept_) : nothing_ == "none" ? 0 : 1;
    return y;
  }
  Int source(Int index) const { return none_is_left_ ? 0 : kept_[static_cast<std::size_t>(index)]; }
  Element element(Int index) const {
    if (none_is_left_) return exactly(std::string());
    const std::string& text = x_.as<std::string>()[static_cast<std::size_t>(source(index))];
    if (action_ == "NONE") return exactly(text);
    const std::u32string points = decoded(text);
    if (!is_of_english_ || !std::ranges::all_of(points, is_known))
      return undefined("G16", "letters as a platform has them");
    return exactly(action_ == "UPPER" ? changed(text, lower, upper) : changed(text, upper, lower));
  }
  const Tensor& x() const { return x_; }

 private:
  // Tells of the letters of the two alphabets, and of what has no case: signs, accents by themselves, Chinese and
  // Japanese characters, pictures.
  static bool is_known(char32_t point) {
    const bool is_without_case = point < 0x80 || (point >= 0xa0 && point < 0xc0 && point != 0xb5) ||
                                 (point >= 0x300 && point < 0x345) || (point >= 0x3000 && point < 0xa000) ||
                                 (point >= 0x1f000 && point < 0x20000);
    return is_without_case || lower.find(point) != lower.npos || upper.find(point) != upper.npos;
  }

  std::string changed(const std::string& text, Letters from, Letters to) const {
    std::u32string points = decoded(text);
    for (char32_t& point : points)
      if (const std::size_t at = from.find(point); at != from.npos && !(is_ascii_ && point >= 0x80)) point = to[at];
    return encoded(points);
  }

  Tensor x_;
  std::string action_, nothing_;
  bool is_ascii_, is_of_english_, none_is_left_ = false;
  Ints kept_;
};

class NormalizerAnswer final : public Answer {
 public:
  NormalizerAnswer(const Call& call, const Readings& readings) : normalizing_(call, readings) {}
  Shape shape() const override { return *normalizing_.shape(); }
  DType dtype() const override { return DType::string; }
  Element element(Int index) const override { return normalizing_.element(index); }
  std::vector<Tolerance> wider(Int) const override { return {}; }
  std::vector<ProofTerm> taps(Int index) const override {
    const Tensor& x = normalizing_.x();
    if (x.elements() == 0) return {};
    const Int from = normalizing_.source(index);
    return {{{written(scalar(x.as<std::string>()[static_cast<std::size_t>(from)]), DType::string)},
             place("X", x.shape(), from)}};
  }

 private:
  Normalizing normalizing_;
};

}  // namespace

Oracle string_normalizer() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands&, const Readings& readings, const Arithmetic&) {
    return Answers(std::make_unique<NormalizerAnswer>(call, readings));
  };
  oracle.shape = [](const Call& call, const Readings& readings) { return Normalizing(call, readings).shape(); };
  return without_rounding(std::move(oracle));
}

}  // namespace assay::oracles
