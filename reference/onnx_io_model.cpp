// SPDX-License-Identifier: Apache-2.0
// A stranger's model, read.
#include "reference/onnx_io.h"
#include "reference/onnx_io_message.h"
#include "reference/tensor_store.h"

#include <onnx/inliner/inliner.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <bit>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <unistd.h>
#include <utility>

namespace assay {
namespace {

using namespace messages;

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
    case onnx::AttributeProto::FLOATS: return Reals(proto.floats().begin(), proto.floats().end());
    case onnx::AttributeProto::STRINGS: return Texts(proto.strings().begin(), proto.strings().end());
    case onnx::AttributeProto::TENSOR: return tensor_of(proto.t());
    default: reject("attribute " + quoted(proto.name()) + " is of a kind that is not admitted");
  }
}

void read_attributes(const onnx::NodeProto& proto, const Definition& definition, Node& node) {
  const std::string owner = text(definition.version);
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    const AttributeSpec* const spec = definition.attribute(attribute.name());
    if (!spec) reject(owner + " has no attribute " + quoted(attribute.name()));
    Attribute value = value_of(attribute);
    if (!attribute.ref_attr_name().empty() || value.index() != static_cast<std::size_t>(spec->kind))
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
  TensorType type{admitted_dtype(tensor.elem_type()), {}};
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

// Every output of every node, in their order.
std::vector<std::string> given_by_nodes(const onnx::GraphProto& graph) {
  std::vector<std::string> names;
  for (const onnx::NodeProto& node : graph.node())
    for (const std::string& name : node.output())
      if (!name.empty()) names.push_back(name);
  return names;
}

void expect_nodes_with_outputs(const onnx::ModelProto& model) {
  const onnx::GraphProto& graph = model.graph();
  if (graph.node_size() == 0) reject("a model of 0 nodes");
  if (model.functions_size() > 0) reject("a model with functions of its own");
  const std::vector<std::string> names = given_by_nodes(graph);
  if (names.size() != static_cast<std::size_t>(graph.output_size()))
    reject("a model whose nodes have " + std::to_string(names.size()) + " outputs, of which the graph has " +
           std::to_string(graph.output_size()));
  for (int i = 0; i < graph.output_size(); ++i)
    if (graph.output(i).name() != names[static_cast<std::size_t>(i)])
      reject("output " + std::to_string(i) + " of the graph is not that of its node");
}

void read_outputs(const onnx::NodeProto& proto, const Definition& definition, Served& served) {
  const std::string owner = text(definition.version);
  if (static_cast<std::size_t>(proto.output_size()) > definition.outputs.size())
    reject(owner + " has " + std::to_string(definition.outputs.size()) + " outputs, asked for " +
           std::to_string(proto.output_size()));
  for (std::size_t i = 0; i < definition.outputs.size(); ++i) {
    const Parameter& output = definition.outputs[i];
    const std::string name = i < static_cast<std::size_t>(proto.output_size()) ? proto.output(static_cast<int>(i)) : "";
    if (name.empty() && output.arity == Arity::required)
      reject("output " + output.name + " of " + owner + " is required");
    if (name.empty()) continue;
    served.output_names.push_back(name);
    if (output.arity != Arity::required) served.node.output(output.name);
  }
}

Served serve(const onnx::ModelProto& model, int at) {
  const onnx::NodeProto& node = model.graph().node(at);
  Served served;
  served.opset = opset_of(model, domain_of(node.domain()));
  const Definition& definition = definition_of(node, served.opset);
  served.version = definition.version;
  read_attributes(node, definition, served.node);
  read_outputs(node, definition, served);
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

// -- a model of many nodes

// Says where the data of a tensor stand beside the model.
struct ExternalData {
  std::filesystem::path file;
  Int offset = 0, length = 0;
};

// Checks that they are there.
ExternalData external_data(const onnx::TensorProto& proto, const std::filesystem::path& folder) {
  std::map<std::string, std::string> entries;
  for (const onnx::StringStringEntryProto& each : proto.external_data()) entries[each.key()] = each.value();
  const std::filesystem::path location = std::filesystem::path(entries["location"]).lexically_normal();
  const std::string owner = "the data of " + quoted(proto.name());
  if (location.empty() || location.is_absolute() || *location.begin() == "..")
    reject(owner + " are in " + quoted(location.string()) + ", which is no file beside the model");
  const auto number = [&](const char* key) {
    const std::string& digits = entries[key];
    if (digits.size() > 18 || digits.find_first_not_of("0123456789") != digits.npos)
      reject(owner + " have the " + key + " " + quoted(digits));
    return digits.empty() ? Int{0} : Int{std::stoll(digits)};
  };
  std::ifstream file(folder / location, std::ios::binary | std::ios::ate);
  if (!file) reject(owner + " are in " + quoted(location.string()) + ", which is not there");
  const Int offset = number("offset"), size = static_cast<Int>(file.tellg());
  const Int length = entries.contains("length") ? number("length") : size - offset;
  if (offset > size || length > size - offset) reject(quoted(location.string()) + " is too short for " + owner);
  return {folder / location, offset, length};
}

// Puts data that stand in a file into the message.
void take_in(onnx::TensorProto& proto, const ExternalData& data) {
  std::string bytes(static_cast<std::size_t>(data.length), '\0');
  std::ifstream file(data.file, std::ios::binary);
  file.seekg(data.offset);
  file.read(bytes.data(), data.length);
  proto.set_data_location(onnx::TensorProto::DEFAULT);
  proto.clear_external_data();
  proto.set_raw_data(std::move(bytes));
}

// Maps the data, so that they take no memory while nobody reads them.
Tensor mapped(TensorType type, const ExternalData& data) {
  const Int page = ::sysconf(_SC_PAGESIZE), before = data.offset % page;
  const auto length = static_cast<std::size_t>(data.length + before);
  const int file = ::open(data.file.c_str(), O_RDONLY | O_CLOEXEC);
  const std::shared_ptr<std::byte> whole = file < 0 ? nullptr : mapped_file(file, data.offset - before, length);
  if (file >= 0) ::close(file);
  if (!whole) reject(quoted(data.file.string()) + " cannot be read into memory");
  return Tensor::over(std::move(type), {whole, whole.get() + before});
}

// Tells whether data lie in their file as they do in memory, as where a writer keeps to pages, which the standard
// advises.
bool may_be_mapped(const TensorType& type, const ExternalData& data) {
  constexpr Int least = Int{1} << 20;
  return data.length >= least && data.offset % 16 == 0 && !is_packed(type.dtype) &&
         std::endian::native == std::endian::little && data.length == static_cast<Int>(message_size(type));
}

// Says what becomes of extents that a model leaves open and nobody gives.
enum class Open { stays, is_assumed };

// Settles what an input leaves open, the same for every input that names the same symbol.
void settle(onnx::ValueInfoProto& input, const Extents& given, Open open, Extents& settled) {
  if (!input.type().has_tensor_type()) reject("the input " + quoted(input.name()) + " is no tensor");
  if (!input.type().tensor_type().has_shape()) reject("the input " + quoted(input.name()) + " has no shape");
  auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  if (shape.dim_size() > most_dimensions) reject("the input " + quoted(input.name()) + " has too many dimensions");
  for (int axis = 0; axis < shape.dim_size(); ++axis) {
    onnx::TensorShapeProto_Dimension& dim = *shape.mutable_dim(axis);
    if (dim.has_dim_value() && dim.dim_value() >= 0) continue;
    const std::string place = input.name() + "." + std::to_string(axis);
    const std::string symbol = dim.dim_param().empty() ? place : dim.dim_param();
    const auto found = given.contains(place) ? given.find(place) : given.find(symbol);
    if (found == given.end() && !settled.contains(symbol) && open == Open::stays) continue;
    const Int assumed = found != given.end() ? found->second : assumed_extent(static_cast<std::size_t>(axis));
    dim.set_dim_value(settled.emplace(symbol, assumed).first->second);
  }
}

void settle_inputs(onnx::GraphProto& graph, const Extents& given, Open open) {
  std::set<std::string> constants;
  for (const onnx::TensorProto& each : graph.initializer()) constants.insert(each.name());
  Extents settled, known;
  for (onnx::ValueInfoProto& input : *graph.mutable_input()) {
    if (constants.contains(input.name())) continue;
    settle(input, given, open, settled);
    for (int axis = 0; axis < input.type().tensor_type().shape().dim_size(); ++axis)
      known.emplace(input.name() + "." + std::to_string(axis), 0);
  }
  known.insert(settled.begin(), settled.end());
  for (const auto& [name, extent] : given)
    if (!known.contains(name)) reject("no input has an extent called " + quoted(name));
}

// Tells whether a node has fewer inputs or outputs than its operator takes, on which ONNX's inference may abort.
bool has_too_few(const onnx::ModelProto& model, const onnx::GraphProto& graph) {
  const auto lacks = [&](const onnx::NodeProto& node) {
    for (const onnx::OperatorSetIdProto& import : model.opset_import()) {
      if (domain_of(import.domain()) != domain_of(node.domain()) || !std::in_range<int>(import.version())) continue;
      const onnx::OpSchema* const schema =
          onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(import.version()), domain_of(node.domain()));
      if (schema && (node.input_size() < schema->min_input() || node.output_size() < schema->min_output())) return true;
    }
    return std::ranges::any_of(node.attribute(),
                               [&](const auto& each) { return each.has_g() && has_too_few(model, each.g()); });
  };
  return std::ranges::any_of(graph.node(), lacks);
}

// Infers shapes alone; what the inference does not know, or finds fault with, stays unknown.
void infer_types(onnx::ModelProto& model) {
  if (has_too_few(model, model.graph())) return;
  try {
    onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                       onnx::ShapeInferenceOptions(false, 0, true));
  } catch (const std::exception&) {
    // The values it came to are known.
  }
}

