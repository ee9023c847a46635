// SPDX-License-Identifier: Apache-2.0
#include "reference/graph_case.h"

#include "reference/case_view.h"
#include "reference/line_words.h"
#include "reference/sequence.h"

#include <algorithm>
#include <set>

namespace assay {

// Integers that are known before a graph is evaluated: those that go in, extents, and what is worked out from them.
// Shapes, axes and indices are read from them.
class KnownIntegers {
 public:
  void take(const GraphLeaf& leaf) {
    if (is_known(leaf.type)) data_[leaf.name] = fill(leaf.source.recipe, leaf.type);
  }
  void take(const GraphStep& step, const Types& given) {
    if (!std::ranges::all_of(given, [](const auto& type) { return !type || is_known(*type); })) return;
    Operands operands(step.c.definition().inputs.size());
    const bool reads_extents = reads_extents_alone(step.c.definition());
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      if (step.operands[i].empty()) continue;
      const auto found = data_.find(step.operands[i]);
      if (found == data_.end() && !reads_extents) return;
      operands[i] =
          found != data_.end() ? found->second : Tensor(step.c.node.inputs.at(step.c.definition().inputs[i].name).type);
    }
    run_step(step, operands, 1, data_);
  }
  // How a node is told what it reads; none where it is not known.
  std::optional<Source> source(const std::string& name) const {
    const auto found = data_.find(name);
    return found == data_.end() ? std::nullopt : std::optional(Source{stated(found->second), false});
  }

 private:
  // Tells whether an operator copies integers from its operand's type, as Shape and Size do, and never looks at its
  // data.
  static bool reads_extents_alone(const Definition& definition) {
    const auto variable = std::ranges::find(definition.types, definition.outputs.front().type, &TypeVariable::name);
    return definition.shaping == Shaping::moved && definition.inputs.size() == 1 &&
           definition.inputs.front().reads_as.empty() &&
           definition.inputs.front().type != definition.outputs.front().type && variable != definition.types.end() &&
           variable->types == std::vector{DType::i64};
  }
  static bool is_known(const TensorType& type) {
    return (type.dtype == DType::i64 || type.dtype == DType::i32) && volume(type.shape) <= 4096;
  }
  GraphData data_;
};

namespace {

constexpr std::string_view first_word = "graph ";
constexpr std::size_t most_steps = 64, most_leaves = 256;

// -- writing

std::string presentation(const GraphCase& graph) {
  const std::string shapes = graph.declared == DeclaredShapes::fixed      ? ""
                             : graph.declared == DeclaredShapes::symbolic ? " shapes=symbolic"
                                                                          : " shapes=absent";
  return shapes + (graph.inside == Wrapper::none ? "" : " inside=" + std::string(name(graph.inside)));
}

std::string list_of_names(const std::vector<std::string>& names) {
  return joined(names, ",", [](const std::string& name) { return name.empty() ? std::string("\"\"") : name; });
}

std::string step_text(const GraphStep& step) {
  std::string attributes;
  for (const AttributeSpec* attribute : find_operator("", step.c.version.name)->attributes_ever())
    if (const auto found = step.c.node.attributes.find(attribute->name); found != step.c.node.attributes.end())
      attributes += (attributes.empty() ? "" : ";") + attribute->name + "=" + attribute_text(found->second);
  return list_of_names(step.results) + "=" + step.c.version.name + "(" + list_of_names(step.operands) + ")" +
         (attributes.empty() ? "" : "{" + attributes + "}");
}

// -- steps

// The types of what a step gives, by schema order.
Result<Types> types_given(const GraphStep& step) {
  const Definition& definition = step.c.definition();
  const Call call = step.c.call();
  if (const auto violated = definition.violated(call); !violated.empty())
    return Error{"a step breaks " + definition.version.name + "." + violated.front()};
  return definition.infer(call);
}

// -- reading

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= text.size(); start += parts.back().size() + 1)
    parts.emplace_back(text.substr(start, std::min(text.find(at, start), text.size()) - start));
  return parts;
}

std::vector<std::string> names_in(std::string_view text) {
  if (text.empty()) return {};
  std::vector<std::string> names = split(text, ',');
  std::ranges::replace(names, std::string("\"\""), std::string());
  return names;
}

class Reader {
 public:
  Result<GraphCase> read(std::string_view text) {
    for (const std::string& token : split(text.substr(first_word.size()), ' '))
      if (auto error = read_token(token)) return Error{"graph line: " + error->text};
    if (out_.steps.empty() || out_.outputs.empty()) return Error{"graph line: it has no step or no out="};
    for (GraphLeaf& leaf : out_.leaves)
      if (leaf.source.recipe.family.empty()) return Error{"graph line: no step takes " + leaf.name};
    for (const std::string& output : out_.outputs)
      if (!types_.contains(output) || leaves_.contains(output))
        return Error{"graph line: out=" + output + " is no result of a step"};
    if (line(out_) != text) return Error{"graph line: it is not written as it would be: " + line(out_)};
    return std::move(out_);
  }

