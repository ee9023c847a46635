// SPDX-License-Identifier: Apache-2.0
#include "reference/onnx_io.h"

#include "reference/onnx_contrib.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <new>
#include <set>
#include <stdexcept>
#include <utility>

namespace assay {
namespace {

// From IR version 4 on an initializer need not be a graph input (onnx/docs/IR.md, "Graphs").
constexpr int initializers_stand_alone = 4;
// No operator takes more; a rank from a stranger is a length we allocate.
constexpr int most_dimensions = 64;

[[noreturn]] void reject(const std::string& what) { throw InputError(what); }

// Inside this file a stranger's mistake is an exception; at its border it is a value.
template <class F>
auto as_result(F&& read) -> Result<decltype(read())> {
  try {
    return std::forward<F>(read)();
  } catch (const InputError& error) {
    return Error{error.what()};
  } catch (const std::bad_alloc&) {
    return Error{"it claims more elements than fit into memory"};
  } catch (const std::length_error&) {
    return Error{"it claims more elements than fit into memory"};
  }
}

// Protobuf writes fields in order, but promises the same bytes for the same message only when asked to.
std::string bytes_of(const google::protobuf::MessageLite& message) {
  if (message.ByteSizeLong() > INT_MAX) reject("a model or tensor above 2 GiB does not fit a protobuf message");
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream sink(&bytes);
    google::protobuf::io::CodedOutputStream stream(&sink);
    stream.SetSerializationDeterministic(true);
    expects(message.SerializeToCodedStream(&stream), "a message of known size serialises");
  }
  return bytes;
}

template <class Message>
Message message_of(std::string_view bytes, const char* what) {
  Message message;
  if (bytes.size() > INT_MAX) reject(std::string(what) + " is above 2 GiB");
  const google::protobuf::LogSilencer
      quiet;  // Protobuf 3.21 would grumble about names on stderr; we answer in one line
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    reject("these " + std::to_string(bytes.size()) + " bytes are no " + what);
  return message;
}

// A stranger's text inside our line: printable, and not too long.
std::string quoted(const std::string& text) {
  constexpr std::size_t longest = 60;
  std::string out = "\"";
  for (const char c : text.substr(0, longest)) out += (c >= ' ' && c <= '~' && c != '"') ? c : '?';
  return out + (text.size() > longest ? "…\"" : "\"");
}

// raw_data is little-endian on every machine (onnx.proto, TensorProto).
template <class Bytes>
void swap_where_big_endian(Bytes&& elements, std::size_t size) {
  if constexpr (std::endian::native == std::endian::big)
    for (std::size_t at = 0; at < elements.size(); at += size)
      std::reverse(elements.begin() + static_cast<std::ptrdiff_t>(at),
                   elements.begin() + static_cast<std::ptrdiff_t>(at + size));
}

onnx::TensorProto proto_of(const Tensor& tensor, std::string_view name) {
  onnx::TensorProto proto;
  for (const Int extent : tensor.shape()) proto.add_dims(extent);
  proto.set_data_type(static_cast<std::int32_t>(tensor.dtype()));
  proto.set_name(std::string(name));
  proto.set_raw_data(tensor.bytes().data(), tensor.bytes().size());
  swap_where_big_endian(*proto.mutable_raw_data(), size_of(tensor.dtype()));
  return proto;
}

DType dtype_numbered(std::int32_t number) {
  for (const DType dtype :
       {DType::f32, DType::u8, DType::i8, DType::i32, DType::i64, DType::f16, DType::f64, DType::bf16})
    if (static_cast<std::int32_t>(dtype) == number) return dtype;
  const std::string name = onnx::TensorProto_DataType_IsValid(number)
                               ? onnx::TensorProto_DataType_Name(static_cast<onnx::TensorProto_DataType>(number))
                               : "unknown";
  reject("data type " + std::to_string(number) + " (" + name + ") is not admitted");
}

TensorType type_of(const onnx::TensorProto& proto) {
  TensorType type{dtype_numbered(proto.data_type()), {}};
  if (proto.dims_size() > most_dimensions) reject("a tensor of " + std::to_string(proto.dims_size()) + " dimensions");
  type.shape.assign(proto.dims().begin(), proto.dims().end());
  Int bytes;
  if (__builtin_mul_overflow(volume(type.shape), static_cast<Int>(size_of(type.dtype)), &bytes))
    reject("a shape is too large: " + text(type.shape));
  return type;
}

std::string text(const TensorType& type) { return std::string(name(type.dtype)) + assay::text(type.shape); }

// The fields of TensorProto that may hold elements, by the types they hold (onnx.proto, TensorProto).
const char* typed_field(DType dtype) {
  switch (dtype) {
    case DType::f32: return "float_data";
    case DType::f64: return "double_data";
    case DType::i64: return "int64_data";
    default: return "int32_data";  // the bits of f16 and bf16, the value of i32, i8 and u8
  }
}

void expect_no_other_field(const onnx::TensorProto& proto, const std::string& allowed, const TensorType& type) {
  const std::array<std::pair<const char*, int>, 6> fields{{{"float_data", proto.float_data_size()},
                                                           {"double_data", proto.double_data_size()},
                                                           {"int32_data", proto.int32_data_size()},
                                                           {"int64_data", proto.int64_data_size()},
                                                           {"uint64_data", proto.uint64_data_size()},
                                                           {"string_data", proto.string_data_size()}}};
  for (const auto& [name, size] : fields)
    if (size > 0 && name != allowed) reject(text(type) + " has its data in " + name + ", expected " + allowed);
}

template <class Carrier, class Field>
Tensor from_field(TensorType type, const Field& field) {
  if (field.size() != volume(type.shape))
    reject(text(type) + " with " + std::to_string(field.size()) + " elements in " + typed_field(type.dtype));
  Tensor tensor(std::move(type));
  std::byte* out = tensor.bytes().data();
  for (const auto element : field) {
    if constexpr (std::is_integral_v<Carrier>)
      if (!std::in_range<Carrier>(element))
        reject(text(tensor.type()) + " with the element " + std::to_string(element) + ", which does not fit");
    const auto carried = static_cast<Carrier>(element);
    std::memcpy(out, &carried, sizeof carried);
    out += sizeof carried;
  }
  return tensor;
}

Tensor from_typed_field(const onnx::TensorProto& proto, TensorType type) {
  switch (type.dtype) {
    case DType::f32: return from_field<float>(std::move(type), proto.float_data());
    case DType::f64: return from_field<double>(std::move(type), proto.double_data());
    case DType::i64: return from_field<std::int64_t>(std::move(type), proto.int64_data());
    case DType::i32: return from_field<std::int32_t>(std::move(type), proto.int32_data());
    case DType::i8: return from_field<std::int8_t>(std::move(type), proto.int32_data());
    case DType::u8: return from_field<std::uint8_t>(std::move(type), proto.int32_data());
    case DType::f16:
    case DType::bf16: return from_field<std::uint16_t>(std::move(type), proto.int32_data());
  }
  throw BrokenPromise("a data type without a typed field");
}

Tensor from_raw_data(const std::string& raw, TensorType type) {
  if (raw.size() / size_of(type.dtype) != static_cast<std::size_t>(volume(type.shape)) ||
      raw.size() % size_of(type.dtype) != 0)
    reject(text(type) + " with " + std::to_string(raw.size()) + " bytes of raw_data");
  Tensor tensor(std::move(type));
  std::ranges::copy(std::as_bytes(std::span(raw)), tensor.bytes().begin());
  swap_where_big_endian(tensor.bytes(), size_of(tensor.dtype()));
  return tensor;
}

// Sizes are compared before anything is allocated, so a tensor takes at most eight times the memory of its message.
Tensor tensor_of(const onnx::TensorProto& proto) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL || proto.external_data_size() > 0)
    reject("a tensor whose data are in another file");
  if (proto.has_segment()) reject("a tensor in segments");
  TensorType type = type_of(proto);
  const bool raw = proto.has_raw_data() && (!proto.raw_data().empty() || volume(type.shape) == 0);
  expect_no_other_field(proto, raw ? "raw_data" : typed_field(type.dtype), type);
  return raw ? from_raw_data(proto.raw_data(), std::move(type)) : from_typed_field(proto, std::move(type));
}

