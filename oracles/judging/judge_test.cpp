// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/judge.h"

#include "reference/case_view.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

using namespace assay;
using namespace assay::oracles;

namespace {

Tensor floats(Shape shape, std::vector<float> values) {
  Tensor t({DType::f32, std::move(shape)});
  std::ranges::copy(values, t.as<float>().begin());
  return t;
}

// Both data sets of a case of one input besides its weights, answered by a formula of its values.
template <class F>
Outcome answered_by(const Case& c, F&& formula) {
  Outcome out;
  for (int set = 0; set < data_sets; ++set) {
    const Operands in = operands(c, set);
    const auto x = in[0]->as<float>();
    out.sets.push_back({formula(std::vector<float>(x.begin(), x.end()))});
  }
  return out;
}

// A float with 11 bits of its significand, to nearest even, as TF32 hardware takes it.
float tf32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu);
}

// The second data set of a stated recipe is the negated first; so is the answer of a linear operator without a bias.
Outcome answered(const Shape& shape, std::vector<float> values) {
  Outcome out;
  out.sets.push_back({floats(shape, values)});
  for (float& value : values) value = -value;
  out.sets.push_back({floats(shape, values)});
  return out;
}

const std::string valid_ceil =
    "AveragePool-11 opset=11 ir=8 X=f32[1,1,5]~iota:1 auto_pad=VALID kernel_shape=2 strides=2 ceil_mode=1";
const std::string all_padding = "AveragePool-22 opset=22 ir=10 X=f32[1,1,2]~lit:3,4 kernel_shape=1 pads=1,1";

// Judges a case whose data hold in both sets, answered by these numbers of a type.
template <class T>
State state_of(const std::string& line, DType type, std::vector<T> values) {
  Tensor answer({type, {static_cast<Int>(values.size())}});
  std::ranges::copy(values, answer.as<T>().begin());
  Outcome out;
  for (int set = 0; set < data_sets; ++set) out.sets.push_back({answer});
  return judge(case_of(line), out).state;
}

}  // namespace

TEST_CASE("The ruling passes and is named", "[judge][A7]") {
  const Verdict v = judge(case_of(valid_ceil), answered({1, 1, 3}, {1.5, 3.5, 5}));
  CHECK(v.state == State::pass);
  CHECK(v.level == Level::L0);
  CHECK(v.followed.at("A7") == "ceil");
}

TEST_CASE("Another reading that fits is contested, and named", "[judge][A7]") {
  const Verdict v = judge(case_of(valid_ceil), answered({1, 1, 2}, {1.5, 3.5}));
  CHECK(v.state == State::contested);
  CHECK(text(v.readings) == "A7=text-floor");
  CHECK(v.followed.at("A7") == "text-floor");
}

TEST_CASE("Of many wrong elements no more are looked at than are asked for", "[judge]") {
  const Case c = case_of("AveragePool-22 opset=22 ir=10 X=f32[1,1,12]~iota:1 kernel_shape=1");
  std::vector<float> shifted(12);
  for (std::size_t i = 0; i < shifted.size(); ++i) shifted[i] = static_cast<float>(i) + (i < 2 ? 1.0f : 2.0f);
  for (const Tier tier : {Tier::exact, Tier::fast}) {
    Judgement judgement;
    judgement.tier = tier;
    const Judge all(c, judgement);
    judgement.most_wrong = 3;
    const Judge few(c, judgement);
    const Outcome outcome = answered({1, 1, 12}, shifted);
    const Verdict whole = all.judge(outcome), part = few.judge(outcome);
    CHECK(whole.elements == 24);
    CHECK(whole.detail.empty());
    CHECK(part.state == State::fail);
    CHECK(part.elements == 5);
    CHECK(part.detail == "looked at up to wrong element 3");
    CHECK(part.evidence->index == whole.evidence->index);
    CHECK(all.offenders(outcome, whole).size() == 20);
    CHECK(few.offenders(outcome, part).size() == 3);
  }
}

