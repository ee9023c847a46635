// SPDX-License-Identifier: Apache-2.0
// The exact answer of QLinearConv (spec 1.4, numerics 2.9). The sum a is an integer, the requantised value
// v = a * sx * sw[m] / sy a rational, and the answer sat(rne(v) + zy), or sat(rne(v + zy)) when adding comes first
// (A16).
#include "oracles/exact/operands.h"
#include "oracles/filter/requantize_filter.h"
#include "oracles/rules/convolution.h"
#include "oracles/rules/requantizing.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

namespace assay::oracles {
namespace {

struct Range {
  Int low, high;
};

Range range_of(DType dtype) { return dtype == DType::u8 ? Range{0, 255} : Range{-128, 127}; }

// Of u8 or i8.
Int integer_at(const Tensor& tensor, Int flat) {
  const auto at = static_cast<std::size_t>(flat);
  return tensor.dtype() == DType::u8 ? Int{tensor.as<std::uint8_t>()[at]} : Int{tensor.as<std::int8_t>()[at]};
}

class QLinearConvAnswer final : public Answer {
 public:
  QLinearConvAnswer(const Call& call, const Operands& in, std::vector<WindowAxis> tracks, const Readings& readings)
      : last_step_{call.type("y_zero_point").dtype, readings.of("A16") == "add-then-round"},
        accumulator_(readings.of("A17")),
        x_(*in.at(0)),
        w_(*in.at(3)),
        x_zero_(scalars(*in.at(2))),
        w_zero_(scalars(*in.at(5))),
        y_zero_(scalars(*in.at(7))),
        x_scale_(scalars(*in.at(1))),
        w_scale_(scalars(*in.at(4))),
        y_scale_(scalars(*in.at(6))),
        group_(call.integer("group")),
        gathering_(in.at(0)->shape(), in.at(3)->shape(), group_, std::move(tracks)) {
    if (in.size() > 8 && in[8]) b_ = scalars(*in[8]);
  }

  std::optional<FilterResult> screen(const Tensor& got, const FilterOptions& how) const override {
    const RequantizeFilter* sums = requantising();
    if (!sums || accumulator_ != Readings().of("A17")) return std::nullopt;
    return oracles::screen(*sums, got, how);
  }

  // None where a scale is so large or small that some order of evaluation might lose it.
  const RequantizeFilter* requantising() const {
    if (!sums_) sums_ = make_requantising();
    return *sums_ ? &**sums_ : nullptr;
  }

  Shape shape() const override { return gathering_.shape(); }
  DType dtype() const override { return last_step_.type; }

  Element element(Int index) const override {
    const Gathering::Output y = gathering_.output(index);
    Int terms = 0;
    const Int exact = sum(y, terms);
    Element out = requantized(last_step_, accumulated(exact), scaling(y.m), whole(y_zero_.at(0)));
    out.terms = terms;
    return out;
  }

  std::vector<Tolerance> wider(Int index) const override {
    const Element e = element(index);
    if (e.kind != Kind::finite) return {};
    const Gathering::Output y = gathering_.output(index);
    Int terms = 0;
    return fixed_point(last_step_, accumulated(sum(y, terms)), scaling(y.m), whole(y_zero_.at(0)), e);
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    const Gathering::Output y = gathering_.output(index);
    gathering_.each_tap(
        y,
        [&](Int x, Int w) {
          all.push_back({{std::to_string(integer_at(x_, x) - whole(x_zero_.at(0))),
                          std::to_string(integer_at(w_, w) - whole(of_map(w_zero_, y.m)))},
                         place("x", x_.shape(), x) + " " + place("w", w_.shape(), w)});
        },
        [](Int) {});
    if (b_) all.push_back({{std::to_string(whole(of_map(*b_, y.m)))}, "B"});
    all.insert(all.end(),
               {{{hexadecimal(x_scale_.at(0)), hexadecimal(of_map(w_scale_, y.m)), hexadecimal(y_scale_.at(0))},
                 "x_scale w_scale y_scale"},
                {{std::to_string(whole(y_zero_.at(0)))}, "y_zero_point"}});
    return all;
  }

  // What the data decide: the order of rounding and adding, and an accumulator beyond 32 bits.
  bool leaves_32_bits(Int index) const {
    Int terms = 0;
    const Int exact = sum(gathering_.output(index), terms);
    return exact < std::numeric_limits<std::int32_t>::min() || exact > std::numeric_limits<std::int32_t>::max();
  }

 private:
  static Int whole(const Scalar& s) { return s.as_integer(); }
  static const Scalar& of_map(const Scalars& list, Int m) { return list.at(list.values.size() == 1 ? 0 : m); }

  // From 2^-30 to 2^30 no intermediate of any order of |a| <= 2^31 leaves the normal range of f32.
  static bool is_moderate(const Scalar& scale) {
    const double size = std::abs(approximate({scale.value(), 1}));
    return scale.is_finite() && 0x1p-30 <= size && size <= 0x1p30;
  }

