// SPDX-License-Identifier: Apache-2.0
#include "reference/operator.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace assay {

#define OPERATOR(domain, name, file) Operator file();
#include "reference/operators.def"
#undef OPERATOR

namespace {

template <class List, class Key>
auto* named(List& list, const Key& key) {
  const auto found = std::ranges::find(list, key, [](const auto& entry) -> const std::string& { return entry.name; });
  return found == list.end() ? nullptr : &*found;
}

template <class T>
void replace_named(std::vector<T>& list, T entry) {
  if (auto* existing = named(list, entry.name))
    *existing = std::move(entry);
  else
    list.push_back(std::move(entry));
}

// Tells whether inputs and outputs that are repeated follow each other.
bool has_no_gap(const Call& call) {
  bool is_over = false;
  return std::ranges::all_of(call.definition().inputs,
                             [&](const Parameter& p) {
                               if (p.arity != Arity::repeated) return true;
                               const bool is_there = call.node().inputs.contains(p.name),
                                          is_kept = !is_there || (!is_over && call.has(p.name));
                               is_over |= !is_there;
                               return is_kept;
                             }) &&
         std::ranges::is_sorted(call.definition().outputs, std::ranges::greater(), [&](const Parameter& p) {
           return p.arity == Arity::repeated ? call.requests(p.name) : true;
         });
}

bool is_complete(const Call& call) {
  const Definition& definition = call.definition();
  return std::ranges::all_of(definition.inputs,
                             [&](const Parameter& p) { return p.arity != Arity::required || call.has(p.name); }) &&
         has_no_gap(call) && std::ranges::all_of(definition.attributes, [&](const AttributeSpec& a) {
           return !a.required || call.states(a.name);
         });
}

bool has_no_strangers(const Call& call) {
  const Definition& definition = call.definition();
  return std::ranges::all_of(call.node().inputs, [&](const auto& in) { return definition.input(in.first); }) &&
         std::ranges::all_of(call.node().outputs, [&](const auto& out) { return definition.output(out); }) &&
         std::ranges::all_of(call.node().attributes, [&](const auto& a) { return definition.attribute(a.first); });
}

bool attributes_are_of_their_kind(const Call& call) {
  return std::ranges::all_of(call.node().attributes, [&](const auto& written) {
    const AttributeSpec* spec = call.definition().attribute(written.first);
    return !spec || written.second.index() == static_cast<std::size_t>(spec->kind);
  });
}

bool types_are_admitted(const Call& call) {
  std::map<std::string, DType> bound;
  for (const Parameter& parameter : call.definition().inputs) {
    if (!call.has(parameter.name)) continue;
    const DType type = call.type(parameter.name).dtype;
    const std::vector<DType>& admitted = call.definition().types_of(parameter.type);
    if (std::ranges::find(admitted, type) == admitted.end()) return false;
    if (bound.try_emplace(parameter.type, type).first->second != type) return false;
  }
  return true;
}

// Checks constraints on one call. The call it stands for is worked out once for all that are checked on that one.
class ConstraintCheck {
 public:
  explicit ConstraintCheck(const Call& call) : call_(&call) {}

  bool holds(const Constraint& constraint) {
    if (!constraint.stands_for) return constraint.holds(*call_);
    if (!other_ || made_by_ != constraint.stands_for) {
      other_.emplace(constraint.stands_for(*call_));
      made_by_ = constraint.stands_for;
    }
    return constraint.holds(*other_);
  }

 private:
  const Call* call_;
  std::optional<Call> other_;
  Call (*made_by_)(const Call&) = nullptr;
};

}  // namespace

std::optional<DType> type_named_by(const Call& call, const std::string& attribute) {
  const auto stated = call.node().attributes.find(attribute);
  const AttributeSpec* const spec = call.definition().attribute(attribute);
  const bool is_stated = stated != call.node().attributes.end();
  if (!is_stated && (!spec || !spec->value)) return std::nullopt;
  const Attribute& value = is_stated ? stated->second : *spec->value;
  if (const Int* const number = std::get_if<Int>(&value))
    return dtype_numbered(static_cast<std::int32_t>(std::clamp<Int>(*number, 0, 1000)));
  if (const Tensor* const tensor = std::get_if<Tensor>(&value)) return tensor->dtype();
  const std::string* const word = std::get_if<std::string>(&value);
  if (!word) return std::nullopt;
  const auto is_named = [&](DType type) { return enum_name(type) == *word; };
  const auto found = std::ranges::find_if(all_dtypes, is_named);
  return found == std::end(all_dtypes) ? std::nullopt : std::optional(*found);
}

