// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/convolution.h"

#include "oracles/exact/dot.h"
#include "oracles/exact/operands.h"
#include "oracles/filter/filter.h"
#include "oracles/rules/winograd.h"

#include <span>

namespace assay::oracles {

Gathering::Gathering(Shape x, Shape w, Int group, std::vector<WindowAxis> tracks)
    : x_(std::move(x)), w_(std::move(w)), group_(group), tracks_(std::move(tracks)) {
  for (const WindowAxis& t : tracks_) taps_.push_back(t.taps);
  x_plane_ = volume(std::span(x_).subspan(2));
  w_plane_ = volume(taps_);
}

Shape Gathering::shape() const {
  Shape y{x_[0], w_[0]};
  for (const WindowAxis& t : tracks_) y.push_back(t.windows);
  return y;
}

Gathering::Output Gathering::output(Int index) const {
  const Shape at = position(shape(), index);
  return {at[0], at[1], {at.begin() + 2, at.end()}};
}

Int Gathering::inside(const std::vector<Int>& at) const {
  Int flat = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (tracks_[i].kind(at[i]) != CellKind::in) return -1;
    flat = flat * tracks_[i].in + at[i];
  }
  return flat;
}

Int Gathering::cell(Int n, Int m, Int c, const std::vector<Int>& at) const {
  const Int flat = inside(at);
  return flat < 0 ? -1 : (n * x_[1] + first_channel(m) + c) * x_plane_ + flat;
}

Int Gathering::weight(Int m, Int c, const std::vector<Int>& tap) const {
  Int flat = m * depth() + c;
  for (std::size_t i = 0; i < tap.size(); ++i) flat = flat * taps_[i] + tap[i];
  return flat;
}

const Gathering::Reach& Gathering::reach(const std::vector<Int>& window) const {
  if (constexpr std::size_t many = 4096; reach_.size() >= many) reach_.clear();
  const auto [at, fresh] = reach_.try_emplace(window);
  if (!fresh) return at->second;
  std::vector<Int> cell(taps_.size());
  Int with = 0;
  each(taps_, [&](const std::vector<Int>& tap) {
    for (std::size_t i = 0; i < tap.size(); ++i) cell[i] = tracks_[i].at(window[i], tap[i]);
    if (const Int from = inside(cell); from >= 0)
      at->second.in.emplace_back(from, with);
    else
      at->second.outside.push_back(with);
    ++with;
  });
  return at->second;
}

namespace {

class ConvolutionAnswer final : public Answer {
 public:
  ConvolutionAnswer(ConvolutionOperands in, std::vector<WindowAxis> tracks, const Arithmetic& declared,
                    bool channels_last)
      : dtype_(in.x.dtype()),
        channels_last_(channels_last),
        group_(in.group),
        declared_(declared),
        x_(std::move(in.x)),
        w_(std::move(in.w)),
        gathering_(x_.shape(), w_.shape(), in.group, std::move(tracks)) {
    if (in.b) b_.emplace(std::move(*in.b));
    if (in.added) added_.emplace(std::move(*in.added));
  }

  Shape shape() const override { return gathering_.shape(); }
  DType dtype() const override { return dtype_; }
  Element element(Int index) const override { return enclose(dot(index), dtype_); }
  Element defined(Int index) const override { return enclose(dot(index), dtype_, Summing::definition); }

  std::optional<FilterResult> screen(const Tensor& got, const FilterOptions& how) const override {
    if (added_) return std::nullopt;
    if (!sums_) sums_ = sums();
    return oracles::screen(*sums_, got, how);
  }

