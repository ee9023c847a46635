// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/case_words.h"

#include "oracles/exact/exact.h"
#include "oracles/judging/case_class.h"
#include "reference/families/moved.h"
#include "reference/onnx_io.h"
#include "reference/onnx_text.h"
#include "reference/operator.h"
#include "reference/sequence.h"
#include "suites/triage/clauses.h"
#include "suites/triage/glossary.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace assay::suites {
namespace {

constexpr Int most_shown = 24;  // elements of an input
constexpr std::size_t column = 34;

struct Printed {
  std::string operator()(Int value) const { return std::to_string(value); }
  std::string operator()(float value) const { return std::to_string(value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const Ints& value) const { return text(value); }
  std::string operator()(const auto& value) const { return attribute_text(Attribute(value)); }
};

std::string row(const std::string& word, const std::string& words) {
  return "  " + word +
         (word.size() < column ? std::string(column - word.size(), ' ') : "\n" + std::string(column + 2, ' ')) + words +
         "\n";
}

std::string version_words(const OpVersion& version) {
  const int last = end_opset(version) - 1;
  return "operator version, " +
         (last > newest_opset_of(version.domain) - 1
              ? "in force from opset " + std::to_string(version.since_version) + " on"
              : "in force in opsets " + std::to_string(version.since_version) + " to " + std::to_string(last)) +
         ": " + page_of(version);
}

std::string type_words(const TensorType& type) {
  return "type " + std::string(onnx_name(type.dtype)) + " and shape " + text(type.shape);
}

std::string filled(const TensorType& type, const Source& source) {
  return type_words(type) + ", " + (source.initializer ? "a constant of the model (initializer)" : "a graph input") +
         "; holds " + assay::in_words(source.recipe);
}

std::string input_words(const Case& c, const std::string& name) {
  const Parameter* parameter = c.definition().input(name);
  const std::string kind = !parameter                            ? "input that this version does not have"
                           : parameter->arity != Arity::required ? "optional input"
                                                                 : "input";
  const Input& input = c.node.inputs.at(name);
  if (input.presence == Input::Presence::empty_name) return kind + ", left out by an empty name";
  return kind + " of " + filled(input.type, c.sources.at(name));
}

// What the call reads where the node does not state it; empty where that cannot be told.
std::string value_left_out(const Case& c, const AttributeSpec& spec) {
  if (spec.required || spec.value || !spec.derived) return "";
  Case without = c;
  without.node.attributes.erase(spec.name);
  const Call call = without.call();
  if (spec.derived && !c.definition().violated(call).empty()) return "";
  switch (spec.kind) {
    case AttributeSpec::Kind::integer: return std::to_string(call.integer(spec.name));
    case AttributeSpec::Kind::text: return call.text(spec.name);
    case AttributeSpec::Kind::ints: return text(call.ints(spec.name));
    default: break;
  }
  return "";
}

std::string attribute_words(const Case& c, const std::string& name) {
  const AttributeSpec* spec = c.definition().attribute(name);
  if (!spec) return "attribute that this version does not have";
  const std::string value = value_left_out(c, *spec);
  return "attribute, " + default_of(*spec) + (value.empty() ? "" : ", which is " + value + " here");
}

std::string words_of(const Case& c, const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  if (equals == std::string::npos) return version_words(c.version);
  if (key == "opset")
    return "the model imports opset " + std::to_string(c.opset) + " of " +
           (c.version.domain.empty() ? "ai.onnx" : c.version.domain);
  if (key == "ir") return "the model has IR version " + std::to_string(c.ir_version);
  if (key == "outputs") return "optional outputs that the node has besides the required ones";
  if (key == "shapes")
    return c.declared == DeclaredShapes::symbolic ? "the model declares extents by symbols, each its own"
                                                  : "the model declares ranks and no extents";
  return c.node.inputs.contains(key) ? input_words(c, key) : attribute_words(c, key);
}

std::string left_out(const Case& c) {
  std::string out;
  for (const Parameter& input : c.definition().inputs)
    if (!c.node.inputs.contains(input.name) && input.arity != Arity::repeated)
      out += row(input.name, input.arity == Arity::optional ? "optional input" : "input, required");
  for (const AttributeSpec& spec : c.definition().attributes)
    if (!c.node.attributes.contains(spec.name)) out += row(spec.name, attribute_words(c, spec.name));
  return out.empty() ? "" : "\nleft out\n" + out;
}

std::string standing(const Case& c) {
  const std::vector<std::string> violated = c.definition().violated(c.call());
  std::string out = violated.empty() ? "  legal" : "  invalid";
  out += ", class " + std::string(oracles::class_of(c)) + "; id " + case_id(line(c)) + "\n";
  for (const std::string& id : clauses_of(c)) {
    const std::string meaning = meaning_of(id).value_or(id + "\n");
    out +=
        std::string("  ") + (violated.empty() ? "rests on " : "breaks ") + meaning.substr(0, meaning.find('\n')) + "\n";
  }
  return out;
}

std::string values(const Tensor& tensor) {
  std::string out;
  for (Int i = 0; i < std::min(tensor.elements(), most_shown); ++i)
    out += (i == 0 ? "" : ", ") +
           oracles::decimal(oracles::written(oracles::scalar(tensor, i), tensor.dtype()), tensor.dtype());
  if (tensor.elements() > most_shown) out += ", … " + std::to_string(tensor.elements()) + " in all";
  return tensor.elements() == 0 ? "no element" : out;
}

std::string data(const Case& c) {
  std::string out = "\nthe first data set\n";
  const Operands all = operands(c, 0);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i]) out += "  " + c.definition().inputs[i].name + " = " + values(*all[i]) + "\n";
  return out;
}

