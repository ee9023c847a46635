// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/glossary.h"

#include "generators/graphs/graph_drawing.h"
#include "oracles/judging/verdict.h"
#include "reference/case.h"
#include "reference/operator.h"
#include "reference/profiles.h"
#include "reference/sequence.h"
#include "suites/campaign/run_options.h"
#include "suites/campaign/signature.h"
#include "suites/mutation/mutants.h"
#include "suites/mutation/variants.h"
#include "suites/planning/laws.h"
#include "suites/predicates/predicate.h"
#include "suites/triage/case_words.h"
#include "suites/triage/word_tables.h"
#include "suites/triage/wrong_models.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <sstream>
#include <utility>

namespace assay::suites {
namespace {

constexpr std::string_view grammar =
    R"(A case is one line of words, separated by single blanks, in this order:

  OPERATOR-N                       the operator version: Conv-11, com.microsoft:NhwcConv-1
  opset=N ir=N                     the opset that the model imports, and its IR version
  NAME=TYPE[EXTENTS]~RECIPE        an input, in the order of the schema: X=f32[1,3,5]~small:7
  NAME=TYPE[EXTENTS]~RECIPE@init   the same as a constant of the model (an initializer)
  NAME=""                          an optional input left out by an empty name; else it has no word
  NAME_0=… NAME_1=…                the inputs of a variadic one, up to eight: data_0=f32[3]~small:7 data_1=f32[1]~small:9
  NAME=VALUE                       an attribute as the node states it: group=2 pads=1,0,1,0 auto_pad=VALID k=[]
  outputs=NAME,NAME                the optional outputs that the node has besides the required ones: outputs=Indices
  shapes=symbolic, shapes=absent   extents of inputs are declared by symbols, or not at all; else by numbers

TYPE is f32 f64 f16 bf16 i8 u8 i16 u16 i32 u32 i64 u64 bool string, or of eight bits or less f8e4m3fn f8e4m3fnuz
f8e5m2 f8e5m2fnuz f8e8m0 f6e2m3 f6e3m2 f4e2m1 i4 u4 i2 u2. Text other than letters, digits and _ is written %XX. A RECIPE fills a tensor, as
FAMILY:ARGUMENT: small:7 (seed 7), iota:1 (1, 2, 3, ...), const:1, onehot:3, lit:1,-0x1.8p+3,nan (these values, repeated),
hold:0.5 (the same in every data set). Each case has two data sets: the second takes the next seed, or the negated values.
Where the call reads an input, as the shape of Reshape, its values are written out: shape=i64[2]~values:-1,3.
The id of a case is the first 128 bits of the SHA-256 of its line.
)";

constexpr std::string_view of_graphs =
    R"(A graph is one line of words, separated by single blanks, in this order:

  graph                            the first word
  opset=N ir=N                     the opset that the model imports, and its IR version
  NAME=TYPE[EXTENTS]~RECIPE        a value that goes in, written as in a case line; @init behind it makes a constant of it
  NAME,NAME=OPERATOR(NAME,NAME){ATTRIBUTE=VALUE;ATTRIBUTE=VALUE}
                                   a step: what it gives, what it takes in the order of the schema, "" where left out; the
                                   operator is of ai.onnx and of the version that the opset selects
  out=NAME,NAME                    the outputs
  shapes=symbolic, shapes=absent   extents of inputs are declared by symbols, or not at all; else by numbers
  inside=if, loop, function        the steps stand in an If of a constant condition, in a Loop of one turn, in a function of the
                                   model's own

A graph has one right answer where no operation of any rewriting by the laws of arithmetic rounds: its data are small
integers. A window of a model is such a graph of two to six of its nodes.
)";

// -- rulings

std::string versions_with(std::string_view id) {
  std::string out;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      if (definition.ruling(id)) out += (out.empty() ? "" : " ") + text(definition.version);
  return out;
}