std::vector<Tensor> Values::requested() && {
  std::vector<Tensor> tensors;
  for (std::optional<Tensor>& each : *this)
    if (each) tensors.push_back(*std::move(each));
  return tensors;
}

Tensor Values::only() && {
  expects(size() == 1 && front(), "one output");
  return *std::move(front());
}

const std::vector<Constraint>& general_constraints() {
  static const std::vector<Constraint> all{
      {"G1", "every required input and attribute is there", is_complete, ""},
      {"G2", "no input, output or attribute that this version does not have", has_no_strangers, ""},
      {"G3", "every attribute is of its kind", attributes_are_of_their_kind, ""},
      {"G4", "types are admitted, and equal where the type variable is", types_are_admitted, ""},
  };
  return all;
}

Definition::Definition() = default;
Definition::Definition(const Definition&) = default;
Definition::Definition(Definition&&) noexcept = default;
Definition& Definition::operator=(const Definition&) = default;
Definition& Definition::operator=(Definition&&) noexcept = default;
Definition::~Definition() = default;

const AttributeSpec* Definition::attribute(std::string_view name) const { return named(attributes, name); }
const Parameter* Definition::input(std::string_view name) const { return named(inputs, name); }

const Parameter* Definition::output(std::string_view name) const { return named(outputs, name); }

Shape Definition::shape(const Call& legal) const { return requested_types(legal).at(0).shape; }

std::vector<TensorType> Definition::requested_types(const Call& legal) const {
  std::vector<TensorType> requested;
  for (std::optional<TensorType>& type : infer(legal))
    if (type) requested.push_back(*std::move(type));
  return requested;
}

DType Definition::type_of(const Call& call, const Parameter& output) const {
  if (typed && output.name == outputs.front().name) return typed(call);
  if (!output.typed_by.empty()) {
    if (const std::optional<DType> named = type_named_by(call, output.typed_by)) return *named;
    // Where the attribute has no default and is left out, it is the type of the data.
    const AttributeSpec& spec = *attribute(output.typed_by);
    if (!spec.required && !spec.value && call.has(data().name)) return call.type(data().name).dtype;
  }
  for (const Parameter& each : inputs)
    if (each.type == output.type && call.has(each.name)) return call.type(each.name).dtype;
  const std::vector<DType>& admitted = types_of(output.type);
  const AttributeSpec* const spec = attribute(output.typed_by);
  for (const Parameter& each : inputs)  // one that decides where the attribute may be left out
    if (spec && !spec->required && call.has(each.name) && std::ranges::count(admitted, call.type(each.name).dtype) > 0)
      return call.type(each.name).dtype;
  return admitted.front();
}

const Parameter& Definition::data() const {
  for (const Parameter& each : inputs)
    if (types_of(each.type).size() > 1) return each;
  return inputs.empty() ? outputs.front() : inputs.front();
}

const RulingUse* Definition::ruling(std::string_view id) const {
  const auto found = std::ranges::find(rulings, id, &RulingUse::id);
  return found == rulings.end() ? nullptr : &*found;
}

const std::vector<DType>& Definition::types_of(std::string_view variable) const {
  static const std::map<DType, std::vector<DType>> alone = [] {
    std::map<DType, std::vector<DType>> all;
    for (const DType type : all_dtypes) all[type] = {type};
    return all;
  }();
  if (const TypeVariable* found = named(types, variable)) return found->types;
  const std::optional<DType> type = dtype_named(variable);
  expects(type.has_value(), "a type variable the definition does not have");
  return alone.at(*type);
}

std::vector<std::string> Definition::type_names() const {
  std::vector<std::string> names;
  for (const TypeVariable& variable : types)
    for (const DType type : variable.types) names.emplace_back(assay::name(type));
  return names;
}

const Constraint* Definition::constraint(std::string_view id) const {
  const auto found = std::ranges::find(constraints, id, &Constraint::id);
  return found == constraints.end() ? nullptr : &*found;
}

std::vector<std::string> Definition::violated(const Call& call, const Readings& readings) const {
  std::vector<std::string> ids;
  ConstraintCheck requested(call);
  for (const Constraint& general : general_constraints())
    if (!requested.holds(general)) ids.push_back(general.id);
  if (!ids.empty()) return ids;
  for (const Constraint& constraint : constraints) {
    if (!constraint.ruling.empty() && readings.departs(constraint.ruling)) continue;
    if (!requested.holds(constraint)) ids.push_back(constraint.id);
  }
  return ids;
}