void declare(onnx::ValueInfoProto& info, const std::string& name, DType dtype) {
  info.set_name(name);
  info.mutable_type()->mutable_tensor_type()->set_elem_type(static_cast<std::int32_t>(dtype));
  info.mutable_type()->mutable_tensor_type()->mutable_shape();  // a scalar, until a dimension is added
}

// Every symbol is of its own: the model promises nothing about two extents being the same.
void declare_symbolic(onnx::ValueInfoProto& info, const std::string& name, DType dtype, std::size_t rank) {
  declare(info, name, dtype);
  for (std::size_t axis = 0; axis < rank; ++axis)
    info.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_param(name + "_" +
                                                                                          std::to_string(axis));
}

// A dimension with neither a value nor a symbol is unknown (onnx/docs/IR.md, "Static tensor shapes").
void declare_rank(onnx::ValueInfoProto& info, const std::string& name, DType dtype, std::size_t rank) {
  declare(info, name, dtype);
  for (std::size_t axis = 0; axis < rank; ++axis)
    info.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
}

void declare_fixed(onnx::ValueInfoProto& info, const std::string& name, const TensorType& type) {
  declare(info, name, type.dtype);
  for (const Int extent : type.shape)
    info.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(extent);
}

void set(onnx::AttributeProto& proto, Int value) {
  proto.set_type(onnx::AttributeProto::INT);
  proto.set_i(value);
}
void set(onnx::AttributeProto& proto, float value) {
  proto.set_type(onnx::AttributeProto::FLOAT);
  proto.set_f(value);
}
void set(onnx::AttributeProto& proto, const std::string& value) {
  proto.set_type(onnx::AttributeProto::STRING);
  proto.set_s(value);
}
void set(onnx::AttributeProto& proto, const Ints& value) {
  proto.set_type(onnx::AttributeProto::INTS);
  proto.mutable_ints()->Add(value.begin(), value.end());
}

