// SPDX-License-Identifier: Apache-2.0
#include "generators/features.h"

#include "reference/operator.h"

#include <algorithm>
#include <functional>
#include <map>

namespace assay::generators {
namespace {

struct Row {
  Dimension dimension;
  std::function<int(const Case&, const Call&)> of;
};

Row stated_row(const std::string& name) {
  return {{name, {"left out", "stated"}}, [name](const Case&, const Call& call) { return call.states(name) ? 1 : 0; }};
}

// Modes are 0 or 1, counts 1 or more; the default says which it is, but that operators on elements count nothing.
Row integer_row(const std::string& name, Int default_value, Shaping shaping) {
  const bool counts = shaping != Shaping::one && shaping != Shaping::broadcast;
  const Names words = default_value == 0 ? Names{"left out", "0", "1"}
                      : counts           ? Names{"left out", "1", "> 1"}
                                         : Names{"left out", "1", "0"};
  return {{name, words}, [name, default_value](const Case&, const Call& call) {
            if (!call.states(name)) return 0;
            return call.integer(name) == default_value ? 1 : 2;
          }};
}

Row word_row(const AttributeSpec& spec) {
  Names values = spec.required ? Names{} : Names{"left out"};
  std::ranges::copy(spec.words, std::back_inserter(values));
  return {{spec.name, values}, [name = spec.name, values](const Case&, const Call& call) {
            if (!call.states(name)) return 0;
            return static_cast<int>(std::ranges::find(values, call.text(name)) - values.begin());
          }};
}

Row attribute_row(const Definition& definition, const AttributeSpec& spec) {
  if (definition.outputs.front().typed_by == spec.name && !spec.required) return stated_row(spec.name);
  if (std::optional<AttributeDimension> known = family_of(definition).attribute(spec))
    return {known->dimension, [of = known->value_of](const Case&, const Call& call) { return of(call); }};
  if (spec.kind == AttributeSpec::Kind::integer)
    return integer_row(spec.name, spec.value ? std::get<Int>(*spec.value) : 0, definition.shaping);
  return spec.words.empty() ? stated_row(spec.name) : word_row(spec);
}

Row type_row(const Definition& definition, const TypeVariable& variable) {
  Dimension dimension{"type " + variable.name, {}};
  for (const DType type : variable.types) dimension.values.emplace_back(name(type));
  const auto index_of = [types = variable.types](DType type) {
    const auto at = std::ranges::find(types, type);
    return at == types.end() ? -1 : static_cast<int>(at - types.begin());
  };
  const auto row_of = [&](const Parameter& input) -> Row {
    return {dimension, [index_of, of = input.name](const Case&, const Call& call) {
              return call.has(of) ? index_of(call.type(of).dtype) : -1;
            }};
  };
  for (const Parameter& input : definition.inputs)
    if (input.type == variable.name && input.arity == Arity::required) return row_of(input);
  for (const Parameter& output : definition.outputs)
    if (output.type == variable.name)
      return {dimension, [&definition, &output, index_of](const Case&, const Call& call) {
                return index_of(definition.type_of(call, output));
              }};
  for (const Parameter& input : definition.inputs)
    if (input.type == variable.name) return row_of(input);
  throw BrokenPromise("a type that neither an input nor an output has");
}

Row input_row(const Parameter& input) {
  if (input.arity == Arity::required)
    return {{input.name, {"input", "constant"}},
            [name = input.name](const Case& c, const Call&) { return c.sources.at(name).initializer ? 1 : 0; }};
  return {{input.name, {"left out", "empty name", "input", "constant"}},
          [name = input.name](const Case& c, const Call& call) {
            if (!c.node.inputs.contains(name)) return 0;
            if (!call.has(name)) return 1;
            return c.sources.at(name).initializer ? 3 : 2;
          }};
}

bool has_later_opset(const OpVersion& version) {
  // Opset 26 is the newest that is drawn (generators.cpp, blank).
  return std::min(end_opset(version) - 1, 26) > version.since_version;
}

std::vector<Row> rows_of(const Definition& definition) {
  std::vector<Row> rows;
  for (const AttributeSpec& spec : definition.attributes)
    if (spec.name != definition.outputs.front().typed_by) rows.push_back(attribute_row(definition, spec));
  for (const TypeVariable& variable : definition.types)
    if (variable.types.size() > 1) rows.push_back(type_row(definition, variable));
  // The first input is always a graph input: a model of constants alone leaves a runtime nothing to compute.
  for (std::size_t i = 1; i < definition.inputs.size(); ++i)
    if (definition.inputs[i].arity != Arity::repeated) rows.push_back(input_row(definition.inputs[i]));
  if (definition.is_variadic())
    rows.push_back({{"inputs", {"1", "2", "3 or more"}}, [](const Case& c, const Call&) {
                      return static_cast<int>(std::min<std::size_t>(c.node.inputs.size(), 3)) - 1;
                    }});
  for (const Parameter& output : definition.outputs)
    if (output.arity == Arity::optional)
      rows.push_back({{output.name, {"left out", "requested"}},
                      [name = output.name](const Case&, const Call& call) { return call.requests(name) ? 1 : 0; }});
  if (definition.outputs.back().arity == Arity::repeated)
    rows.push_back({{"number of outputs", {"1", "2", "3 or more"}}, [](const Case&, const Call& call) {
                      return static_cast<int>(std::min<std::size_t>(call.requested_outputs().size(), 3)) - 1;
                    }});
  // Shapes that are not declared are run as presentations, not as cases.
  rows.push_back({{"shapes", {"fixed", "symbolic"}}, [](const Case& c, const Call&) {
                    return c.declared == DeclaredShapes::absent ? -1 : static_cast<int>(c.declared);
                  }});
  if (has_later_opset(definition.version))
    rows.push_back({{"opset", {"its first", "later"}},
                    [](const Case& c, const Call&) { return c.opset == c.version.since_version ? 0 : 1; }});
  return rows;
}

struct Table {
  std::vector<Row> rows;  // those of the shapes, which the family works out at once, are not among them
  std::vector<Dimension> dimensions;
};

Table made_table(const Definition& definition) {
  Table table{rows_of(definition), {}};
  for (const Row& row : table.rows) table.dimensions.push_back(row.dimension);
  for (Dimension& shape : family_of(definition).dimensions(definition)) table.dimensions.push_back(std::move(shape));
  return table;
}

const Table& table_of(const OpVersion& version) {
  static const std::map<OpVersion, Table> tables = [] {
    std::map<OpVersion, Table> all;
    for (const Operator* op : operators())
      for (const Definition& definition : op->versions()) all.emplace(definition.version, made_table(definition));
    return all;
  }();
  return tables.at(version);
}

bool names(const Exclusion& exclusion, const CoverageValue& a, const CoverageValue& b) {
  const auto has = [](const auto& list, const std::string& value) {
    return std::ranges::find(list, value) != list.end();
  };
  return exclusion.a == a.dimension && exclusion.b == b.dimension && has(exclusion.of_a, a.value) &&
         has(exclusion.of_b, b.value);
}

}  // namespace

const std::vector<Dimension>& dimensions(const Definition& definition) {
  return table_of(definition.version).dimensions;
}

std::vector<int> features(const Case& c) {
  const Call call = c.call();
  std::vector<int> values;
  for (const Row& row : table_of(c.version).rows) values.push_back(row.of(c, call));
  std::ranges::copy(family_of(c.definition()).features(c), std::back_inserter(values));
  return values;
}

bool is_possible(const Definition& definition, const CoverageValue& a, const CoverageValue& b) {
  // Without auto_pad all padding is that of `pads`.
  const bool only_pads = definition.attribute("auto_pad") == nullptr;
  // Others of its inputs may be degenerate where the first has no axes.
  const bool has_others = definition.inputs.size() > 1 &&
                          (definition.shaping == Shaping::reduced || definition.shaping == Shaping::normalized);
  const auto excludes = [&](const Exclusion& each, const CoverageValue& p, const CoverageValue& q) {
    return names(each, p, q) && !(has_others && each.b == "class");
  };
  for (const auto& [p, q] : {std::pair(a, b), std::pair(b, a)}) {
    if (only_pads && p.dimension == "pads" && p.value == "left out" && q.dimension == "padding" && q.value != "none")
      return false;
    if (std::ranges::any_of(family_of(definition).exclusions(),
                            [&](const Exclusion& each) { return excludes(each, p, q); }))
      return false;
  }
  return true;
}

}  // namespace assay::generators
