// SPDX-License-Identifier: Apache-2.0
// The exact answer of ConvTranspose (windows-and-products 2.2, 3.1): output o has the products of the cells i and taps
// k of X and W with o + before = i s + k d, per axis. Readings change where that begins and where it ends, no more.
#include "oracles/exact/dot.h"
#include "oracles/exact/operands.h"
#include "oracles/rules/winograd.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {
namespace {

struct TransposedAxis {
  Int in, taps, stride, dilation, before = 0, out = 0;
  bool operator==(const TransposedAxis&) const = default;

  // Returns the pairs of a cell and a tap that meet in an output.
  std::vector<std::pair<Int, Int>> pairs(Int o) const {
    std::vector<std::pair<Int, Int>> all;
    for (Int tap = 0; tap < taps; ++tap) {
      const Int reach = o + before - tap * dilation;
      if (reach >= 0 && reach % stride == 0 && reach / stride < in) all.emplace_back(reach / stride, tap);
    }
    return all;
  }
};

using Axes = std::vector<TransposedAxis>;

Int floor_half(Int total) { return total >= 0 ? total / 2 : -((1 - total) / 2); }

// Says how an axis is padded whose extent is given; W5 where that is more than there is.
void place(TransposedAxis& axis, Int total, bool is_upper, const Readings& readings) {
  if (readings.of("W4") == "v1-literal") is_upper = !is_upper;
  if (total < 0 && readings.of("W5") == "append") return;
  const Int half = total < 0 && readings.of("W5") == "split-trunc" ? total / 2 : floor_half(total);
  axis.before = is_upper ? half : total - half;
}

void keep_size(TransposedAxis& axis, Int full, Int more, bool is_upper, const Readings& readings) {
  const Int times = readings.of("W1") == "match-input" ? axis.in : axis.in * axis.stride;
  const bool adds = readings.of("W3") == "added";
  const std::string_view excess = readings.of("W2");
  const Int reach = adds ? full - more : full, kept = excess == "clamp0" ? std::min(times, reach) : times;
  const Int total = reach - kept, half = floor_half(total);
  axis.out = kept + (adds ? more : 0);
  if (total >= 0 || excess == "keep-extent") axis.before = is_upper ? half : total - half;
}

std::optional<Axes> axes_of(const Call& call, const Readings& readings) {
  const Ints kernel = call.ints("kernel_shape"), strides = call.ints("strides"), dilations = call.ints("dilations"),
             more = call.ints("output_padding"), pads = call.ints("pads");
  const bool both = call.states("pads") && !call.ints("pads").empty();
  const std::string word = both && readings.of("A4") == "pads-win" ? "NOTSET" : call.text("auto_pad");
  const bool is_upper = word == "SAME_UPPER";
  Axes axes;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    TransposedAxis axis{call.dim("X", static_cast<Int>(i) + 2), kernel[i], strides[i], dilations[i]};
    if (more[i] >= axis.stride && readings.of("W6") == "refuse") return std::nullopt;
    const Int full = axis.stride * (axis.in - 1) + (axis.taps - 1) * axis.dilation + 1 + more[i];
    if (call.states("output_shape") && !call.ints("output_shape").empty()) {
      axis.out = call.ints("output_shape")[i];
      place(axis, full - axis.out, is_upper, readings);
    } else if (is_upper || word == "SAME_LOWER") {
      keep_size(axis, full, more[i], is_upper, readings);
    } else {
      axis.before = word == "VALID" ? 0 : pads[i];
      axis.out = full - (word == "VALID" ? 0 : pads[i] + pads[i + kernel.size()]);
    }
    if (axis.out < 1 && readings.of("A6") != "zero-size") return std::nullopt;
    axis.out = std::max<Int>(axis.out, 0);
    axes.push_back(axis);
  }
  return axes;
}

std::optional<Shape> shape(const Call& call, const Readings& readings) {
  const std::optional<Axes> axes = axes_of(call, readings);
  if (!axes) return std::nullopt;
  Shape y{call.dim("X", 0), call.dim("W", 1) * call.integer("group")};
  for (const TransposedAxis& axis : *axes) y.push_back(axis.out);
  return y;
}

