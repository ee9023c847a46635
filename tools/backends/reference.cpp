// SPDX-License-Identifier: Apache-2.0
// assay-worker-reference: our own kernels by the same road as a stranger's, and in their place, on request, a correct
// variant or a planted bug (suites/crosscheck).
#include "reference/nearest.h"
#include "reference/onnx_io.h"
#include "suites/crosscheck/mutants.h"
#include "suites/crosscheck/variants.h"
#include "suites/frame.h"
#include "suites/serving.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>
#include <unistd.h>
#include <utility>

namespace assay {
namespace {

using oracles::Outcome;

// Which kernel serves a model; both names empty: the reference itself, through the engine or by the naive loops.
struct Choice {
  std::string variant, mutant;
  bool naive = false;

  std::string backend() const {
    if (!variant.empty()) return "variant:" + variant;
    if (!mutant.empty()) return "mutant:" + mutant;
    return naive ? "reference:naive" : "reference:fast";
  }

  // One session. A variant or mutant that leaves an operator alone is served by the naive reference.
  FastKernel kernel(const Definition& definition) const {
    std::optional<Kernel> other;
    if (!variant.empty()) other = crosscheck::variant(variant, definition.version);
    if (!mutant.empty()) other = crosscheck::mutant(mutant, definition.version);
    if (!other && !naive && variant.empty() && mutant.empty()) return definition.fast;
    return [kernel = other ? *std::move(other) : definition.kernel](const Call& call, std::span<const Tensor* const> in,
                                                                    int) { return kernel(call, in); };
  }
};

// A refusal on its way to the host.
struct Refusal {
  Outcome::Kind kind = Outcome::Kind::refused;
  std::string because;
};

template <class T>
T accepted(Result<T> result) {
  if (!result) throw Refusal{Outcome::Kind::refused, result.error()};
  return *std::move(result);
}

std::vector<Served> parse(std::string_view model) {
  Result<std::vector<Served>> served = parse_nodes(model);
  if (served) return *std::move(served);
  const bool is_unknown = served.error().starts_with("no operator ");
  throw Refusal{is_unknown ? Outcome::Kind::unsupported : Outcome::Kind::refused, served.error()};
}

// A declared extent of -1 is not declared.
bool fits(const TensorType& given, const TensorType& declared) {
  return given.dtype == declared.dtype &&
         std::ranges::equal(given.shape, declared.shape, [](Int g, Int d) { return d == -1 || g == d; });
}

// The graph inputs of one data set by name; initializers are added by the caller.
std::map<std::string, Tensor> named_inputs(const Served& served, const std::vector<std::string>& parts) {
  if (parts.size() != served.graph_inputs.size())
    throw Refusal{.because = std::to_string(parts.size()) + " inputs, the graph has " +
                             std::to_string(served.graph_inputs.size())};
  std::map<std::string, Tensor> inputs;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (!parts[i].empty()) inputs.emplace(served.graph_inputs[i], accepted(decode_tensor(parts[i])));
  return inputs;
}

// The node with the types of the data it really gets, and the data in schema order.
struct Bound {
  Node node;
  std::vector<const Tensor*> operands;
};

Bound bind(const Served& served, const std::map<std::string, Tensor>& inputs) {
  Bound bound{served.node, {}};
  for (std::size_t i = 0; i < served.operand_names.size(); ++i) {
    const std::string& name = served.operand_names[i];
    const Tensor*& operand = bound.operands.emplace_back(nullptr);
    if (name.empty()) continue;
    if (const auto constant = served.initializers.find(name); constant != served.initializers.end())
      operand = &constant->second;
    else if (const auto input = inputs.find(name); input != inputs.end())
      operand = &input->second;
    else
      throw Refusal{.because = "no data for the input " + name};
    TensorType& type = bound.node.inputs.at(served.schema_names[i]).type;
    if (!fits(operand->type(), type)) throw Refusal{.because = "the data of " + name + " are not of the declared type"};
    type = operand->type();
  }
  return bound;
}

Tensor compute(const Definition& definition, const FastKernel& kernel, const Bound& bound, int threads) {
  const Call call(definition, bound.node);
  std::string broken;
  for (const std::string& id : definition.violated(call)) broken += " " + definition.version.name + "." + id;
  if (!broken.empty()) throw Refusal{.because = "breaks" + broken};
  return kernel(call, bound.operands, threads);
}

// One node of the model, in a session of its own.
struct Session {
  const Served& served;
  const Definition& definition;
  FastKernel kernel;
  int threads;

  Session(const Served& node, const Choice& choice, int at_most)
      : served(node), definition(*find_definition(node.version)), kernel(choice.kernel(definition)), threads(at_most) {}

  std::string output(const std::map<std::string, Tensor>& inputs) const {
    return encode_tensor(compute(definition, kernel, bind(served, inputs), threads), served.output_name);
  }
};

std::vector<std::vector<std::string>> run(const Choice& choice, const suites::Ask& ask) {
  const std::vector<Served> nodes = parse(ask.model);
  std::vector<Session> sessions;
  for (const Served& node : nodes) sessions.emplace_back(node, choice, ask.threads);
  std::vector<std::vector<std::string>> sets;
  for (const auto& parts : ask.sets) {
    const std::map<std::string, Tensor> inputs = named_inputs(nodes.front(), parts);
    auto& outputs = sets.emplace_back();
    for (const Session& session : sessions) outputs.push_back(session.output(inputs));
  }
  return sets;
}

std::string answer(const Choice& choice, const suites::Ask& ask) {
  try {
    return suites::outputs_frame(ask.id, run(choice, ask));
  } catch (const Refusal& refusal) {
    return suites::answer_line(ask.id, refusal.kind, refusal.because, {});
  } catch (const InputError& error) {
    return suites::answer_line(ask.id, Outcome::Kind::refused, error.what(), {});
  }
}

suites::Description description_of(const Choice& choice) {
  suites::Description description;
  description.backend = choice.backend();
  description.version = "onnx 1.23.2";
  description.device = "cpu";
  return description;
}

template <class Named>
void expect_known(const std::string& name, const Named& all, auto name_of) {
  std::vector<std::string> known;
  for (const auto& one : all) known.push_back(name_of(one));
  if (name.empty() || std::ranges::find(known, name) != known.end()) return;
  throw InputError("there is no " + name + suggestion(name, known));
}

int reply_descriptor() {
  if (const char* given = std::getenv("ASSAY_REPLY_FD")) return std::atoi(given);
  throw InputError("assay starts this program; by hand: ASSAY_REPLY_FD=1 assay-worker-reference");
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  CLI::App app("The reference kernels of assay, as a worker (tools/backends/README.md)");
  assay::Choice choice;
  auto* variant = app.add_option("--variant", choice.variant, "serve this correct variant instead");
  app.add_option("--mutant", choice.mutant, "serve this planted bug instead")->excludes(variant);
  app.add_flag("--naive", choice.naive, "by the naive loops instead of the engine");
  CLI11_PARSE(app, argc, argv);
  std::ios::sync_with_stdio(false);
  try {
    assay::expect_known(choice.variant, assay::crosscheck::variants(), [](const auto& v) { return v.name; });
    assay::expect_known(choice.mutant, assay::crosscheck::mutants(), [](const auto& m) { return m.id; });
    assay::suites::serve(assay::reply_descriptor(), assay::suites::description_line(assay::description_of(choice)),
                         [&](const assay::suites::Ask& ask) { return assay::answer(choice, ask); });
    return 0;
  } catch (const assay::InputError& error) {
    std::cerr << error.what() << std::endl;
    return 2;
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 3;
  }
}
