// SPDX-License-Identifier: Apache-2.0
// The exact answers of com.microsoft's products of integers (windows-and-products 3.19).
//
// The sums are exact integers S. What is scaled to floats is S alpha sa sb (+ bias): in f32, in any order, at most five
// roundings of the product, an underflow in between of at most η each, and one of the sum; f16 is rounded to once more.
// DynamicQuantizeMatMul is judged by A as it is quantized: the codes and the zero point that are admitted make an
// interval of S, and the scale is off by 3 u besides. What QGemm rounds to integers is requantized in either order of
// rounding and adding, one rounding of alpha a_scale besides.
#include "oracles/families/products.h"
#include "oracles/rules/requantizing.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>
#include <limits>

namespace assay::oracles {
namespace {

MatrixMeeting meeting_of(const Call& call) {
  const auto flag = [&](const char* name) { return call.definition().attribute(name) && call.integer(name) != 0; };
  return {call.shape("A"), call.shape("B"), flag("transA"), flag("transB")};
}
std::optional<Shape> shape(const Call& call, const Readings&) { return meeting_of(call).shape(); }

Answers answer_of_int16(const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
  const auto terms = [meeting = meeting_of(call)](Int index, const auto& f) {
    const MatrixLine a = meeting.of_a(index), b = meeting.of_b(index);
    for (Int k = 0; k < meeting.depth(); ++k) f({a.at(k), b.at(k), 0, 0});
  };
  return integer_sums(meeting_of(call).shape(), {"A", *in.at(0), {}}, {"B", *in.at(1), {}}, terms, readings);
}

// Numbers that belong to columns, or one for all.
class Columns {
 public:
  explicit Columns(const std::optional<Tensor>& from, Scalar absent = {})
      : values_(from ? scalars(*from).values : std::vector<Scalar>{absent}) {}
  const Scalar& of(Int column) const { return values_[values_.size() == 1 ? 0 : static_cast<std::size_t>(column)]; }

 private:
  std::vector<Scalar> values_;
};

// A code less its zero point, and between which it may be.
struct Code {
  Int right, least, most;
};
using Codes = std::vector<Code>;
struct IntegerSum {
  Int right = 0, least = 0, most = 0;
};

Codes exact_codes(const Tensor& a, Int zero) {
  Codes codes;
  for (const Scalar& each : scalars(a).values)
    codes.push_back({each.as_integer() - zero, each.as_integer() - zero, each.as_integer() - zero});
  return codes;
}

// Returns what DynamicQuantizeLinear may make of A at that zero point, in either order of rounding and adding.
Codes dynamic_codes(const Tensor& a, const DynamicRange& range, Int zero) {
  const Requantizing rounds{DType::u8}, adds{DType::u8, true};
  const Scalar scale = rounded(range.scale, format_of(DType::f32));
  Codes codes;
  for (const Scalar& each : scalars(a).values) {
    if (range.is_zero()) {
      codes.push_back({0, 0, 0});
      continue;
    }
    const Ratio e = divided(ratio(each), scale);
    const Ratio slack = range.is_exact ? Ratio() : DynamicRange::slack(e);
    const Element element = joined(within(rounds, e, slack, zero), within(adds, e, slack, zero));
    codes.push_back({element.nearest->as_integer() - zero, element.required.range->lower.as_integer() - zero,
                     element.required.range->upper.as_integer() - zero});
  }
  return codes;
}

// Holds what is multiplied, and by what it is scaled.
struct IntegerProduct {
  std::string unscored;  // why nothing is claimed
  std::vector<Codes> a;  // of each zero point that is admitted, the right one first
  Tensor b;
  Columns b_zero;
  std::optional<Tensor> c;  // in steps of the product
  Scalar alpha, a_scale;
  bool is_a_scale_exact = true;
  Columns b_scale, bias;
  bool has_bias = false;
  DType type = DType::f32;  // of the output
  Scalar y_scale = {}, y_zero = {};
};

class IntegerProductAnswer final : public Answer {
 public:
  IntegerProductAnswer(MatrixMeeting meeting, IntegerProduct of)
      : meeting_(std::move(meeting)), of_(std::move(of)), b_(of_.b) {
    if (of_.c) c_.emplace(*of_.c);
  }

  Shape shape() const override { return meeting_.shape(); }
  DType dtype() const override { return of_.type; }

