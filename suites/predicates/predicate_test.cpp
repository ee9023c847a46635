// SPDX-License-Identifier: Apache-2.0
#include "suites/predicates/predicate.h"

#include "generators/generators.h"
#include "reference/case_view.h"

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

#include <algorithm>
#include <vector>

namespace assay::suites {
namespace {

const std::string pool =
    "AveragePool-19 opset=21 ir=8 X=f16[1,2,5,6]~small:1 auto_pad=SAME_UPPER kernel_shape=2,3 dilations=1,2";
const std::string conv = "Conv-11 opset=11 ir=8 X=f32[1,4,5]~iota:1 W=f32[4,1,2]~lit:1,10@init group=4 shapes=symbolic";
const std::string two_axes = "Conv-11 opset=11 ir=8 X=f32[1,1,4,4]~iota:1 W=f32[1,1,2,3]~small:1 pads=1,0,0,3";
const std::string empty = "AveragePool-19 opset=19 ir=8 X=f32[1,0,4]~iota:1 kernel_shape=2";
const std::string odd_groups = "Conv-11 opset=11 ir=8 X=f32[1,3,4]~iota:1 W=f32[2,1,2]~sign:1 group=3";
const std::string no_kernel = "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1";
const std::string no_weights = "Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1";
const std::vector<std::string> all_lines{pool, conv, two_axes, empty, odd_groups, no_kernel, no_weights};

Predicate predicate(const std::string& text) {
  const Result<Predicate> read = parse_predicate(text);
  INFO(text);
  if (!read) FAIL(read.error());
  return *read;
}

bool holds(const std::string& text, const std::string& line) { return predicate(text).holds(case_of(line)); }

std::string error(const std::string& text) {
  const Result<Predicate> read = parse_predicate(text);
  return read ? "" : read.error();
}

std::string mistake(const std::string& text, const std::vector<std::string>& versions) {
  std::vector<const Definition*> definitions;
  for (const Operator* op : operators())
    for (const Definition& each : op->versions())
      if (std::ranges::find(versions, assay::text(each.version)) != versions.end()) definitions.push_back(&each);
  REQUIRE(definitions.size() == versions.size());
  const std::optional<Error> found = predicate(text).mistake(definitions);
  return found ? found->text : "";
}

TEST_CASE("attributes count with the defaults of their version", "[predicate]") {
  CHECK(holds("auto_pad == SAME_UPPER", pool));
  CHECK(holds("auto_pad == NOTSET", conv));
  CHECK(holds("auto_pad in (SAME_UPPER, SAME_LOWER) and any(dilations) > 1", pool));
  CHECK_FALSE(holds("auto_pad in (VALID, SAME_LOWER)", pool));
  CHECK(holds("all(strides) == 1", pool));
  CHECK(holds("all(kernel_shape) == 2", conv));                  // from W
  CHECK(holds("ceil_mode == 0 and group == 1", pool) == false);  // a pool has no group
}

TEST_CASE("types, ranks, extents, recipes and presence", "[predicate]") {
  CHECK(holds("type(X) == f16", pool));
  CHECK(holds("rank(X) == 4 and dim(X,1) == 2 and dim(X,-1) == 6", pool));
  CHECK_FALSE(holds("dim(X,4) >= 0", pool));
  CHECK_FALSE(holds("dim(X,-5) >= 0", pool));
  CHECK(holds("elements(X) == 60 and opset > 19", pool));
  CHECK(holds("any(shape(X)) == 0", empty));
  CHECK_FALSE(holds("any(shape(X)) == 0", pool));
  CHECK(holds("has(W) and not has(B)", conv));
  CHECK(holds("initializer(W) and not initializer(X)", conv));
  CHECK(holds("recipe(W) == lit", conv));
  CHECK(holds("shapes == symbolic", conv));
  CHECK(holds("shapes == fixed", pool));
  CHECK(holds("states(group) and not states(strides)", conv));
}

TEST_CASE("a word on the right is an attribute where the operator has one", "[predicate]") {
  CHECK(holds("group == dim(X,1)", conv));
  CHECK(holds("dim(W,0) == group", conv));
  CHECK_FALSE(holds("dim(X,2) == group", conv));
  CHECK(holds("auto_pad == \"SAME_UPPER\"", pool));
}

TEST_CASE("lists are compared element by element, the shorter one repeated", "[predicate]") {
  // pads 1,0,0,3 against the kernel 2,3: only the last is as large.
  CHECK(holds("any(pads) >= kernel_shape", two_axes));
  CHECK_FALSE(holds("any(pads) > kernel_shape", two_axes));
  CHECK_FALSE(holds("all(pads) >= kernel_shape", two_axes));
  CHECK(holds("any(kernel_shape) <= pads", two_axes));
  CHECK(holds("any(pads) in (3, 7)", two_axes));
  CHECK_FALSE(holds("all(pads) in (3, 7)", two_axes));
  CHECK(holds("all(pads) in (0, 1, 3)", two_axes));
}

TEST_CASE("a comparison with something the case does not have is false, whichever way it points", "[predicate]") {
  for (const char* relation : {"==", "!=", "<", "<=", ">", ">="}) {
    CHECK_FALSE(holds(std::string("rank(B) ") + relation + " 1", conv));
    CHECK_FALSE(holds(std::string("group ") + relation + " 1", pool));
    CHECK_FALSE(holds(std::string("all(kernel_shape) ") + relation + " 0", no_weights));
    CHECK_FALSE(holds(std::string("all(kernel_shape) ") + relation + " 0", no_kernel));
  }
}

TEST_CASE("near misses can be named by the constraint they break", "[predicate]") {
  CHECK(holds("breaks(C6)", odd_groups));
  CHECK_FALSE(holds("breaks(C6)", conv));
  CHECK(holds("breaks(G1)", no_weights));
}

TEST_CASE("whatever a case lacks or breaks, any claim about its attributes can be checked on it", "[predicate]") {
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      for (const std::string& constraint : generators::breakable(definition))
        for (std::uint64_t index = 0; index < 12; ++index) {
          const DType type = definition.types_of(definition.data().type).front();
          const std::optional<Case> broken = generators::near_miss(definition, type, constraint, 1, index);
          for (const AttributeSpec* each : op->attributes_ever()) {
            const bool is_list = each->kind == AttributeSpec::Kind::ints;
            const Predicate claim = predicate(is_list ? "any(" + each->name + ") == 0" : each->name + " == 0");
            if (broken) CHECK_NOTHROW(claim.holds(*broken));
          }
        }
}

TEST_CASE("not binds closer than and, and closer than or", "[predicate]") {
  CHECK(holds("has(X) or has(B) and has(B)", pool));
  CHECK_FALSE(holds("(has(X) or has(B)) and has(B)", pool));
  CHECK(holds("not has(B) or has(B)", pool));
  CHECK(predicate("((has(X)) or (has(B) and (not (has(X) or has(B)))))").text() ==
        "has(X) or has(B) and not (has(X) or has(B))");
}

TEST_CASE("a mistake in writing is told with its column", "[predicate]") {
  CHECK(error("") == "column 1: expected a value, found the end");
  CHECK(error("group = 1") == "column 7: write == instead of =");
  CHECK(error("group > 1 xor has(B)") == "column 11: expected `and`, `or` or the end, found 'xor'");
  CHECK(error("rnk(X) > 4") == "column 1: there is no function 'rnk'; did you mean rank?");
  CHECK(error("has(X") == "column 6: expected ')', found the end");
  CHECK(error("auto_pad in ()") == "column 14: expected a value, found ')'");
  CHECK(error("dim(X) == 1") == "column 6: expected ',', found ')'");
  CHECK(error("group == \"a") == "column 10: this quotation mark is not closed");
  CHECK(error("group == 99999999999999999999") == "column 10: an integer beyond 64 bits");
  CHECK(error("group ; 1") == "column 7: ';' means nothing here");
  CHECK(error("not") == "column 4: expected a value, found the end");
}

TEST_CASE("names and kinds are checked against the operator versions", "[predicate]") {
  CHECK(mistake("any(dilations) > 1", {"AveragePool-19"}).empty());
  CHECK(mistake("any(dilations) > 1", {"AveragePool-11", "AveragePool-19"}).empty());
  CHECK(mistake("any(dilation) > 1", {"AveragePool-19"}) ==
        "column 5: there is no attribute 'dilation'; did you mean dilations?");
  CHECK(mistake("any(dilations) > 1", {"AveragePool-11"}) == "column 5: there is no attribute 'dilations'");
  CHECK(mistake("has(Z)", {"AveragePool-19"}).starts_with("column 5: there is no input 'Z'"));
  CHECK(mistake("dilations > 1", {"AveragePool-19"}) ==
        "column 1: dilations is a list; write any(dilations) or all(dilations)");
  CHECK(mistake("any(ceil_mode) > 1", {"AveragePool-19"}) == "column 5: ceil_mode is no list; leave any and all out");
  CHECK(mistake("auto_pad > 1", {"AveragePool-19"}) == "column 1: auto_pad is a word; compare it with ==, != or in");
  CHECK(mistake("auto_pad == 1", {"AveragePool-19"}) == "column 13: auto_pad cannot be compared with 1; it is a word");
  CHECK(mistake("group == SAME_UPPER", {"Conv-11"}) ==
        "column 10: group cannot be compared with SAME_UPPER; it is a number");
  CHECK(mistake("type(X) == f17", {"Conv-11"}) == "column 12: there is no type 'f17'; did you mean f16?");
  CHECK(mistake("breaks(C99)", {"Conv-11"}).starts_with("column 8: there is no constraint 'C99'"));
  CHECK(mistake("any(pads) >= kernel_shape and group == dim(X,1)", {"Conv-11"}).empty());
}

TEST_CASE("hostile text ends in an error, not in a crash", "[predicate]") {
  const std::string brackets = std::string(2000, '(') + "has(X)" + std::string(2000, ')');
  CHECK(error(brackets) == "column 65: nested more than 64 deep");
  std::string negations;
  for (int i = 0; i < 900; ++i) negations += "not ";
  CHECK(error(negations + "has(X)").find("nested more than 64 deep") != std::string::npos);
  CHECK(error(std::string(1 << 20, '(')) == "column 4097: a predicate has at most 4096 characters");
  CHECK(error("\xff\xfe") == "column 1: a character that means nothing here");
  CHECK(error(std::string("has(X)\0", 7)) == "column 7: a character that means nothing here");
}

// Text of the grammar, drawn at random.
std::string drawn(int depth) {
  const int form = *rc::gen::inRange(0, depth > 0 ? 12 : 8);
  const std::string number = std::to_string(*rc::gen::inRange(-3, 8));
  const std::string relation = *rc::gen::element<std::string>("==", "!=", "<", "<=", ">", ">=");
  const std::string list = *rc::gen::element<std::string>("pads", "strides", "dilations", "kernel_shape", "shape(X)");
  switch (form) {
    case 0: return "has(" + *rc::gen::element<std::string>("X", "W", "B") + ")";
    case 1: return "any(" + list + ") " + relation + " " + number;
    case 2: return "all(" + list + ") " + relation + " " + *rc::gen::element<std::string>("kernel_shape", "1", "opset");
    case 3: return "type(X) in (f16, \"f32\")";
    case 4: return "dim(X," + number + ") " + relation + " rank(W)";
    case 5: return "auto_pad != SAME_UPPER";
    case 6: return "group " + relation + " dim(X,1)";
    case 7: return "breaks(C6)";
    case 8: return "not (" + drawn(depth - 1) + ")";
    case 9: return "(" + drawn(depth - 1) + ") and (" + drawn(depth - 1) + ")";
    case 10: return "(" + drawn(depth - 1) + ") or (" + drawn(depth - 1) + ")";
    default: return drawn(depth - 1) + " or " + drawn(depth - 1) + " and not " + drawn(0);
  }
}

TEST_CASE("what is printed reads as the same predicate", "[predicate]") {
  rc::prop("parse(text(p)) = p, in text and in what holds", [] {
    const Predicate once = predicate(drawn(4));
    const Predicate again = predicate(once.text());
    RC_LOG() << once.text();
    RC_ASSERT(again.text() == once.text());
    for (const std::string& line : all_lines) RC_ASSERT(again.holds(case_of(line)) == once.holds(case_of(line)));
  });
}

TEST_CASE("and, or and not are those of logic", "[predicate]") {
  rc::prop("the text joins, the truth follows", [] {
    const std::string a = drawn(2), b = drawn(2);
    const Case c = case_of(*rc::gen::elementOf(all_lines));
    const bool a_holds = predicate(a).holds(c), b_holds = predicate(b).holds(c);
    RC_ASSERT(predicate("(" + a + ") and (" + b + ")").holds(c) == (a_holds && b_holds));
    RC_ASSERT(predicate("(" + a + ") or (" + b + ")").holds(c) == (a_holds || b_holds));
    RC_ASSERT(predicate("not (" + a + ")").holds(c) != a_holds);
  });
}

TEST_CASE("any text at all is a predicate or an error at a column of it", "[predicate]") {
  rc::prop("reading never throws", [] {
    std::string text = *rc::gen::weightedOneOf<std::string>(
        {{1, rc::gen::arbitrary<std::string>()}, {3, rc::gen::exec([] { return drawn(3); })}});
    if (!text.empty() && *rc::gen::inRange(0, 2)) text[*rc::gen::inRange<std::size_t>(0, text.size())] = '(';
    const Result<Predicate> read = parse_predicate(text);
    if (read) return;
    RC_ASSERT(read.error().starts_with("column "));
    RC_ASSERT(std::stoul(read.error().substr(7)) <= text.size() + 1);
  });
}

}  // namespace
}  // namespace assay::suites