bool Definition::breaks_only(const Call& call, std::string_view id) const {
  ConstraintCheck requested(call);
  const auto is_kept = [&](const Constraint& other) { return other.id == id || requested.holds(other); };
  const auto is_broken = [&](const Constraint& own) { return own.id == id && !requested.holds(own); };
  const std::vector<Constraint>& general = general_constraints();
  if (!std::ranges::all_of(general, is_kept)) return false;
  if (std::ranges::any_of(general, is_broken)) return true;  // the others are not checked then
  return std::ranges::any_of(constraints, is_broken) && std::ranges::all_of(constraints, is_kept);
}

Operator::Operator(std::string_view name, std::string_view domain) : name_(name), domain_(domain) {}
Operator::Operator(const Operator&) = default;
Operator::Operator(Operator&&) noexcept = default;
Operator& Operator::operator=(const Operator&) = default;
Operator& Operator::operator=(Operator&&) noexcept = default;
Operator::~Operator() = default;

Definition& Operator::current() { return versions_.empty() ? base_ : versions_.back(); }

// What follows the last `since` block holds for all versions; what stands in a block holds from there on.
template <class F>
Operator& Operator::everywhere(F&& f) {
  f(base_);
  for (Definition& version : versions_) f(version);
  return *this;
}

Operator& Operator::input(std::string_view name, std::string_view type, Arity arity) {
  replace_named(current().inputs, {std::string(name), std::string(type), arity});
  return *this;
}

Operator& Operator::variadic(std::string_view name, std::string_view type) {
  for (int i = 0; i < 8; ++i)
    input(std::string(name) + "_" + std::to_string(i), type, i == 0 ? Arity::required : Arity::repeated);
  return *this;
}

Operator& Operator::parameter(std::string_view name, std::string_view type, std::string_view reads_as, Arity arity) {
  current().inputs.push_back({std::string(name), std::string(type), arity, std::string(reads_as)});
  return *this;
}

Operator& Operator::output(std::string_view name, std::string_view type, Arity arity) {
  replace_named(current().outputs, {std::string(name), std::string(type), arity});
  return *this;
}

Operator& Operator::output_typed_by(std::string_view attribute, std::string_view name, std::string_view type) {
  const Parameter* const before = current().output(name);
  const Arity arity = before ? before->arity : Arity::required;
  replace_named(current().outputs, {std::string(name), std::string(type), arity, "", std::string(attribute)});
  return *this;
}

Operator& Operator::attribute(std::string_view name, int value) {
  replace_named(current().attributes,
                {std::string(name), AttributeSpec::Kind::integer, false, Attribute(Int{value}), {}});
  return *this;
}

Operator& Operator::attribute(std::string_view name, float value) {
  replace_named(current().attributes, {std::string(name), AttributeSpec::Kind::real, false, Attribute(value), {}});
  return *this;
}

Operator& Operator::attribute(std::string_view name, const char* value) {
  replace_named(current().attributes,
                {std::string(name), AttributeSpec::Kind::text, false, Attribute(std::string(value)), {}});
  return *this;
}

Operator& Operator::attribute(std::string_view name, Derived derived) {
  replace_named(current().attributes, {std::string(name), AttributeSpec::Kind::ints, false, {}, std::move(derived)});
  return *this;
}

Operator& Operator::word(std::string_view name, std::vector<std::string> words, std::string_view constraint) {
  const Attribute first(words.front());
  return one_of({std::string(name), AttributeSpec::Kind::text, false, first, {}, std::move(words)}, constraint);
}

Operator& Operator::required_word(std::string_view name, std::vector<std::string> words, std::string_view constraint) {
  return one_of({std::string(name), AttributeSpec::Kind::text, true, {}, {}, std::move(words)}, constraint);
}

Operator& Operator::optional_word(std::string_view name, std::vector<std::string> words, std::string_view constraint) {
  return one_of({std::string(name), AttributeSpec::Kind::text, false, {}, {}, std::move(words)}, constraint);
}

Operator& Operator::one_of(AttributeSpec spec, std::string_view constraint) {
  std::string text = spec.name + " is ";
  for (const std::string& word : spec.words) text += (&word == &spec.words.front() ? "" : " or ") + word;
  const bool is_optional = !spec.required && !spec.value;
  require(constraint, text, [name = spec.name, words = spec.words, is_optional](const Call& call) {
    return (is_optional && !call.states(name)) || std::ranges::find(words, call.text(name)) != words.end();
  });
  replace_named(current().attributes, std::move(spec));
  return *this;
}

