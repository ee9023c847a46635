// SPDX-License-Identifier: Apache-2.0
// The exact answer of AveragePool and GlobalAveragePool, one output element at a time from spec 1.6: with a_i taps in
// the input and b_i in the input or its padding on axis i,
//
//   Y[n,c,o] = (sum of the taps in the input) / N,   N = prod a_i, or prod b_i with count_include_pad
//
// and overhang counts nowhere. N = 0 is ruling A9.
#include "oracles/exact/dot.h"
#include "oracles/exact/enclosure.h"
#include "oracles/exact/geometry.h"
#include "oracles/exact/operands.h"
#include "oracles/filter/filter.h"
#include "reference/operator.h"

#include <span>
#include <utility>

namespace assay::oracles {
namespace {

class AveragePoolAnswer final : public Answer {
 public:
  AveragePoolAnswer(const Call& call, const Operands& in, std::vector<WindowAxis> tracks, const Arithmetic& declared)
      : dtype_(call.type("X").dtype), tracks_(std::move(tracks)), declared_(declared), x_(*in.at(0)) {
    count_padding_ = call.definition().attribute("count_include_pad") && call.integer("count_include_pad") != 0;
    shape_ = {x_.extent(0), x_.extent(1)};
    for (const WindowAxis& t : tracks_) shape_.push_back(t.windows);
  }

  Shape shape() const override { return shape_; }
  DType dtype() const override { return dtype_; }
  Element element(Int index) const override { return enclose(dot(index), dtype_); }
  Element defined(Int index) const override { return enclose(dot(index), dtype_, Summing::definition); }
  std::vector<Tolerance> wider(Int index) const override { return widen(dot(index), dtype_, declared_); }

  // Every channel is a group of its own, and every weight 1.
  std::optional<FilterResult> screen(const Tensor& got, const FilterOptions& how) const override {
    if (tracks_.empty()) return std::nullopt;
    Sums sums;
    Int taps = 1;
    for (const WindowAxis& t : tracks_) taps *= t.taps;
    sums.sweep = {.tracks = tracks_,
                  .batch = x_.extent(0),
                  .groups = x_.extent(1),
                  .x = &x_.tensor(),
                  .from = channels_first(x_.extent(1), std::span(x_.shape()).subspan(2)),
                  .weights = Weights::ones(taps * x_.extent(1)),
                  .bias = {},
                  .pairs = dtype_ == DType::f64};
    sums.to = channels_first(x_.extent(1), std::span(shape_).subspan(2));
    sums.averaged = true;
    sums.counts_padding = count_padding_;
    return oracles::screen(std::move(sums), got, how);
  }

  std::vector<ProofTerm> taps(Int index) const override {
    const Dot sum = dot(index);
    std::vector<ProofTerm> all;
    for (const Term& term : sum.terms) all.push_back({{hexadecimal(term.a)}, place("X", x_.shape(), term.where_a)});
    all.push_back({{"1/" + std::to_string(sum.divisor)}, "divisor"});
    return all;
  }

 private:
  // The taps of one axis that fall in the input, and how many fall in the input or its padding.
  struct Line {
    std::vector<Int> in;
    Int padded = 0;
  };

  Line line(const WindowAxis& t, Int window) const {
    Line out;
    for (Int tap = 0; tap < t.taps; ++tap) {
      const Int cell = t.at(window, tap);
      const CellKind kind = t.kind(cell);
      if (kind == CellKind::in) out.in.push_back(cell);
      if (kind != CellKind::overhang) ++out.padded;
    }
    return out;
  }

  Dot dot(Int index) const {
    const Shape y = position(shape_, index);
    std::vector<Line> lines;
    std::vector<Int> counts;
    Dot sum;
    sum.averaged = true;
    Int padded = 1, inside = 1;
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
      lines.push_back(line(tracks_[i], y[i + 2]));
      counts.push_back(static_cast<Int>(lines[i].in.size()));
      inside *= counts[i];
      padded *= lines[i].padded;
    }
    sum.divisor = count_padding_ ? padded : inside;
    each(counts, [&](const std::vector<Int>& at) {
      Int flat = y[0] * x_.extent(1) + y[1];
      for (std::size_t i = 0; i < at.size(); ++i)
        flat = flat * tracks_[i].in + lines[i].in[static_cast<std::size_t>(at[i])];
      sum.terms.push_back({x_.at(flat), std::nullopt, flat, 0});
    });
    return sum;
  }

  DType dtype_;
  std::vector<WindowAxis> tracks_;
  Arithmetic declared_;
  Cells x_;
  bool count_padding_ = false;
  Shape shape_;
};

std::unique_ptr<Answer> answer(const Call& call, const Operands& in, const Readings& readings,
                               const Arithmetic& declared) {
  return std::make_unique<AveragePoolAnswer>(call, in, *tracks(call, sliding(call), readings), declared);
}

std::optional<Shape> shape(const Call& call, const Readings& readings) {
  return windowed(call, call.dim("X", 0), call.dim("X", 1), readings);
}

std::vector<std::string> touched(const Call& call, const Operands*, Int) {
  return touched_by_geometry(call, sliding(call));
}

}  // namespace

Oracle average_pool() { return {answer, shape, touched, false, {"X"}}; }
Oracle global_average_pool() { return average_pool(); }

}  // namespace assay::oracles
