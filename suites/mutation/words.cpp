// SPDX-License-Identifier: Apache-2.0
// Operators on words a third time. StringSplit: places where a delimiter stands are marked first, then cut at.
// StringNormalizer: words are compared in upper case.
// TfIdfVectorizer: the runs of tokens from every place on are counted, then those of the pool looked up.
#include "suites/mutation/pairing.h"

#include <algorithm>
#include <map>
#include <re2/re2.h>
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
  pads_with_space,
  counts_tokens_again,
  skips_as_many_alone,
  counts_in_idf,
  weighs_by_place,
  runs_into_next_row,
  numbers_from_shortest,
  always_compares_case,
  never_compares_case,
  changes_case_first,
  drops_empty_strings,
  drops_words_within,
  returns_nothing,
  stops_at_first
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

// -- StringNormalizer

std::string cased(std::string text, bool is_upper) {
  for (char& each : text)
    if (static_cast<unsigned char>(each) < 0x80)
      each = static_cast<char>(is_upper ? std::toupper(each) : std::tolower(each));
  const std::pair<std::string, std::string> partners[] = {
      {"\xc3\xa9", "\xc3\x89"}, {"\xd0\xb6", "\xd0\x96"}, {"\xcf\x89", "\xce\xa9"}};  // é, ж, ω
  for (const auto& [low, high] : partners)
    for (std::size_t at; (at = text.find(is_upper ? low : high)) != text.npos;)
      text.replace(at, 2, is_upper ? high : low);
  return text;
}

// The text without the words of it that are stop words.
std::string without_words(const std::string& text, const Words& stops) {
  std::string kept;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (std::ranges::count(stops, word) == 0) kept += (kept.empty() ? "" : " ") + word;
    at = end + 1;
  }
  return kept;
}

Kernel dropping(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    Words stops = call.states("stopwords") ? call.texts("stopwords") : Words();
    if (defect == stops_at_first) stops.resize(std::min<std::size_t>(stops.size(), 1));
    const std::string action = call.text("case_change_action");
    const bool ignores_case =
        defect == never_compares_case || (defect != always_compares_case && call.integer("is_case_sensitive") == 0);
    const auto changed = [&](const std::string& text) {
      return action == "NONE" ? text : cased(text, action == "UPPER");
    };
    Words kept;
    for (const std::string& text : in[0]->as<std::string>()) {
      const std::string compared = defect == changes_case_first ? changed(text) : text;
      const bool is_dropped = std::ranges::any_of(stops, [&](const std::string& stop) {
        return ignores_case ? cased(stop, true) == cased(compared, true) : stop == compared;
      });
      if (is_dropped || (defect == drops_empty_strings && text.empty())) continue;
      kept.push_back(changed(defect == drops_words_within ? without_words(text, stops) : text));
    }
    if (kept.empty() && defect != returns_nothing) kept.emplace_back();
    Shape shape = in[0]->shape();
    shape.back() = std::ssize(kept);
    Tensor y({DType::string, shape});
    std::ranges::copy(kept, y.as<std::string>().begin());
    return y;
  };
}

// -- TfIdfVectorizer

Words tokens_of(const Tensor& x) {
  Words all;
  for_type(x.dtype(), [&]<class T>() {
    for (const T& each : x.as<T>())
      if constexpr (std::is_same_v<T, std::string>)
        all.push_back(each);
      else if constexpr (std::is_integral_v<T>)
        all.push_back(std::to_string(each));
  });
  return all;
}

Words pool_of(const Call& call) {
  if (call.states("pool_strings")) return call.texts("pool_strings");
  Words all;
  for (const Int each : call.ints("pool_int64s")) all.push_back(std::to_string(each));
  return all;
}

// How often each run of tokens stands in a row, from the shortest to the longest that counts.
std::map<Words, Int> runs_of(const Call& call, const Words& tokens, Int from, Int to, int defect) {
  std::map<Words, Int> seen;
  const Int most = std::min(call.integer("max_skip_count"), to - from),
            first = defect == skips_as_many_alone ? most : 0;
  const Int end = defect == runs_into_next_row ? std::ssize(tokens) : to;
  for (Int skip = first; skip <= most; ++skip)
    for (Int start = from; start < to; ++start) {
      Words run;
      for (Int at = start; at < end && std::ssize(run) < call.integer("max_gram_length"); at += skip + 1) {
        run.push_back(tokens[static_cast<std::size_t>(at)]);
        if (run.size() > 1 || skip == first || defect == counts_tokens_again) ++seen[run];
      }
    }
  return seen;
}

Kernel vectorizing(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    const Words tokens = tokens_of(*in[0]), pool = pool_of(call);
    const Ints places = call.ints("ngram_indexes"), starts = call.ints("ngram_counts");
    const std::string mode = call.text("mode");
    Shape shape = in[0]->shape();
    const Int columns = shape.back(), rows = shape.size() == 1 ? 1 : shape[0];
    shape.back() = *std::ranges::max_element(places) + 1;
    Tensor y({DType::f32, shape});
    for (Int row = 0; row < rows; ++row) {
      const std::map<Words, Int> seen = runs_of(call, tokens, row * columns, (row + 1) * columns, defect);
      std::size_t id = 0, at = 0, shorter = 0;
      for (std::size_t length = 1; length <= starts.size(); ++length) {
        const std::size_t end = length < starts.size() ? static_cast<std::size_t>(starts[length]) : pool.size();
        for (; at < end; at += length, ++id) {
          const auto from = pool.begin() + static_cast<std::ptrdiff_t>(at);
          const auto found = seen.find(Words(from, from + static_cast<std::ptrdiff_t>(length)));
          const bool is_short = static_cast<Int>(length) < call.integer("min_gram_length");
          shorter += is_short;
          if (is_short || found == seen.end()) continue;
          const std::size_t place =
              static_cast<std::size_t>(places[id - (defect == numbers_from_shortest ? shorter : 0)]);
          auto value = static_cast<float>(mode == "IDF" && defect != counts_in_idf ? 1 : found->second);
          if (mode != "TF" && call.states("weights"))
            value *= call.reals("weights")[defect == weighs_by_place ? place % places.size() : id];
          y.as<float>()[static_cast<std::size_t>(row * shape.back()) + place] += value;
        }
      }
    }
    return y;
  };
}

