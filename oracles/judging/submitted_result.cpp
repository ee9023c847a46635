// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/submitted_result.h"

#include "oracles/exact/element_sample.h"
#include "oracles/judging/case_class.h"
#include "reference/onnx_io.h"
#include "reference/operator.h"

#include <algorithm>
#include <cfenv>
#include <limits>
#include <map>
#include <utility>

namespace assay::oracles {
namespace {

[[noreturn]] void reject(const std::string& what) { throw InputError(what); }

// The caller's thread may flush subnormals or round in another way, as runtimes like to; the proofs rest on the
// default.
class DefaultEnvironment {
 public:
  DefaultEnvironment() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  DefaultEnvironment(DefaultEnvironment&&) = delete;
  ~DefaultEnvironment() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_{};
};

std::string covered() {
  std::string words;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      words += (words.empty() ? "" : ", ") + assay::text(definition.version);
  return words;
}

Served served(std::string_view model) {
  Result<Served> parsed = parse_model(model);
  if (parsed) return *std::move(parsed);
  const bool is_garbage = parsed.error().find("bytes are no ModelProto") != std::string::npos;
  reject(is_garbage
             ? parsed.error()
             : "this model is not covered: " + parsed.error() + "; covered is a model of one node of " + covered());
}

std::string listed(const std::vector<std::string>& names) {
  std::string words;
  for (const std::string& name : names) words += (words.empty() ? "" : ", ") + name;
  return words.empty() ? "none" : words;
}

// By the names of the graph: by name or in order, each once.
std::map<std::string, const Tensor*> by_name(const std::vector<NamedTensor>& given,
                                             const std::vector<std::string>& names, const std::string& what) {
  if (given.size() != names.size())
    reject(std::to_string(given.size()) + " " + what + " given, the graph has " + std::to_string(names.size()) + ": " +
           listed(names));
  std::map<std::string, const Tensor*> tensors;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string& name = given[i].name.empty() ? names[i] : given[i].name;
    if (std::ranges::find(names, name) == names.end())
      reject("the graph has no such name among its " + what + ": " + listed(names));
    if (!tensors.emplace(name, &given[i].tensor).second) reject("one of the " + what + " is given twice");
  }
  return tensors;
}

// The types of the data it really got, and the data in schema order.
struct Bound {
  Node node;
  Operands operands;
};

// An extent that is declared holds; the type does in any case.
void expect_declared(const std::string& name, const TensorType& given, const TensorType& declared) {
  const bool fits = given.dtype == declared.dtype &&
                    (declared.shape.empty() ||
                     std::ranges::equal(given.shape, declared.shape, [](Int g, Int d) { return d == -1 || g == d; }));
  if (!fits)
    reject("the input for " + name + " is " + std::string(assay::name(given.dtype)) + assay::text(given.shape) +
           ", the model declares " + std::string(assay::name(declared.dtype)) + assay::text(declared.shape));
}

Bound bound(const Served& served, const std::map<std::string, const Tensor*>& inputs) {
  Bound out{served.node, {}};
  const Definition& definition = *find_definition(served.version);
  for (std::size_t i = 0; i < definition.inputs.size(); ++i) {
    std::optional<Tensor>& operand = out.operands.emplace_back();
    if (i >= served.operand_names.size() || served.operand_names[i].empty()) continue;
    const std::string& name = served.operand_names[i];
    const TensorType type = out.node.inputs.find(served.schema_names[i])->second.type;
    if (const auto constant = served.initializers.find(name); constant != served.initializers.end()) {
      operand = constant->second;
    } else {
      operand = *inputs.at(name);
      expect_declared(served.schema_names[i], operand->type(), type);
    }
    out.node.value(definition.inputs[i], *operand);
  }
  return out;
}

std::string text_of(const Definition& definition, const std::string& id) {
  if (const Constraint* own = definition.constraint(id)) return own->text;
  return std::ranges::find(general_constraints(), id, &Constraint::id)->text;
}

double distance(const Offender& offender) {
  return offender.want && offender.want->is_finite() && offender.got.is_finite()
             ? offender.ulp
             : std::numeric_limits<double>::infinity();
}

void add_worst(ExaminedResult& out, const Judge& bench, const Outcome& outcome) {
  const std::vector<Offender> offenders = bench.offenders(outcome, out.verdict);
  const auto worst = std::ranges::max_element(offenders, {}, distance);
  if (worst == offenders.end()) return;
  out.offenders = static_cast<Int>(offenders.size());
  out.worst = bench.evidence(*worst, out.verdict);
  out.worst_ulp = distance(*worst);
}

bool has_offenders(State state) { return state == State::fail || state == State::below || state == State::contested; }

ExaminedResult examined(const SubmittedResult& claim, const Judgement& judgement) {
  const Served model = served(claim.model);
  const Bound call = bound(model, by_name(claim.inputs, model.graph_inputs, "inputs"));
  const auto named = by_name(claim.outputs, model.output_names, "outputs");
  Outcome outcome{Outcome::Kind::outputs, "", {{}}};
  for (const std::string& name : model.output_names) outcome.sets.front().push_back(*named.at(name));
  const Definition& definition = *find_definition(model.version);
  const Judge bench(Call(definition, call.node), {call.operands}, judgement);
  ExaminedResult out;
  out.version = model.version;
  out.verdict = bench.judge(outcome);
  for (const std::string& id : out.verdict.violated) out.violated.push_back(id + ": " + text_of(definition, id));
  out.output = model.output_names.front();
  if (!out.violated.empty()) return out;
  for (const std::string& id : touched(Call(definition, call.node), {call.operands}, every_element))
    out.rulings.push_back({id, std::string(out.verdict.readings.of(id)), std::string(find_ruling(id)->title)});
  if (has_offenders(out.verdict.state)) add_worst(out, bench, outcome);
  out.output = model.output_names.at(out.worst ? static_cast<std::size_t>(out.worst->output) : 0);
  return out;
}

}  // namespace

Result<ExaminedResult> examine(const SubmittedResult& claim, const Judgement& judgement) {
  const DefaultEnvironment environment;
  try {
    return examined(claim, judgement);
  } catch (const InputError& error) {
    return Error{error.what()};
  }
}

}  // namespace assay::oracles
