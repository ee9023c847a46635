// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/rules.h"

#include "oracles/exact/element_sample.h"
#include "oracles/exact/geometry.h"
#include "oracles/exact/operands.h"
#include "oracles/judging/finding.h"
#include "oracles/judging/judge.h"
#include "oracles/rules/broadcast.h"
#include "oracles/rules/moving.h"
#include "oracles/rules/pool.h"
#include "reference/flat_index.h"
#include "reference/operator.h"
#include "reference/sequence.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <utility>

namespace assay::oracles {
namespace {

using Rule = Scalar (*)(const ElementPoint&);

Kind kind_of(const Scalar& value) {
  if (value.is == Scalar::Class::nan) return Kind::nan;
  if (value.is == Scalar::Class::infinite) return value.negative ? Kind::negative_infinity : Kind::positive_infinity;
  if (value.text) return Kind::text;
  return Kind::finite;
}

// Returns a tolerance for what copies and selects, where flushing is a tolerance of its own.
Tolerance beyond_copies(std::string arithmetic) {
  Tolerance out;
  out.level = Level::widest;
  out.arithmetic = std::move(arithmetic);
  return out;
}

// Tells whether a value lies in the last three binades, where hardware of that format may overflow early.
bool is_near_overflow(const Scalar& value, const Format& format) {
  return value.is_finite() && abs(value.value()) >= Dyadic::power_of_two(format.max_exponent - 2);
}

class PointwiseAnswer final : public Answer {
 public:
  PointwiseAnswer(Rule rule, const Call& call, const Operands& in, const Readings& readings)
      : rule_(rule),
        call_(call),
        readings_(readings),
        inputs_(call, in, readings),
        dtype_(call.definition().type_of(call, call.definition().outputs.front())) {}

  Shape shape() const override { return inputs_.shape(); }
  DType dtype() const override { return dtype_; }

  Element element(Int index) const override { return exactly(at(index), dtype()); }

  std::vector<Tolerance> wider(Int index) const override {
    if (!is_float(type_read())) return {};
    if (!is_float(dtype())) return deciding_on_zeros(index);
    std::vector<Tolerance> all{flushing(element(index), inputs_.at(index), dtype())};
    if (dtype() == DType::f64) all.push_back(in_single(index));
    return all;
  }

  std::vector<ProofTerm> taps(Int index) const override { return inputs_.taps(index); }

 private:
  DType type_read() const { return call_.type(call_.definition().data().name).dtype; }
  Scalar at(Int index) const {
    const std::vector<Scalar> x = inputs_.at(index);
    return rule_({call_, readings_, x});
  }

  // Admits what hardware answers that reads subnormals as zeros, where that decides otherwise.
  std::vector<Tolerance> deciding_on_zeros(Int index) const {
    std::vector<Scalar> x = inputs_.at(index);
    for (Scalar& operand : x)
      if (operand.is_subnormal(format_of(type_read()))) operand = Scalar();
    const Scalar flushed = rule_({call_, readings_, x});
    if (same(flushed, at(index))) return {};
    Tolerance out = beyond_copies("subnormals flushed");
    out.range = Interval{flushed, flushed};
    return {out};
  }

  // Applies the rule to each operand rounded to f32: infinite where it overflows, with 0 where it is subnormal.
  Tolerance in_single(Int index) const {
    const Format& single = format_of(DType::f32);
    std::vector<Scalar> x;
    for (const Scalar& wide : inputs_.at(index)) x.push_back(wide.is_finite() ? rounded(ratio(wide), single) : wide);
    Tolerance out = beyond_copies("f64 computed in f32");
    const Scalar value = rule_({call_, readings_, x}), right = at(index);
    out.may_overflow = value.is == Scalar::Class::infinite || is_near_overflow(value, single);
    if (!value.is_finite() || !right.is_finite()) return out;
    out.budget = abs(ratio(value) - ratio(right));
    const bool may_flush = value.is_subnormal(single) || value.is_zero();
    if (may_flush) out.budget = std::max(out.budget, abs(ratio(right)));
    return out;
  }

