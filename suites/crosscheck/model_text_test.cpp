// SPDX-License-Identifier: Apache-2.0
// Models as text: what ONNX's parser reads of it is the model, field by field.
#include "generators/generators.h"
#include "reference/onnx_io.h"
#include "reference/onnx_text.h"
#include "reference/recipe.h"
#include "reference/testing/run_size.h"
#include "suites/mutation/kernel_trial.h"
#include "suites/workers/worker.h"

#include <catch2/catch.hpp>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cctype>

namespace assay::mutation {
namespace {

constexpr std::uint64_t seed = 23;
constexpr std::size_t any_length = std::size_t{1} << 24;

onnx::ModelProto parsed(const std::string& text) {
  onnx::ModelProto model;
  onnx::OnnxParser parser(text.c_str());
  const auto status = parser.Parse(model);
  INFO(text << status.ErrorMessage());
  REQUIRE(status.IsOK());
  CHECK(parser.EndOfInput());
  return model;
}

onnx::ModelProto read(const std::string& bytes) {
  onnx::ModelProto model;
  REQUIRE(model.ParseFromString(bytes));
  return model;
}

// Compared by hand, in another way than the writer holds itself to its model.
void expect_same_attributes(const onnx::NodeProto& a, const onnx::NodeProto& b) {
  REQUIRE(a.attribute_size() == b.attribute_size());
  for (int i = 0; i < a.attribute_size(); ++i) {
    const onnx::AttributeProto &x = a.attribute(i), &y = b.attribute(i);
    CHECK(x.name() == y.name());
    CHECK(x.type() == y.type());
    CHECK(x.i() == y.i());
    CHECK(x.f() == y.f());
    CHECK(x.s() == y.s());
    CHECK(std::ranges::equal(x.ints(), y.ints()));
  }
}

void expect_same_types(const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& a,
                       const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& b) {
  REQUIRE(a.size() == b.size());
  for (int i = 0; i < a.size(); ++i) {
    const onnx::TypeProto_Tensor &x = a[i].type().tensor_type(), &y = b[i].type().tensor_type();
    CHECK(a[i].name() == b[i].name());
    CHECK(x.elem_type() == y.elem_type());
    CHECK(x.has_shape() == y.has_shape());
    REQUIRE(x.shape().dim_size() == y.shape().dim_size());
    for (int axis = 0; axis < x.shape().dim_size(); ++axis) {
      const auto &p = x.shape().dim(axis), &q = y.shape().dim(axis);
      CHECK(p.has_dim_value() == q.has_dim_value());
      CHECK(p.dim_value() == q.dim_value());
      CHECK(p.dim_param() == q.dim_param());
    }
  }
}

// Bit by bit, however the elements are kept.
void expect_same_tensors(const onnx::GraphProto& a, const onnx::GraphProto& b) {
  REQUIRE(a.initializer_size() == b.initializer_size());
  for (int i = 0; i < a.initializer_size(); ++i) {
    CHECK(a.initializer(i).name() == b.initializer(i).name());
    const Result<Tensor> x = decode_tensor(a.initializer(i).SerializeAsString()),
                         y = decode_tensor(b.initializer(i).SerializeAsString());
    REQUIRE(x);
    REQUIRE(y);
    CHECK(*x == *y);
  }
}

void expect_same(const onnx::ModelProto& a, const onnx::ModelProto& b) {
  CHECK(a.ir_version() == b.ir_version());
  REQUIRE(a.opset_import_size() == b.opset_import_size());
  for (int i = 0; i < a.opset_import_size(); ++i) {
    CHECK(a.opset_import(i).domain() == b.opset_import(i).domain());
    CHECK(a.opset_import(i).version() == b.opset_import(i).version());
  }
  REQUIRE(a.graph().node_size() == 1);
  REQUIRE(b.graph().node_size() == 1);
  const onnx::NodeProto &x = a.graph().node(0), &y = b.graph().node(0);
  CHECK(x.op_type() == y.op_type());
  CHECK(x.domain() == y.domain());
  CHECK(std::ranges::equal(x.input(), y.input()));
  CHECK(std::ranges::equal(x.output(), y.output()));
  expect_same_attributes(x, y);
  expect_same_types(a.graph().input(), b.graph().input());
  expect_same_types(a.graph().output(), b.graph().output());
  expect_same_tensors(a.graph(), b.graph());
}

// Constants of less than eight bits have no text: the parser does not pack them.
bool has_packed_constant(const Case& c) {
  return std::ranges::any_of(c.sources, [&](const auto& source) {
    const TensorType& type = c.node.inputs.at(source.first).type;
    return source.second.initializer && type.dtype != DType::string && is_packed(type.dtype) && volume(type.shape) > 0;
  });
}

bool has_controls(const std::string& text) {
  return std::ranges::any_of(text, [](unsigned char letter) { return std::iscntrl(letter) != 0; });
}

// An attribute has no text where it is a tensor with NaN or elements of less than eight bits, lists strings, or holds
// what the parser does not read.
bool may_have_no_text(const Case& c) {
  const auto is_string = [](const auto& each) { return each.second.type.dtype == DType::string; };
  if (std::ranges::any_of(c.node.inputs, is_string)) return true;  // whose controls and zeros the parser does not read
  const auto holds_bits = [](const auto& each) {
    return each.second.initializer && each.second.recipe.family == "bits";
  };
  if (std::ranges::any_of(c.sources, holds_bits)) return true;  // NaN of any payload
  return std::ranges::any_of(c.node.attributes, [](const auto& each) {
    const auto* const word = std::get_if<std::string>(&each.second);
    return std::holds_alternative<Tensor>(each.second) || std::holds_alternative<Texts>(each.second) ||
           (word && has_controls(*word));
  });
}

void expect_readable(const Case& c) {
  INFO(line(c));
  const std::string model = model_of(c);
  const std::optional<std::string> text = model_text(model, any_length);
  if (has_packed_constant(c)) {
    CHECK_FALSE(text);
    return;
  }
  if (!text && may_have_no_text(c)) return;
  REQUIRE(text);
  expect_same(parsed(*text), read(model));
}

Case presented(Case c, std::size_t index) {
  if (index % 3 == 1) c.declared = DeclaredShapes::symbolic;
  if (index % 3 == 2) c.declared = DeclaredShapes::absent;
  if (index % 5 == 1)
    for (auto& [name, source] : c.sources) source.initializer = true;
  if (index % 7 == 1) c.ir_version = 3;
  return c;
}

std::string text_of(const std::string& line, std::size_t most = 256) {
  return model_text(model_of(*parse_case(line)), most).value_or("none");
}

}  // namespace

TEST_CASE("Thousands of generated models read back from their text as they are", "[text]") {
  for (const auto& [subject, index] : sampled_versions("", count(3'000, 30'000)))
    expect_readable(presented(generators::legal(*subject.definition, subject.type, seed, index), index));
}

TEST_CASE("So do models that break a constraint", "[text]") {
  std::size_t seen = 0;
  for (const auto& [subject, index] : sampled_versions("", count(300, 2'000)))
    for (const std::string& constraint : generators::breakable(*subject.definition))
      if (const auto c = generators::near_miss(*subject.definition, subject.type, constraint, seed, index)) {
        expect_readable(*c);
        ++seen;
      }
  CHECK(seen > 1'000);
}

TEST_CASE("A model is text that fits on a few lines", "[text]") {
  CHECK(text_of("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 auto_pad=SAME_UPPER kernel_shape=2 dilations=2") ==
        R"(<ir_version: 8, opset_import: ["" : 19]>
AveragePool_19 (float[1,1,4] X) => (float[Y_0,Y_1,Y_2] Y) {
  Y = AveragePool <auto_pad = "SAME_UPPER", kernel_shape = [2], dilations = [2]> (X)
}
)");
}

TEST_CASE("Everything a case may hold has its text", "[text]") {
  for (const char* const line : {
           "Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~lit:nan,inf@init B=\"\"",
           "Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~lit:-0,0x1p-149@init",
           "Conv-11 opset=11 ir=8 X=f64[1,1,4]~iota:1 W=f64[1,1,2]~lit:0x1p-1074,0x1.fffffffffffffp+1023@init",
           "Conv-11 opset=11 ir=8 X=f16[1,1,4]~iota:1 W=f16[1,1,2]~lit:nan,0x1p-24@init B=f16[1]~lit:-inf@init",
           "Conv-22 opset=22 ir=10 X=bf16[1,1,4]~iota:1 W=bf16[1,1,2]~lit:0.1,-0@init shapes=absent",
           "Conv-11 opset=11 ir=3 X=f16[1,1,4]~iota:1 W=f16[1,1,2]~lit:1,2@init B=f16[1]~lit:3@init",
           "Conv-11 opset=11 ir=8 X=f32[1,0,4]~iota:1 W=f32[2,0,2]~const:1@init strides=[] auto_pad=%22%5C%20x",
           "com.microsoft:NhwcConv-1 opset=1 ir=8 X=f32[1,4,1]~iota:1 W=f32[1,2,1]~const:1 shapes=symbolic",
           "QLinearConv-10 opset=10 ir=8 x=u8[1,1,1]~iota:1 x_scale=f32[]~hold:0.1@init "
           "x_zero_point=u8[]~hold:255@init "
           "w=i8[1,1,1]~hold:-128@init w_scale=f32[]~hold:1 w_zero_point=i8[]~hold:0 y_scale=f32[]~hold:1 "
           "y_zero_point=u8[]~hold:0 B=i32[1]~hold:-2147483648@init",
           "AveragePool-1 opset=1 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 strides=2147483647",
       }) {
    const Result<Case> c = parse_case(line);
    INFO(line);
    REQUIRE(c);
    expect_readable(*c);
  }
}

TEST_CASE("What the text cannot say is said to be so", "[text]") {
  CHECK(text_of("AveragePool-1 opset=1 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 auto_pad=%C3%A9") == "none");
  CHECK(text_of("AveragePool-1 opset=1 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 auto_pad=a%00b") == "none");
  CHECK(text_of("Conv-11 opset=11 ir=8 X=f32[1,1,9]~iota:1 W=f32[1,1,9]~const:1@init", 8) == "none");
  CHECK(!model_text("no model"));
}

TEST_CASE("Own kernels run a graph of no node, and one that gives more than its node does", "[own_kernels]") {
  const auto here = suites::open_backend("reference:inprocess");
  const auto outcome = [&](const char* text) {
    suites::Request request;
    request.model = parsed(text).SerializeAsString();
    request.sets = {{encode_tensor(fill({"lit", "-1,2"}, {DType::f32, {2}}), "x")}};
    return here->run(request);
  };
  const auto values = [](const Tensor& tensor) {
    return std::vector<float>(tensor.as<float>().begin(), tensor.as<float>().end());
  };
  const oracles::Outcome none = outcome(R"(<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] x) {})");
  REQUIRE(none.kind == oracles::Outcome::Kind::outputs);
  CHECK(values(none.sets.at(0).at(0)) == std::vector<float>{-1, 2});
  const oracles::Outcome one =
      outcome(R"(<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] x, float[2] y) { y = Relu(x) })");
  REQUIRE(one.kind == oracles::Outcome::Kind::outputs);
  CHECK(values(one.sets.at(0).at(1)) == std::vector<float>{0, 2});
  CHECK(outcome(R"(<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] z) { y = Relu(x) })").kind ==
        oracles::Outcome::Kind::refused);
}

}  // namespace assay::mutation
