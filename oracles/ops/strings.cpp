// SPDX-License-Identifier: Apache-2.0
// The exact answers of StringConcat and StringSplit (values-and-graphs 3.6). A string is read letter by letter, each of
// which delimits or belongs to a piece.
#include "oracles/exact/operands.h"
#include "oracles/families/elementwise.h"
#include "reference/operator.h"

#include <algorithm>
#include <array>

namespace assay::oracles {
namespace {

// Returns how many bytes of whitespace stand there, by one reading of it (G13).
std::size_t whitespace_at(std::string_view text, std::size_t at, std::string_view reading) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (reading == "space") return byte == 0x20;
  if (byte == 0x20 || (byte >= 0x09 && byte <= 0x0d)) return 1;
  if (reading != "unicode") return 0;
  if (byte >= 0x1c && byte <= 0x1f) return 1;
  // U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000.
  static constexpr std::array<std::string_view, 19> others{
      "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81", "\xe2\x80\x82", "\xe2\x80\x83",
      "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86", "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a",
      "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};
  const auto starts = [&](std::string_view each) { return text.substr(at).starts_with(each); };
  const auto found = std::ranges::find_if(others, starts);
  return found == others.end() ? 0 : found->size();
}

// The pieces of a string.
class Splitting {
 public:
  Splitting(const Call& call, const Readings& readings)
      : delimiter_(call.states("delimiter") ? call.text("delimiter") : ""),
        most_(call.states("maxsplit") ? std::optional(call.integer("maxsplit")) : std::nullopt),
        whitespace_(readings.of("G13")),
        keeps_end_(readings.of("G14") == "keep"),
        drops_empty_(readings.of("G15") == "zero") {}

  std::vector<std::string> pieces(std::string_view text) const {
    if (delimiter_.empty()) return words(text);
    if (text.empty() && drops_empty_) return {};
    std::vector<std::string> all(1);
    for (std::size_t at = 0; at < text.size();)
      if (may_split(std::ssize(all) - 1) && text.substr(at).starts_with(delimiter_)) {
        all.emplace_back();
        at += delimiter_.size();
      } else {
        all.back() += text[at++];
      }
    return all;
  }

 private:
  bool may_split(Int splits) const { return !most_ || splits < *most_; }

  std::vector<std::string> words(std::string_view text) const {
    std::vector<std::string> all;
    bool is_in_word = false;
    std::size_t end = 0;  // of what the last piece keeps
    for (std::size_t at = 0, width = 1; at < text.size(); at += width) {
      const std::size_t space = whitespace_at(text, at, whitespace_);
      width = std::max<std::size_t>(space, 1);
      const bool is_rest = !all.empty() && !may_split(std::ssize(all) - 1);
      if (space > 0 && !(is_rest && is_in_word)) {
        is_in_word = false;
        continue;
      }
      if (!is_in_word) all.emplace_back();
      is_in_word = true;
      all.back() += text.substr(at, width);
      if (space == 0 || keeps_end_) end = all.back().size();
    }
    if (!all.empty()) all.back().resize(end);
    return all;
  }

  std::string delimiter_;
  std::optional<Int> most_;
  std::string whitespace_;
  bool keeps_end_, drops_empty_;
};

const Tensor& texts(const Call& call) { return *call.node().inputs.at("X").data; }

Int most_pieces(const Call& call, const Readings& readings) {
  Int most = 0;
  for (const std::string& text : texts(call).as<std::string>())
    most = std::max<Int>(most, std::ssize(Splitting(call, readings).pieces(text)));
  return most;
}

std::optional<Shape> shape_of_pieces(const Call& call, const Readings& readings) {
  Shape shape = texts(call).shape();
  shape.push_back(most_pieces(call, readings));
  return shape;
}

// The pieces of all strings, or how many there are of each.
class SplitAnswer final : public Answer {
 public:
  SplitAnswer(const Call& call, const Readings& readings, bool counts)
      : x_(texts(call)), splitting_(call, readings), shape_(x_.shape()), counts_(counts) {
    if (!counts) shape_ = *shape_of_pieces(call, readings);
  }
  Shape shape() const override { return shape_; }
  DType dtype() const override { return counts_ ? DType::i64 : DType::string; }
  Element element(Int index) const override {
    const std::vector<std::string> pieces = splitting_.pieces(text(index));
    if (counts_) return exactly(scalar(std::ssize(pieces)), DType::i64);
    const auto at = static_cast<std::size_t>(index % shape_.back());
    return exactly(at < pieces.size() ? pieces[at] : std::string());
  }
  std::vector<Tolerance> wider(Int) const override { return {}; }
  std::vector<ProofTerm> taps(Int index) const override {
    return {{{written(scalar(text(index)), DType::string)}, place("X", x_.shape(), from(index))}};
  }

 private:
  Int from(Int index) const { return counts_ ? index : index / shape_.back(); }
  const std::string& text(Int index) const { return x_.as<std::string>()[static_cast<std::size_t>(from(index))]; }

  Tensor x_;
  Splitting splitting_;
  Shape shape_;
  bool counts_;
};

}  // namespace

Oracle string_concat() {
  return elementwise([](const ElementPoint& p) -> ElementValue { return exactly(*p.x[0].text + *p.x[1].text); },
                     {.rounds = false});
}

Oracle string_split() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands&, const Readings& readings, const Arithmetic&) {
    Answers all(std::make_unique<SplitAnswer>(call, readings, false));
    if (call.requests("Z")) all.push_back(std::make_unique<SplitAnswer>(call, readings, true));
    return all;
  };
  oracle.shape = shape_of_pieces;
  return without_rounding(std::move(oracle));
}

}  // namespace assay::oracles
