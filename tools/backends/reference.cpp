// SPDX-License-Identifier: Apache-2.0
// assay-worker-reference: our own kernels by the same road as a stranger's, and in their place, on request, a correct
// variant or a planted bug (suites/mutation).
#include "reference/nearest.h"
#include "reference/onnx_io.h"
#include "suites/mutation/mutants.h"
#include "suites/mutation/variants.h"
#include "suites/sandbox/fork_server.h"
#include "suites/workers/frame.h"
#include "suites/workers/own_kernels.h"
#include "suites/workers/serving.h"

#include <CLI/CLI.hpp>

#include <iostream>
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
    if (!variant.empty()) other = mutation::variant(variant, definition.version);
    if (!mutant.empty()) other = mutation::mutant(mutant, definition.version);
    if (!other && !naive && variant.empty() && mutant.empty()) return definition.fast;
    return [kernel = other ? *std::move(other) : definition.kernel](const Call& call, std::span<const Tensor* const> in,
                                                                    int) { return kernel(call, in); };
  }
};

std::string answer(const Choice& choice, const suites::Request& request) {
  const suites::KernelAnswer answer =
      suites::kernel_answer(request, [&](const Definition& definition) { return choice.kernel(definition); });
  const Outcome& outcome = answer.outcome;
  if (outcome.kind != Outcome::Kind::outputs) return suites::answer_line(request.id, outcome.kind, outcome.because, {});
  std::vector<std::vector<std::string>> sets;
  for (const std::vector<Tensor>& outputs : outcome.sets) {
    auto& parts = sets.emplace_back();
    for (std::size_t i = 0; i < outputs.size(); ++i) parts.push_back(encode_tensor(outputs[i], answer.names[i]));
  }
  return suites::outputs_frame(request.id, sets);
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
  try {
    CLI::App app("The reference kernels of assay, as a worker (tools/backends/README.md)");
    assay::Choice choice;
    auto* variant = app.add_option("--variant", choice.variant, "serve this correct variant instead");
    app.add_option("--mutant", choice.mutant, "serve this planted bug instead")->excludes(variant);
    app.add_flag("--naive", choice.naive, "by the naive loops instead of the engine");
    CLI11_PARSE(app, argc, argv);
    std::ios::sync_with_stdio(false);
    assay::expect_known(choice.variant, assay::mutation::variants(), [](const auto& v) { return v.name; });
    assay::expect_known(choice.mutant, assay::mutation::mutants(), [](const auto& m) { return m.id; });
    assay::suites::fork_on_request();
    assay::suites::serve(assay::reply_descriptor(),
                         assay::suites::description_line(assay::suites::own_description(choice.backend())),
                         [&](const assay::suites::Request& request) { return assay::answer(choice, request); });
    return 0;
  } catch (const assay::InputError& error) {
    std::cerr << error.what() << std::endl;
    return 2;
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 3;
  }
}
