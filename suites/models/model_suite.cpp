// SPDX-License-Identifier: Apache-2.0
#include "suites/models/model_suite.h"

#include "reference/bodies.h"
#include "reference/case_view.h"
#include "reference/tensor_store.h"
#include "suites/campaign/errors.h"
#include "suites/campaign/provenance.h"
#include "suites/text/printable.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;

constexpr Int most_written = 4096;  // numbers in a case line

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
      const ModelValue& value = *arrival.operands[i];
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
  static bool is_data(const Definition& definition, std::size_t i, const ModelValue& value) {
    const Parameter& input = definition.inputs[i];
    const Tensor& tensor = value.tensor;
    if (!input.reads_as.empty() || tensor.elements() < 2 || tensor.dtype() == DType::string) return false;
    const bool is_alike = input.type == definition.inputs.front().type;
    if (is_sum_of_products(definition) && is_alike) return true;
    if (!value.is_constant && is_alike && is_quantized(tensor.dtype())) return true;
    return is_float(tensor.dtype()) && (!value.is_constant || is_uniform(tensor));
  }

  // Draws positive numbers where a constant may be something like a variance.
  Recipe fresh(const ModelValue& value, Data data, std::size_t i) const {
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
    // Keeps what arrives in files: it stays while the model goes on.
    const StoredIn where = arrival.operands[i]->is_constant ? StoredIn::memory : StoredIn::file;
    kept[i] = is_list ? assay::stated(tensor) : Recipe{"stored", store(tensor, where)};
  }
  return kept;
}

Int longest_list(const Arrival& arrival, const Definition& definition) {
  Int most = 0;
  for (std::size_t i = 0; i < arrival.operands.size(); ++i)
    if (const ModelValue* value = arrival.operands[i];
        value && (!definition.inputs[i].reads_as.empty() || value->tensor.dtype() == DType::string))
      most = std::max(most, value->tensor.elements());
  for (const auto& [name, attribute] : arrival.node.attributes)
    if (const Tensor* tensor = std::get_if<Tensor>(&attribute)) most = std::max(most, tensor->elements());
  return most;
}

// Goes through a model from its inputs to its outputs, by our own kernels, and shows each node with what arrives at it,
// or why that is not known. Behind a node that is not worked out, data are drawn.
template <class See>
void evaluate(const ModelFile& file, const ModelSource& source, int threads, See&& see) {
  const GraphModel& graph = file.graph;
  LiveValues values(file, source);
  for (std::size_t at = 0; at < graph.nodes.size(); ++at) {
    const GraphNode& node = graph.nodes[at];
    values.begin_at(at);
    Result<Arrival> arrival = node.definition ? arrive(node, values.all()) : Error{node.because};
    std::optional<Call> call;
    std::string because = arrival ? obstacle_of(call.emplace(*node.definition, arrival->node)) : arrival.error();
    see(node, because.empty() ? &*arrival : nullptr, because);
    Values out(node.outputs.size());
    if (!node.bodies.empty() && values.put_bodies(at, threads))
      out.clear();
    else if (because.empty())
      out = computed(node, *call, *arrival, threads);
    else
      for (std::size_t i = 0; i < out.size(); ++i)
        if (const auto type = graph.types.find(node.outputs[i]); type != graph.types.end() && fits_memory(type->second))
          out[i] = drawn(type->second, at + 1);
    values.put_all(node, std::move(out), because.empty() && arrival->is_constant);
    values.end_at(at);
  }
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
    const std::size_t bytes = moved_bytes(c);
    out_.suite.cases.push_back({std::move(c), std::move(text), origin, std::nullopt, {}, bytes});
  }

  std::string title_;
  const Selection& selection_;
  CaseDrawer drawer_;
  std::set<std::string> known_;
  ModelSuite out_;
};

// Holds the constants of a model: what they are, or that they are some where nothing looks their many numbers up.
struct Constants {
  std::map<std::string, Tensor> known;
  std::set<std::string, std::less<>> large;
};

