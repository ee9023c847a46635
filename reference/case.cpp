// SPDX-License-Identifier: Apache-2.0
#include "reference/case.h"

#include "reference/line_words.h"
#include "reference/nearest.h"
#include "reference/sequence.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace assay {
namespace {

// A case is small; a hostile line must not make us allocate the machine.
constexpr Int most_elements = Int{1} << 28;
constexpr std::size_t longest_line = std::size_t{1} << 20;

// A part of a line in an error: on one line, and no longer than fits.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 80)) out += c >= ' ' && c <= '~' ? std::string(1, c) : escaped({&c, 1});
  return out;
}

std::optional<Ints> list(std::string_view text) {
  return text.empty() ? Ints{} : list_of<Int>(text, [](std::string_view part) { return whole<Int>(part); });
}

// Writes the shortest decimal that reads back as the same number.
std::string decimal(float value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), end.ptr);
}

std::string tensor_text(const TensorType& type, const Recipe& recipe) {
  return std::string(name(type.dtype)) + text(type.shape) + "~" + text(recipe);
}

// Writes the value of an attribute of each kind.
struct Written {
  std::string operator()(Int value) const { return std::to_string(value); }
  std::string operator()(float value) const { return decimal(value); }
  std::string operator()(const std::string& value) const { return escaped(value); }
  std::string operator()(const Tensor& value) const { return tensor_text(value.type(), stated(value)); }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    return values.empty() ? "[]" : joined(values, ",", *this);
  }
};

// Reads a list that is not empty but where it is written as [].
template <class T, class F>
std::optional<Attribute> list_value(std::string_view text, F read) {
  if (text == "[]") return Attribute(std::vector<T>());
  auto values = list_of<T>(text, read);
  return values ? std::optional(Attribute(*std::move(values))) : std::nullopt;
}

// Reads a float of a list; NaN, which equals nothing, is none.
std::optional<float> ordered(std::string_view text) {
  const auto value = real<float>(text);
  return value && *value == *value ? value : std::nullopt;
}

std::optional<Attribute> attribute_value(AttributeSpec::Kind kind, std::string_view text) {
  switch (kind) {
    case AttributeSpec::Kind::integer:
      if (const auto value = whole<Int>(text)) return Attribute(*value);
      return std::nullopt;
    case AttributeSpec::Kind::ints:
      return list_value<Int>(text, [](std::string_view part) { return whole<Int>(part); });
    case AttributeSpec::Kind::reals: return list_value<float>(text, ordered);
    case AttributeSpec::Kind::texts: return list_value<std::string>(text, unescaped);
    case AttributeSpec::Kind::tensor: return std::nullopt;  // read_tensor
    case AttributeSpec::Kind::text:
      if (auto word = unescaped(text)) return Attribute(std::move(*word));
      return std::nullopt;
    case AttributeSpec::Kind::real:
      if (const auto value = real<float>(text)) return Attribute(*value);
      return std::nullopt;
  }
  return std::nullopt;
}

// The attribute of this version, else of any other: a near miss may write one that its own version does not have.
const AttributeSpec* any_attribute(const Definition& own, std::string_view name) {
  if (const AttributeSpec* spec = own.attribute(name)) return spec;
  for (const Definition& version : find_operator(own.version.domain, own.version.name)->versions())
    if (const AttributeSpec* spec = version.attribute(name)) return spec;
  return nullptr;
}

// The names of inputs or outputs, those of this version first.
std::vector<std::string> parameter_order(const Definition& own, std::vector<Parameter> Definition::*list) {
  std::vector<std::string> names;
  const auto add = [&](const Definition& version) {
    for (const Parameter& parameter : version.*list)
      if (std::ranges::find(names, parameter.name) == names.end()) names.push_back(parameter.name);
  };
  add(own);
  for (const Definition& version : find_operator(own.version.domain, own.version.name)->versions()) add(version);
  return names;
}

std::vector<std::string> known_keys(const Operator& op) {
  std::vector<std::string> names;
  for (const AttributeSpec* attribute : op.attributes_ever()) names.push_back(attribute->name);
  for (const Definition& version : op.versions())
    for (const Parameter& input : version.inputs) names.push_back(input.name);
  for (const char* key : {"opset", "ir", "outputs", "shapes"}) names.emplace_back(key);
  return names;
}

