// SPDX-License-Identifier: Apache-2.0
#include "oracles/convolution.h"

#include "oracles/dot.h"
#include "oracles/operands.h"
#include "oracles/winograd.h"

#include <span>

namespace assay::oracles {

Gathering::Gathering(Shape x, Shape w, Int group, std::vector<Track> tracks)
    : x_(std::move(x)), w_(std::move(w)), group_(group), tracks_(std::move(tracks)) {
  for (const Track& t : tracks_) taps_.push_back(t.taps);
  x_plane_ = volume(std::span(x_).subspan(2));
  w_plane_ = volume(taps_);
}

Shape Gathering::shape() const {
  Shape y{x_[0], w_[0]};
  for (const Track& t : tracks_) y.push_back(t.windows);
  return y;
}

Gathering::Output Gathering::output(Int index) const {
  const Shape at = position(shape(), index);
  return {at[0], at[1], {at.begin() + 2, at.end()}};
}

Int Gathering::inside(const std::vector<Int>& at) const {
  Int flat = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (tracks_[i].kind(at[i]) != Cell::in) return -1;
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
  ConvolutionAnswer(const ConvolutionOperands& in, std::vector<Track> tracks, const Arithmetic& declared)
      : dtype_(in.x.dtype()),
        declared_(declared),
        x_(scalars(in.x)),
        w_(scalars(in.w)),
        gathering_(in.x.shape(), in.w.shape(), in.group, std::move(tracks)) {
    if (in.b) b_ = scalars(*in.b);
  }

  Shape shape() const override { return gathering_.shape(); }
  DType dtype() const override { return dtype_; }
  Element element(Int index) const override { return enclose(dot(index), dtype_); }

  std::vector<Allowance> wider(Int index) const override {
    std::vector<Allowance> all = widen(dot(index), dtype_, declared_);
    if (!winograd_applies(gathering_.tracks())) return all;
    const DType accumulator = dtype_ == DType::f64 ? DType::f64 : DType::f32;
    for (const int m : {2, 4}) {
      const std::string label = m == 2 ? "Winograd F(2,3)" : "Winograd F(4,3)";
      all.push_back(winograd(neighbourhood(index), m, format_of(accumulator), label));
      if (declared_.winograd && declared_.accumulator)
        all.push_back(winograd(neighbourhood(index), m, format_of(*declared_.accumulator), "declared " + label));
    }
    return all;
  }

  std::vector<Tap> taps(Int index) const override {
    std::vector<Tap> all;
    for (const Term& term : dot(index).terms) {
      if (!term.b) {
        all.push_back({{hexadecimal(*term.a)}, place("B", b_->shape, term.where_a)});
        continue;
      }
      all.push_back({{hexadecimal(*term.a), hexadecimal(*term.b)},
                     place("X", x_.shape, term.where_a) + " " + place("W", w_.shape, term.where_b)});
    }
    return all;
  }

 private:
  Int bias_index(Int m) const { return b_->extent(0) == 1 ? 0 : m; }  // A13: allow-1
  const Scalar* bias(Int m) const { return b_ ? &b_->at(bias_index(m)) : nullptr; }

  Dot dot(Int index) const {
    const Gathering::Output y = gathering_.output(index);
    Dot sum;
    gathering_.each_tap(
        y,
        [&](Int x, Int w) {
          sum.terms.push_back({&x_.at(x), &w_.at(w), x, w});
        },
        [&](Int w) { sum.padded_nonfinite |= !w_.at(w).is_finite(); });
    if (b_) sum.terms.push_back({bias(y.m), nullptr, bias_index(y.m), 0});
    return sum;
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
  Arithmetic declared_;
  Scalars x_, w_;
  std::optional<Scalars> b_;
  Gathering gathering_;
};

}  // namespace

std::unique_ptr<Answer> convolution(const ConvolutionOperands& in, std::vector<Track> tracks,
                                    const Arithmetic& declared) {
  return std::make_unique<ConvolutionAnswer>(in, std::move(tracks), declared);
}

}  // namespace assay::oracles
