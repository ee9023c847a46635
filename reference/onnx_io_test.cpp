// SPDX-License-Identifier: Apache-2.0
#include "reference/onnx_io.h"

#include "reference/case_view.h"

#include <catch2/catch.hpp>
#include <onnx/onnx_pb.h>

#include <array>

namespace assay {
namespace {

// A protobuf message written by hand, field by field, from the field numbers of onnx.proto.
struct Wire {
  std::string bytes;

  Wire& raw_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
    return *this;
  }
  Wire& varint(std::uint64_t field, Int value) {
    return raw_varint(field << 3).raw_varint(static_cast<std::uint64_t>(value));
  }
  Wire& blob(std::uint64_t field, std::string_view content) {
    raw_varint(field << 3 | 2).raw_varint(content.size()).bytes += content;
    return *this;
  }
  Wire& message(std::uint64_t field, const Wire& content) { return blob(field, content.bytes); }
};

Wire packed(std::initializer_list<Int> values) {
  Wire wire;
  for (const Int value : values) wire.raw_varint(static_cast<std::uint64_t>(value));
  return wire;
}

template <class T>
std::string little_endian(std::initializer_list<T> values) {
  std::string out;
  for (const T& value : values) out.append(reinterpret_cast<const char*>(&value), sizeof value);
  return out;
}

// TensorProto: dims = 1, data_type = 2, float_data = 4, int32_data = 5, string_data = 6, int64_data = 7, raw_data = 9,
// double_data = 10, uint64_data = 11, external_data = 13, data_location = 14.
Wire tensor_proto(int data_type, std::initializer_list<Int> dims) {
  Wire wire;
  for (const Int extent : dims) wire.varint(1, extent);
  return wire.varint(2, data_type);
}

Tensor tensor(DType dtype, Shape shape, std::string_view bytes) {
  Tensor made({dtype, std::move(shape)});
  REQUIRE(made.bytes().size() == bytes.size());
  std::memcpy(made.bytes().data(), bytes.data(), bytes.size());
  return made;
}

Case pool() { return case_of("AveragePool-1 opset=6 ir=4 X=f32[1,1,4]~iota:1 kernel_shape=2 strides=2"); }

Case conv() {
  return case_of(
      "Conv-11 opset=13 ir=8 X=f16[1,2,5]~iota:1 W=f16[2,2,3]~iota:2@init B=f16[2]~small:3 auto_pad=SAME_UPPER "
      "dilations=2 group=1");
}

Wire symbol(std::string_view name) { return Wire().blob(2, name); }  // Dimension: dim_value = 1, dim_param = 2

// ValueInfoProto: name = 1, type = 2; TypeProto: tensor_type = 1; Tensor: elem_type = 1, shape = 2; Shape: dim = 1.
Wire value_info(std::string_view name, Int elem_type, const std::vector<Wire>& dims) {
  Wire shape;
  for (const Wire& dim : dims) shape.message(1, dim);
  return Wire().blob(1, name).message(2, Wire().message(1, Wire().varint(1, elem_type).message(2, shape)));
}

// AttributeProto: name = 1, ints = 8, type = 20 (INTS is 7).
Wire ints_attribute(std::string_view name, Int value) { return Wire().blob(1, name).varint(8, value).varint(20, 7); }

// The model of pool(), with a node that may be altered. ModelProto: ir_version = 1, producer_name = 2, graph = 7,
// opset_import = 8; GraphProto: node = 1, name = 2, input = 11, output = 12.
Wire pool_model(const Wire& node, Int opset = 6) {
  const Wire graph =
      Wire()
          .message(1, node)
          .blob(2, "AveragePool-1")
          .message(11, value_info("X", 1, {Wire().varint(1, 1), Wire().varint(1, 1), Wire().varint(1, 4)}))
          .message(12, value_info("Y", 1, {symbol("Y_0"), symbol("Y_1"), symbol("Y_2")}));
  return Wire().varint(1, 4).blob(2, "assay").message(7, graph).message(8, Wire().blob(1, "").varint(2, opset));
}

// NodeProto: input = 1, output = 2, op_type = 4, attribute = 5, domain = 7.
Wire pool_node(std::string_view op = "AveragePool") {
  return Wire().blob(1, "X").blob(2, "Y").blob(4, op).message(5, ints_attribute("kernel_shape", 2));
}

std::string why_not(const Wire& proto) {
  const Result<Tensor> decoded = decode_tensor(proto.bytes);
  return decoded ? "decoded" : decoded.error();
}

std::string why_not_served(const Wire& model) {
  const Result<Served> served = parse_model(model.bytes);
  return served ? "served" : served.error();
}

using Catch::Matchers::Contains;

TEST_CASE("onnx_io: a tensor is dims, data_type, name and little-endian raw_data, byte by byte", "[onnx]") {
  const Tensor halves = tensor(DType::f16, {2, 1}, little_endian<std::uint16_t>({0x3c00, 0xc000}));
  // NodeProto order is the order of field numbers; the name is field 8 of TensorProto.
  CHECK(encode_tensor(halves, "X") ==
        tensor_proto(10, {2, 1}).blob(8, "X").blob(9, std::string("\x00\x3c\x00\xc0", 4)).bytes);
}

TEST_CASE("onnx_io: every element type survives encoding and decoding, empty tensors and scalars too", "[onnx]") {
  const DType dtype =
      GENERATE(DType::f32, DType::u8, DType::i8, DType::i32, DType::i64, DType::f16, DType::f64, DType::bf16);
  const Shape shape = GENERATE(Shape{2, 3}, Shape{}, Shape{2, 0, 3});
  Tensor original({dtype, shape});
  for (std::size_t i = 0; i < original.bytes().size(); ++i) original.bytes()[i] = static_cast<std::byte>(i * 37 + 1);
  const Result<Tensor> decoded = decode_tensor(encode_tensor(original, ""));
  REQUIRE(decoded);
  CHECK(*decoded == original);
}

TEST_CASE("onnx_io: elements in the typed fields decode like raw_data", "[onnx]") {
  const auto check = [](const Wire& proto, const Tensor& expected) {
    const Result<Tensor> decoded = decode_tensor(proto.bytes);
    REQUIRE(decoded);
    CHECK(*decoded == expected);
  };
  const std::string floats = little_endian<float>({1.5f, -2.0f}), doubles = little_endian<double>({1.5, -2.0});
  check(tensor_proto(1, {2}).blob(4, floats), tensor(DType::f32, {2}, floats));
  check(tensor_proto(11, {2}).blob(10, doubles), tensor(DType::f64, {2}, doubles));
  // onnx.proto: float16 and bfloat16 travel as their bit patterns in int32_data.
  for (const auto& [number, dtype] : {std::pair{10, DType::f16}, std::pair{16, DType::bf16}})
    check(tensor_proto(number, {2}).message(5, packed({0x3c00, 0xffff})),
          tensor(dtype, {2}, little_endian<std::uint16_t>({0x3c00, 0xffff})));
  check(tensor_proto(2, {2}).message(5, packed({0, 255})), tensor(DType::u8, {2}, std::string("\x00\xff", 2)));
  check(tensor_proto(3, {2}).message(5, packed({127, -128})), tensor(DType::i8, {2}, "\x7f\x80"));
  check(tensor_proto(6, {1}).message(5, packed({-2})), tensor(DType::i32, {1}, little_endian<std::int32_t>({-2})));
  check(tensor_proto(7, {1}).message(7, packed({-2})), tensor(DType::i64, {1}, little_endian<std::int64_t>({-2})));
  check(tensor_proto(1, {0}), Tensor({DType::f32, {0}}));
}

TEST_CASE("onnx_io: a tensor that contradicts itself is one line that says how", "[onnx]") {
  const std::string one = little_endian<float>({1});
  CHECK(why_not(tensor_proto(1, {2}).blob(9, one)) == "f32[2] with 4 bytes of raw_data");
  CHECK(why_not(tensor_proto(1, {1}).blob(9, one + "x")) == "f32[1] with 5 bytes of raw_data");
  CHECK(why_not(tensor_proto(1, {1})) == "f32[1] with 0 elements in float_data");
  CHECK(why_not(tensor_proto(1, {1}).blob(9, "")) == "f32[1] with 0 elements in float_data");
  CHECK(why_not(tensor_proto(1, {2}).blob(4, one)) == "f32[2] with 1 elements in float_data");
  CHECK(why_not(tensor_proto(1, {1}).blob(4, one).blob(9, one)) ==
        "f32[1] has its data in float_data, expected raw_data");
  CHECK(why_not(tensor_proto(1, {1}).message(5, packed({1}))) ==
        "f32[1] has its data in int32_data, expected float_data");
  CHECK(why_not(tensor_proto(2, {1}).message(5, packed({256}))) == "u8[1] with the element 256, which does not fit");
  CHECK(why_not(tensor_proto(10, {1}).message(5, packed({-1}))) == "f16[1] with the element -1, which does not fit");
  CHECK(why_not(tensor_proto(14, {1})) == "data type 14 (COMPLEX64) is not admitted");
  CHECK(why_not(tensor_proto(8, {1}).blob(6, "text")) == "decoded");
  CHECK(why_not(tensor_proto(8, {2}).blob(6, "text")) == "string[2] with 1 elements in string_data");
  CHECK(why_not(tensor_proto(8, {1}).blob(9, "text")) == "strings in raw_data");
  CHECK(why_not(tensor_proto(99, {1})) == "data type 99 (unknown) is not admitted");
  CHECK(why_not(tensor_proto(1, {-1})) == "a shape has a negative extent: [-1]");
  CHECK_THAT(why_not(tensor_proto(1, {Int{1} << 62, 4})), Contains("too large"));
  CHECK_THAT(why_not(tensor_proto(11, {Int{1} << 61})), Contains("too large"));  // the bytes overflow, not the elements
  CHECK(why_not(tensor_proto(1, {1}).varint(14, 1)) == "a tensor whose data are in another file");
  CHECK(why_not(tensor_proto(1, {1}).message(13, Wire().blob(1, "location"))) ==
        "a tensor whose data are in another file");
  CHECK_THAT(why_not(Wire{"\xff\xff"}), Contains("are no TensorProto"));
}

TEST_CASE("onnx_io: a tensor claiming a large shape is turned away before memory is asked for", "[onnx]") {
  CHECK_THAT(why_not(tensor_proto(1, {Int{1} << 40}).blob(9, "x")), Contains("1 bytes of raw_data"));
  Wire deep;
  for (int i = 0; i < 100'000; ++i) deep.varint(1, 1);
  CHECK(why_not(deep.varint(2, 1)) == "a tensor of 100000 dimensions");
}

TEST_CASE("onnx_io: the model of a case is pinned, byte by byte", "[onnx]") {
  // Schema order puts kernel_shape before strides, whichever was written first.
  const Wire node = pool_node().message(5, ints_attribute("strides", 2)).blob(7, "");
  CHECK(model_of(pool()) == pool_model(node).bytes);
}

TEST_CASE("onnx_io: an initializer is no graph input from IR version 4 on, and both before", "[onnx]") {
  Case c = conv();
  const Result<Served> modern = parse_model(model_of(c));
  REQUIRE(modern);
  CHECK(modern->graph_inputs == std::vector<std::string>{"X", "B"});
  CHECK(modern->initializers.contains("W"));
  c.ir_version = 3;
  CHECK(model_of(c).size() > model_of(conv()).size());
  CHECK(infer(model_of(c)).error.empty());
  CHECK(parse_model(model_of(c))->graph_inputs == std::vector<std::string>{"X", "B"});
}

TEST_CASE("onnx_io: a worker reads back from a model what the case says", "[onnx]") {
  const Case c = conv();
  const Result<Served> served = parse_model(model_of(c));
  REQUIRE(served);
  CHECK(served->version == OpVersion{"", "Conv", 11});
  CHECK(served->opset == 13);
  CHECK(served->node == c.node);
  CHECK(served->operand_names == std::vector<std::string>{"X", "W", "B"});
  CHECK(served->schema_names == served->operand_names);
  CHECK(served->output_names == std::vector<std::string>{"Y"});
  CHECK(served->initializers.at("W") == operands(c, 0).at(1));
  for (int set = 0; set < data_sets; ++set) {
    const std::vector<std::string> inputs = graph_inputs(c, set);
    REQUIRE(inputs.size() == 2);
    CHECK(*decode_tensor(inputs[0]) == operands(c, set).at(0));
    CHECK(*decode_tensor(inputs[1]) == operands(c, set).at(2));
  }
}

TEST_CASE("onnx_io: an input left out at the end has no entry, one given the empty name has one", "[onnx]") {
  Case c = conv();
  c.node.inputs.erase("B");
  c.sources.erase("B");
  CHECK(parse_model(model_of(c))->operand_names == std::vector<std::string>{"X", "W"});
  c.node.empty_input("B");
  const Result<Served> named = parse_model(model_of(c));
  REQUIRE(named);
  CHECK(named->operand_names == std::vector<std::string>{"X", "W", ""});
  CHECK(named->node == c.node);
  CHECK(infer(model_of(c)).error.empty());
}

TEST_CASE("onnx_io: a near miss keeps what makes it one", "[onnx]") {
  Case without_x = conv();
  without_x.node.empty_input("X");
  without_x.sources.erase("X");
  CHECK(parse_model(model_of(without_x)).error() == "input X of Conv-11 is required");
  Case mixed = conv();
  mixed.node.input("B", {DType::f32, {2}});
  CHECK_FALSE(infer(model_of(mixed)).error.empty());
}

TEST_CASE("onnx_io: symbolic shapes declare a rank and no extent", "[onnx]") {
  Case c = pool();
  c.declared = DeclaredShapes::symbolic;
  const Result<Served> served = parse_model(model_of(c));
  REQUIRE(served);
  CHECK(served->node.inputs.at("X").type == TensorType{DType::f32, {-1, -1, -1}});
  const Inferred inferred = infer(model_of(c));
  CHECK(inferred.error.empty());
  REQUIRE(inferred.shape);
  CHECK(inferred.shape->size() == 3);
  CHECK_FALSE(inferred.shape->at(2));  // unknown, whatever the kernel
}

TEST_CASE("onnx_io: absent shapes declare a rank, and neither extents nor symbols", "[onnx]") {
  Case c = pool();
  c.declared = DeclaredShapes::absent;
  onnx::ModelProto model;
  REQUIRE(model.ParseFromString(model_of(c)));
  CHECK(model.graph().input(0).type().tensor_type().elem_type() == onnx::TensorProto::FLOAT);
  const auto& dims = model.graph().input(0).type().tensor_type().shape().dim();
  REQUIRE(dims.size() == 3);
  CHECK_FALSE(dims[0].has_dim_value());
  CHECK_FALSE(dims[0].has_dim_param());
  CHECK(infer(model_of(c)).error.empty());
}

TEST_CASE("onnx_io: packed cases are independent nodes, each with names of its own", "[onnx]") {
  const Case first = pool();
  Case second = pool();
  second.node.attribute("strides", Ints{1});
  onnx::ModelProto model;
  REQUIRE(model.ParseFromString(packed_model_of({&first, &second})));
  CHECK(model.graph().node_size() == 2);
  CHECK(model.graph().node(0).input(0) == "0_X");
  CHECK(model.graph().node(1).input(0) == "1_X");
  CHECK(model.graph().output(1).name() == "1_Y");
  CHECK(model.graph().input_size() == 2);
  CHECK(infer(packed_model_of({&first, &second})).error.empty());
}

TEST_CASE("onnx_io: ONNX infers the shape and type of the output, or says why not", "[onnx]") {
  const Inferred inferred = infer(model_of(pool()));
  CHECK(inferred.error.empty());
  CHECK(inferred.dtype == DType::f32);
  CHECK(inferred.shape == std::vector<std::optional<Int>>{1, 1, 2});  // (4 - 2) / 2 + 1

  Case wrong = pool();
  wrong.node.attribute("strides", Ints{1, 1});  // two strides for one axis
  CHECK_FALSE(infer(model_of(wrong)).error.empty());
  Case stranger = pool();
  stranger.node.attribute("dilations", Ints{1});  // from version 19 on only
  CHECK_THAT(infer(model_of(stranger)).error, Contains("dilations"));
  CHECK_THAT(infer("\xff\xff").error, Contains("are no ModelProto"));
}

// y of QLinearConv has the type of y_zero_point, whatever x is.
TEST_CASE("onnx_io: an output has the type of its variable", "[onnx]") {
  const Case c = *parse_case(
      "QLinearConv-10 opset=10 ir=8 x=u8[1,1,4]~byte:1 x_scale=f32[]~hold:1 x_zero_point=u8[]~hold:0 "
      "w=i8[1,1,2]~byte:5 "
      "w_scale=f32[]~hold:1 w_zero_point=i8[]~hold:0 y_scale=f32[]~hold:1 y_zero_point=i8[]~hold:0");
  const Inferred inferred = infer(model_of(c));
  CHECK(inferred.error.empty());
  CHECK(inferred.dtype == DType::i8);
  CHECK(inferred.shape == std::vector<std::optional<Int>>{1, 1, 3});
}

// Vectors M1 and M2 of spec A.5, run with onnxruntime's own schema: the extents of W are taken as M x C x k….
TEST_CASE("onnx_io: NhwcConv has the schema and the inference onnxruntime gives it", "[onnx]") {
  const auto shape = [](const std::string& w) {
    const Case c = *parse_case("com.microsoft:NhwcConv-1 opset=1 ir=8 X=f32[1,5,6,3]~small:1 " + w);
    const Result<Served> served = parse_model(model_of(c));
    REQUIRE(served);
    CHECK(served->version == c.version);
    const Inferred inferred = infer(model_of(c));
    CHECK(inferred.error.empty());
    return inferred.shape;
  };
  using Extents = std::vector<std::optional<Int>>;
  CHECK(shape("W=f32[4,3,3,2]~small:5") == Extents{1, 3, 5, 4});
  CHECK(shape("W=f32[4,3,2,3]~small:5 kernel_shape=3,2") == Extents{1, 3, 5, 4});
  CHECK(shape("W=f32[4,3,2,3]~small:5") == Extents{1, 4, 4, 4});
  CHECK(shape("W=f32[4,3,2,3]~small:5 auto_pad=SAME_UPPER strides=2,2") == Extents{1, 3, 3, 4});
}

TEST_CASE("onnx_io: the opset a model imports decides the version that is served", "[onnx]") {
  for (const auto& [opset, since] : {std::pair{1, 1}, {6, 1}, {7, 7}, {9, 7}, {18, 11}, {19, 19}, {28, 22}}) {
    const Result<Served> served = parse_model(pool_model(pool_node(), opset).bytes);
    REQUIRE(served);
    CHECK(served->version == OpVersion{"", "AveragePool", since});
  }
  CHECK(parse_model(pool_model(pool_node().blob(7, "ai.onnx")).bytes)->version.domain.empty());
}

TEST_CASE("onnx_io: a model we cannot serve is one line that says why", "[onnx]") {
  CHECK(why_not_served(pool_model(pool_node("ImageDecoder"))) == "no operator \"ImageDecoder\" in the domain \"\"");
  CHECK_THAT(why_not_served(pool_model(pool_node().blob(7, "com.example"))), Contains("imports no opset"));
  CHECK(why_not_served(pool_model(pool_node(), 0)) == "the model imports opset 0");
  CHECK(why_not_served(pool_model(
            Wire().blob(1, "Z").blob(2, "Y").blob(4, "AveragePool").message(5, ints_attribute("kernel_shape", 2)))) ==
        "input X is \"Z\", which the graph does not give");
  CHECK(why_not_served(pool_model(Wire().blob(1, "X").blob(2, "Y").blob(4, "AveragePool"))) ==
        "AveragePool-1 requires the attribute kernel_shape");
  CHECK(why_not_served(pool_model(pool_node().message(5, ints_attribute("kernel_shape", 2)))) ==
        "attribute kernel_shape is there twice");
  CHECK(why_not_served(pool_model(pool_node().message(5, ints_attribute("dilations", 2)))) ==
        "AveragePool-1 has no attribute \"dilations\"");
  CHECK(why_not_served(pool_model(pool_node().message(5, ints_attribute("auto_pad", 2)))) ==
        "attribute auto_pad of AveragePool-1 is of another kind");
  CHECK(why_not_served(pool_model(pool_node().blob(1, "X"))) == "AveragePool-1 takes 1 inputs, given 2");
  CHECK_THAT(why_not_served(Wire()), Contains("0 nodes"));
  CHECK_THAT(why_not_served(Wire{"\xff\xff"}), Contains("are no ModelProto"));
}

// Flips, cuts, repeats or inserts a few bytes; the same for the same generator state.
std::string mutated(std::string bytes, Generator& random) {
  for (std::uint64_t edits = 1 + random.below(4); edits > 0 && !bytes.empty(); --edits) {
    const auto at = static_cast<std::size_t>(random.below(bytes.size()));
    switch (random.below(4)) {
      case 0: bytes[at] = static_cast<char>(random.next()); break;
      case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8))); break;
      case 2: bytes.resize(at); break;
      default:
        bytes.insert(at, bytes.substr(static_cast<std::size_t>(random.below(bytes.size())), random.below(9)));
        break;
    }
  }
  return bytes;
}

