// SPDX-License-Identifier: Apache-2.0
#include "generators/generators.h"

#include "generators/convolution.h"
#include "generators/draw.h"
#include "generators/family.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

namespace assay::generators {

namespace {

constexpr int attempts = 200;

bool is_small(const Case& c, const OperatorGenerator& generator) {
  return volume(c.definition().shape(c.call())) <= generator.most_outputs && generator.cost(c) <= generator.most_cost;
}

// Draws until the case is legal and small.
Case draw_legal(const Definition& definition, DType type, std::uint64_t stratum) {
  const OperatorGenerator& generator = generator_of(definition.version);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    Case c = generator.draw(definition, type, stratum);
    if (!definition.violated(c.call()).empty() || !is_small(c, generator)) continue;
    refuse_constant_data(c);
    admit_types(c);
    return c;
  }
  throw BrokenPromise(text(definition.version) + ": no legal case in stratum " + std::to_string(stratum));
}

const std::vector<Mutation>& general_damages();

// Writes a word that is none of those of an attribute, or leaves a required one out.
bool spoils_a_word(Case& c) {
  for (const AttributeSpec& spec : c.definition().attributes) {
    if (spec.words.empty()) continue;
    std::string word = pick(spec.words);
    std::ranges::transform(word, word.begin(), [](char letter) { return static_cast<char>(letter ^ 0x20); });
    if (spec.required && chance(30))
      c.node.attributes.erase(spec.name);
    else
      c.node.attribute(spec.name, word);
    return true;
  }
  return false;
}

// Leaves out the attribute that names a type, or names one that the output never has.
bool names_another_type(Case& c) {
  const AttributeSpec* const named = c.definition().attribute(c.definition().outputs.front().typed_by);
  if (!named || named->kind == AttributeSpec::Kind::tensor) return false;
  const AttributeSpec& spec = *named;
  if (chance(30)) return c.node.attributes.erase(spec.name) > 0;
  const bool is_number = spec.kind == AttributeSpec::Kind::integer;
  c.node.attribute(spec.name,
                   is_number ? Attribute(pick<Int>({0, 99})) : Attribute(pick<std::string>({"int32", "FLOAT64"})));
  return true;
}

// Names an output type whose elements have another number of bits.
bool names_another_width(Case& c) {
  const Parameter& output = c.definition().outputs.front();
  std::vector<DType> others = c.definition().types_of(output.type);
  const int width = width_of(c.node.inputs.at(c.definition().data().name).type.dtype);
  std::erase_if(others, [&](DType type) { return width_of(type) == width; });
  c.node.attribute(output.typed_by, Attribute(Int{static_cast<int>(pick(others))}));
  return true;
}

// Tells whether a constraint says what an integer attribute may be.
bool is_mode(const Definition& definition, const AttributeSpec& spec) {
  return spec.kind == AttributeSpec::Kind::integer && definition.constraint(spec.name);
}

bool takes_no_mode(Case& c) {
  for (const AttributeSpec& spec : c.definition().attributes) {
    if (!is_mode(c.definition(), spec)) continue;
    if (chance(50)) {  // which floats may not do without
      for (auto& [name, source] : c.sources) {
        DType& type = c.node.inputs.at(name).type.dtype;
        if (is_float(type)) continue;
        type = DType::f32;
        source.recipe = {"small", "1"};
      }
      return c.node.attributes.erase(spec.name) > 0;
    }
    c.node.attribute(spec.name, Attribute(pick<Int>({2, -1})));
    return true;
  }
  return false;
}

bool takes_a_list_for_a_scalar(Case& c) {
  bool is_changed = false;
  for (const Parameter& input : c.definition().inputs) {
    if (input.arity != Arity::optional || !c.sources.contains(input.name)) continue;
    const Int count = pick<Int>({1, 3});
    c.node.inputs.at(input.name).type.shape = {count};
    std::string& values = c.sources.at(input.name).recipe.argument;
    if (!input.reads_as.empty() && count == 3) values += "," + values + "," + values;
    is_changed = true;
  }
  return is_changed;
}

// A case line gives at least one input.
bool loses_a_required_input(Case& c) {
  const auto inputs = c.definition().inputs | std::views::reverse;
  const std::string& last = std::ranges::find(inputs, Arity::required, &Parameter::arity)->name;
  c.sources.erase(last);
  return c.node.inputs.size() > 1 && c.node.inputs.erase(last) > 0;
}

std::vector<Mutation> made_damages(const Operator& op) {
  const Definition &definition = op.versions().front(), &newest = op.versions().back();
  const OperatorGenerator& generator = generator_of(definition.version);
  std::vector<Mutation> damages = generator.damages;
  std::ranges::move(family_of(definition).damages(generator), std::back_inserter(damages));
  std::ranges::copy(general_damages(), std::back_inserter(damages));
  const auto is_word = [](const AttributeSpec& spec) { return !spec.words.empty(); };
  if (std::ranges::any_of(newest.attributes, is_word)) damages.push_back({"a word that is none", spoils_a_word});
  if (!newest.outputs.front().typed_by.empty()) damages.push_back({"another type", names_another_type});
  const auto has_mode = [&](const AttributeSpec& spec) { return is_mode(newest, spec); };
  if (std::ranges::any_of(newest.attributes, has_mode)) damages.push_back({"another mode", takes_no_mode});
  if (newest.constraint("width")) damages.push_back({"another width", names_another_width});
  if (newest.constraint("scalar") || newest.constraint("scalars"))
    damages.push_back({"a list for a scalar", takes_a_list_for_a_scalar});
  if (newest.shaping == Shaping::one && newest.inputs.size() > 1)
    damages.push_back({"an input left out", loses_a_required_input});
  return damages;
}

const std::vector<Mutation>& damages_of(const OpVersion& version) {
  static const std::map<std::string, std::vector<Mutation>> all = [] {
    std::map<std::string, std::vector<Mutation>> made;
    for (const Operator* op : operators())
      made.emplace(operator_name(op->versions().front().version), made_damages(*op));
    return made;
  }();
  return all.at(operator_name(version));
}

// Damages one legal case after the other, until `is_wanted` of what came of it. What is drawn does not depend on what
// is wanted.
template <class F>
std::optional<Case> draw_damaged(const Definition& definition, DType type, F&& is_wanted) {
  const std::vector<Mutation>& damages = damages_of(definition.version);
  const auto count = static_cast<Int>(damages.size());
  for (int base = 0; base < 60; ++base) {
    const Case c = draw_legal(definition, type, static_cast<std::uint64_t>(between(0, 1000)));
    const Int first = between(0, count - 1);
    for (Int i = 0; i < count; ++i) {
      Case broken = c;
      if (damages[static_cast<std::size_t>((first + i) % count)].apply(broken) && is_wanted(std::as_const(broken)))
        return broken;
    }
  }
  return std::nullopt;
}

// Versions, types, seeds and indices have nothing in common: each word goes through SplitMix64 in turn.
rc::Random random_of(const OpVersion& version, DType type, std::uint64_t seed, std::uint64_t index) {
  std::uint64_t key = Generator(seed).next();
  for (const char c : text(version)) key = Generator(key ^ static_cast<unsigned char>(c)).next();
  for (const std::uint64_t word : {static_cast<std::uint64_t>(type), index}) key = Generator(key ^ word).next();
  return rc::Random(key);
}

std::vector<std::string> constraint_ids(const Definition& definition) {
  std::vector<std::string> ids;
  for (const Constraint& constraint : general_constraints()) ids.push_back(constraint.id);
  for (const Constraint& constraint : definition.constraints) ids.push_back(constraint.id);
  return ids;
}

// Where the version has the attribute this breaks nothing, and is drawn again.
bool attribute_of_another_version(Case& c) {
  for (const AttributeSpec* const spec : find_operator(c.version.domain, c.version.name)->attributes_ever()) {
    if (c.definition().attribute(spec->name) || c.definition().input(spec->name) || chance(40)) continue;
    if (spec->kind == AttributeSpec::Kind::integer) c.node.attribute(spec->name, Attribute(between(0, 1)));
    if (spec->kind == AttributeSpec::Kind::real) c.node.attribute(spec->name, Attribute(1.0F));
    if (spec->kind == AttributeSpec::Kind::reals) c.node.attribute(spec->name, Reals{1.0F});
    if (spec->kind == AttributeSpec::Kind::texts) c.node.attribute(spec->name, Texts{"a"});
    if (spec->kind == AttributeSpec::Kind::ints) {
      const auto data = c.node.inputs.find(c.definition().data().name);
      const Int rank = data == c.node.inputs.end() ? 0 : std::ssize(data->second.type.shape);
      c.node.attribute(spec->name, Ints(static_cast<std::size_t>(std::max<Int>(1, rank - 2)), between(1, 2)));
    }
    if (!spec->words.empty()) c.node.attribute(spec->name, spec->words.front());
    return true;
  }
  return false;
}

// Of the types that no version admits, or only a later one.
bool type_not_admitted(Case& c) {
  const std::vector<DType>& admitted = c.definition().types_of(c.definition().data().type);
  const auto admits = [&](DType type) { return std::ranges::find(admitted, type) != admitted.end(); };
  const std::initializer_list<DType> likely{DType::bf16, DType::i32, DType::i8, DType::u8};
  const DType drawn = pick(likely);
  // Leaves several inputs alone: two of them may differ in type instead.
  const bool is_rare = c.definition().inputs.size() == 1 && std::ranges::all_of(likely, admits);
  const DType type = !is_rare ? drawn : admits(DType::boolean) ? DType::string : DType::boolean;
  if (admits(type)) return false;
  for (auto& [name, source] : c.sources) {
    if (!c.definition().input(name)->reads_as.empty()) continue;
    c.node.inputs.at(name).type.dtype = type;
    if (type == DType::string)
      source.recipe = {"text", "a,b"};
    else if (source.recipe.family == "text")
      source.recipe = {"small", "1"};
  }
  return true;
}

// Damages any operator admits.
const std::vector<Mutation>& general_damages() {
  static const std::vector<Mutation> damages{{"an attribute of another version", attribute_of_another_version},
                                             {"a type not admitted", type_not_admitted}};
  return damages;
}

}  // namespace

