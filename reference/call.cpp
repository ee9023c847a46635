// SPDX-License-Identifier: Apache-2.0
#include "reference/call.h"

#include "reference/operator.h"

namespace assay {
namespace {

template <class T>
const T& get(const Attribute& attribute) {
  expects(std::holds_alternative<T>(attribute), "an attribute read as another kind");
  return std::get<T>(attribute);
}

}  // namespace

std::string operator_name(const OpVersion& version) {
  return (version.domain.empty() ? "" : version.domain + ":") + version.name;
}

std::string text(const OpVersion& version) {
  return operator_name(version) + "-" + std::to_string(version.since_version);
}

Node& Node::input(std::string name, TensorType type) {
  inputs[std::move(name)] = {Input::Presence::given, std::move(type)};
  return *this;
}

Node& Node::empty_input(std::string name) {
  inputs[std::move(name)] = {Input::Presence::empty_name, {}};
  return *this;
}

Node& Node::output(std::string name) {
  outputs.insert(std::move(name));
  return *this;
}

Node& Node::attribute(std::string name, Attribute value) {
  attributes[std::move(name)] = std::move(value);
  return *this;
}

Call::Call(const Definition& definition, Node node) : definition_(&definition), node_(std::move(node)) {}

bool Call::has(std::string_view input) const {
  const auto found = node_.inputs.find(input);
  return found != node_.inputs.end() && found->second.presence == Input::Presence::given;
}

const TensorType& Call::type(std::string_view input) const {
  const auto found = node_.inputs.find(input);
  expects(found != node_.inputs.end() && found->second.presence == Input::Presence::given,
          "the type of an input that is absent");
  return found->second.type;
}

bool Call::asks(std::string_view output) const {
  const Parameter* parameter = definition_->output(output);
  return node_.outputs.contains(output) || (parameter && parameter->arity == Arity::required);
}

std::vector<std::string> Call::asked_outputs() const {
  std::vector<std::string> names;
  for (const Parameter& output : definition_->outputs)
    if (asks(output.name)) names.push_back(output.name);
  return names;
}

const Attribute* Call::stated(std::string_view attribute) const {
  const auto found = node_.attributes.find(attribute);
  return found == node_.attributes.end() ? nullptr : &found->second;
}

bool Call::states(std::string_view attribute) const { return stated(attribute) != nullptr; }

Int Call::integer(std::string_view attribute) const {
  if (const Attribute* written = stated(attribute)) return get<Int>(*written);
  const AttributeSpec* spec = definition_->attribute(attribute);
  expects(spec && spec->value, "an integer attribute without a default");
  return get<Int>(*spec->value);
}

float Call::real(std::string_view attribute) const {
  if (const Attribute* written = stated(attribute)) return get<float>(*written);
  const AttributeSpec* spec = definition_->attribute(attribute);
  expects(spec && spec->value, "a real attribute without a default");
  return get<float>(*spec->value);
}

std::string Call::text(std::string_view attribute) const {
  if (const Attribute* written = stated(attribute)) return get<std::string>(*written);
  const AttributeSpec* spec = definition_->attribute(attribute);
  expects(spec && spec->value, "a text attribute without a default");
  return get<std::string>(*spec->value);
}

Ints Call::ints(std::string_view attribute) const {
  const AttributeSpec* spec = definition_->attribute(attribute);
  if (const Attribute* written = stated(attribute)) {
    // An empty list reads as an absent one (README: decisions).
    if (const Ints& values = get<Ints>(*written); !values.empty() || !spec || !spec->derived) return values;
  }
  expects(spec && spec->derived, "a list attribute without a default");
  return spec->derived(*this);
}

}  // namespace assay