  Rule rule_;
  Call call_;
  Readings readings_;
  MetInputs inputs_;
  DType dtype_;
};

bool are_alike(const Element& a, const Element& b) {
  if (a.kind != b.kind || a.options.size() != b.options.size()) return false;
  if (a.kind == Kind::text) return same(*a.nearest, *b.nearest);
  if (a.kind != Kind::finite) return std::ranges::equal(a.options, b.options, same);
  return a.value == b.value && a.required.budget == b.required.budget;
}

std::vector<Element> decided_elements(const Answers& answers, Int most) {
  std::vector<Element> all;
  for (const std::unique_ptr<Answer>& answer : answers) {
    const ElementSample sample(volume(answer->shape()), most, 0);
    for (Int i = 0; i < sample.size(); ++i) all.push_back(answer->decided(sample[i]));
  }
  return all;
}

// The same of integers that are rounded, by what is admitted around them too.
bool are_alike_around(const Element& a, const Element& b) {
  if (!are_alike(a, b) || !a.nearest || !b.nearest || !a.required.range || !b.required.range) return are_alike(a, b);
  return same(*a.nearest, *b.nearest) && same(a.required.range->lower, b.required.range->lower) &&
         same(a.required.range->upper, b.required.range->upper);
}

std::vector<Shape> shapes_of(const Answers& answers) {
  return transformed<Shape>(answers, [](const std::unique_ptr<Answer>& each) { return each->shape(); });
}

bool are_alike(std::span<const Element> ruled, const Answers& answers, Int most, bool around) {
  auto next = ruled.begin();
  for (const std::unique_ptr<Answer>& answer : answers) {
    const ElementSample sample(volume(answer->shape()), most, 0);
    for (Int i = 0; i < sample.size(); ++i) {
      const Element element = answer->decided(sample[i]);
      const Element& other = *next++;
      if (!(around ? are_alike_around(other, element) : are_alike(other, element))) return false;
    }
  }
  return true;
}

// NaN or an infinity among the operands.
bool has_nonfinite(const Operands& in) {
  return std::ranges::any_of(in, [](const std::optional<Tensor>& each) {
    for (Int i = 0; each && is_float(each->dtype()) && i < each->elements(); ++i)
      if (!scalar(*each, i).is_finite()) return true;
    return false;
  });
}

// -- windows

using WindowRule = Element (*)(const WindowPoint&);

class WindowsAnswer final : public Answer {
 public:
  WindowsAnswer(std::shared_ptr<const Pool> pool, WindowRule rule, DType dtype)
      : pool_(std::move(pool)), rule_(rule), dtype_(dtype) {}

  Shape shape() const override { return pool_->shape; }
  DType dtype() const override { return dtype_; }
  Element element(Int index) const override {
    const std::vector<ExactTap> taps = pool_->taps(index);
    Element out = rule_({pool_->call, pool_->readings, dtype_, pool_->x.shape(), taps});
    out.terms = static_cast<Int>(taps.size());
    return out;
  }
  std::vector<Tolerance> wider(Int index) const override {
    if (!is_float(dtype_)) return {};
    std::vector<Scalar> operands;
    for (const ExactTap& tap : pool_->taps(index)) operands.push_back(tap.value);
    return {flushing(element(index), operands, dtype_)};
  }
  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (const ExactTap& tap : pool_->taps(index))
      all.push_back(
          {{hexadecimal(tap.value)}, place(pool_->call.definition().inputs.front().name, pool_->x.shape(), tap.at)});
    return all;
  }

 private:
  std::shared_ptr<const Pool> pool_;
  WindowRule rule_;
  DType dtype_;
};

// -- moved elements

// Says where an element of the n-th output asked for comes from.
using Placement = std::function<Origin(const CopyPoint&, std::size_t output)>;

class MovedAnswer final : public Answer {
 public:
  MovedAnswer(Placement of, Call call, const Operands& in, Readings readings, Shape shape, bool flushes,
              std::optional<float> fill, std::size_t output = 0)
      : of_(of),
        output_(output),
        call_(std::move(call)),
        readings_(std::move(readings)),
        in_(in),
        shape_(std::move(shape)),
        fill_(scalar(zero_, 0)),
        flushes_(flushes && is_float(dtype())) {
    if (!fill) return;
    Tensor said({DType::f32, {}});
    said.as<float>()[0] = *fill;
    fill_ = scalar(said, 0);
    if (fill_.is_finite()) fill_ = rounded(ratio(fill_), format_of(dtype()));
  }