std::string text_of(const Ruling& ruling) {
  std::string out = "ruling " + std::string(ruling.id) + ": " + std::string(ruling.title) + "\n  ruled     " +
                    std::string(ruling.decision) + "\n";
  if (!ruling.readings.empty()) {
    out += ruling.is(Ruling::set) ? "  each may   " : "  readings  ";
    for (std::size_t i = 0; i < ruling.readings.size(); ++i)
      out += (i == 0 ? "" : ", ") + std::string(ruling.readings[i]) +
             (i == 0 && !ruling.is(Ruling::set) ? " (ruled)" : "");
    out += '\n';
  } else {
    out += "  readings  no other is admitted\n";
  }
  const std::string versions = versions_with(ruling.id);
  return out + "  applies to " + (versions.empty() ? "no operator version yet" : versions) + "\n";
}

std::optional<std::string> ruling(std::string_view word) {
  const Ruling* found = find_ruling(word);
  return found ? std::optional(text_of(*found)) : std::nullopt;
}

// "clamp0", whichever rulings have it, or "A3=clamp0".
std::optional<std::string> reading(std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view id = equals == word.npos ? "" : word.substr(0, equals);
  const std::string_view name = equals == word.npos ? word : word.substr(equals + 1);
  std::string out;
  for (const Ruling& ruling : rulings()) {
    if (!id.empty() && ruling.id != id) continue;
    const auto found = std::ranges::find(ruling.readings, name);
    if (found == ruling.readings.end()) continue;
    const bool is_ruled = found == ruling.readings.begin() && !ruling.is(Ruling::set);
    out += "'" + std::string(name) + "' is " + (is_ruled ? "how " : "another admissible reading of ") +
           std::string(ruling.id) + (is_ruled ? " is ruled" : "") + "\n" + text_of(ruling);
  }
  return out.empty() ? std::nullopt : std::optional(out);
}

// -- constraints

bool is_general(std::string_view id) {
  return std::ranges::find(general_constraints(), id, &Constraint::id) != general_constraints().end();
}

std::string text_of(const Constraint& constraint, const std::string& owner) {
  return "constraint " + (owner.empty() ? "" : owner + ".") + constraint.id + ": " + constraint.text +
         (constraint.ruling.empty() ? "" : " (lifted by another reading of " + constraint.ruling + ")") + "\n";
}

// Each text once, with the versions that have it.
std::string constraint_of(const Operator& op, std::string_view id, int since) {
  std::vector<std::pair<std::string, std::string>> told;
  for (const Definition& definition : op.versions()) {
    const Constraint* found = definition.constraint(id);
    if (!found || (since > 0 && definition.version.since_version != since)) continue;
    std::string words = text_of(*found, op.name());
    const auto same = std::ranges::find(told, words, &std::pair<std::string, std::string>::first);
    if (same == told.end())
      told.emplace_back(std::move(words), text(definition.version));
    else
      same->second += " " + text(definition.version);
  }
  std::string out;
  for (const auto& [words, versions] : told) out += words + "  of        " + versions + "\n";
  return out;
}

// "Conv.C6", "Conv-11.C6", "C6" of every operator that has one, "G4".
std::optional<std::string> constraint(std::string_view word) {
  const std::size_t dot = word.rfind('.');
  const std::string_view id = dot == word.npos ? word : word.substr(dot + 1);
  std::string_view owner = dot == word.npos ? "" : word.substr(0, dot);
  int since = 0;
  if (const std::size_t dash = owner.rfind('-'); dash != owner.npos) {
    since = std::atoi(std::string(owner.substr(dash + 1)).c_str());
    owner = owner.substr(0, dash);
  }
  if (const std::size_t colon = owner.rfind(':'); colon != owner.npos) owner = owner.substr(colon + 1);
  std::string out;
  if (is_general(id))
    out += text_of(*std::ranges::find(general_constraints(), id, &Constraint::id), "") + "  of        every operator\n";
  for (const Operator* op : operators())
    if (out.empty() || !is_general(id))
      if (owner.empty() || op->name() == owner) out += constraint_of(*op, id, since);
  return out.empty() ? std::nullopt : std::optional(out);
}

