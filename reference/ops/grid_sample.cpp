// SPDX-License-Identifier: Apache-2.0
// GridSample (ai.onnx 16, 20, 22) - https://onnx.ai/onnx/operators/onnx__GridSample.html
//
//   Y[n,c,o] = X[n,c] at p, the nearest element or the sum of those around it, each axis weighted by itself
//
// grid[n,o] names a point for each spatial axis, the last axis first: -1 and 1 are the centres of the first and the
// last element with align_corners, else their outer edges. An element outside of X is zero, the one at the border or,
// by reflection about the border, another.
#include "reference/families/elementwise.h"
#include "reference/families/picked.h"
#include "reference/type_lists.h"

#include <array>
#include <cmath>

namespace assay {
namespace {

bool aligns(const Call& call) { return call.integer("align_corners") != 0; }
Int axes(const Call& call) { return call.rank("X") - 2; }

// A coordinate of X, counted in elements.
double placed(const Call& call, double g, Int extent) {
  const auto length = static_cast<double>(extent);
  return aligns(call) ? (g + 1) / 2 * (length - 1) : ((g + 1) * length - 1) / 2;
}

Int reflected(Int i, Int extent, bool aligns) {
  const Int period = aligns ? 2 * (extent - 1) : 2 * extent;
  if (period == 0) return 0;
  const Int at = (i % period + period) % period;
  return at < extent ? at : period - (aligns ? 0 : 1) - at;
}

// The element that is read where one is outside of X; -1: zero.
Int padded(const Call& call, Int i, Int extent) {
  if (i >= 0 && i < extent) return i;
  const std::string mode = call.text("padding_mode");
  if (mode == "zeros") return -1;
  return mode == "border" ? std::clamp<Int>(i, 0, extent - 1) : reflected(i, extent, aligns(call));
}

double cubic(double t) {
  constexpr double a = -0.75;
  t = std::fabs(t);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? a * (((t - 5) * t + 8) * t - 4) : 0;
}

struct Tap {
  Int at;
  double weight;
};

// The elements along one axis that a point meets. What is 2^50 elements away meets none but the border.
std::vector<Tap> taps(const Call& call, double p, Int extent) {
  const std::string mode = call.text("mode");
  p = std::isfinite(p) ? std::clamp(p, -0x1p50, 0x1p50) : -2;
  if (mode == "nearest") return {{padded(call, static_cast<Int>(std::nearbyint(p)), extent), 1}};
  const auto first = static_cast<Int>(std::floor(p));
  std::vector<Tap> all;
  const bool is_cubic = mode == "cubic" || mode == "bicubic";
  for (Int i = first - is_cubic; i <= first + 1 + is_cubic; ++i) {
    const double t = p - static_cast<double>(i);
    all.push_back({padded(call, i, extent), is_cubic ? cubic(t) : 1 - std::fabs(t)});
  }
  return all;
}

// Adds up the products of all axes; `at` is the offset of what comes before the axis.
double blended(const Tensor& x, const std::vector<std::vector<Tap>>& along, std::size_t axis, Int at, double weight) {
  if (axis == along.size()) return weight * number_at(x, at);
  double sum = 0;
  for (const Tap& tap : along[axis])
    if (tap.at >= 0 && tap.weight != 0)
      sum += blended(x, along, axis + 1, at * x.shape()[axis + 2] + tap.at, weight * tap.weight);
  return sum;
}

Shape sampled(const Call& call) {
  Shape y{call.dim("X", 0), call.dim("X", 1)};
  y.insert(y.end(), call.shape("grid").begin() + 1, call.shape("grid").end() - 1);
  return y;
}

template <class T>
T fitted(double value) {
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (value <= static_cast<double>(Limits::min())) return Limits::min();
    return value >= static_cast<double>(Limits::max()) ? Limits::max() : static_cast<T>(value);
  } else {
    return T(value);
  }
}

// Calls f(channel of X, output, taps of each axis) for every element of Y.
template <class F>
void each_point(const Call& call, const Tensor& grid, F f) {
  const Shape shape = sampled(call);
  const Int channels = shape[1], points = volume(std::span(shape).subspan(2)), r = axes(call);
  for (Int n = 0; n < shape[0]; ++n)
    for (Int point = 0; point < points; ++point) {
      std::vector<std::vector<Tap>> along;
      for (Int axis = 0; axis < r; ++axis) {
        const Int extent = call.dim("X", axis + 2);
        along.push_back(
            taps(call, placed(call, number_at(grid, (n * points + point) * r + r - 1 - axis), extent), extent));
      }
      for (Int c = 0; c < channels; ++c) f(n * channels + c, (n * channels + c) * points + point, along);
    }
}

Values sample(const Call& call, Inputs in) {
  Tensor y({in[0]->dtype(), sampled(call)});
  if (y.elements() == 0) return y;
  if (call.text("mode") != "nearest") {
    for_number(y.dtype(), [&]<class T>() {
      each_point(call, *in[1], [&](Int channel, Int to, const auto& along) {
        y.as<T>()[static_cast<std::size_t>(to)] = fitted<T>(blended(*in[0], along, 0, channel, 1));
      });
    });
    return y;
  }
  for_type(y.dtype(), [&]<class T>() {
    each_point(call, *in[1], [&](Int channel, Int to, const auto& along) {
      Int at = channel;
      for (std::size_t axis = 0; axis < along.size(); ++axis)
        at = at < 0 || along[axis][0].at < 0 ? -1 : at * in[0]->shape()[axis + 2] + along[axis][0].at;
      if (at >= 0) y.as<T>()[static_cast<std::size_t>(to)] = in[0]->as<T>()[static_cast<std::size_t>(at)];
    });
  });
  return y;
}

bool has_ranks(const Call& call) { return call.rank("X") >= 3 && call.rank("grid") == call.rank("X"); }
bool has_elements(const Call& call) {
  return !has_ranks(call) || volume(sampled(call)) == 0 || volume(std::span(call.shape("X")).subspan(2)) > 0;
}
bool holds_numbers(const Call& call) {
  const DType type = call.type("X").dtype;
  const std::string mode = call.text("mode");
  return !(mode.ends_with("linear") || mode.ends_with("cubic")) || is_float(type) || is_integer(type);
}

}  // namespace

