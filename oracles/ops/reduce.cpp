// SPDX-License-Identifier: Apache-2.0
// The exact answers of ReduceSum and its relatives: what the elements of a group amount to (reductions 4).
#include "oracles/exact/dot.h"
#include "oracles/exact/operands.h"
#include "oracles/families/elementwise.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/exponentials.h"
#include "oracles/rules/totals.h"
#include "reference/operator.h"

#include <algorithm>
#include <cmath>

namespace assay::oracles {
namespace {

// A group, and how the clauses are read.
struct GroupPoint {
  const Readings& readings;
  DType dtype;
  std::vector<Scalar> x;

  bool reads(std::string_view ruling, std::string_view reading) const { return readings.of(ruling) == reading; }
  bool has_nan() const { return std::ranges::any_of(x, is_nan); }
  bool has_infinity(bool negative) const {
    return std::ranges::any_of(x, [=](const Scalar& each) { return is_infinite(each) && each.negative == negative; });
  }
  // Tells whether what is finite may add up to an infinity.
  bool may_overflow() const {
    double sizes = 0;
    for (const Scalar& each : x) sizes += each.is_finite() ? std::abs(each.as_double()) : 0;
    return !(sizes < summable(dtype));
  }
};

// What needs no rounding; a sum, perhaps divided; what is computed.
using GroupValue = std::variant<Element, Dot, std::unique_ptr<Expression>>;
using GroupRule = GroupValue (*)(const GroupPoint&);

// -- which elements make a group

bool is_set(const Call& call, const Readings& readings, const char* flag) {
  if (!call.definition().attribute(flag)) return false;
  const Int value = call.integer(flag);
  return readings.of("N42") == "only-one" ? value == 1 : value != 0;
}

std::vector<bool> reduced_axes(const Call& call, const Readings& readings) {
  const Ints axes = call.states("axes") ? call.ints("axes") : Ints{};
  const bool takes_none = is_set(call, readings, "noop_with_empty_axes") ||
                          (call.definition().ruling("N2") && call.states("axes") && readings.of("N2") == "no-axis");
  const Int rank = call.rank("data");
  std::vector<bool> is_reduced(static_cast<std::size_t>(rank), axes.empty() && !takes_none);
  for (const Int axis : axes) is_reduced[axis_in(rank, axis)] = true;
  return is_reduced;
}

std::optional<Shape> shape_of(const Call& call, const Readings& readings) {
  const Ints axes = call.states("axes") ? call.ints("axes") : Ints{};
  const bool refuses_negatives = call.definition().ruling("N1") && readings.of("N1") == "refuse";
  if (refuses_negatives && std::ranges::any_of(axes, [](Int axis) { return axis < 0; })) return std::nullopt;
  const std::string& name = call.definition().version.name;
  if (!is_float(call.type("data").dtype) && name.starts_with("ReduceLog") && readings.of("N8") == "refuse")
    return std::nullopt;
  const std::vector<bool> is_reduced = reduced_axes(call, readings);
  Shape shape;
  for (std::size_t axis = 0; axis < is_reduced.size(); ++axis)
    if (!is_reduced[axis] || is_set(call, readings, "keepdims"))
      shape.push_back(is_reduced[axis] ? 1 : call.shape("data")[axis]);
  return shape;
}

class ReduceAnswer final : public Answer {
 public:
  ReduceAnswer(GroupRule rule, const Call& call, const Operands& in, const Readings& readings, const Arithmetic& given)
      : rule_(rule),
        readings_(readings),
        declared_(given),
        x_(*in.front()),
        is_reduced_(reduced_axes(call, readings)),
        shape_(*shape_of(call, readings)) {}

  Shape shape() const override { return shape_; }
  DType dtype() const override { return x_.tensor().dtype(); }
  Element element(Int index) const override { return element(index, Summing::bins); }
  Element defined(Int index) const override { return element(index, Summing::definition); }

