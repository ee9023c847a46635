// SPDX-License-Identifier: Apache-2.0
// StringConcat and StringSplit a third time: places where a delimiter stands are marked first, then cut at.
#include "suites/mutation/pairing.h"

#include <algorithm>
#include <string>

namespace assay::mutation {
namespace {

using Words = std::vector<std::string>;

enum Defect {
  none,
  drops_empty,
  overlaps,
  cuts_at_each_letter,
  counts_columns,
  keeps_empty_words,
  cuts_from_end,
  drops_rest,
  pads_with_space
};

struct Cut {
  std::size_t from, to;
};

bool is_space(char letter) { return std::string("\t\n\v\f\r ").find(letter) != std::string::npos; }

// The places that delimit, in order.
std::vector<Cut> delimiters(const std::string& text, const std::string& delimiter, int defect) {
  std::vector<Cut> cuts;
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::size_t length = 0;
    if (delimiter.empty())
      while (at + length < text.size() && is_space(text[at + length]) && !(defect == keeps_empty_words && length == 1))
        ++length;
    else if (defect == cuts_at_each_letter)
      length = delimiter.find(text[at]) != std::string::npos;
    else if (text.compare(at, delimiter.size(), delimiter) == 0)
      length = delimiter.size();
    if (length == 0) continue;
    cuts.push_back({at, at + length});
    if (defect != overlaps) at += length - 1;
  }
  return cuts;
}

Words cut_at(const std::string& text, const std::vector<Cut>& cuts) {
  Words pieces;
  std::size_t from = 0;
  for (const Cut& cut : cuts) {
    pieces.push_back(text.substr(std::min(from, cut.from), cut.from - std::min(from, cut.from)));
    from = cut.to;
  }
  pieces.push_back(text.substr(from));
  return pieces;
}

Words pieces_of(const Call& call, std::string text, int defect) {
  const std::string delimiter = call.states("delimiter") ? call.text("delimiter") : "";
  if (delimiter.empty() && defect != keeps_empty_words) {
    while (!text.empty() && is_space(text.back())) text.pop_back();
    text.erase(0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_space) - text.begin()));
    if (text.empty()) return {};
  }
  std::vector<Cut> cuts = delimiters(text, delimiter, defect);
  bool has_rest = false;
  if (const auto most = static_cast<std::size_t>(call.states("maxsplit") ? call.integer("maxsplit") : Int{1} << 40);
      cuts.size() > most) {
    has_rest = true;
    if (defect == cuts_from_end) std::ranges::rotate(cuts, cuts.end() - static_cast<std::ptrdiff_t>(most));
    cuts.resize(most);
  }
  Words pieces = cut_at(text, cuts);
  if (defect == drops_rest && has_rest) pieces.pop_back();
  if (defect == drops_empty) std::erase(pieces, "");
  return pieces;
}

Kernel splitting(int defect) {
  return [=](const Call& call, Inputs in) {
    std::vector<Words> all;
    std::size_t most = 0;
    for (const std::string& text : in[0]->as<std::string>()) {
      all.push_back(pieces_of(call, text, defect));
      most = std::max(most, all.back().size());
    }
    Shape shape = in[0]->shape();
    shape.push_back(static_cast<Int>(most));
    Values out{Tensor({DType::string, shape}), Tensor({DType::i64, in[0]->shape()})};
    for (std::size_t i = 0; i < all.size(); ++i) {
      out[1]->as<Int>()[i] = static_cast<Int>(defect == counts_columns ? most : all[i].size());
      all[i].resize(most, defect == pads_with_space ? " " : "");
      std::ranges::copy(all[i], out[0]->as<std::string>().subspan(i * most).begin());
    }
    return out;
  };
}

const auto appended = [](const std::string& a, const std::string& b) { return std::string(a).append(b); };
const auto prepended = [](const std::string& a, const std::string& b) { return appended(b, a); };
const auto spaced = [](const std::string& a, const std::string& b) { return a + (a.empty() ? "" : " ") + b; };
const auto cut_short = [](const std::string& a, const std::string& b) { return a + b.substr(0, 15); };

}  // namespace

std::vector<VariantKernel> word_variants(const std::string& op) {
  if (op == "StringConcat") return {variant_of("sequential", "one pair after the other", pairing(appended))};
  if (op != "StringSplit") return {};
  return {variant_of("sequential", "one string after the other", splitting(none))};
}

std::vector<Bug> word_bugs(const std::string& op) {
  const auto bug = [&](const char* name, const char* what, Kernel kernel) {
    return bug_of(op, name, what, std::move(kernel));
  };
  if (op == "StringConcat")
    return {bug("exchanges-operands", "Y stands before X", pairing(prepended)),
            bug("adds-space", "a space stands between X and Y", pairing(spaced)),
            bug("cuts-long-strings", "of Y 15 bytes are copied", pairing(cut_short))};
  if (op != "StringSplit") return {};
  return {bug("drops-empty-pieces", "empty pieces are left out", splitting(drops_empty)),
          bug("finds-overlapping", "a delimiter may begin within the one before", splitting(overlaps)),
          bug("splits-at-each-letter", "each letter of the delimiter delimits", splitting(cuts_at_each_letter)),
          bug("counts-columns", "Z counts the padding too", splitting(counts_columns)),
          bug("keeps-empty-words", "each whitespace character delimits", splitting(keeps_empty_words)),
          bug("splits-from-end", "maxsplit counts from the end", splitting(cuts_from_end)),
          bug("drops-rest", "what is left after maxsplit is no piece", splitting(drops_rest)),
          bug("pads-with-space", "a space stands where there is no piece", splitting(pads_with_space))};
}

}  // namespace assay::mutation