// clang-format off
Operator grid_sample() {
  using namespace types;
  return Operator("GridSample")
      .input("X", "T1").input("grid", "T2").output("Y", "T1")
      .attribute("align_corners", 0).word("mode", {"bilinear", "nearest", "bicubic"}, "C4")
      .word("padding_mode", {"zeros", "border", "reflection"}, "C6")
      .rulings({"A29", "E1", "M33", "M34", "M44", "M45", "M47", "M51", "M62"})
      .require("C1", "rank(X) = rank(grid) >= 3", has_ranks)
      .require("C2", "grid names one coordinate for each spatial axis", [](auto& c) {
        return !has_ranks(c) || c.shape("grid").back() == axes(c); })
      .require("C3", "grid has a batch of X's extent", [](auto& c) { return !has_ranks(c) || c.dim("grid", 0) == c.dim("X", 0); })
      .require("C5", "X has elements where Y has", has_elements)
      .require("C7", "mode is nearest where X holds no numbers", holds_numbers)
      .require("C8", "align_corners is 0 or 1", [](auto& c) { return c.integer("align_corners") == 0 || c.integer("align_corners") == 1; })
      .since(16).type("T1", all_tensor_types()).type("T2", all_float_types())
          .require("C9", "rank(X) = 4", [](auto& c) { return !has_ranks(c) || c.rank("X") == 4; })
      .since(20, "any rank; the modes are linear and cubic; ties are even").without("C9").without("C4").settled("M51")
          .word("mode", {"linear", "nearest", "cubic"}, "C4")
      .since(22, "T1 and T2 admit bfloat16").type("T1", all_tensor_types_ir4()).type("T2", all_float_types_ir4())
      .shaping(Shaping::moved).infer(moved_to(sampled)).kernel(sample);
}
// clang-format on

}  // namespace assay
