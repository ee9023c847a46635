// SPDX-License-Identifier: Apache-2.0
#include "suites/golden/audit.h"

#include "oracles/judging/judge.h"
#include "suites/text/printable.h"

#include <algorithm>
#include <optional>

namespace assay::suites {
namespace {

using oracles::Operands;
using oracles::State;
using oracles::Verdict;

// Where a model that is not for us is counted, by why; null where it is for us.
Int* foreign_count(const std::vector<NodeName>& nodes, Audit& into) {
  if (nodes.empty()) return &into.foreign["no node"];
  if (nodes.size() > 1) return &into.foreign["several nodes"];
  const NodeName& node = nodes.front();
  const std::string name = (node.domain.empty() ? "" : printable(node.domain, 60) + ":") + printable(node.op, 60);
  const Operator* op = find_operator(node.domain, node.op);
  if (!op) return &into.other_operators[name];
  if (!op->at(node.opset)) return &into.foreign[name + " at opset " + std::to_string(node.opset)];
  return nullptr;
}

Rating rating_of(const Verdict& verdict) {
  switch (verdict.state) {
    case State::pass:
      return verdict.level.value_or(oracles::Level::L0) == oracles::Level::L0 ? Rating::rounded : Rating::bounded;
    case State::contested: return Rating::contested;
    case State::below: return Rating::below;
    case State::fail: return Rating::wrong;
    default: return Rating::unscored;
  }
}

std::string evidence_of(const oracles::Evidence& evidence) {
  std::string words =
      "element " + assay::text(evidence.index) + " is " + evidence.got + ", exactly rounded " + evidence.want;
  if (!evidence.lower.empty()) words += ", admitted from " + evidence.lower + " to " + evidence.upper;
  return words;
}

std::string because_of(const Verdict& verdict) {
  std::string words = verdict.because;
  if (verdict.state == State::contested) words = assay::text(verdict.readings);
  if (!verdict.detail.empty()) words += (words.empty() ? "" : ": ") + verdict.detail;
  if (verdict.evidence) words += (words.empty() ? "" : "; ") + evidence_of(*verdict.evidence);
  return words;
}

// The operands of one data set in schema order; nothing where a file is a flaw.
std::optional<Operands> operands_of(const Served& served, const VectorSet& set) {
  Operands operands(find_definition(served.version)->inputs.size());
  for (std::size_t i = 0; i < served.operand_names.size() && i < operands.size(); ++i) {
    const std::string& name = served.operand_names[i];
    if (name.empty()) continue;
    if (const auto constant = served.initializers.find(name); constant != served.initializers.end()) {
      operands[i] = constant->second;
      continue;
    }
    const auto at =
        static_cast<std::size_t>(std::ranges::find(served.graph_inputs, name) - served.graph_inputs.begin());
    if (at >= set.inputs.size() || !set.inputs[at]) return std::nullopt;
    operands[i] = set.inputs[at];
  }
  return operands;
}

// The node with the types the data have.
Node typed(const Served& served, const Operands& operands) {
  Node node = served.node;
  const std::vector<Parameter>& inputs = find_definition(served.version)->inputs;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i]) node.value(inputs[i], *operands[i]);
  return node;
}

Rated rated(const Served& served, const VectorSet& set, const Operands& operands, std::string file) {
  const Call call(*find_definition(served.version), typed(served, operands));
  if (const std::vector<std::string> broken = call.definition().violated(call); !broken.empty()) {
    std::string ids;
    for (const std::string& id : broken) ids += (ids.empty() ? "" : " ") + served.version.name + "." + id;
    return {std::move(file), served.version, Rating::illegal, "the model breaks " + ids};
  }
  oracles::Outcome outcome;
  outcome.sets.emplace_back();
  for (const std::optional<Tensor>& output : set.outputs) outcome.sets.back().push_back(*output);
  const Verdict verdict = oracles::judge(call, {operands}, outcome);
  return {std::move(file), served.version, rating_of(verdict), because_of(verdict)};
}

void audit_vector(const TestVector& vector, Audit& into) {
  const auto flawed = [&](const std::vector<FileProblem>& problems) {
    into.problems.insert(into.problems.end(), problems.begin(), problems.end());
  };
  const auto damaged = [&](const std::string& why) {
    flawed({{FileProblem::Kind::damaged, vector.name + "/model.onnx", why}});
  };
  if (vector.model.empty()) return flawed(vector.problems);
  const Result<std::vector<NodeName>> nodes = node_names(vector.model);
  if (!nodes) return damaged(nodes.error());
  if (Int* count = foreign_count(*nodes, into)) {
    ++*count;
    return;
  }
  const Result<Served> served = parse_model(vector.model);
  if (!served) return damaged(served.error());
  flawed(vector.problems);
  flawed(flaws_against(*served, vector));
  for (const VectorSet& set : vector.sets) {
    const std::string folder = vector.name + "/" + data_set_name(set.number) + "/";
    const std::optional<Operands> operands = operands_of(*served, set);
    if (!operands) continue;  // a flaw says why
    const std::size_t wanted = served->output_names.size();
    for (std::size_t i = set.outputs.size(); i < wanted; ++i)
      flawed({{FileProblem::Kind::missing, folder + tensor_name("output", static_cast<int>(i)), ""}});
    for (std::size_t i = wanted; i < set.outputs.size(); ++i)
      flawed({{FileProblem::Kind::extra, folder + tensor_name("output", static_cast<int>(i)),
               "the model has " + std::to_string(wanted) + (wanted == 1 ? " output" : " outputs")}});
    VectorSet requested = set;
    if (requested.outputs.size() > wanted) requested.outputs.resize(wanted);
    const auto is_read = [](const std::optional<Tensor>& output) { return output.has_value(); };
    if (requested.outputs.size() == wanted && std::ranges::all_of(requested.outputs, is_read))
      into.outputs.push_back(rated(*served, requested, *operands, folder + tensor_name("output", 0)));
  }
}

}  // namespace

std::string_view name(Rating rating) {
  switch (rating) {
    case Rating::rounded: return "correctly rounded";
    case Rating::bounded: return "within the bound";
    case Rating::contested: return "contested";
    case Rating::below: return "below";
    case Rating::wrong: return "wrong";
    case Rating::unscored: return "unscored";
    default: return "illegal model";
  }
}

Result<Audit> audit(const std::filesystem::path& root) {
  const Result<std::vector<std::string>> names = vector_names(root);
  if (!names) return Error{names.error()};
  Audit audit;
  for (const std::string& each : *names) {
    ++audit.models;
    std::error_code ignored;
    if (std::filesystem::is_symlink(root / each, ignored)) {
      audit.problems.push_back({FileProblem::Kind::unreadable, each, "is a link"});
      continue;
    }
    audit_vector(read_vector(root, each, Links::refuse), audit);
  }
  return audit;
}

}  // namespace assay::suites