Result<OpVersion> parse_version(std::string_view token) {
  const std::size_t dash = token.rfind('-'), colon = token.find(':');
  const auto since = dash == token.npos ? std::nullopt : whole<int>(token.substr(dash + 1));
  if (!since) return Error{"'" + shown(token) + "' is not an operator version; write for example Conv-11"};
  OpVersion version;
  const std::size_t start = colon == token.npos ? 0 : colon + 1;
  if (start > dash) return Error{"'" + shown(token) + "' is not an operator version"};
  version.domain = std::string(token.substr(0, start ? start - 1 : 0));
  version.name = std::string(token.substr(start, dash - start));
  version.since_version = *since;
  if (find_definition(version)) return version;
  std::vector<std::string> known;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions()) known.push_back(text(definition.version));
  return Error{"there is no operator version " + shown(token) + suggestion(token.substr(0, 80), known)};
}

struct Filled {
  TensorType type;
  Recipe recipe;
};

// dtype[extents]~recipe
Result<Filled> read_tensor(std::string_view value, const Definition& definition) {
  const std::size_t open = value.find('['), close = value.find("]~");
  if (open == value.npos || close == value.npos || close < open) return Error{"write for example f32[1,3,5]~small:7"};
  const auto dtype = dtype_named(value.substr(0, open));
  if (!dtype)
    return Error{"there is no type '" + shown(value.substr(0, open)) + "'" +
                 suggestion(value.substr(0, open), definition.type_names())};
  auto shape = list(value.substr(open + 1, close - open - 1));
  if (!shape || std::ranges::any_of(*shape, [](Int extent) { return extent < 0; }))
    return Error{"extents are integers >= 0"};
  if (std::ranges::any_of(*shape, [](Int extent) { return extent > most_elements; }))
    return Error{"an extent of more than 2^28"};  // beside an extent of 0 as well
  try {
    if (volume(*shape) > most_elements) return Error{"more than 2^28 elements"};
  } catch (const InputError&) {
    return Error{"more than 2^28 elements"};
  }
  const std::string_view recipe_text = value.substr(close + 2);
  Result<Recipe> recipe = parse_recipe(recipe_text);
  if (!recipe) return Error{recipe.error()};
  if (text(*recipe) != recipe_text)
    return Error{"recipe '" + std::string(recipe_text) + "' is not written canonically"};
  if (recipe->family == "text" && *dtype != DType::string)
    return Error{"'text:' fills strings alone, as in string[2]~text:a,b"};
  return Filled{{*dtype, *std::move(shape)}, *std::move(recipe)};
}

constexpr const char* not_written_out = "write out one value of the type for each element, as in i64[2]~values:-1,3";

// NAME=dtype[extents]~recipe or NAME=dtype[extents]~recipe@init or NAME=""
std::optional<Error> read_input(Case& c, const std::string& name, std::string_view value) {
  const auto bad = [&](const std::string& why) { return Error{"input " + name + ": " + why}; };
  if (c.node.inputs.contains(name)) return bad("given twice");
  if (value == "\"\"") {
    c.node.empty_input(name);
    return std::nullopt;
  }
  const bool initializer = value.ends_with("@init");
  if (initializer) value.remove_suffix(5);
  Result<Filled> filled = read_tensor(value, c.definition());
  if (!filled) return bad(filled.error());
  auto& [type, recipe] = *filled;
  const Parameter* const parameter = c.definition().input(name);
  const bool is_read = parameter && !parameter->reads_as.empty();
  if ((is_read || recipe.family == "values") && !writes_out(recipe, type)) return bad(not_written_out);
  c.node.input(name, type);
  c.sources[name] = {std::move(recipe), initializer};
  return std::nullopt;
}

std::optional<Error> read_attribute(Case& c, const AttributeSpec& spec, std::string_view value) {
  const std::string& name = spec.name;
  const auto bad = [&](const std::string& why) { return Error{"attribute " + name + ": " + why}; };
  if (c.node.attributes.contains(name)) return bad("given twice");
  if (spec.kind == AttributeSpec::Kind::tensor) {
    Result<Filled> filled = read_tensor(value, c.definition());
    if (!filled) return bad(filled.error());
    if (!writes_out(filled->recipe, filled->type)) return bad(not_written_out);
    c.node.attribute(name, fill(filled->recipe, filled->type));
    return std::nullopt;
  }
  auto attribute = attribute_value(spec.kind, value);
  if (!attribute) return bad("cannot read '" + shown(value) + "'");
  c.node.attribute(name, std::move(*attribute));
  return std::nullopt;
}

