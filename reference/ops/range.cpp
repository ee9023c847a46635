// SPDX-License-Identifier: Apache-2.0
// Range (ai.onnx 11, 27) - https://onnx.ai/onnx/operators/onnx__Range.html
//
//   output[i] = start + i * delta, while that is before limit
#include "reference/families/picked.h"
#include "reference/type_lists.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

constexpr std::string_view ends[] = {"start", "limit", "delta"};

template <class F>
bool all_ends(F holds) {
  return std::ranges::all_of(ends, holds);
}
bool has_scalars(const Call& call) {
  return all_ends([&](std::string_view each) { return volume(call.shape(each)) == 1; });
}
// Holds where a progression begins and ends and how it steps, as numbers that `Wide` has; its ends are scalars.
template <class Wide>
struct Progression {
  Wide start, limit, delta;
};
template <class F>
auto of_ends(const Call& call, F&& f) {
  return for_number(call.type("start").dtype, [&]<class T>() {
    using Wide = std::conditional_t<std::is_integral_v<T>, __int128, double>;
    const auto end = [&](std::string_view name) { return static_cast<Wide>(data_of(call, name).as<T>()[0]); };
    return f(Progression<Wide>{end("start"), end("limit"), end("delta")});
  });
}

constexpr Int most = Int{1} << 40;

Int count(const Progression<__int128>& at) {
  const __int128 way = at.delta > 0 ? at.limit - at.start : at.start - at.limit,
                 step = at.delta > 0 ? at.delta : -at.delta;
  return way <= 0 ? 0 : static_cast<Int>(std::min<__int128>((way + step - 1) / step, most));
}

// Counts from the quotient as it is rounded, and corrects it by whether n steps are short of the way: both numbers are
// held as sums of two, which have no rounding.
Int count(const Progression<double>& at) {
  const double way = at.limit - at.start, part = way - at.limit, lost = (at.limit - (way - part)) - (at.start + part);
  const double rounded = std::ceil(way / at.delta);
  if (!(rounded >= 0)) return 0;
  if (rounded >= static_cast<double>(most)) return most;
  const auto is_short = [&](Int n) {
    const double steps = static_cast<double>(n) * at.delta, rest = std::fma(static_cast<double>(n), at.delta, -steps);
    const double left = (way - steps) + (lost - rest);
    return at.delta > 0 ? left > 0 : left < 0;
  };
  Int n = std::max<Int>(0, static_cast<Int>(rounded) - 1);
  while (is_short(n)) ++n;
  return n;
}

Int elements(const Call& call) {
  return of_ends(call, [](const auto& at) { return count(at); });
}

Values count_up(const Call& call, Inputs in) {
  Tensor y(*call.definition().infer(call).front());
  for_number(y.dtype(), [&]<class T>() {
    const T start = in[0]->as<T>()[0], delta = in[2]->as<T>()[0];
    for (Int i = 0; T & element : y.as<T>()) {
      if constexpr (std::is_integral_v<T>)
        element = static_cast<T>(static_cast<std::uint64_t>(start) +
                                 static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(delta));
      else
        element = T(static_cast<double>(start) + static_cast<double>(i) * static_cast<double>(delta));
      ++i;
    }
  });
  return y;
}

}  // namespace

// clang-format off
Operator range() {
  using enum DType;
  return Operator("Range")
      .parameter("start", "T", "start").parameter("limit", "T", "limit").parameter("delta", "T", "delta")
      .output("output", "T").rulings({"M4", "M40"})
      .require("C1", "delta is not 0", [](auto& c) {
        return !has_scalars(c) || of_ends(c, [](const auto& at) { return at.delta != 0; }); })
      .require("C2", "all are finite", [](auto& c) {
        return !has_scalars(c) || of_ends(c, [](const auto& at) { return (at.start - at.start) + (at.limit - at.limit) +
                                                                          (at.delta - at.delta) == 0; }); })
      .require("C3", "all are scalars", [](auto& c) {
        return !has_scalars(c) || all_ends([&](auto each) { return c.rank(each) == 0; }); }, "M4")
      .require("C4", "each has one element", has_scalars)
      .since(11).type("T", {f32, f64, i16, i32, i64})
      .since(27, "T admits float16 and bfloat16, added up in stash_type").type("T", {f32, f64, i16, i32, i64, f16, bf16})
          .attribute("stash_type", 1).ruling("M65")
      .shaping(Shaping::moved).infer(moved_to([](const Call& c) { return Shape{elements(c)}; })).kernel(count_up);
}
// clang-format on

}  // namespace assay
