// SPDX-License-Identifier: Apache-2.0
// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss by a third hand: samples are walked class by class.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::mutation {
namespace {

using oracles::Level;
using oracles::State;

struct Losing {
  bool backwards = false, in_double = false, rounds_nodes = false, divides_each = false, takes_log_last = false;
  // Slips.
  bool counts_ignored = false, multiplies_ignored = false, keeps_ignored = false, forgets_weight = false;
  bool divides_by_count = false, divides_by_all_weights = false, keeps_sign = false, takes_next_class = false;
  bool takes_first_batch = false, misses_last = false, forgets_logarithm = false;
};

// The scores of one sample, class by class: what is made of them.
template <class S, class Node>
std::vector<S> logarithms(const Losing& how, const std::vector<S>& x, Node node) {
  S most = x.front(), sum = 0;
  for (const S each : x) most = std::max(most, each);
  std::vector<S> y;
  for (const S each : x) y.push_back(node(each - most));
  for (std::size_t i = 0; i < y.size() - (how.misses_last && y.size() > 1 ? 1 : 0); ++i) sum += node(std::exp(y[i]));
  sum = node(sum);
  for (S& each : y) {
    const S share = node(node(std::exp(each)) / sum);
    each = how.forgets_logarithm ? share
           : how.takes_log_last  ? node(std::log(share))
                                 : node(each - node(std::log(sum)));
  }
  return y;
}

template <class S>
Values lose(const Losing& how, const Call& call, Inputs in) {
  Values y = outputs_of(call);
  const DType type = in[0]->dtype();
  const auto node = [&](S value) {
    Tensor one({type, {}});
    if (how.rounds_nodes) put_number(one, 0, static_cast<double>(value));
    return how.rounds_nodes ? static_cast<S>(number_at(one, 0)) : value;
  };
  const Shape& shape = in[0]->shape();
  const Int classes = shape[1];
  Int area = 1;
  for (std::size_t axis = 2; axis < shape.size(); ++axis) area *= shape[axis];
  const bool is_stated = call.node().attributes.contains("ignore_index");
  const Int ignored = is_stated ? call.integer("ignore_index") : -1;
  std::vector<S> losses, weights;
  for (Int n = 0; n < shape[0]; ++n)
    for (Int d = 0; d < area; ++d) {
      std::vector<S> x;
      for (Int c = 0; c < classes; ++c) {
        const Int batch = how.takes_first_batch ? 0 : n;
        x.push_back(static_cast<S>(number_at(*in[0], (batch * classes + c) * area + d)));
      }
      if (y.size() > 1 && classes > 0) x = logarithms(how, x, node);
      for (Int c = 0; y.size() > 1 && y[1] && c < classes; ++c)
        put_number(*y[1], (n * classes + c) * area + d, static_cast<double>(x[static_cast<std::size_t>(c)]));
      const auto target = static_cast<Int>(number_at(*in[1], n * area + d));
      const bool is_out = is_stated && target == ignored;
      const bool is_known = target >= 0 && target < classes;
      if (is_out && !(how.keeps_ignored && is_known)) {
        losses.push_back(how.multiplies_ignored && classes > 0 ? x[0] * S(0) : S(0));
        weights.push_back(how.counts_ignored ? S(1) : S(0));
        continue;
      }
      const Int taken = how.takes_next_class ? (target + 1) % classes : target;
      const bool has_weight = in.size() > 2 && in[2] && !how.forgets_weight;
      const S weight = has_weight ? static_cast<S>(number_at(*in[2], taken)) : S(1);
      const S own = x[static_cast<std::size_t>(taken)];
      losses.push_back(node((how.keeps_sign ? own : -own) * weight));
      weights.push_back(how.divides_by_count ? S(1) : weight);
    }
  const std::string reduction = call.text("reduction");
  if (reduction == "none") {
    for (std::size_t i = 0; i < losses.size(); ++i)
      put_number(*y[0], static_cast<Int>(i), static_cast<double>(losses[i]));
    return y;
  }
  if (how.backwards) std::ranges::reverse(losses);
  S sum = 0, whole = 0;
  for (const S each : weights) whole += each;
  whole = node(whole);
  if (how.divides_by_count && in.size() > 2 && in[2]) whole = static_cast<S>(losses.size());
  if (how.divides_by_all_weights && in.size() > 2 && in[2]) {
    whole = 0;
    for (Int c = 0; c < classes; ++c) whole += static_cast<S>(number_at(*in[2], c));
  }
  const bool divides_each = how.divides_each && reduction == "mean" && !(in.size() > 2 && in[2]);
  for (const S each : losses) sum += divides_each ? each / whole : each;
  sum = node(sum);
  put_number(*y[0], 0, static_cast<double>(reduction == "mean" && !divides_each ? node(sum / whole) : sum));
  return y;
}

Kernel losing(Losing how) {
  return [how](const Call& call, Inputs in) {
    const bool is_wide = how.in_double || in[0]->dtype() == DType::f64;
    return is_wide ? lose<double>(how, call, in) : lose<float>(how, call, in);
  };
}

bool is_loss(const std::string& op) { return op == "NegativeLogLikelihoodLoss" || op == "SoftmaxCrossEntropyLoss"; }

}  // namespace

std::vector<VariantKernel> loss_variants(const std::string& op) {
  if (!is_loss(op)) return {};
  return {variant_of("sequential", "one sample after the other", losing({})),
          variant_of("reversed", "the last sample first", losing({.backwards = true})),
          variant_of("divides-each", "a mean of what is divided", losing({.divides_each = true})),
          variant_of("rounds-nodes", "every node of the body is rounded to the type", losing({.rounds_nodes = true})),
          variant_of("in-double", "every float is computed in double", losing({.in_double = true}))};
}

std::vector<Bug> loss_bugs(const std::string& op) {
  if (!is_loss(op)) return {};
  const auto bug = [&](const char* name, const char* what, Losing how) { return bug_of(op, name, what, losing(how)); };
  std::vector<Bug> bugs{
      bug("counts-ignored", "the mean is over what is ignored too", {.counts_ignored = true}),
      bug("multiplies-ignored", "what is ignored is multiplied by 0", {.multiplies_ignored = true}),
      bug("keeps-ignored", "a class that is ignored is not", {.keeps_ignored = true}),
      bug("forgets-weight", "every weight is 1", {.forgets_weight = true}),
      bug("divides-by-count", "the mean is over the samples, whatever their weights", {.divides_by_count = true}),
      bug("divides-by-all-weights", "the mean is over the weights of the classes", {.divides_by_all_weights = true}),
      bug("keeps-sign", "the logarithm is not negated", {.keeps_sign = true}),
      bug("takes-next-class", "the class behind the target", {.takes_next_class = true}),
      bug("takes-first-batch", "scores of the first item", {.takes_first_batch = true})};
  if (op != "SoftmaxCrossEntropyLoss") return bugs;
  bugs.push_back(bug("misses-last", "the last term is missing in the sum", {.misses_last = true}));
  bugs.push_back(bug("forgets-logarithm", "the share itself", {.forgets_logarithm = true}));
  Bug last = bug("takes-log-last", "the logarithm of the rounded share", {.takes_log_last = true});
  last.mutant.expected = State::below;
  last.mutant.severity = Mutant::severity_of(State::below);
  last.mutant.is_named_arithmetic = true;
  bugs.push_back(last);
  return bugs;
}

}  // namespace assay::mutation
