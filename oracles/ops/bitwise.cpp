// SPDX-License-Identifier: Apache-2.0
// The exact answers of BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot and BitShift, of integers in two's complement.
#include "oracles/families/elementwise.h"

#include <algorithm>
#include <functional>

namespace assay::oracles {
namespace {

template <class F>
Scalar combined(const ElementPoint& p) {
  return fitted(p, Integer(F()(p.x[0].as_integer(), p.x[1].as_integer())));
}

}  // namespace

Oracle bitwise_and() { return pointwise(combined<std::bit_and<Int>>); }
Oracle bitwise_or() { return pointwise(combined<std::bit_or<Int>>); }
Oracle bitwise_xor() { return pointwise(combined<std::bit_xor<Int>>); }

Oracle bitwise_not() {
  return pointwise([](const ElementPoint& p) { return fitted(p, Integer(~p.x[0].as_integer())); });
}

// A shift is a product with, or the floor of a quotient by, a power of two.
Oracle bit_shift() {
  return pointwise([](const ElementPoint& p) {
    constexpr int beyond_any = 127;
    const auto width = static_cast<std::uint64_t>(8 * size_of(type_of(p)));
    std::uint64_t by = p.x[1].negative ? beyond_any : p.x[1].significand << p.x[1].exponent;
    if (p.reads("E35", "modulo")) by %= width;
    if (p.reads("E35", "modulo-32")) by %= std::max<std::uint64_t>(width, 32);
    const int shift = static_cast<int>(std::min<std::uint64_t>(by, beyond_any));
    const Integer x = truncated(ratio(p.x[0]));
    const auto scaled = [](const Integer& value, int exponent) { return truncated(Ratio{{value, exponent}, 1}); };
    if (p.call.text("direction") == "LEFT") return fitted(p, scaled(x, shift));
    return fitted(p, x < 0 ? -1 - scaled(-1 - x, -shift) : scaled(x, -shift));
  });
}

}  // namespace assay::oracles
