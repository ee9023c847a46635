// SPDX-License-Identifier: Apache-2.0
#include "reference/window.h"

#include "reference/operator.h"

#include <catch2/catch.hpp>

using namespace assay;

namespace {

Axis pool_axis(Int in, Node node, int version = 19) {
  node.input("X", Shape{1, 1, in});
  return Window::of(find_operator("", "AveragePool")->call(version, node)).axes.at(0);
}

Node kernel(Int k, Int stride = 1) {
  return Node().attribute("kernel_shape", Ints{k}).attribute("strides", Ints{stride});
}

// Windows that start inside [-begin, in + end - span] on the grid of the stride, counted one by one.
Int counted(Int in, Int begin, Int end, Int span, Int stride) {
  Int windows = 0;
  for (Int start = -begin; start + span <= in + end; start += stride) ++windows;
  return windows;
}

}  // namespace

TEST_CASE("Division rounds down and up for every sign", "[window]") {
  for (Int a = -10; a <= 10; ++a)
    for (Int b = 1; b <= 5; ++b) {
      // floor is the only integer q with q*b <= a < (q+1)*b.
      CHECK((floor_div(a, b) * b <= a && a < (floor_div(a, b) + 1) * b));
      CHECK(((ceil_div(a, b) - 1) * b < a && a <= ceil_div(a, b) * b));
    }
}

TEST_CASE("Explicit padding: the windows are those that fit, counted one by one", "[window]") {
  for (Int in = 1; in <= 7; ++in)
    for (Int k = 1; k <= 4; ++k)
      for (Int stride = 1; stride <= 4; ++stride)
        for (Int dilation = 1; dilation <= 3; ++dilation)
          for (Int begin = 0; begin <= 3; ++begin)
            for (Int end = 0; end <= 3; ++end) {
              const Int span = (k - 1) * dilation + 1;
              if (in + begin + end < span) continue;
              const Axis axis = pool_axis(
                  in, kernel(k, stride).attribute("dilations", Ints{dilation}).attribute("pads", Ints{begin, end}));
              REQUIRE(axis.out == counted(in, begin, end, span, stride));
            }
}

TEST_CASE("SAME_UPPER puts the odd cell of padding at the end, SAME_LOWER at the beginning", "[window]") {
  // in 4, kernel 2, stride 1: one cell to place.
  const Axis upper = pool_axis(4, kernel(2).attribute("auto_pad", "SAME_UPPER"));
  CHECK((upper.begin == 0 && upper.end == 1 && upper.out == 4));
  const Axis lower = pool_axis(4, kernel(2).attribute("auto_pad", "SAME_LOWER"));
  CHECK((lower.begin == 1 && lower.end == 0 && lower.out == 4));
}

TEST_CASE("SAME_*: the dilated kernel decides the padding (A2)", "[window][A2]") {
  // in 4, kernel 2, dilation 2 spans 3: two cells to place.
  const Axis axis = pool_axis(4, kernel(2).attribute("dilations", Ints{2}).attribute("auto_pad", "SAME_UPPER"));
  CHECK((axis.begin == 1 && axis.end == 1 && axis.out == 4));
}

TEST_CASE("SAME_*: a kernel smaller than the stride needs no padding, never a negative one (A3)", "[window][A3]") {
  for (const char* word : {"SAME_UPPER", "SAME_LOWER"}) {
    const Axis axis = pool_axis(4, kernel(1, 4).attribute("auto_pad", word));
    CHECK((axis.begin == 0 && axis.end == 0 && axis.out == 1));
  }
}

TEST_CASE("A kernel larger than its padded input has no window in floor mode (A6)", "[window][A6]") {
  CHECK(pool_axis(4, kernel(5, 3)).out == 0);                                // floor(-1 / 3) + 1
  CHECK(pool_axis(4, kernel(6)).out == -1);                                  // floor(-2 / 1) + 1
  CHECK(pool_axis(7, kernel(128, 128).attribute("ceil_mode", 1)).out == 1);  // ceil(-121 / 128) + 1
}

TEST_CASE("VALID honours ceil_mode (A7)", "[window][A7]") {
  CHECK(pool_axis(5, kernel(2, 2).attribute("auto_pad", "VALID").attribute("ceil_mode", 1)).out == 3);
  CHECK(pool_axis(5, kernel(2, 2).attribute("auto_pad", "VALID")).out == 2);
}

TEST_CASE("ceil_mode drops one window that starts in the end padding, never more (A8)", "[window][A8]") {
  CHECK(pool_axis(6, kernel(1, 4).attribute("ceil_mode", 1)).out == 2);
  CHECK(pool_axis(6, kernel(1).attribute("ceil_mode", 1).attribute("pads", Ints{1, 5})).out == 11);
  CHECK(pool_axis(6, kernel(1).attribute("pads", Ints{1, 5})).out == 12);
}

TEST_CASE("SAME_* ignores ceil_mode, and an empty axis has no window (A31)", "[window][A31]") {
  CHECK(pool_axis(3, kernel(2, 3).attribute("auto_pad", "SAME_UPPER").attribute("ceil_mode", 1)).out == 1);
  CHECK(pool_axis(0, kernel(1).attribute("auto_pad", "SAME_UPPER")).out == 0);
}

TEST_CASE("A dilated kernel that overflows is refused, not computed", "[window]") {
  CHECK_THROWS_AS(pool_axis(4, kernel(Int{1} << 40).attribute("dilations", Ints{Int{1} << 40})), InputError);
}