// -- the rest

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The words of letters, digits and _ in a text, with where each begins.
std::vector<std::pair<std::size_t, std::string_view>> plain_words(std::string_view text) {
  std::vector<std::pair<std::size_t, std::string_view>> all;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    for (end = at; end < text.size() && is_letter(text[end]); ++end)
      ;
    if (end > at) all.emplace_back(at, text.substr(at, end - at));
  }
  return all;
}

// Puts # for types, numbers and lists of numbers, as rows have it: "# accumulation in any order", "except #".
std::string generalised(std::string_view text) {
  std::string out;
  std::size_t done = 0;
  for (const auto& [at, word] : plain_words(text)) {
    const bool is_number = std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
    if (!is_number && !dtype_named(word)) continue;
    const std::string_view between = text.substr(done, at - done);
    if (!out.ends_with('#') || (between != ", " && between != ",")) out += std::string(between) + "#";
    done = at + word.size();
  }
  out += text.substr(done);
  return out;
}

std::string lower(std::string_view word) {
  std::string quiet(word);
  for (char& c : quiet) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return quiet;
}

bool is_loud(std::string_view word) {
  return word.size() > 1 && std::ranges::all_of(word, [](char c) { return (c >= 'A' && c <= 'Z') || c == ' '; });
}

// A word as it stands, with its numbers and types left open, or in capitals: "except 1, 3", "STALE SESSION".
std::optional<std::string> table_word(std::string_view word) {
  const std::string general = generalised(word) == "#" ? "" : generalised(word),
                    quiet = is_loud(word) ? lower(word) : "";
  std::string out;
  for (const std::span<const Word>& table : word_tables())
    for (const auto& [name, words] : table) {
      const bool is_open = name.ends_with(" #") && name.substr(0, name.size() - 2) == word;
      if (name == word || name == general || name == quiet || is_open)
        out += std::string(word) + ": " + (table.data() == arithmetic_words().data() ? "arithmetic, " : "") +
               std::string(words) + "\n";
    }
  return out.empty() ? std::nullopt : std::optional(out);
}

std::optional<std::string> type(std::string_view word) {
  const std::optional<DType> found = dtype_named(word);
  if (!found) return std::nullopt;
  return std::string(word) + ": element type, " + std::string(onnx_name(*found)) + " in ONNX, " +
         std::to_string(width_of(*found)) + " bits\n";
}

// "small:7", "~small:7@init", "small".
std::optional<std::string> recipe(std::string_view word) {
  const bool is_constant = word.ends_with("@init");
  if (is_constant) word.remove_suffix(5);
  if (word.starts_with('~')) word.remove_prefix(1);
  const std::string given(word), argument = given == "stored" ? ":0000000000000000" : ":1";
  const std::string assumed = given.find(':') == std::string::npos ? given + argument : given;
  const Result<Recipe> found = parse_recipe(assumed);
  if (!found) return std::nullopt;
  return given + ": recipe, fills a tensor with " + in_words(*found) +
         (is_constant ? "; @init: a constant of the model" : "") + "\n";
}

std::optional<std::string> law_word(std::string_view word) {
  const auto found = std::ranges::find(laws(), word, &MetamorphicRelation::id);
  if (found == laws().end()) return std::nullopt;
  return std::string(word) + ": law between the answers to related cases: " + std::string(found->formula) + "\n";
}

std::optional<std::string> trait(std::string_view word) {
  constexpr std::string_view breaks = "breaks ";
  if (word.starts_with(breaks)) return constraint(word.substr(breaks.size()));
  for (const auto& [name, words] : special_traits())
    if (name == word) return std::string(name) + ": what a case has, " + std::string(words) + "\n";
  return std::nullopt;
}

std::optional<std::string> profile(std::string_view word) {
  for (const Profile& each : profiles()) {
    if (each.name == word)
      return std::string(word) + ": profile, " + std::string(each.title) + "; --profile " + std::string(word) +
             " takes only cases within it\n";
    for (const Profile::Part& part : each.parts)
      for (const Restriction& restriction : part.restrictions)
        if (tag(part, restriction) == word)
          return std::string(word) + ": restriction of the profile " + std::string(each.name) + ": " +
                 std::string(restriction.text) + "\n";
  }
  return std::nullopt;
}

