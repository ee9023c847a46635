// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/glossary.h"

#include "generators/family.h"
#include "generators/graphs/graph_drawing.h"
#include "oracles/exact/operands.h"
#include "oracles/judging/verdict.h"
#include "reference/operator.h"
#include "suites/campaign/confirmation.h"
#include "suites/campaign/exhaust.h"
#include "suites/campaign/signature.h"
#include "suites/expectations/ledger.h"
#include "suites/mutation/mutants.h"
#include "suites/mutation/variants.h"
#include "suites/planning/laws.h"
#include "suites/planning/suite.h"
#include "suites/triage/case_words.h"
#include "suites/triage/word_tables.h"
#include "suites/triage/wrong_models.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace assay::suites {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

std::string meaning(std::string_view word) { return meaning_of(word).value_or(""); }

std::string contents(const char* file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string upper(std::string_view word) {
  std::string loud(word);
  for (char& c : loud) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return loud;
}

// Reads what stands in quotes in each match of a pattern in one of our own sources: what that prints.
std::set<std::string> printed(const char* file, const std::string& pattern) {
  const std::string text = contents(file);
  const std::regex part(pattern), quoted("\"([^\"]+)\"");
  std::set<std::string> words;
  for (std::sregex_iterator at(text.begin(), text.end(), part), end; at != end; ++at) {
    const std::string found = at->str();
    for (std::sregex_iterator each(found.begin(), found.end(), quoted); each != end; ++each)
      words.insert((*each)[1].str().substr(0, (*each)[1].str().find_last_not_of(' ') + 1));
  }
  return words;
}

void check_all(const std::set<std::string>& words, std::size_t least) {
  CHECK(words.size() >= least);
  for (const std::string& word : words) {
    INFO(word);
    CHECK_FALSE(meaning(word).empty());
  }
}

}  // namespace

TEST_CASE("Every word of a verdict, a mark, a level and a class has a meaning", "[glossary]") {
  for (const oracles::State state : oracles::all_states)
    CHECK_THAT(meaning(name(state)), StartsWith(std::string(name(state)) + ": verdict"));
  using Kind = oracles::Outcome::Kind;
  for (const Kind kind : {Kind::crashed, Kind::timed_out, Kind::out_of_memory, Kind::garbled})
    CHECK_THAT(meaning(oracles::name(kind)), Contains("reason"));
  using oracles::Level;
  for (const Level level : {Level::L0, Level::L1, Level::L2, Level::L2t, Level::L3, Level::widest})
    CHECK_FALSE(meaning(oracles::name(level)).empty());
  for (const char* word :
       {"unstable", "session", "differs", "stale session", "breaks law", "inference differs", "xfail", "xpass", "known",
        "valid-core", "nonfinite", "invalid-static", "not run", "conforms", "Q1"})
    CHECK_FALSE(meaning(word).empty());
}

TEST_CASE("Every ruling, reading and constraint has one, and says where it applies", "[glossary]") {
  for (const Ruling& ruling : rulings()) {
    INFO(ruling.id);
    CHECK_THAT(meaning(ruling.id), Contains(std::string(ruling.title)) && Contains(std::string(ruling.decision)));
    for (const std::string_view reading : ruling.readings)
      CHECK_THAT(meaning(std::string(ruling.id) + "=" + std::string(reading)),
                 Contains("'" + std::string(reading) + "'"));
  }
  CHECK_THAT(meaning("A3"), Contains("clamp0 (ruled), signed-trunc, signed-floor") && Contains("AveragePool-19"));
  CHECK_THAT(meaning("signed-floor"), Contains("another admissible reading of A3"));
  CHECK(meaning("A3=ceil").empty());
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      for (const Constraint& each : definition.constraints) {
        INFO(op->name() << "." << each.id);
        CHECK_THAT(meaning(op->name() + "." + each.id), Contains(each.text) && Contains(text(definition.version)));
      }
  for (const Constraint& each : general_constraints()) {
    CHECK_THAT(meaning(each.id), Contains(each.text) && Contains("every operator"));
    CHECK_THAT(meaning("Conv." + each.id), Contains(each.text));
  }
  CHECK(meaning("AveragePool.C99").empty());
}

