// SPDX-License-Identifier: Apache-2.0
#include "generators/shrink.h"

#include "generators/operator_generator.h"
#include "generators/plain_data.h"
#include "reference/line_words.h"
#include "reference/operator.h"

#include <rapidcheck.h>

#include <algorithm>

namespace assay::generators {
namespace {

std::size_t at(Int index) { return static_cast<std::size_t>(index); }

// -- presentation

bool is_optional(const Case& c, const std::string& input) {
  const std::vector<Parameter>& inputs = c.definition().inputs;
  const auto parameter = std::ranges::find(inputs, input, &Parameter::name);
  if (parameter == inputs.end() || parameter->arity == Arity::required) return false;
  const bool is_followed = parameter + 1 != inputs.end() && c.node.inputs.contains((parameter + 1)->name);
  return parameter->arity == Arity::optional || !is_followed;
}

// "" is needed only where a later input is there.
bool leave_out(Case& c, const std::string& input) {
  const std::vector<Parameter>& inputs = c.definition().inputs;
  const auto here = std::ranges::find(inputs, input, &Parameter::name);
  const bool is_last =
      std::none_of(here + 1, inputs.end(), [&](const Parameter& later) { return c.node.inputs.contains(later.name); });
  const bool was_empty = c.node.inputs.at(input).presence == Input::Presence::empty_name;
  c.sources.erase(input);
  if (is_last)
    c.node.inputs.erase(input);
  else
    c.node.empty_input(input);
  return is_last || !was_empty;
}

Attribute value_of(const Call& call, const AttributeSpec& spec) {
  if (spec.kind == AttributeSpec::Kind::integer) return call.integer(spec.name);
  if (spec.kind == AttributeSpec::Kind::text) return call.text(spec.name);
  if (spec.kind == AttributeSpec::Kind::real) return call.real(spec.name);
  return call.ints(spec.name);
}

// Written, and what the version takes when it is left out.
bool is_default(const Case& c, const std::string& attribute) {
  const AttributeSpec* spec = c.definition().attribute(attribute);
  if (!spec || spec->required || (!spec->value && !spec->derived)) return false;
  Case without = c;
  without.node.attributes.erase(attribute);
  if (spec->derived && !c.definition().violated(without.call()).empty()) return false;
  return value_of(c.call(), *spec) == value_of(without.call(), *spec);
}

void present_plainly(Case& c, int part) {
  const auto wanted = [&](int which) { return part == 0 || part == which; };
  if (wanted(1)) {
    c.opset = c.version.since_version;
    c.ir_version = c.opset < 21 ? 8 : 10;
    admit_types(c);
  }
  if (wanted(2)) c.declared = DeclaredShapes::fixed;
  if (wanted(3))
    for (auto& [name, source] : c.sources) source.initializer = false;
  if (wanted(4))
    for (const auto& [name, value] : Node(c.node).attributes)
      if (is_default(c, name)) c.node.attributes.erase(name);
  if (wanted(5)) {
    const std::vector<Parameter>& inputs = c.definition().inputs;
    for (auto input = inputs.rbegin(); input != inputs.rend(); ++input)
      if (const auto found = c.node.inputs.find(input->name);
          found != c.node.inputs.end() && found->second.presence == Input::Presence::empty_name)
        leave_out(c, input->name);
  }
}

// All at once; each alone comes last, when little else is left.
Cases plainly_presented(const Case& c, int part) {
  Case out = c;
  present_plainly(out, part);
  return {out};
}

// -- attributes and optional inputs

std::string written_attribute(const Case& c, int part) { return std::next(c.node.attributes.begin(), part)->first; }

Cases fewer_attributes(const Case& c, int part) {
  Cases out;
  const std::string name = written_attribute(c, part);
  const AttributeSpec* const spec = c.definition().attribute(name);
  Case without = c;
  without.node.attributes.erase(name);
  if (!spec || !spec->required) push_refitted(out, std::move(without));
  if (std::optional<Attribute> plainer = family_of(c.definition()).plainer(c, name)) {
    out.push_back(c);
    out.back().node.attribute(name, *std::move(plainer));
  }
  return out;
}

// Optional inputs, then optional outputs.
Cases fewer_parameters(const Case& c, int part) {
  Cases out;
  if (at(part) >= c.definition().inputs.size()) {
    Case without = c;
    if (without.node.outputs.erase(c.definition().outputs[at(part) - c.definition().inputs.size()].name) > 0)
      push_refitted(out, std::move(without));
    return out;
  }
  const std::string& input = c.definition().inputs[at(part)].name;
  if (!c.node.inputs.contains(input) || !is_optional(c, input)) return out;
  Case without = c;
  if (leave_out(without, input)) out.push_back(std::move(without));
  return out;
}

// -- the steps in their order

constexpr int presentations = 6;
int input_count(const Case& c) { return static_cast<int>(c.definition().inputs.size()); }

// ModelVariant, the operator's own steps, the family's coarse steps, data, attributes, inputs, the family's fine steps,
// presentation in parts.
std::vector<ShrinkStep> steps_of(const Case& c) {
  const Family& family = family_of(c.definition());
  std::vector<ShrinkStep> all{{[](const Case&) { return 1; }, plainly_presented}};
  std::ranges::copy(generator_of(c.version).steps, std::back_inserter(all));
  std::ranges::copy(family.coarse_steps(), std::back_inserter(all));
  all.push_back({input_count, plainer_data});
  all.push_back({[](const Case& of) { return static_cast<int>(of.node.attributes.size()); }, fewer_attributes});
  all.push_back(
      {[](const Case& of) { return static_cast<int>(of.definition().inputs.size() + of.definition().outputs.size()); },
       fewer_parameters});
  std::ranges::copy(family.fine_steps(), std::back_inserter(all));
  all.push_back({[](const Case&) { return presentations - 1; },
                 [](const Case& of, int part) { return plainly_presented(of, part + 1); }});
  return all;
}

std::vector<Position> positions_of(const Case& c, const std::vector<ShrinkStep>& steps) {
  std::vector<Position> positions;
  for (std::size_t step = 0; step < steps.size(); ++step)
    for (int part = 0; part < steps[step].parts(c); ++part) positions.push_back({static_cast<int>(step), part});
  return positions;
}

using Violated = std::vector<std::string>;

// Writes out as many values of the first input as it now has elements: some of them again, or not at all.
void fit_values(Case& c) {
  const Shape& shape = shape_of(c);
  Recipe& recipe = c.sources.at(c.definition().inputs.front().name).recipe;
  const bool is_read = !c.definition().inputs.front().reads_as.empty();
  if ((!is_read && recipe.family != "values") || std::ranges::any_of(shape, [](Int extent) { return extent < 0; }))
    return;
  const std::string said = recipe.argument.empty() && recipe.family == "values" ? "1" : recipe.argument;
  const std::vector<std::string_view> parts = parts_of(said);
  std::string fitting;
  for (std::size_t i = 0; i < static_cast<std::size_t>(volume(shape)); ++i)
    fitting += (i == 0 ? "" : ",") + std::string(parts[i % parts.size()]);
  recipe.argument = fitting;
}

// Tells whether a line and a model can be written of it: an input is given, none has a negative extent, and what the
// call reads has as many values as elements.
bool has_a_model(const Case& c) {
  const auto is_negative = [](Int extent) { return extent < 0; };
  return (!c.sources.empty() || c.definition().inputs.empty()) &&
         std::ranges::none_of(
             c.node.inputs,
             [&](const auto& input) { return std::ranges::any_of(input.second.type.shape, is_negative); }) &&
         std::ranges::all_of(c.definition().inputs, [&](const Parameter& input) {
           const auto source = c.sources.find(input.name);
           return input.reads_as.empty() || source == c.sources.end() ||
                  writes_out(source->second.recipe, c.node.inputs.at(input.name).type);
         });
}

std::vector<ShrinkCandidate> fair_candidates(const Case& c, const Violated& violated, const ShrinkStep& step,
                                             Position position) {
  std::vector<ShrinkCandidate> out;
  for (Case& candidate : step.candidates(c, position.part))
    if (candidate != c && has_a_model(candidate) && candidate.definition().violated(candidate.call()) == violated &&
        says_as_much(c, candidate))
      out.push_back({position, std::move(candidate)});
  return out;
}

}  // namespace

void push_refitted(Cases& into, Case c) {
  if (const auto fit = generator_of(c.version).refit) {
    into.push_back(c);
    fit(into.back());
  }
  into.push_back(std::move(c));
}

Cases with_shape(const Case& c, const std::function<void(Shape&)>& change) {
  Cases out;
  Case other = c;
  change(shape_of(other));
  fit_values(other);
  push_refitted(out, std::move(other));
  return out;
}

int first_axes(const Case& c) {
  const std::vector<Parameter>& inputs = c.definition().inputs;
  return !inputs.empty() && c.node.inputs.contains(inputs.front().name) ? static_cast<int>(shape_of(c).size()) : 0;
}

Cases smaller_first(const Case& c, int axis) {
  Cases out;
  for (const Int extent : towards(shape_of(c)[at(axis)], 1))
    std::ranges::move(with_shape(c, [&](Shape& shape) { shape[at(axis)] = extent; }), std::back_inserter(out));
  return out;
}

Ints towards(Int value, Int target) {
  if (Int way; __builtin_sub_overflow(target, value, &way)) {  // which RapidCheck would form
    Ints values = towards(value / 2, target);
    values.push_back(value / 2);
    return values;
  }
  Ints values;
  rc::Seq<Int> seq = rc::shrink::towards<Int>(value, target);
  while (const rc::Maybe<Int> next = seq.next()) values.push_back(*next);
  return values;
}

SimplerCases::SimplerCases(const Case& c)
    : case_(c), violated_(c.definition().violated(c.call())), steps_(steps_of(c)), positions_(positions_of(c, steps_)) {
  std::ranges::reverse(positions_);
}

std::optional<ShrinkCandidate> SimplerCases::next() {
  while (pending_.empty()) {
    if (positions_.empty()) return std::nullopt;
    const Position position = positions_.back();
    positions_.pop_back();
    try {
      pending_ = fair_candidates(case_, violated_, steps_[at(position.step)], position);
    } catch (const std::exception&) {
      if (violated_.empty()) throw;  // a near miss may lack what a step reads
    }
    std::ranges::reverse(pending_);
  }
  ShrinkCandidate next = std::move(pending_.back());
  pending_.pop_back();
  return next;
}

CaseSize size_of(const Case& c) {
  CaseSize size;
  for (const auto& [name, input] : c.node.inputs)
    if (input.presence == Input::Presence::given) size.elements += volume(input.type.shape);
  for (const auto& [name, value] : c.node.attributes) size.attributes += is_default(c, name) ? 0 : 1;
  return size;
}

}  // namespace assay::generators