// Returns the type of a value where every extent is known.
std::optional<TensorType> known_type(const onnx::ValueInfoProto& info) {
  const onnx::TypeProto_Tensor& tensor = info.type().tensor_type();
  const std::optional<DType> dtype = dtype_numbered(tensor.elem_type());
  const auto is_known = [](const auto& dim) { return dim.has_dim_value() && dim.dim_value() >= 0; };
  if (!dtype || !tensor.has_shape() || !std::ranges::all_of(tensor.shape().dim(), is_known)) return std::nullopt;
  TensorType type{*dtype, {}};
  for (const auto& dim : tensor.shape().dim()) type.shape.push_back(dim.dim_value());
  return type;
}

// Reads what of a node needs no types. Where the standard does not have it so, says why not.
void define(const onnx::ModelProto& model, const onnx::NodeProto& proto, GraphNode& into) {
  if (!find_operator(domain_of(proto.domain()), proto.op_type())) reject("assay does not define it");
  into.opset = opset_of(model, domain_of(proto.domain()));
  const Definition& definition = definition_of(proto, into.opset);
  Served served;
  read_attributes(proto, definition, served.node);
  read_outputs(proto, definition, served);
  const std::size_t given = into.inputs.size();
  if (given > definition.inputs.size())
    reject(text(definition.version) + " with " + std::to_string(given) + " inputs, of which assay knows " +
           std::to_string(definition.inputs.size()));
  for (std::size_t i = 0; i < given; ++i)
    if (into.inputs[i].empty()) served.node.empty_input(definition.inputs[i].name);
  into.node = std::move(served.node);
  into.definition = &definition;
}

