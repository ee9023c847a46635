// SPDX-License-Identifier: Apache-2.0
// The exact answer of Einsum: sums of products of as many factors as there are operands (windows-and-products 2.6,
// 3.10).
//
// Any path is right, of m operands and n terms, of sizes A together: two operands contracted after the other, labels
// that one of them alone has summed before that, sums in blocks. It rounds a term (m - 1) + (n - 1) times at most, so
// that |y' - y| <= γ(n + m - 1, u) A. What lies between is kept in the type, t = m - 2 of it and one for each operand
// that may be summed alone: of floats of 16 bits γ(t, u_T) A (1 + γ(n + m - 1, u)) more. Nothing rounds where
// A <= 2^p g, g a power of two that divides every term, and no product of some of the factors is below η: then a sum
// that lies between is as many bits as A is of g, or less. G = n times every largest operand, or 1, bounds all that
// lies between: what underflows costs (m - 1 + t) G η/2 at most, and nothing is claimed where G reaches Ω.
#include "oracles/exact/dot.h"
#include "oracles/exact/operands.h"
#include "oracles/families/products.h"
#include "oracles/rules/rules.h"
#include "reference/line_words.h"
#include "reference/operator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace assay::oracles {
namespace {

// Holds one number for each label.
using OfLabels = std::array<Int, 128>;
std::size_t number_of(char label) { return static_cast<std::size_t>(label); }

// Spells a term with a label for each axis: @ for the last under its ellipsis, ? for the one before, and so on.
std::string spelled(std::string term, Int axes) {
  const std::size_t dots = term.find("...");
  if (dots == std::string::npos) return term;
  std::string under;
  for (Int more = axes + 3 - std::ssize(term); more-- > 0;) under += static_cast<char>('@' - more);
  return term.replace(dots, 3, under);
}

// Tells which elements of the operands meet in an element of the output.
class LabelMeeting {
 public:
  explicit LabelMeeting(const Call& call) {
    std::string text = call.text("equation"), once, under;
    std::erase(text, ' ');
    const std::size_t arrow = text.find("->");
    std::size_t place = 0;
    OfLabels counts{};
    for (const std::string_view term : parts_of(std::string_view(text).substr(0, arrow))) {
      const Shape& shape = call.shape(call.definition().inputs.at(place++).name);
      terms_.push_back(spelled(std::string(term), std::ssize(shape)));
      const auto is_letter = [](char label) { return label > '@'; };
      if (const auto more = std::ranges::count_if(terms_.back(), std::not_fn(is_letter)); more > std::ssize(under))
        under = spelled("...", more);
      lay_out(terms_.back(), shape);
      for (const char label : terms_.back()) ++counts[number_of(label)];
    }
    for (char letter = 'A'; letter <= 'z'; ++letter)
      if (counts[number_of(letter)] == 1) once += letter;
    const std::string stated = arrow == std::string::npos ? "..." + once : text.substr(arrow + 2);
    output_ = spelled(stated, std::ssize(stated) - 3 + std::ssize(under));
    for (std::size_t label = 0; label < counts.size(); ++label) {
      if (counts[label] == 0 || output_.find(static_cast<char>(label)) != std::string::npos) continue;
      summed_ += static_cast<char>(label);
      count_ *= extents_[label];
      most_ *= std::max<Int>(1, extents_[label]);
    }
    for (const char label : output_) shape_.push_back(extents_[number_of(label)]);
  }

  bool fits() const { return fits_; }
  const Shape& shape() const { return shape_; }
  Int operands() const { return std::ssize(terms_); }
  Int count() const { return count_; }      // terms of each element
  Int most_terms() const { return most_; }  // of what lies between
  // Counts how many of several operands have a label to sum over that no other has, but perhaps once.
  Int summed_alone() const {
    return std::ranges::count_if(steps_, [&](const OfLabels& own) {
      return operands() > 1 && std::ranges::any_of(summed_, [&](char label) {
               return own[number_of(label)] != 0 &&
                      std::ranges::count_if(steps_, [&](auto& each) { return each[number_of(label)] != 0; }) == 1;
             });
    });
  }

  // Calls f(places) for each term of an element: where its factors lie in the operands.
  template <class F>
  void each_term(Int index, F&& f) const {
    const Shape at = position(shape_, index);
    std::vector<Int> first(steps_.size());
    for (std::size_t axis = 0; axis < output_.size(); ++axis) advance(first, output_[axis], at[axis]);
    for (Int term = 0; term < count_; ++term) {
      std::vector<Int> places = first;
      Int rest = term;
      for (const char label : summed_) {
        advance(places, label, rest % extents_[number_of(label)]);
        rest /= extents_[number_of(label)];
      }
      f(places);
    }
  }

