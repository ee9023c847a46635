// SPDX-License-Identifier: Apache-2.0
// Every definition of ours against the schema registry of the ONNX package: a difference is printed with the operator
// version it belongs to. The schemas of com.microsoft are ours, written from what onnxruntime registers; there the
// comparison holds two of our own hands against each other.
#include "reference/onnx_contrib.h"
#include "reference/operator.h"
#include "reference/sequence.h"

#include <catch2/catch.hpp>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <set>

namespace assay {
namespace {

using Differences = std::vector<std::string>;

const std::vector<onnx::OpSchema>& registry() {
  static const std::vector<onnx::OpSchema> all = [] {
    register_contrib_schemas();
    return onnx::OpSchemaRegistry::get_all_schemas_with_history();
  }();
  return all;
}

const onnx::OpSchema* schema_of(const OpVersion& version) {
  for (const onnx::OpSchema& schema : registry())
    if (schema.domain() == version.domain && schema.Name() == version.name &&
        schema.since_version() == version.since_version)
      return &schema;
  return nullptr;
}

// What a definition and a schema say of one thing, as text, so that one comparison serves all.
using Page = std::map<std::string, std::string>;

std::string text_of(const onnx::AttributeProto& value) {
  switch (value.type()) {
    case onnx::AttributeProto::INT: return "int " + std::to_string(value.i());
    case onnx::AttributeProto::FLOAT: return "float " + std::to_string(value.f());
    case onnx::AttributeProto::STRING: return "string " + value.s();
    case onnx::AttributeProto::INTS:
    case onnx::AttributeProto::STRINGS:  // a list that is left out is worked out here (Derived)
    case onnx::AttributeProto::UNDEFINED: return "none";
    default: return "a default of a kind we have no word for";
  }
}

std::string text_of(const std::optional<Attribute>& value) {
  if (!value) return "none";
  if (const auto* integer = std::get_if<Int>(&*value)) return "int " + std::to_string(*integer);
  if (const auto* real = std::get_if<float>(&*value)) return "float " + std::to_string(*real);
  if (const auto* string = std::get_if<std::string>(&*value)) return "string " + *string;
  return "a default of a kind we have no word for";
}

std::string kind_of(AttributeSpec::Kind kind) {
  switch (kind) {
    case AttributeSpec::Kind::integer: return "INT";
    case AttributeSpec::Kind::real: return "FLOAT";
    case AttributeSpec::Kind::text: return "STRING";
    case AttributeSpec::Kind::ints: return "INTS";
    case AttributeSpec::Kind::reals: return "FLOATS";
    case AttributeSpec::Kind::texts: return "STRINGS";
    case AttributeSpec::Kind::tensor: return "TENSOR";
  }
  return "?";
}

// The types that dtypes.def does not have yet are left out.
std::set<std::string> admitted(const std::vector<std::string>& types) {
  std::set<std::string> out;
  for (const DType type : all_dtypes)
    if (std::ranges::find(types, onnx_name(type)) != types.end()) out.emplace(onnx_name(type));
  return out;
}

// "tensor(float)" where a schema names one type instead of a variable: it then constrains nothing else.
bool is_type(const std::string& variable) { return variable.find('(') != std::string::npos; }

std::string type_of(const Parameter& parameter) {
  const std::optional<DType> alone = dtype_named(parameter.type);
  return alone ? std::string(onnx_name(*alone)) : parameter.type;
}

bool begins_list(const std::vector<Parameter>& all, std::size_t at) {
  return at + 1 < all.size() && all[at + 1].arity == Arity::repeated;
}

Page page_of(const Definition& definition) {
  Page page;
  for (std::size_t i = 0; i < definition.inputs.size(); ++i)
    if (definition.inputs[i].arity != Arity::repeated)
      page["input " + std::to_string(i)] = definition.inputs[i].name + " " + type_of(definition.inputs[i]) +
                                           (definition.inputs[i].arity == Arity::optional ? " optional"
                                            : begins_list(definition.inputs, i)           ? " variadic"
                                                                                          : " required");
  const bool has_list = definition.outputs.back().arity == Arity::repeated;
  for (std::size_t i = 0; i < definition.outputs.size(); ++i)
    if (definition.outputs[i].arity != Arity::repeated)
      page["output " + std::to_string(i)] = definition.outputs[i].name + " " + type_of(definition.outputs[i]) +
                                            (definition.outputs[i].arity == Arity::optional ? " optional"
                                             : has_list                                     ? " variadic"
                                                                                            : " required");
  for (const TypeVariable& variable : definition.types) {
    if (is_type(variable.name)) continue;
    std::set<std::string> allowed;
    for (const DType type : variable.types) allowed.emplace(onnx_name(type));
    page["types " + variable.name] = joined(allowed, " ");
  }
  for (const AttributeSpec& attribute : definition.attributes)
    page["attribute " + attribute.name] = kind_of(attribute.kind) + (attribute.required ? " required" : " optional") +
                                          ", default " + text_of(attribute.value);
  return page;
}

// The first of a variadic input or output is called so here.
std::string name_of(const onnx::OpSchema::FormalParameter& parameter) {
  std::string name = parameter.GetName();
  if (name.ends_with("...")) name.resize(name.size() - 3);  // of Split-1
  const bool is_numbered = parameter.GetOption() != onnx::OpSchema::Variadic || name.ends_with("_0");
  return name + (is_numbered ? "" : "_0");
}

std::string arity_of(const onnx::OpSchema::FormalParameter& parameter) {
  switch (parameter.GetOption()) {
    case onnx::OpSchema::Single: return " required";
    case onnx::OpSchema::Optional: return " optional";
    default: return " variadic";
  }
}

// Without a kernel a window of LpPool-1 has no meaning; later versions require it.
bool is_needed(const onnx::OpSchema& schema, const std::string& attribute) {
  return schema.Name() == "LpPool" && schema.SinceVersion() == 1 && attribute == "kernel_shape";
}

Page page_of(const onnx::OpSchema& schema) {
  Page page;
  for (std::size_t i = 0; i < schema.inputs().size(); ++i)
    page["input " + std::to_string(i)] =
        name_of(schema.inputs()[i]) + " " + schema.inputs()[i].GetTypeStr() + arity_of(schema.inputs()[i]);
  for (std::size_t i = 0; i < schema.outputs().size(); ++i)
    page["output " + std::to_string(i)] =
        name_of(schema.outputs()[i]) + " " + schema.outputs()[i].GetTypeStr() + arity_of(schema.outputs()[i]);
  for (const auto& constraint : schema.typeConstraintParams()) {
    page["types " + constraint.type_param_str] = joined(admitted(constraint.allowed_type_strs), " ");
  }
  for (const auto& [name, attribute] : schema.attributes()) {
    if (attribute.type == onnx::AttributeProto::SPARSE_TENSOR) continue;  // not yet admitted
    page["attribute " + name] = onnx::AttributeProto_AttributeType_Name(attribute.type) +
                                (attribute.required || is_needed(schema, name) ? " required" : " optional") +
                                ", default " + text_of(attribute.default_value);
  }
  return page;
}

Differences differences(const std::string& owner, const Page& ours, const Page& theirs) {
  Differences found;
  for (const auto& [key, value] : ours) {
    const auto other = theirs.find(key);
    if (other == theirs.end())
      found.push_back(owner + ": " + key + ": ours " + value + ", ONNX has none");
    else if (other->second != value)
      found.push_back(owner + ": " + key + ": ours " + value + ", ONNX " + other->second);
  }
  for (const auto& [key, value] : theirs)
    if (!ours.contains(key)) found.push_back(owner + ": " + key + ": ONNX " + value + ", ours has none");
  return found;
}

Differences differences(const Definition& definition) {
  const onnx::OpSchema* const schema = schema_of(definition.version);
  if (!schema) return {text(definition.version) + ": ONNX has no such version"};
  return differences(text(definition.version), page_of(definition), page_of(*schema));
}

std::set<int> registered_versions(const Operator& op) {
  std::set<int> versions;
  for (const onnx::OpSchema& schema : registry())
    if (schema.domain() == op.domain() && schema.Name() == op.name()) versions.insert(schema.since_version());
  return versions;
}

TEST_CASE("Schema: every definition has the inputs, outputs, types, attributes and defaults ONNX registers",
          "[schema]") {
  int compared = 0;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions()) {
      for (const std::string& difference : differences(definition)) FAIL_CHECK(difference);
      ++compared;
    }
  CHECK(compared >= 13);
  WARN(compared << " operator versions agree with the registry of ONNX");
}

TEST_CASE("Schema: a type that stands for a variable is that type alone", "[schema]") {
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      for (const TypeVariable& variable : definition.types) {
        if (!is_type(variable.name)) continue;
        REQUIRE(variable.types.size() == 1);
        CHECK(onnx_name(variable.types.front()) == variable.name);
      }
}

TEST_CASE("Schema: no version of an operator is missing and none is ours alone", "[schema]") {
  for (const Operator* op : operators()) {
    std::set<int> ours;
    for (const Definition& definition : op->versions()) ours.insert(definition.version.since_version);
    INFO(op->name());
    CHECK(ours == registered_versions(*op));
  }
}

TEST_CASE("Schema: an operator version ends at the opset where ONNX puts the next one", "[schema]") {
  CHECK(!registry().empty());  // with the schemas of com.microsoft
  const auto& ranges = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  for (const Operator* op : operators()) {
    CHECK(ranges.at(op->domain()).second == newest_opset_of(op->domain()));
    for (int opset = 1; opset <= newest_opset_of(op->domain()); ++opset) {
      INFO(op->name() << " in opset " << opset);
      const onnx::OpSchema* const schema = onnx::OpSchemaRegistry::Schema(op->name(), opset, op->domain());
      const Definition* const definition = op->at(opset);
      REQUIRE((schema != nullptr) == (definition != nullptr));
      if (!schema) continue;
      CHECK(definition->version.since_version == schema->since_version());
      CHECK(schema->since_version() <= opset);
      CHECK(opset < end_opset(definition->version));
    }
  }
}

TEST_CASE("Schema: a changed name, type, default or arity is found and named", "[schema]") {
  const Definition& conv = *find_definition({"", "Conv", 11});
  REQUIRE(differences(conv).empty());
  Definition changed = conv;
  changed.inputs[2].arity = Arity::required;
  CHECK(differences(changed) == Differences{"Conv-11: input 2: ours B T required, ONNX B T optional"});
  changed = conv;
  changed.types[0].types.push_back(DType::bf16);
  CHECK(differences(changed).size() == 1);
  changed = conv;
  for (AttributeSpec& attribute : changed.attributes)
    if (attribute.name == "group") attribute.value = Attribute(Int{2});
  CHECK(differences(changed) ==
        Differences{"Conv-11: attribute group: ours INT optional, default int 2, ONNX INT optional, default int 1"});
  changed = conv;
  changed.attributes.pop_back();
  CHECK(differences(changed).size() == 1);
  changed = conv;
  changed.version.since_version = 12;
  CHECK(differences(changed) == Differences{"Conv-12: ONNX has no such version"});
}

}  // namespace
}  // namespace assay