Operator& Operator::required_integer(std::string_view name) {
  replace_named(current().attributes, {std::string(name), AttributeSpec::Kind::integer, true, {}, {}});
  return *this;
}

Operator& Operator::required_ints(std::string_view name) {
  replace_named(current().attributes, {std::string(name), AttributeSpec::Kind::ints, true, {}, {}});
  return *this;
}

Operator& Operator::required_text(std::string_view name) {
  replace_named(current().attributes, {std::string(name), AttributeSpec::Kind::text, true, {}, {}});
  return *this;
}

Operator& Operator::optional_real(std::string_view name) {
  replace_named(current().attributes, {std::string(name), AttributeSpec::Kind::real, false, {}, {}});
  return *this;
}

Operator& Operator::optional_int(std::string_view name) {
  replace_named(current().attributes, {std::string(name), AttributeSpec::Kind::integer, false, {}, {}});
  return *this;
}

Operator& Operator::optional_ints(std::string_view name) {
  replace_named(current().attributes, {std::string(name), AttributeSpec::Kind::ints, false, {}, {}});
  return *this;
}

Operator& Operator::required_attribute(std::string_view name, AttributeSpec::Kind kind) {
  replace_named(current().attributes, {std::string(name), kind, true, {}, {}});
  return *this;
}

Operator& Operator::optional_attribute(std::string_view name, AttributeSpec::Kind kind) {
  replace_named(current().attributes, {std::string(name), kind, false, {}, {}});
  return *this;
}

Operator& Operator::require(std::string_view id, std::string_view text, std::function<bool(const Call&)> holds,
                            std::string_view ruling) {
  return require(Constraint{std::string(id), std::string(text), std::move(holds), std::string(ruling)});
}

Operator& Operator::require(Constraint constraint) {
  current().constraints.push_back(std::move(constraint));
  return *this;
}

Operator& Operator::lifted(std::string_view id, std::string_view ruling) {
  const auto found = std::ranges::find(current().constraints, id, &Constraint::id);
  expects(found != current().constraints.end(), "a constraint that is lifted but not required");
  found->ruling = ruling;
  return *this;
}

Operator& Operator::with(const std::function<void(Operator&)>& constraints) {
  constraints(*this);
  return *this;
}

Operator& Operator::ruling(std::string_view id, std::vector<std::string_view> readings, std::string_view note) {
  const Ruling* known = find_ruling(id);
  expects(known, "an operator uses a ruling that is not in the table");
  if (readings.empty()) readings = known->readings;
  settled(id);
  current().rulings.push_back({std::string(id), std::move(readings), std::string(note)});
  return *this;
}

Operator& Operator::rulings(std::initializer_list<const char*> ids) {
  for (const char* id : ids) ruling(id);
  return *this;
}

Operator& Operator::settled(std::string_view id) {
  std::erase_if(current().rulings, [&](const RulingUse& use) { return use.id == id; });
  return *this;
}

Operator& Operator::type(std::string_view variable, std::initializer_list<DType> types) {
  return type(variable, std::vector<DType>(types));
}

Operator& Operator::type(std::string_view variable, std::vector<DType> types) {
  replace_named(current().types, {std::string(variable), std::move(types)});
  return *this;
}

Operator& Operator::since(int version, std::string_view change) {
  Definition next = current();
  next.version = {domain_, name_, version};
  next.change = change;
  versions_.push_back(std::move(next));
  return *this;
}

Operator& Operator::without(std::string_view name) {
  const auto is_named = [&](const auto& each) { return each.name == name; };
  const auto dropped = std::erase_if(current().attributes, is_named) + std::erase_if(current().inputs, is_named) +
                       std::erase_if(current().outputs, is_named) + std::erase_if(current().types, is_named) +
                       std::erase_if(current().constraints, [&](const Constraint& each) { return each.id == name; });
  expects(dropped > 0, "nothing of that name to take back");
  return *this;
}

Operator& Operator::shaping(Shaping shaping) {
  return everywhere([&](Definition& definition) { definition.shaping = shaping; });
}

Operator& Operator::flattens(bool flattens) {
  current().flattens = flattens;
  return *this;
}

Operator& Operator::infer(Inference infer) {
  return everywhere([&](Definition& definition) { definition.infer = infer; });
}

Operator& Operator::typed(std::function<DType(const Call&)> typed) {
  return everywhere([&](Definition& definition) { definition.typed = typed; });
}

