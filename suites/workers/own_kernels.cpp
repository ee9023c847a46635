// SPDX-License-Identifier: Apache-2.0
#include "suites/workers/own_kernels.h"

#include "reference/bodies.h"
#include "reference/onnx_io.h"
#include "suites/workers/refusal.h"

#include <algorithm>
#include <new>
#include <utility>

namespace assay::suites {
namespace {

using oracles::Outcome;

[[noreturn]] void refuse(const std::string& why) {
  throw RequestRefusal{why.starts_with("no operator ") ? Outcome::Kind::unsupported : Outcome::Kind::refused, why};
}

// A declared extent of -1 is not declared.
bool fits(const TensorType& given, const TensorType& declared) {
  return given.dtype == declared.dtype &&
         std::ranges::equal(given.shape, declared.shape, [](Int g, Int d) { return d == -1 || g == d; });
}

// The graph inputs of one data set by name; initializers are added by the caller.
std::map<std::string, Tensor> named_inputs(const Served& served, const std::vector<std::string>& parts) {
  if (parts.size() != served.graph_inputs.size())
    throw RequestRefusal{.because = std::to_string(parts.size()) + " inputs, the graph has " +
                                    std::to_string(served.graph_inputs.size())};
  std::map<std::string, Tensor> inputs;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (!parts[i].empty()) inputs.emplace(served.graph_inputs[i], accepted(decode_tensor(parts[i])));
  return inputs;
}

// The node with the types of the data it really gets, and the data in schema order.
struct Bound {
  Node node;
  std::vector<const Tensor*> operands;
};

Bound bind(const Served& served, const Definition& definition, const std::map<std::string, Tensor>& inputs) {
  Bound bound{served.node, {}};
  for (std::size_t i = 0; i < served.operand_names.size(); ++i) {
    const std::string& name = served.operand_names[i];
    const Tensor*& operand = bound.operands.emplace_back(nullptr);
    if (name.empty()) continue;
    if (const auto constant = served.initializers.find(name); constant != served.initializers.end())
      operand = &constant->second;
    else if (const auto input = inputs.find(name); input != inputs.end())
      operand = &input->second;
    else
      throw RequestRefusal{.because = "no data for the input " + name};
    if (!fits(operand->type(), bound.node.inputs.at(served.schema_names[i]).type))
      throw RequestRefusal{.because = "the data of " + name + " are not of the declared type"};
    bound.node.value(definition.inputs[i], *operand);
  }
  return bound;
}

void expect_legal(const Call& call) {
  std::string broken;
  for (const std::string& id : call.definition().violated(call))
    broken += " " + call.definition().version.name + "." + id;
  if (!broken.empty()) throw RequestRefusal{.because = "breaks" + broken};
}

// One node of the model, in a session of its own.
class Session {
 public:
  Session(const Served& node, const OpenKernel& open, int threads)
      : served_(node), definition_(*find_definition(node.version)), kernel_(open(definition_)), threads_(threads) {}

  std::vector<Tensor> outputs(const std::map<std::string, Tensor>& inputs) {
    Bound bound = bind(served_, definition_, inputs);
    const Call call(definition_, std::move(bound.node));
    expect_still_legal(call);
    return kernel_(call, bound.operands, threads_).requested();
  }

 private:
  // The sets of one request mostly have the same types.
  void expect_still_legal(const Call& call) {
    if (legal_ == call.node()) return;
    expect_legal(call);
    legal_ = call.node();
  }

  const Served& served_;
  const Definition& definition_;
  FastKernel kernel_;
  int threads_;
  std::optional<Node> legal_;
};

bool has_body(std::string_view op) { return op == "If" || op == "Loop" || op == "Scan"; }

// Runs nodes that feed one another, and the bodies of those that have some.
class GraphSession {
 public:
  GraphSession(const std::string& model, const OpenKernel& open, int threads)
      : graph_(accepted(read_graph(model, {}, {}))), threads_(threads) {
    for (const GraphNode& node : graph_.nodes) {
      if (!node.definition && !has_body(node.op) && node.opset == 0)
        throw RequestRefusal{Outcome::Kind::unsupported, node.op + ": " + node.because};
      if (!node.definition && !has_body(node.op)) refuse(node.because);
      kernels_.push_back(node.definition ? open(*node.definition) : FastKernel());
    }
  }

  const std::vector<std::string>& names() const { return graph_.outputs; }