// Works out a node whose inputs are all known, if that is little work.
void fold(const GraphNode& node, const GraphModel& graph, Constants& constants) {
  if (!node.definition) return;
  ModelValues values;
  Int elements = 0;
  bool is_constant = true;
  for (const std::string& input : node.inputs) {
    const auto known = constants.known.find(input);
    if (known != constants.known.end()) elements += (values[input] = {known->second, true}).tensor.elements();
    is_constant &= input.empty() || known != constants.known.end();
  }
  if (elements > most_written) return;
  for (const std::string& output : node.outputs) {
    const auto type = graph.types.find(output);
    if (!is_constant || type == graph.types.end() || volume(type->second.shape) <= most_written) continue;
    constants.large.insert(node.outputs.begin(), node.outputs.end());
    return;
  }
  if (Result<WorkedOut> out = worked_out(node, values, 1)) put(node, std::move((*out).values), constants.known);
}

// Makes a case of a node by the types of what it takes, or says why there is none.
std::optional<Case> typed(const GraphNode& node, const GraphModel& graph, const Constants& constants,
                          std::string& because) {
  Case c;
  c.version = node.definition->version;
  c.opset = node.opset;
  c.node = node.node;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Parameter& input = node.definition->inputs[i];
    if (node.inputs[i].empty()) continue;
    const auto constant = constants.known.find(node.inputs[i]);
    const auto type = graph.types.find(node.inputs[i]);
    const bool is_known = constant != constants.known.end();
    if (!is_known && (type == graph.types.end() || !input.reads_as.empty())) {
      because = "what " + printable(node.inputs[i], 60) + " is, is known only when the model runs";
      return std::nullopt;
    }
    if (is_known)
      c.node.value(input, constant->second);
    else
      c.node.input(input.name, type->second);
    c.sources[input.name] = {{"normal", "1"}, is_known || constants.large.contains(node.inputs[i])};
  }
  return c;
}

}  // namespace

ModelNode described(const GraphNode& node, std::string because) {
  constexpr std::size_t most = 200;
  return {printable(node.name, most),
          node.definition ? text(node.definition->version) : printable(node.op, most),
          {},
          std::move(because)};
}

std::optional<Case> case_of(const GraphNode& node, const Arrival& arrival) {
  if (longest_list(arrival, *node.definition) > most_written) return std::nullopt;
  return CaseDrawer(0).draw(node, arrival, kept_data(arrival, *node.definition), Data::arriving);
}

ModelSuite suite_of(const ModelSource& source, const Selection& selection, std::uint64_t seed, int threads) {
  const ModelFile file = read_model(source);
  Planner planner(fs::path(source.file).filename().string(), selection, seed);
  WindowCutter cutter(file.graph);
  evaluate(file, source, threads, [&](const GraphNode& node, const Arrival* arrival, const std::string& because) {
    planner.add(node, arrival, because);
    if (!arrival || !selection.admits(*node.definition, DType::f32)) return;
    std::vector<WindowOperand> operands;
    for (const ModelValue* const each : arrival->operands)
      operands.push_back(each ? WindowOperand{&each->tensor, each->is_constant} : WindowOperand{});
    cutter.add(static_cast<std::size_t>(&node - file.graph.nodes.data()), node, arrival->node, operands);
  });
  ModelSuite all = std::move(planner).done(file.hash);
  all.windows = cutter.windows();
  return all;
}

void store_data(const ModelSource& source, int threads) {
  const ModelFile file = read_model(source);
  evaluate(file, source, threads, [](const GraphNode&, const Arrival* arrival, const std::string&) {
    for (std::size_t i = 0; arrival && i < arrival->operands.size(); ++i)
      if (const ModelValue* value = arrival->operands[i]; value && value->tensor.dtype() != DType::string)
        store(value->tensor, value->is_constant ? StoredIn::memory : StoredIn::file);
  });
}

std::vector<TypedNode> typed_nodes(const ModelSource& source) {
  const GraphModel graph = read_model(source).graph;
  Constants constants{graph.initializers, {}};
  std::vector<TypedNode> all;
  for (const GraphNode& node : graph.nodes) {
    fold(node, graph, constants);
    if (node.inputs.empty()) continue;
    TypedNode& added = all.emplace_back(TypedNode{described(node, node.because), std::nullopt});
    if (node.definition) added.c = typed(node, graph, constants, added.node.because);
  }
  return all;
}

}  // namespace assay::suites
