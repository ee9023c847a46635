// SPDX-License-Identifier: Apache-2.0
// Support vector machines a third time: the products of a row with every support are made first.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <algorithm>
#include <cmath>

namespace assay::mutation {
namespace {

enum Defect {
  none,
  forgets_offset,
  subtracts_offset,
  transposes_supports,
  exchanges_parameters,
  forgets_gamma,
  forgets_square,
  ignores_transform,
  returns_sum,
  weighs_by_first,
  // of classifiers
  repeats_first_offset,
  exchanges_coefficients,
  starts_at_first_support,
  turns_votes,
  takes_last_of_equal,
  adds_up_votes,
  orders_by_second,
  returns_one_score,
  turns_probabilities,
  // and what is another reading
  puts_winner_first,
  complements,
  scores_labels,
  prefers_second,
  takes_likeliest
};

double power_of(double base, double degree) {
  double all = 1;
  for (int i = 0; i < static_cast<int>(degree); ++i) all *= base;
  return all;
}

// Returns the kernel of a row of X and each of so many vectors.
std::vector<double> kernels_of(const Call& call, const Tensor& x, Int n, const Reals& vectors, Int many, int defect) {
  const Int width = call.dim("X", 1);
  Reals parameters = call.states("kernel_params") ? call.reals("kernel_params") : Reals{1, 0, 1};
  if (defect == exchanges_parameters) std::swap(parameters[0], parameters[1]);
  if (defect == forgets_gamma) parameters[0] = 1;
  const std::string kernel = call.text("kernel_type");
  std::vector<double> all;
  for (Int i = 0; i < many; ++i) {
    double dot = 0, own = 0, other = 0;
    for (Int j = 0; j < width; ++j) {
      const double element = number_at(x, n * width + j);
      const Int at = defect == transposes_supports ? j * many + i : i * width + j;
      const auto s = static_cast<double>(vectors[static_cast<std::size_t>(at)]);
      dot += element * s;
      own += element * element;
      other += s * s;
    }
    const double apart = own + other - 2 * dot, gamma = static_cast<double>(parameters[0]);
    const double moved = gamma * dot + static_cast<double>(parameters[1]);
    double value = dot;
    if (kernel == "POLY") value = power_of(moved, static_cast<double>(parameters[2]));
    if (kernel == "RBF") value = std::exp(-gamma * (defect == forgets_square ? std::sqrt(std::abs(apart)) : apart));
    if (kernel == "SIGMOID") value = std::tanh(moved);
    all.push_back(value);
  }
  return all;
}

double offset_of(const Call& call, std::size_t at, int defect) {
  const auto rho = static_cast<double>(call.reals("rho")[defect == repeats_first_offset ? 0 : at]);
  return defect == forgets_offset ? 0 : defect == subtracts_offset ? -rho : rho;
}

Kernel separating(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    const Int supports = call.integer("n_supports");
    const Reals weights = call.reals("coefficients"), vectors = supports == 0 ? weights : call.reals("support_vectors");
    Tensor y({DType::f32, {call.dim("X", 0), 1}});
    for (Int n = 0; n < call.dim("X", 0); ++n) {
      const std::vector<double> kernels = kernels_of(call, *in[0], n, vectors, std::max<Int>(1, supports), defect);
      double sum = 0;
      for (std::size_t i = kernels.size(); i-- > 0;) {
        const auto weight = static_cast<double>(weights[defect == weighs_by_first ? 0 : i]);
        sum += supports == 0 ? kernels[i] : weight * kernels[i];
      }
      sum += offset_of(call, 0, defect);
      if (call.integer("one_class") == 1 && defect != returns_sum) sum = sum > 0 ? 1 : -1;
      std::vector<double> row{sum};
      if (defect != ignores_transform) apply_post(call.text("post_transform"), row);
      put_number(y, n, row[0]);
    }
    return y;
  };
}

std::size_t count_labels(const Call& call) {
  return call.states("classlabels_strings") ? call.texts("classlabels_strings").size()
                                            : call.ints("classlabels_ints").size();
}

// Holds a classifier whose supports are those of labels.
struct Election {
  Election(const Call& of, int with) : call(of), defect(with), labels(count_labels(of)) {
    if (!call.states("vectors_per_class")) return;
    const Ints many = call.ints("vectors_per_class");
    for (std::size_t label = 0; label < labels; ++label)
      label_of.insert(label_of.end(), static_cast<std::size_t>(many[label]), label);
  }
  bool is_paired() const { return !label_of.empty(); }
  bool has_probabilities() const { return call.states("prob_a"); }