// "opset=20", "ir=3", "threads=2 names=7", "outputs=bound": of a case line, of a mark, of a report, of a session.
std::optional<std::string> setting(std::string_view word) {
  constexpr Word settings[] = {{"opset", "the model imports this opset"},
                               {"ir", "the model has this IR version"},
                               {"threads", "the backend is told to take so many threads"},
                               {"optimization", "the backend is told to optimise so much"},
                               {"names", "the model has other names of values and nodes, drawn from this number"},
                               {"outputs", "the node has these optional outputs besides the required ones"},
                               {"disable", "the backend is told to leave this rewriting of graphs out"},
                               {"out", "the graph has these outputs"},
                               {"inside", "the steps of the graph stand in this"}};
  if (word == "outputs=bound")
    return std::string(word) + ": the outputs go into buffers that were there before, between guard bytes\n";
  const std::size_t equals = word.find('=');
  for (const auto& [key, words] : settings)
    if (equals != word.npos && equals + 1 < word.size() && key == word.substr(0, equals))
      return std::string(word) + ": " + std::string(words) + "\n";
  return std::nullopt;
}

// "auto_pad", "auto_pad=VALID": the operator versions that have it, with what it is left out.
std::optional<std::string> attribute(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  std::vector<std::pair<std::string, std::string>> told;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      if (const AttributeSpec* spec = definition.attribute(name)) {
        const std::string words = default_of(*spec);
        if (told.empty() || told.back().first != words) told.emplace_back(words, "");
        told.back().second += " " + text(definition.version);
      }
  std::string out;
  for (const auto& [words, versions] : told)
    out += std::string(name) + ": attribute, " + words + ", of" + versions + "\n";
  return out.empty() ? std::nullopt : std::optional(out);
}

// "X=f32[1,1,4]~iota:1".
std::optional<std::string> input(std::string_view word) {
  const std::size_t equals = word.find('='), open = word.find('['), close = word.find("]~");
  if (equals == word.npos || open == word.npos || close == word.npos || open < equals || close < open)
    return std::nullopt;
  const std::optional<DType> dtype = dtype_named(word.substr(equals + 1, open - equals - 1));
  const std::optional<std::string> filled = recipe(word.substr(close + 1));
  if (!dtype || !filled) return std::nullopt;
  return "input " + std::string(word.substr(0, equals)) + " of type " + std::string(onnx_name(*dtype)) + " and shape " +
         std::string(word.substr(open, close + 1 - open)) + "\n" + *filled;
}

// "X", "X[0,1]": the operators that have such an input or output.
std::optional<std::string> operand(std::string_view word) {
  constexpr std::size_t most_named = 6;
  const std::string_view name = word.ends_with(']') ? word.substr(0, word.find('[')) : word;
  std::string out;
  for (const auto& [side, what] : {std::pair(&Definition::inputs, "input"), {&Definition::outputs, "output"}}) {
    std::vector<std::string> names;
    for (const Operator* op : operators())
      if (std::ranges::any_of(op->versions(), [&](const Definition& definition) {
            return std::ranges::find(definition.*side, name, &Parameter::name) != (definition.*side).end();
          }))
        names.push_back(op->name());
    if (names.empty()) continue;
    const std::size_t count = names.size();
    names.resize(std::min(count, most_named));
    out += std::string(name) + ": " + what + " of " + joined(names, ", ") +
           (count > most_named ? " and " + std::to_string(count - most_named) + " more operators" : "") + "\n";
  }
  if (!out.empty() && name != word) out += std::string(word) + ": the element at this position, counted from 0\n";
  return out.empty() ? std::nullopt : std::optional(out);
}

