// SPDX-License-Identifier: Apache-2.0
#include "oracles/graphs/graph_judge.h"

#include "oracles/exact/element_sample.h"
#include "oracles/exact/exact.h"
#include "oracles/exact/operands.h"
#include "oracles/judging/finding.h"
#include "oracles/judging/judge.h"
#include "reference/case_view.h"

#include <algorithm>
#include <cmath>

namespace assay::oracles {
namespace {

// Applies a function to every element.
template <class F>
void change(Tensor& tensor, F&& f) {
  for_float(tensor.dtype(), [&]<class T>() {
    for (T& each : tensor.as<T>()) each = T(f(static_cast<double>(each)));
  });
}
void make_absolute(Tensor& tensor) {
  change(tensor, [](double value) { return std::abs(value); });
}
void negate(Tensor& tensor) {
  change(tensor, [](double value) { return -value; });
}

double largest_in(const Tensor& tensor) {
  double largest = 0;
  for (Int i = 0; is_float(tensor.dtype()) && i < tensor.elements(); ++i)
    largest = std::max(largest, std::abs(number_in(tensor, i)));
  return largest;
}

// Bounds the terms that values are summed of.
struct Magnitudes {
  GraphData outputs;
  double largest = 0;  // of any value
};

// Works out a step on magnitudes, as if nothing were subtracted and nothing clipped.
void run_on_magnitudes(const GraphStep& step, Operands operands, int threads, GraphData& values) {
  const std::string& op = step.c.version.name;
  if (op == "Clip") {
    values[step.results.front()] = *operands.front();
    return;
  }
  if (op == "Sub") negate(*operands[1]);
  if (op == "BatchNormalization") negate(*operands[3]);
  run_step(step, operands, threads, values);
  for (const std::string& result : step.results)
    if (const auto found = values.find(result); found != values.end() && is_float(found->second.dtype()))
      make_absolute(found->second);
}

// Bounds every element of the outputs as the sum of the magnitudes of its terms.
Magnitudes magnitudes(const GraphCase& graph, GraphData values, int threads) {
  double largest = 0;
  for (auto& [name, tensor] : values) {
    if (is_float(tensor.dtype())) make_absolute(tensor);
    largest = std::max(largest, largest_in(tensor));
  }
  for (std::size_t i = 0; i < graph.steps.size(); ++i) {
    const GraphStep& step = graph.steps[i];
    run_on_magnitudes(step, operands_of(step, values), threads, values);
    for (const std::string& result : step.results)
      if (const auto found = values.find(result); found != values.end())
        largest = std::max(largest, largest_in(found->second));
    drop_unneeded(graph, i, values);
  }
  return {std::move(values), largest};
}

// An implementation may take the root of a variance by an approximation (graphs.md 1.4).
bool has_root(const GraphCase& graph) {
  return std::ranges::any_of(graph.steps,
                             [](const GraphStep& step) { return step.c.version.name == "BatchNormalization"; });
}

// The worst difference of an output: the first that is far off, else the first.
struct Difference {
  Int index = -1, count = 0;
  bool is_far = false;
};

std::string in_words(const std::string& name, const Tensor& got, const Tensor& right, const Difference& of) {
  const auto word = [&](const Tensor& tensor) {
    return readable(written(scalar(tensor, of.index), tensor.dtype()), tensor.dtype());
  };
  return name + assay::text(position(right.shape(), of.index)) + " is " + word(got) + ", exactly " + word(right) +
         "; " + std::to_string(of.count) + " of " + std::to_string(right.elements()) + " elements differ";
}

std::string in_words(const TensorType& type) { return std::string(assay::name(type.dtype)) + assay::text(type.shape); }

}  // namespace

GraphJudge::GraphJudge(GraphCase graph, int threads)
    : graph_(std::move(graph)),
      threads_(threads),
      leaves_(leaves_of(graph_, 0)),
      exactness_(exactness_of(graph_, leaves_, threads)) {}

bool GraphJudge::is_exact() const { return obstacle().empty() && exactness_.rounded.empty() && !has_root(graph_); }

GraphVerdict GraphJudge::judge(const Outcome& outcome) const {
  if (!obstacle().empty()) return {State::unscored, obstacle()};
  if (outcome.kind == Outcome::Kind::unsupported) return {State::unsupported, outcome.because};
  if (outcome.kind == Outcome::Kind::refused) return {State::refused, outcome.because};
  if (outcome.kind != Outcome::Kind::outputs)
    return {State::error, std::string(name(outcome.kind)) + (outcome.because.empty() ? "" : ": " + outcome.because)};
  if (outcome.sets.size() != 1 || outcome.sets.front().size() != graph_.outputs.size())
    return {State::fail, "it gives another number of outputs"};
  GraphVerdict verdict{State::pass, ""};
  std::optional<Magnitudes> terms;
  const auto magnitudes_of_terms = [&]() -> const Magnitudes& {
    if (!terms) terms = magnitudes(graph_, leaves_, threads_);
    return *terms;
  };
  for (std::size_t k = 0; k < graph_.outputs.size() && verdict.state != State::fail; ++k) {
    const Tensor &right = this->right(graph_.outputs[k]), &got = outcome.sets.front()[k];
    if (got.type() != right.type())
      return {State::fail, graph_.outputs[k] + " is " + in_words(got.type()) + ", exactly " + in_words(right.type())};
    const bool is_rounded = exactness_.rounded.contains(graph_.outputs[k]);
    // An estimate of a root is carried into what rounds behind it, which moves it no further.
    const double carried = is_rounded && has_root(graph_) ? 0x1p-9 * magnitudes_of_terms().largest : 0;
    const double most = is_rounded ? exactness_.coarse + carried : 0;
    Difference worst;
    for (Int i = 0; i < right.elements(); ++i) {
      const double exact = number_in(right, i), off = std::abs(number_in(got, i) - exact);
      if (off <= most) continue;
      const double all = is_rounded ? 0 : number_in(magnitudes_of_terms().outputs.find(graph_.outputs[k])->second, i);
      if (has_root(graph_) && off <= 0x1p-10 * all) continue;
      const bool is_far = !(off <= 0x1p-7 * all);
      if (++worst.count == 1 || (is_far && !worst.is_far)) worst.index = i;
      worst.is_far |= is_far;
    }
    if (worst.count == 0 || (verdict.state == State::below && !worst.is_far)) continue;
    verdict = {worst.is_far ? State::fail : State::below, in_words(graph_.outputs[k], got, right, worst)};
  }
  return verdict;
}

std::string GraphJudge::confirm() const {
  std::optional<std::string> ruling;
  Judgement some;
  some.most_elements = 1 << 12;
  evaluate(graph_, leaves_, threads_, [&](const GraphStep& step, const GraphData& values) {
    if (!ruling) ruling = ruling_touched(step, values, every_element);
    if (ruling) return;
    Outcome outcome;
    outcome.sets.emplace_back();
    for (const std::string& result : step.results)
      if (!result.empty()) outcome.sets.front().push_back(values.find(result)->second);
    const Verdict verdict = oracles::judge(step.c.call(), {operands_of(step, values)}, outcome, some);
    if (verdict.state != State::pass && verdict.state != State::unscored)
      throw BrokenPromise("the kernel and the oracle disagree on " + step.c.version.name + " of " + line(graph_));
  });
  return ruling.value_or("");
}

}  // namespace assay::oracles
