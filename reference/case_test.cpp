// SPDX-License-Identifier: Apache-2.0
#include "reference/case.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace assay;

namespace {

const std::string full =
    "Conv-22 opset=23 ir=10 X=bf16[1,2,5]~odd5:1 W=bf16[2,2,3]~sign:2@init B=\"\" auto_pad=SAME_UPPER group=1 "
    "strides=2 shapes=symbolic";

std::string complaint(const std::string& text) {
  const Result<Case> parsed = parse_case(text);
  return parsed ? "" : parsed.error();
}

bool mentions(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

}  // namespace

TEST_CASE("A case line reads back to the letter", "[case]") {
  const Result<Case> c = parse_case(full);
  REQUIRE(c);
  CHECK(line(*c) == full);
  CHECK(c->sources.at("W").initializer);
  CHECK(c->node.inputs.at("B").presence == Input::Presence::empty_name);
  CHECK(c->declared == DeclaredShapes::symbolic);
  CHECK(*parse_case(line(*c)) == *c);
  const std::string without = "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 shapes=absent";
  REQUIRE(parse_case(without));
  CHECK(parse_case(without)->declared == DeclaredShapes::absent);
  CHECK(line(*parse_case(without)) == without);
}

TEST_CASE("The id of a case is the first 128 bits of the SHA-256 of its line", "[case]") {
  // FIPS 180-2, appendix B.1.
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(case_id("abc") == "ba7816bf8f01cfea414140de5dae2223");
}

TEST_CASE("A malformed line gets one clear complaint that says what to do", "[case]") {
  CHECK(mentions(complaint("Convv-11"), "did you mean Conv-11"));
  CHECK(mentions(complaint("Conv-12"), "there is no operator version"));
  CHECK(mentions(complaint("Conv"), "write for example Conv-11"));
  CHECK(mentions(complaint(""), "write for example Conv-11"));
  CHECK(mentions(complaint("Conv-11  group=1"), "one space"));
  CHECK(mentions(complaint("Conv-11 opset=22"), "does not select"));
  CHECK(mentions(complaint("Conv-11 grup=1"), "did you mean group"));
  CHECK(mentions(complaint("Conv-11 group=one"), "cannot read"));
  CHECK(mentions(complaint("Conv-11 group=1 group=2"), "given twice"));
  CHECK(mentions(complaint("Conv-11 X=f33[1]~small:1"), "there is no type 'f33'; did you mean f32?"));
  CHECK(mentions(complaint("Conv-11 X=f32[1,-1]~small:1"), "extents"));
  CHECK(mentions(complaint("Conv-11 X=f32[4611686018427387904,4]~small:1"), "2^28"));
  CHECK(mentions(complaint("Conv-11 X=f32[1]~smal:1"), "no recipe"));
  CHECK(mentions(complaint("Conv-11 X=f32[1]~normla:1"), "did you mean normal?"));
  CHECK(mentions(complaint("Conv-11 X=f32[1]~hld:1"), "did you mean hold?"));
  CHECK(mentions(complaint("Conv-11 X=f32[1]~odd:1"), "did you mean odd12?"));
  CHECK(mentions(complaint("Conv-11 X=f32[1]~small"), "has no ':'"));
  CHECK(mentions(complaint("Conv-11 X=f32[1]~small:x"), "seed"));
  CHECK(mentions(complaint("Conv-11 X=f32[1]~lit:1,,2"), "needs numbers"));
  CHECK(mentions(complaint("Conv-11 shapes=none"), "symbolic"));
}

TEST_CASE("A line of right words that states no case is refused", "[case]") {
  CHECK(mentions(complaint("AveragePool-19 opset=19 ir=8"), "no input is given; write for example X=f32"));
  CHECK(mentions(complaint("AveragePool-19 opset=19 ir=8 X=\"\" kernel_shape=2"), "no input is given"));
  const std::string conv = "Conv-11 opset=11 ir=8 X=f32[1,1,3]~iota:1 W=f32[1,1,1]~iota:1 ";
  CHECK(mentions(complaint(conv + "pads=1000000000,0"), "an output of more than 2^28 elements"));
  // 3 cells and twice 2^63 - 1 of padding are one cell where sums wrap around.
  CHECK(mentions(complaint(conv + "pads=9223372036854775807,9223372036854775807"), "a window is too large"));
  CHECK(mentions(complaint(conv + "strides=9223372036854775807"), "a window is too large"));
  CHECK(mentions(complaint(conv + "kernel_shape=9223372036854775807"), "a window is too large"));
  CHECK(mentions(complaint("AveragePool-19 X=f32[1,1,3]~iota:1 kernel_shape=65537 dilations=4294967297"),
                 "a dilated kernel is too large"));
  CHECK(mentions(complaint("Conv-11 X=f32[1,0,9223372036854775807]~iota:1 W=f32[1,1,1]~iota:1"),
                 "an extent of more than"));
  CHECK(complaint(conv + "pads=-1,0").empty());  // a near miss
}

TEST_CASE("An input that the call reads is written out, and reads like the attribute it was before", "[case]") {
  const std::string line_5 = "Reshape-5 opset=5 ir=8 data=f32[2,3]~iota:1 shape=i64[2]~values:-1,2@init";
  const Result<Case> c = parse_case(line_5);
  REQUIRE(c);
  CHECK(line(*c) == line_5);
  CHECK(c->call().ints("shape") == Ints{-1, 2});
  CHECK(c->call().states("shape"));
  CHECK(operands(*c, 1)[1] == operands(*c, 0)[1]);
  CHECK(parse_case("Reshape-1 opset=1 ir=8 data=f32[2,3]~iota:1 shape=-1,2")->call().ints("shape") == Ints{-1, 2});
  const Result<Case> scalar = parse_case("Reshape-5 opset=5 ir=8 data=f32[1]~iota:1 shape=i64[0]~values:");
  REQUIRE(scalar);
  CHECK(scalar->call().ints("shape").empty());
  CHECK(scalar->is_legal());
  for (const char* other : {"i64[2]~hold:-1,2", "i64[3]~values:-1,2", "i64[1]~values:01", "u8[1]~values:-1",
                            "i64[1]~values:9223372036854775808"})
    CHECK(mentions(complaint("Reshape-5 opset=5 ir=8 data=f32[2]~iota:1 shape=" + std::string(other)), "write out"));
}

TEST_CASE("values holds every integer of 64 bits, which a double does not", "[recipe]") {
  const Tensor t = fill(*parse_recipe("values:9007199254740993,-9223372036854775807"), {DType::i64, {2}}, 1);
  CHECK(t.as<std::int64_t>()[0] == 9007199254740993);
  CHECK(t.as<std::int64_t>()[1] == -9223372036854775807);
  CHECK(in_words({"values", "1,2"}) == "1,2, the same in every data set");
}

TEST_CASE("No line crashes the parser", "[case]") {
  Generator random(1);
  for (int trial = 0; trial < 20000; ++trial) {
    std::string bytes = full;
    for (std::uint64_t edits = 1 + random.below(4); edits-- > 0;) {
      const std::size_t at = random.below(bytes.size());
      switch (random.below(3)) {
        case 0: bytes[at] = static_cast<char>(random.below(256)); break;
        case 1: bytes.erase(at, 1 + random.below(6)); break;
        default: bytes.insert(at, bytes.substr(random.below(bytes.size()), random.below(8))); break;
      }
      if (bytes.empty()) bytes = "C";
    }
    if (const Result<Case> c = parse_case(bytes)) REQUIRE(line(*parse_case(line(*c))) == line(*c));
  }
}

TEST_CASE("A recipe builds the bytes its text says", "[recipe]") {
  const auto floats = [](const char* recipe, Int count, int set = 0) {
    const Tensor t = fill(*parse_recipe(recipe), {DType::f32, {count}}, set);
    return std::vector<float>(t.as<float>().begin(), t.as<float>().end());
  };
  CHECK(floats("iota:1", 3) == std::vector<float>{1, 2, 3});
  CHECK(floats("iota:1", 3, 1) == std::vector<float>{-1, -2, -3});
  CHECK(floats("onehot:1", 3) == std::vector<float>{0, 1, 0});
  CHECK(floats("onehot:1", 3, 1) == std::vector<float>{0, 0, 1});
  CHECK(floats("lit:1,-0x1.8p+1", 3) == std::vector<float>{1, -3, 1});
  // SplitMix64 from state 0 gives e220a8397b1dcdaf first (Steele, Lea, Flood; the reference code's first output).
  CHECK(Generator(0).next() == 0xe220a8397b1dcdafULL);
}

TEST_CASE("A recipe is told in words", "[recipe]") {
  CHECK(in_words({"small", "7"}) == "integers from -8 to 8 without 0, seed 7 (8 in the second data set)");
  CHECK(in_words({"odd12", "1"}) == "odd integers of magnitude below 2^12, seed 1 (2 in the second data set)");
  CHECK(in_words({"around-3", "1"}).starts_with("integers from -3 - 8 to -3 + 8"));
  CHECK(in_words({"lit", "1,nan"}) == "1,nan, repeated to fill, negated in the second data set");
  CHECK(in_words({"hold", "0.5"}) == "0.5, repeated to fill, the same in every data set");
  for (const std::string& family : recipe_families())
    CHECK(parse_recipe(family + (family == "stored" ? ":0123456789abcdef" : ":1")));
  CHECK(!parse_recipe("stored:1"));
  CHECK(in_words({"stored", "0123456789abcdef"}) == "numbers of the model, the same in every data set");
}

TEST_CASE("Integer families stay in their range, and the second data set differs from the first", "[recipe]") {
  for (const char* recipe : {"small:3", "sign:3", "odd12:3", "pow2:3", "normal:3", "uniform:3", "cancel:3", "zerosum:3",
                             "logu:3", "subnormal:3", "huge:3", "probe:3"})
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      const Tensor first = fill(*parse_recipe(recipe), {dtype, {64}}),
                   second = fill(*parse_recipe(recipe), {dtype, {64}}, 1);
      INFO(recipe << " " << name(dtype));
      CHECK(first != second);
      CHECK(first == fill(*parse_recipe(recipe), {dtype, {64}}));
    }
  const Tensor odd = fill(*parse_recipe("odd12:5"), {DType::f32, {1000}});
  for (const float value : odd.as<float>()) REQUIRE((std::abs(value) < 4096 && static_cast<Int>(value) % 2 != 0));
  const Tensor tiny = fill(*parse_recipe("subnormal:5"), {DType::f16, {1000}});
  for (const Float16 value : tiny.as<Float16>()) REQUIRE(((value.bits & 0x7c00) == 0 && (value.bits & 0x3ff) != 0));
}

