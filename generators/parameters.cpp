// SPDX-License-Identifier: Apache-2.0
#include "generators/parameters.h"

#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/shrink.h"
#include "generators/values.h"
#include "reference/operator.h"
#include "reference/sequence.h"

#include <algorithm>
#include <limits>

namespace assay::generators {
namespace {

// The inputs of the case that its call reads.
std::vector<Parameter> read_inputs(const Case& c) {
  std::vector<Parameter> all = c.definition().inputs;
  std::erase_if(all, [&](const Parameter& each) {
    return each.reads_as.empty() || !c.sources.contains(each.name) ||
           !is_integer(c.node.inputs.find(each.name)->second.type.dtype);
  });
  return all;
}

const Parameter* input_read_as(const Definition& definition, std::string_view name) {
  const auto found = std::ranges::find(definition.inputs, name, &Parameter::reads_as);
  return found == definition.inputs.end() ? nullptr : &*found;
}

// Changes a list of the case, one that is not empty if `needs_entry`; false where there is none.
template <class F>
bool change_list(Case& c, bool needs_entry, F&& change) {
  Names names = stated_lists(c);
  if (needs_entry) std::erase_if(names, [&](const std::string& name) { return stated(c, name).empty(); });
  if (names.empty()) return false;
  const std::string name = pick(names);
  Ints values = stated(c, name);
  change(values);
  state(c, name, values);
  return true;
}

template <class F>
bool change_input(Case& c, F&& change) {
  const std::vector<Parameter> inputs = read_inputs(c);
  if (inputs.empty()) return false;
  change(pick(inputs).name);
  return true;
}

struct Entry {
  std::string list;
  std::size_t index;
};

std::vector<Entry> entries(const Case& c) {
  std::vector<Entry> all;
  constexpr std::size_t most = 32;  // of more, as the targets of a loss, none is made plainer by itself
  for (const std::string& list : stated_lists(c))
    if (const std::size_t count = stated(c, list).size(); count <= most)
      for (std::size_t i = 0; i < count; ++i) all.push_back({list, i});
  return all;
}

// Adds a case with another list, and the same with what follows from that.
void push_as_it_is(Cases& into, Case c) {
  into.push_back(c);
  if (const auto fit = generator_of(c.version).refit) fit(c);
  if (c != into.back()) into.push_back(std::move(c));
}

}  // namespace

OperatorGenerator moving_generator(Case (*draw)(const Definition&, DType, std::uint64_t stratum),
                                   void (*refit)(Case&)) {
  return {.draw = draw, .strata = shape_strata, .refit = refit};
}

OperatorGenerator placing_generator(Case (*draw)(const Definition&, DType, std::uint64_t stratum), Ranks ranks,
                                    void (*refit)(Case&)) {
  OperatorGenerator all = moving_generator(draw, refit);
  all.damages = shape_damages();
  all.ranks = ranks;
  return all;
}

void insert_axis(Shape& shape, Int extent) { shape.insert(shape.begin() + between(0, std::ssize(shape)), extent); }

Case moving(const Definition& definition, DType type, const Shape& shape) {
  Case c = blank(definition);
  const std::string& first = definition.inputs.front().name;
  c.node.input(first, {type, shape});
  const bool counts =
      is_float(type) && !is_small(type) ? chance(40) : is_integer(type) && !is_small(type) && chance(40);
  const bool is_special = is_float(type) && !is_small(type) && !counts && chance(25);
  c.sources[first] = {counts ? Recipe{"iota", "1"} : is_special ? seeded("special") : draw_selection_fill(type), false};
  return c;
}

Ints any_order(Ints axes, Int rank, bool from_end) {
  for (std::size_t i = axes.size(); i > 1; --i)
    std::swap(axes[i - 1], axes[static_cast<std::size_t>(between(0, static_cast<Int>(i) - 1))]);
  for (Int& axis : axes)
    if (from_end && chance(40)) axis -= rank;
  return axes;
}

void write_out(Case& c, const std::string& input, Shape shape, const Ints& values) {
  const Parameter& parameter = *c.definition().input(input);
  const auto before = c.node.inputs.find(input);
  const DType type =
      before == c.node.inputs.end() ? c.definition().types_of(parameter.type).front() : before->second.type.dtype;
  const bool is_constant = before == c.node.inputs.end() ? chance(50) : c.sources.at(input).initializer;
  c.node.input(input, {type, std::move(shape)});
  const bool is_unsigned = type == DType::u8 || type == DType::u16 || type == DType::u32 || type == DType::u64;
  const auto said = [&](Int value) { return std::to_string(is_unsigned ? std::max<Int>(value, 0) : value); };
  c.sources[input] = {{"values", joined(values, ",", said)}, is_constant};
}

void state(Case& c, std::string_view name, const Ints& values) {
  const bool is_attribute = c.node.attributes.contains(std::string(name));  // where a version has both, what is there
  if (const Parameter* const input = input_read_as(c.definition(), name); input && !is_attribute)
    return write_out(c, input->name, {static_cast<Int>(values.size())}, values);
  const AttributeSpec* const spec = c.definition().attribute(name);
  expects(spec != nullptr, "a list that this version does not have");
  if (spec->kind == AttributeSpec::Kind::ints)
    c.node.attribute(spec->name, values);
  else if (!values.empty())
    c.node.attribute(spec->name, values.front());
}

void leave_one_open(Case& c, const std::string& name, Int open) {
  if (!c.call().states(name) || c.is_legal()) return;
  const Ints values = stated(c, name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    Case other = c;
    Ints fitting = values;
    fitting[i] = open;
    state(other, name, fitting);
    if (other.is_legal()) return std::swap(c, other);
  }
  state(c, name, {open});  // all of it
}

Names stated_lists(const Case& c) {
  Names names;
  for (const auto& [name, value] : c.node.attributes)
    if (std::holds_alternative<Ints>(value) && c.definition().attribute(name)) names.push_back(name);
  for (const Parameter& input : read_inputs(c))
    if (!c.node.attributes.contains(input.reads_as)) names.push_back(input.reads_as);  // else it is no list
  return names;
}

Ints stated(const Case& c, const std::string& name) { return c.call().ints(name); }

std::vector<Mutation> parameter_damages() {
  return {{"an entry of a list changed",
           [](Case& c) {
             return change_list(c, true, [](Ints& values) {
               Int& entry = pick(values);
               const auto size = static_cast<std::uint64_t>(entry);  // INT64_MAX is a common end of Slice
               const auto next = static_cast<Int>(size + 1), twice = static_cast<Int>(2 * size);
               entry = pick({Int{-1}, Int{-1}, Int{0}, Int{0}, Int{-2}, next, twice, Int{7}});
             });
           }},
          {"an entry of a list added",
           [](Case& c) {
             return change_list(c, false, [](Ints& values) { values.push_back(pick<Int>({0, -1, -1, 2, 3})); });
           }},
          {"an entry of a list left out",
           [](Case& c) {
             return change_list(c, true,
                                [](Ints& values) { values.erase(values.begin() + (&pick(values) - values.data())); });
           }},
          {"an input of another rank",
           [](Case& c) {
             return change_input(c, [&](const std::string& name) {
               const Ints values = stated(c, c.definition().input(name)->reads_as);
               Shape shape = shape_of(c, name);
               if (values.size() == 1 && chance(50))
                 shape.clear();
               else
                 shape.insert(shape.begin() + between(0, static_cast<Int>(shape.size())), 1);
               write_out(c, name, shape, values);
             });
           }},
          {"an input of another type",
           [](Case& c) {
             return change_input(c, [&](const std::string& name) {
               const std::vector<DType>& admitted = c.definition().types_of(c.definition().input(name)->type);
               const bool is_short = std::ranges::count(admitted, DType::i32) > 0;
               const Int most =
                   is_short ? std::numeric_limits<std::int16_t>::max() : std::numeric_limits<std::int32_t>::max();
               Ints values = stated(c, c.definition().input(name)->reads_as);
               for (Int& value : values) value = std::clamp(value, -most, most);  // as the other type has them
               c.node.inputs.at(name).type.dtype = is_short ? DType::i16 : DType::i32;
               write_out(c, name, shape_of(c, name), values);
             });
           }},
          {"an input left out",
           [](Case& c) { return change_input(c, [&](const std::string& name) { remove_input(c, name); }); }},
          // Axes, and counts that have to be stated: flags may have any value.
          {"an integer changed",
           [](Case& c) {
             const std::vector<AttributeSpec> all = filtered(c.definition().attributes, [](const AttributeSpec& spec) {
               const bool is_flag = !spec.required && spec.value && std::holds_alternative<Int>(*spec.value) &&
                                    std::get<Int>(*spec.value) >= 0;
               return spec.kind == AttributeSpec::Kind::integer && !is_flag;
             });
             if (all.empty() || c.definition().inputs.empty()) return false;
             const Int rank = c.call().rank(c.definition().inputs.front().name);
             const Int number = pick<Int>({rank, -rank - 1, 0, 0, -1, 1001});
             c.node.attribute(pick(all).name, Attribute(number));
             return true;
           }},
          // Empties an axis: what stands at 0 of a list may be copied from there, and what is open is then any number.
          {"an empty axis and a list that names it",
           [](Case& c) {
             const Names lists = stated_lists(c);
             if (c.node.inputs.empty() || shape_of(c).empty() || lists.empty()) return false;
             shape_of(c).front() = 0;
             state(c, lists.back(), chance(50) ? Ints{0, -1} : Ints{0, 2, -1});
             for (const AttributeSpec& spec : c.definition().attributes)
               if (spec.value && spec.value == Attribute(Int{0})) c.node.attribute(spec.name, Attribute(between(0, 1)));
             return true;
           }},
          {"an attribute left out", [](Case& c) {
             const auto required = filtered(c.definition().attributes, &AttributeSpec::required);
             return !required.empty() && c.node.attributes.erase(pick(required).name) > 0;
           }}};
}

int entry_count(const Case& c) { return static_cast<int>(entries(c).size()); }

Cases fewer_entries(const Case& c, int part) {
  const Entry entry = entries(c)[static_cast<std::size_t>(part)];
  Ints values = stated(c, entry.list);
  if (values.size() == 1 && entry.list == c.definition().data().reads_as) return {};  // the data
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(entry.index));
  Cases out;
  Case other = c;
  state(other, entry.list, values);
  push_as_it_is(out, std::move(other));
  return out;
}

Cases plainer_entries(const Case& c, int part) {
  const Entry entry = entries(c)[static_cast<std::size_t>(part)];
  Cases out;
  for (const Int other : towards(stated(c, entry.list)[entry.index], 1)) {
    Ints values = stated(c, entry.list);
    values[entry.index] = other;
    Case changed = c;
    state(changed, entry.list, values);
    push_as_it_is(out, std::move(changed));
  }
  return out;
}

Mutation numbers_for_strings() {
  return {"numbers", [](Case& c) {
            const std::string& name = c.definition().inputs.front().name;
            c.node.input(name, {DType::f32, {1}});
            c.sources[name].recipe = {"values", "1"};
          }};
}

}  // namespace assay::generators