 private:
  // IR version 4 lets initializers stand alone, 8 lets models have functions.
  std::optional<Error> read_wrapper(const std::string& value) {
    for (const Wrapper each : {Wrapper::branch, Wrapper::loop, Wrapper::function}) {
      if (value != assay::name(each)) continue;
      const int least = each == Wrapper::function ? 8 : 4;
      if (out_.ir_version < least) return Error{"inside=" + value + " takes ir=" + std::to_string(least) + " or more"};
      out_.inside = each;
      return std::nullopt;
    }
    return Error{"inside=if, inside=loop and inside=function are known"};
  }

  std::optional<Error> read_token(const std::string& token) {
    const std::size_t equals = token.find('=');
    if (equals == token.npos) return Error{"'" + token.substr(0, 80) + "' is not NAME=VALUE"};
    const std::string name = token.substr(0, equals), value = token.substr(equals + 1);
    if (name == "opset" || name == "ir") {
      const auto number = whole<int>(value);
      if (!number || *number < 1 || *number > 1000) return Error{name + " is a number from 1 to 1000"};
      (name == "ir" ? out_.ir_version : out_.opset) = *number;
      return std::nullopt;
    }
    if (name == "out") return out_.outputs = names_in(value), std::nullopt;
    if (name == "shapes") {
      if (value != "symbolic" && value != "absent") return Error{"shapes=symbolic and shapes=absent are known"};
      out_.declared = value == "symbolic" ? DeclaredShapes::symbolic : DeclaredShapes::absent;
      return std::nullopt;
    }
    if (name == "inside") return read_wrapper(value);
    const std::size_t bracket = value.find('['), parenthesis = value.find('(');
    if (parenthesis < bracket || bracket == value.npos) return read_step(name, value);
    if (name.empty() || types_.contains(name) || !std::ranges::all_of(name, is_plain))
      return Error{"'" + name.substr(0, 80) + "' names nothing, or what is there"};
    if (out_.leaves.size() == most_leaves) return Error{"more than 256 values go in"};
    leaves_[name] = value;
    types_[name] = {};
    out_.leaves.push_back({name, {}, {}});
    return std::nullopt;
  }

  // The word of an input in the line of a single node; of what a step gave, with data that are taken away again.
  std::string operand_text(const std::string& name) const {
    if (name.empty()) return "\"\"";
    if (const auto leaf = leaves_.find(name); leaf != leaves_.end()) return leaf->second;
    const TensorType& type = types_.at(name);
    if (const std::optional<Source> known = known_.source(name)) return source_text(type, *known);
    return source_text(type, {{is_float(type.dtype)          ? "small"
                               : type.dtype == DType::string ? "text"
                                                             : "const",
                               type.dtype == DType::string ? "a" : "1"},
                              false});
  }

