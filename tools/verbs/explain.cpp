// SPDX-License-Identifier: Apache-2.0
// assay explain: any word that assay prints: an operator version as this project reads it, a case, a ruling, a verdict.
#include "reference/graph_case.h"
#include "reference/nearest.h"
#include "reference/onnx_io.h"
#include "reference/operator.h"
#include "reference/profiles.h"
#include "reference/sequence.h"
#include "suites/campaign/confirmation.h"
#include "suites/text/printable.h"
#include "suites/triage/case_words.h"
#include "suites/triage/glossary.h"
#include "tools/verbs/verbs.h"
#include "tools/verbs/words.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <sstream>

namespace assay::tools {
namespace {

std::string_view kind_of(const AttributeSpec& attribute) {
  switch (attribute.kind) {
    case AttributeSpec::Kind::integer: return "int";
    case AttributeSpec::Kind::real: return "float";
    case AttributeSpec::Kind::text: return "string";
    case AttributeSpec::Kind::ints: return "ints";
    case AttributeSpec::Kind::reals: return "floats";
    case AttributeSpec::Kind::texts: return "strings";
    case AttributeSpec::Kind::tensor: return "tensor";
  }
  return "?";
}

void explain_versions(const Operator& op, const Definition& chosen) {
  std::cout << "\nVersions\n";
  for (const Definition& each : op.versions()) {
    const int last = end_opset(each.version) - 1;
    std::cout << (each.version == chosen.version ? "* " : "  ") << text(each.version) << "  opset "
              << each.version.since_version << (last > newest_opset - 1 ? " on" : " to " + std::to_string(last))
              << (each.change.empty() ? "" : ": ") << each.change << "\n";
  }
}

void explain_parameters(std::string_view title, const std::vector<Parameter>& parameters) {
  std::cout << "\n" << title << "\n";
  for (const Parameter& each : parameters)
    std::cout << "  " << each.name << ": " << each.type << (each.arity != Arity::required ? ", optional" : "")
              << (each.reads_as.empty() ? "" : ", whose values decide what the outputs are") << "\n";
}

void explain_types(const Definition& definition) {
  std::cout << "\nTypes\n";
  for (const TypeVariable& variable : definition.types) {
    std::cout << "  " << variable.name << ":";
    for (DType type : variable.types) std::cout << " " << name(type);
    std::cout << "\n";
  }
}

void explain_attributes(const Definition& definition) {
  std::cout << "\nAttributes\n";
  for (const AttributeSpec& each : definition.attributes)
    std::cout << "  " << each.name << ": " << kind_of(each) << ", " << suites::default_of(each) << "\n";
}

void explain_constraints(const Definition& definition) {
  std::cout << "\nConstraints: a model that breaks one is invalid\n";
  for (const Constraint& each : general_constraints()) std::cout << "  " << each.id << "  " << each.text << "\n";
  for (const Constraint& each : definition.constraints)
    std::cout << "  " << each.id << "  " << each.text
              << (each.ruling.empty() ? "" : " (lifted by another reading of " + each.ruling + ")") << "\n";
}

void explain_readings(const RulingUse& use) {
  if (use.readings.size() < 2) return;
  std::cout << "       readings:";
  for (std::size_t i = 0; i < use.readings.size(); ++i)
    std::cout << (i == 0 ? " " : ", ") << use.readings[i] << (i == 0 ? " (ruled)" : "");
  std::cout << "\n";
}

void explain_rulings(const Definition& definition) {
  std::cout << "\nRulings: how silent or contradictory clauses are read\n";
  for (const RulingUse& use : definition.rulings) {
    const Ruling* ruling = find_ruling(use.id);
    expects(ruling, "every ruling in use is in the table");
    std::cout << "  " << use.id << std::string(use.id.size() < 3 ? 3 - use.id.size() : 0, ' ') << "  " << ruling->title
              << "\n       " << ruling->decision << "\n";
    if (!use.note.empty()) std::cout << "       here: " << use.note << "\n";
    explain_readings(use);
  }
}

void explain_accuracy(const Definition& definition) {
  std::cout
      << "\nAccuracy\n"
         "  asked by default: L2, any order of evaluation, one rounding per operation, one rounding to the output\n";
  for (DType type : definition.types_of(definition.outputs.front().type))
    std::cout << "  " << name(type) << ": accumulated in " << (type == DType::f64 ? "f64" : "f32") << "\n";
}

void explain_profiles(const Definition& definition) {
  std::cout << "\nProfiles: parts of ONNX that others admit; `assay certify --profile NAME` runs only such cases\n";
  for (const Profile& profile : profiles()) {
    const Profile::Part* part = profile.part(definition.version);
    std::cout << "  " << profile.name << "  " << profile.title
              << (part ? "" : ": does not specify " + definition.version.name) << "\n";
    if (!part) continue;
    std::cout << "       " << profile.source << "\n";
    for (const Restriction& each : part->restrictions)
      std::cout << "       " << tag(*part, each) << "  " << each.text << "\n";
  }
}

// Of one case: what it breaks, and where it stands in each profile, as it is and spelt out.
std::string standing(const Profile& profile, const Case& c) {
  const std::vector<std::string> broken = outside(profile, c);
  if (broken.empty()) return "within, keeps " + joined(tags(*profile.part(c.version)), " ");
  std::string first = "outside: " + joined(broken, " ");
  if (!outside(profile, spelt_out(c)).empty()) return first;
  return first + "; within with every attribute written: " + line(spelt_out(c));
}

void explain_case(const std::string& word) {
  const Result<Case> c = parse_case(word);
  if (!c) throw InputError(c.error());
  std::cout << suites::in_words(*c) << "\nprofiles\n";
  for (const Profile& profile : profiles())
    std::cout << "  " << profile.name << std::string(profile.name.size() < 8 ? 8 - profile.name.size() : 0, ' ') << " "
              << standing(profile, *c) << "\n";
}

void explain_graph(const std::string& word) {
  const Result<GraphCase> graph = parse_graph_case(word);
  if (!graph) throw InputError(graph.error());
  std::cout << suites::in_words(*graph);
}

bool is_session(const std::string& word) { return word.starts_with('[') || word.find(" ; ") != std::string::npos; }

// Tells of a session its cases in their order, each with the settings it is run with.
void explain_session(const std::string& word) {
  const Result<suites::Steps> steps = suites::parse_session(word);
  if (!steps) throw InputError(steps.error());
  for (std::size_t i = 0; i < steps->size(); ++i) {
    std::cout << (i == 0 ? "" : "\n") << "case " << i + 1 << " of " << steps->size()
              << " that one process runs one after the other\n";
    std::istringstream settings(text((*steps)[i].settings));
    for (std::string each; settings >> each;) std::cout << "  " << suites::meaning_of(each).value_or(each + "\n");
    explain_case((*steps)[i].line);
  }
}

// Takes the line out of a command that runs it: "assay replay --backend X 'LINE'".
std::string without_command(const std::string& word) {
  constexpr std::string_view row = "replay: ", command = "assay replay ";
  const std::size_t begin = word.starts_with(row) ? row.size() : 0, open = word.rfind(" '");
  if (!word.substr(begin).starts_with(command) || open == std::string::npos || !word.ends_with('\'')) return word;
  return word.substr(open + 2, word.size() - open - 3);
}

const Operator& operator_of(const Definition& definition) {
  const Operator* op = find_operator(definition.version.domain, definition.version.name);
  expects(op, "a definition belongs to an operator");
  return *op;
}

void explain_version(const Definition& definition) {
  std::cout << text(definition.version) << "\n" << page_of(definition.version) << "\n";
  explain_versions(operator_of(definition), definition);
  explain_parameters("Inputs", definition.inputs);
  explain_parameters("Outputs", definition.outputs);
  explain_types(definition);
  explain_attributes(definition);
  explain_constraints(definition);
  explain_rulings(definition);
  explain_accuracy(definition);
  explain_profiles(definition);
}

// Of ai.onnx, but not yet among the operators of this project: the newest version of that name, or the one named.
std::optional<OpVersion> to_come(const std::string& word) {
  std::optional<OpVersion> found;
  for (const Registered& each : registered_operators())
    if (each.version.name == word || text(each.version) == word) found = each.version;
  return found;
}

[[noreturn]] void unknown(const std::string& word) {
  constexpr std::size_t longest = 100;  // of a word that may be a slip of the pen
  std::vector<std::string> known = suites::glossary_words();
  std::ranges::copy(operator_and_version_names(), std::back_inserter(known));
  const std::string near = word.size() > longest ? "" : assay::suggestion(word, known);
  throw InputError("'" + suites::printable(word, 80) + "' is no word of assay" +
                   (near.empty()
                        ? "; it explains operator versions, cases, graphs and predicates in quotes, rulings (A3), "
                          "constraints (Conv.C6), verdicts (below), levels (L2) and marks (unstable)"
                        : near));
}

int explain(const std::string& given) {
  const std::string word = without_command(given);
  if (const Definition* definition = definition_named(word)) {
    explain_version(*definition);
  } else if (const auto meaning = suites::meaning_of(word)) {
    std::cout << *meaning;
  } else if (is_graph_line(word)) {
    explain_graph(word);
  } else if (word.find(' ') != std::string::npos && word.find('=') != std::string::npos) {
    is_session(word) ? explain_session(word) : explain_case(word);
  } else if (const auto version = to_come(word)) {
    std::cout << text(*version) << ": operator version of ai.onnx, not certified yet: " << page_of(*version) << "\n";
  } else if (!in_force(word).empty()) {
    definition_of(word);
  } else {
    unknown(word);
  }
  return conforms;
}

}  // namespace

Verb explain_verb(CLI::App& app) {
  auto word = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "explain", "what a word means: an operator version, a case in quotes, or any other word that assay prints");
  command
      ->add_option(
          "word", *word,
          "Conv-11 (Conv is its newest version), a case, session, graph or predicate in quotes, a ruling (A3), a "
          "constraint (Conv.C6), a verdict (below), a level (L2), a mark (unstable), a recipe (small:7) and so on; "
          "case: how cases are written")
      ->required();
  return {command, [word] { return explain(*word); }};
}

}  // namespace assay::tools
