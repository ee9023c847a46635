// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/glossary.h"

#include "oracles/judging/verdict.h"
#include "reference/operator.h"
#include "suites/campaign/signature.h"
#include "suites/planning/laws.h"
#include "suites/triage/case_words.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>

namespace assay::suites {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

std::string meaning(std::string_view word) { return meaning_of(word).value_or(""); }

std::string contents(const char* file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
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
                           "pack", "twice in one session", "SAME_LOWER"}) {
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

}  // namespace assay::suites