  std::vector<Tolerance> wider(Int index) const override {
    const GroupPoint point = point_at(index);
    const GroupValue value = rule_(point);
    if (const Dot* const sum = std::get_if<Dot>(&value)) return widen_sum(*sum, dtype(), declared_);
    if (!std::holds_alternative<Element>(value))
      return tolerances(*std::get<2>(value), element(index), dtype(), declared_);
    const Element& chosen = std::get<Element>(value);
    if (!is_float(dtype()) || chosen.kind != Kind::finite) return {};
    std::vector<Tolerance> all{flushing(chosen, point.x, dtype())};
    if (dtype() == DType::f64) all.push_back(narrowed(chosen));
    return all;
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (const Int from : members(index))
      all.push_back({{written(x_.at(from), dtype())}, place("data", x_.shape(), from)});
    return all;
  }

 private:
  Element element(Int index, Summing summing) const {
    const GroupPoint point = point_at(index);
    GroupValue value = rule_(point);
    if (const Dot* const sum = std::get_if<Dot>(&value)) return enclose(*sum, dtype(), summing);
    Element out = std::holds_alternative<Element>(value) ? std::get<Element>(value) : as_required(*std::get<2>(value));
    out.terms = std::ssize(point.x);
    return out;
  }

  Element as_required(const Expression& of) const {
    const bool in_f32 = dtype() == DType::f64 && readings_.of("N5") == "f32-body";
    return in_f32 ? computed(of, dtype(), {in_single()}) : computed(of, dtype());
  }

  // Every operand rounded to f32, which keeps their order.
  static Tolerance narrowed(const Element& chosen) {
    const Scalar narrow = rounded(chosen.value, format_of(DType::f32));
    Tolerance out = beyond("f64 computed in f32");
    out.may_overflow = is_infinite(narrow);
    if (!out.may_overflow) out.budget = abs(chosen.value - ratio(narrow));
    return out;
  }

  GroupPoint point_at(Int index) const {
    GroupPoint point{readings_, dtype(), {}};
    for (const Int from : members(index)) point.x.push_back(x_.at(from));
    return point;
  }

  // Puts a number's digits, the extents their bases, at the axes that are reduced, or kept.
  void place_at(Shape& at, Int number, bool reduced) const {
    for (std::size_t axis = at.size(); axis-- > 0;)
      if (is_reduced_[axis] == reduced) at[axis] = number % x_.extent(axis), number /= x_.extent(axis);
  }

  Ints members(Int index) const {
    Int count = 1;
    for (std::size_t axis = 0; axis < is_reduced_.size(); ++axis) count *= is_reduced_[axis] ? x_.extent(axis) : 1;
    Ints all;
    Shape at(is_reduced_.size());
    if (count > 0) place_at(at, index, false);
    for (Int i = 0; i < count; ++i) {
      place_at(at, i, true);
      all.push_back(origin(x_.shape(), at).place);
    }
    return all;
  }

  GroupRule rule_;
  Readings readings_;
  Arithmetic declared_;
  Cells x_;
  std::vector<bool> is_reduced_;
  Shape shape_;
};

template <GroupRule rule>
Oracle reduced() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    return Answers(std::make_unique<ReduceAnswer>(rule, call, in, readings, declared));
  };
  oracle.shape = shape_of;
  return with_touched(std::move(oracle));
}

// -- integers

Integer whole(const Scalar& x) { return truncated(ratio(x)); }

// An integer of the type, or what is left where it does not fit (N7).
Element in_type(const GroupPoint& p, const Integer& value) {
  if (fits(p.dtype, value)) return exactly(integer(value), p.dtype);
  if (p.reads("N7", "wrap")) return exactly(wrapped(p.dtype, value), p.dtype);
  if (p.reads("N7", "saturate")) return exactly(saturated(p.dtype, value), p.dtype);
  return one_of("N7", {wrapped(p.dtype, value), saturated(p.dtype, value)});
}

Integer total_of(const GroupPoint& p, Integer (*term)(const Scalar&)) {
  Integer sum = 0;
  for (const Scalar& each : p.x) sum += term(each);
  return sum;
}

