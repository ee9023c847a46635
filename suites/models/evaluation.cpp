// SPDX-License-Identifier: Apache-2.0
#include "suites/models/evaluation.h"

#include "reference/bodies.h"
#include "suites/campaign/provenance.h"
#include "suites/text/printable.h"
#include "suites/workers/vector_folder.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;

constexpr Int most_elements = Int{1} << 30;  // of one tensor

std::string words_of(const TensorType& type) { return std::string(assay::name(type.dtype)) + assay::text(type.shape); }

// Finds the i-th input of a graph in a folder, under its name or its number.
std::optional<Tensor> given_input(const fs::path& folder, const GraphModel& graph, std::size_t i) {
  const auto& [name, type] = graph.inputs[i];
  std::string plain = name;
  std::ranges::replace(plain, '/', '_');
  for (const std::string& stem : {plain, "input_" + std::to_string(i)})
    for (const char* const extension : {".npy", ".pb"}) {
      std::error_code ignored;
      const fs::path file = folder / (stem + extension);
      if (!fs::exists(file, ignored)) continue;
      Result<Tensor> tensor = tensor_in(file, type.dtype);
      if (!tensor) throw InputError(tensor.error());
      return *std::move(tensor);
    }
  return std::nullopt;
}

// Adds to what the command line says the extents of inputs that are given.
Extents extents_of(const ModelFile& file, const ModelSource& source) {
  Extents extents = source.extents;
  for (std::size_t i = 0; i < file.given.size(); ++i) {
    const auto& [name, type] = file.graph.inputs[i];
    for (std::size_t axis = 0; file.given[i] && axis < file.given[i]->shape().size(); ++axis)
      if (axis < type.shape.size()) extents.emplace(name + "." + std::to_string(axis), file.given[i]->shape()[axis]);
  }
  return extents;
}

}  // namespace

std::string ModelSource::words() const {
  if (file.empty()) return "";
  std::string all = "--model " + shell_word(file);
  if (!inputs.empty()) all += " --inputs " + shell_word(inputs);
  for (const auto& [name, extent] : extents) all += " --dim " + shell_word(name + "=" + std::to_string(extent));
  return all;
}

ModelFile read_model(const ModelSource& source) {
  const Result<std::string> bytes = file_contents(source.file, most_message);
  if (!bytes) throw InputError(bytes.error());
  const auto graph_with = [&](const Extents& extents) {
    Result<GraphModel> graph = read_graph(*bytes, fs::path(source.file).parent_path(), extents);
    if (!graph) throw InputError(printable(source.file, 80) + ": " + graph.error());
    return *std::move(graph);
  };
  ModelFile file{sha256(*bytes), graph_with(source.extents), {}};
  if (file.graph.nodes.empty()) throw InputError(printable(source.file, 80) + ": a model of 0 nodes");
  for (std::size_t i = 0; !source.inputs.empty() && i < file.graph.inputs.size(); ++i)
    file.given.push_back(given_input(source.inputs, file.graph, i));
  if (const Extents extents = extents_of(file, source); extents != source.extents) file.graph = graph_with(extents);
  return file;
}

bool fits_memory(const TensorType& type) { return volume(type.shape) <= most_elements; }

Tensor drawn(const TensorType& type, std::uint64_t seed) {
  if (is_float(type.dtype)) return fill({"uniform", std::to_string(seed)}, type);
  // 0 and 1 are indices into almost anything.
  return fill(type.dtype == DType::string ? Recipe{"text", "a"} : Recipe{"hold", "0,1"}, type);
}

ModelValues first_values(const ModelFile& file, const ModelSource& source) {
  const GraphModel& graph = file.graph;
  ModelValues values;
  for (const auto& [name, tensor] : graph.initializers) values[name] = {tensor, true};
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const auto& [name, type] = graph.inputs[i];
    const std::optional<Tensor> given = file.given.empty() ? std::nullopt : file.given[i];
    if (!file.given.empty() && !given)
      throw InputError(printable(source.inputs, 80) + " has no data for the input " + printable(name, 80) +
                       "; it wants " + name + ".npy or input_" + std::to_string(i) + ".pb");
    if (given && given->type() != type)
      throw InputError("the input " + printable(name, 80) + " is " + words_of(type) + ", its data are " +
                       words_of(given->type()));
    if (!fits_memory(type)) throw InputError("the input " + printable(name, 80) + " is too large: " + words_of(type));
    values[name] = {given ? *given : drawn(type, i + 1), false};
  }
  return values;
}

Result<Arrival> arrive(const GraphNode& node, const ModelValues& values) {
  Arrival arrival{node.node, {}};
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    arrival.operands.push_back(nullptr);
    if (node.inputs[i].empty()) continue;
    const auto found = values.find(node.inputs[i]);
    if (found == values.end()) return Error{"what " + printable(node.inputs[i], 60) + " " + std::string(is_not_known)};
    arrival.operands.back() = &found->second;
    arrival.is_constant &= found->second.is_constant;
    arrival.node.value(node.definition->inputs[i], found->second.tensor);
  }
  return arrival;
}

std::string obstacle_of(const Call& call) {
  const std::vector<std::string> violated = call.definition().violated(call);
  if (violated.empty()) {
    const auto is_too_large = [](const auto& type) { return type && !fits_memory(*type); };
    return std::ranges::any_of(call.definition().infer(call), is_too_large) ? "its output is too large" : "";
  }
  const std::string& id = violated.front();
  const Constraint* constraint = call.definition().constraint(id);
  return "breaks " + call.definition().version.name + "." + id + (constraint ? ": " + constraint->text : "");
}