  Element element(Int index) const override {
    if (!of_.unscored.empty()) return unscored(of_.unscored);
    Element out = is_float(of_.type) ? scaled(index) : requantized(index);
    out.terms = meeting_.depth();
    return out;
  }

  std::vector<Tolerance> wider(Int index) const override {
    const Element e = element(index);
    if (e.kind != Kind::finite) return {};
    if (is_integer(of_.type)) return fixed_point({of_.type}, steps(index), scaling(index), zero(), e);
    return of_.type == DType::f16 ? std::vector{every_step_in_f16(index), of_dequantized(index)}
                                  : std::vector{of_dequantized(index)};
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    each_term(index, [&](Int a, Int b, Int w) {
      const Int code = of_.a.empty() ? 0 : of_.a.front()[static_cast<std::size_t>(a)].right;
      all.push_back(
          {{std::to_string(code), std::to_string(w)}, "A[" + std::to_string(a) + "] " + place("B", b_.shape(), b)});
    });
    if (c_) all.push_back({{std::to_string(of_c(index))}, "C"});
    const auto add = [&](const char* name, std::string factor) { all.push_back({{std::move(factor)}, name}); };
    add("alpha", hexadecimal(of_.alpha));
    add("a_scale", hexadecimal(of_.a_scale));
    add("b_scale", hexadecimal(b_scale(index)));
    if (of_.has_bias) add("bias", hexadecimal(of_.bias.of(column(index))));
    if (is_float(of_.type)) return all;
    add("y_scale", hexadecimal(of_.y_scale));
    add("y_zero_point", std::to_string(zero()));
    return all;
  }

 private:
  Int column(Int index) const { return index % meeting_.columns(); }
  Int zero() const { return of_.y_zero.as_integer(); }
  const Scalar& b_scale(Int index) const { return of_.b_scale.of(column(index)); }

  template <class F>
  void each_term(Int index, F&& f) const {
    const MatrixLine a = meeting_.of_a(index), b = meeting_.of_b(index);
    const Int b_zero = of_.b_zero.of(column(index)).as_integer();
    for (Int k = 0; k < meeting_.depth(); ++k) f(a.at(k), b.at(k), b_.at(b.at(k)).as_integer() - b_zero);
  }

  // Broadcast from the last axis on.
  Int of_c(Int index) const {
    const Shape &own = c_->shape(), at = position(meeting_.shape(), index);
    Int flat = 0;
    for (std::size_t i = 0; i < own.size(); ++i)
      flat = flat * own[i] + (own[i] == 1 ? 0 : at[at.size() - own.size() + i]);
    return c_->at(flat).as_integer();
  }

  IntegerSum sum(Int index) const {
    IntegerSum out{0, std::numeric_limits<Int>::max(), std::numeric_limits<Int>::min()};
    for (const Codes& codes : of_.a) {
      IntegerSum one;
      each_term(index, [&](Int a, Int, Int w) {
        const Code& code = codes[static_cast<std::size_t>(a)];
        one.right += code.right * w;
        one.least += std::min(code.least * w, code.most * w);
        one.most += std::max(code.least * w, code.most * w);
      });
      if (&codes == &of_.a.front()) out.right = one.right;
      out.least = std::min(out.least, one.least);
      out.most = std::max(out.most, one.most);
    }
    const Int added = c_ ? of_c(index) : 0;
    return {out.right + added, out.least + added, out.most + added};
  }

  // Returns what is scaled to integers: nothing where alpha is 0, which then counts as 1. Times a_scale it has 48 bits.
  Int steps(Int index) const { return of_.alpha.is_zero() ? 0 : sum(index).right; }
  Scaling scaling(Int index) const {
    Scalar factor = of_.alpha.is_zero() ? scalar(Int{1}) : of_.alpha;
    factor.significand *= of_.a_scale.significand;
    factor.exponent += of_.a_scale.exponent;
    factor.negative = factor.negative != of_.a_scale.negative;
    return {factor, b_scale(index), of_.y_scale, is_one(of_.alpha) ? 5 : 6};
  }
  static bool is_one(const Scalar& x) { return !x.negative && x.significand == 1 && x.exponent == 0; }

  Element requantized(Int index) const {
    const auto in_order = [&](bool adds_first) {
      return oracles::requantized({of_.type, adds_first}, steps(index), scaling(index), zero());
    };
    return joined(in_order(false), in_order(true));
  }