// Schema order; an attribute this version does not know (a near miss) comes last.
void add_attributes(onnx::NodeProto& proto, const Case& c) {
  const auto add = [&](const std::string& name, const Attribute& value) {
    onnx::AttributeProto& attribute = *proto.add_attribute();
    attribute.set_name(name);
    std::visit([&](const auto& v) { set(attribute, v); }, value);
  };
  for (const AttributeSpec& spec : c.definition().attributes)
    if (const auto found = c.node.attributes.find(spec.name); found != c.node.attributes.end())
      add(spec.name, found->second);
  for (const auto& [name, value] : c.node.attributes)
    if (!c.definition().attribute(name)) add(name, value);
}

bool is_given(const Case& c, const std::string& input) {
  const auto found = c.node.inputs.find(input);
  return found != c.node.inputs.end() && found->second.presence == Input::Presence::given;
}

// Left out at the end: no entry. Left out before another one, or given the empty name: "".
void add_inputs(onnx::NodeProto& proto, const Case& c, const std::string& prefix) {
  const std::vector<Parameter>& inputs = c.definition().inputs;
  for (const auto& [name, input] : c.node.inputs)
    expects(c.definition().input(name), "a case names inputs of the schema");
  const auto stated = [&](const Parameter& input) { return c.node.inputs.contains(input.name); };
  const auto last = std::ranges::find_if(inputs.rbegin(), inputs.rend(), stated).base();
  for (auto input = inputs.begin(); input != last; ++input)
    proto.add_input(is_given(c, input->name) ? prefix + input->name : "");
}

bool is_initializer(const Case& c, const std::string& input) {
  const auto found = c.sources.find(input);
  return found != c.sources.end() && found->second.initializer;
}