// "pool-divides-by-kernel", "mutant:pool-divides-by-kernel", "variant:im2col", or the sentence of a wrong model.
std::optional<std::string> kernel(std::string_view word) {
  constexpr std::string_view mutant = "mutant:", variant = "variant:";
  std::string out;
  const std::string_view id = word.starts_with(mutant) ? word.substr(mutant.size()) : word;
  for (const WrongModel& model : wrong_models()) {
    if (model.id != id && model.sentence != word) continue;
    const auto bug = std::ranges::find(mutation::mutants(), model.id, &mutation::Mutant::id);
    const bool is_planted = bug != mutation::mutants().end();
    out += model.id + ": wrong model" + (is_planted ? ", and planted bug of " + bug->op : "") + ": " + model.sentence +
           "\n";
  }
  for (const mutation::Variant& each : mutation::variants())
    if (word.starts_with(variant) && each.name == word.substr(variant.size()))
      out += std::string(word) + ": variant, a correct kernel of another kind: " + each.description + "\n";
  return out.empty() ? std::nullopt : std::optional(out);
}

std::optional<std::string> graph_pattern(std::string_view word) {
  const auto& all = generators::graph_patterns();
  if (std::ranges::find(all, word) == all.end()) return std::nullopt;
  return std::string(word) +
         ": pattern of drawn graphs: these nodes follow each other; a star stands behind nodes that share an operand\n";
}

// "Pad > MaxPool": the operators of a graph, as its causes have them.
std::optional<std::string> chain(std::string_view word) {
  std::string out;
  for (std::string_view rest = word; !rest.empty();) {
    const std::size_t end = std::min(rest.find(" > "), rest.size());
    if (!find_operator("", rest.substr(0, end))) return std::nullopt;
    rest.remove_prefix(std::min(end + 3, rest.size()));
    out = std::string(word) + ": operators of the steps of a graph, in their order\n";
  }
  return out.empty() ? std::nullopt : std::optional(out);
}

// "A3 clamp0", "A3 clamp0 4 signed-trunc 1".
std::optional<std::string> followed(std::string_view word) {
  const std::size_t blank = std::min(word.find(' '), word.size());
  if (!find_ruling(word.substr(0, blank))) return std::nullopt;
  std::string out;
  std::istringstream words{std::string(word.substr(blank))};
  for (std::string each; words >> each;) {
    if (generalised(each) == "#") continue;
    const auto read = reading(std::string(word.substr(0, blank)) + "=" + each);
    if (!read) return std::nullopt;
    out += *read;
  }
  return out.empty() ? std::nullopt : std::optional(out);
}

// "AveragePool-19", and as causes have them: "AveragePool-19, 22".
std::optional<std::string> versions(std::string_view word) {
  const std::size_t comma = std::min(word.find(", "), word.size());
  const std::string_view first = word.substr(0, comma);
  const std::string rest = generalised(word.substr(std::min(comma + 2, word.size())));
  if (!rest.empty() && rest != "#") return std::nullopt;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      if (text(definition.version) == first)
        return std::string(word) + (rest.empty() ? ": operator version, " : ": versions of one operator, ") +
               page_of(definition.version) + "\n";
  return std::nullopt;
}

// -- words that are put together

// Says everything a word means; where that is nothing, what its parts mean, which are taken apart so many times again.
std::string told(std::string_view word, int depth);

std::string told_by_itself(std::string_view word) {
  std::string all;
  for (const auto& answer : {ruling, table_word, type, constraint, law_word, trait, profile, reading, recipe, setting,
                             attribute, operand, input, kernel, graph_pattern, chain, versions, followed})
    all += answer(word).value_or("");
  return all;
}

// Puts together what is said of two parts; nothing where one of them means nothing.
std::string both(const std::string& one, const std::string& other) {
  return one.empty() || other.empty() ? "" : one + other;
}