// Calls a node as GraphNode has it.
std::string name_of(const onnx::NodeProto& node, int at) {
  return node.name().empty() ? node.op_type() + "_" + std::to_string(at) : node.name();
}

// Reads the nodes of a model, those of a body in front of the node that has it. Values of a body are called after it,
// so that each has a name of its own.
class NodeReader {
 public:
  // Takes the data of initializers out of the model.
  NodeReader(onnx::ModelProto& model, std::filesystem::path folder, GraphModel& into)
      : model_(model), folder_(std::move(folder)), into_(into) {}

  using Names = std::map<std::string, std::string>;  // of values, from what a body calls them

  // Returns what the outputs of the graph are called.
  std::vector<std::string> read(onnx::GraphProto& graph, const std::string& body, Names names) {
    const std::string prefix = body.empty() ? "" : body + "/";
    for (const auto* list : {&graph.input(), &graph.value_info(), &graph.output()})
      for (const onnx::ValueInfoProto& info : *list)
        if (const auto type = known_type(info)) into_.types.emplace(prefix + info.name(), *type);
    for (onnx::TensorProto& each : *graph.mutable_initializer()) {
      const std::string own = names[each.name()] = prefix + each.name();
      into_.initializers.emplace(own, each.data_location() == onnx::TensorProto::EXTERNAL
                                          ? mapped(type_of(each), external_data(each, folder_))
                                          : tensor_of(std::move(each)));
      each.clear_raw_data();  // NOLINT(bugprone-use-after-move): of a large model there are not two copies for long
    }
    for (int at = 0; at < graph.node_size(); ++at) add(*graph.mutable_node(at), at, body, names);
    std::vector<std::string> outputs;
    for (const onnx::ValueInfoProto& info : graph.output()) outputs.push_back(called(info.name(), names));
    return outputs;
  }