TEST_CASE("Of a large output that no filter speaks for a sample is looked at, the last element among it", "[judge]") {
  const Case c = case_of("AveragePool-22 opset=22 ir=10 X=f32[1,1,12]~iota:1 kernel_shape=1");
  Judgement judgement;
  judgement.tier = Tier::exact;
  judgement.most_elements = 4;
  const Judge few(c, judgement);
  std::vector<float> values(12);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) + 1;
  const Verdict right = few.judge(answered({1, 1, 12}, values));
  CHECK(right.state == State::pass);
  CHECK(right.elements == 8);
  CHECK(right.detail == "8 elements looked at, of outputs of 24 a sample");
  values.back() = 0;
  const Outcome wrong = answered({1, 1, 12}, values);
  CHECK(few.judge(wrong).state == State::fail);
  CHECK(few.offenders(wrong, few.judge(wrong)).size() == 2);
}

TEST_CASE("A value outside every reading is a fail with a certificate", "[judge]") {
  const Verdict v = judge(case_of(valid_ceil), answered({1, 1, 3}, {1.5, 3.5, 2.5}));
  CHECK(v.state == State::fail);
  CHECK(v.because == "value");
  REQUIRE(v.evidence);
  CHECK(v.evidence->index == Shape{0, 0, 2});
  CHECK(v.evidence->got == "0x1.4p+1");
  CHECK(v.evidence->want == "0x1.4p+2");
  CHECK(v.evidence->taps.size() == 2);  // the one cell, and the divisor
}

TEST_CASE("Every element that made the verdict is listed", "[judge]") {
  const Judge bench(case_of(valid_ceil));
  const Outcome outcome = answered({1, 1, 3}, {1, 3.5, 2.5});
  const std::vector<Offender> offenders = bench.offenders(outcome, bench.judge(outcome));
  REQUIRE(offenders.size() == 4);  // the first and last element, in both data sets
  CHECK((offenders[1].set == 0 && offenders[1].index == 2 && offenders[2].set == 1 && offenders[2].index == 0));
  CHECK(hexadecimal(offenders[1].got) == "0x1.4p+1");
  CHECK(hexadecimal(offenders[1].want.value()) == "0x1.4p+2");
  const Outcome floored = answered({1, 1, 2}, {1.5, 3.5});
  CHECK(bench.offenders(floored, bench.judge(floored)).empty());  // another shape
  const Outcome right = answered({1, 1, 3}, {1.5, 3.5, 5});
  CHECK(bench.offenders(right, bench.judge(right)).empty());
}

TEST_CASE("NaN and zero are both right over no cell, and the report names which", "[judge][A9]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(judge(case_of(all_padding), answered({1, 1, 4}, {nan, 3, 4, nan})).followed.at("A9") == "nan");
  CHECK(judge(case_of(all_padding), answered({1, 1, 4}, {0, 3, 4, 0})).followed.at("A9") == "zero");
  CHECK(judge(case_of(all_padding), answered({1, 1, 4}, {1, 3, 4, 0})).state == State::fail);
}

TEST_CASE("A near miss: refused passes, executed is accepted, and a reading that fits is contested", "[judge][A4]") {
  const Case both =
      case_of("Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,3]~const:1@init auto_pad=SAME_UPPER pads=0,0");
  CHECK(judge(both, Outcome::failure(Outcome::Kind::refused, "no")).state == State::pass);
  CHECK(judge(both, Outcome::failure(Outcome::Kind::unsupported, "no")).state == State::unsupported);
  CHECK(judge(both, Outcome::failure(Outcome::Kind::crashed, "SIGSEGV")).state == State::error);
  CHECK(judge(both, answered({1, 1, 2}, {6, 9})).readings == Readings().with("A4", "pads-win"));
  CHECK(judge(both, answered({1, 1, 4}, {3, 6, 9, 7})).readings == Readings().with("A4", "auto-wins"));
  CHECK(judge(both, answered({1, 1, 3}, {1, 1, 1})).state == State::accepted);
}

