// SPDX-License-Identifier: Apache-2.0
#include "generators/features.h"

#include "generators/convolution.h"
#include "reference/operator.h"
#include "reference/window.h"

#include <algorithm>
#include <functional>
#include <map>

namespace assay::generators {
namespace {

using Words = std::vector<std::string>;

struct Seen {
  const Case& k;
  Call call = k.call();
  Case v = conv_of(k);
  Call c = v.call();  // with X, W, B, channels second
  Window w = Window::of(c);
};

struct Row {
  Dimension dimension;
  std::function<int(const Seen&)> of;
};

bool all_are(const Ints& values, Int value) {
  return std::ranges::all_of(values, [=](Int each) { return each == value; });
}
bool all_equal(const Ints& values) { return values.empty() || all_are(values, values.front()); }

Row text_row(const std::string& name) {
  static const Words words{"left out", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
  return {{name, words}, [name](const Seen& s) {
            if (!s.call.states(name)) return 0;
            const auto at = std::ranges::find(words, s.call.text(name));
            return at == words.end() ? -1 : static_cast<int>(at - words.begin());
          }};
}

// Modes are 0 or 1, counts 1 or more; the default says which it is.
Row integer_row(const std::string& name, Int default_value) {
  const Words words = default_value == 0 ? Words{"left out", "0", "1"} : Words{"left out", "1", "> 1"};
  return {{name, words}, [name, default_value](const Seen& s) {
            if (!s.call.states(name)) return 0;
            return s.call.integer(name) == default_value ? 1 : 2;
          }};
}

// A list whose default follows another input says nothing but that when it is stated.
Row following_row(const std::string& name) {
  return {{name, {"left out", "stated"}}, [name](const Seen& s) { return s.call.states(name) ? 1 : 0; }};
}

int evenness(const Ints& values, Int default_value) {
  if (all_are(values, default_value)) return 0;
  return all_equal(values) ? 1 : 2;
}

Row list_row(const std::string& name, Int default_value) {
  const std::string word = std::to_string(default_value);
  return {{name, {"left out", "all " + word, "equal, not " + word, "different"}},
          [=](const Seen& s) { return s.call.states(name) ? 1 + evenness(s.call.ints(name), default_value) : 0; }};
}

Row required_list_row(const std::string& name) {
  return {{name, {"all 1", "equal, not 1", "different"}},
          [name](const Seen& s) { return evenness(s.call.ints(name), 1); }};
}

Row attribute_row(const AttributeSpec& spec) {
  switch (spec.kind) {
    case AttributeSpec::Kind::text: return text_row(spec.name);
    case AttributeSpec::Kind::integer: return integer_row(spec.name, spec.value ? std::get<Int>(*spec.value) : 0);
    default: break;
  }
  if (spec.required) return required_list_row(spec.name);
  if (spec.name == "kernel_shape") return following_row(spec.name);
  return list_row(spec.name, spec.name == "pads" ? 0 : 1);
}

Row type_row(const Definition& definition, const TypeVariable& variable) {
  Dimension dimension{"type " + variable.name, {}};
  for (const DType type : variable.types) dimension.values.emplace_back(name(type));
  for (const Parameter& input : definition.inputs)
    if (input.type == variable.name && input.arity == Arity::required)
      return {dimension, [types = variable.types, of = input.name](const Seen& s) {
                const auto at = std::ranges::find(types, s.call.type(of).dtype);
                return at == types.end() ? -1 : static_cast<int>(at - types.begin());
              }};
  throw BrokenPromise("a type that no required input has");
}

Row input_row(const Parameter& input) {
  if (input.arity == Arity::required)
    return {{input.name, {"input", "constant"}},
            [name = input.name](const Seen& s) { return s.k.sources.at(name).initializer ? 1 : 0; }};
  return {{input.name, {"left out", "empty name", "input", "constant"}}, [name = input.name](const Seen& s) {
            if (!s.k.node.inputs.contains(name)) return 0;
            if (!s.call.has(name)) return 1;
            return s.k.sources.at(name).initializer ? 3 : 2;
          }};
}

bool is_wide(const Axis& axis) { return axis.effective_kernel() < axis.stride; }
bool any_axis(const Seen& s, bool (*holds)(const Axis&)) { return std::ranges::any_of(s.w.axes, holds); }

int padding(const Seen& s) {
  if (any_axis(s, [](const Axis& a) { return std::max(a.begin, a.end) >= a.effective_kernel(); })) return 3;
  if (any_axis(s, [](const Axis& a) { return a.begin != a.end; })) return 2;
  return any_axis(s, [](const Axis& a) { return a.begin > 0; }) ? 1 : 0;
}

int grouping(const Seen& s) {
  if (s.c.integer("group") == 1) return 0;
  return s.c.integer("group") == s.c.dim("X", 1) ? 2 : 1;
}

int count_of(Int extent) { return extent > 1 ? 2 : static_cast<int>(extent); }

// What does not stand in the definition: the shapes.
std::vector<Row> shape_rows(const Definition& definition) {
  std::vector<Row> rows;
  // DeformConv is asked on three axes at most: 2^r corners per tap.
  rows.push_back({{"rank", definition.input("offset") ? Words{"1", "2", "3"} : Words{"1", "2", "3", "4"}},
                  [](const Seen& s) { return s.w.axes.size() > 4 ? -1 : static_cast<int>(s.w.axes.size()) - 1; }});
  rows.push_back({{"batch", {"0", "1", "> 1"}}, [](const Seen& s) { return count_of(s.c.dim("X", 0)); }});
  rows.push_back({{"channels", {"0", "1", "2 to 7", "> 7"}}, [](const Seen& s) {
                    const Int channels = s.c.dim("X", 1);
                    return channels > 7 ? 3 : count_of(channels);
                  }});
  rows.push_back({{"input", {"an empty axis", "an axis of 1", "all > 1"}}, [](const Seen& s) {
                    Int least = 2;
                    for (const Axis& axis : s.w.axes) least = std::min(least, axis.in);
                    return static_cast<int>(least);
                  }});
  if (definition.inputs.size() > 1) {
    rows.push_back({{"maps", {"0", "1", "> 1"}}, [](const Seen& s) { return count_of(s.c.dim("W", 0)); }});
    rows.push_back({{"groups", {"one", "some", "per channel"}}, grouping});
    rows.push_back(
        {{"kernel", {"all 1", "equal, not 1", "different"}}, [](const Seen& s) { return evenness(s.w.kernel(), 1); }});
  }
  rows.push_back({{"padding", {"none", "even", "uneven", "as large as the kernel"}}, padding});
  rows.push_back({{"stride", {"within the kernel", "beyond the kernel"}},
                  [](const Seen& s) { return any_axis(s, is_wide) ? 1 : 0; }});
  rows.push_back({{"windows", {"one", "several"}}, [](const Seen& s) { return volume(s.w.output()) > 1 ? 1 : 0; }});
  return rows;
}

bool has_later_opset(const OpVersion& version) {
  // Opset 26 is the newest that is asked (generators.cpp, blank).
  return std::min(end_opset(version) - 1, 26) > version.since_version;
}

std::vector<Row> rows_of(const Definition& definition) {
  std::vector<Row> rows;
  for (const AttributeSpec& spec : definition.attributes) rows.push_back(attribute_row(spec));
  for (const TypeVariable& variable : definition.types)
    if (variable.types.size() > 1) rows.push_back(type_row(definition, variable));
  // The first input is always a graph input: a model of constants alone is no question to a runtime.
  for (std::size_t i = 1; i < definition.inputs.size(); ++i) rows.push_back(input_row(definition.inputs[i]));
  // Shapes that are not declared are asked as presentations, not as cases.
  rows.push_back({{"shapes", {"fixed", "symbolic"}}, [](const Seen& s) {
                    return s.k.declared == DeclaredShapes::absent ? -1 : static_cast<int>(s.k.declared);
                  }});
  if (has_later_opset(definition.version))
    rows.push_back({{"opset", {"its first", "later"}},
                    [](const Seen& s) { return s.k.opset == s.k.version.since_version ? 0 : 1; }});
  std::ranges::move(shape_rows(definition), std::back_inserter(rows));
  return rows;
}

struct Table {
  std::vector<Row> rows;
  std::vector<Dimension> dimensions;
};

const Table& table_of(const OpVersion& version) {
  static const std::map<OpVersion, Table> tables = [] {
    std::map<OpVersion, Table> all;
    for (const Operator* op : operators())
      for (const Definition& definition : op->versions()) {
        Table table{rows_of(definition), {}};
        for (const Row& row : table.rows) table.dimensions.push_back(row.dimension);
        all.emplace(definition.version, std::move(table));
      }
    return all;
  }();
  return tables.at(version);
}

// No legal case has a value of the first dimension together with one of the second.
struct Exclusion {
  std::string_view a;
  std::vector<std::string_view> of_a;
  std::string_view b;
  std::vector<std::string_view> of_b;
};

const std::vector<Exclusion>& exclusions() {
  static const std::vector<Exclusion> all{
      // One axis has nothing to differ from.
      {"rank", {"1"}, "strides", {"different"}},
      {"rank", {"1"}, "dilations", {"different"}},
      {"rank", {"1"}, "kernel_shape", {"different"}},
      {"rank", {"1"}, "kernel", {"different"}},
      // W2, and what auto_pad and pads say of the padding. SAME_* pads by less than the kernel.
      {"auto_pad", {"SAME_UPPER", "SAME_LOWER", "VALID"}, "pads", {"all 0", "equal, not 0", "different"}},
      {"auto_pad", {"VALID"}, "padding", {"even", "uneven", "as large as the kernel"}},
      {"auto_pad", {"SAME_UPPER", "SAME_LOWER"}, "padding", {"as large as the kernel"}},
      {"pads", {"all 0"}, "padding", {"even", "uneven", "as large as the kernel"}},
      {"pads", {"equal, not 0"}, "padding", {"none", "uneven"}},
      {"pads", {"different"}, "padding", {"none"}},
      {"pads", {"left out"}, "padding", {"as large as the kernel"}},
      {"kernel", {"all 1"}, "padding", {"even", "uneven"}},
      {"kernel_shape", {"all 1"}, "padding", {"even", "uneven"}},
      // W8: a window over no cell at all needs padding.
      {"input", {"an empty axis"}, "padding", {"none"}},
      {"input", {"an empty axis"}, "pads", {"left out", "all 0"}},
      {"input", {"an empty axis"}, "auto_pad", {"SAME_UPPER", "SAME_LOWER", "VALID"}},
      // A kernel has an extent of 1 at least.
      {"stride", {"beyond the kernel"}, "strides", {"left out", "all 1"}},
      // channels = depth * group, and the group divides the maps.
      {"group", {"left out", "1"}, "groups", {"some", "per channel"}},
      {"group", {"> 1"}, "groups", {"one"}},
      {"channels", {"1"}, "groups", {"some", "per channel"}},
      {"channels", {"0"}, "groups", {"per channel"}},
      {"channels", {"1"}, "group", {"> 1"}},
      {"channels", {"1"}, "offset_group", {"> 1"}},
      {"maps", {"1"}, "groups", {"some", "per channel"}},
      {"maps", {"1"}, "group", {"> 1"}},
      // Inputs are left out at the end only: of DeformConv, whose mask comes after B.
      {"B", {"left out"}, "mask", {"empty name", "input", "constant"}}};
  return all;
}

bool names(const Exclusion& exclusion, const Feature& a, const Feature& b) {
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
  const Seen seen{c};
  std::vector<int> values;
  for (const Row& row : table_of(c.version).rows) values.push_back(row.of(seen));
  return values;
}

bool is_possible(const Definition& definition, const Feature& a, const Feature& b) {
  // Without auto_pad all padding is that of `pads`.
  const bool only_pads = definition.attribute("auto_pad") == nullptr;
  for (const auto& [p, q] : {std::pair(a, b), std::pair(b, a)}) {
    if (only_pads && p.dimension == "pads" && p.value == "left out" && q.dimension == "padding" && q.value != "none")
      return false;
    if (std::ranges::any_of(exclusions(), [&](const Exclusion& each) { return names(each, p, q); })) return false;
  }
  return true;
}

}  // namespace assay::generators