  Shape shape() const override { return shape_; }
  DType dtype() const override { return call_.definition().type_of(call_, call_.definition().outputs.front()); }
  Element element(Int index) const override { return exactly(value(index), dtype()); }
  std::vector<Tolerance> wider(Int index) const override {
    if (!flushes_) return {};
    return {flushing(element(index), {value(index)}, dtype())};
  }
  std::vector<ProofTerm> taps(Int index) const override {
    const Origin from = origin(index);
    if (from.place < 0) return {};
    const std::string& name = call_.definition().inputs[from.input].name;
    return {{{written(value(index), dtype())}, place(name, in_[from.input]->shape(), from.place)}};
  }
  std::pair<const Tensor*, Int> copied(Int index) const override {
    const Origin from = origin(index);
    return {from.place < 0 ? nullptr : &*in_[from.input], from.place};
  }

 private:
  Origin origin(Int index) const { return of_({call_, readings_, shape_, index}, output_); }
  Scalar value(Int index) const {
    const Origin from = origin(index);
    return from.place < 0 ? fill_ : scalar(*in_[from.input], from.place);
  }

  Placement of_;
  std::size_t output_;
  Call call_;
  Readings readings_;
  Operands in_;
  Tensor zero_{{dtype(), {}}};
  Shape shape_;
  Scalar fill_;
  bool flushes_;
};

class ToldAnswer final : public Answer {
 public:
  ToldAnswer(Int (*number)(const Call&, Int), Call call, Shape shape)
      : number_(number), call_(std::move(call)), shape_(std::move(shape)) {}

  Shape shape() const override { return shape_; }
  DType dtype() const override { return call_.definition().type_of(call_, call_.definition().outputs.front()); }
  Element element(Int index) const override { return exactly(scalar(number_(call_, index)), dtype()); }
  std::vector<Tolerance> wider(Int) const override { return {}; }
  std::vector<ProofTerm> taps(Int) const override { return {}; }

 private:
  Int (*number_)(const Call&, Int);
  Call call_;
  Shape shape_;
};

}  // namespace

const Scalar* ElementPoint::find(std::string_view input) const {
  std::size_t place = 0;
  for (const Parameter& each : call.definition().inputs) {
    const bool is_there = call.has(each.name);
    if (each.name == input) return is_there ? &x[place] : nullptr;
    place += is_there ? 1 : 0;
  }
  throw BrokenPromise("an input that the operator does not have");
}

Tolerance flushing(const Element& element, const std::vector<Scalar>& operands, DType type) {
  Tolerance flushed = beyond_copies("subnormals flushed");
  flushed.flushes_output = true;
  const auto vanishes = [&](const Scalar& value) { return value.is_zero() || value.is_subnormal(format_of(type)); };
  if (element.kind == Kind::one_of && std::ranges::any_of(element.options, vanishes)) flushed.range = Interval{};
  if (element.kind != Kind::finite || !vanishes(nearest(element, type))) return flushed;
  for (const Scalar& operand : operands)
    if (operand.is_finite() && vanishes(operand))
      flushed.budget = std::max(flushed.budget, abs(ratio(operand)) + abs(element.value));
  return flushed;
}

std::vector<Tolerance> wider_of_copies(const Element& element, DType type) {
  if (element.kind != Kind::finite || !is_float(type)) return {};
  const Scalar value = nearest(element, type);
  std::vector<Tolerance> all{flushing(element, {value}, type)};
  if (type != DType::f64) return all;
  const Format& single = format_of(DType::f32);
  all.push_back(beyond_copies("f64 computed in f32"));
  all.back().budget = element.magnitude * Dyadic::power_of_two(single.unit_exponent()) +
                      ratio(scalar_of(std::ldexp(1.0, single.min_exponent)));
  all.back().may_overflow = is_near_overflow(value, single);
  return all;
}

Oracle without_rounding(Oracle oracle) {
  oracle.rounds = false;
  return with_touched(std::move(oracle));
}