TEST_CASE("A refusal is contested where a reading leaves the model without a window", "[judge][A7]") {
  // ceil((1 - 2) / 2) + 1 = 1 window as ruled; the printed formula ceil((1 - 2 + 1) / 2) = 0 gives none.
  const Case c =
      case_of("AveragePool-10 opset=10 ir=8 X=f32[1,1,1]~iota:1 auto_pad=VALID kernel_shape=2 strides=2 ceil_mode=1");
  const Verdict v = judge(c, Outcome::failure(Outcome::Kind::refused, "no window"));
  CHECK(v.state == State::contested);
  CHECK(v.detail == "refused under A7=text-floor: no window");
  CHECK(v.followed.at("A7") == "text-floor");
  CHECK(judge(c, Outcome::failure(Outcome::Kind::unsupported, "no")).state == State::unsupported);
}

TEST_CASE("Narrow inputs are named where they give the whole output, and not for one spoilt element",
          "[judge][below]") {
  const Case c = case_of("Conv-11 opset=11 ir=8 X=f32[1,1,256]~normal:7 W=f32[1,1,1]~lit:0x1.234566p+0@init");
  const float w = 0x1.234566p+0f;
  const auto scaled = [](std::vector<float> x, float by, float (*narrow)(float)) {
    for (float& value : x) value = narrow(value) * by;
    return floats({1, 1, 256}, x);
  };
  const auto kept = [](float value) { return value; };
  const Verdict whole = judge(c, answered_by(c, [&](const auto& x) { return scaled(x, tf32(w), tf32); }));
  CHECK(whole.state == State::below);
  CHECK(whole.detail == "explained by: TF32 inputs");
  const Verdict one = judge(c, answered_by(c, [&](const auto& x) {
                              Tensor y = scaled(x, w, kept);
                              y.template as<float>()[10] *= 1.0005f;
                              return y;
                            }));
  CHECK(one.state == State::below);
  CHECK(one.detail == "2 of 512 elements off; TF32 inputs may give them, but the other 510 meet the level");
}

TEST_CASE("One spoilt element is not explained by an arithmetic, whatever the operator", "[judge][below]") {
  using Values = std::vector<float>;
  const auto is_told_apart = [](const char* text, Shape shape, Values (*formula)(const Values&)) {
    const Case c = case_of(text);
    const Verdict v = judge(c, answered_by(c, [&](const Values& x) {
                              Values y = formula(x);
                              y[10] *= 1.0002F;
                              return floats(shape, y);
                            }));
    INFO(text << ": " << v.detail);
    CHECK(v.state == State::below);
    CHECK(v.detail.starts_with("2 of 512 elements off; "));
  };
  is_told_apart("AveragePool-22 opset=22 ir=10 X=f32[1,1,258]~normal:3 kernel_shape=3", {1, 1, 256},
                [](const Values& x) {
                  Values y;
                  for (std::size_t i = 0; i < 256; ++i) y.push_back((x[i] + x[i + 1] + x[i + 2]) / 3);
                  return y;
                });
  is_told_apart("ReduceSum-13 opset=13 ir=8 data=f32[256,2]~normal:3 axes=i64[1]~values:1@init keepdims=0", {256},
                [](const Values& x) {
                  Values y;
                  for (std::size_t i = 0; i < 256; ++i) y.push_back(x[2 * i] + x[2 * i + 1]);
                  return y;
                });
  is_told_apart("Exp-13 opset=13 ir=8 input=f32[256]~normal:3", {256}, [](const Values& x) {
    Values y;
    for (const float each : x) y.push_back(static_cast<float>(std::exp(static_cast<double>(each))));
    return y;
  });
}

TEST_CASE("A shifted window over subnormal data is not taken for flushing, flushing is", "[judge][below]") {
  const Case c = case_of("AveragePool-22 opset=22 ir=10 X=f32[1,1,40]~subnormal:3 kernel_shape=2");
  const Verdict shifted = judge(c, answered_by(c, [](const std::vector<float>& x) {
                                  std::vector<float> y;
                                  for (std::size_t i = 0; i < 39; ++i)
                                    y.push_back((x[(i + 1) % 40] + x[(i + 2) % 40]) / 2);
                                  return floats({1, 1, 39}, y);
                                }));
  CHECK(shifted.state == State::below);
  CHECK(shifted.detail.find("explained by") == std::string::npos);
  const Verdict flushed =
      judge(c, answered_by(c, [](const std::vector<float>& x) {
              const auto zero = [](float value) { return std::abs(value) < 0x1p-126f ? 0.0f : value; };
              std::vector<float> y;
              for (std::size_t i = 0; i < 39; ++i) y.push_back(zero((zero(x[i]) + zero(x[i + 1])) / 2));
              return floats({1, 1, 39}, y);
            }));
  CHECK(flushed.state == State::below);
  CHECK(flushed.detail.starts_with("explained by: subnormals flushed"));
}