// "auto_pad == VALID and any(strides) > 1", and what each of its words says.
std::string predicate(std::string_view word) {
  static const auto definitions = [] {
    std::vector<const Definition*> all;
    for (const Operator* op : operators())
      for (const Definition& each : op->versions()) all.push_back(&each);
    return all;
  }();
  const Result<Predicate> found = parse_predicate(word);
  if (!found || found->mistake(definitions)) return "";
  constexpr std::size_t most_lines = 4;  // of a word that means much
  const std::string text = found->text();
  std::string out = text + ": predicate, in the language of ledgers and of --filter: true or false of a case\n";
  std::vector<std::string> seen;
  for (const auto& [at, each] : plain_words(text)) {
    std::string meanings;
    for (const auto& answer : {table_word, type, constraint, recipe, attribute, operand})
      meanings += answer(each).value_or("");
    std::istringstream lines(meanings);
    std::size_t count = 0;
    for (std::string line; count < most_lines && std::getline(lines, line);) {
      if (line.find(": attribute,") != line.npos) line.resize(std::min(line.find(", of "), line.size()));
      if (std::ranges::find(seen, line) != seen.end()) continue;
      out += "  " + seen.emplace_back(line) + "\n";
      ++count;
    }
  }
  return out;
}

// "zero in the last column", "Indices zero anywhere".
std::string pattern(std::string_view word) {
  std::string out;
  const std::size_t blank = word.find(' ');
  if (blank != word.npos && operand(word.substr(0, blank)))
    return both(*operand(word.substr(0, blank)), pattern(word.substr(blank + 1)));
  for (const auto& [likeness, words] : likeness_words())
    if (word.starts_with(std::string(likeness) + " ")) {
      out = std::string(likeness) + ": " + std::string(words) + "\n";
      word.remove_prefix(likeness.size() + 1);
      break;
    }
  const auto region = std::ranges::find(region_words(), word, &Word::first);
  return region == region_words().end() ? "" : out + std::string(word) + ": " + std::string(region->second) + "\n";
}

// "AveragePool-19 fail value zero in the last column".
std::string signature(std::string_view word, int depth) {
  const std::size_t first = std::min(word.find(' '), word.size()),
                    second = std::min(word.find(' ', std::min(first + 1, word.size())), word.size());
  const auto version = versions(word.substr(0, first));
  const std::string_view state = word.substr(std::min(first + 1, word.size()), second - std::min(first + 1, second));
  if (!version || !oracles::state_named(state)) return "";
  std::string_view look = word.substr(std::min(second + 1, word.size()));
  std::string out = *version + table_word(state).value_or("");
  for (const auto& [reason, words] : reason_words())
    if (look == reason || look.starts_with(std::string(reason) + " ")) {
      out += std::string(reason) + ": " + std::string(words) + "\n";
      look.remove_prefix(std::min(reason.size() + 1, look.size()));
      break;
    }
  if (look.empty()) return out;
  const std::string says = told(look, depth);
  return out + (says.empty() ? std::string(look) + ": what the backend said, each number as #\n" : says);
}

// The bracket that the last one closes.
std::size_t last_opening(std::string_view word) {
  int closed = 0;
  for (std::size_t at = word.size(); at-- > 0;) {
    closed += word[at] == ')' ? 1 : word[at] == '(' ? -1 : 0;
    if (closed == 0) return at;
  }
  return word.npos;
}

// "fail (shape, smaller)", "(TF32 inputs)", "SAME_* pads for … (pool-pads-same-undilated)".
std::string bracketed(std::string_view word, int depth) {
  const std::size_t open = last_opening(word);
  if (!word.ends_with(')') || open == word.npos) return "";
  const std::string inner = told(word.substr(open + 1, word.size() - open - 2), depth);
  return open < 2 ? inner : both(told(word.substr(0, open - 1), depth), inner);
}

// "where auto_pad == VALID", "needs SAME_UPPER", "14 fail", "judged:".
std::string introduced(std::string_view word, int depth) {
  constexpr std::string_view heads[] = {"where",    "needs",      "perhaps",      "follows", "class",  "cause",
                                        "rests on", "right with", "explained by", "verdict", "ruling", "constraint"};
  if (word.ends_with(':')) return table_word(word.substr(0, word.size() - 1)).value_or("");
  for (const std::string_view head : heads)
    if (word.starts_with(std::string(head) + " ")) {
      const std::string says = told(word.substr(head.size() + 1), depth);
      return says.empty() ? "" : table_word(head).value_or("") + says;
    }
  const std::size_t blank = word.find(' ');
  return blank != word.npos && generalised(word.substr(0, blank)) == "#" ? told(word.substr(blank + 1), depth) : "";
}