  // Lists the pairs of labels in order.
  std::vector<std::pair<std::size_t, std::size_t>> pairs() const {
    std::vector<std::pair<std::size_t, std::size_t>> all;
    for (std::size_t j = 1; j < labels; ++j)
      for (std::size_t i = 0; i < j; ++i) all.emplace_back(i, j);
    if (defect != orders_by_second) std::ranges::sort(all);
    return all;
  }

  std::vector<double> scores(const Tensor& x, Int n) const {
    const Reals weights = call.reals("coefficients");
    std::vector<double> all;
    if (!is_paired()) {
      all = kernels_of(call, x, n, weights, static_cast<Int>(labels), defect);
      for (double& each : all) each += offset_of(call, 0, defect);
      return all;
    }
    const std::size_t many = label_of.size();
    const std::vector<double> kernels =
        kernels_of(call, x, n, call.reals("support_vectors"), static_cast<Int>(many), defect);
    for (const auto& [i, j] : pairs()) {
      double sum = 0;
      for (std::size_t v = many; v-- > 0;) {
        if (label_of[v] != i && label_of[v] != j) continue;
        const bool is_of_first = (label_of[v] == i) != (defect == exchanges_coefficients);
        const auto first = static_cast<std::size_t>(std::ranges::find(label_of, label_of[v]) - label_of.begin());
        const std::size_t at = (is_of_first ? j - 1 : i) * many + (defect == starts_at_first_support ? v - first : v);
        sum += static_cast<double>(weights[defect == weighs_by_first ? 0 : at]) * kernels[v];
      }
      all.push_back(sum + offset_of(call, all.size(), defect));
    }
    return all;
  }

  std::vector<double> votes(const std::vector<double>& of) const {
    if (!is_paired()) return of;
    std::vector<double> all(labels);
    std::size_t at = 0;
    for (const auto& [i, j] : pairs()) {
      const double s = of[at++];
      if (defect == adds_up_votes) all[i] += s, all[j] -= s;
      if (defect != adds_up_votes) all[(s > 0) == (defect != turns_votes) ? i : j] += 1;
    }
    return all;
  }

  // Couples shares of pairs: of more labels than two they are added up.
  std::vector<double> probabilities(const std::vector<double>& of) const {
    std::vector<double> all(labels);
    std::size_t at = 0;
    for (const auto& [i, j] : pairs()) {
      const double moved =
          static_cast<double>(call.reals("prob_a")[at]) * of[at] + static_cast<double>(call.reals("prob_b")[at]);
      const double share = (1 - std::tanh((defect == turns_probabilities ? -moved : moved) / 2)) / 2;
      all[i] += share / static_cast<double>(of.size());
      all[j] += (1 - share) / static_cast<double>(of.size());
      ++at;
    }
    return all;
  }

  // Makes what is transformed of the scores.
  std::vector<double> answer(const std::vector<double>& of) const {
    if (!is_paired()) return of;
    if (has_probabilities()) return probabilities(of);
    if (labels > 2) return defect == scores_labels ? votes(of) : of;
    const double s = of[0];
    if (defect == returns_one_score) return {s};
    if (defect == puts_winner_first) return {s, -s};
    return {defect == complements && call.text("post_transform") == "NONE" ? 1 - s : -s, s};
  }

  std::size_t winner(const std::vector<double>& of) const {
    const bool is_likeliest = defect == takes_likeliest && is_paired() && has_probabilities();
    const std::vector<double> all = is_likeliest ? probabilities(of) : votes(of);
    if (defect == prefers_second && labels == 2) return 1;
    std::size_t best = 0;
    for (std::size_t k = 1; k < labels; ++k)
      if (all[k] > all[best] || (defect == takes_last_of_equal && all[k] == all[best])) best = k;
    return best;
  }

