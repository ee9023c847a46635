// SPDX-License-Identifier: Apache-2.0
#include "suites/models/model_suite.h"

#include "reference/case_view.h"
#include "reference/tensor_store.h"
#include "suites/campaign/errors.h"
#include "suites/campaign/provenance.h"
#include "suites/text/printable.h"
#include "suites/workers/vector_folder.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;

constexpr Int most_written = 4096;           // numbers in a case line
constexpr Int most_elements = Int{1} << 30;  // of one tensor

struct File {
  std::string hash;
  GraphModel graph;
};

File read(const ModelSource& source) {
  const Result<std::string> bytes = file_contents(source.file, most_message);
  if (!bytes) throw InputError(bytes.error());
  Result<GraphModel> graph = read_graph(*bytes, fs::path(source.file).parent_path(), source.extents);
  if (!graph) throw InputError(printable(source.file, 80) + ": " + graph.error());
  if (graph->nodes.empty()) throw InputError(printable(source.file, 80) + ": a model of 0 nodes");
  return {sha256(*bytes), *std::move(graph)};
}

// -- what goes in

bool fits_memory(const TensorType& type) { return volume(type.shape) <= most_elements; }

std::string words_of(const TensorType& type) { return std::string(assay::name(type.dtype)) + assay::text(type.shape); }

// Fills an input that nobody gave; 0 and 1 are indices into almost anything.
Tensor drawn(const TensorType& type, std::uint64_t seed) {
  if (is_float(type.dtype)) return fill({"uniform", std::to_string(seed)}, type);
  return fill(type.dtype == DType::string ? Recipe{"text", "a"} : Recipe{"hold", "0,1"}, type);
}

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

// -- what comes of it

struct Value {
  Tensor tensor;
  bool is_constant = false;  // the same whatever goes in
};
using ModelValues = std::map<std::string, Value>;

ModelValues first_values(const GraphModel& graph, const ModelSource& source) {
  ModelValues values;
  for (const auto& [name, tensor] : graph.initializers) values[name] = {tensor, true};
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const auto& [name, type] = graph.inputs[i];
    std::optional<Tensor> given;
    if (!source.inputs.empty()) given = given_input(source.inputs, name, i);
    if (!source.inputs.empty() && !given)
      throw InputError(printable(source.inputs, 80) + " has no data for the input " + printable(name, 80) +
                       "; it wants " + name + ".npy or input_" + std::to_string(i) + ".pb");
    if (given && given->type() != type)
      throw InputError("the input " + printable(name, 80) + " is " + words_of(type) + ", its data are " +
                       words_of(given->type()) + (given->dtype() == type.dtype ? "; --dim names an extent" : ""));
    if (!fits_memory(type)) throw InputError("the input " + printable(name, 80) + " is too large: " + words_of(type));
    values[name] = {given ? *given : drawn(type, i + 1), false};
  }
  return values;
}

// Holds a node with what arrives at it.
struct Arrival {
  Node node;
  std::vector<const Value*> operands;  // in schema order, null where left out
  bool is_constant = true;
};

// Says in `because` what is missing, and returns none then.
std::optional<Arrival> arrive(const GraphNode& node, const ModelValues& values, std::string& because) {
  Arrival arrival{node.node, {}};
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    arrival.operands.push_back(nullptr);
    if (node.inputs[i].empty()) continue;
    const auto found = values.find(node.inputs[i]);
    if (found == values.end()) {
      because = "what " + printable(node.inputs[i], 60) + " is, is not known";
      return std::nullopt;
    }
    arrival.operands.back() = &found->second;
    arrival.is_constant &= found->second.is_constant;
    arrival.node.value(node.definition->inputs[i], found->second.tensor);
  }
  return arrival;
}

// Says why a node cannot be worked out; nothing where it can.
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

// -- cases

enum class Data { exact, wide, arriving };
constexpr std::string_view name_of(Data data) {
  return data == Data::exact ? "small integers" : data == Data::wide ? "full significands" : "what arrives";
}

bool is_sum_of_products(const Definition& definition) {
  return definition.shaping == Shaping::window || definition.shaping == Shaping::transposed ||
         definition.shaping == Shaping::product;
}

bool is_quantized(DType type) { return type == DType::u8 || type == DType::i8; }

