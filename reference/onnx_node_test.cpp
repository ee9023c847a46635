// SPDX-License-Identifier: Apache-2.0
#include "reference/onnx_node.h"

#include "reference/case.h"
#include "reference/case_view.h"
#include "reference/onnx_io.h"

#include <catch2/catch.hpp>

namespace assay {
namespace {

StatedNode stated(const char* text) {
  INFO(text);
  const Result<StatedModel> model = stated_model(model_of(case_of(text)));
  REQUIRE(model);
  INFO(model->because);
  REQUIRE(model->node);
  return *model->node;
}

}  // namespace

TEST_CASE("stated node: what is written is there, and nothing else", "[onnx_node]") {
  const StatedNode node =
      stated("AveragePool-11 opset=17 ir=8 X=f32[1,2,5]~iota:1 auto_pad=SAME_UPPER ceil_mode=1 kernel_shape=3");
  CHECK(node.op == "AveragePool");
  CHECK(node.domain == "");
  CHECK(node.since_version == 11);
  CHECK(node.opset == 17);
  CHECK(node.outputs == 1);
  REQUIRE(node.attributes.size() == 3);
  for (const StatedAttribute& attribute : node.attributes) {
    if (attribute.name == "auto_pad") CHECK(std::get<std::string>(attribute.value) == "SAME_UPPER");
    if (attribute.name == "ceil_mode") CHECK(std::get<Int>(attribute.value) == 1);
    if (attribute.name == "kernel_shape") CHECK(std::get<std::vector<Int>>(attribute.value) == std::vector<Int>{3});
  }
  REQUIRE(node.operands.size() == 1);
  CHECK(node.operands[0].graph_input == 0);
  CHECK(node.operands[0].data_type == 1);
  CHECK(node.operands[0].shape == Shape{1, 2, 5});
}

TEST_CASE("stated node: constants carry data and take no number among the graph inputs", "[onnx_node]") {
  for (const char* version : {"Conv-11 opset=11 ir=8", "Conv-1 opset=8 ir=3"}) {
    const StatedNode node =
        stated((std::string(version) + " X=f32[1,1,4]~iota:1 W=f32[1,1,2]~lit:1,10@init B=f32[1]~lit:5").c_str());
    REQUIRE(node.operands.size() == 3);
    CHECK(node.operands[0].graph_input == 0);
    CHECK(node.operands[1].graph_input == -1);
    REQUIRE(node.operands[1].constant);
    CHECK(node.operands[1].constant->as<float>()[1] == 10);
    CHECK(node.operands[2].graph_input == 1);
  }
}

TEST_CASE("stated node: extents left open, operands left out, a domain of its own", "[onnx_node]") {
  CHECK(stated("AveragePool-7 opset=7 ir=8 X=f32[1,2,5]~iota:1 kernel_shape=3 shapes=symbolic").operands[0].shape ==
        Shape{-1, -1, -1});
  const StatedNode node = stated("Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~iota:1 B=\"\"");
  REQUIRE(node.operands.size() == 3);
  CHECK(node.operands[2].name == "");
  CHECK(node.operands[2].graph_input == -1);
  const StatedNode nhwc = stated("com.microsoft:NhwcConv-1 opset=1 ir=8 X=f32[1,4,1]~iota:1 W=f32[1,2,1]~iota:1");
  CHECK(nhwc.domain == "com.microsoft");
  CHECK(nhwc.since_version == 1);
}

TEST_CASE("stated node: bytes that are no model are an error, a graph of more nodes is not", "[onnx_node]") {
  CHECK_FALSE(stated_model("\xff\xff\xff"));
  const Result<StatedModel> empty = stated_model("");  // a message with every field left out
  REQUIRE(empty);
  CHECK_FALSE(empty->node);
  CHECK(empty->because == "a graph of 0 nodes, not of one");
}

}  // namespace assay
