// SPDX-License-Identifier: Apache-2.0
// The model of a case, and the outputs it requests.
#include "reference/onnx_io.h"
#include "reference/onnx_io_message.h"
#include "reference/recipe.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>

namespace assay {

void messages::add_copy(onnx::GraphProto& graph, const std::string& value, const std::string& copy) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type("Identity");
  node.add_input(value);
  node.add_output(copy);
}

namespace {

using namespace messages;

// From IR version 4 on an initializer need not be a graph input (onnx/docs/IR.md, "Graphs").
constexpr int initializers_stand_alone = 4;

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
void set(onnx::AttributeProto& proto, const Reals& value) {
  proto.set_type(onnx::AttributeProto::FLOATS);
  proto.mutable_floats()->Add(value.begin(), value.end());
}
void set(onnx::AttributeProto& proto, const Texts& value) {
  proto.set_type(onnx::AttributeProto::STRINGS);
  for (const std::string& each : value) proto.add_strings(each);
}
void set(onnx::AttributeProto& proto, const Tensor& value) {
  proto.set_type(onnx::AttributeProto::TENSOR);
  *proto.mutable_t() = proto_of(value, "value");
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

// The first given input whose type is the variable `type`; the first given one where there is none, null without
// inputs.
const TensorType* type_of_variable(const Case& c, const std::string& type) {
  const TensorType* first = nullptr;
  for (const Parameter& input : c.definition().inputs) {
    if (!is_given(c, input.name)) continue;
    const TensorType& given = c.node.inputs.find(input.name)->second.type;
    if (input.type == type) return &given;
    if (!first) first = &given;
  }
  return first;
}

// The rank and type of every output in schema order; nothing is promised of them but that, so that a backend works the
// extents out. A near miss may have no shape at all: its outputs are declared of the rank of the first input.
TensorType declared_output(const Case& c, const Types& types, std::size_t i) {
  if (i < types.size() && types[i]) return *types[i];
  const Definition& definition = c.definition();
  const bool has_inputs = !definition.inputs.empty();
  const TensorType* const first = has_inputs ? type_of_variable(c, definition.inputs.front().type) : nullptr;
  const Parameter& output = definition.outputs[i < definition.outputs.size() ? i : 0];
  const bool is_of_an_input = std::ranges::count(definition.inputs, output.type, &Parameter::type) > 0;
  const bool is_known = !first || (i < definition.outputs.size() && !is_of_an_input);
  return {is_known ? definition.type_of(c.call(), output) : type_of_variable(c, output.type)->dtype,
          first ? first->shape : Shape()};
}

// The outputs asked for; one that its version does not have (a near miss) comes last. A graph names a value once: an
// output that is called as an input (BatchNormalization before 14) has another name in it.
void add_outputs(onnx::GraphProto& graph, onnx::NodeProto& node, const Case& c, const std::string& prefix) {
  const Definition& definition = c.definition();
  const Call call = c.call();
  Types types;
  if (!definition.keeps_rank && definition.violated(call).empty()) types = definition.infer(call);
  std::vector<std::string> requested;
  for (const Parameter& output : definition.outputs) requested.push_back(call.requests(output.name) ? output.name : "");
  for (const std::string& output : c.node.outputs)
    if (!definition.output(output)) requested.push_back(output);
  while (!requested.empty() && requested.back().empty()) requested.pop_back();
  for (std::size_t i = 0; i < requested.size(); ++i) {
    const std::string name = prefix + requested[i] + (definition.input(requested[i]) ? "_out" : "");
    node.add_output(requested[i].empty() ? "" : name);
    if (requested[i].empty()) continue;
    const TensorType type = declared_output(c, types, i);
    declare_symbolic(*graph.add_output(), name, type.dtype, type.shape.size());
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

void add_step(onnx::GraphProto& graph, const GraphStep& step) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(step.c.version.name);
  for (const std::string& operand : step.operands) node.add_input(operand);
  add_attributes(node, step.c);
  for (const std::string& result : step.results) node.add_output(result);
}

// Infers the types of the outputs of a graph, in their order.
std::vector<TensorType> output_types(const GraphCase& graph) {
  std::map<std::string, TensorType, std::less<>> types;
  for (const GraphStep& step : graph.steps) {
    const Types inferred = step.c.definition().infer(step.c.call());
    for (std::size_t i = 0; i < step.results.size(); ++i)
      if (!step.results[i].empty() && inferred.at(i)) types[step.results[i]] = *inferred[i];
  }
  std::vector<TensorType> out;
  for (const std::string& output : graph.outputs) out.push_back(types.at(output));
  return out;
}

// Declares the outputs of a graph by type and rank, as those of a node are.
void add_graph_outputs(onnx::GraphProto& proto, const GraphCase& graph, const std::vector<TensorType>& types,
                       const std::string& suffix = "") {
  for (std::size_t i = 0; i < types.size(); ++i)
    declare_symbolic(*proto.add_output(), graph.outputs[i] + suffix, types[i].dtype, types[i].shape.size());
}

onnx::GraphProto& add_body(onnx::NodeProto& node, const char* name) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::GRAPH);
  attribute.mutable_g()->set_name(name);
  return *attribute.mutable_g();
}

std::string zeros(std::size_t output) { return "zeros_" + std::to_string(output); }

// Adds what a wrapper gives where the steps are not run.
void add_zeros(onnx::GraphProto& proto, const std::vector<TensorType>& types) {
  for (std::size_t i = 0; i < types.size(); ++i) *proto.add_initializer() = proto_of(Tensor(types[i]), zeros(i));
}

// Puts the steps into the branch of an If that its constant condition chooses; the other one gives zeros.
void add_branches(onnx::GraphProto& proto, const GraphCase& graph, const std::vector<TensorType>& types) {
  *proto.add_initializer() = proto_of(fill({"const", "1"}, {DType::boolean, {}}), "is_taken");
  add_zeros(proto, types);
  onnx::NodeProto& node = *proto.add_node();
  node.set_op_type("If");
  node.add_input("is_taken");
  for (const std::string& output : graph.outputs) node.add_output(output + "_out");
  onnx::GraphProto& taken = add_body(node, "then_branch");
  for (const GraphStep& step : graph.steps) add_step(taken, step);
  add_graph_outputs(taken, graph, types);
  onnx::GraphProto& other = add_body(node, "else_branch");
  for (std::size_t i = 0; i < types.size(); ++i) add_copy(other, zeros(i), graph.outputs[i] + "_else");
  add_graph_outputs(other, graph, types, "_else");
}

// Puts the steps into the body of a Loop of one turn, which carries their outputs from zeros on.
void add_loop(onnx::GraphProto& proto, const GraphCase& graph, const std::vector<TensorType>& types) {
  *proto.add_initializer() = proto_of(fill({"const", "1"}, {DType::i64, {}}), "turns");
  add_zeros(proto, types);
  onnx::NodeProto& node = *proto.add_node();
  node.set_op_type("Loop");
  node.add_input("turns");
  node.add_input("");
  onnx::GraphProto& body = add_body(node, "body");
  declare_as(DeclaredShapes::fixed, *body.add_input(), "turn", {DType::i64, {}});
  declare_as(DeclaredShapes::fixed, *body.add_input(), "goes_on", {DType::boolean, {}});
  declare_as(DeclaredShapes::fixed, *body.add_output(), "goes_on_then", {DType::boolean, {}});
  for (std::size_t i = 0; i < types.size(); ++i) {
    node.add_input(zeros(i));
    node.add_output(graph.outputs[i] + "_out");
    declare_symbolic(*body.add_input(), graph.outputs[i] + "_before", types[i].dtype, types[i].shape.size());
  }
  add_copy(body, "goes_on", "goes_on_then");
  for (const GraphStep& step : graph.steps) add_step(body, step);
  add_graph_outputs(body, graph, types);
}

// Puts the steps into a function of the model's own, which takes all that goes in.
void add_function(onnx::ModelProto& model, const GraphCase& graph) {
  constexpr const char* domain = "assay.local";
  onnx::FunctionProto& function = *model.add_functions();
  function.set_name("Steps");
  function.set_domain(domain);
  *function.mutable_opset_import() = model.opset_import();
  onnx::OperatorSetIdProto& import = *model.add_opset_import();
  import.set_domain(domain);
  import.set_version(1);
  onnx::NodeProto& call = *model.mutable_graph()->add_node();
  call.set_op_type("Steps");
  call.set_domain(domain);
  for (const GraphLeaf& leaf : graph.leaves) {
    function.add_input(leaf.name);
    call.add_input(leaf.name);
  }
  onnx::GraphProto steps;
  for (const GraphStep& step : graph.steps) add_step(steps, step);
  *function.mutable_node() = std::move(*steps.mutable_node());
  for (const std::string& output : graph.outputs) {
    function.add_output(output);
    call.add_output(output + "_out");
  }
}

void add_steps(onnx::ModelProto& model, const GraphCase& graph) {
  onnx::GraphProto& proto = *model.mutable_graph();
  const std::vector<TensorType> types = output_types(graph);
  switch (graph.inside) {
    case Wrapper::none:
      for (const GraphStep& step : graph.steps) add_step(proto, step);
      break;
    case Wrapper::branch: add_branches(proto, graph, types); break;
    case Wrapper::loop: add_loop(proto, graph, types); break;
    case Wrapper::function: add_function(model, graph); break;
  }
  add_graph_outputs(proto, graph, types, graph.inside == Wrapper::none ? "" : "_out");
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

// -- names that other producers give

// An identifier of C90, as names have to be (onnx/docs/IR.md, "Names Within a Graph"), that is told apart by `number`.
std::string other_name(Generator& generator, std::size_t number) {
  static constexpr const char* stems[] = {"input", "onnx__Conv_", "layer1_0_weight", "x_", "t", "_tensor", "val_", "Y"};
  const std::string middle = std::to_string(generator.below(900)), stem = stems[generator.below(std::size(stems))];
  return stem + "_" + middle + "_" + std::to_string(number);
}

// The names of one model: each is replaced by one other, wherever it stands.
class Renaming {
 public:
  explicit Renaming(int seed) : generator_(static_cast<std::uint64_t>(seed)) {}

  std::string operator()(const std::string& name) {
    if (name.empty()) return name;  // an optional input that is left out
    const auto [at, fresh] = names_.try_emplace(name);
    if (fresh) at->second = other_name(generator_, names_.size());
    return at->second;
  }
  template <class List>
  void shuffle(List& list) {
    for (int i = list.size(); i > 1; --i)
      list.SwapElements(i - 1, static_cast<int>(generator_.below(static_cast<std::uint64_t>(i))));
  }
  const char* one_of(std::span<const char* const> words) { return words[generator_.below(words.size())]; }

 private:
  Generator generator_;
  std::map<std::string, std::string> names_;
};

void rename(onnx::ValueInfoProto& info, Renaming& renaming) {
  info.set_name(renaming(info.name()));
  for (onnx::TensorShapeProto::Dimension& each :
       *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
    if (each.has_dim_param()) each.set_dim_param(renaming(each.dim_param()));
}

void rename(onnx::ModelProto& model, int seed) {
  static constexpr const char* producers[] = {"pytorch", "tf2onnx", "skl2onnx", "onnx.compose", "exporter"};
  static constexpr const char* graphs[] = {"main_graph", "torch_jit", "g", "tf2onnx_model", "sub"};
  Renaming renaming(seed);
  onnx::GraphProto& graph = *model.mutable_graph();
  for (onnx::ValueInfoProto& each : *graph.mutable_input()) rename(each, renaming);
  for (onnx::TensorProto& each : *graph.mutable_initializer()) each.set_name(renaming(each.name()));
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    node.set_name(renaming("node " + node.op_type()));
    for (std::string& each : *node.mutable_input()) each = renaming(each);
    for (std::string& each : *node.mutable_output()) each = renaming(each);
    renaming.shuffle(*node.mutable_attribute());
  }
  for (onnx::ValueInfoProto& each : *graph.mutable_output()) rename(each, renaming);
  renaming.shuffle(*graph.mutable_initializer());
  model.set_producer_name(renaming.one_of(producers));
  model.set_producer_version(std::to_string(seed) + ".0");
  graph.set_name(renaming.one_of(graphs));
}

}  // namespace

std::string model_of(const Case& c) { return model_of(c, initializers_of(c)); }

std::string model_of(const Case& c, const Operands& data, int names) {
  onnx::ModelProto model = empty_model(c);
  model.mutable_graph()->set_name(text(c.version));
  add_case(*model.mutable_graph(), c, "", data);
  if (names > 0) rename(model, names);
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

std::string model_of(const GraphCase& graph, const GraphData& leaves) {
  onnx::ModelProto model = empty_model(graph.steps.front().c);
  onnx::GraphProto& proto = *model.mutable_graph();
  proto.set_name("graph");
  for (const GraphLeaf& leaf : graph.leaves) {
    const bool is_constant = leaf.source.initializer;
    if (is_constant) *proto.add_initializer() = proto_of(leaves.find(leaf.name)->second, leaf.name);
    if (!is_constant || graph.ir_version < initializers_stand_alone)
      declare_as(is_constant ? DeclaredShapes::fixed : graph.declared, *proto.add_input(), leaf.name, leaf.type);
  }
  add_steps(model, graph);
  return bytes_of(model);
}

std::vector<std::string> graph_inputs(const GraphCase& graph, const GraphData& leaves) {
  std::vector<std::string> out;
  for (const GraphLeaf& leaf : graph.leaves)
    if (!leaf.source.initializer) out.push_back(encode_tensor(leaves.find(leaf.name)->second, leaf.name));
  return out;
}

std::vector<std::string> graph_inputs(const Case& c, int set) { return graph_inputs(c, operands(c, set)); }

std::vector<std::string> graph_inputs(const Case& c, const Operands& data, bool named) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < c.definition().inputs.size(); ++i) {
    const std::string& name = c.definition().inputs[i].name;
    if (is_given(c, name) && !is_initializer(c, name))
      out.push_back(encode_tensor(data.at(i).value(), named ? name : ""));
  }
  return out;
}

}  // namespace assay