// Divides integers: truncates, and by the readings of N6 otherwise. The nearest of a tie is either neighbour.
std::vector<Scalar> means_of(const GroupPoint& p, const Integer& sum) {
  const Integer n = std::ssize(p.x), down = sum >= 0 ? sum / n : -((-sum + n - 1) / n), twice = 2 * (sum - down * n);
  if (p.reads("N6", "floor")) return {integer(down)};
  if (!p.reads("N6", "nearest")) return {integer(sum / n)};
  if (twice == n) return {integer(down), integer(down + 1)};
  return {integer(twice > n ? down + 1 : down)};
}

// What a number is cut to that is computed in f32 (N8).
Element cut(const GroupPoint& p, const Expression& of) {
  const Policy& single = required_policies(DType::f32).front();
  const double error = of.breaks_down(single) ? INFINITY : of.error(single);
  if (!std::isfinite(error)) return unscored("an intermediate may overflow");
  const Ratio off = budget_of(error, {});
  const Real value = of.value(256);
  const Ratio half{p.reads("N8", "nearest") ? Dyadic{1, -1} : Dyadic{}, 1};
  const auto down = [&](const Ratio& x) {
    const Integer towards_zero = truncated(x);
    return half.is_zero() || x.numerator >= Dyadic{} || Ratio{{towards_zero, 0}, 1} == x ? towards_zero
                                                                                         : towards_zero - 1;
  };
  const Integer right = down(Ratio{value.lower(), 1} + half);
  const Integer least = down(Ratio{value.lower(), 1} - off + half), most = down(Ratio{value.upper(), 1} + off + half);
  if (!fits(p.dtype, least) || !fits(p.dtype, most)) return undefined("N8", "no integer of the type");
  Element out = exactly(integer(right), p.dtype);
  out.required.range = Interval{integer(least), integer(most)};
  return out;
}

// -- sums

template <bool of_sizes, bool averages>
Dot dot(const GroupPoint& p) {
  Dot sum;
  for (Scalar each : p.x) {
    if (of_sizes) each.negative = false;
    sum.terms.push_back({each, std::nullopt});
  }
  sum.averaged = averages;
  sum.divisor = averages ? std::ssize(p.x) : 1;
  return sum;
}

GroupValue sum(const GroupPoint& p) {
  if (is_float(p.dtype)) return dot<false, false>(p);
  return in_type(p, total_of(p, whole));
}

GroupValue sum_of_sizes(const GroupPoint& p) {
  if (is_float(p.dtype)) return dot<true, false>(p);
  return in_type(p, total_of(p, [](const Scalar& x) -> Integer { return abs(whole(x)); }));
}

GroupValue mean(const GroupPoint& p) {
  if (p.x.empty()) return undefined("N46", "the mean of no element");
  if (is_float(p.dtype)) return dot<false, true>(p);
  const Integer total = total_of(p, whole);
  std::vector<Scalar> all = means_of(p, total);
  if (fits(p.dtype, total) && all.size() == 1) return exactly(all[0], p.dtype);
  if (!fits(p.dtype, total))
    for (const Scalar& left : {wrapped(p.dtype, total), saturated(p.dtype, total)})
      std::ranges::move(means_of(p, whole(left)), std::back_inserter(all));
  return one_of("N6", std::move(all));
}

// -- squares, roots, logarithms

Integer square(const Scalar& x) { return whole(x) * whole(x); }

template <Total of>
GroupValue of_squares(const GroupPoint& p) {
  if (!is_float(p.dtype)) {
    const Integer squares = total_of(p, square);
    if (of == Total::sum_of_squares) return in_type(p, squares);
    if (!fits(p.dtype, squares)) return unscored("the sum of squares does not fit");
    return cut(p, *total(of, p.x, true));
  }
  if (p.has_nan()) return exactly(nan(), p.dtype);
  if (p.has_infinity(true) || p.has_infinity(false)) return exactly(infinity(), p.dtype);
  return total(of, p.x);
}