void declare_as(DeclaredShapes declared, onnx::ValueInfoProto& info, const std::string& name, const TensorType& type) {
  switch (declared) {
    case DeclaredShapes::fixed: return declare_fixed(info, name, type);
    case DeclaredShapes::symbolic: return declare_symbolic(info, name, type.dtype, type.shape.size());
    case DeclaredShapes::absent: return declare_rank(info, name, type.dtype, type.shape.size());
  }
}

void add_graph_inputs(onnx::GraphProto& graph, const Case& c, const std::string& prefix) {
  for (const Parameter& input : c.definition().inputs) {
    if (!is_given(c, input.name)) continue;
    if (is_initializer(c, input.name) && c.ir_version >= initializers_stand_alone) continue;
    declare_as(is_initializer(c, input.name) ? DeclaredShapes::fixed : c.declared, *graph.add_input(),
               prefix + input.name, c.node.inputs.find(input.name)->second.type);
  }
}

void add_initializers(onnx::GraphProto& graph, const Case& c, const std::string& prefix, const Operands& data) {
  const std::vector<Parameter>& inputs = c.definition().inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (is_initializer(c, inputs[i].name))
      *graph.add_initializer() = proto_of(data.at(i).value(), prefix + inputs[i].name);
}

// The first given input whose type is the variable `type`; the first given one where there is none.
const TensorType& type_of_variable(const Case& c, const std::string& type) {
  const TensorType* first = nullptr;
  for (const Parameter& input : c.definition().inputs) {
    if (!is_given(c, input.name)) continue;
    const TensorType& given = c.node.inputs.find(input.name)->second.type;
    if (input.type == type) return given;
    if (!first) first = &given;
  }
  expects(first, "a case gives at least one input");
  return *first;
}

// Nothing is promised of the output but its rank, so a backend works its extents out; a near miss may have no shape at
// all. Every operator admitted so far keeps the rank of its first input.
void add_outputs(onnx::GraphProto& graph, onnx::NodeProto& node, const Case& c, const std::string& prefix) {
  const std::size_t rank = type_of_variable(c, c.definition().inputs.front().type).shape.size();
  for (const Parameter& output : c.definition().outputs) {
    node.add_output(prefix + output.name);
    declare_symbolic(*graph.add_output(), prefix + output.name, type_of_variable(c, output.type).dtype, rank);
  }
}

// Every model imports ai.onnx; beside another domain in the opset its IR version came with (onnx/docs/Versioning.md).
void add_opset_imports(onnx::ModelProto& model, const Case& c) {
  const auto add = [&](const std::string& domain, int version) {
    onnx::OperatorSetIdProto& import = *model.add_opset_import();
    import.set_domain(domain);
    import.set_version(version);
  };
  if (!c.version.domain.empty()) add("", c.ir_version < 10 ? 17 : 21);
  add(c.version.domain, c.opset);
}

onnx::ModelProto empty_model(const Case& c) {
  onnx::ModelProto model;
  model.set_ir_version(c.ir_version);
  model.set_producer_name("assay");
  add_opset_imports(model, c);
  return model;
}

// Names begin with `prefix`: several cases in one graph are told apart by it.
void add_case(onnx::GraphProto& graph, const Case& c, const std::string& prefix, const Operands& data) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(c.version.name);
  node.set_domain(c.version.domain);
  add_inputs(node, c, prefix);
  add_attributes(node, c);
  add_graph_inputs(graph, c, prefix);
  add_initializers(graph, c, prefix, data);
  add_outputs(graph, node, c, prefix);
}

// What a model needs of the data: none where it holds no constants.
Operands initializers_of(const Case& c) {
  const bool holds_data = std::ranges::any_of(c.sources, [](const auto& source) { return source.second.initializer; });
  return holds_data ? operands(c, 0) : Operands{};
}

// "ai.onnx" and "" are the same domain.
std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