void admit_types(Case& c) {
  const auto first_with = [](DType type) {
    switch (type) {
      case DType::f8e4m3fn:
      case DType::f8e4m3fnuz:
      case DType::f8e5m2:
      case DType::f8e5m2fnuz: return 9;
      case DType::f4e2m1: return 11;
      case DType::f8e8m0: return 12;
      case DType::u2:
      case DType::i2: return 13;
      case DType::f6e2m3:
      case DType::f6e3m2: return 14;
      default: return is_small(type) ? 10 : 0;
    }
  };
  const auto raise = [&](DType type) { c.ir_version = std::max(c.ir_version, first_with(type)); };
  for (const auto& [name, input] : c.node.inputs) raise(input.type.dtype);
  raise(c.definition().type_of(c.call(), c.definition().outputs.front()));
}

Case blank(const Definition& definition) {
  // Opset 26 is the newest that released runtimes load; above it a refusal says nothing about the operator.
  constexpr int newest_in_use = 26;
  Case c;
  c.version = definition.version;
  c.opset = definition.version.since_version;
  if (chance(25))
    c.opset = static_cast<int>(between(c.opset, std::max(c.opset, std::min(end_opset(c.version) - 1, newest_in_use))));
  c.ir_version = c.opset < 21 ? 8 : 10;
  c.declared = chance(35) ? DeclaredShapes::symbolic : DeclaredShapes::fixed;
  return c;
}

