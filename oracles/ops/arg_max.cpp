// SPDX-License-Identifier: Apache-2.0
// The exact answers of ArgMax, ArgMin and Hardmax: the place of the extreme of each line, told or marked with 1. Of a
// line with NaN nothing is claimed but that it is a place (M32).
#include "oracles/exact/operands.h"
#include "oracles/families/axis.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {
namespace {

enum class Wanted { largest, smallest, mark };

const Shape& shape_in(const Call& call) { return call.shape(call.definition().inputs.front().name); }

bool takes_last(const Call& call, const Readings& readings) {
  if (call.definition().ruling("M31")) return readings.of("M31") == "last";
  return call.states("select_last_index") && call.integer("select_last_index") != 0;
}

template <Wanted wanted>
class ExtremeAnswer final : public Answer {
 public:
  ExtremeAnswer(const Call& call, const Operands& in, const Readings& readings, Shape shape)
      : call_(call),
        readings_(readings),
        x_(*in.front()),
        along_(along(call_, *axis_of(call_, readings))),
        shape_(std::move(shape)) {}

  Shape shape() const override { return shape_; }
  DType dtype() const override { return wanted == Wanted::mark ? x_.tensor().dtype() : DType::i64; }

  Element element(Int index) const override {
    const std::vector<Int>& ties = line(index).ties;
    std::vector<Scalar> options;
    for (const Int place : ties) options.push_back(said(index, place));
    if (line(index).has_nan) {
      for (Int place = 0; place < along_.length; ++place) options.push_back(said(index, place));
      return one_of("M32", std::move(options));
    }
    if (call_.definition().ruling("M31") && ties.size() > 1 && readings_.of("M31") == "any")
      return one_of("M31", std::move(options));
    return exactly(options[takes_last(call_, readings_) ? ties.size() - 1 : 0], dtype());
  }

  std::vector<Tolerance> wider(Int index) const override {
    if (!is_float(x_.tensor().dtype()) || line(index).has_nan) return {};
    std::vector<Scalar> flushed = line(index).x;
    for (Scalar& each : flushed)
      if (each.is_finite() && each.is_subnormal(format_of(x_.tensor().dtype()))) each = Scalar();
    const std::vector<Int> ties = extremes(flushed);
    const Scalar other = said(index, takes_last(call_, readings_) ? ties.back() : ties.front());
    Tolerance out;
    out.level = Level::widest;
    out.arithmetic = "subnormals flushed";
    if (wanted == Wanted::mark)
      out.budget = abs(ratio(other) - element(index).value);
    else
      out.range = Interval{other, other};
    return {out};
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (Int at = 0; at < along_.length; ++at)
      all.push_back({{written(line(index).x[static_cast<std::size_t>(at)], x_.tensor().dtype())},
                     place(call_.definition().inputs.front().name, x_.shape(), along_.index(line_of(index), at))});
    return all;
  }

 private:
  struct Line {
    Int number = -1;
    std::vector<Scalar> x;
    std::vector<Int> ties;  // those that are the extreme, or NaN
    bool has_nan = false;
  };

  Int line_of(Int index) const { return wanted == Wanted::mark ? along_.line_of(index) : index; }

  // Returns what the element is where the extreme stands at `place`.
  Scalar said(Int index, Int place) const {
    return wanted == Wanted::mark ? scalar(Int{along_.at(index) == place}) : scalar(place);
  }

  static std::vector<Int> extremes(const std::vector<Scalar>& x) {
    std::vector<Int> ties{0};
    for (std::size_t i = 1; i < x.size(); ++i) {
      const Scalar &a = x[static_cast<std::size_t>(ties.front())], &b = x[i];
      const bool is_tie = same(a, b), is_b = !is_nan(a) && (is_nan(b) || is_less(a, b) == (wanted != Wanted::smallest));
      if (!is_tie && is_b) ties.clear();
      if (is_tie || is_b) ties.push_back(static_cast<Int>(i));
    }
    return ties;
  }

  const Line& line(Int index) const {
    const Int number = line_of(index);
    if (line_.number == number) return line_;
    line_ = {number, {}, {}, false};
    for (Int at = 0; at < along_.length; ++at) line_.x.push_back(x_.at(along_.index(number, at)));
    line_.has_nan = std::ranges::any_of(line_.x, is_nan);
    line_.ties = extremes(line_.x);
    return line_;
  }

  Call call_;
  Readings readings_;
  Cells x_;
  Along along_;
  Shape shape_;
  mutable Line line_;
};

std::optional<Shape> reduced(const Call& call, const Readings&) {
  Shape shape = shape_in(call);
  const auto axis = shape.begin() + static_cast<std::ptrdiff_t>(axis_in(std::ssize(shape), call.integer("axis")));
  call.integer("keepdims") != 0 ? static_cast<void>(*axis = 1) : static_cast<void>(shape.erase(axis));
  return shape;
}

template <Wanted wanted>
Oracle extreme(std::optional<Shape> (*shape)(const Call&, const Readings&)) {
  Oracle oracle;
  oracle.answer = [shape](const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
    return Answers(std::make_unique<ExtremeAnswer<wanted>>(call, in, readings, *shape(call, readings)));
  };
  oracle.shape = shape;
  return without_rounding(std::move(oracle));
}

}  // namespace

Oracle arg_max() { return extreme<Wanted::largest>(reduced); }
Oracle arg_min() { return extreme<Wanted::smallest>(reduced); }
Oracle hardmax() {
  return extreme<Wanted::mark>([](const Call& call, const Readings& readings) -> std::optional<Shape> {
    return axis_of(call, readings) ? std::optional(shape_in(call)) : std::nullopt;
  });
}

}  // namespace assay::oracles
