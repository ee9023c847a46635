// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/geometry.h"

#include "reference/operator.h"

#include <catch2/catch.hpp>

using namespace assay;
using namespace assay::oracles;

namespace {

Call pool(int version, Int in, Node node) {
  node.input("X", Shape{1, 1, in});
  return find_operator("", "AveragePool")->call(version, node);
}

Call conv(int version, Int in, Int taps, Node node) {
  node.input("X", Shape{1, 1, in}).input("W", Shape{1, 1, taps});
  return find_operator("", "Conv")->call(version, node);
}

Node kernel(Int k, Int s) { return Node().attribute("kernel_shape", Ints{k}).attribute("strides", Ints{s}); }
Node same(const char* word, Int s) { return Node().attribute("auto_pad", word).attribute("strides", Ints{s}); }

Int windows(const Call& call, const Readings& readings = {}) {
  return tracks(call, sliding(call), readings)->at(0).windows;
}
std::vector<std::string> touched(const Call& call) { return touched_by_geometry(call, sliding(call)); }
Readings read(const char* id, const char* reading) { return Readings().with(id, reading); }

}  // namespace

// The examples of spec 2.1, each by its own figures.
TEST_CASE("A1: match-input keeps the extent of the oldest texts", "[geometry][A1]") {
  const Call call = conv(1, 4, 3, same("SAME_UPPER", 2));
  CHECK(windows(call) == 2);
  CHECK(windows(call, read("A1", "match-input")) == 4);
  CHECK(touched(call) == std::vector<std::string>{"A1"});
  CHECK(touched(conv(11, 4, 3, same("SAME_UPPER", 2))).empty());
}

TEST_CASE("A3: the signed readings shift the window into the input", "[geometry][A3]") {
  const Call upper = conv(11, 4, 1, same("SAME_UPPER", 4)), lower = conv(11, 4, 1, same("SAME_LOWER", 4));
  // Total padding (1-1)*4 + 1 - 4 = -3: halves -1 and -2 by truncation, -2 and -1 by flooring.
  const auto first = [](const Call& call, const Readings& readings) {
    return tracks(call, sliding(call), readings)->at(0).at(0, 0);
  };
  CHECK(first(upper, {}) == 0);
  CHECK(first(upper, read("A3", "signed-trunc")) == 1);
  CHECK(first(lower, read("A3", "signed-trunc")) == 2);
  CHECK(first(upper, read("A3", "signed-floor")) == 2);
  CHECK(first(lower, read("A3", "signed-floor")) == 1);
}

TEST_CASE("A6: nothing fits, or zero windows", "[geometry][A6]") {
  CHECK_FALSE(tracks(conv(11, 4, 6, {}), {{4}, {6}}, {}));
  CHECK(windows(conv(11, 4, 6, {}), read("A6", "zero-size")) == 0);
}

TEST_CASE("A7: the printed formula of VALID is floor-mode arithmetic", "[geometry][A7]") {
  const Call call = pool(10, 5, kernel(2, 2).attribute("auto_pad", "VALID").attribute("ceil_mode", 1));
  CHECK(windows(call) == 3);
  CHECK(windows(call, read("A7", "text-floor")) == 2);
}

TEST_CASE("A8: one trailing window is dropped, none, or all", "[geometry][A8]") {
  const Call one = pool(10, 6, kernel(1, 4).attribute("ceil_mode", 1));
  CHECK(windows(one) == 2);
  CHECK(windows(one, read("A8", "keep")) == 3);
  const Call many = pool(10, 6, kernel(1, 1).attribute("ceil_mode", 1).attribute("pads", Ints{1, 5}));
  CHECK(windows(many) == 11);
  CHECK(windows(many, read("A8", "keep")) == 12);
  CHECK(windows(many, read("A8", "drop-all")) == 7);
  CHECK(touched(many) == std::vector<std::string>{"A8"});
}

TEST_CASE("A10: the floor formulas of AveragePool-11", "[geometry][A10]") {
  const Call call = pool(11, 5, kernel(1, 2).attribute("auto_pad", "SAME_UPPER"));
  CHECK(windows(call) == 3);
  CHECK(windows(call, read("A10", "literal-floor")) == 2);
  const Call valid = pool(11, 4, kernel(2, 2).attribute("auto_pad", "VALID"));
  CHECK(windows(valid) == 2);
  CHECK(windows(valid, read("A10", "literal-floor")) == 1);
}

TEST_CASE("A4: auto_pad wins or pads win", "[geometry][A4]") {
  const Call call = conv(11, 4, 3, same("SAME_UPPER", 1).attribute("pads", Ints{0, 0}));
  CHECK(windows(call, read("A4", "auto-wins")) == 4);
  CHECK(windows(call, read("A4", "pads-win")) == 2);
}

TEST_CASE("A cell is in the input, in its padding, or overhang", "[geometry]") {
  const WindowAxis track{.in = 3, .taps = 3, .stride = 3, .dilation = 1, .before = 1, .after = 0, .windows = 2};
  CHECK(track.kind(-1) == CellKind::pad);
  CHECK(track.kind(0) == CellKind::in);
  CHECK(track.kind(2) == CellKind::in);
  CHECK(track.kind(3) == CellKind::overhang);
}
