// SPDX-License-Identifier: Apache-2.0
#include "reference/operator.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace assay;

namespace {

using Ids = std::vector<std::string>;

const Operator& conv() { return *find_operator("", "Conv"); }
const Operator& pool() { return *find_operator("", "AveragePool"); }
Node legal_conv() { return Node().input("X", Shape{1, 4, 5, 5}).input("W", Shape{4, 2, 3, 3}).attribute("group", 2); }
Node legal_pool() { return Node().input("X", Shape{1, 1, 5}).attribute("kernel_shape", Ints{2}); }

std::vector<float> averaged(Node node, std::vector<float> x, int version) {
  node.input("X", Shape{1, 1, static_cast<Int>(x.size())});
  Tensor in({DType::f32, {1, 1, static_cast<Int>(x.size())}});
  std::ranges::copy(x, in.as<float>().begin());
  const Tensor* const inputs[] = {&in};
  const Tensor y = pool().at(version)->kernel(pool().call(version, node), inputs).only();
  return {y.as<float>().begin(), y.as<float>().end()};
}

}  // namespace

TEST_CASE("Conv: a legal call breaks nothing, in any version", "[conv]") {
  for (const int version : {1, 11, 22}) CHECK(conv().violated(legal_conv(), version) == Ids{});
}

TEST_CASE("Conv: each constraint is broken by what breaks it", "[conv]") {
  const auto broken = [](const Node& node) { return conv().violated(node, 11); };
  CHECK(broken(legal_conv().input("W", Shape{4, 3, 3, 3})) == Ids{"C3"});
  CHECK(broken(legal_conv().input("B", Shape{3})) == Ids{"C4"});
  CHECK(broken(legal_conv().input("B", Shape{1})) == Ids{"C5"});
  CHECK(broken(legal_conv().input("W", Shape{3, 2, 3, 3})) == Ids{"C6"});
  CHECK(broken(legal_conv().attribute("group", 0)) == Ids{"C7"});
  CHECK(broken(legal_conv().attribute("kernel_shape", Ints{3, 2})) == Ids{"C8"});
  CHECK(broken(legal_conv().attribute("auto_pad", "same_upper")) == Ids{"W1"});
  CHECK(broken(legal_conv().attribute("auto_pad", "VALID").attribute("pads", Ints{0, 0, 0, 0})) == Ids{"W2"});
  CHECK(broken(legal_conv().attribute("strides", Ints{1})) == Ids{"W3"});
  CHECK(broken(legal_conv().input("W", Shape{4, 2, 0, 3})) == Ids{"W4"});
  CHECK(broken(legal_conv().attribute("strides", Ints{0, 1})) == Ids{"W5"});
  CHECK(broken(legal_conv().attribute("dilations", Ints{1, 0})) == Ids{"W6"});
  CHECK(broken(legal_conv().attribute("pads", Ints{1, 1, 1, -1})) == Ids{"W7"});
  CHECK(broken(legal_conv().attribute("dilations", Ints{3, 1})) == Ids{"W8"});
}

TEST_CASE("What every operator demands comes first, and hides what cannot be checked", "[operator]") {
  CHECK(conv().violated(Node().input("X", Shape{1, 1, 4}), 11) == Ids{"G1"});
  CHECK(pool().violated(Node().input("X", Shape{1, 1, 4}), 11) == Ids{"G1"});
  CHECK(pool().violated(legal_pool().attribute("dilations", Ints{2}), 11) == Ids{"G2"});
  CHECK(pool().violated(legal_pool().attribute("dilations", Ints{2}), 19) == Ids{});
  CHECK(pool().violated(legal_pool().attribute("ceil_mode", 1), 7) == Ids{"G2"});
  CHECK(pool().violated(legal_pool().attribute("count_include_pad", 1), 1) == Ids{"G2"});
  CHECK(pool().violated(legal_pool().attribute("kernel_shape", 2), 11) == Ids{"G3"});
  CHECK(pool().violated(legal_pool().input("X", {DType::bf16, {1, 1, 5}}), 19) == Ids{"G4"});
  CHECK(pool().violated(legal_pool().input("X", {DType::bf16, {1, 1, 5}}), 22) == Ids{});
  CHECK(conv().violated(legal_conv().input("B", {DType::f64, {4}}), 11) == Ids{"G4"});
}