std::vector<const Tensor*> Arrival::tensors(const Definition& definition) const {
  std::vector<const Tensor*> in(definition.inputs.size(), nullptr);
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i]) in[i] = &operands[i]->tensor;
  return in;
}

Values computed(const GraphNode& node, const Call& call, const Arrival& arrival, int threads) {
  const std::vector<const Tensor*> in = arrival.tensors(*node.definition);
  return node.definition->fast ? node.definition->fast(call, in, threads) : node.definition->kernel(call, in);
}

Result<WorkedOut> worked_out(const GraphNode& node, const ModelValues& values, int threads) {
  const Result<Arrival> arrival = node.definition ? arrive(node, values) : Error{node.because};
  if (!arrival) return Error{arrival.error()};
  const Call call(*node.definition, arrival->node);
  if (std::string obstacle = obstacle_of(call); !obstacle.empty()) return Error{std::move(obstacle)};
  return WorkedOut{computed(node, call, *arrival, threads), arrival->is_constant};
}

std::vector<std::string> taken_by(const GraphNode& node) {
  std::vector<std::string> all = node.inputs;
  for (const GraphBody& body : node.bodies) std::ranges::copy(body.outputs, std::back_inserter(all));
  return all;
}

LiveValues::LiveValues(const ModelFile& file, const ModelSource& source)
    : graph_(file.graph), values_(first_values(file, source)), last_used_by_(graph_.nodes.size()) {
  for (std::size_t at = 0; at < graph_.nodes.size(); ++at) {
    for (const std::string& value : taken_by(graph_.nodes[at])) last_use_[value] = at;
    // Its turns take once more what the nodes of a body take.
    for (const GraphBody& body : graph_.nodes[at].bodies)
      for (std::size_t inner = body.first; inner < body.last; ++inner)
        for (const std::string& value : taken_by(graph_.nodes[inner])) last_use_[value] = at;
  }
  for (const auto& [value, at] : last_use_)
    if (!graph_.initializers.contains(value)) last_used_by_[at].push_back(value);
  // The outer one first, where the first node of a body is that of a body within.
  for (std::size_t at = graph_.nodes.size(); at-- > 0;)
    for (const GraphBody& body : graph_.nodes[at].bodies)
      beginning_.emplace(body.first, Beginning{&graph_.nodes[at], &body});
}

void LiveValues::put(const std::string& name, Tensor tensor, bool is_constant) {
  if (last_use_.contains(name)) values_[name] = {std::move(tensor), is_constant};
}

void LiveValues::put_all(const GraphNode& node, Values out, bool is_constant) {
  for (std::size_t i = 0; i < node.outputs.size() && i < out.size(); ++i)
    if (out[i]) put(node.outputs[i], *std::move(out[i]), is_constant);
}

std::vector<LiveValues::Beginning> LiveValues::beginning_at(std::size_t node) const {
  std::vector<Beginning> all;
  for (auto [it, end] = beginning_.equal_range(node); it != end; ++it) all.push_back(it->second);
  return all;
}

void LiveValues::begin_at(std::size_t node) {
  for (const auto& [owner, body] : beginning_at(node))
    for (std::size_t i = 0; i < body->inputs.size(); ++i) {
      const auto operand = values_.find(i < owner->inputs.size() ? owner->inputs[i] : "");
      Result<Tensor> first = goes_in(*owner, i, 0, operand == values_.end() ? nullptr : &operand->second.tensor);
      const auto type = graph_.types.find(body->inputs[i]);
      if (first)
        put(body->inputs[i], *std::move(first), false);
      else if (type != graph_.types.end() && fits_memory(type->second))
        put(body->inputs[i], drawn(type->second, node + i + 1), false);
    }
}

bool LiveValues::put_branch(const GraphNode& node) {
  const auto found = values_.find(node.inputs.empty() ? "" : node.inputs.front());
  if (found == values_.end()) return false;
  const Tensor& condition = found->second.tensor;
  if (condition.dtype() != DType::boolean || condition.elements() != 1) return false;
  const auto taken =
      std::ranges::find(node.bodies, condition.as<Bool>()[0] ? "then_branch" : "else_branch", &GraphBody::attribute);
  for (std::size_t i = 0; taken != node.bodies.end() && i < taken->outputs.size() && i < node.outputs.size(); ++i)
    if (const auto given = values_.find(taken->outputs[i]); given != values_.end())
      put(node.outputs[i], Tensor(given->second.tensor), false);
  return true;
}

bool LiveValues::put_bodies(std::size_t node, int threads) {
  const GraphNode& owner = graph_.nodes[node];
  if (owner.op == "If") return put_branch(owner);  // its branches have been worked out
  BodyRunner::Named named;
  for (const auto& [name, value] : values_) named.emplace(name, value.tensor);
  BodyRunner runner(graph_, [&](std::size_t inner, const BodyRunner::Named& values) -> Result<Values> {
    const GraphNode& it = graph_.nodes[inner];
    ModelValues taken;
    for (const std::string& input : it.inputs)
      if (const auto found = values.find(input); found != values.end()) taken[input] = {found->second, false};
    Result<WorkedOut> out = worked_out(it, taken, threads);
    if (!out) return Error{out.error()};
    return std::move((*out).values);
  });
  Result<Values> given = runner.run(node, named);
  if (!given) return false;
  put_all(owner, *std::move(given), false);
  return true;
}

void LiveValues::end_at(std::size_t node) {
  for (const std::string& value : last_used_by_[node]) values_.erase(value);
}

}  // namespace assay::suites