TEST_CASE("So have types, recipes, laws and traits", "[glossary]") {
  CHECK(meaning("bf16") == "bf16: element type, tensor(bfloat16) in ONNX, 16 bits\n");
  CHECK_THAT(meaning("~small:8617"),
             Contains("integers from -8 to 8 without 0, seed 8617 (8618 in the second data set)"));
  CHECK_THAT(meaning("odd12:3@init"), Contains("below 2^12") && Contains("a constant of the model"));
  for (const std::string& family : recipe_families()) CHECK_THAT(meaning(family), Contains("recipe"));
  for (const MetamorphicRelation& each : laws()) CHECK_THAT(meaning(each.id), Contains(std::string(each.formula)));
  for (const auto& [trait, words] : special_traits()) CHECK_THAT(meaning(trait), Contains(std::string(words)));
  CHECK_THAT(meaning("breaks C6"), Contains("Conv.C6"));
}

TEST_CASE("So has each word of a case line by itself, and each way to run it again", "[glossary]") {
  CHECK_THAT(meaning("X=f32[1,1,4]~iota:1@init"),
             Contains("tensor(float) and shape [1,1,4]") && Contains("a count from 1 on"));
  CHECK_THAT(meaning("kernel_shape=3,3"), Contains("attribute, required, of AveragePool-1"));
  CHECK_THAT(meaning("ceil_mode"), Contains("default 0") && !Contains("AveragePool-7 "));
  for (const char* word : {"opset=19", "ir=8", "threads=2", "optimization=none", "shapes=absent", "weights=inputs",
                           "pack", "twice in one session", "SAME_LOWER", "names=1", "outputs=bound", "outputs=Indices",
                           "disable=Pad_Fusion", "inside=loop", "second set of data"}) {
    INFO(word);
    CHECK_FALSE(meaning(word).empty());
  }
  const std::string line =
      "Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~sign:2@init auto_pad=VALID shapes=symbolic";
  for (std::size_t at = line.find(' '); at != std::string::npos; at = line.find(' ', at + 1)) {
    INFO(line.substr(at + 1, line.find(' ', at + 1) - at - 1));
    CHECK_FALSE(meaning(line.substr(at + 1, line.find(' ', at + 1) - at - 1)).empty());
  }
}

TEST_CASE("So has every heading, row and column that is printed", "[glossary]") {
  for (const oracles::State state : oracles::all_states)
    CHECK_THAT(meaning(upper(name(state))), Contains(upper(name(state)) + ": verdict"));
  using Kind = oracles::Outcome::Kind;
  for (int kind = 0; kind <= static_cast<int>(Kind::missing); ++kind) {
    INFO(kind);
    CHECK_FALSE(meaning(oracles::name(static_cast<Kind>(kind))).empty());
  }
  check_all(printed("reports/terminal.cpp", "return \"[A-Z]+\";"), 5);
  check_all(printed("reports/exhaust_report.cpp", "\"[A-Z]{2,}\""), 3);
  check_all(printed("tools/verbs/replay.cpp", "\\brow\\([^;]*?\\) <<"), 19);
  check_all(printed("reports/difference.cpp", "names = \\{[^}]*\\}"), 10);
  check_all(printed("reports/session.cpp", "words = (row.exceptions.empty\\(\\) \\? )?\"[a-z ]+\""), 3);
  check_all(printed("reports/model_run.cpp", "Table table\\(\\{[^}]*\\}"), 4);
  for (const char* word : {"unstable", "session", "differs", "stale session", "breaks law", "xfail", "xpass"})
    CHECK_THAT(meaning(upper(word)), Contains(upper(word) + ": mark"));
  for (const Complaint::Kind kind : {Complaint::Kind::expired, Complaint::Kind::unused, Complaint::Kind::passing})
    CHECK_THAT(meaning(upper(name(kind))), Contains("entry of the ledger"));
  for (const std::string_view standing : standings) CHECK_FALSE(meaning(standing).empty());
  for (const char* word : {"except",
                           "except 1, 3",
                           "except 12",
                           "cause 2",
                           "(hangs: cause 2)",
                           "crashes: causes 1, 2",
                           "data 0",
                           "(cause 2)",
                           "where",
                           "needs",
                           "special values",
                           "special values:",
                           "nothing to judge",
                           "readings followed:",
                           "judged",
                           "replay",
                           "not shrunk",
                           "found",
                           "MARK",
                           "14 fail",
                           "conforms, L2",
                           "fail (shape, smaller)",
                           "A3 clamp0 4 signed-trunc 1",
                           "AveragePool-19, 22",
                           "wrong values",
                           "Pad > MaxPool: wrong values; right with disable=Pad_Fusion",
                           "found nothing",
                           "operator version",
                           "right with",
                           "right with optimization=basic",
                           "needs SAME_UPPER, dilation > 1",
                           "X[0,1,3]"}) {
    INFO(word);
    CHECK_FALSE(meaning(word).empty());
  }
}