TEST_CASE("A call breaks only one constraint where that one is all it violates", "[operator]") {
  const auto breaks_only = [](Node node, std::string_view id) {
    const Call call = conv().call(11, std::move(node));
    return call.definition().breaks_only(call, id);
  };
  CHECK(breaks_only(legal_conv().attribute("group", 0), "C7"));
  CHECK_FALSE(breaks_only(legal_conv().attribute("group", 0), "C8"));
  CHECK_FALSE(breaks_only(legal_conv(), "C7"));
  CHECK_FALSE(breaks_only(legal_conv().attribute("group", 0).attribute("strides", Ints{1}), "C7"));
  CHECK(breaks_only(Node().input("X", Shape{1, 1, 4}), "G1"));
  CHECK_FALSE(breaks_only(Node().input("X", Shape{1, 1, 4}), "G2"));
  CHECK_FALSE(breaks_only(legal_conv().attribute("group", 0).attribute("no_such", 1), "C7"));
}

TEST_CASE("A constraint that is a ruling is lifted by its other readings", "[operator]") {
  const Node both = legal_conv().attribute("auto_pad", "VALID").attribute("pads", Ints{0, 0, 0, 0});
  CHECK(conv().violated(both, 11, Readings().with("A4", "auto-wins")) == Ids{});
  CHECK(conv().violated(legal_conv().input("B", Shape{1}), 11, Readings().with("A13", "allow-1")) == Ids{});
}

TEST_CASE("A version has its place on the web", "[operator]") {
  CHECK(page_of({"", "AveragePool", 19}) ==
        "https://onnx.ai/onnx/operators/onnx__AveragePool.html#l-onnx-op-averagepool-19");
  CHECK(page_of({"com.microsoft", "NhwcConv", 1}) ==
        "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.NhwcConv");
}

TEST_CASE("A version is found by the opset that selects it", "[operator]") {
  CHECK(conv().at(10)->version.since_version == 1);
  CHECK(conv().at(21)->version.since_version == 11);
  CHECK(conv().at(newest_opset)->version.since_version == 22);
  CHECK(end_opset({"", "Conv", 1}) == 11);
  CHECK(end_opset({"", "AveragePool", 22}) == newest_opset + 1);
}

// spec A.2; the sums are small enough to do in the head.
TEST_CASE("AveragePool: overhang never counts, padding counts with count_include_pad", "[average_pool]") {
  const auto k = [](Int kernel, Int stride) {
    return Node().attribute("kernel_shape", Ints{kernel}).attribute("strides", Ints{stride});
  };
  CHECK(averaged(k(3, 3).attribute("ceil_mode", 1), {1, 2, 3, 4}, 10) == std::vector<float>{2, 4});
  CHECK(averaged(k(2, 2).attribute("ceil_mode", 1).attribute("count_include_pad", 1), {1, 2, 3, 4, 5}, 10) ==
        std::vector<float>{1.5, 3.5, 5});
  CHECK(averaged(k(3, 3).attribute("ceil_mode", 1).attribute("count_include_pad", 1).attribute("pads", Ints{1, 0}),
                 {1, 2, 3}, 10) == std::vector<float>{1, 3});
  CHECK(averaged(k(2, 1).attribute("pads", Ints{1, 1}), {1, 2, 3, 4}, 1) == std::vector<float>{1, 1.5, 2.5, 3.5, 4});
  CHECK(
      averaged(
          k(2, 1).attribute("dilations", Ints{2}).attribute("auto_pad", "SAME_UPPER").attribute("count_include_pad", 1),
          {1, 2, 3, 4}, 19) == std::vector<float>{1, 2, 3, 1.5});
}
