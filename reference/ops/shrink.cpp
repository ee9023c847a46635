// SPDX-License-Identifier: Apache-2.0
// Shrink (ai.onnx 9) - https://onnx.ai/onnx/operators/onnx__Shrink.html
//
//   output[i] = input[i] + bias where input[i] < -lambd, input[i] - bias where input[i] > lambd, else 0
//
// Of an integer what is added up is truncated (E42).
#include "reference/families/elementwise.h"
#include "reference/type_lists.h"

#include <cmath>

namespace assay {
namespace {

// x < bound and x > bound, of any number and a double, as numbers.
template <class T>
bool is_less(T x, double bound) {
  if constexpr (!std::is_integral_v<T>)
    return static_cast<double>(x) < bound;
  else
    return std::abs(bound) < 0x1p64 ? static_cast<__int128>(x) < static_cast<__int128>(std::ceil(bound)) : bound > 0;
}
template <class T>
bool is_more(T x, double bound) {
  if constexpr (!std::is_integral_v<T>)
    return static_cast<double>(x) > bound;
  else
    return std::abs(bound) < 0x1p64 ? static_cast<__int128>(x) > static_cast<__int128>(std::floor(bound)) : bound < 0;
}

// x + bias, rounded once or truncated; anything where that does not fit.
template <class T>
T added(T x, double bias) {
  if constexpr (!std::is_integral_v<T>) {
    return static_cast<T>(static_cast<double>(x) + bias);
  } else {
    if (!(std::abs(bias) < 0x1p64)) return 0;
    const double whole = std::floor(bias);
    const __int128 sum = static_cast<__int128>(x) + static_cast<__int128>(whole);
    return static_cast<T>(sum < 0 && bias != whole ? sum + 1 : sum);
  }
}

}  // namespace

// clang-format off
Operator shrink() {
  return Operator("Shrink")
      .input("input", "T").output("output", "T").attribute("bias", 0.0F).attribute("lambd", 0.5F)
      .rulings({"A29", "E1", "E2", "E38", "E40", "E42"})
      .since(9)
      .type("T", types::all_numeric_types())
      .shaping(Shaping::one).shape(same_as("input"))
      .kernel([](const Call& call, Inputs in) -> Values {
        const double bias{call.real("bias")}, lambd{call.real("lambd")};
        return each([=]<class T>(T x) {
          return is_less(x, -lambd) ? added(x, bias) : is_more(x, lambd) ? added(x, -bias) : T(0);
        })(call, in);
      });
}
// clang-format on

}  // namespace assay