  std::vector<Tolerance> wider(Int index) const override {
    std::vector<Tolerance> all = widen(dot(index), dtype_, declared_);
    if (!winograd_applies(gathering_.tracks())) return all;
    const DType accumulator = dtype_ == DType::f64 ? DType::f64 : DType::f32;
    for (const int m : {2, 4}) {
      const std::string label = m == 2 ? "Winograd F(2,3)" : "Winograd F(4,3)";
      all.push_back(winograd(neighbourhood(index), m, format_of(accumulator), label));
      if (declared_.winograd && declared_.accumulator)
        all.push_back(winograd(neighbourhood(index), m, format_of(*declared_.accumulator), "declared " + label));
    }
    // Adds a rounding of the whole, which what is added behind the transformations costs.
    const Element whole = element(index);
    for (Tolerance& each : all)
      if (added_ && each.arithmetic.find("Winograd") != std::string::npos && whole.kind == Kind::finite)
        each.budget = each.budget + (whole.magnitude + each.budget) * Dyadic{2, format_of(accumulator).unit_exponent()};
    return all;
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    const Dot sum = dot(index);
    for (const Term& term : sum.terms) {
      if (!term.b) {
        const bool is_added = added_ && &term == &sum.terms.back();
        all.push_back(
            {{hexadecimal(term.a)}, place(is_added ? "Z" : "B", (is_added ? added_ : b_)->shape(), term.where_a)});
        continue;
      }
      all.push_back({{hexadecimal(term.a), hexadecimal(*term.b)},
                     place("X", x_.shape(), term.where_a) + " " + place("W", w_.shape(), term.where_b)});
    }
    return all;
  }

 private:
  Int bias_index(Int m) const { return b_->extent(0) == 1 ? 0 : m; }  // A13: allow-1
  std::optional<Scalar> bias(Int m) const { return b_ ? std::optional(b_->at(bias_index(m))) : std::nullopt; }

  Dot dot(Int index) const {
    const Gathering::Output y = gathering_.output(index);
    Dot sum;
    sum.terms.reserve(static_cast<std::size_t>(w_.tensor().elements() / std::max<Int>(w_.extent(0), 1) + 1));
    gathering_.each_tap(
        y,
        [&](Int x, Int w) {
          sum.terms.push_back({x_.at(x), w_.at(w), x, w});
        },
        [&](Int w) { sum.padded_nonfinite |= !w_.at(w).is_finite(); });
    if (b_) sum.terms.push_back({*bias(y.m), std::nullopt, bias_index(y.m), 0});
    if (added_) sum.terms.push_back({added_->at(index), std::nullopt, index, 0});
    return sum;
  }

  Sums sums() const {
    const Shape y = shape();
    const Int maps = w_.extent(0);
    Sums out;
    out.sweep = {.tracks = gathering_.tracks(),
                 .batch = x_.extent(0),
                 .groups = group_,
                 .depth = w_.extent(1),
                 .maps = maps / group_,
                 .x = &x_.tensor(),
                 .from = channels_first(x_.extent(1), std::span(x_.shape()).subspan(2)),
                 .weights = Weights(w_.tensor()),
                 .bias = {},
                 .pairs = dtype_ == DType::f64};
    if (b_) out.sweep.bias = doubles(b_->tensor());
    if (!out.sweep.bias.empty())  // A13: allow-1
      out.sweep.bias.resize(static_cast<std::size_t>(maps), out.sweep.bias.front());
    const auto plane = std::span(y).subspan(2);
    out.to = channels_last_ ? channels_last(maps, plane) : channels_first(maps, plane);
    return out;
  }

  Neighbourhood neighbourhood(Int index) const {
    const Gathering::Output y = gathering_.output(index);
    return {.tracks = gathering_.tracks(),
            .window = y.window,
            .channels = gathering_.depth(),
            .input =
                [this, y](Int c, const std::vector<Int>& at) {
                  const Int from = gathering_.cell(y.n, y.m, c, at);
                  return from < 0 ? Scalar{} : x_.at(from);
                },
            .weight = [this, y](Int c, const std::vector<Int>& tap) { return w_.at(gathering_.weight(y.m, c, tap)); },
            .bias = bias(y.m)};
  }

  DType dtype_;
  bool channels_last_;
  Int group_;
  Arithmetic declared_;
  Cells x_, w_;
  std::optional<Cells> b_, added_;
  Gathering gathering_;
  mutable std::optional<Sums> sums_;
};

}  // namespace

std::unique_ptr<Answer> convolution(ConvolutionOperands in, std::vector<WindowAxis> tracks, const Arithmetic& declared,
                                    bool channels_last) {
  return std::make_unique<ConvolutionAnswer>(std::move(in), std::move(tracks), declared, channels_last);
}

}  // namespace assay::oracles