// NAME,NAME: optional outputs.
std::optional<Error> read_outputs(Case& c, std::string_view value) {
  if (!c.node.outputs.empty()) return Error{"outputs: given twice"};
  const std::vector<std::string> known = parameter_order(c.definition(), &Definition::outputs);
  for (const std::string_view part : parts_of(value)) {
    const std::string name(part);
    const Parameter* own = c.definition().output(name);
    if (std::ranges::find(known, name) == known.end())
      return Error{c.version.name + " has no output '" + shown(name) + "'" + suggestion(name, known)};
    if (own && own->arity == Arity::required)
      return Error{"output " + name + " is always there; outputs= names others"};
    if (!c.node.outputs.insert(name).second) return Error{"output " + name + ": given twice"};
  }
  return std::nullopt;
}

std::optional<Error> read_number(int& into, const std::string& key, std::string_view value) {
  const auto number = whole<int>(value);
  if (!number || *number < 1 || *number > 1000) return Error{key + " is a number from 1 to 1000"};
  into = *number;
  return std::nullopt;
}

std::optional<Error> read_token(Case& c, const Operator& op, std::string_view token) {
  const std::size_t equals = token.find('=');
  if (equals == token.npos) return Error{"'" + std::string(token.substr(0, 80)) + "' is not KEY=VALUE"};
  const std::string key(token.substr(0, equals));
  const std::string_view value = token.substr(equals + 1);
  if (key == "opset") return read_number(c.opset, key, value);
  if (key == "ir") return read_number(c.ir_version, key, value);
  if (key == "shapes") {
    if (value != "symbolic" && value != "absent")
      return Error{"shapes=symbolic and shapes=absent are the other ways to declare shapes"};
    c.declared = value == "symbolic" ? DeclaredShapes::symbolic : DeclaredShapes::absent;
    return std::nullopt;
  }
  if (key == "outputs") return read_outputs(c, value);
  // A name may be an attribute in one version and an input in another: this version's own comes first. Where one has
  // both, an input is written with its type.
  const AttributeSpec* const attribute = any_attribute(c.definition(), key);
  const bool is_value = c.definition().attribute(key) && value.find("]~") == value.npos && value != "\"\"";
  if (c.definition().input(key) && !is_value) return read_input(c, key, value);
  if (attribute) return read_attribute(c, *attribute, value);
  const std::vector<std::string> inputs = parameter_order(c.definition(), &Definition::inputs);
  if (std::ranges::find(inputs, key) != inputs.end())
    return Error{text(c.version) + " has no input " + key + ", other versions of it have"};
  return Error{op.name() + " has no input or attribute '" + shown(key) + "'" + suggestion(key, known_keys(op))};
}

// Says why a line whose words are all right is no case: there is nothing to compute from, or too much to compute.
std::optional<Error> check_sense(const Case& c) {
  const std::vector<Parameter>& inputs = c.definition().inputs;
  if (c.sources.empty() && !inputs.empty() && inputs.front().reads_as.empty())
    return Error{"no input is given; write for example " + c.definition().inputs.front().name + "=f32[1,1,4]~iota:1"};
  try {
    const Call call = c.call();
    if (!c.definition().violated(call).empty()) return std::nullopt;  // nothing is computed
    for (const TensorType& type : c.definition().requested_types(call))
      if (volume(type.shape) > most_elements) return Error{"an output of more than 2^28 elements"};
  } catch (const InputError& error) {
    return Error{error.what()};
  }
  return std::nullopt;
}

std::optional<Error> parse_into(Case& c, std::string_view line) {
  if (line.size() > longest_line) return Error{"longer than 1 MiB"};
  std::size_t end = std::min(line.find(' '), line.size());
  Result<OpVersion> version = parse_version(line.substr(0, end));
  if (!version) return Error{version.error()};
  c.version = *version;
  const Operator& op = *find_operator(c.version.domain, c.version.name);
  c.opset = c.version.since_version;
  while (end < line.size()) {
    const std::size_t start = end + 1;
    end = std::min(line.find(' ', start), line.size());
    if (start == end) return Error{"tokens are separated by one space"};
    if (auto error = read_token(c, op, line.substr(start, end - start))) return error;
  }
  if (!op.at(c.opset) || op.at(c.opset)->version != c.version)
    return Error{"opset " + std::to_string(c.opset) + " does not select " + text(c.version)};
  return check_sense(c);
}

// The optional outputs that are asked for, in schema order.
std::string requested_outputs(const Case& c) {
  return joined(filtered(parameter_order(c.definition(), &Definition::outputs),
                         [&](const std::string& output) { return c.node.outputs.contains(output); }),
                ",");
}

}  // namespace