TEST_CASE("hold is the same in every data set; byte, edge and around stay in the range of their type", "[recipe]") {
  CHECK(fill(*parse_recipe("hold:0.5,0.25"), {DType::f32, {3}}, 1) ==
        fill(*parse_recipe("lit:0.5,0.25"), {DType::f32, {3}}));
  const Tensor edge = fill(*parse_recipe("edge:3"), {DType::i8, {1000}});
  for (const std::int8_t value : edge.as<std::int8_t>()) REQUIRE((value <= -127 || value >= 126));
  const Tensor around = fill(*parse_recipe("around250:3"), {DType::u8, {1000}});
  for (const std::uint8_t value : around.as<std::uint8_t>()) REQUIRE(value >= 242);
  CHECK_FALSE(parse_recipe("around256:3"));
}

// 2^(2-p) is the distance of neighbours around 3 in a type of precision p: 2^-9 for binary16.
TEST_CASE("Displacements are multiples of a quarter, or integers and their neighbours", "[recipe]") {
  const Tensor quarter = fill(*parse_recipe("quarter:3"), {DType::bf16, {1000}});
  for (const BFloat16 value : quarter.as<BFloat16>())
    REQUIRE((std::abs(value) <= 3 && std::trunc(4 * value) == 4 * value));
  const Tensor brink = fill(*parse_recipe("brink:3"), {DType::f16, {1000}});
  for (const Float16 value : brink.as<Float16>()) {
    const double off = std::abs(value - std::rint(value));
    REQUIRE((off == 0 || off == 0x1p-9));
  }
  const Tensor astray = fill(*parse_recipe("astray:3"), {DType::f32, {1000}});
  CHECK(std::ranges::count_if(astray.as<float>(), [](float value) { return std::abs(value) >= 8; }) > 150);
}
