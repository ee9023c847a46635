// SPDX-License-Identifier: Apache-2.0
// NhwcMaxPool and com.microsoft's means of integers by the windows of the gather engine: channels that stand last are
// moved to the second place, codes are dequantized, averaged as floats, and quantized.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"
#include "suites/mutation/gather.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::mutation {
namespace {

enum class Defect {
  none,
  adds_first,
  ignores_zero_point,
  ignores_y_scale,
  multiplies,
  wraps,
  converts,
  truncates,
  reads_channels_second
};

Tensor with_channels_second(const Call& call, const Tensor& x, Defect defect) {
  if (!call.has_channels_last()) return x;
  return defect == Defect::reads_channels_second ? as_if_second(x) : channels_second(x);
}

// The call of a pool of ai.onnx with these windows; of a pool over whole planes they are the plane.
Call pool_of(OpVersion version, const Call& call, TensorType x) {
  const Definition& pool = *find_definition(version);
  Node node;
  if (!call.definition().attribute("kernel_shape"))
    node.attribute("kernel_shape", Ints(x.shape.begin() + 2, x.shape.end()));
  node.input("X", std::move(x));
  for (const auto& [name, value] : call.node().attributes)
    if (pool.attribute(name)) node.attribute(name, value);
  return Call(pool, std::move(node));
}

Tensor pooled(const Kernel& pool, OpVersion version, const Call& call, const Tensor& x) {
  const Tensor* const in[] = {&x};
  return pool(pool_of(std::move(version), call, x.type()), in).only();
}

Kernel selecting_last(GatherDeviation deviation, Defect defect = Defect::none) {
  return [pool = selecting(std::move(deviation)), defect](const Call& call, Inputs in) {
    return channels_last(pooled(pool, {"", "MaxPool", 12}, call, with_channels_second(call, *in[0], defect)));
  };
}

template <class T>
T quantized(double mean, double scale, double zero, Defect defect) {
  constexpr double least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  const double q = mean == mean ? std::clamp(mean / scale, -0x1p40, 0x1p40) : 0;
  double code = defect == Defect::truncates    ? std::trunc(q) + zero
                : defect == Defect::adds_first ? std::nearbyint(q + zero)
                : defect == Defect::converts   ? std::trunc(q + zero)
                                               : std::nearbyint(q) + zero;
  if (defect == Defect::wraps || defect == Defect::converts) code -= std::floor((code - least) / 256) * 256;
  return static_cast<T>(std::clamp(code, least, most));
}

// Averages in F.
template <class F>
Kernel averaging(GatherDeviation deviation, Defect defect = Defect::none) {
  return [pool = gathering(std::move(deviation)), defect](const Call& call, Inputs in) {
    const Tensor x = with_channels_second(call, *in[0], defect);
    const F scale = static_cast<F>(number_of(in, 1));
    const double zero = defect == Defect::ignores_zero_point ? 0 : number_of(in, 2);
    Tensor reals({std::is_same_v<F, float> ? DType::f32 : DType::f64, x.shape()});
    Tensor y;
    for_number(x.dtype(), [&]<class T>() {
      if constexpr (std::is_integral_v<T> && sizeof(T) == 1) {
        std::ranges::transform(x.as<T>(), reals.as<F>().begin(),
                               [&](T code) { return static_cast<F>(code - zero) * scale; });
        const Tensor means = pooled(pool, {"", "AveragePool", 11}, call, reals);
        y = Tensor({x.dtype(), means.shape()});
        const double scale_of_y = number_of(in, 3);
        const double step = defect == Defect::ignores_y_scale ? 1
                            : defect == Defect::multiplies    ? 1 / scale_of_y
                                                              : scale_of_y;
        std::ranges::transform(means.as<F>(), y.as<T>().begin(), [&](F mean) {
          return quantized<T>(static_cast<double>(mean), step, number_of(in, 4), defect);
        });
      }
    });
    return call.has_channels_last() ? channels_last(y) : y;
  };
}

// Slips of geometry that MaxPool and AveragePool share; what misreads an attribute is derived.
constexpr std::string_view selecting_slips[] = {
    "swaps-pads",          "interleaves-pads", "takes-lower-for-upper", "takes-valid-for-same",
    "pads-same-undilated", "swaps-strides",    "swaps-dilations",       "counts-ceil-for-floor",
    "dilates-last-column", "drops-last-tap",   "shifts-last-window",
};
constexpr std::string_view averaging_slips[] = {
    "swaps-pads",           "interleaves-pads",      "takes-lower-for-upper",  "takes-valid-for-same",
    "pads-same-below-zero", "swaps-strides",         "counts-ceil-for-floor",  "drops-last-tap",
    "shifts-last-window",   "keeps-trailing-window", "never-counts-padding",   "always-counts-padding",
    "counts-overhang",      "divides-by-kernel",     "divides-tail-by-kernel", "divides-last-off-by-one",
    "forgets-same-padding", "swaps-kernel-axes",     "pools-previous-channel",
};

bool is_mean(const std::string& op) { return op == "QLinearAveragePool" || op == "QLinearGlobalAveragePool"; }

}  // namespace

std::vector<VariantKernel> integer_pool_variants(const std::string& op) {
  if (op == "NhwcMaxPool") return {variant_of("sequential", "one tap after the other", selecting_last({}))};
  if (!is_mean(op)) return {};
  return {variant_of("sequential", "one tap after the other, in f64", averaging<double>({})),
          variant_of("in-f32", "taps are dequantized to f32 and added up", averaging<float>({})),
          variant_of("adds-zero-first", "the zero point is added before rounding",
                     averaging<double>({}, Defect::adds_first))};
}

std::optional<Kernel> windowed_integers(const std::string& op, const GatherDeviation& deviation) {
  if (op == "NhwcMaxPool") return selecting_last(deviation);
  if (op == "QLinearAveragePool") return averaging<double>(deviation);
  return std::nullopt;
}

std::vector<Bug> integer_pool_bugs(const std::string& op) {
  const char* const as_second = "channels that stand last are taken to stand second";
  if (op == "NhwcMaxPool") {
    std::vector<Bug> bugs{
        bug_of(op, "reads-channels-second", as_second, selecting_last({}, Defect::reads_channels_second))};
    borrow(bugs, {"com.microsoft", op, 1}, "max", selecting_slips);
    return bugs;
  }
  if (!is_mean(op)) return {};
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, averaging<double>({}, defect));
  };
  std::vector<Bug> bugs{
      bug("reads-channels-second", as_second, Defect::reads_channels_second),
      bug("ignores-x-zero-point", "X has no zero point", Defect::ignores_zero_point),
      bug("ignores-y-scale", "y_scale has no effect", Defect::ignores_y_scale),
      bug("multiplies-by-y-scale", "multiplies by y_scale instead of dividing", Defect::multiplies),
      bug("truncates", "rounds towards zero", Defect::truncates),
      bug("wraps-output", "the output wraps around where it should saturate", Defect::wraps),
      bug("converts-output", "the output is cut off and wraps around, zero point and all", Defect::converts)};
  if (op == "QLinearGlobalAveragePool") return bugs;
  borrow(bugs, {"com.microsoft", op, 1}, "pool", averaging_slips);
  return bugs;
}

}  // namespace assay::mutation