class TransposedAnswer final : public Answer {
 public:
  TransposedAnswer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared)
      : shape_(*oracles::shape(call, readings)),
        axes_(*axes_of(call, readings)),
        maps_(call.dim("W", 1)),
        depth_(call.dim("X", 1) / call.integer("group")),
        declared_(declared),
        x_(*in.at(0)),
        w_(*in.at(1)) {
    if (in.size() > 2 && in[2]) b_.emplace(*in[2]);
  }

  Shape shape() const override { return shape_; }
  DType dtype() const override { return x_.tensor().dtype(); }
  Element element(Int index) const override { return enclose(dot(index), dtype()); }
  Element defined(Int index) const override { return enclose(dot(index), dtype(), Summing::definition); }

  std::vector<Tolerance> wider(Int index) const override {
    std::vector<Tolerance> all = widen(dot(index), dtype(), declared_);
    const std::vector<WindowAxis> tracks = reversed();
    if (tracks.empty() || !winograd_applies(tracks)) return all;
    const DType accumulator = dtype() == DType::f64 ? DType::f64 : DType::f32;
    for (const int m : {2, 4}) {
      const std::string label = m == 2 ? "Winograd F(2,3)" : "Winograd F(4,3)";
      all.push_back(winograd(neighbourhood(index, tracks), m, format_of(accumulator), label));
      if (declared_.winograd && declared_.accumulator)
        all.push_back(
            winograd(neighbourhood(index, tracks), m, format_of(*declared_.accumulator), "declared " + label));
    }
    return all;
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (const Term& term : dot(index).terms) {
      if (!term.b) {
        all.push_back({{hexadecimal(term.a)}, oracles::place("B", b_->shape(), term.where_a)});
        continue;
      }
      all.push_back(
          {{hexadecimal(term.a), hexadecimal(*term.b)},
           oracles::place("X", x_.shape(), term.where_a) + " " + oracles::place("W", w_.shape(), term.where_b)});
    }
    return all;
  }

 private:
  Int cell(Int n, Int c, const std::vector<Int>& at) const {
    Int flat = n * x_.extent(1) + c;
    for (std::size_t i = 0; i < at.size(); ++i) flat = flat * axes_[i].in + at[i];
    return flat;
  }
  Int weight(Int c, Int m, const std::vector<Int>& tap) const {
    Int flat = c * maps_ + m % maps_;
    for (std::size_t i = 0; i < tap.size(); ++i) flat = flat * axes_[i].taps + tap[i];
    return flat;
  }

  Dot dot(Int index) const {
    const Shape at = position(shape_, index);
    std::vector<std::vector<std::pair<Int, Int>>> pairs;
    std::vector<Int> counts, from(axes_.size()), with(axes_.size());
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      pairs.push_back(axes_[i].pairs(at[i + 2]));
      counts.push_back(std::ssize(pairs.back()));
    }
    Dot sum;
    const Int first = at[1] / maps_ * depth_;
    for (Int c = first; c < first + depth_; ++c)
      each(counts, [&](const std::vector<Int>& which) {
        for (std::size_t i = 0; i < which.size(); ++i)
          std::tie(from[i], with[i]) = pairs[i][static_cast<std::size_t>(which[i])];
        const Int x = cell(at[0], c, from), w = weight(c, at[1], with);
        sum.terms.push_back({x_.at(x), w_.at(w), x, w});
      });
    if (b_) sum.terms.push_back({b_->at(at[1]), std::nullopt, at[1], 0});
    return sum;
  }

  // The convolution by the reversed kernel that this is where nothing is strided or dilated; none elsewhere.
  std::vector<WindowAxis> reversed() const {
    std::vector<WindowAxis> all;
    for (const TransposedAxis& axis : axes_) {
      if (axis.stride != 1 || axis.dilation != 1) return {};
      const Int before = axis.taps - 1 - axis.before;
      all.push_back({.in = axis.in,
                     .taps = axis.taps,
                     .before = before,
                     .after = axis.out + axis.taps - 1 - axis.in - before,
                     .windows = axis.out});
    }
    return all;
  }

  Neighbourhood neighbourhood(Int index, const std::vector<WindowAxis>& tracks) const {
    const Shape at = position(shape_, index);
    const Int first = at[1] / maps_ * depth_;
    return {.tracks = tracks,
            .window = {at.begin() + 2, at.end()},
            .channels = depth_,
            .input =
                [=, this](Int c, const std::vector<Int>& where) {
                  for (std::size_t i = 0; i < where.size(); ++i)
                    if (where[i] < 0 || where[i] >= axes_[i].in) return Scalar{};
                  return x_.at(cell(at[0], first + c, where));
                },
            .weight =
                [=, this](Int c, std::vector<Int> tap) {
                  for (std::size_t i = 0; i < tap.size(); ++i) tap[i] = axes_[i].taps - 1 - tap[i];
                  return w_.at(weight(first + c, at[1], tap));
                },
            .bias = b_ ? std::optional(b_->at(at[1])) : std::nullopt};
  }

  Shape shape_;
  Axes axes_;
  Int maps_, depth_;
  Arithmetic declared_;
  Cells x_, w_;
  std::optional<Cells> b_;
};

std::vector<std::string> touched(const Call& call, const Operands*, Int) {
  std::vector<std::string> ids;
  const std::optional<Axes> ruled = axes_of(call, {});
  for (const RulingUse& use : call.definition().rulings) {
    const auto differs = [&](std::string_view reading) {
      return reading != use.readings.front() && axes_of(call, Readings().with(use.id, std::string(reading))) != ruled;
    };
    if (std::ranges::any_of(use.readings, differs)) ids.push_back(use.id);
  }
  in_order(ids);
  return ids;
}

std::unique_ptr<Answer> answer(const Call& call, const Operands& in, const Readings& readings,
                               const Arithmetic& declared) {
  return std::make_unique<TransposedAnswer>(call, in, readings, declared);
}

}  // namespace

Oracle conv_transpose() { return {answer, shape, touched, false, {"X", "W"}}; }

}  // namespace assay::oracles
