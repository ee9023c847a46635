// SPDX-License-Identifier: Apache-2.0
#include "generators/generators.h"

#include "generators/convolution.h"
#include "generators/draw.h"
#include "generators/questions.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace assay::generators {

#define OPERATOR(domain, name, file) const Questions& file();
#include "reference/operators.def"
#undef OPERATOR

namespace {

constexpr int attempts = 200;

bool is_small(const Case& c, const Questions& questions) {
  return volume(c.definition().shape(c.call())) <= questions.most_outputs && questions.cost(c) <= questions.most_cost;
}

// Draws until the case is legal and small.
Case draw_legal(const Definition& definition, DType type, std::uint64_t stratum) {
  const Questions& questions = questions_about(definition.version);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    Case c = questions.draw(definition, type, stratum);
    if (!definition.violated(c.call()).empty() || !is_small(c, questions)) continue;
    refuse_constant_data(c);
    return c;
  }
  throw BrokenPromise(text(definition.version) + ": no legal case in stratum " + std::to_string(stratum));
}

const std::vector<Damage>& general_damages();

// Done to the Conv the case stands for.
Damage done_to_conv(const Damage& damage) {
  return {damage.what, [apply = damage.apply](Case& c) {
            Case conv = conv_of(c);
            if (!apply(conv)) return false;
            stand_for(c, conv);
            return true;
          }};
}

std::vector<Damage> made_damages(const Questions& questions) {
  std::vector<Damage> damages = questions.damages, shared;
  if (questions.layout) shared = conv_damages();
  std::ranges::copy(window_damages(), std::back_inserter(shared));
  for (const Damage& damage : shared) damages.push_back(questions.layout ? done_to_conv(damage) : damage);
  std::ranges::copy(general_damages(), std::back_inserter(damages));
  return damages;
}

const std::vector<Damage>& damages_of(const OpVersion& version) {
  static const std::map<const Questions*, std::vector<Damage>> all = [] {
    std::map<const Questions*, std::vector<Damage>> made;
    for (const Operator* op : operators()) {
      const Questions& questions = questions_about(op->versions().front().version);
      made.emplace(&questions, made_damages(questions));
    }
    return made;
  }();
  return all.at(&questions_about(version));
}