TEST_CASE("What hardware may do beyond the level is below, one step further is wrong (elementwise 5.3)",
          "[judge][below]") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();
  const std::string acosh = "Acosh-9 opset=9 ir=8 input=f32[2]~hold:0x1p+127,2";
  CHECK(state_of<float>(acosh, DType::f32, {infinity, 1.316957897F}) == State::below);  // the square overflows
  CHECK(state_of<float>("Acosh-9 opset=9 ir=8 input=f32[2]~hold:0x1p+60,2", DType::f32, {infinity, 1.316957897F}) ==
        State::fail);
  const std::string cast = "Cast-23 opset=23 ir=10 input=f32[2]~hold:0x1p-149,1 to=11";
  CHECK(state_of<double>(cast, DType::f64, {0, 1}) == State::below);  // a subnormal read as zero
  CHECK(state_of<double>(cast, DType::f64, {0x1p-150, 1}) == State::fail);
  const std::string leaky = "LeakyRelu-16 opset=16 ir=8 X=f32[2]~hold:-0x1p-128,1 alpha=0.5";
  CHECK(state_of<float>(leaky, DType::f32, {-0x1p-128F, 1}) == State::below);  // not below zero where it is zero
  CHECK(state_of<float>(leaky, DType::f32, {-0x1p-127F, 1}) == State::fail);
  const std::string gelu = "Gelu-20 opset=20 ir=8 X=f64[2]~hold:0x1p+1021,1";
  CHECK(state_of<double>(gelu, DType::f64, {largest, 0.8413447460685429}) == State::below);  // f32 that saturates
  CHECK(state_of<double>(gelu, DType::f64, {1e30, 0.8413447460685429}) == State::fail);
}

TEST_CASE("What excuses f32 excuses f64 that is computed in it; a quotient may be a product with the reciprocal",
          "[judge][below]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto softplus = [](const char* x) {
    return "Softplus-22 opset=22 ir=10 X=f64[2]~hold:" + std::string(x) + ",0";
  };
  CHECK(state_of<double>(softplus("100"), DType::f64, {infinity, 0x1.62e42fefa39efp-1}) == State::below);  // e^100
  CHECK(state_of<double>(softplus("80"), DType::f64, {infinity, 0x1.62e42fefa39efp-1}) == State::fail);
  // 10^10 is a number of f32, and so is 3 times its third, rounded twice: by the formula nothing remains.
  const std::string mod = "Mod-13 opset=13 ir=8 A=f64[2]~hold:10000000000,7 B=f64[2]~hold:3,4 fmod=1";
  CHECK(state_of<double>(mod, DType::f64, {1, 3}) == State::pass);
  CHECK(state_of<double>(mod, DType::f64, {0, 3}) == State::below);
  CHECK(state_of<double>(mod, DType::f64, {1, 2}) == State::fail);
  // 49 (1 / 49) is 1 - 2^-53.
  const std::string div = "Div-14 opset=14 ir=8 A=f64[2]~hold:49,6 B=f64[2]~hold:49,4";
  CHECK(state_of<double>(div, DType::f64, {0x1.fffffffffffffp-1, 1.5}) == State::below);
  CHECK(state_of<double>(div, DType::f64, {0x1.ffffffffffffdp-1, 1.5}) == State::fail);
}