Element exactly(const Scalar& value, DType dtype) {
  Element out;
  out.kind = kind_of(value);
  out.terms = 1;
  out.required.arithmetic = "no rounding";
  if (out.kind == Kind::text) out.nearest = value;
  if (out.kind != Kind::finite) return out;
  out.value = ratio(value);
  out.magnitude = abs(out.value);
  if (is_float(dtype)) return out;
  out.nearest = value;
  out.required.range = Interval{value, value};
  return out;
}

Element exactly(std::string text) {
  const auto own = std::make_shared<const std::string>(std::move(text));
  Element out = exactly(scalar(*own), DType::string);
  out.own_text = own;
  return out;
}

Tolerance beyond(std::string arithmetic) {
  Tolerance out = beyond_copies(std::move(arithmetic));
  out.flushes_output = true;  // joins any other
  return out;
}

Element one_of(std::string ruling, std::vector<Scalar> options) {
  Element out;
  out.kind = Kind::one_of;
  out.options = std::move(options);
  out.chosen_by = std::move(ruling);
  out.required.arithmetic = "no rounding";
  return out;
}

Element undefined(std::string ruling, const std::string& why) {
  Element out = unscored(why + " (" + ruling + ")");
  out.chosen_by = std::move(ruling);
  return out;
}

Element unscored(std::string why) {
  Element out;
  out.kind = Kind::unscored;
  out.reason = std::move(why);
  return out;
}

std::pair<Integer, Integer> ends_of(DType type) {
  return for_value(type, []<class T>() -> std::pair<Integer, Integer> {
    if constexpr (std::is_integral_v<T>)
      return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
    else if constexpr (SmallWhole<T>)
      return {T::lowest, T::highest};
    else
      throw BrokenPromise("a float that is to wrap");
  });
}

Scalar integer(const Integer& value) {
  return value < 0 ? scalar(static_cast<Int>(value)) : scalar_of_unsigned(static_cast<std::uint64_t>(value));
}

bool fits(DType type, const Integer& value) {
  const auto [least, most] = ends_of(type);
  return least <= value && value <= most;
}

Scalar wrapped(DType type, const Integer& value) {
  const auto [least, most] = ends_of(type);
  const Integer cycle = most - least + 1, held = (value - least) % cycle;
  return integer(held < 0 ? held + cycle + least : held + least);
}

Scalar saturated(DType type, const Integer& value) {
  const auto [least, most] = ends_of(type);
  return integer(std::clamp(value, least, most));
}

Scalar truth(bool holds) { return scalar(Int{holds}); }

Scalar lowest_of(DType dtype) {
  return for_number(dtype, [&]<class T>() -> Scalar {
    if constexpr (std::is_integral_v<T>) {
      return scalar(static_cast<Int>(std::numeric_limits<T>::min()));
    } else if constexpr (std::is_same_v<T, Bool>) {
      return scalar(Int{0});
    } else {
      const Format& format = format_of(dtype);
      const std::uint64_t significand = (std::uint64_t{1} << format.precision) - 1;
      return {Scalar::Class::finite, true, significand, format.max_exponent - format.precision + 1};
    }
  });
}

Oracle with_touched(Oracle oracle) {
  oracle.touched_reads_data = true;
  oracle.touched = [answer = oracle.answer, shape = oracle.shape](const Call& call, const Operands* in, Int most) {
    std::vector<std::string> ids;
    if (!in) return ids;
    const bool is_nonfinite = has_nonfinite(*in);
    const auto may_differ = [&](const RulingUse& use) {
      const Ruling& ruling = *find_ruling(use.id);
      return use.readings.size() > 1 && !ruling.is(Ruling::set) && (!ruling.is(Ruling::nonfinite) || is_nonfinite);
    };
    for (const RulingUse& use : call.definition().rulings)
      if (may_differ(use)) ids.push_back(use.id);
    if (ids.empty()) return ids;
    std::optional<Shape> ruled_shape;
    Answers answers;  // kept, since elements point to text that answers hold
    std::vector<Shape> ruled_shapes;
    std::vector<Element> ruled;
    {
      const ReadRulings read;
      ruled_shape = shape(call, {});
      answers = answer(call, *in, {}, {});
      ruled_shapes = shapes_of(answers);
      ruled = decided_elements(answers, most);
      std::erase_if(ids, [&](const std::string& id) { return !read.contains(id); });
    }
    std::erase_if(ids, [&](const std::string& id) {
      return std::ranges::none_of(departures(call.definition(), {id}), [&](const Readings& readings) {
        if (shape(call, readings) != ruled_shape) return true;
        if (readings.of(id) == "refuse") return false;
        const Answers others = answer(call, *in, readings, {});
        return shapes_of(others) != ruled_shapes || !are_alike(ruled, others, most, id == "A16");
      });
    });
    in_order(ids);
    return ids;
  };
  return oracle;
}