// Damages one legal case after the other, until `is_wanted` of what came of it. What is drawn does not depend on what
// is wanted.
template <class F>
std::optional<Case> draw_damaged(const Definition& definition, DType type, F&& is_wanted) {
  const std::vector<Damage>& damages = damages_of(definition.version);
  const auto count = static_cast<Int>(damages.size());
  for (int base = 0; base < 40; ++base) {
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

// Of the first input, which every sliding window slides over.
const Shape& data_shape(const Case& c) { return c.node.inputs.at(c.definition().inputs.front().name).type.shape; }
Int spatial_axes(const Case& c) { return static_cast<Int>(data_shape(c).size()) - 2; }

// Changes one entry of a list attribute; a list that is left out is written out first.
bool change_entry(Case& c, const char* list, Int value) {
  if (!c.definition().attribute(list)) return false;
  Ints values = c.call().ints(list);
  if (values.empty()) return false;
  values[static_cast<std::size_t>(between(0, static_cast<Int>(values.size()) - 1))] = value;
  c.node.attribute(list, std::move(values));
  return true;
}

bool no_stride(Case& c) { return change_entry(c, "strides", -between(0, 1)); }
bool no_dilation(Case& c) { return change_entry(c, "dilations", -between(0, 1)); }
bool negative_pad(Case& c) { return change_entry(c, "pads", -between(1, 2)); }

bool change_length(Case& c, const char* list) {
  if (!c.definition().attribute(list)) return false;
  Ints values = c.call().ints(list);
  if (values.size() > 1 && chance(50))
    values.pop_back();
  else
    values.push_back(1);
  c.node.attribute(list, std::move(values));
  return true;
}

bool strides_of_another_length(Case& c) { return change_length(c, "strides"); }
bool dilations_of_another_length(Case& c) { return change_length(c, "dilations"); }
bool pads_of_another_length(Case& c) { return change_length(c, "pads"); }

bool one_pad_per_axis(Case& c) {
  c.node.attribute("pads", Ints(static_cast<std::size_t>(spatial_axes(c)), 1));
  return true;
}

bool unknown_auto_pad(Case& c) {
  c.node.attributes.erase("pads");
  c.node.attribute("auto_pad", pick({"SAME", "same_upper", "Valid", "EXPLICIT", "SAME_UPPER_LOWER", "NONE"}));
  return true;
}

bool auto_pad_with_pads(Case& c) {
  Ints pads = c.call().ints("pads");
  if (chance(70)) std::ranges::generate(pads, [] { return between(0, 2); });
  c.node.attribute("pads", std::move(pads));
  if (!c.node.attributes.contains("auto_pad") || c.call().text("auto_pad") == "NOTSET")
    c.node.attribute("auto_pad", pick({"SAME_UPPER", "SAME_LOWER", "VALID"}));
  return true;
}

bool small_input(Case& c) {
  Shape& x = c.node.inputs.at("X").type.shape;
  x[static_cast<std::size_t>(between(2, static_cast<Int>(x.size()) - 1))] = between(0, 1);
  return true;
}

bool large_dilation(Case& c) { return change_entry(c, "dilations", between(5, 20)); }

// Where the version has the attribute this breaks nothing, and is drawn again.
bool attribute_of_a_later_version(Case& c) {
  const std::vector<Definition>& versions = find_operator(c.version.domain, c.version.name)->versions();
  for (const AttributeSpec& spec : versions.back().attributes) {
    if (c.definition().attribute(spec.name) || chance(40)) continue;
    if (spec.kind == AttributeSpec::Kind::integer) c.node.attribute(spec.name, Attribute(between(0, 1)));
    if (spec.kind == AttributeSpec::Kind::ints)
      c.node.attribute(spec.name, Ints(static_cast<std::size_t>(spatial_axes(c)), between(1, 2)));
    return true;
  }
  return false;
}

// Of the types that no version admits, or only a later one.
bool type_not_admitted(Case& c) {
  const std::vector<DType>& admitted = c.definition().types_of(c.definition().inputs.front().type);
  const DType type = pick({DType::bf16, DType::i32, DType::i8, DType::u8});
  if (std::ranges::find(admitted, type) != admitted.end()) return false;
  for (auto& [name, source] : c.sources) c.node.inputs.at(name).type.dtype = type;
  return true;
}

// Damages any operator admits.
const std::vector<Damage>& general_damages() {
  static const std::vector<Damage> damages{{"an attribute of a later version", attribute_of_a_later_version},
                                           {"a type not admitted", type_not_admitted}};
  return damages;
}

}  // namespace

const Questions& questions_about(const OpVersion& version) {
#define OPERATOR(domain_, name_, file) \
  if (version.domain == domain_ && version.name == #name_) return file();
#include "reference/operators.def"
#undef OPERATOR
  throw BrokenPromise("no questions about " + text(version));
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

const std::vector<Damage>& window_damages() {
  static const std::vector<Damage> damages{{"a stride of 0 or less", no_stride},
                                           {"a dilation of 0 or less", no_dilation},
                                           {"a negative pad", negative_pad},
                                           {"strides of another length", strides_of_another_length},
                                           {"dilations of another length", dilations_of_another_length},
                                           {"pads of another length", pads_of_another_length},
                                           {"one pad per axis", one_pad_per_axis},
                                           {"an unknown auto_pad", unknown_auto_pad},
                                           {"auto_pad and pads", auto_pad_with_pads},
                                           {"an input too small", small_input},
                                           {"a dilation too large", large_dilation}};
  return damages;
}

// Draws are never scaled down, whatever size a property is run with.
rc::Gen<Case> legal(const Definition& definition, DType type) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::exec([&definition, type] {
                           const std::uint64_t strata = questions_about(definition.version).strata;
                           return draw_legal(definition, type,
                                             static_cast<std::uint64_t>(between(0, static_cast<Int>(strata) - 1)));
                         }));
}

Case legal(const Definition& definition, DType type, std::uint64_t seed, std::uint64_t index) {
  const Drawing drawing(random_of(definition.version, type, seed, index));
  return draw_legal(definition, type, index % questions_about(definition.version).strata);
}

std::optional<Case> near_miss(const Definition& definition, DType type, std::string_view constraint, std::uint64_t seed,
                              std::uint64_t index) {
  const Drawing drawing(random_of(definition.version, type, seed, index));
  return draw_damaged(definition, type,
                      [&](const Case& broken) { return definition.breaks_only(broken.call(), constraint); });
}

// A case line writes every attribute in the kind of its name, so it cannot break G3. G2, an attribute or input that is
// not of the version, takes a later version that has more of them; without dilations there is no dilation of 0. That
// nothing else is missing, and that all of these can be broken, is for the test to say.
std::vector<std::string> breakable(const Definition& definition) {
  const Definition& newest = find_operator(definition.version.domain, definition.version.name)->versions().back();
  std::vector<std::string> ids = constraint_ids(definition);
  std::erase(ids, "G3");
  if (definition.attributes.size() == newest.attributes.size()) std::erase(ids, "G2");
  if (!definition.attribute("dilations")) std::erase(ids, "W6");
  return ids;
}

}  // namespace assay::generators
