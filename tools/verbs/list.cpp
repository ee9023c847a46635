// SPDX-License-Identifier: Apache-2.0
// assay list: operators, versions, types and what there is for each. The README carries the Markdown of it, a row a
// family.
#include "oracles/exact/enclosure.h"
#include "reference/onnx_io.h"
#include "reference/operator.h"
#include "reference/profiles.h"
#include "reference/sequence.h"
#include "tools/verbs/table.h"
#include "tools/verbs/verbs.h"
#include "tools/verbs/words.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <span>

namespace assay::tools {
namespace {

std::string opsets(const Definition& definition) {
  const int first = definition.version.since_version, last = end_opset(definition.version) - 1;
  return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
}

// Lists the types that some versions take, those of the newest first.
std::string types(std::span<const Definition> versions) {
  std::vector<DType> seen;
  for (auto version = versions.rbegin(); version != versions.rend(); ++version)
    for (const TypeVariable& variable : version->types)
      for (const DType type : variable.types)
        if (std::ranges::find(seen, type) == seen.end()) seen.push_back(type);
  return joined(seen, " ", [](DType type) { return name(type); });
}

bool has_oracle(const Definition& definition) {
  try {
    oracles::oracle_of(definition.version);
    return true;
  } catch (const BrokenPromise&) {
    return false;
  }
}

std::string state(const Definition& definition) {
  if (definition.kernel && has_oracle(definition)) return "certified";
  return definition.kernel ? "kernel only" : "defined";
}

// Rulings other than plain ones: where a backend may follow another reading.
Int contested(const Definition& definition) {
  return std::ranges::count_if(definition.rulings, [](const RulingUse& use) { return use.readings.size() > 1; });
}

std::vector<TableRow> table() {
  std::vector<TableRow> rows{
      {"operator version", "opsets", "types", "constraints", "clauses with several readings", "state"}};
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      rows.push_back({text(definition.version), opsets(definition), types({&definition, 1}),
                      std::to_string(definition.constraints.size() + general_constraints().size()),
                      std::to_string(contested(definition)), state(definition)});
  return rows;
}

std::string_view family(const Definition& definition) {
  switch (definition.shaping) {
    case Shaping::window: return "windows that slide";
    case Shaping::transposed: return "windows that slide over the output";
    case Shaping::one: return "elements of one input";
    case Shaping::broadcast: return "elements of several inputs, broadcast";
    case Shaping::axis: return "lines along an axis";
    case Shaping::moved: return "elements that move";
    case Shaping::normalized: return "elements measured by those around them";
    case Shaping::reduced: return "elements along axes, reduced to one";
    case Shaping::product: return "products of matrices";
  }
  throw BrokenPromise("an operator of no family");
}

// Gives each family a row, in the order of its first operator.
std::vector<TableRow> summary() {
  struct Family {
    std::string_view name;
    std::string operators;
    std::vector<Definition> versions;
  };
  std::vector<Family> families;
  for (const Operator* op : operators()) {
    const std::string_view name = family(op->versions().back());
    auto known = std::ranges::find(families, name, &Family::name);
    if (known == families.end()) known = families.insert(families.end(), {name, "", {}});
    known->operators += (known->operators.empty() ? "" : ", ") + operator_name(op->versions().back().version);
    std::ranges::copy(op->versions(), std::back_inserter(known->versions));
  }
  std::vector<TableRow> rows{{"family", "operators", "versions", "types"}};
  for (const Family& each : families)
    rows.push_back(
        {std::string(each.name), each.operators, std::to_string(each.versions.size()), types(each.versions)});
  return rows;
}

// What a profile says of each operator version.
std::vector<TableRow> table(const Profile& profile) {
  std::vector<TableRow> rows{{"operator version", "restrictions of " + std::string(profile.name)}};
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions()) {
      const Profile::Part* const part = profile.part(definition.version);
      rows.push_back(
          {text(definition.version), part && !tags(*part).empty() ? joined(tags(*part), " ") : "not specified"});
    }
  return rows;
}

// The ledger of what is still to come: every pair of the registry, and the operators outside it that we have.
std::vector<TableRow> ledger() {
  std::vector<TableRow> rows{{"operator version", "state"}};
  std::size_t certified = 0;
  for (const Registered& registered : registered_operators()) {
    const Definition* definition = find_definition(registered.version);
    certified += definition ? 1 : 0;
    rows.push_back({text(registered.version), definition              ? state(*definition)
                                              : registered.deprecated ? "deprecated, not planned"
                                                                      : "to come"});
  }
  rows.push_back({"ONNX", std::to_string(certified) + " of " + std::to_string(rows.size() - 1)});
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      if (op->domain() == "com.microsoft") rows.push_back({text(definition.version), state(definition)});
  return rows;
}

}  // namespace

Verb list_verb(CLI::App& app) {
  auto markdown = std::make_shared<bool>(false), all = std::make_shared<bool>(false);
  auto profile = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("list", "the operator versions there are, with their types and state");
  command->add_flag("--markdown", *markdown, "by family, as the table of the README");
  CLI::Option* whole = command->add_flag("--all", *all, "every operator version of the ONNX registry with its state");
  command->add_option("--profile", *profile, "what a profile demands of each: sonnx")->excludes(whole);
  return {command, [markdown, all, profile] {
            const std::vector<TableRow> rows = !profile->empty() ? table(profile_of(*profile))
                                               : *all            ? ledger()
                                               : *markdown       ? summary()
                                                                 : table();
            *markdown ? print_markdown(rows) : print_columns(rows);
            return conforms;
          }};
}

}  // namespace assay::tools