  // alpha sa sb.
  Dyadic factor(Int index) const { return of_.alpha.value() * of_.a_scale.value() * b_scale(index).value(); }
  Dyadic bias(Int index) const { return of_.has_bias ? of_.bias.of(column(index)).value() : Dyadic(); }

  // Tells whether a part of the product may overflow f32 where the product does not.
  bool may_overflow(Int index, const Dyadic& size) const {
    const Dyadic most = Dyadic::power_of_two(126), alpha = abs(of_.alpha.value()), sa = abs(of_.a_scale.value()),
                 sb = abs(b_scale(index).value());
    const Dyadic parts[] = {size, alpha, sa, sb};
    for (unsigned chosen = 1; chosen < 16; ++chosen) {
      Dyadic product{1, 0};
      for (unsigned i = 0; i < 4; ++i)
        if (chosen >> i & 1U) product = product * parts[i];
      if (!(product < most)) return true;
    }
    return false;
  }

  Element scaled(Int index) const {
    for (const Scalar* each : {&of_.alpha, &of_.a_scale, &b_scale(index)})
      if (!each->is_finite()) return unscored("a scale is infinite or NaN");
    if (of_.has_bias && !of_.bias.of(column(index)).is_finite()) return unscored("the bias is infinite or NaN");
    const IntegerSum s = sum(index);
    const Dyadic size{std::max({std::abs(s.least), std::abs(s.most), std::abs(s.right)}), 0}, by = abs(factor(index));
    if (may_overflow(index, size)) return unscored("a part of the product may overflow");
    Element out;
    out.value = {Dyadic{s.right, 0} * factor(index) + bias(index), 1};
    out.magnitude = {size * by + abs(bias(index)), 1};
    out.required.arithmetic = "sums of integers, scaled in f32 in any order";
    out.required.budget = budget(index, s, format_of(DType::f32));
    return out;
  }

  // Five roundings of the product, eight where a_scale is computed, one of the sum; η for each that underflows.
  Ratio budget(Int index, const IntegerSum& s, const Format& format) const {
    const Int size = std::max({std::abs(s.least), std::abs(s.most), std::abs(s.right)});
    const Dyadic by = abs(factor(index)), u = Dyadic::power_of_two(format.unit_exponent() - 6);
    const Int spread = std::max(s.most - s.right, s.right - s.least);
    const Dyadic product = Dyadic{size, 0} * by;
    const bool is_exact = spread == 0 && of_.is_a_scale_exact && rounds_nothing(index, s.right, format);
    if (is_exact) return sum_of_bias(index, s.right, format);
    const Dyadic off = Dyadic{spread, 0} * by + product * Dyadic{65 * (of_.is_a_scale_exact ? 6 : 9), 0} * u +
                       abs(bias(index)) * Dyadic{1, 6} * u;
    const Dyadic parts =
        Dyadic{size + 2, 0} + abs(of_.alpha.value()) + abs(of_.a_scale.value()) + abs(b_scale(index).value());
    return {off + parts * parts * Dyadic::power_of_two(format.smallest_exponent()), 1};
  }

  // The sum of an exact product and the bias is rounded to f32 first, where f16 is written.
  Ratio sum_of_bias(Int index, Int exact, const Format& format) const {
    const Ratio value{Dyadic{exact, 0} * factor(index) + bias(index), 1};
    if (format.precision <= format_of(of_.type).precision || ratio(rounded(value, format)) == value) return {};
    return {abs(value.numerator) * Dyadic::power_of_two(format.unit_exponent()), 1};
  }

  // Powers of two scale a sum of few bits, and nothing comes near the ends.
  bool rounds_nothing(Int index, Int exact, const Format& format) const {
    for (const Scalar* each : {&of_.alpha, &of_.a_scale, &b_scale(index)})
      if (each->significand > 1 || std::abs(each->exponent) > 4) return false;
    return Integer(std::abs(exact)) < (Integer(1) << static_cast<unsigned>(format.precision));
  }