// Tells whether all elements are the same, as in models that ship without their weights.
bool is_uniform(const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  const std::size_t size = size_of(tensor.dtype());
  return bytes.size() > size && std::ranges::equal(bytes.first(bytes.size() - size), bytes.subspan(size));
}

// Draws cases of the nodes of one model.
class CaseDrawer {
 public:
  CaseDrawer(std::uint64_t seed) : seed_(seed) {}

  // Returns none where nothing of the node is to be drawn. `kept`: the model's own data, by operand.
  std::optional<Case> draw(const GraphNode& node, const Arrival& arrival, const std::vector<Recipe>& kept,
                           Data data) const {
    Case c;
    c.version = node.definition->version;
    c.opset = node.opset;
    c.ir_version = c.opset < 21 ? 8 : 10;
    c.node = arrival.node;
    bool is_drawn = data == Data::arriving;
    for (std::size_t i = 0; i < arrival.operands.size(); ++i) {
      if (!arrival.operands[i]) continue;
      const Parameter& input = node.definition->inputs[i];
      const Value& value = *arrival.operands[i];
      const bool is_free = data != Data::arriving && is_data(*node.definition, i, value);
      is_drawn |= is_free;
      // Of a node that constants alone reach, what is data stays an input: else nothing would be run.
      const bool is_initializer = value.is_constant && (!arrival.is_constant || !input.reads_as.empty());
      c.sources[input.name] = {is_free ? fresh(value, data, i) : kept[i], is_initializer};
    }
    if (!is_drawn) return std::nullopt;
    // Reads its line back, which says all there is.
    Result<Case> read = parse_case(line(c));
    return read ? std::optional(*std::move(read)) : std::nullopt;
  }

 private:
  // Tells whether the model means just anything by an operand: what arrives, if it is a tensor of floats or of
  // quantized numbers; where products are summed, whatever has the type of the data.
  static bool is_data(const Definition& definition, std::size_t i, const Value& value) {
    const Parameter& input = definition.inputs[i];
    const Tensor& tensor = value.tensor;
    if (!input.reads_as.empty() || tensor.elements() < 2 || tensor.dtype() == DType::string) return false;
    const bool is_alike = input.type == definition.inputs.front().type;
    if (is_sum_of_products(definition) && is_alike) return true;
    if (!value.is_constant && is_alike && is_quantized(tensor.dtype())) return true;
    return is_float(tensor.dtype()) && (!value.is_constant || is_uniform(tensor));
  }

  // Draws positive numbers where a constant may be something like a variance.
  Recipe fresh(const Value& value, Data data, std::size_t i) const {
    const std::string seed = std::to_string(seed_ + i);
    const DType type = value.tensor.dtype();
    if (!is_float(type)) return {"full", seed};
    if (value.is_constant && value.tensor.shape().size() < 2) return {"uniform", seed};
    if (data == Data::wide) return {"normal", seed};
    return {type == DType::f32 || type == DType::f64 ? "small" : "sign", seed};
  }

  std::uint64_t seed_;
};

// Says what arrives as recipes, by operand: a list in words, anything else by its hash.
std::vector<Recipe> kept_data(const Arrival& arrival, const Definition& definition) {
  std::vector<Recipe> kept(arrival.operands.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!arrival.operands[i]) continue;
    const Tensor& tensor = arrival.operands[i]->tensor;
    const bool is_list = !definition.inputs[i].reads_as.empty() || tensor.dtype() == DType::string;
    kept[i] = is_list ? assay::stated(tensor) : Recipe{"stored", store(tensor)};
  }
  return kept;
}

Int longest_list(const Arrival& arrival, const Definition& definition) {
  Int most = 0;
  for (std::size_t i = 0; i < arrival.operands.size(); ++i)
    if (const Value* value = arrival.operands[i];
        value && (!definition.inputs[i].reads_as.empty() || value->tensor.dtype() == DType::string))
      most = std::max(most, value->tensor.elements());
  for (const auto& [name, attribute] : arrival.node.attributes)
    if (const Tensor* tensor = std::get_if<Tensor>(&attribute)) most = std::max(most, tensor->elements());
  return most;
}

Values computed(const GraphNode& node, const Call& call, const Arrival& arrival, int threads) {
  std::vector<const Tensor*> in(node.definition->inputs.size(), nullptr);
  for (std::size_t i = 0; i < arrival.operands.size(); ++i)
    if (arrival.operands[i]) in[i] = &arrival.operands[i]->tensor;
  return node.definition->fast ? node.definition->fast(call, in, threads) : node.definition->kernel(call, in);
}