  std::optional<RequantizeFilter> make_requantising() const {
    const auto all_moderate = [](const Scalars& list) { return std::ranges::all_of(list.values, is_moderate); };
    if (!all_moderate(x_scale_) || !all_moderate(w_scale_) || !all_moderate(y_scale_)) return std::nullopt;
    const Int maps = w_.shape().at(0), row = maps ? w_.elements() / maps : 0;
    RequantizeFilter out;
    out.sweep = {.tracks = gathering_.tracks(),
                 .batch = x_.shape().at(0),
                 .groups = group_,
                 .depth = w_.shape().at(1),
                 .maps = maps / group_,
                 .x = &x_,
                 .from = channels_first(x_.shape().at(1), std::span(x_.shape()).subspan(2)),
                 .x_zero = static_cast<double>(whole(x_zero_.at(0))),
                 .weights = {},
                 .bias = {},
                 .sizes = false};
    const auto bits = [](const Scalar& s) { return std::bit_width(s.significand); };
    const Scalar &sx = x_scale_.at(0), &sy = y_scale_.at(0);
    const auto plain = [](const Scalar& s) { return s.as_double(); };
    std::vector<double> weights;
    for (Int m = 0; m < maps; ++m) {
      const Int zero = whole(of_map(w_zero_, m));
      for (Int t = 0; t < row; ++t) weights.push_back(static_cast<double>(integer_at(w_, m * row + t) - zero));
      if (b_) out.sweep.bias.push_back(static_cast<double>(whole(of_map(*b_, m))));
      const Scalar& sw = of_map(w_scale_, m);
      out.scale.push_back(plain(sx) * plain(sw) / plain(sy));  // the product is exact
      out.exact.push_back(bits(sy) == 1 && bits(sx) + bits(sw) <= 21);
    }
    out.sweep.weights = Weights(std::move(weights));
    const Shape y = shape();
    out.to = channels_first(maps, std::span(y).subspan(2));
    const Range range = range_of(last_step_.type);
    out.zero = static_cast<double>(whole(y_zero_.at(0)));
    out.low = static_cast<double>(range.low);
    out.high = static_cast<double>(range.high);
    out.adds_first = last_step_.adds_first;
    return out;
  }

  Int sum(const Gathering::Output& y, Int& terms) const {
    Int total = b_ ? whole(of_map(*b_, y.m)) : 0;
    const Int x_zero = whole(x_zero_.at(0)), w_zero = whole(of_map(w_zero_, y.m));
    terms = b_ ? 1 : 0;
    gathering_.each_tap(
        y,
        [&](Int x, Int w) {
          total += (integer_at(x_, x) - x_zero) * (integer_at(w_, w) - w_zero);
          ++terms;
        },
        [](Int) {});
    return total;
  }

  Int accumulated(Int exact) const {
    if (accumulator_ == "wrap32") return static_cast<std::int32_t>(static_cast<std::uint32_t>(exact));
    if (accumulator_ == "saturate32")
      return std::clamp<Int>(exact, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
    return exact;
  }

  Scaling scaling(Int m) const { return {x_scale_.at(0), of_map(w_scale_, m), y_scale_.at(0)}; }

  Requantizing last_step_;
  std::string accumulator_;
  Tensor x_, w_;
  Scalars x_zero_, w_zero_, y_zero_, x_scale_, w_scale_, y_scale_;
  std::optional<Scalars> b_;
  Int group_;
  Gathering gathering_;
  mutable std::optional<std::optional<RequantizeFilter>> sums_;
};

std::unique_ptr<Answer> answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
  return std::make_unique<QLinearConvAnswer>(call, in, *tracks(call, sliding(call), readings), readings);
}

std::optional<Shape> shape(const Call& call, const Readings& readings) {
  return windowed(call, call.dim("x", 0), call.dim("w", 0), readings);
}

bool differ(const Element& a, const Element& b) {
  if (a.kind != b.kind) return true;
  if (a.kind != Kind::finite) return false;
  const auto unlike = [](const Scalar& p, const Scalar& q) {
    return p.negative != q.negative || p.significand != q.significand || p.exponent != q.exponent;
  };
  return unlike(*a.nearest, *b.nearest) || unlike(a.required.range->lower, b.required.range->lower) ||
         unlike(a.required.range->upper, b.required.range->upper);
}

std::vector<std::string> touched(const Call& call, const Operands* in, Int) {
  std::vector<std::string> ids = touched_by_geometry(call, sliding(call));
  if (!in) return ids;
  const auto windows = *tracks(call, sliding(call), {});
  const QLinearConvAnswer ruled(call, *in, windows, {}),
      added(call, *in, windows, Readings().with("A16", "add-then-round"));
  bool order_matters = false, leaves = false;
  if (const RequantizeFilter* sums = ruled.requantising()) {
    // Both orders admit the same single value further from a tie than 8 roundings in f32: numerics 2.9 counts 6.
    leaves = leaves_32_bits(*sums, 0x1p-21,
                            [&](Int i) { return order_matters = differ(ruled.element(i), added.element(i)); });
    if (order_matters) ids.emplace_back("A16");
    if (leaves) ids.emplace_back("A17");
    return ids;
  }
  for (Int i = 0, count = volume(ruled.shape()); i < count; ++i) {
    order_matters = order_matters || differ(ruled.element(i), added.element(i));
    leaves = leaves || ruled.leaves_32_bits(i);
  }
  if (order_matters) ids.emplace_back("A16");
  if (leaves) ids.emplace_back("A17");
  return ids;
}

}  // namespace

Oracle qlinear_conv() { return {answer, shape, touched, true}; }

}  // namespace assay::oracles