 private:
  static std::string called(const std::string& name, const Names& names) {
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  }

  void add(onnx::NodeProto& proto, int at, const std::string& body, Names& names) {
    const std::string prefix = body.empty() ? "" : body + "/";
    const std::string domain = domain_of(proto.domain());
    GraphNode node;
    node.body = body;
    node.op = domain.empty() ? proto.op_type() : domain + ":" + proto.op_type();
    node.name = prefix + name_of(proto, at);
    for (const std::string& input : proto.input()) node.inputs.push_back(called(input, names));
    for (const std::string& output : proto.output()) {
      node.outputs.push_back(output.empty() ? "" : prefix + output);
      if (!output.empty()) names[output] = node.outputs.back();
    }
    try {
      if (node.op == "Scan" && opset_of(model_, domain) >= 9) read_cuts(proto, node);
      define(model_, proto, node);
    } catch (const InputError& error) {
      node.because = error.what();
    }
    for (onnx::AttributeProto& attribute : *proto.mutable_attribute())
      if (attribute.has_g()) add_body(attribute, node, names);
    into_.nodes.push_back(std::move(node));
  }

  // Reads how a Scan cuts its inputs; of before version 9 they lie otherwise.
  static void read_cuts(const onnx::NodeProto& proto, GraphNode& node) {
    for (const onnx::AttributeProto& each : proto.attribute())
      if (!each.has_g()) node.node.attributes[each.name()] = value_of(each);
  }

  void add_body(onnx::AttributeProto& attribute, GraphNode& node, Names names) {
    onnx::GraphProto& graph = *attribute.mutable_g();
    GraphBody body{attribute.name(), node.name + "/" + attribute.name(), {}, {}, into_.nodes.size()};
    for (const onnx::ValueInfoProto& input : graph.input()) {
      body.inputs.push_back(names[input.name()] = body.name + "/" + input.name());
      // Takes a type that the body leaves open from what goes into the first turn.
      const std::size_t at = body.inputs.size() - 1;
      const auto outer = into_.types.find(node.op == "Loop" && at < node.inputs.size() ? node.inputs[at] : "");
      if (at > 1 && outer != into_.types.end() && !known_type(input))
        into_.types.emplace(body.inputs.back(), outer->second);
    }
    body.outputs = read(graph, body.name, std::move(names));
    body.last = into_.nodes.size();
    node.bodies.push_back(std::move(body));
  }

  onnx::ModelProto& model_;
  std::filesystem::path folder_;
  GraphModel& into_;
};

// Demands that a node stands behind those whose outputs it takes (onnx/docs/IR.md, "Graphs").
void expect_order(const GraphModel& graph) {
  std::set<std::string> known{""};
  for (const auto& [name, type] : graph.inputs) known.insert(name);
  for (const auto& [name, tensor] : graph.initializers) known.insert(name);
  for (const GraphNode& node : graph.nodes)
    for (const GraphBody& body : node.bodies) known.insert(body.inputs.begin(), body.inputs.end());
  for (const GraphNode& node : graph.nodes) {
    for (const std::string& input : node.inputs)
      if (!known.contains(input))
        reject("the node " + quoted(node.name) + " takes " + quoted(input) + ", which no node before it gives");
    known.insert(node.outputs.begin(), node.outputs.end());
  }
}

