// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/case_class.h"

#include "oracles/exact/geometry.h"
#include "reference/operator.h"

#include <algorithm>
#include <optional>

namespace assay::oracles {
namespace {

// Tells whether an operator says of each element what it is: NaN and infinities are its ordinary data.
bool is_about_nonfinite(const Definition& definition) {
  return definition.shaping == Shaping::one &&
         definition.types_of(definition.outputs.front().type) == std::vector{DType::boolean};
}

// Tells whether a call says the shape of its output, and has no data: attributes and lists alone.
bool says_its_shape(const Definition& definition) {
  return std::ranges::all_of(definition.inputs, [&](const Parameter& input) {
    return !input.reads_as.empty() && definition.types_of(input.type) == std::vector{DType::i64};
  });
}

bool is_degenerate(const Shape& shape) { return shape.size() >= 6 || std::ranges::find(shape, 0) != shape.end(); }

// The classes that the rulings have no say in.
std::optional<std::string_view> plain_class_of(const Case& c) {
  if (has_nonfinite_data(c) && !is_about_nonfinite(c.definition())) return "nonfinite";
  if (says_its_shape(c.definition()))
    return is_degenerate(c.definition().shape(c.call())) ? std::optional("valid-degenerate") : std::nullopt;
  const bool empty = std::ranges::any_of(c.node.inputs, [&](const auto& input) {
    if (!c.definition().counts(input.first)) return false;
    const Parameter* const parameter = c.definition().input(input.first);
    if (parameter && parameter != &c.definition().data() && !parameter->reads_as.empty())
      return false;  // an empty list says something
    return input.second.presence == Input::Presence::given &&
           std::ranges::find(input.second.type.shape, 0) != input.second.type.shape.end();
  });
  const bool deep = std::ranges::any_of(c.node.inputs, [&](const auto& input) {
    return c.definition().counts(input.first) && input.second.type.shape.size() >= 6;
  });
  if (empty || deep) return "valid-degenerate";
  return std::nullopt;
}

}  // namespace

std::vector<std::string> touched(const Call& call, const std::vector<Operands>& sets, Int most_elements) {
  const Oracle& oracle = oracle_of(call.definition().version);
  if (!oracle.touched_reads_data) return oracle.touched(call, nullptr, most_elements);
  std::vector<std::string> ids;
  for (const Operands& operands : sets)
    for (std::string& id : oracle.touched(call, &operands, most_elements))
      if (std::ranges::find(ids, id) == ids.end()) ids.push_back(std::move(id));
  in_order(ids);
  return ids;
}

std::vector<std::string> touched(const Case& c) {
  const bool reads_data = oracle_of(c.version).touched_reads_data;
  return touched(c.call(), reads_data ? all_operands(c) : std::vector<Operands>{}, most_touched);
}

std::string_view class_of(const Case& c, const std::vector<std::string>& touched) {
  if (const std::optional<std::string_view> plain = plain_class_of(c)) return *plain;
  const auto is_overflow = [](const std::string& id) { return find_ruling(id)->is(Ruling::overflow); };
  if (std::ranges::any_of(touched, is_overflow)) return "overflow-int";
  return touched.empty() ? "valid-core" : "valid-contested";
}

std::string_view class_of(const Case& c) {
  const Call call = c.call();
  if (!call.definition().violated(call).empty()) return "invalid-static";
  if (const std::optional<std::string_view> plain = plain_class_of(c)) return *plain;
  return class_of(c, touched(c));
}

Classification nature_of(const Case& c, const std::optional<std::vector<std::string>>& known) {
  const Call call = c.call();
  Classification nature{call.definition().violated(call), {}, "invalid-static"};
  if (!nature.violated.empty()) return nature;
  nature.touched = known ? *known : touched(c);
  nature.case_class = class_of(c, nature.touched);
  return nature;
}

bool is_special(std::string_view case_class) { return case_class == "nonfinite" || case_class == "overflow-int"; }

}  // namespace assay::oracles