TEST_CASE("So have the wrong models, planted bugs and variants, by id and by sentence", "[glossary]") {
  CHECK(wrong_models().size() > 100);
  for (const WrongModel& each : wrong_models()) {
    INFO(each.id);
    CHECK_THAT(meaning(each.id), Contains(each.sentence));
    CHECK_THAT(meaning(each.sentence), Contains(each.id));
  }
  for (const mutation::Mutant& each : mutation::mutants())
    CHECK_THAT(meaning("mutant:" + each.id), Contains("planted bug of " + each.op));
  for (const mutation::Variant& each : mutation::variants())
    CHECK_THAT(meaning("variant:" + each.name), Contains(each.description));
}

TEST_CASE("So has what a signature says of the answer to any pinned case", "[glossary]") {
  std::set<std::string> regions{"anywhere", "in the second data set"};
  for (const char* family : {"axis", "elementwise", "product", "window"})
    regions.merge(printed(("generators/families/" + std::string(family) + ".cpp").c_str(),
                          "\"(in|at|past|after|before) [a-z ]+\""));
  for (const SuiteCase& each : pinned_cases("suites")) {
    const Call call = each.c.call();
    if (!each.c.definition().violated(call).empty()) continue;
    if (const auto shape = oracles::oracle_of(each.c.version).shape(call, {}))
      for (const generators::Region& region : generators::family_of(each.c.definition()).regions(each.c, *shape))
        regions.emplace(region.name);
  }
  check_all(regions, 25);
  for (const std::string& region : regions)
    for (const auto& [likeness, ignored] : likeness_words()) {
      INFO(likeness << " " << region);
      CHECK_THAT(meaning(std::string(likeness) + " " + region),
                 Contains(std::string(likeness) + ": ") && Contains(region + ": "));
    }
  const std::string told =
      meaning(text(Signature{{"", "TopK", 11}, oracles::State::fail, "value", "Indices anywhere"}));
  CHECK_THAT(told, Contains("TopK-11: ") && Contains("fail: verdict") && Contains("value: reason") &&
                       Contains("Indices: output of ") && Contains("anywhere: signature"));
  CHECK_THAT(meaning("Conv-11 refused no kernel for rank #"),
             Contains("refused: verdict") && Contains("no kernel for rank #: what the backend said"));
}

TEST_CASE("So has the arithmetic that excuses an answer to any pinned case", "[glossary]") {
  using oracles::Tolerance;
  std::set<std::string> names;
  for (const DType accumulator : {DType::f16, DType::bf16})
    for (const SuiteCase& each : pinned_cases("suites")) {
      const Call call = each.c.call();
      if (!each.c.definition().violated(call).empty()) continue;
      const oracles::Arithmetic declared{accumulator, true, true, true, true};
      for (const auto& answer :
           oracles::oracle_of(each.c.version).answer(call, operands(each.c, 0), Readings(), declared)) {
        const Int count = volume(answer->shape());
        for (const Int index : std::set<Int>{0, count / 2, count - 1}) {
          if (index < 0 || index >= count) continue;
          names.insert(answer->element(index).required.arithmetic);
          for (const Tolerance& wider : answer->wider(index)) names.insert(wider.arithmetic);
        }
      }
    }
  names.erase("");
  check_all(names, 60);
  for (const std::string& each : names) {
    INFO(each);
    CHECK_THAT(meaning("(" + each + ")"), Contains("arithmetic, "));
  }
}

