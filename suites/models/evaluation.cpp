// SPDX-License-Identifier: Apache-2.0
#include "suites/models/evaluation.h"

#include "suites/campaign/provenance.h"
#include "suites/text/printable.h"
#include "suites/workers/vector_folder.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;

constexpr Int most_elements = Int{1} << 30;  // of one tensor

std::string words_of(const TensorType& type) { return std::string(assay::name(type.dtype)) + assay::text(type.shape); }

// Finds the i-th input in a folder, under its name or its number.
std::optional<Tensor> given_input(const fs::path& folder, const std::string& name, std::size_t i) {
  std::string plain = name;
  std::ranges::replace(plain, '/', '_');
  for (const std::string& stem : {plain, "input_" + std::to_string(i)})
    for (const char* const extension : {".npy", ".pb"}) {
      std::error_code ignored;
      const fs::path file = folder / (stem + extension);
      if (!fs::exists(file, ignored)) continue;
      Result<Tensor> tensor = tensor_in(file);
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
    file.given.push_back(given_input(source.inputs, file.graph.inputs[i].first, i));
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
  for (const auto& [name, tensor] : graph.first_turn) values[name] = {tensor, false};
  for (const auto& [name, type] : graph.slices)
    if (fits_memory(type)) values[name] = {drawn(type, values.size()), false};
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

std::array<const std::vector<std::string>*, 3> taken_by(const GraphNode& node) {
  return {&node.inputs, &node.branches[0], &node.branches[1]};
}

bool LiveValues::put_branch(const GraphNode& node) {
  if (node.op != "If" || node.inputs.empty()) return false;
  const auto found = values_.find(node.inputs.front());
  if (found == values_.end()) return false;
  const Tensor& condition = found->second.tensor;
  if (condition.dtype() != DType::boolean || condition.elements() != 1) return false;
  const std::vector<std::string>& branch = node.branches[condition.as<Bool>()[0] ? 1 : 0];
  for (std::size_t i = 0; i < branch.size() && i < node.outputs.size(); ++i)
    if (const auto given = values_.find(branch[i]); given != values_.end())
      put(node.outputs[i], Tensor(given->second.tensor), false);
  return true;
}

LiveValues::LiveValues(const ModelFile& file, const ModelSource& source)
    : graph_(file.graph), values_(first_values(file, source)) {
  for (std::size_t at = 0; at < graph_.nodes.size(); ++at)
    for (const auto* const taken : taken_by(graph_.nodes[at]))
      for (const std::string& value : *taken) last_use_[value] = at;
}

void LiveValues::put(const std::string& name, Tensor tensor, bool is_constant) {
  if (last_use_.contains(name)) values_[name] = {std::move(tensor), is_constant};
}

void LiveValues::put_all(const GraphNode& node, Values out, bool is_constant) {
  for (std::size_t i = 0; i < node.outputs.size() && i < out.size(); ++i)
    if (out[i]) put(node.outputs[i], *std::move(out[i]), is_constant);
}

void LiveValues::end_at(std::size_t node) {
  for (const auto* const taken : taken_by(graph_.nodes[node]))
    for (const std::string& value : *taken)
      if (last_use_.at(value) == node && !graph_.initializers.contains(value)) values_.erase(value);
}

}  // namespace assay::suites