// -- graphs

// "X = a, W = b": what a step takes or gives, by the names of the schema and of the graph.
std::string named(const std::vector<Parameter>& parameters, const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Parameter& parameter = parameters[std::min(i, parameters.size() - 1)];  // the last may be repeated
    if (!names[i].empty()) all.push_back(parameter.name + " = " + names[i]);
  }
  return joined(all, ", ");
}

std::string step_words(const GraphStep& step) {
  const Definition& definition = step.c.definition();
  const Result<Types> types = definition.infer(step.c.call());
  std::string out = "step: " + text(step.c.version) + " of " + named(definition.inputs, step.operands) + " gives " +
                    named(definition.outputs, step.results);
  for (std::size_t i = 0; types && i < std::min(types->size(), step.results.size()); ++i)
    if ((*types)[i] && !step.results[i].empty()) out += (i == 0 ? ", of " : "; of ") + type_words(*(*types)[i]);
  return out;
}

std::string ending_words(const std::string& word) {
  if (word.starts_with("out=")) return "the outputs";
  if (word == "shapes=symbolic") return "the model declares extents by symbols, each its own";
  if (word == "shapes=absent") return "the model declares ranks and no extents";
  if (word == "inside=if") return "the steps stand in an If whose condition is constant";
  if (word == "inside=loop") return "the steps stand in a Loop of one turn";
  return "the steps stand in a function of the model's own";
}

}  // namespace

// The derived defaults have no value to print, but most are one of a few functions.
std::string default_of(const AttributeSpec& attribute) {
  if (attribute.required) return "required";
  if (attribute.value) return "default " + std::visit(Printed{}, *attribute.value);
  const auto* function = attribute.derived.target<Ints (*)(const Call&)>();
  if (function && *function == ones) return "default 1 per spatial axis";
  if (function && *function == zeros) return "default 0 at both ends of every spatial axis";
  if (function && *function == no_entries) return "default an empty list";
  if (!attribute.derived) return "without a default";
  return attribute.name == "kernel_shape" ? "default the spatial extents of W" : "default worked out from the inputs";
}

std::string in_words(const Case& c) {
  std::string out = line(c) + "\n" + standing(c) + "\n";
  std::istringstream words(line(c));
  for (std::string word; words >> word;) out += row(word, words_of(c, word));
  out += left_out(c);
  if (const auto model = model_text(model_of(c))) out += "\nthe model, as onnx.parser reads it\n" + *model;
  return out + data(c);
}

std::string in_words(const GraphCase& graph) {
  std::string out = line(graph) + "\n  id " + case_id(line(graph)) + "\n\n", word;
  std::istringstream words(line(graph));
  const auto tell = [&](const std::string& says) {
    words >> word;
    out += row(word, says);
  };
  tell("a graph: nodes that feed one another");
  tell("the model imports opset " + std::to_string(graph.opset) + " of ai.onnx");
  tell("the model has IR version " + std::to_string(graph.ir_version));
  for (const GraphLeaf& leaf : graph.leaves) tell("goes in, of " + filled(leaf.type, leaf.source));
  for (const GraphStep& step : graph.steps) {
    tell(step_words(step));
    for (const auto& [name, value] : step.c.node.attributes)
      out += row("  " + name + "=" + attribute_text(value), attribute_words(step.c, name));
  }
  while (words >> word) out += row(word, ending_words(word));
  return out;
}

}  // namespace assay::suites