int opset_of(const onnx::ModelProto& model, const std::string& domain) {
  for (const onnx::OperatorSetIdProto& import : model.opset_import())
    if (domain_of(import.domain()) == domain) {
      if (!std::in_range<int>(import.version()) || import.version() < 1)
        reject("the model imports opset " + std::to_string(import.version()));
      return static_cast<int>(import.version());
    }
  reject("the model imports no opset of the domain " + quoted(domain));
}

const Definition& definition_of(const onnx::NodeProto& node, int opset) {
  const Operator* const op = find_operator(domain_of(node.domain()), node.op_type());
  if (!op) reject("no operator " + quoted(node.op_type()) + " in the domain " + quoted(node.domain()));
  const Definition* const definition = op->at(opset);
  if (!definition) reject("no " + op->name() + " in opset " + std::to_string(opset));
  return *definition;
}

Attribute value_of(const onnx::AttributeProto& proto) {
  switch (proto.type()) {
    case onnx::AttributeProto::INT: return Int{proto.i()};
    case onnx::AttributeProto::FLOAT: return proto.f();
    case onnx::AttributeProto::STRING: return proto.s();
    case onnx::AttributeProto::INTS: return Ints(proto.ints().begin(), proto.ints().end());
    default: reject("attribute " + quoted(proto.name()) + " is of a kind that is not admitted");
  }
}

bool is_of(AttributeSpec::Kind kind, const Attribute& value) {
  switch (kind) {
    case AttributeSpec::Kind::integer: return std::holds_alternative<Int>(value);
    case AttributeSpec::Kind::real: return std::holds_alternative<float>(value);
    case AttributeSpec::Kind::text: return std::holds_alternative<std::string>(value);
    case AttributeSpec::Kind::ints: return std::holds_alternative<Ints>(value);
  }
  return false;
}

void read_attributes(const onnx::NodeProto& proto, const Definition& definition, Node& node) {
  const std::string owner = text(definition.version);
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    const AttributeSpec* const spec = definition.attribute(attribute.name());
    if (!spec) reject(owner + " has no attribute " + quoted(attribute.name()));
    Attribute value = value_of(attribute);
    if (!attribute.ref_attr_name().empty() || !is_of(spec->kind, value))
      reject("attribute " + spec->name + " of " + owner + " is of another kind");
    if (!node.attributes.emplace(spec->name, std::move(value)).second)
      reject("attribute " + spec->name + " is there twice");
  }
  for (const AttributeSpec& spec : definition.attributes)
    if (spec.required && !node.attributes.contains(spec.name)) reject(owner + " requires the attribute " + spec.name);
}

// An extent that is not declared reads -1; a shape that is not declared reads as a scalar's.
TensorType declared_type(const onnx::ValueInfoProto& info) {
  if (!info.type().has_tensor_type()) reject("graph input " + quoted(info.name()) + " is no tensor");
  const onnx::TypeProto_Tensor& tensor = info.type().tensor_type();
  TensorType type{dtype_numbered(tensor.elem_type()), {}};
  if (tensor.shape().dim_size() > most_dimensions)
    reject("graph input " + quoted(info.name()) + " has too many dimensions");
  for (const onnx::TensorShapeProto_Dimension& dim : tensor.shape().dim())
    type.shape.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
  return type;
}

void read_initializers(const onnx::GraphProto& graph, Served& served) {
  if (graph.sparse_initializer_size() > 0) reject("a sparse initializer");
  for (const onnx::TensorProto& proto : graph.initializer())
    if (!served.initializers.emplace(proto.name(), tensor_of(proto)).second)
      reject("initializer " + quoted(proto.name()) + " is there twice");
}

// The types of the graph inputs. One that has an initializer is a default (IR version 3) and is never asked for.
std::map<std::string, TensorType> read_graph_inputs(const onnx::GraphProto& graph, Served& served) {
  std::map<std::string, TensorType> types;
  for (const onnx::ValueInfoProto& info : graph.input()) {
    if (served.initializers.contains(info.name())) continue;
    if (!types.emplace(info.name(), declared_type(info)).second)
      reject("graph input " + quoted(info.name()) + " is there twice");
    served.graph_inputs.push_back(info.name());
  }
  return types;
}