  // Each factor is dequantized, and their products are added up in f32.
  Tolerance of_dequantized(Int index) const {
    Dyadic size;
    each_term(index, [&](Int a, Int, Int w) {
      const Code& code = of_.a.front()[static_cast<std::size_t>(a)];
      size += Dyadic{std::max(std::abs(code.least), std::abs(code.most)) * std::abs(w), 0};
    });
    const IntegerSum s = sum(index);
    Tolerance out = beyond("products of dequantized numbers in f32");
    const Dyadic most = size * abs(factor(index)) + abs(bias(index));
    out.budget = budget(index, s, format_of(DType::f32)) +
                 Ratio{most * Dyadic{2 * (meeting_.depth() + 8), format_of(DType::f32).unit_exponent()}, 1};
    return out;
  }

  Tolerance every_step_in_f16(Int index) const {
    Tolerance out = beyond("every operation in f16");
    out.level = Level::L3;
    const Format& half = format_of(DType::f16);
    out.budget = budget(index, sum(index), half);
    out.may_overflow = true;
    return out;
  }

  MatrixMeeting meeting_;
  IntegerProduct of_;
  Cells b_;
  std::optional<Cells> c_;
};

Scalar first(const std::optional<Tensor>& from, Scalar absent = {}) { return from ? scalar(*from, 0) : absent; }
const Scalar one = scalar(Int{1});

Answers answer_to_float(const Call& call, const Operands& in, const Readings&, const Arithmetic&) {
  return std::make_unique<IntegerProductAnswer>(
      meeting_of(call), IntegerProduct{.unscored = {},
                                       .a = {exact_codes(*in.at(0), first(given(in, 4)).as_integer())},
                                       .b = *in.at(1),
                                       .b_zero = Columns(given(in, 5)),
                                       .c = {},
                                       .alpha = one,
                                       .a_scale = first(in.at(2)),
                                       .b_scale = Columns(in.at(3)),
                                       .bias = Columns(given(in, 6)),
                                       .has_bias = given(in, 6).has_value(),
                                       .type = call.type("a_scale").dtype});
}

Answers answer_of_floats(const Call& call, const Operands& in, const Readings&, const Arithmetic&) {
  const DynamicRange range(*in.at(0));
  std::vector<Codes> codes;
  if (range.unscored.empty() && range.is_zero()) codes.push_back(dynamic_codes(*in.at(0), range, 0));
  if (range.unscored.empty() && !range.is_zero())
    for (const Int side : {0, -1, 1})
      if (side == 0 || range.zero(side) != range.zero(0))
        codes.push_back(dynamic_codes(*in.at(0), range, range.zero(side)));
  return std::make_unique<IntegerProductAnswer>(
      meeting_of(call),
      IntegerProduct{.unscored = range.unscored,
                     .a = std::move(codes),
                     .b = *in.at(1),
                     .b_zero = Columns(given(in, 3)),
                     .c = {},
                     .alpha = one,
                     .a_scale = range.unscored.empty() ? rounded(range.scale, format_of(DType::f32)) : Scalar(),
                     .is_a_scale_exact = range.is_exact,
                     .b_scale = Columns(in.at(2)),
                     .bias = Columns(given(in, 4)),
                     .has_bias = given(in, 4).has_value()});
}

Answers answer_of_qgemm(const Call& call, const Operands& in, const Readings&, const Arithmetic&) {
  return std::make_unique<IntegerProductAnswer>(
      meeting_of(call), IntegerProduct{.unscored = {},
                                       .a = {exact_codes(*in.at(0), first(in.at(2)).as_integer())},
                                       .b = *in.at(3),
                                       .b_zero = Columns(in.at(5)),
                                       .c = given(in, 6),
                                       .alpha = scalar_of(static_cast<double>(call.real("alpha"))),
                                       .a_scale = first(in.at(1)),
                                       .b_scale = Columns(in.at(4)),
                                       .bias = Columns({}),
                                       .type = given(in, 8) ? given(in, 8)->dtype() : DType::f32,
                                       .y_scale = first(given(in, 7), one),
                                       .y_zero = first(given(in, 8))});
}

}  // namespace

Oracle matmul_integer16() { return without_rounding({answer_of_int16, shape, {}}); }
Oracle matmul_integer_to_float() { return with_touched({answer_to_float, shape, {}}); }
Oracle dynamic_quantize_matmul() { return with_touched({answer_of_floats, shape, {}}); }
Oracle qgemm() { return with_touched({answer_of_qgemm, shape, {}}); }

}  // namespace assay::oracles