void write_default(Node& node, const Definition& definition, const char* attribute, Int value, Int default_value) {
  expects(definition.attribute(attribute), "an attribute this version does not have");
  if (value != default_value || chance(25)) node.attribute(attribute, Attribute(value));
}

// Draws are never scaled down, whatever size a property is run with.
rc::Gen<Case> legal(const Definition& definition, DType type) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::exec([&definition, type] {
                           const std::uint64_t strata = generator_of(definition.version).strata;
                           return draw_legal(definition, type,
                                             static_cast<std::uint64_t>(between(0, static_cast<Int>(strata) - 1)));
                         }));
}

Case legal(const Definition& definition, DType type, std::uint64_t seed, std::uint64_t index) {
  const Drawing drawing(random_of(definition.version, type, seed, index));
  return draw_legal(definition, type, index % generator_of(definition.version).strata);
}

Case deployed(Case c) {
  for (auto& [name, source] : c.sources) source.initializer = name != c.definition().data().name;
  const OperatorGenerator& generator = generator_of(c.version);
  if (!generator.layout) return c;
  Case plain = pointwise(c);
  if (generator.refit) generator.refit(plain);
  if (!plain.definition().violated(plain.call()).empty() || !is_small(plain, generator)) return c;
  refuse_constant_data(plain);
  return plain;
}

std::optional<Case> near_miss(const Definition& definition, DType type, std::string_view constraint, std::uint64_t seed,
                              std::uint64_t index) {
  const Drawing drawing(random_of(definition.version, type, seed, index));
  return draw_damaged(definition, type,
                      [&](const Case& broken) { return definition.breaks_only(broken.call(), constraint); });
}

// A case line writes every attribute in the kind of its name, so it cannot break G3; one that gives no input at all is
// none, so an operator of one input breaks G1 by attributes alone. G2, an attribute that is not of the version, takes
// another version that has one. That nothing else is missing, and that all of these can be broken, is for the test to
// say.
std::vector<std::string> breakable(const Definition& definition) {
  const Operator& op = *find_operator(definition.version.domain, definition.version.name);
  std::vector<std::string> ids = constraint_ids(definition);
  std::erase(ids, "G3");
  const auto is_required = [](const AttributeSpec& spec) { return spec.required; };
  const std::vector<Parameter>& inputs = definition.inputs;
  const bool needs_nothing = inputs.empty() || (inputs.size() == 1 && inputs.front().reads_as.empty());
  if (needs_nothing && std::ranges::none_of(definition.attributes, is_required)) std::erase(ids, "G1");
  const auto is_own = [&](const AttributeSpec* spec) {
    return definition.attribute(spec->name) || definition.input(spec->name);
  };
  if (std::ranges::all_of(op.attributes_ever(), is_own)) std::erase(ids, "G2");
  std::erase_if(ids, [&](const std::string& id) { return !family_of(definition).is_breakable(definition, id); });
  return ids;
}

}  // namespace assay::generators