TEST_CASE("So have the patterns and hazards of drawn graphs", "[glossary]") {
  std::set<std::string> words;
  for (const std::string_view each : generators::graph_patterns()) words.emplace(each);
  const std::size_t patterns = words.size();
  for (std::uint64_t index = 0; index < 10 * patterns; ++index) {
    const generators::DrawnGraph drawn = generators::draw_graph(1, index);
    for (const std::string_view hazard : drawn.hazards) words.emplace(hazard);
    CHECK_THAT(in_words(drawn.graph), Contains("step: ") && Contains("the outputs"));
  }
  check_all(words, patterns + 20);
}

TEST_CASE("A predicate is read, and told word by word", "[glossary]") {
  const std::string told = meaning("where any(dilations) > 1 and auto_pad in (SAME_LOWER, SAME_UPPER)");
  CHECK_THAT(told, StartsWith("where: predicate of a cause") && Contains("any: of a predicate") &&
                       Contains("dilations: attribute, default 1 per spatial axis\n") &&
                       Contains("SAME_LOWER: value of auto_pad"));
  CHECK_THAT(meaning("type(X) == f16 and not has(B)"), Contains("X: input of ") && Contains("f16: element type"));
  for (const char* word : {"auto_pad ==", "any(nothing) > 1", "pads > 1", "where"})
    CHECK(meaning(word).find("language of ledgers") == std::string::npos);
}

TEST_CASE("A word that is none has no meaning, and every word that is listed has one", "[glossary]") {
  for (const char* word : {"", "blow", "A99", "nothing", "=", "~", ":", "small:", "small:x", "Conv.", "."}) {
    INFO(word);
    CHECK(meaning(word).empty());
  }
  for (const std::string& word : glossary_words()) {
    INFO(word);
    CHECK_FALSE(meaning(word).empty());
  }
}

TEST_CASE("The grammar of case lines stands in the README as explain says it", "[glossary]") {
  CHECK(meaning("case") == case_grammar());
  CHECK(contents("suites/README.md").find(std::string(case_grammar())) != std::string::npos);
  CHECK(meaning("graph") == graph_grammar());
  CHECK(contents("suites/graphs/README.md").find(std::string(graph_grammar())) != std::string::npos);
}

TEST_CASE("A case is told word by word", "[glossary]") {
  const std::string told =
      in_words(*parse_case("Conv-22 opset=23 ir=10 X=bf16[1,2,5]~odd5:1 W=bf16[2,2,3]~sign:2@init B=\"\" "
                           "auto_pad=SAME_UPPER shapes=symbolic"));
  for (const char* words :
       {"operator version, in force from opset 22 on", "imports opset 23 of ai.onnx", "IR version 10",
        "input of type tensor(bfloat16) and shape [1,2,5], a graph input; holds odd integers of magnitude below 2^5, "
        "seed 1",
        "a constant of the model (initializer); holds -1 and 1, seed 2", "optional input, left out by an empty name",
        "attribute, default NOTSET\n", "declares extents by symbols",
        "attribute, default 1 per spatial axis, which is [1] here", "legal, class valid-core",
        "bfloat16[X_0,X_1,X_2] X", "X = "})
    CHECK_THAT(told, Contains(words));
  const std::string miss =
      in_words(*parse_case("Conv-11 opset=11 ir=8 X=f32[1,3,4]~iota:1 W=f32[2,1,2]~sign:1 group=3"));
  CHECK_THAT(miss, Contains("invalid") && Contains("breaks constraint Conv.C6: dim(W,0) mod group = 0"));
}

TEST_CASE("A graph is told step by step", "[glossary]") {
  const char* const line =
      "graph opset=13 ir=8 a=f32[1,2,4]~small:1 b=f32[3,2,1]~sparse2:2@init c=Conv(a,b) d=Relu(c) "
      "e=Concat(c,d){axis=1} out=e inside=loop";
  const std::string told = in_words(*parse_graph_case(line));
  for (const char* words :
       {"graph                             a graph: nodes", "imports opset 13 of ai.onnx", "IR version 8",
        "type tensor(float) and shape [1,2,4], a graph input", "a constant of the model (initializer); holds",
        "step: Conv-11 of X = a, W = b gives Y = c, of type", "step: Relu-13 of X = c gives Y = d",
        "step: Concat-13 of inputs_0 = c, inputs_1 = d gives", "axis=1", "the outputs", "in a Loop of one turn"})
    CHECK_THAT(told, Contains(words));
}

}  // namespace assay::suites