TEST_CASE("onnx_io: broken bytes are turned away or read, and never bring us down", "[onnx]") {
  const std::array<std::string, 3> tensors{encode_tensor(tensor(DType::f32, {1, 2}, little_endian<float>({1, 2})), "X"),
                                           tensor_proto(10, {3}).message(5, packed({1, 2, 3})).bytes,
                                           tensor_proto(7, {2}).message(7, packed({1, -1})).bytes};
  const std::array<std::string, 2> models{model_of(pool()), model_of(conv())};
  Generator random(20250101);
  int readable = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string bytes = mutated(tensors[random.below(3)], random);
    if (const Result<Tensor> decoded = decode_tensor(bytes)) {
      ++readable;
      // What was read is a tensor like any other: it survives the round trip.
      CHECK(*decode_tensor(encode_tensor(*decoded, "")) == *decoded);
    } else {
      CHECK_THAT(decoded.error(), !Contains("\n"));
    }
  }
  for (int i = 0; i < 5'000; ++i) {
    const std::string bytes = mutated(models[random.below(2)], random);
    if (const Result<Served> served = parse_model(bytes)) {
      ++readable;
      CHECK(served->operand_names.size() == served->schema_names.size());
    } else {
      CHECK_THAT(served.error(), !Contains("\n"));
    }
  }
  CHECK(readable > 1000);  // the loop is not vacuous: many mutants differ in values only
}

}  // namespace
}  // namespace assay