TEST_CASE("A refusal of Clip with min above max is contested before 13, and no other value is right", "[judge][E6]") {
  const std::string clip = "Clip-12 opset=12 ir=8 input=f32[2]~hold:0,9 min=f32[]~hold:2.5 max=f32[]~hold:1";
  const auto refused = [](const std::string& line) {
    return judge(case_of(line), Outcome::failure(Outcome::Kind::refused, "no range"));
  };
  CHECK(refused(clip).state == State::contested);
  CHECK(refused(clip).detail == "refused under E6=refuse: no range");
  CHECK(state_of<float>(clip, DType::f32, {1, 1}) == State::pass);
  CHECK(state_of<float>(clip, DType::f32, {2.5F, 2.5F}) == State::contested);
  CHECK(state_of<float>(clip, DType::f32, {0, 9}) == State::fail);
  CHECK(refused("Clip-13 opset=13 ir=8 input=f32[2]~hold:0,9 min=f32[]~hold:2.5 max=f32[]~hold:1").state ==
        State::refused);
  CHECK(refused("Clip-12 opset=12 ir=8 input=f32[2]~hold:0,9 min=f32[]~hold:1 max=f32[]~hold:2.5").state ==
        State::refused);
}

TEST_CASE("An infinite weight over padding: the term may be absent or NaN", "[judge][A14]") {
  const Case c = case_of("Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,3]~lit:inf,1,1@init pads=1,1");
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  // The padded tap of output 0 meets inf: 1*1 + 2*1 without the term. The others tap a positive cell with inf.
  CHECK(judge(c, answered({1, 1, 4}, {3, inf, inf, inf})).followed.at("A14") == "skip");
  CHECK(judge(c, answered({1, 1, 4}, {nan, inf, inf, inf})).followed.at("A14") == "multiply");
  CHECK(judge(c, answered({1, 1, 4}, {4, inf, inf, inf})).state == State::fail);
}

TEST_CASE("The same number everywhere shows nothing", "[judge]") {
  const Case c = case_of("AveragePool-22 opset=22 ir=10 X=f32[1,1,9]~const:2 kernel_shape=2");
  std::vector<float> twos(8, 2);
  Outcome right;
  right.sets = {{floats({1, 1, 8}, twos)}, {floats({1, 1, 8}, std::vector<float>(8, -2))}};
  CHECK(judge(c, right).state == State::pass);  // the two data sets differ
  const Case pinned = case_of("Conv-11 opset=11 ir=8 X=f32[1,1,8]~const:0 W=f32[1,1,1]~const:2@init");
  CHECK(judge(pinned, answered({1, 1, 8}, std::vector<float>(8, 0))).state == State::unscored);
}

TEST_CASE("Shapes alone: right ones pass without a level, and say so", "[judge][shapes]") {
  const auto said = [](DType dtype, Shape shape) {
    Outcome out;
    out.kind = Outcome::Kind::shapes;
    out.types.assign(2, {TensorType{dtype, std::move(shape)}});
    return out;
  };
  const Case c = case_of(valid_ceil);  // A7: [1,1,3] as ruled, [1,1,2] by the printed formula
  const Verdict right = judge(c, said(DType::f32, {1, 1, 3}));
  CHECK(right.state == State::pass);
  CHECK(right.because == "shape only");
  CHECK_FALSE(right.level);
  CHECK(right.followed.empty());
  CHECK(judge(c, said(DType::f32, {1, -1, 3})).state == State::pass);
  CHECK(judge(c, said(DType::f32, {-1, -1, -1})).state == State::unscored);
  CHECK(judge(c, said(DType::f32, {1, 1, 2})).state == State::contested);
  CHECK(judge(c, said(DType::f32, {1, 1, 2})).followed.at("A7") == "text-floor");
  CHECK(judge(c, said(DType::f32, {1, 1, 4})).because == "shape");
  CHECK(judge(c, said(DType::f32, {1, 3})).state == State::fail);
  CHECK(judge(c, said(DType::f16, {1, 1, 3})).because == "type");
  Outcome one_set = said(DType::f32, {1, 1, 3});
  one_set.types.pop_back();
  CHECK(judge(c, one_set).because == "count");
}

TEST_CASE("Shapes alone for a near miss: accepted", "[judge][shapes]") {
  Outcome out;
  out.kind = Outcome::Kind::shapes;
  out.types.assign(2, {TensorType{DType::f32, {1, 1, 3}}});
  // Two channels in X, one in W, one group.
  const Case c = case_of("Conv-11 opset=11 ir=8 X=f32[1,2,4]~small:1 W=f32[1,1,2]~small:2");
  CHECK(judge(c, out).state == State::accepted);
}
