// SPDX-License-Identifier: Apache-2.0
#include "reference/onnx_text.h"

#include "reference/onnx_io_message.h"

#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>

namespace assay {
namespace {

using namespace messages;

// Joins what `write` makes of each of them.
template <class Range, class F>
std::string listed(const Range& range, F&& write) {
  std::string out;
  for (const auto& each : range) out += (out.empty() ? "" : ", ") + write(each);
  return out;
}

// The shortest digits that read back as the same number.
template <class T>
std::string digits(T value) {
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

// The parser knows no other escapes than a backslash before a character that stands for itself.
std::string quoted_text(const std::string& text) {
  if (!is_plain(text)) reject("text that is not ASCII");
  std::string out = "\"";
  for (const char c : text) out += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
  return out + "\"";
}

std::string identifier(const std::string& text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const bool is_one = !text.empty() && is_letter(text.front()) &&
                      std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
  return is_one ? text : quoted_text(text);
}

std::string type_word(std::int32_t type) {
  const std::string& word = onnx::PrimitiveTypeNameMap::ToString(type);
  if (onnx::PrimitiveTypeNameMap::Lookup(word) != type) reject("an element type without a name");
  return word;
}

std::string text_of(const onnx::TensorShapeProto_Dimension& dim) {
  if (dim.has_dim_value()) return std::to_string(dim.dim_value());
  return dim.has_dim_param() ? identifier(dim.dim_param()) : "?";
}

// "float[1,X_1,?] X"; a scalar has no brackets, and empty ones mean that not even the rank is known.
std::string text_of(const onnx::ValueInfoProto& info) {
  if (!info.type().has_tensor_type()) reject("a value that is no tensor");
  const onnx::TypeProto_Tensor& tensor = info.type().tensor_type();
  std::string out = type_word(tensor.elem_type());
  std::string extents;
  for (const auto& dim : tensor.shape().dim()) extents += (extents.empty() ? "" : ",") + text_of(dim);
  if (!extents.empty() || !tensor.has_shape()) out += "[" + extents + "]";
  return out + " " + identifier(info.name());
}

template <class T>
std::string values_of(const Tensor& tensor) {
  if (width_of(tensor.dtype()) < 8 && tensor.elements() > 0) reject("elements that the parser does not pack");
  return listed(tensor.as<T>(), [](const T& value) {
    if constexpr (std::is_same_v<T, std::string>)
      return quoted_text(value);
    else if constexpr (std::is_integral_v<T>)
      return std::to_string(value);
    else if constexpr (std::is_same_v<T, Bool>)
      return std::string(value ? "1" : "0");
    else if constexpr (sizeof(T) < 4)
      return std::to_string(value.bits);
    else
      return digits(value);
  });
}

std::string values_of(const Tensor& tensor) {
  return for_type(tensor.dtype(), [&]<class T>() { return values_of<T>(tensor); });
}

// What a person sees of values that stand there as bits: " # 1, 0.5" to the end of the line.
template <class T>
std::string told(const Tensor& tensor) {
  return "  # the bits of " + listed(tensor.as<T>(), [](const T& value) { return digits(static_cast<float>(value)); });
}
std::string remark_on(const Tensor& tensor) {
  if (tensor.elements() == 0 || !is_float(tensor.dtype()) || size_of(tensor.dtype()) > 2) return "";
  return for_value(tensor.dtype(), [&]<class T>() { return told<T>(tensor); });
}

// "float[2] W = {1, 10}", and what is said of it to the end of the line.
struct Constant {
  std::string text, remark;
};

Constant constant_of(const onnx::TensorProto& proto) {
  const Tensor tensor = tensor_of(proto);
  std::string extents;
  for (const Int extent : tensor.shape()) extents += (extents.empty() ? "" : ",") + std::to_string(extent);
  return {type_word(proto.data_type()) + (extents.empty() ? "" : "[" + extents + "]") + " " + identifier(proto.name()) +
              " = {" + values_of(tensor) + "}",
          remark_on(tensor)};
}

const onnx::TensorProto* initializer_of(const onnx::GraphProto& graph, const std::string& name) {
  const auto found = std::ranges::find_if(graph.initializer(), [&](const auto& each) { return each.name() == name; });
  return found == graph.initializer().end() ? nullptr : &*found;
}

// An initializer that is a graph input too stands there as its default.
std::string inputs_of(const onnx::GraphProto& graph) {
  std::string out;
  for (auto info = graph.input().begin(); info != graph.input().end(); ++info) {
    const bool is_last = std::next(info) == graph.input().end();
    const onnx::TensorProto* initializer = initializer_of(graph, info->name());
    const Constant constant = initializer ? constant_of(*initializer) : Constant{text_of(*info), ""};
    out += constant.text +
           (is_last                   ? ""
            : constant.remark.empty() ? ", "
                                      : ",") +
           constant.remark + (constant.remark.empty() ? "" : "\n  ");
  }
  return "(" + out + ")";
}

bool is_input(const onnx::GraphProto& graph, const std::string& name) {
  return std::ranges::any_of(graph.input(), [&](const auto& each) { return each.name() == name; });
}

std::string constants_of(const onnx::GraphProto& graph) {
  std::vector<Constant> constants;
  for (const onnx::TensorProto& each : graph.initializer())
    if (!is_input(graph, each.name())) constants.push_back(constant_of(each));
  std::string out;
  for (std::size_t i = 0; i < constants.size(); ++i)
    out += (i == 0 ? "\n<" : "\n ") + constants[i].text + (i + 1 < constants.size() ? "," : "") + constants[i].remark;
  return constants.empty() ? "" : out + (constants.back().remark.empty() ? ">" : "\n>");
}

std::string text_of(const onnx::AttributeProto& attribute) {
  const std::string name = identifier(attribute.name());
  const auto number = [](auto value) { return std::to_string(value); };
  const auto real = [](float value) { return digits(value); };
  switch (attribute.type()) {
    case onnx::AttributeProto::INT: return name + " = " + number(attribute.i());
    case onnx::AttributeProto::FLOAT: return name + ": float = " + real(attribute.f());
    case onnx::AttributeProto::STRING: return name + " = " + quoted_text(attribute.s());
    case onnx::AttributeProto::INTS:
      return name + (attribute.ints().empty() ? ": ints" : "") + " = [" + listed(attribute.ints(), number) + "]";
    case onnx::AttributeProto::FLOATS: return name + ": floats = [" + listed(attribute.floats(), real) + "]";
    case onnx::AttributeProto::STRINGS: return name + ": strings = [" + listed(attribute.strings(), quoted_text) + "]";
    default: reject("an attribute of another kind");
  }
}

std::string text_of(const onnx::NodeProto& node) {
  const auto value = [](const std::string& name) { return name.empty() ? "\"\"" : identifier(name); };
  std::string out = listed(node.output(), value) + " = ";
  for (const char c : node.domain()) out += c;
  out += (node.domain().empty() ? "" : ".") + node.op_type();
  if (node.attribute_size() > 0) {
    const auto attribute = [](const onnx::AttributeProto& each) { return text_of(each); };
    out += " <" + listed(node.attribute(), attribute) + ">";
  }
  return out + " (" + listed(node.input(), value) + ")";
}

// Letters, digits and _ of what the graph is called.
std::string graph_name(const onnx::GraphProto& graph) {
  std::string name = graph.name();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) ? "graph_" + name : name;
}

std::string text_of(const onnx::ModelProto& model) {
  const onnx::GraphProto& graph = model.graph();
  const auto info = [](const onnx::ValueInfoProto& each) { return text_of(each); };
  const auto import = [](const onnx::OperatorSetIdProto& each) {
    return quoted_text(each.domain()) + " : " + std::to_string(each.version());
  };
  std::string out = "<ir_version: " + std::to_string(model.ir_version()) + ", opset_import: [" +
                    listed(model.opset_import(), import) + "]>\n" + graph_name(graph) + " " + inputs_of(graph) +
                    " => (" + listed(graph.output(), info) + ")" + constants_of(graph) + " {\n";
  for (const onnx::NodeProto& node : graph.node()) out += "  " + text_of(node) + "\n";
  return out + "}\n";
}

// -- the same model?

// Without what the text does not keep, and elements the same way in every tensor.
std::string gist(onnx::ModelProto model) {
  model.clear_producer_name();
  model.mutable_graph()->clear_name();
  for (onnx::TensorProto& each : *model.mutable_graph()->mutable_initializer())
    each = proto_of(tensor_of(each), each.name());
  return bytes_of(model);
}

// Whatever the parser throws, where numbers do not fit for one, it has not read the same.
bool reads_back(const std::string& text, const onnx::ModelProto& model) {
  try {
    onnx::ModelProto read;
    onnx::OnnxParser parser(text.c_str());
    return parser.Parse(read).IsOK() && parser.EndOfInput() && gist(read) == gist(model);
  } catch (const BrokenPromise&) {
    throw;
  } catch (const std::exception&) {
    return false;
  }
}

std::size_t constant_elements(const onnx::GraphProto& graph) {
  std::size_t all = 0;
  for (const onnx::TensorProto& each : graph.initializer()) all += static_cast<std::size_t>(tensor_of(each).elements());
  return all;
}

}  // namespace

std::optional<std::string> model_text(std::string_view bytes, std::size_t most_values) {
  const auto written = as_result([&]() -> std::optional<std::string> {
    const auto model = message_of<onnx::ModelProto>(bytes, "ModelProto");
    if (constant_elements(model.graph()) > most_values) return std::nullopt;
    std::string text = text_of(model);
    return reads_back(text, model) ? std::optional(std::move(text)) : std::nullopt;
  });
  return written ? *written : std::nullopt;
}

}  // namespace assay
