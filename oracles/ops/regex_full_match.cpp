// SPDX-License-Identifier: Apache-2.0
// The exact answers of RegexFullMatch (values-and-graphs 3.6): RE2 itself says them.
#include "oracles/families/elementwise.h"
#include "reference/operator.h"

#include <memory>
#include <re2/re2.h>

namespace assay::oracles {
namespace {

constexpr int most_memory = 256 << 20;

// A pattern, which the elements of a tensor share.
struct Pattern {
  std::string text;
  std::unique_ptr<RE2> compiled;

  explicit Pattern(std::string from) : text(std::move(from)) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(most_memory);
    compiled = std::make_unique<RE2>(text, options);
    if (!compiled->ok()) compiled = std::make_unique<RE2>(with_long_names(text), options);
  }

 private:
  // (?<name>) of a later release (G81).
  static std::string with_long_names(std::string text) {
    for (std::size_t at = 0; (at = text.find("(?<", at)) != text.npos; at += 4) text.replace(at, 3, "(?P<");
    return text;
  }
};

const Pattern& pattern_of(const Call& call) {
  static thread_local std::unique_ptr<Pattern> last;
  std::string text = call.text("pattern");
  if (!last || last->text != text) last = std::make_unique<Pattern>(std::move(text));
  return *last;
}

// Tells whether a version of Unicode may say what a pattern means: \p, or case that may be of letters beyond ASCII. It
// errs towards yes.
bool leans_on_unicode(std::string_view pattern) {
  bool has_any_case = false, has_others = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : ' ';
    has_others |= (static_cast<unsigned char>(pattern[i]) & 0x80) != 0;
    if (pattern[i] == '\\') {
      if (next == 'p' || next == 'P') return true;
      has_others |= next == 'x' || (next >= '0' && next <= '7');
      ++i;
    }
    if (pattern.substr(i).starts_with("(?")) {
      const std::size_t end = pattern.find_first_of(":)-", i);
      has_any_case |= pattern.substr(i, std::min(end, pattern.size()) - i).find('i') != pattern.npos;
    }
  }
  return has_any_case && has_others;
}

ElementValue matches(const ElementPoint& p) {
  const Pattern& pattern = pattern_of(p.call);
  if (leans_on_unicode(pattern.text)) return undefined("G80", "a version of Unicode says what the pattern means");
  if (!pattern.compiled->ok()) return undefined("G80", "RE2 does not take the pattern: " + pattern.compiled->error());
  return truth(RE2::FullMatch(*p.x[0].text, *pattern.compiled));
}

}  // namespace

Oracle regex_full_match() { return elementwise(matches, {.rounds = false}); }

}  // namespace assay::oracles
