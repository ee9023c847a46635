// SPDX-License-Identifier: Apache-2.0
// The exact answer of Conv, one output element at a time from the formula of spec 1.2:
//
//   Y[n,m,o] = B[m] + sum over c, kappa of  X[n, g*C + c, o*s - pb + kappa*d] * W[m,c,kappa],   g = floor(m /
//   (M/group))
#include "oracles/dot.h"
#include "oracles/enclosure.h"
#include "oracles/geometry.h"
#include "oracles/operands.h"
#include "oracles/winograd.h"

#include <map>
#include <span>

namespace assay::oracles {
namespace {

class ConvAnswer final : public Answer {
 public:
  ConvAnswer(const Call& call, const Operands& in, std::vector<Track> tracks, const Arithmetic& declared)
      : dtype_(call.type("X").dtype),
        tracks_(std::move(tracks)),
        declared_(declared),
        group_(call.integer("group")),
        x_(scalars(*in.at(0))),
        w_(scalars(*in.at(1))) {
    if (in.size() > 2 && in[2]) b_ = scalars(*in[2]);
    shape_ = {x_.extent(0), w_.extent(0)};
    for (const Track& t : tracks_) shape_.push_back(t.windows);
    for (const Track& t : tracks_) taps_.push_back(t.taps);
  }

  Shape shape() const override { return shape_; }
  DType dtype() const override { return dtype_; }
  Element element(Int index) const override { return enclose(dot(index), dtype_); }

  std::vector<Allowance> wider(Int index) const override {
    std::vector<Allowance> all = widen(dot(index), dtype_, declared_);
    if (!winograd_applies(tracks_)) return all;
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
  struct Output {
    Int n, m;
    std::vector<Int> window;
  };

  Output output(Int index) const {
    const Shape at = position(shape_, index);
    return {at[0], at[1], {at.begin() + 2, at.end()}};
  }

  Int channels_per_group() const { return w_.extent(1); }
  Int first_channel(Int m) const { return m / (w_.extent(0) / group_) * channels_per_group(); }
  const Scalar* bias(Int m) const { return b_ ? &b_->at(b_->extent(0) == 1 ? 0 : m) : nullptr; }  // A13: allow-1

  // The flat index of X[n, channel, cell], or -1 where some coordinate is outside.
  Int inside(Int n, Int channel, const std::vector<Int>& cell) const {
    Int flat = n * x_.extent(1) + channel;
    for (std::size_t i = 0; i < cell.size(); ++i) {
      if (tracks_[i].kind(cell[i]) != Cell::in) return -1;
      flat = flat * tracks_[i].in + cell[i];
    }
    return flat;
  }

  Int weight(Int m, Int c, const std::vector<Int>& tap) const {
    Int flat = m * channels_per_group() + c;
    for (std::size_t i = 0; i < tap.size(); ++i) flat = flat * taps_[i] + tap[i];
    return flat;
  }

  // The taps of one window that fall inside X, as offsets into a plane of X and of W; the others with them outside.
  struct Reach {
    std::vector<std::pair<Int, Int>> in;
    std::vector<Int> outside;
  };

  // Windows repeat for every n and m: worked out once each.
  const Reach& reach(const std::vector<Int>& window) const {
    const auto [at, fresh] = reach_.try_emplace(window);
    if (!fresh) return at->second;
    std::vector<Int> cell(taps_.size());
    Int with = 0;
    each(taps_, [&](const std::vector<Int>& tap) {
      for (std::size_t i = 0; i < tap.size(); ++i) cell[i] = tracks_[i].at(window[i], tap[i]);
      if (const Int from = inside(0, 0, cell); from >= 0)
        at->second.in.emplace_back(from, with);
      else
        at->second.outside.push_back(with);
      ++with;
    });
    return at->second;
  }

  Dot dot(Int index) const {
    const Output y = output(index);
    const Reach& taps = reach(y.window);
    const Int x_plane = volume(std::span(x_.shape).subspan(2)), w_plane = volume(taps_);
    Dot sum;
    sum.terms.reserve(taps.in.size() * static_cast<std::size_t>(channels_per_group()) + 1);
    for (Int c = 0; c < channels_per_group(); ++c) {
      const Int x = (y.n * x_.extent(1) + first_channel(y.m) + c) * x_plane,
                w = (y.m * channels_per_group() + c) * w_plane;
      for (const auto& [from, with] : taps.in)
        sum.terms.push_back({&x_.at(x + from), &w_.at(w + with), x + from, w + with});
      for (const Int with : taps.outside) sum.padded_nonfinite |= !w_.at(w + with).is_finite();
    }
    if (const Scalar* b = bias(y.m)) sum.terms.push_back({b, nullptr, b_->extent(0) == 1 ? 0 : y.m, 0});
    return sum;
  }

  Neighbourhood neighbourhood(Int index) const {
    const Output y = output(index);
    const Int first = first_channel(y.m);
    return {.tracks = tracks_,
            .window = y.window,
            .channels = channels_per_group(),
            .input =
                [this, y, first](Int c, const std::vector<Int>& at) {
                  const Int from = inside(y.n, first + c, at);
                  return from < 0 ? Scalar{} : x_.at(from);
                },
            .weight = [this, y](Int c, const std::vector<Int>& tap) { return w_.at(weight(y.m, c, tap)); },
            .bias = bias(y.m)};
  }

  DType dtype_;
  std::vector<Track> tracks_;
  Arithmetic declared_;
  Int group_;
  Scalars x_, w_;
  std::optional<Scalars> b_;
  Shape shape_;
  std::vector<Int> taps_;
  mutable std::map<std::vector<Int>, Reach> reach_;
};

std::unique_ptr<Answer> answer(const Call& call, const Operands& in, const Readings& readings,
                               const Arithmetic& declared) {
  return std::make_unique<ConvAnswer>(call, in, *tracks(call, readings), declared);
}

std::optional<Shape> shape(const Call& call, const Readings& readings) {
  const auto resolved = tracks(call, readings);
  if (!resolved) return std::nullopt;
  Shape y{call.dim("X", 0), call.dim("W", 0)};
  for (const Track& t : *resolved) y.push_back(t.windows);
  return y;
}

}  // namespace

const Oracle& conv() {
  static const Oracle oracle{answer, shape, touched_by_geometry};
  return oracle;
}

}  // namespace assay::oracles
