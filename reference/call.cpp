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

// Returns the elements of a tensor in row-major order as numbers of type R.
template <class R>
std::vector<R> numbers_of(const Tensor& tensor) {
  return for_number(tensor.dtype(), [&]<class T>() {
    std::vector<R> all;
    for (const T value : tensor.as<T>()) all.push_back(static_cast<R>(value));
    return all;
  });
}

// Returns the only element as a number of type R.
template <class R>
R only_element_of(const Tensor& tensor) {
  expects(tensor.elements() == 1, "a number read from a tensor that has not one element");
  return for_number(tensor.dtype(), [&]<class T>() { return static_cast<R>(tensor.as<T>()[0]); });
}

}  // namespace

std::string operator_name(const OpVersion& version) {
  return (version.domain.empty() ? "" : version.domain + ":") + version.name;
}

std::string text(const OpVersion& version) {
  return operator_name(version) + "-" + std::to_string(version.since_version);
}

Node::Node() = default;
Node::Node(const Node&) = default;
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(const Node&) = default;
Node& Node::operator=(Node&&) noexcept = default;
Node::~Node() = default;
bool Node::operator==(const Node&) const = default;

Node& Node::input(std::string name, TensorType type) {
  inputs[std::move(name)] = {Input::Presence::given, std::move(type)};
  return *this;
}

Node& Node::input(std::string name, Shape shape) { return input(std::move(name), {DType::f32, std::move(shape)}); }

Node& Node::empty_input(std::string name) {
  inputs[std::move(name)] = {Input::Presence::empty_name, {}};
  return *this;
}

Node& Node::value(const Parameter& parameter, const Tensor& tensor) {
  Input& given = inputs[parameter.name];
  given = {Input::Presence::given, tensor.type()};
  if (!parameter.reads_as.empty()) given.data = tensor;
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

Node& Node::attribute(std::string name, const char* value) { return attribute(std::move(name), std::string(value)); }
Node& Node::attribute(std::string name, Int value) { return attribute(std::move(name), Attribute(value)); }
Node& Node::attribute(std::string name, int value) { return attribute(std::move(name), Attribute(Int{value})); }

Call::Call(const Definition& definition, Node node) : definition_(&definition), node_(std::move(node)) {}

bool Call::has(std::string_view input) const {
  const auto found = node_.inputs.find(input);
  return found != node_.inputs.end() && found->second.presence == Input::Presence::given;
}

bool Call::has_channels_last() const {
  if (definition_->version.name.starts_with("Nhwc")) return true;
  return definition_->attribute("channels_last") && integer("channels_last") != 0;
}

const TensorType& Call::type(std::string_view input) const {
  const auto found = node_.inputs.find(input);
  expects(found != node_.inputs.end() && found->second.presence == Input::Presence::given,
          "the type of an input that is absent");
  return found->second.type;
}

bool Call::requests(std::string_view output) const {
  const Parameter* parameter = definition_->output(output);
  return node_.outputs.contains(output) || (parameter && parameter->arity == Arity::required);
}

std::vector<std::string> Call::requested_outputs() const {
  std::vector<std::string> names;
  for (const Parameter& output : definition_->outputs)
    if (requests(output.name)) names.push_back(output.name);
  return names;
}

const Attribute* Call::stated(std::string_view attribute) const {
  const auto found = node_.attributes.find(attribute);
  return found == node_.attributes.end() ? nullptr : &found->second;
}

const Tensor* Call::data_of(std::string_view attribute) const {
  for (const Parameter& input : definition_->inputs) {
    if (input.reads_as != attribute || !has(input.name)) continue;
    const std::optional<Tensor>& data = node_.inputs.find(input.name)->second.data;
    expects(data.has_value(), "an input whose data are not known is read like an attribute");
    return &*data;
  }
  return nullptr;
}

bool Call::states(std::string_view attribute) const { return stated(attribute) || data_of(attribute); }

Int Call::integer(std::string_view attribute) const {
  if (const Attribute* written = stated(attribute)) return get<Int>(*written);
  if (const Tensor* data = data_of(attribute)) return only_element_of<Int>(*data);
  const AttributeSpec* spec = definition_->attribute(attribute);
  expects(spec && spec->value, "an integer attribute without a default");
  return get<Int>(*spec->value);
}

float Call::real(std::string_view attribute) const {
  if (const Attribute* written = stated(attribute)) return get<float>(*written);
  if (const Tensor* data = data_of(attribute)) return only_element_of<float>(*data);
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
  if (const Tensor* data = data_of(attribute)) return numbers_of<Int>(*data);
  expects(spec && spec->derived, "a list attribute without a default");
  return spec->derived(*this);
}

Reals Call::reals(std::string_view attribute) const {
  if (const Attribute* written = stated(attribute)) return get<Reals>(*written);
  const Tensor* data = data_of(attribute);
  expects(data != nullptr, "a list of reals without a default");
  return numbers_of<float>(*data);
}

Texts Call::texts(std::string_view attribute) const {
  expects(stated(attribute), "a list of texts without a default");
  return get<Texts>(*stated(attribute));
}

Tensor Call::tensor(std::string_view attribute) const {
  expects(stated(attribute), "a tensor attribute without a default");
  return get<Tensor>(*stated(attribute));
}

}  // namespace assay