  // "Conv(a,b){group=2}"
  std::optional<Error> read_step(const std::string& results, const std::string& text) {
    const std::size_t open = text.find('('), close = text.find(')');
    if (open == text.npos || close == text.npos || close < open)
      return Error{"'" + text.substr(0, 80) + "' is not OPERATOR(values){attributes}"};
    if (out_.steps.size() == most_steps) return Error{"more than 64 steps"};
    const Operator* const op = find_operator("", text.substr(0, open));
    const Definition* const definition = op ? op->at(out_.opset) : nullptr;
    if (!definition)
      return Error{"there is no operator " + text.substr(0, std::min<std::size_t>(open, 80)) + " in opset " +
                   std::to_string(out_.opset)};
    GraphStep step{{}, names_in(text.substr(open + 1, close - open - 1)), names_in(results)};
    if (step.operands.size() > definition->inputs.size() || step.results.size() > definition->outputs.size() ||
        step.results.empty())
      return Error{definition->version.name + " takes or gives fewer values"};
    std::string node = assay::text(definition->version) + " opset=" + std::to_string(out_.opset) +
                       " ir=" + std::to_string(out_.ir_version);
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      if (!step.operands[i].empty() && !types_.contains(step.operands[i]))
        return Error{"'" + step.operands[i].substr(0, 80) + "' is not there before it is taken"};
      const bool is_open =
          !step.operands[i].empty() && !leaves_.contains(step.operands[i]) && !known_.source(step.operands[i]);
      if (is_open && !definition->inputs[i].reads_as.empty())
        return Error{definition->inputs[i].name + " of " + definition->version.name +
                     " has to be worked out from what goes in"};
      node += " " + definition->inputs[i].name + "=" + operand_text(step.operands[i]);
    }
    if (const std::string_view rest = std::string_view(text).substr(close + 1); !rest.empty()) {
      if (rest.size() < 3 || rest.front() != '{' || rest.back() != '}') return Error{"attributes stand in {}"};
      for (const std::string& each : split(rest.substr(1, rest.size() - 2), ';')) node += " " + each;
    }
    std::string optional;
    for (std::size_t i = 0; i < step.results.size(); ++i)
      if (!step.results[i].empty() && definition->outputs[i].arity != Arity::required)
        optional += (optional.empty() ? "" : ",") + definition->outputs[i].name;
    if (!optional.empty()) node += " outputs=" + optional;
    Result<Case> c = parse_case(node);
    if (!c) return Error{c.error()};
    step.c = *std::move(c);
    return take(std::move(step));
  }

  // Keeps a step that is legal, what it says of leaves, and the types of what it gives.
  std::optional<Error> take(GraphStep step) {
    const Definition& definition = step.c.definition();
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      const std::string &name = step.operands[i], &input = definition.inputs[i].name;
      if (name.empty()) continue;
      if (!leaves_.contains(name)) {
        step.c.sources.erase(input);
        if (definition.inputs[i].reads_as.empty()) continue;
        step.c.sources[input] = *known_.source(name);
        continue;
      }
      GraphLeaf& leaf = *std::ranges::find(out_.leaves, name, &GraphLeaf::name);
      leaf.type = types_[name] = step.c.node.inputs.at(input).type;
      leaf.source = step.c.sources.at(input);
      known_.take(leaf);
    }
    const Result<Types> types = types_given(step);
    if (!types) return Error{types.error()};
    for (std::size_t i = 0; i < step.results.size(); ++i) {
      const std::string& name = step.results[i];
      if (name.empty()) continue;
      if (types_.contains(name) || !std::ranges::all_of(name, is_plain) || !types->at(i))
        return Error{"'" + name.substr(0, 80) + "' names what is there, or nothing"};
      types_[name] = *types->at(i);
    }
    known_.take(step, *types);
    out_.steps.push_back(std::move(step));
    return std::nullopt;
  }

  KnownIntegers known_;
  GraphCase out_;
  std::map<std::string, std::string, std::less<>> leaves_;  // as they are written
  std::map<std::string, TensorType, std::less<>> types_;
};

}  // namespace

std::string value_name(std::size_t i) {
  const std::string last(1, static_cast<char>('a' + i % 26));
  return i < 26 ? last : value_name(i / 26 - 1) + last;
}

GraphCase tidied(const GraphCase& graph) {
  GraphCase out = graph;
  std::set<std::string> needed(graph.outputs.begin(), graph.outputs.end());
  out.steps.clear();
  for (auto step = graph.steps.rbegin(); step != graph.steps.rend(); ++step) {
    if (std::ranges::none_of(step->results, [&](const std::string& each) { return needed.contains(each); })) continue;
    needed.insert(step->operands.begin(), step->operands.end());
    out.steps.insert(out.steps.begin(), *step);
  }
  std::erase_if(out.leaves, [&](const GraphLeaf& leaf) { return !needed.contains(leaf.name); });
  std::map<std::string, std::string> names{{"", ""}};
  const auto rename = [&](std::string& name) {
    name = names.try_emplace(name, value_name(names.size() - 1)).first->second;
  };
  for (GraphLeaf& leaf : out.leaves) rename(leaf.name);
  for (GraphStep& step : out.steps) {
    std::ranges::for_each(step.operands, rename);
    std::ranges::for_each(step.results, rename);
  }
  std::ranges::for_each(out.outputs, rename);
  return out;
}

GraphBuilder::GraphBuilder(int opset, int ir_version) : known_(std::make_unique<KnownIntegers>()) {
  graph_.opset = opset, graph_.ir_version = ir_version;
}
GraphBuilder::~GraphBuilder() = default;

const Definition* GraphBuilder::definition(const std::string& op) const {
  const Operator* const found = find_operator("", op);
  return found ? found->at(graph_.opset) : nullptr;
}

std::string GraphBuilder::leaf(const TensorType& type, const Source& source) {
  const std::string name = value_name(types_.size());
  types_[name] = type;
  graph_.leaves.push_back({name, type, source});
  known_->take(graph_.leaves.back());
  return name;
}