  std::vector<Tensor> outputs(const std::vector<std::string>& parts) {
    if (parts.size() != graph_.inputs.size())
      throw RequestRefusal{.because = "another number of inputs than the graph has"};
    std::map<std::string, Tensor> values = graph_.initializers;
    for (std::size_t i = 0; i < parts.size(); ++i) values[graph_.inputs[i].first] = accepted(decode_tensor(parts[i]));
    BodyRunner runner(graph_, [&](std::size_t at, const auto& around) { return computed(at, around); });
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!graph_.nodes[i].body.empty()) continue;
      Result<Values> given = runner.run(i, values);
      if (!given) refuse(graph_.nodes[i].name + ": " + given.error());
      put(graph_.nodes[i], *std::move(given), values);
    }
    std::vector<Tensor> out;
    for (const std::string& name : graph_.outputs) {
      if (!values.contains(name)) throw RequestRefusal{.because = "nothing gives the output " + name};
      out.push_back(values.at(name));
    }
    return out;
  }

 private:
  Values computed(std::size_t at, const std::map<std::string, Tensor>& values) const {
    const GraphNode& node = graph_.nodes[at];
    Node bound = node.node;
    std::vector<const Tensor*> operands(node.definition->inputs.size());
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i].empty()) continue;
      operands[i] = &values.at(node.inputs[i]);
      bound.value(node.definition->inputs[i], *operands[i]);
    }
    const Call call(*node.definition, std::move(bound));
    expect_legal(call);
    return kernels_[at](call, operands, threads_);
  }

  GraphModel graph_;
  std::vector<FastKernel> kernels_;
  int threads_;
};

KernelAnswer computed_graph(const Request& request, const OpenKernel& open) {
  GraphSession session(request.model, open, request.threads);
  KernelAnswer answer{{}, session.names()};
  for (const auto& parts : request.sets) answer.outcome.sets.push_back(session.outputs(parts));
  return answer;
}

KernelAnswer computed(const Request& request, const OpenKernel& open) {
  const Result<std::vector<Served>> served = parse_nodes(request.model);
  if (!served) {
    const Result<std::vector<NodeName>> names = node_names(request.model);
    const bool runs_bodies = names && std::ranges::any_of(*names, [](const NodeName& each) {
                               return each.domain.empty() && has_body(each.op);
                             });
    if (!names || (served.error().starts_with("no operator ") && !runs_bodies)) refuse(served.error());
    if (names->size() == 1 && !runs_bodies && gives_what_nodes_give(request.model)) refuse(served.error());
    return computed_graph(request, open);
  }
  const std::vector<Served>& nodes = *served;
  KernelAnswer answer;
  std::vector<Session> sessions;
  sessions.reserve(nodes.size());
  for (const Served& node : nodes) {
    sessions.emplace_back(node, open, request.threads);
    std::ranges::copy(node.output_names, std::back_inserter(answer.names));
  }
  for (const auto& parts : request.sets) {
    const std::map<std::string, Tensor> inputs = named_inputs(nodes.front(), parts);
    auto& outputs = answer.outcome.sets.emplace_back();
    for (Session& session : sessions) std::ranges::move(session.outputs(inputs), std::back_inserter(outputs));
  }
  return answer;
}

}  // namespace

KernelAnswer kernel_answer(const Request& request, const OpenKernel& open) {
  try {
    return computed(request, open);
  } catch (const RequestRefusal& refusal) {
    return {Outcome::failure(refusal.kind, refusal.because), {}};
  } catch (const InputError& error) {
    return {Outcome::failure(Outcome::Kind::refused, error.what()), {}};
  }
}

Description own_description(std::string backend) {
  Description description;
  description.backend = std::move(backend);
  description.version = "onnx 1.23.2";
  description.device = "cpu";
  return description;
}

InProcess::InProcess(std::string name, OpenKernel open)
    : description_(own_description(std::move(name))), open_(std::move(open)) {}

void InProcess::submit(const Request& request) {
  expects(!requested_, "a backend runs one request at a time");
  requested_ = &request;
}

Outcome InProcess::answer() {
  expects(requested_ != nullptr, "an answer follows a request");
  try {
    return kernel_answer(*std::exchange(requested_, nullptr), open_).outcome;
  } catch (const std::bad_alloc&) {
    return Outcome::failure(Outcome::Kind::out_of_memory, "there is not enough memory");
  } catch (const std::exception& error) {
    return Outcome::failure(Outcome::Kind::crashed, error.what());
  }
}

}  // namespace assay::suites