// Goes through a model from its inputs to its outputs. Behind a node that is not worked out, data are drawn.
class Evaluation {
 public:
  Evaluation(const GraphModel& graph, const ModelSource& source, int threads)
      : graph_(graph), threads_(threads), values_(first_values(graph, source)) {
    for (std::size_t at = 0; at < graph.nodes.size(); ++at)
      for (const std::string& input : graph.nodes[at].inputs) last_use_[input] = at;
  }

  // Shows each node with what arrives at it, or why that is not known.
  template <class See>
  void run(See&& see) {
    for (std::size_t at = 0; at < graph_.nodes.size(); ++at) {
      const GraphNode& node = graph_.nodes[at];
      std::string because = node.because;
      std::optional<Arrival> arrival;
      std::optional<Call> call;
      if (node.definition) arrival = arrive(node, values_, because);
      if (arrival) because = obstacle_of(call.emplace(*node.definition, arrival->node));
      see(node, because.empty() ? &*arrival : nullptr, because);
      because.empty() ? work_out(node, *call, *arrival) : draw_outputs(node, at + 1);
      forget_inputs(node, at);
    }
  }

 private:
  void work_out(const GraphNode& node, const Call& call, const Arrival& arrival) {
    Values out = computed(node, call, arrival, threads_);
    for (std::size_t i = 0; i < node.outputs.size() && i < out.size(); ++i)
      if (out[i] && !node.outputs[i].empty()) values_[node.outputs[i]] = {*std::move(out[i]), arrival.is_constant};
  }

  void draw_outputs(const GraphNode& node, std::uint64_t seed) {
    for (const std::string& output : node.outputs)
      if (const auto type = graph_.types.find(output); type != graph_.types.end() && fits_memory(type->second))
        values_[output] = {drawn(type->second, seed), false};
  }

  void forget_inputs(const GraphNode& node, std::size_t at) {
    for (const std::string& input : node.inputs)
      if (last_use_.at(input) == at && !graph_.initializers.contains(input)) values_.erase(input);
  }

  const GraphModel& graph_;
  int threads_;
  ModelValues values_;
  std::map<std::string, std::size_t> last_use_;
};

ModelNode described(const GraphNode& node, std::string because) {
  constexpr std::size_t most = 200;
  return {printable(node.name, most),
          node.definition ? text(node.definition->version) : printable(node.op, most),
          {},
          std::move(because)};
}

// Collects the cases of a model, node by node.
class Planner {
 public:
  Planner(std::string title, const Selection& selection, std::uint64_t seed)
      : title_(std::move(title)), selection_(selection), drawer_(seed) {}

  // Leaves out a node that takes nothing in, which has nothing to get wrong.
  void add(const GraphNode& node, const Arrival* arrival, const std::string& because) {
    if (node.inputs.empty()) return;
    ModelNode planned = described(node, because);
    if (arrival) add_cases(node, *arrival, planned);
    out_.nodes.push_back(std::move(planned));
  }

  ModelSuite done(std::string hash) && {
    out_.hash = std::move(hash);
    out_.suite.version = suite_version;
    out_.suite.complete = false;
    out_.suite.hash = suite_hash(out_.suite.cases);
    return std::move(out_);
  }

 private:
  void add_cases(const GraphNode& node, const Arrival& arrival, ModelNode& planned) {
    if (longest_list(arrival, *node.definition) > most_written) {
      planned.because = "too many numbers decide what it does";
      return;
    }
    const std::vector<Recipe> kept = kept_data(arrival, *node.definition);
    for (const Data data : {Data::exact, Data::wide, Data::arriving})
      if (std::optional<Case> c = drawer_.draw(node, arrival, kept, data); c && c->is_legal())
        add_case(*std::move(c), node, data, planned);
    if (planned.lines.empty() && planned.because.empty()) planned.because = "no case line can say it";
  }

  void add_case(Case c, const GraphNode& node, Data data, ModelNode& planned) {
    if (!selection_.admits(c.definition(), first_type(c))) {
      planned.because = "left out by --ops or --types";
      return;
    }
    std::string text = line(c);
    if (std::ranges::find(planned.lines, text) == planned.lines.end()) planned.lines.push_back(text);
    if (!known_.insert(text).second) return;
    const std::string origin = title_ + ": " + printable(node.name, 80) + ", " + std::string(name_of(data));
    out_.suite.cases.push_back({std::move(c), std::move(text), origin, std::nullopt});
  }