 private:
  void lay_out(const std::string& labels, const Shape& shape) {
    OfLabels& steps = steps_.emplace_back(OfLabels{});
    Int step = 1;
    for (std::size_t axis = shape.size(); axis-- > 0; step *= shape[axis]) {
      if (shape[axis] == 1) continue;
      Int& extent = extents_[number_of(labels[axis])];
      fits_ = fits_ && (extent == 1 || extent == shape[axis]);
      extent = shape[axis];
      steps[number_of(labels[axis])] += step;
    }
  }
  void advance(std::vector<Int>& places, char label, Int by) const {
    for (std::size_t i = 0; i < places.size(); ++i) places[i] += by * steps_[i][number_of(label)];
  }

  std::vector<std::string> terms_;
  std::string output_, summed_;
  std::vector<OfLabels> steps_;
  OfLabels extents_ = [] {
    OfLabels ones;
    ones.fill(1);
    return ones;
  }();
  bool fits_ = true;
  Int count_ = 1, most_ = 1;
  Shape shape_;
};

// Holds what one pass over the terms of an element tells.
struct Sum {
  static constexpr int none = std::numeric_limits<int>::max();
  Dyadic value, size;                            // the sum, and A
  Dyadic between, weight;                        // bounds of what lies between, and of how much an underflow counts
  Dyadic subnormal;                              // the size of the terms that have a subnormal factor
  int granule = none, least = none;              // log2 of what divides the terms, and what lies between
  int bits = 0, lowest = none, smallest = none;  // of the factors: how many, the last one, the least power of two
  double largest = 0;                            // factor
  bool nan = false, clashes = false, positive = false, negative = false, subnormal_meets_infinity = false;
};

// Says how a class of implementations computes; `stored`: what lies between is rounded to that, `inputs`: factors are.
struct Machine {
  const Format* format;
  const Format* stored = nullptr;
  int slack_exponent = 0;
  bool rounds_output = false;
  const Format* inputs = nullptr;
};

Dyadic rounding(Int n, int unit_exponent) {
  const Dyadic share{n, unit_exponent};
  return share <= Dyadic{1, -1} ? gamma(n, unit_exponent) : share;
}

class EinsumAnswer final : public Answer {
 public:
  EinsumAnswer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared)
      : meeting_(call),
        saturates_(readings.of("W20") == "saturate"),
        declared_(declared),
        dtype_(in.front()->dtype()),
        kept_(std::max<Int>(0, meeting_.operands() - 2) + meeting_.summed_alone()) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(meeting_.operands()); ++i) {
      names_.push_back(call.definition().inputs[i].name);
      x_.push_back(scalars(*in[i]));
    }
  }

  Shape shape() const override { return meeting_.shape(); }
  DType dtype() const override { return dtype_; }
  Element element(Int index) const override { return is_float(dtype_) ? enclosed(index) : whole(index); }
  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    meeting_.each_term(index, [&](const std::vector<Int>& places) {
      ProofTerm& term = all.emplace_back();
      for (std::size_t i = 0; i < places.size(); ++i) {
        term.factors.push_back(written(x_[i].at(places[i]), dtype_));
        term.where += (i == 0 ? "" : " ") + place(names_[i], x_[i].shape, places[i]);
      }
    });
    return all;
  }

  std::vector<Tolerance> wider(Int index) const override {
    if (!is_float(dtype_)) return {};
    const Sum sum = summed(index);
    const Format &type = format_of(dtype_), &single = format_of(DType::f32);
    const std::string base = accumulator_name(), in_type = "every operation in " + std::string(name(dtype_));
    const Machine truncating{accumulator(), kept(), 1}, native{&type, nullptr, 0, is_narrow()};
    std::vector<Tolerance> all{tolerance(sum, Level::L2t, "truncating " + base + " accumulation", truncating),
                               tolerance(sum, Level::L3, in_type, native),
                               flushed(sum, "subnormals flushed, " + base + " accumulation", truncating),
                               flushed(sum, "subnormals flushed, " + in_type, native)};
    const auto add = [&](const std::string& what, const Format& inputs, const Format& format) {
      all.push_back(tolerance(sum, Level::widest, what, {&format, nullptr, 1, &format == &inputs, &inputs}));
    };
    static const Format tf32{11, -126, 127};
    if (dtype_ == DType::f32) add("TF32 inputs", tf32, single);
    if (dtype_ == DType::f32) add("bf16 inputs", format_of(DType::bf16), single);
    if (dtype_ == DType::f64) add("f64 computed in f32", single, single);
    if (declared_.accumulator && format_of(*declared_.accumulator).precision < accumulator()->precision) {
      const Format& narrow = format_of(*declared_.accumulator);
      add("declared " + std::string(name(*declared_.accumulator)) + " accumulation", narrow, narrow);
    }
    return all;
  }

 private:
  const Format* accumulator() const { return &format_of(dtype_ == DType::f64 ? dtype_ : DType::f32); }
  std::string accumulator_name() const { return dtype_ == DType::f64 ? "f64" : "f32"; }
  bool is_narrow() const { return format_of(dtype_).precision < accumulator()->precision; }
  const Format* kept() const { return is_narrow() && kept_ > 0 ? &format_of(dtype_) : nullptr; }

  static void note_nonfinite(Sum& sum, const std::vector<const Scalar*>& factors, const Format& type) {
    const auto any = [&](auto is) { return std::ranges::any_of(factors, is); };
    const auto minus = std::ranges::count_if(factors, [](const Scalar* x) { return x->negative; });
    if (any([](const Scalar* x) { return is_nan(*x); })) sum.nan = true;
    if (any([](const Scalar* x) { return x->is_zero(); })) sum.clashes = true;
    if (any([&](const Scalar* x) { return x->is_subnormal(type); })) sum.subnormal_meets_infinity = true;
    (minus % 2 == 0 ? sum.positive : sum.negative) = true;
  }

  // Of no terms at all, what is 0 in the end may be multiplied by whatever the other operands make together.
  void note_without_terms(Sum& sum, std::vector<double>& largest) const {
    for (std::size_t i = 0; i < x_.size() && kept_ > 0; ++i)
      for (const Scalar& x : x_[i].values) {
        if (!x.is_finite()) sum.clashes = true;
        if (x.is_finite()) largest[i] = std::max(largest[i], std::abs(x.as_double()));
      }
  }

  Sum summed(Int index) const {
    const Format& type = format_of(dtype_);
    Sum sum;
    std::vector<int> least(x_.size(), 0);
    std::vector<double> largest(x_.size(), 1);
    std::vector<const Scalar*> factors(x_.size());
    meeting_.each_term(index, [&](const std::vector<Int>& places) {
      bool is_finite = true, is_subnormal = false;
      Dyadic term{1, 0};
      for (std::size_t i = 0; i < x_.size(); ++i) {
        const Scalar& x = *(factors[i] = &x_[i].at(places[i]));
        is_finite = is_finite && x.is_finite();
        if (!x.is_finite()) continue;
        term = term * x.value();
        if (x.is_zero()) continue;
        is_subnormal = is_subnormal || x.is_subnormal(type);
        const int bits = static_cast<int>(std::bit_width(x.significand));
        least[i] = std::min(least[i], x.exponent);
        largest[i] = std::max(largest[i], std::abs(x.as_double()));
        sum.bits = std::max(sum.bits, bits);
        sum.lowest = std::min(sum.lowest, x.exponent);
        sum.smallest = std::min(sum.smallest, x.exponent + bits - 1);
      }
      if (!is_finite) return note_nonfinite(sum, factors, type);
      if (term.is_zero()) return;
      sum.granule = std::min(sum.granule, term.exponent);
      sum.value += term;
      sum.size += abs(term);
      if (is_subnormal) sum.subnormal += abs(term);
    });
    sum.clashes = sum.clashes || (sum.positive && sum.negative);
    if (meeting_.count() == 0) note_without_terms(sum, largest);
    sum.largest = *std::ranges::max_element(largest);
    const bool passes_more = kept_ > 0;
    sum.weight = Dyadic{meeting_.most_terms(), 0};
    for (const double each : largest)
      if (passes_more) sum.weight = sum.weight * scalar_of(each).value();
    sum.between = passes_more ? sum.weight : sum.size;
    sum.least = sum.granule;
    if (passes_more) sum.least = 0;
    for (const int each : least) sum.least += passes_more ? each : 0;
    return sum;
  }

  static bool is_exact(const Sum& sum, const Format& format) {
    if (sum.granule == Sum::none) return true;
    return sum.least >= format.smallest_exponent() && sum.between < format.overflow_threshold() &&
           sum.size <= Dyadic::power_of_two(format.precision + sum.granule);
  }

  Tolerance tolerance(const Sum& sum, Level level, std::string arithmetic, const Machine& how) const {
    const Dyadic one{1, 0};
    const Format& narrowest = how.stored ? *how.stored : *how.format;
    const Int factors = meeting_.operands(), n = meeting_.count() + factors - 1 + (how.rounds_output ? 1 : 0);
    const int unit = how.format->unit_exponent() + how.slack_exponent;
    Tolerance out;
    out.level = level;
    out.arithmetic = std::move(arithmetic);
    out.vacuous = Dyadic{n, unit} >= one;
    Dyadic moved, disturbed;
    bool may_exceed = false;
    if (how.inputs) {
      const bool fits = sum.granule == Sum::none ||
                        (sum.bits <= how.inputs->precision && sum.lowest >= how.inputs->smallest_exponent());
      const Int changes = kept_ + (fits ? 0 : factors);
      moved = changes > 0 ? rounding(changes, how.inputs->unit_exponent() + 1) : Dyadic{};
      disturbed = sum.size * (moved + (sum.smallest < how.inputs->min_exponent ? Dyadic{2, 0} : Dyadic{}));
      may_exceed = scalar_of(sum.largest).value() >= Dyadic::power_of_two(how.inputs->max_exponent);
    }
    const Dyadic grown = one + moved;
    Dyadic relative;
    if (!moved.is_zero() || !is_exact(sum, narrowest)) {
      relative = rounding(n, unit);
      if (how.stored) relative += rounding(kept_, how.stored->unit_exponent() + how.slack_exponent) * (one + relative);
    }
    out.budget = Ratio{sum.size * grown * relative + disturbed, 1};
    if (sum.granule != Sum::none && (!moved.is_zero() || sum.least < narrowest.smallest_exponent()))
      out.budget =
          out.budget + Ratio{sum.weight * grown * (one + relative + relative) *
                                 Dyadic{factors - 1 + kept_, narrowest.smallest_exponent() - 1 + how.slack_exponent},
                             1};
    out.may_overflow =
        may_exceed || sum.between * grown * (one + rounding(n, unit + 1)) >= narrowest.overflow_threshold();
    return out;
  }

  // Factors below λ_T count as 0, so does what lies between.
  Tolerance flushed(const Sum& sum, std::string arithmetic, const Machine& how) const {
    Tolerance out = tolerance(sum, Level::widest, std::move(arithmetic), how);
    const Format& narrowest = how.stored ? *how.stored : *how.format;
    out.flushes_output = true;
    out.budget = out.budget + Ratio{sum.subnormal, 1};
    if (sum.granule != Sum::none && sum.least < narrowest.min_exponent)
      out.budget =
          out.budget + Ratio{sum.weight * Dyadic{2 * (meeting_.operands() + kept_), narrowest.min_exponent}, 1};
    return out;
  }

  Element enclosed(Int index) const {
    const Sum sum = summed(index);
    Element out;
    out.terms = meeting_.count();
    if (sum.nan || (sum.clashes && kept_ == 0)) {
      out.kind = Kind::nan;
      return out;
    }
    out.value = {sum.value, 1};
    out.magnitude = {sum.size, 1};
    out.required =
        tolerance(sum, Level::L2, accumulator_name() + " accumulation along any path", {accumulator(), kept()});
    const bool is_infinite = sum.positive || sum.negative;
    if (sum.clashes) out.reason = "the path decides between NaN and another value";
    if (is_infinite &&
        (sum.subnormal_meets_infinity || sum.least < (kept() ? kept() : accumulator())->smallest_exponent()))
      out.reason = "a subnormal meets an infinity";
    if (out.required.may_overflow) out.reason = "an intermediate may overflow";
    if (!out.reason.empty())
      out.kind = Kind::unscored;
    else if (is_infinite)
      out.kind = sum.positive ? Kind::positive_infinity : Kind::negative_infinity;
    return out;
  }

  // Integers: a sum of products that is not rounded.
  Element whole(Int index) const {
    Dyadic sum;
    meeting_.each_term(index, [&](const std::vector<Int>& places) {
      Dyadic term{1, 0};
      for (std::size_t i = 0; i < x_.size(); ++i) term = term * x_[i].at(places[i]).value();
      sum += term;
    });
    const Integer number = truncated({sum, 1});
    Element out = exactly(saturates_ ? saturated(dtype_, number) : wrapped(dtype_, number), dtype_);
    out.terms = meeting_.count();
    return out;
  }

  LabelMeeting meeting_;
  bool saturates_;
  Arithmetic declared_;
  DType dtype_;
  Int kept_;  // t: what lies between on the longest path
  std::vector<std::string> names_;
  std::vector<Scalars> x_;
};

Answers answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
  return std::make_unique<EinsumAnswer>(call, in, readings, declared);
}

std::optional<Shape> shape(const Call& call, const Readings&) {
  const LabelMeeting meeting(call);
  return meeting.fits() ? std::optional(meeting.shape()) : std::nullopt;
}

}  // namespace

Oracle einsum() {
  Oracle out = of_products({answer, shape, {}});
  out.factors = {"Inputs_0", "Inputs_1", "Inputs_2", "Inputs_3", "Inputs_4", "Inputs_5", "Inputs_6", "Inputs_7"};
  return out;
}

}  // namespace assay::oracles