Oracle pointwise(Rule rule) {
  Oracle oracle;
  oracle.answer = [rule](const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
    return Answers(std::make_unique<PointwiseAnswer>(rule, call, in, readings));
  };
  oracle.shape = shape_of_meeting;
  return without_rounding(std::move(oracle));
}

Shape CopyPoint::at() const { return position(shape, index); }

Origin origin(const Shape& shape, const Shape& at, std::size_t input) { return {flat_index(shape, at), input}; }

Oracle moved(ShapeRule shape, Origin (*of)(const CopyPoint&)) { return moved_into(shape, of, nullptr); }

Oracle moved_into(ShapeRule shape, Origin (*of)(const CopyPoint&), std::optional<float> (*fill)(const Call&)) {
  Oracle oracle;
  oracle.answer = [=](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& arithmetic) {
    return Answers(std::make_unique<MovedAnswer>([of](const CopyPoint& p, std::size_t) { return of(p); }, call, in,
                                                 readings, shape(call, readings).value(), arithmetic.flushes_subnormals,
                                                 fill ? fill(call) : std::nullopt));
  };
  oracle.shape = shape;
  return without_rounding(std::move(oracle));
}

Oracle moved_by_data(ShapeRule shape, Origin (*of)(const CopyPoint&, const Operands& in)) {
  Oracle oracle;
  oracle.answer = [=](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& arithmetic) {
    return Answers(std::make_unique<MovedAnswer>([of, in](const CopyPoint& p, std::size_t) { return of(p, in); }, call,
                                                 in, readings, shape(call, readings).value(),
                                                 arithmetic.flushes_subnormals, std::nullopt));
  };
  oracle.shape = shape;
  return without_rounding(std::move(oracle));
}

Oracle moved_apart(ShapesRule shapes, Origin (*of)(const CopyPoint&, std::size_t output)) {
  Oracle oracle;
  oracle.answer = [=](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& arithmetic) {
    std::vector<Shape> all = shapes(call, readings).value();
    Answers answers;
    for (Shape& shape : all)
      answers.push_back(std::make_unique<MovedAnswer>(of, call, in, readings, std::move(shape),
                                                      arithmetic.flushes_subnormals, std::nullopt, answers.size()));
    return answers;
  };
  oracle.shape = [=](const Call& call, const Readings& readings) -> std::optional<Shape> {
    const auto all = shapes(call, readings);
    return all ? std::optional(all->front()) : std::nullopt;
  };
  return without_rounding(std::move(oracle));
}

Oracle told(ShapeRule shape, Int (*number)(const Call&, Int index)) {
  Oracle oracle;
  oracle.answer = [=](const Call& call, const Operands&, const Readings& readings, const Arithmetic&) {
    return Answers(std::make_unique<ToldAnswer>(number, call, shape(call, readings).value()));
  };
  oracle.shape = shape;
  return without_rounding(std::move(oracle));
}

Oracle over_windows(std::vector<WindowRule> rules) {
  Oracle oracle;
  oracle.answer = [rules](const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
    const auto pool = std::make_shared<const Pool>(call, in, readings);
    Answers answers;
    for (std::size_t i = 0; i < call.definition().outputs.size(); ++i)
      if (const Parameter& output = call.definition().outputs[i]; call.requests(output.name))
        answers.push_back(std::make_unique<WindowsAnswer>(pool, rules.at(i), call.definition().type_of(call, output)));
    return answers;
  };
  oracle.shape = pooled_shape;
  return without_rounding(std::move(oracle));
}

}  // namespace assay::oracles