std::vector<std::string> GraphBuilder::step(const std::string& op, const std::vector<std::string>& operands,
                                            Attributes attributes, std::size_t results) {
  const Definition* const own = definition(op);
  if (!own || operands.size() > own->inputs.size() || results > own->outputs.size()) return {};
  GraphStep step{{}, operands, {}};
  step.c.version = own->version;
  step.c.opset = graph_.opset;
  step.c.ir_version = graph_.ir_version;
  step.c.node.attributes = std::move(attributes);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Parameter& input = own->inputs[i];
    if (operands[i].empty()) {
      step.c.node.empty_input(input.name);
      continue;
    }
    step.c.node.input(input.name, type(operands[i]));
    const auto leaf = std::ranges::find(graph_.leaves, operands[i], &GraphLeaf::name);
    if (leaf != graph_.leaves.end())
      step.c.sources[input.name] = leaf->source;
    else if (!input.reads_as.empty()) {
      const std::optional<Source> known = known_->source(operands[i]);
      if (!known) return {};
      step.c.sources[input.name] = *known;
    }
  }
  for (std::size_t i = 0; i < results; ++i)
    if (own->outputs[i].arity != Arity::required) step.c.node.output(own->outputs[i].name);
  const Result<Types> types = types_given(step);
  if (!types) return {};
  for (std::size_t i = 0; i < results; ++i) {
    if (!types->at(i)) return {};
    step.results.push_back(value_name(types_.size()));
    types_[step.results.back()] = *types->at(i);
  }
  known_->take(step, *types);
  graph_.steps.push_back(step);
  return step.results;
}

std::string_view name(Wrapper wrapper) {
  switch (wrapper) {
    case Wrapper::none: return "";
    case Wrapper::branch: return "if";
    case Wrapper::loop: return "loop";
    case Wrapper::function: return "function";
  }
  return "";
}

std::string line(const GraphCase& graph) {
  std::string out =
      std::string(first_word) + "opset=" + std::to_string(graph.opset) + " ir=" + std::to_string(graph.ir_version);
  for (const GraphLeaf& leaf : graph.leaves) out += " " + leaf.name + "=" + source_text(leaf.type, leaf.source);
  for (const GraphStep& step : graph.steps) out += " " + step_text(step);
  return out + " out=" + list_of_names(graph.outputs) + presentation(graph);
}

bool is_graph_line(std::string_view line) { return line.starts_with(first_word); }

Result<GraphCase> parse_graph_case(std::string_view line) {
  if (!is_graph_line(line)) return Error{"a graph line begins with 'graph '"};
  if (line.size() > std::size_t{1} << 20) return Error{"graph line: longer than 1 MiB"};
  return Reader().read(line);
}

GraphData leaves_of(const GraphCase& graph, int set) {
  GraphData data;
  for (const GraphLeaf& leaf : graph.leaves)
    data[leaf.name] = fill(leaf.source.recipe, leaf.type, leaf.source.initializer ? 0 : set);
  return data;
}

Operands operands_of(const GraphStep& step, const GraphData& values) {
  Operands operands(step.c.definition().inputs.size());
  for (std::size_t i = 0; i < step.operands.size(); ++i)
    if (!step.operands[i].empty()) operands[i] = values.find(step.operands[i])->second;
  return operands;
}

void run_step(const GraphStep& step, const Operands& operands, int threads, GraphData& values) {
  const Definition& definition = step.c.definition();
  const Call call = step.c.call();
  const std::vector<const Tensor*> in = views(operands);
  Values out = definition.fast ? definition.fast(call, in, threads) : definition.kernel(call, in);
  for (std::size_t i = 0; i < step.results.size() && i < out.size(); ++i)
    if (!step.results[i].empty() && out[i]) values[step.results[i]] = *std::move(out[i]);
}

void drop_unneeded(const GraphCase& graph, std::size_t step, GraphData& values) {
  const auto is_needed = [&](const std::string& name) {
    return std::ranges::count(graph.outputs, name) > 0 ||
           std::any_of(graph.steps.begin() + static_cast<std::ptrdiff_t>(step) + 1, graph.steps.end(),
                       [&](const GraphStep& later) { return std::ranges::count(later.operands, name) > 0; });
  };
  for (const auto* const names : {&graph.steps[step].operands, &graph.steps[step].results})
    for (const std::string& name : *names)
      if (!is_needed(name)) values.erase(name);
}

GraphData evaluate(const GraphCase& graph, GraphData values, int threads, const StepVisitor& visit) {
  for (std::size_t i = 0; i < graph.steps.size(); ++i) {
    const GraphStep& step = graph.steps[i];
    run_step(step, operands_of(step, values), threads, values);
    if (visit) visit(step, values);
    drop_unneeded(graph, i, values);
  }
  return values;
}

}  // namespace assay