void read_operands(const onnx::NodeProto& proto, const Definition& definition,
                   const std::map<std::string, TensorType>& declared, Served& served) {
  const std::vector<Parameter>& inputs = definition.inputs;
  const std::string owner = text(definition.version);
  const auto given = static_cast<std::size_t>(proto.input_size());
  if (given > inputs.size())
    reject(owner + " takes " + std::to_string(inputs.size()) + " inputs, given " + std::to_string(given));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = i < given ? proto.input(static_cast<int>(i)) : "";
    if (name.empty() && inputs[i].arity == Arity::required)
      reject("input " + inputs[i].name + " of " + owner + " is required");
    if (i >= given) break;
    served.operand_names.push_back(name);
    served.schema_names.push_back(inputs[i].name);
    if (name.empty()) {
      served.node.empty_input(inputs[i].name);
    } else if (const auto constant = served.initializers.find(name); constant != served.initializers.end()) {
      served.node.input(inputs[i].name, constant->second.type());
    } else if (const auto input = declared.find(name); input != declared.end()) {
      served.node.input(inputs[i].name, input->second);
    } else {
      reject("input " + inputs[i].name + " is " + quoted(name) + ", which the graph does not give");
    }
  }
}

void expect_nodes_with_outputs(const onnx::ModelProto& model) {
  const onnx::GraphProto& graph = model.graph();
  if (graph.node_size() == 0) reject("a model of 0 nodes");
  if (model.functions_size() > 0) reject("a model with functions of its own");
  if (graph.output_size() != graph.node_size())
    reject("a model of " + std::to_string(graph.node_size()) + " nodes and " + std::to_string(graph.output_size()) +
           " outputs, expected one of each node");
  for (int i = 0; i < graph.node_size(); ++i)
    if (graph.node(i).output_size() < 1 || graph.output(i).name().empty() ||
        graph.output(i).name() != graph.node(i).output(0))
      reject("output " + std::to_string(i) + " of the graph is not the first output of its node");
}

Served serve(const onnx::ModelProto& model, int at) {
  const onnx::NodeProto& node = model.graph().node(at);
  Served served;
  served.opset = opset_of(model, domain_of(node.domain()));
  const Definition& definition = definition_of(node, served.opset);
  served.version = definition.version;
  served.output_name = model.graph().output(at).name();
  read_attributes(node, definition, served.node);
  read_initializers(model.graph(), served);
  read_operands(node, definition, read_graph_inputs(model.graph(), served), served);
  return served;
}

std::vector<Served> serve_all(const onnx::ModelProto& model) {
  expect_nodes_with_outputs(model);
  std::vector<Served> all;
  for (int i = 0; i < model.graph().node_size(); ++i) all.push_back(serve(model, i));
  return all;
}

Inferred from_output(const onnx::TypeProto& type) {
  Inferred inferred;
  if (!type.has_tensor_type()) return inferred;
  if (type.tensor_type().elem_type() != onnx::TensorProto::UNDEFINED)
    inferred.dtype = dtype_numbered(type.tensor_type().elem_type());
  if (!type.tensor_type().has_shape()) return inferred;
  std::vector<std::optional<Int>>& shape = inferred.shape.emplace();
  for (const onnx::TensorShapeProto_Dimension& dim : type.tensor_type().shape().dim())
    shape.push_back(dim.has_dim_value() ? std::optional<Int>(dim.dim_value()) : std::nullopt);
  return inferred;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string model_of(const Case& c) { return model_of(c, initializers_of(c)); }

std::string model_of(const Case& c, const Operands& data) {
  onnx::ModelProto model = empty_model(c);
  model.mutable_graph()->set_name(text(c.version));
  add_case(*model.mutable_graph(), c, "", data);
  return bytes_of(model);
}

std::string packed_model_of(const std::vector<const Case*>& cases) {
  expects(!cases.empty(), "a model of at least one case");
  onnx::ModelProto model = empty_model(*cases.front());
  model.mutable_graph()->set_name("packed");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    expects(cases[i]->opset == cases.front()->opset && cases[i]->ir_version == cases.front()->ir_version &&
                cases[i]->version.domain == cases.front()->version.domain,
            "cases of one opset, IR version and domain");
    add_case(*model.mutable_graph(), *cases[i], std::to_string(i) + "_", initializers_of(*cases[i]));
  }
  return bytes_of(model);
}