  std::string title_;
  const Selection& selection_;
  CaseDrawer drawer_;
  std::set<std::string> known_;
  ModelSuite out_;
};

// Works out a node whose inputs are all known, if that is little work.
void fold(const GraphNode& node, std::map<std::string, Tensor>& constants) {
  if (!node.definition) return;
  ModelValues values;
  Int elements = 0;
  for (const std::string& input : node.inputs)
    if (const auto known = constants.find(input); known != constants.end())
      elements += (values[input] = {known->second, true}).tensor.elements();
  std::string because;
  const std::optional<Arrival> arrival = arrive(node, values, because);
  if (!arrival || elements > most_written) return;
  const Call call(*node.definition, arrival->node);
  if (!obstacle_of(call).empty()) return;
  Values out = computed(node, call, *arrival, 1);
  for (std::size_t i = 0; i < node.outputs.size() && i < out.size(); ++i)
    if (out[i] && !node.outputs[i].empty()) constants[node.outputs[i]] = *std::move(out[i]);
}

// Makes a case of a node by the types of what it takes, or says why there is none.
std::optional<Case> typed(const GraphNode& node, const GraphModel& graph,
                          const std::map<std::string, Tensor>& constants, std::string& because) {
  Case c;
  c.version = node.definition->version;
  c.opset = node.opset;
  c.node = node.node;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Parameter& input = node.definition->inputs[i];
    if (node.inputs[i].empty()) continue;
    const auto constant = constants.find(node.inputs[i]);
    const auto type = graph.types.find(node.inputs[i]);
    const bool is_constant = constant != constants.end();
    if (!is_constant && (type == graph.types.end() || !input.reads_as.empty())) {
      because = "what " + printable(node.inputs[i], 60) + " is, is known only when the model runs";
      return std::nullopt;
    }
    if (is_constant)
      c.node.value(input, constant->second);
    else
      c.node.input(input.name, type->second);
    c.sources[input.name] = {{"normal", "1"}, is_constant};
  }
  return c;
}

}  // namespace

std::string ModelSource::words() const {
  if (file.empty()) return "";
  std::string all = "--model " + shell_word(file);
  if (!inputs.empty()) all += " --inputs " + shell_word(inputs);
  for (const auto& [name, extent] : extents) all += " --dim " + shell_word(name + "=" + std::to_string(extent));
  return all;
}

ModelSuite suite_of(const ModelSource& source, const Selection& selection, std::uint64_t seed, int threads) {
  File file = read(source);
  Planner planner(fs::path(source.file).filename().string(), selection, seed);
  WindowCutter cutter(file.graph);
  Evaluation(file.graph, source, threads)
      .run([&](const GraphNode& node, const Arrival* arrival, const std::string& because) {
        planner.add(node, arrival, because);
        if (!arrival || !selection.admits(*node.definition, DType::f32)) return;
        std::vector<WindowOperand> operands;
        for (const Value* const each : arrival->operands)
          operands.push_back(each ? WindowOperand{&each->tensor, each->is_constant} : WindowOperand{});
        cutter.add(static_cast<std::size_t>(&node - file.graph.nodes.data()), node, arrival->node, operands);
      });
  ModelSuite all = std::move(planner).done(std::move(file.hash));
  all.windows = cutter.windows();
  return all;
}

void store_data(const ModelSource& source, int threads) {
  const File file = read(source);
  Evaluation(file.graph, source, threads).run([](const GraphNode&, const Arrival* arrival, const std::string&) {
    for (std::size_t i = 0; arrival && i < arrival->operands.size(); ++i)
      if (const Value* value = arrival->operands[i]; value && value->tensor.dtype() != DType::string)
        store(value->tensor);
  });
}

std::vector<TypedNode> typed_nodes(const ModelSource& source) {
  const GraphModel graph = read(source).graph;
  std::map<std::string, Tensor> constants = graph.initializers;
  std::vector<TypedNode> all;
  for (const GraphNode& node : graph.nodes) {
    fold(node, constants);
    if (node.inputs.empty()) continue;
    TypedNode& added = all.emplace_back(TypedNode{described(node, node.because), std::nullopt});
    if (node.definition) added.c = typed(node, graph, constants, added.node.because);
  }
  return all;
}

}  // namespace assay::suites