Operator& Operator::shape(ShapeFunction shape) {
  infer([shape = std::move(shape)](const Call& call) {
    const Definition& definition = call.definition();
    return Types{TensorType{definition.type_of(call, definition.outputs.front()), shape(call)}};
  });
  return everywhere([](Definition& definition) { definition.keeps_rank = true; });
}

Operator& Operator::kernel(Kernel kernel) {
  return everywhere([&](Definition& definition) {
    definition.kernel = kernel;
    if (!definition.fast) definition.fast = [kernel](const Call& call, Inputs in, int) { return kernel(call, in); };
  });
}

Operator& Operator::fast(FastKernel kernel) {
  return everywhere([&](Definition& definition) { definition.fast = kernel; });
}

std::vector<const AttributeSpec*> Operator::attributes_ever() const {
  std::vector<const AttributeSpec*> all;
  for (const Definition& version : versions_)
    for (const AttributeSpec& spec : version.attributes)
      if (std::ranges::find(
              all, spec.name, [](auto* each) -> auto& { return each->name; }) == all.end())
        all.push_back(&spec);
  return all;
}

const Definition* Operator::at(int opset) const {
  const Definition* in_force = nullptr;
  for (const Definition& version : versions_)
    if (version.version.since_version <= opset) in_force = &version;
  return in_force;
}

Call Operator::call(int since_version, Node node) const {
  const Definition* definition = at(since_version);
  expects(definition, "a version before the first");
  return Call(*definition, std::move(node));
}

std::vector<std::string> Operator::violated(const Node& node, int since_version, const Readings& readings) const {
  const Call c = call(since_version, node);
  return c.definition().violated(c, readings);
}

Ints ones(const Call& call) {
  const Int axes = std::max<Int>(0, call.rank(call.definition().inputs.front().name) - 2);
  return Ints(static_cast<std::size_t>(axes), 1);
}

Ints zeros(const Call& call) {
  const Int axes = std::max<Int>(0, call.rank(call.definition().inputs.front().name) - 2);
  return Ints(static_cast<std::size_t>(2 * axes), 0);
}

Derived extents_of(std::string input) {
  return [input = std::move(input)](const Call& call) {
    const Shape& shape = call.shape(input);
    return shape.size() < 2 ? Ints{} : Ints(shape.begin() + 2, shape.end());
  };
}

const std::vector<const Operator*>& operators() {
  static const Operator known[] = {
#define OPERATOR(domain, name, file) file(),
#include "reference/operators.def"
#undef OPERATOR
  };
  static const std::vector<const Operator*> all = [] {
    std::vector<const Operator*> list;
    for (const Operator& each : known) list.push_back(&each);
    return list;
  }();
  return all;
}

const Operator* find_operator(std::string_view domain, std::string_view name) {
  // Every step of a case looks its operator up.
  static const std::map<std::pair<std::string_view, std::string_view>, const Operator*> by_name = [] {
    std::map<std::pair<std::string_view, std::string_view>, const Operator*> all;
    for (const Operator* each : operators()) all[{each->name(), each->domain()}] = each;
    return all;
  }();
  const auto found = by_name.find({name, domain});
  return found == by_name.end() ? nullptr : found->second;
}

const Definition* find_definition(const OpVersion& version) {
  const Operator* op = find_operator(version.domain, version.name);
  if (!op) return nullptr;
  const auto found = std::ranges::find(op->versions(), version, &Definition::version);
  return found == op->versions().end() ? nullptr : &*found;
}

int end_opset(const OpVersion& version) {
  const Operator* op = find_operator(version.domain, version.name);
  expects(op, "an operator outside operators.def");
  for (const Definition& later : op->versions())
    if (later.version.since_version > version.since_version) return later.version.since_version;
  return newest_opset_of(version.domain) + 1;
}

std::string page_of(const OpVersion& version) {
  if (version.domain == "com.microsoft")
    return "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#" + version.domain + "." +
           version.name;
  std::string anchor = version.name + "-" + std::to_string(version.since_version);
  for (char& letter : anchor) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  std::string prefix = "onnx_" + version.domain + "_";  // "onnx_aionnxml_"
  std::erase(prefix, '.');
  return "https://onnx.ai/onnx/operators/" + prefix + version.name + ".html#l-onnx-op-" + anchor;
}

int newest_opset_of(std::string_view domain) {
  if (domain == "ai.onnx.ml") return 5;
  return domain.empty() ? newest_opset : 1;
}

}  // namespace assay