std::vector<std::string> graph_inputs(const Case& c, int set) { return graph_inputs(c, operands(c, set)); }

std::vector<std::string> graph_inputs(const Case& c, const Operands& data) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < c.definition().inputs.size(); ++i) {
    const std::string& name = c.definition().inputs[i].name;
    if (is_given(c, name) && !is_initializer(c, name)) out.push_back(encode_tensor(data.at(i).value(), name));
  }
  return out;
}

std::string encode_tensor(const Tensor& tensor, std::string_view name) { return bytes_of(proto_of(tensor, name)); }

Result<TensorType> decode_type(std::string_view bytes) {
  return as_result([&] {
    const auto proto = message_of<onnx::TensorProto>(bytes, "TensorProto");
    return TensorType{dtype_numbered(proto.data_type()), {proto.dims().begin(), proto.dims().end()}};
  });
}

Result<Tensor> decode_tensor(std::string_view bytes) {
  return as_result([&] { return tensor_of(message_of<onnx::TensorProto>(bytes, "TensorProto")); });
}

// The declared shape of the output is taken away first: inference has to say it by itself.
Inferred infer(std::string_view bytes) {
  register_contrib_schemas();
  try {
    auto model = message_of<onnx::ModelProto>(bytes, "ModelProto");
    onnx::checker::check_model(model);
    for (onnx::ValueInfoProto& output : *model.mutable_graph()->mutable_output()) output.clear_type();
    onnx::shape_inference::InferShapes(
        model, onnx::OpSchemaRegistry::Instance(),
        onnx::ShapeInferenceOptions(/*check_type=*/true, /*strict_mode=*/1, /*data_prop=*/true));
    if (model.graph().output_size() == 0) return {.error = "the graph has no output", .dtype = {}, .shape = {}};
    return from_output(model.graph().output(0).type());
  } catch (const BrokenPromise&) {
    throw;
  } catch (const std::exception& error) {
    return {.error = first_line(error.what()), .dtype = {}, .shape = {}};
  }
}

Result<std::vector<NodeName>> node_names(std::string_view bytes) {
  return as_result([&] {
    const auto model = message_of<onnx::ModelProto>(bytes, "ModelProto");
    std::map<std::string, std::int64_t> imports;
    for (const onnx::OperatorSetIdProto& each : model.opset_import())
      imports[domain_of(each.domain())] = each.version();
    std::vector<NodeName> names;
    for (const onnx::NodeProto& node : model.graph().node()) {
      const std::int64_t opset = imports[domain_of(node.domain())];
      names.push_back(
          {domain_of(node.domain()), node.op_type(), opset > 0 && opset < 1'000'000 ? static_cast<int>(opset) : 0});
    }
    return names;
  });
}

Result<std::vector<Served>> parse_nodes(std::string_view bytes) {
  return as_result([&] { return serve_all(message_of<onnx::ModelProto>(bytes, "ModelProto")); });
}

Result<Served> parse_model(std::string_view bytes) {
  Result<std::vector<Served>> all = parse_nodes(bytes);
  if (!all) return Error{all.error()};
  if (all->size() != 1) return Error{"a model of " + std::to_string(all->size()) + " nodes, expected one"};
  return std::move(all->front());
}

std::vector<Registered> registered_operators() {
  std::vector<Registered> all;
  for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history())
    if (schema.domain().empty()) all.push_back({{"", schema.Name(), schema.SinceVersion()}, schema.Deprecated()});
  std::ranges::sort(all, {}, &Registered::version);
  return all;
}

}  // namespace assay
