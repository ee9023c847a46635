// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/glossary.h"

#include "reference/case.h"
#include "reference/operator.h"
#include "reference/profiles.h"
#include "suites/campaign/signature.h"
#include "suites/planning/laws.h"
#include "suites/triage/case_words.h"

#include <algorithm>
#include <span>
#include <utility>

namespace assay::suites {
namespace {

using Word = std::pair<std::string_view, std::string_view>;

constexpr Word verdicts[] = {
    {"pass", "verdict: every output lies in the interval of the level asked for; for an invalid model: it was refused"},
    {"contested",
     "verdict: wrong as an unclear clause is ruled here, right under another admissible reading of it, which is named; "
     "conforms but under --strict"},
    {"below",
     "verdict: outside the interval of the level asked for, inside what some legitimate arithmetic gives; does not "
     "conform to the level, but breaks no clause: ONNX promises no accuracy"},
    {"fail",
     "verdict: a breach of the text, with a proof: wrong shape, type or number of outputs, or a value that no "
     "legitimate "
     "arithmetic gives; does not conform"},
    {"unscored", "verdict: nothing may be claimed of any output, and why; counts against the suite, not the backend"},
    {"accepted", "verdict: an invalid model was run. What it gives is undefined, so this is told and never a fail"},
    {"unsupported", "verdict: the backend declares that it does not take this, or says that it has no implementation"},
    {"refused", "verdict: a legal model was turned away although nothing declared excludes it; does not conform"},
    {"error",
     "verdict: the backend crashed, hung, took too much memory or gave an answer that is none; does not conform, "
     "whatever the model"},
    {"not run",
     "verdict: the case was put last and left out, since three like it crashed, hung or ate memory; its operator "
     "version "
     "is not certified, --exhaustive runs it"},
};

constexpr Word marks[] = {
    {"unstable", "mark: run again, the same case ended in another way; does not conform"},
    {"session",
     "mark: alone the case ends as its verdict says, and after the cases that the replay line names first it ends "
     "worse: "
     "one of them damages the process; does not conform"},
    {"differs",
     "mark: the same case run in another way (constants, declared shapes, opset, optimisation, threads) ended in "
     "another way; breaks conformance where that other way does"},
    {"stale session",
     "mark: the second data set got the answer to the first: the session kept something; does not conform"},
    {"breaks law",
     "mark: the answers to related cases do not fit together, so one of them is wrong (assay explain 'doubling')"},
    {"inference differs", "mark: ONNX's own shape inference contradicts the text for this case; breaks nothing"},
    {"xfail", "mark: this breach is expected by an entry of the ledger and does not count"},
    {"xpass", "mark: an entry of the ledger expects a breach, and the case passes: remove the entry; does not conform"},
    {"known", "mark: the baseline has this breach as well, so it does not count"},
};

constexpr Word reasons[] = {
    {"value", "reason: a value is outside the interval"},
    {"special",
     "reason: NaN or an infinity that every order of evaluation gives is not there, or one is that none gives"},
    {"shape", "reason: an output has another shape than the text gives it"},
    {"type", "reason: an output has another element type than the text gives it"},
    {"count", "reason: another number of outputs came back"},
    {"crashed", "reason: the process died before it answered"},
    {"timed out", "reason: no answer within --timeout"},
    {"out of memory", "reason: more memory than --memory"},
    {"bits", "reason: the value is right and its bits are not, which the operator keeps (BitCast)"},
    {"garbled", "reason: what came back is no answer by the protocol"},
    {"reading", "reason: another reading of an unclear clause fits"},
    {"undecidable", "reason: of no element anything may be claimed"},
    {"undefined", "reason: the text leaves an element open, so any value and a refusal are admitted"},
    {"vacuous", "reason: every right answer is the same number, so a wrong kernel could pass as well"},
    {"shape only", "reason: type and shape agree; the backend answers no values"},
    {"not implemented", "reason: the runtime says that it has no implementation"},
    {"declared", "reason: the capabilities that the backend declares exclude the case"},
};

constexpr Word levels[] = {
    {"L0", "level: correctly rounded, the exact result rounded once"},
    {"L1", "level: faithful, one of the two numbers next to the exact result"},
    {"L2",
     "level, asked for by default: any order of evaluation, rounded to nearest in an accumulator of f32 (f64 for f64), "
     "and once to the type of the output"},
    {"L2t", "level: as L2 with an accumulator that truncates, twice the error per operation"},
    {"L3", "level: every operation rounded in the type of the output"},
    {"widest",
     "the union over all arithmetic that is admitted: TF32 and bf16 inputs, subnormals flushed, Winograd, f64 computed "
     "in f32, and what the backend declares. Outside of it is a fail"},
    {"Q0", "level of quantized outputs: the exact answer; reported as L0"},
    {"Q1", "level of quantized outputs, asked for by default: any order of requantising in f32 or f64; reported as L2"},
    {"Q2", "level of quantized outputs: fixed point, one step off; reported as widest"},
};

constexpr Word classes[] = {
    {"valid-core", "class of cases: legal, no clause with several readings touches it; decides"},
    {"valid-contested", "class of cases: legal, touched by a clause with several readings; decides"},
    {"valid-degenerate", "class of cases: legal, with an empty extent or six axes and more; decides"},
    {"nonfinite", "class of cases: NaN or infinities among the data; judged and shown apart, does not decide"},
    {"overflow-int", "class of cases: an integer sum beyond 32 bits; judged and shown apart, does not decide"},
    {"invalid-static", "class of cases: the model breaks a constraint; gives rates of acceptance, and errors"},
};

constexpr Word states_of_versions[] = {
    {"conforms", "of an operator version: cases were judged, and none breaks conformance"},
    {"not conforming", "of an operator version: a case fails, is below the level, refused or an error"},
    {"not certified", "of an operator version: no case could be judged"},
    {"judged", "the share of legal cases that was judged; the rest is unsupported, refused or unscored"},
    {"apart", "breaches in classes of cases that do not decide: NaN or infinities, integer overflow"},
};

constexpr Word line_words[] = {
    {"opset", "word of a case line: the opset that the model imports"},
    {"ir", "word of a case line: the IR version of the model"},
    {"@init", "word of a case line, behind a recipe: the input is a constant of the model, an initializer"},
    {"init", "word of a case line, behind a recipe as in small:7@init: the input is a constant, an initializer"},
    {"outputs", "word of a case line: the optional outputs that the node has besides the required ones"},
    {"shapes", "word of a case line: how the model declares the extents of its inputs; left out, by numbers"},
    {"shapes=symbolic", "word of a case line: the model declares the extents of its inputs by symbols, each its own"},
    {"shapes=absent", "word of a case line: the model declares the rank of its inputs and no extent"},
    {"\"\"", "word of a case line, as in B=\"\": an optional input that is left out by an empty name"},
    {"ek", "the dilated kernel: (kernel - 1) * dilation + 1"},
    {"ulp", "the distance of neighbouring numbers of the output type at the exact result"},
    {"data set", "every model is run on two sets of data in one session; the second shows what a session keeps"},
    {"presentation",
     "the same case run in another way: constants, declared shapes, opset, IR version, optimisation, threads"},
    {"near miss", "a model that breaks exactly one constraint"},
};

constexpr Word variants[] = {
    {"repeated", "what showed a mark: the same case run again"},
    {"twice in one session", "what showed a mark: the same case and data run twice in one session"},
    {"pack", "what showed a mark: the node beside others in one model"},
    {"weights=inputs", "the same case with its constants as inputs"},
    {"weights=constant", "the same case with its weights and parameters as constants"},
    {"SAME_UPPER", "value of auto_pad: ceil(in / stride) windows, the odd cell of padding at the end"},
    {"SAME_LOWER", "value of auto_pad: ceil(in / stride) windows, the odd cell of padding at the beginning"},
    {"VALID", "value of auto_pad: no padding"},
    {"NOTSET", "value of auto_pad: padding as the attribute pads says"},
};

constexpr std::span<const Word> tables[] = {verdicts,           marks,      reasons, levels, classes,
                                            states_of_versions, line_words, variants};

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
    out += "\n";
  } else {
    out += "  readings  no other is admitted\n";
  }
  const std::string versions = versions_with(ruling.id);
  return out + "  applies to " + (versions.empty() ? "no operator version yet" : versions) + "\n";
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

std::optional<std::string> table_word(std::string_view word) {
  for (const std::span<const Word>& table : tables)
    for (const auto& [name, words] : table)
      if (name == word) return std::string(name) + ": " + std::string(words) + "\n";
  return std::nullopt;
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

// "opset=20", "ir=3", "threads=2", "optimization=none": of a case line, of a mark, of a report.
std::optional<std::string> setting(std::string_view word) {
  constexpr Word settings[] = {{"opset", "the model imports this opset"},
                               {"ir", "the model has this IR version"},
                               {"threads", "the backend was told to take so many threads"},
                               {"optimization", "the backend was told to optimise so much"}};
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

}  // namespace

std::optional<std::string> meaning_of(std::string_view word) {
  if (word == "case" || word == "line" || word == "case line") return std::string(grammar);
  if (word == "graph") return std::string(of_graphs);
  if (const Ruling* ruling = find_ruling(word)) return text_of(*ruling);
  std::string all;  // a word may mean several things
  for (const auto& answer :
       {table_word, type, constraint, law_word, trait, profile, reading, recipe, setting, attribute, input})
    all += answer(word).value_or("");
  return all.empty() ? std::nullopt : std::optional(all);
}

std::vector<std::string> glossary_words() {
  std::vector<std::string> words{"case", "graph"};
  for (const std::span<const Word>& table : tables)
    for (const auto& [name, ignored] : table) words.emplace_back(name);
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
  for (const std::string& family : recipe_families()) words.push_back(family);
  std::ranges::sort(words);
  words.erase(std::ranges::unique(words).begin(), words.end());
  return words;
}

std::string_view case_grammar() { return grammar; }
std::string_view graph_grammar() { return of_graphs; }

}  // namespace assay::suites