  Call call;
  int defect;
  std::size_t labels;
  std::vector<std::size_t> label_of;  // of each support
};

Kernel electing(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    const Election election(call, defect);
    const Int rows = call.dim("X", 0);
    const bool is_text = call.states("classlabels_strings"), is_by_label = defect == scores_labels;
    const auto labels = static_cast<Int>(election.labels);
    const bool has_pairs = election.is_paired() && !election.has_probabilities();
    const Int columns = has_pairs && labels > 2 && !is_by_label                   ? labels * (labels - 1) / 2
                        : has_pairs && labels == 2 && defect == returns_one_score ? 1
                                                                                  : labels;
    Tensor y({is_text ? DType::string : DType::i64, {rows}}), z({DType::f32, {rows, columns}});
    for (Int n = 0, at = 0; n < rows; ++n) {
      const std::vector<double> scores = election.scores(*in[0], n);
      put_class(y, n, call, "classlabels_ints", election.winner(scores));
      std::vector<double> row = election.answer(scores);
      if (defect != ignores_transform) apply_post(call.text("post_transform"), row);
      for (const double each : row) put_number(z, at++, each);
    }
    return {y, z};
  };
}

bool is_known(const std::string& op) { return op == "SVMRegressor" || op == "SVMClassifier"; }
Kernel kernel_of(const std::string& op, int defect) {
  return op == "SVMClassifier" ? electing(defect) : separating(defect);
}

}  // namespace

std::vector<VariantKernel> machine_variants(const std::string& op) {
  if (!is_known(op)) return {};
  std::vector<VariantKernel> all{variant_of("sequential", "one row after the other", kernel_of(op, none))};
  const auto reading = [&](const char* name, const char* what, const char* ruling, const char* read, Defect defect) {
    all.push_back(variant_of(name, what, electing(defect)));
    all.back().variant.ruling = ruling;
    all.back().variant.reading = read;
  };
  if (op == "SVMRegressor") return all;
  reading("winner-first", "of two labels the first has the score", "G77", "winner", puts_winner_first);
  reading("complement", "of two labels the first has 1 less the score", "G77", "complement", complements);
  reading("by-label", "each label has as many as it has votes", "G77", "classes", scores_labels);
  reading("second", "of two labels the second", "G78", "second", prefers_second);
  // Goes by either name: of two labels the likeliest may be the second.
  reading("likeliest", "the label of the largest probability", "G78 G78", "likeliest second", takes_likeliest);
  return all;
}

std::vector<Bug> machine_bugs(const std::string& op) {
  if (!is_known(op)) return {};
  std::vector<Bug> all;
  const auto add = [&](const char* name, const char* what, Defect defect) {
    all.push_back(bug_of(op, name, what, kernel_of(op, defect)));
  };
  add("forgets-offset", "rho is not added", forgets_offset);
  add("subtracts-offset", "rho is taken off", subtracts_offset);
  add("transposes-supports", "the entries of a feature are contiguous", transposes_supports);
  add("exchanges-parameters", "gamma and coef0 change places", exchanges_parameters);
  add("forgets-gamma", "gamma is 1", forgets_gamma);
  add("forgets-square", "RBF takes the distance, not its square", forgets_square);
  add("ignores-transform", "the sum is not transformed", ignores_transform);
  if (op == "SVMRegressor") add("returns-sum", "of one class the sum is returned", returns_sum);
  add("weighs-by-first", "every support has the first coefficient", weighs_by_first);
  if (op == "SVMRegressor") return all;
  add("repeats-first-offset", "every pair has the first of rho", repeats_first_offset);
  add("exchanges-coefficients", "a pair takes the coefficients of the other label", exchanges_coefficients);
  add("starts-at-first-support", "the coefficients of each label start at the first", starts_at_first_support);
  add("turns-votes", "a score above 0 is a vote for the second", turns_votes);
  add("takes-last-of-equal", "of labels with as many votes the last is taken", takes_last_of_equal);
  add("adds-up-votes", "the label is that of the largest sum of scores", adds_up_votes);
  add("orders-by-second", "pairs stand in the order of their second label", orders_by_second);
  add("returns-one-score", "two labels have one score", returns_one_score);
  add("turns-probabilities", "prob_a and prob_b have the opposite sign", turns_probabilities);
  return all;
}

}  // namespace assay::mutation