GroupValue log_of_sum(const GroupPoint& p) {
  if (!is_float(p.dtype)) {
    const Integer sum = total_of(p, whole);
    if (!fits(p.dtype, sum)) return unscored("the sum does not fit");
    if (sum <= 0) return undefined("N8", "the logarithm of 0, or of less");
    return cut(p, *total(Total::logarithm, p.x, true));
  }
  if (p.has_nan() || p.has_infinity(true)) return exactly(nan(), p.dtype);
  if (p.has_infinity(false))
    return p.may_overflow() ? unscored("a partial sum may overflow") : exactly(infinity(), p.dtype);
  const std::optional<int> sign = certain_sign(p.x, p.dtype);
  if (!sign) return unscored("the sum may be 0, or less");
  if (*sign > 0) return total(Total::logarithm, p.x);
  return exactly(*sign == 0 ? infinity(true) : nan(), p.dtype);
}

GroupValue log_of_exponentials(const GroupPoint& p) {
  if (p.has_nan()) return exactly(nan(), p.dtype);
  if (p.has_infinity(false)) return one_of("N47", {infinity(), nan()});
  const auto is_lowest = [](const Scalar& each) { return is_infinite(each); };
  if (is_float(p.dtype)) {
    if (std::ranges::all_of(p.x, is_lowest)) return exactly(infinity(true), p.dtype);
    return Exponentials(p.x).logarithm();
  }
  if (p.x.empty()) return undefined("N8", "the logarithm of 0");
  const double most = std::ranges::max_element(p.x, is_less)->as_double();
  if (std::abs(most) > 80) return undefined("N8", "exponentials that leave f32");
  return cut(p, *Exponentials(p.x).logarithm());
}

// -- products, extremes

GroupValue product_of(const GroupPoint& p) {
  if (!is_float(p.dtype)) {
    Integer product = 1;
    for (const Scalar& each : p.x) product *= whole(each);
    return in_type(p, product);
  }
  return std::visit([](auto one) -> GroupValue { return one; }, product(p.x, p.dtype));
}

template <bool is_largest>
GroupValue extreme(const GroupPoint& p) {
  std::vector<Scalar> numbers;
  std::ranges::remove_copy_if(p.x, std::back_inserter(numbers), is_nan);
  const bool has_nan = numbers.size() < p.x.size();
  if (has_nan && (p.reads("N3", "nan") || numbers.empty())) return exactly(nan(), p.dtype);
  const auto beats = [](const Scalar& a, const Scalar& b) { return is_largest ? is_less(a, b) : is_less(b, a); };
  const auto best = std::ranges::max_element(numbers, beats);
  if (has_nan && p.reads("N3", "either")) {  // comparisons that fail leave any number that stands behind a NaN
    numbers.push_back(nan());
    return one_of("N3", std::move(numbers));
  }
  if (best != numbers.end()) return exactly(*best, p.dtype);
  if (p.dtype == DType::boolean) return exactly(truth(!is_largest), p.dtype);
  if (is_float(p.dtype)) return exactly(infinity(is_largest), p.dtype);
  const auto [least, most] = ends_of(p.dtype);
  return exactly(integer(is_largest ? least : most), p.dtype);
}

}  // namespace

Oracle reduce_sum() { return reduced<sum>(); }
Oracle reduce_mean() { return reduced<mean>(); }
Oracle reduce_prod() { return reduced<product_of>(); }
Oracle reduce_l1() { return reduced<sum_of_sizes>(); }
Oracle reduce_l2() { return reduced<of_squares<Total::root_of_squares>>(); }
Oracle reduce_sum_square() { return reduced<of_squares<Total::sum_of_squares>>(); }
Oracle reduce_log_sum() { return reduced<log_of_sum>(); }
Oracle reduce_log_sum_exp() { return reduced<log_of_exponentials>(); }
Oracle reduce_max() { return without_rounding(reduced<extreme<true>>()); }
Oracle reduce_min() { return without_rounding(reduced<extreme<false>>()); }

}  // namespace assay::oracles