// RegexFullMatch: the longest match that begins with the string has to be all of it.
struct Matching {
  bool takes_first = false;  // match, which an alternative written before may make shorter
  bool takes_part = false, takes_begin = false, by_lines = false, dot_is_any = false, takes_any_case = false;
  bool reads_latin = false, forgets_last_line = false, matches_empty = false, stops_at_zero = false;
};

Kernel matching(Matching how) {
  return [how](const Call& call, Inputs in) {
    Tensor y({DType::boolean, in[0]->shape()});
    RE2::Options options;
    options.set_longest_match(!how.takes_first);
    options.set_log_errors(false);
    options.set_dot_nl(how.dot_is_any);
    options.set_case_sensitive(!how.takes_any_case);
    if (how.reads_latin) options.set_encoding(RE2::Options::EncodingLatin1);
    const RE2 pattern((how.by_lines ? "(?m)" : "") + call.text("pattern"), options);
    std::ranges::transform(in[0]->as<std::string>(), y.as<Bool>().begin(), [&](std::string text) {
      if (how.forgets_last_line && text.ends_with('\n')) text.pop_back();
      if (how.stops_at_zero) text.resize(std::min(text.find('\0'), text.size()));
      if (how.matches_empty && text.empty()) return Bool(1.0);
      re2::StringPiece found;
      const auto anchor = how.takes_part ? RE2::UNANCHORED : RE2::ANCHOR_START;
      const bool matches = pattern.Match(text, 0, text.size(), anchor, &found, 1);
      return Bool(matches && (how.takes_part || how.takes_begin || found.size() == text.size()) ? 1.0 : 0.0);
    });
    return y;
  };
}

std::vector<Bug> matching_bugs(const std::string& op) {
  const auto bug = [&](const char* name, const char* what, Matching how) {
    return bug_of(op, name, what, matching(how));
  };
  return {bug("takes-first", "the match that is preferred has to be all of the string", {.takes_first = true}),
          bug("takes-part", "a part that matches is enough", {.takes_part = true}),
          bug("takes-begin", "a beginning that matches is enough", {.takes_begin = true}),
          bug("by-lines", "lines begin and end as texts do", {.by_lines = true}),
          bug("dot-is-any", "a dot is a newline too", {.dot_is_any = true}),
          bug("takes-any-case", "case does not count", {.takes_any_case = true}),
          bug("reads-latin", "each byte is a letter", {.reads_latin = true}),
          bug("forgets-last-line", "a newline at the end does not count", {.forgets_last_line = true}),
          bug("matches-empty", "an empty string matches", {.matches_empty = true}),
          bug("stops-at-zero", "a string ends where a 0 is", {.stops_at_zero = true})};
}

const auto appended = [](const std::string& a, const std::string& b) { return std::string(a).append(b); };
const auto prepended = [](const std::string& a, const std::string& b) { return appended(b, a); };
const auto spaced = [](const std::string& a, const std::string& b) { return a + (a.empty() ? "" : " ") + b; };
const auto cut_short = [](const std::string& a, const std::string& b) { return a + b.substr(0, 15); };

}  // namespace

std::vector<VariantKernel> word_variants(const std::string& op) {
  if (op == "StringConcat") return {variant_of("sequential", "one pair after the other", pairing(appended))};
  if (op == "StringNormalizer") return {variant_of("sequential", "one string after the other", dropping(none))};
  if (op == "TfIdfVectorizer") return {variant_of("sequential", "one row after the other", vectorizing(none))};
  if (op == "RegexFullMatch") return {variant_of("sequential", "the longest match of each string", matching({}))};
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
  if (op == "StringNormalizer")
    return {bug("always-compares-case", "stop words have to be written alike", dropping(always_compares_case)),
            bug("never-compares-case", "stop words are found in any case", dropping(never_compares_case)),
            bug("changes-case-first", "strings are compared when their case is changed", dropping(changes_case_first)),
            bug("drops-empty-strings", "empty strings are stop words", dropping(drops_empty_strings)),
            bug("drops-words-within", "stop words are dropped within a string too", dropping(drops_words_within)),
            bug("returns-nothing", "no string is left where all are dropped", dropping(returns_nothing)),
            bug("stops-at-first", "the first stop word alone is dropped", dropping(stops_at_first))};
  if (op == "RegexFullMatch") return matching_bugs(op);
  if (op == "TfIdfVectorizer")
    return {
        bug("counts-tokens-again", "single tokens are counted for every skip", vectorizing(counts_tokens_again)),
        bug("skips-as-many-alone", "only the largest skip is tried", vectorizing(skips_as_many_alone)),
        bug("counts-in-idf", "IDF weighs the count", vectorizing(counts_in_idf)),
        bug("weighs-by-place", "the weight is that of the place", vectorizing(weighs_by_place)),
        bug("runs-into-next-row", "an n-gram may end in the next row", vectorizing(runs_into_next_row)),
        bug("numbers-from-shortest", "n-grams that are too short have no number", vectorizing(numbers_from_shortest))};
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