// Puts the nodes of local functions where they are called; what a stranger's model calls wrongly throws out of ONNX.
void inline_functions(onnx::ModelProto& model) {
  try {
    if (model.functions_size() > 0) onnx::inliner::InlineLocalFunctions(model);
  } catch (const std::exception& thrown) {
    reject("a local function that cannot be called as it is: " + quoted(thrown.what()));
  }
}

// Says what becomes of large data that stand in a file.
enum class Large { is_taken_in, stays_outside };

// Takes in the data of a graph and of the bodies of its nodes.
void take_in_all(onnx::GraphProto& graph, const std::filesystem::path& folder, Large large) {
  const auto take = [&](onnx::TensorProto& proto, bool may_stay) {
    if (proto.data_location() != onnx::TensorProto::EXTERNAL) return;
    const ExternalData data = external_data(proto, folder);
    if (!may_stay || !may_be_mapped(type_of(proto), data)) take_in(proto, data);
  };
  if (graph.sparse_initializer_size() > 0) reject("a sparse initializer");
  for (onnx::TensorProto& each : *graph.mutable_initializer()) take(each, large == Large::stays_outside);
  for (onnx::NodeProto& node : *graph.mutable_node())
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) take_in_all(*attribute.mutable_g(), folder, large);
      if (attribute.has_t()) take(*attribute.mutable_t(), false);
    }
}

// Finds what is said of a value; nothing where it is neither an input nor of a type that has been inferred.
std::optional<onnx::TypeProto> stated_type(const onnx::GraphProto& graph, const std::string& value) {
  for (const auto* list : {&graph.value_info(), &graph.input(), &graph.output()})
    for (const onnx::ValueInfoProto& info : *list)
      if (info.name() == value && info.has_type()) return info.type();
  return std::nullopt;
}

bool has_value(const onnx::GraphProto& graph, const std::string& value) {
  const auto is_it = [&](const auto& info) { return info.name() == value; };
  return std::ranges::any_of(graph.input(), is_it) || std::ranges::any_of(graph.node(), [&](const auto& node) {
           return std::ranges::find(node.output(), value) != node.output().end();
         });
}

// Adds an output of a body, of any shape.
void add_output(onnx::GraphProto& body, const std::string& name, std::int32_t type) {
  onnx::ValueInfoProto& output = *body.add_output();
  output.set_name(name);
  output.mutable_type()->mutable_tensor_type()->set_elem_type(type);
}

// Has a node pass on the last output of one of its bodies, of which the others know nothing yet.
void pass_on(onnx::NodeProto& node, const onnx::AttributeProto& of, const std::string& name) {
  const onnx::GraphProto& body = of.g();
  const std::string& inner = body.output().rbegin()->name();
  const std::int32_t type = body.output().rbegin()->type().tensor_type().elem_type();
  for (onnx::AttributeProto& each : *node.mutable_attribute()) {
    if (each.name() == "scan_output_axes" || each.name() == "scan_output_directions") each.add_ints(0);
    if (node.op_type() != "If" || !each.has_g() || each.name() == of.name()) continue;
    onnx::TensorProto& nothing = *each.mutable_g()->add_initializer();
    nothing.set_name("no " + inner);
    nothing.set_data_type(type);
    for (const Int extent : of_no_branch) nothing.add_dims(extent);
    add_copy(*each.mutable_g(), nothing.name(), inner);
    add_output(*each.mutable_g(), inner, type);
  }
  const int before = body.output_size() - (node.op_type() == "Loop" ? 2 : 1);  // its condition is no output of a Loop
  while (node.output_size() < before) node.add_output(name + "#" + std::to_string(node.output_size()));
  node.add_output(name);
}

