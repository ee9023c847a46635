// SPDX-License-Identifier: Apache-2.0
// Node and Call: one operator applied to inputs of known type and shape. A Call is all that kernels and oracles share.
#pragma once

#include "reference/tensor.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay {

class Operator;
struct Definition;
struct Parameter;

// `ai.onnx` is written as the empty domain, as in a NodeProto.
struct OpVersion {
  std::string domain, name;
  int since_version = 1;
  auto operator<=>(const OpVersion&) const = default;
};
std::string text(const OpVersion& version);           // "Conv-11", "com.microsoft:NhwcConv-1"
std::string operator_name(const OpVersion& version);  // "Conv", "com.microsoft:NhwcConv"

using Ints = std::vector<Int>;
using Reals = std::vector<float>;
using Texts = std::vector<std::string>;
// The kinds of AttributeProto in use. Graphs (If, Loop, Scan) and sparse tensors are not yet admitted.
using Attribute = std::variant<Int, float, std::string, Ints, Reals, Texts, Tensor>;

// One input of a node. An optional input may be left out at the end, or named "" anywhere.
struct Input {
  enum class Presence { given, empty_name };
  Presence presence = Presence::given;
  TensorType type;
  std::optional<Tensor> data = {};  // of one whose data the call reads (Parameter::reads_as), where they are known
  bool operator==(const Input&) const = default;
};

// What a NodeProto says, with the types of its inputs. Inputs that are left out have no entry.
struct Node {
  std::map<std::string, Input, std::less<>> inputs;
  std::map<std::string, Attribute, std::less<>> attributes;
  std::set<std::string, std::less<>> outputs;  // the optional ones that are asked for

  Node();
  Node(const Node&);
  Node(Node&&) noexcept;
  Node& operator=(const Node&);
  Node& operator=(Node&&) noexcept;
  ~Node();
  bool operator==(const Node&) const;

  Node& input(std::string name, TensorType type);
  Node& input(std::string name, Shape shape);
  Node& empty_input(std::string name);
  // Notes what an input is given: its type and, where the call reads them, its data.
  Node& value(const Parameter& input, const Tensor& tensor);
  Node& output(std::string name);
  Node& attribute(std::string name, Attribute value);
  Node& attribute(std::string name, const char* value);
  Node& attribute(std::string name, Int value);
  Node& attribute(std::string name, int value);
};

// A Node under the definition of one operator version: attributes read with that version's defaults, rules of that
// version by name. It never tells the version number. Reading a wrong kind of attribute is our own bug.
class Call {
 public:
  Call(const Definition& definition, Node node);

  const Node& node() const { return node_; }
  const Definition& definition() const { return *definition_; }

  bool has(std::string_view input) const;  // present with a type
  const TensorType& type(std::string_view input) const;
  const Shape& shape(std::string_view input) const { return type(input).shape; }
  Int rank(std::string_view input) const { return static_cast<Int>(shape(input).size()); }
  Int dim(std::string_view input, Int axis) const { return shape(input).at(static_cast<std::size_t>(axis)); }

  // Tells whether the channels of the first input stand behind its spatial axes: by the attribute channels_last, or in
  // an operator named for it.
  bool has_channels_last() const;

  bool requests(std::string_view output) const;  // required, or asked for
  std::vector<std::string> requested_outputs() const;

  bool states(std::string_view attribute) const;  // written on the node, or given as an input that is read so
  // The attribute as written, else the data of the input that is read so (Parameter::reads_as), else this version's
  // default. A default that depends on other inputs is worked out here. The data of such an input have to be known.
  Int integer(std::string_view attribute) const;
  float real(std::string_view attribute) const;
  std::string text(std::string_view attribute) const;
  Ints ints(std::string_view attribute) const;
  Reals reals(std::string_view attribute) const;
  // Of those that have no default, and are never read from inputs.
  Texts texts(std::string_view attribute) const;
  Tensor tensor(std::string_view attribute) const;

 private:
  const Attribute* stated(std::string_view attribute) const;
  const Tensor* data_of(std::string_view attribute) const;
  const Definition* definition_;
  Node node_;
};

}  // namespace assay