std::string told_as_one(std::string_view word, int depth) {
  std::string all = told_by_itself(word);
  if (!all.empty() || depth == 0) return all;
  if (all = predicate(word); !all.empty()) return all;
  if (all = pattern(word); !all.empty()) return all;
  for (const auto& answer : {bracketed, introduced, signature})
    if (all = answer(word, depth - 1); !all.empty()) return all;
  return "";
}

// The end of the part of a list that begins at 0 and is longer than `least`, and the place behind what follows it.
std::pair<std::size_t, std::size_t> next_part(std::string_view list, std::size_t least) {
  std::pair<std::size_t, std::size_t> next(list.size(), list.size());
  for (const std::string_view between : {"; or ", "; ", ", ", ": ", " or ", " and "})
    if (const std::size_t at = list.find(between, least); at < next.first) next = {at, at + between.size()};
  return next;
}

// "f32, any order, functions within their bounds; or every node of the body rounded to f16": the shortest parts that
// mean something.
std::string listed(std::string_view list, int depth) {
  constexpr int most_tried = 8;  // ends of a part
  std::string out;
  while (!list.empty()) {
    const auto [number, behind] = next_part(list, 0);
    if (!out.empty() && generalised(list.substr(0, number)) == "#" &&
        !dtype_named(list.substr(0, number))) {  // one more of what was told: "causes 1, 2"
      list.remove_prefix(behind);
      continue;
    }
    std::string says;
    std::size_t least = 0;
    for (int tried = 0; says.empty(); ++tried) {
      const auto [end, after] = next_part(list, least);
      says = told_as_one(list.substr(0, end), depth);
      if (says.empty() && (end == list.size() || tried == most_tried)) return "";
      least = end + 1;
      if (!says.empty()) list.remove_prefix(after);
    }
    out += says;
  }
  return out;
}

std::string told(std::string_view word, int depth) {
  const std::string all = told_as_one(word, depth);
  return all.empty() && depth > 0 ? listed(word, depth - 1) : all;
}

}  // namespace

std::optional<std::string> meaning_of(std::string_view word) {
  constexpr std::size_t longest = 600;  // of a word that is taken apart
  constexpr int depth = 5;
  if (word == "case" || word == "line" || word == "case line") return std::string(grammar);
  if (word == "graph") return std::string(of_graphs);
  const std::string all = told(word, word.size() > longest ? 0 : depth);
  return all.empty() ? std::nullopt : std::optional(all);
}

std::vector<std::string> glossary_words() {
  std::vector<std::string> words{"case", "graph"};
  for (const std::span<const Word>& table : word_tables())
    for (const auto& [name, ignored] : table)
      if (name.find('#') == name.npos) words.emplace_back(name);
  for (const Ruling& ruling : rulings()) {
    words.emplace_back(ruling.id);
    for (const std::string_view each : ruling.readings) words.emplace_back(each);
  }
  for (const Constraint& each : general_constraints()) words.push_back(each.id);
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      for (const Constraint& each : definition.constraints) words.push_back(op->name() + "." + each.id);
  for (const Operator* op : operators())
    for (const AttributeSpec& each : op->versions().back().attributes) words.push_back(each.name);
  for (const MetamorphicRelation& each : laws()) words.emplace_back(each.id);
  for (const auto& [name, ignored] : special_traits()) words.emplace_back(name);
  for (const Profile& each : profiles()) words.emplace_back(each.name);
  for (const WrongModel& each : wrong_models()) words.push_back(each.id);
  for (const std::string& family : recipe_families()) words.push_back(family);
  std::ranges::sort(words);
  words.erase(std::ranges::unique(words).begin(), words.end());
  return words;
}

std::string_view case_grammar() { return grammar; }
std::string_view graph_grammar() { return of_graphs; }

}  // namespace assay::suites