// Has a graph give one of its values, or of the bodies within, as its last output, under a name that nothing has.
// `prefix`: what GraphModel puts before the names of its values. Tells whether it has that value.
bool give(onnx::GraphProto& graph, const std::string& prefix, const std::string& value, const std::string& name) {
  const std::string own = value.starts_with(prefix) ? value.substr(prefix.size()) : "";
  const bool is_body = !prefix.empty();
  if (!own.empty() && has_value(graph, own)) {
    const std::optional<onnx::TypeProto> type = stated_type(graph, own);
    if (is_body) {
      add_copy(graph, own, name);
      add_output(graph, name, type ? type->tensor_type().elem_type() : onnx::TensorProto::FLOAT);
    } else if (std::ranges::none_of(graph.output(), [&](const auto& info) { return info.name() == own; })) {
      onnx::ValueInfoProto& added = *graph.add_output();
      added.set_name(own);
      if (type) *added.mutable_type() = *type;
    }
    return true;
  }
  for (int at = 0; at < graph.node_size(); ++at) {
    onnx::NodeProto& node = *graph.mutable_node(at);
    for (int which = 0; which < node.attribute_size(); ++which) {
      onnx::AttributeProto& attribute = *node.mutable_attribute(which);
      const std::string inner = prefix + name_of(node, at) + "/" + attribute.name() + "/";
      if (!attribute.has_g() || !value.starts_with(inner)) continue;
      if (!give(*attribute.mutable_g(), inner, value, name + "'")) continue;
      pass_on(node, attribute, name);
      add_output(graph, name, attribute.g().output().rbegin()->type().tensor_type().elem_type());
      return true;
    }
  }
  return false;
}

GraphModel graph_of(onnx::ModelProto model, const std::filesystem::path& folder, const Extents& extents) {
  inline_functions(model);
  take_in_all(*model.mutable_graph(), folder, Large::stays_outside);
  settle_inputs(*model.mutable_graph(), extents, Open::is_assumed);
  infer_types(model);
  GraphModel graph;
  graph.outputs = NodeReader(model, folder, graph).read(*model.mutable_graph(), "", {});
  for (const onnx::ValueInfoProto& info : model.graph().input())
    if (!graph.initializers.contains(info.name())) graph.inputs.emplace_back(info.name(), declared_type(info));
  expect_order(graph);
  return graph;
}

}  // namespace

Int assumed_extent(std::size_t axis) { return axis == 0 ? 1 : 8; }

Result<GraphModel> read_graph(std::string_view bytes, const std::filesystem::path& folder, const Extents& extents) {
  return as_result([&] { return graph_of(message_of<onnx::ModelProto>(bytes, "ModelProto"), folder, extents); });
}

Result<std::string> settled_model(std::string_view bytes, const std::filesystem::path& folder, const Extents& extents) {
  return as_result([&] {
    auto model = message_of<onnx::ModelProto>(bytes, "ModelProto");
    inline_functions(model);
    take_in_all(*model.mutable_graph(), folder, Large::is_taken_in);
    settle_inputs(*model.mutable_graph(), extents, Open::stays);
    infer_types(model);
    std::string settled;
    if (!model.SerializeToString(&settled)) reject("with its data the model is too large for a message");
    return settled;
  });
}

std::string model_giving(std::string_view settled, const std::vector<std::string>& values) {
  auto model = message_of<onnx::ModelProto>(settled, "ModelProto");
  for (const std::string& value : values) give(*model.mutable_graph(), "", value, value);
  return model.SerializeAsString();
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

bool gives_what_nodes_give(std::string_view bytes) {
  const Result<bool> same = as_result([&] {
    const auto model = message_of<onnx::ModelProto>(bytes, "ModelProto");
    return model.functions_size() == 0 &&
           std::ranges::equal(given_by_nodes(model.graph()), model.graph().output(), {}, {},
                              [](const onnx::ValueInfoProto& info) { return info.name(); });
  });
  return same && *same;
}

Result<Served> parse_model(std::string_view bytes) {
  Result<std::vector<Served>> all = parse_nodes(bytes);
  if (!all) return Error{all.error()};
  if (all->size() != 1) return Error{"a model of " + std::to_string(all->size()) + " nodes, expected one"};
  std::vector<Served> nodes = *std::move(all);
  return std::move(nodes.front());
}

}  // namespace assay