Case::Case() = default;
Case::Case(const Case&) = default;
Case::Case(Case&&) noexcept = default;
Case& Case::operator=(const Case&) = default;
Case& Case::operator=(Case&&) noexcept = default;
Case::~Case() = default;
bool Case::operator==(const Case&) const = default;

const Definition& Case::definition() const {
  const Definition* found = find_definition(version);
  expects(found, "a case of an operator version we do not have");
  return *found;
}

Call Case::call() const {
  Node known = node;
  for (const Parameter& input : definition().inputs) {
    const auto source = input.reads_as.empty() ? sources.end() : sources.find(input.name);
    if (source != sources.end())
      known.value(input, fill(source->second.recipe, node.inputs.find(input.name)->second.type));
  }
  return Call(definition(), std::move(known));
}

std::string attribute_text(const Attribute& attribute) { return std::visit(Written{}, attribute); }

std::string source_text(const TensorType& type, const Source& source) {
  return tensor_text(type, source.recipe) + (source.initializer ? "@init" : "");
}

std::string line(const Case& c) {
  const Operator& op = *find_operator(c.version.domain, c.version.name);
  std::string out = text(c.version) + " opset=" + std::to_string(c.opset) + " ir=" + std::to_string(c.ir_version);
  for (const std::string& input : parameter_order(c.definition(), &Definition::inputs)) {
    const auto found = c.node.inputs.find(input);
    if (found == c.node.inputs.end()) continue;
    out += " " + input + "=";
    if (found->second.presence == Input::Presence::empty_name) {
      out += "\"\"";
      continue;
    }
    out += source_text(found->second.type, c.sources.at(input));
  }
  for (const AttributeSpec* attribute : op.attributes_ever())
    if (const auto found = c.node.attributes.find(attribute->name); found != c.node.attributes.end())
      out += " " + attribute->name + "=" + attribute_text(found->second);
  if (!c.node.outputs.empty()) out += " outputs=" + requested_outputs(c);
  if (c.declared == DeclaredShapes::symbolic) out += " shapes=symbolic";
  if (c.declared == DeclaredShapes::absent) out += " shapes=absent";
  return out;
}

Result<Case> parse_case(std::string_view text) {
  Case c;
  if (auto error = parse_into(c, text))
    return Error{"case line '" + std::string(text.substr(0, 120)) + (text.size() > 120 ? "…" : "") +
                 "': " + error->text};
  return c;
}

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  unsigned int length = 0;
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);  // looked up once, never let go
  expects(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, algorithm, nullptr) == 1, "SHA-256 failed");
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : digest) out += {digits[byte >> 4], digits[byte & 15]};
  return out;
}

std::string case_id(std::string_view line) { return sha256(line).substr(0, 32); }

namespace {

// Draws the operands of a set; constants are those of `first`, where that is given.
Operands drawn(const Case& c, int set, const Operands* first) {
  Operands tensors;
  for (const Parameter& parameter : c.definition().inputs) {
    const auto found = c.sources.find(parameter.name);
    if (found == c.sources.end()) {
      tensors.emplace_back();
    } else if (const Source& source = found->second; source.initializer && first) {
      const Tensor& constant = *(*first)[tensors.size()];
      tensors.emplace_back(constant);
    } else {
      tensors.push_back(fill(source.recipe, c.node.inputs.at(parameter.name).type, source.initializer ? 0 : set));
    }
  }
  return tensors;
}

}  // namespace

Operands operands(const Case& c, int set) { return drawn(c, set, nullptr); }

bool has_nonfinite_data(const Case& c) {
  if (c.definition().inputs.empty())  // its attributes are its data
    for (const auto& [name, value] : c.node.attributes)
      if (const Tensor* const tensor = std::get_if<Tensor>(&value);
          tensor && is_nonfinite(stated(*tensor), tensor->type()))
        return true;
  return std::ranges::any_of(c.sources, [&](const auto& source) {
    const auto input = c.node.inputs.find(source.first);
    return input != c.node.inputs.end() && is_nonfinite(source.second.recipe, input->second.type);
  });
}

std::vector<Operands> all_operands(const Case& c) {
  std::vector<Operands> sets;
  for (int set = 0; set < data_sets; ++set) sets.push_back(drawn(c, set, set > 0 ? &sets.front() : nullptr));
  return sets;
}

}  // namespace assay
