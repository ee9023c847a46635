// SPDX-License-Identifier: Apache-2.0
// SVMRegressor and SVMClassifier: every kernel, a few support vectors or none, one class, two labels and more, some
// without a vector, probabilities, every transformation.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/families/scores.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>
#include <numeric>

namespace assay::generators {
namespace {

Shape draw_shape(std::uint64_t stratum) {
  const Shape drawn = draw_extents(stratum % shape_strata);
  return {drawn.empty() ? 1 : std::min<Int>(drawn[0], 20), between(1, 5)};
}

Recipe draw_rows_data(DType type) {
  if (!is_float(type) && chance(35)) return {"lit", type == DType::i64 ? "4294967298,1,-3,7,2" : "258,-300,2,65536,7"};
  if (!is_float(type)) return chance(60) ? Recipe{"lit", "1,-2,0,3,-1,2,0,5"} : seeded("small");
  if (chance(20)) return {"hold", "2.5,inf,-1,nan,0.5,8,1,-2"};
  return seeded(pick({"quarter", "normal", "uniform", "small"}));
}

Reals draw_list(Int many) {
  Reals all;
  const bool is_dyadic = chance(60);
  for (Int i = 0; i < many; ++i)
    all.push_back(is_dyadic ? pick({0.5F, -1.0F, 0.25F, 2.0F, 0.0F, -0.5F, 1.0F}) : pick({0.1F, -0.3F, 0.7F, -1.2F}));
  return all;
}

// Draws a kernel; parameters, which LINEAR may state, in so many of a hundred cases.
void draw_kernel(Case& c, int stated) {
  const std::string kernel = pick({"LINEAR", "POLY", "RBF", "SIGMOID"});
  if (kernel != "LINEAR" || chance(20)) c.node.attribute("kernel_type", kernel);
  if (kernel != "LINEAR" || chance(stated))
    c.node.attribute("kernel_params", Reals{pick({0.5F, 0.25F, 1.0F, 0.1F}), pick({0.0F, 1.0F, -0.5F, 0.3F}),
                                            pick({2.0F, 3.0F, 1.0F, 0.0F})});
}

void draw_transform(Case& c) {
  if (chance(35)) c.node.attribute("post_transform", pick({"NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"}));
}

Case draw_regressor(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const Shape shape = draw_shape(stratum);
  c.node.input("X", {type, shape});
  c.sources["X"] = {draw_rows_data(type), false};
  const Int supports = weighted<Int>({{25, 0}, {30, 1}, {25, 2}, {20, 4}});
  c.node.attribute("coefficients", draw_list(supports == 0 ? shape[1] : supports));
  c.node.attribute("rho", Reals{pick({0.25F, 0.0F, -1.0F, 0.1F, 3.0F})});
  if (supports > 0 || chance(30)) c.node.attribute("n_supports", supports);
  if (supports > 0) {
    c.node.attribute("support_vectors", draw_list(supports * shape[1]));
    draw_kernel(c, 20);
  }
  if (chance(25)) c.node.attribute("one_class", between(0, 1));
  draw_transform(c);
  return c;
}

Case draw_classifier(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const Shape shape = draw_shape(stratum);
  c.node.input("X", {type, shape});
  c.sources["X"] = {draw_rows_data(type), false};
  const Int labels = weighted<Int>({{45, 2}, {20, 3}, {35, 4}}), pairs = labels * (labels - 1) / 2;
  state_labels(c, "classlabels_ints", labels);
  if (chance(25)) {
    c.node.attribute("coefficients", draw_list(labels * shape[1])).attribute("rho", draw_list(1));
    if (chance(75)) c.node.attribute("kernel_params", Reals{0, 0, 0});
  } else {
    Ints many{between(1, 2)};
    while (std::ssize(many) < labels) many.push_back(weighted<Int>({{15, 0}, {50, 1}, {35, 2}}));
    const Int supports = std::accumulate(many.begin(), many.end(), Int{0});
    c.node.attribute("vectors_per_class", many).attribute("support_vectors", draw_list(supports * shape[1]));
    c.node.attribute("coefficients", draw_list((labels - 1) * supports)).attribute("rho", draw_list(pairs));
    if (chance(20)) c.node.attribute("prob_a", draw_list(pairs)).attribute("prob_b", draw_list(pairs));
    draw_kernel(c, 75);
  }
  draw_transform(c);
  return c;
}

template <class T>
T* list_of(Case& c, const char* name) {
  const auto found = c.node.attributes.find(name);
  return found == c.node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

// Gives a list of floats that many entries.
void fit(Case& c, const char* name, Int many) {
  if (Reals* const list = list_of<Reals>(c, name); list && many >= 0)
    list->resize(static_cast<std::size_t>(many), 0.25F);
}

// Draws coefficients and vectors for as many features as there are.
void refit(Case& c) {
  if (shape_of(c).size() != 2 || shape_of(c)[1] < 1) return;
  const auto found = c.node.attributes.find("n_supports");
  const Int supports = found == c.node.attributes.end() ? 0 : std::get<Int>(found->second), features = shape_of(c)[1];
  fit(c, "coefficients", supports == 0 ? features : supports);
  fit(c, "support_vectors", supports * features);
}

// The same for as many labels, and vectors of each, as there are.
void refit_classifier(Case& c) {
  const Ints* const numbers = list_of<Ints>(c, "classlabels_ints");
  const Texts* const texts = list_of<Texts>(c, "classlabels_strings");
  if (shape_of(c).size() != 2 || shape_of(c)[1] < 1 || (!numbers && !texts)) return;
  const Int labels = numbers ? std::ssize(*numbers) : std::ssize(*texts), pairs = labels * (labels - 1) / 2;
  Ints* const many = list_of<Ints>(c, "vectors_per_class");
  if (many) many->resize(static_cast<std::size_t>(labels), 1);
  const Int supports = many ? std::accumulate(many->begin(), many->end(), Int{0}) : 0;
  if (!many)
    for (const char* const name : {"support_vectors", "prob_a", "prob_b", "kernel_type"}) c.node.attributes.erase(name);
  fit(c, "coefficients", many ? (labels - 1) * supports : labels * shape_of(c)[1]);
  fit(c, "support_vectors", supports * shape_of(c)[1]);
  fit(c, "rho", many ? pairs : 1);
  for (const char* const name : {"prob_a", "prob_b"}) fit(c, name, pairs);
}

// Takes the last label away, or a vector of each label.
Cases fewer_labels(const Case& c, int part) {
  Cases out{c};
  Ints* const many = list_of<Ints>(out[0], "vectors_per_class");
  if (part > 0) {
    if (!many || many->size() < static_cast<std::size_t>(part)) return {};
    --(*many)[static_cast<std::size_t>(part) - 1];
  } else {
    if (Ints* const numbers = list_of<Ints>(out[0], "classlabels_ints"); numbers && !numbers->empty())
      numbers->pop_back();
    if (Texts* const texts = list_of<Texts>(out[0], "classlabels_strings"); texts && !texts->empty()) texts->pop_back();
  }
  refit_classifier(out[0]);
  return out;
}
constexpr ShrinkStep steps_of_labels[] = {{[](const Case&) { return 5; }, fewer_labels}};

Mutation no_transform() {
  return {"a transform that is none", [](Case& c) { c.node.attribute("post_transform", "none"); }};
}
Mutation no_vectors() {
  return {"a kernel of nothing", [](Case& c) {
            if (c.node.attributes.contains("support_vectors")) return false;
            c.node.attribute("kernel_type", "RBF").attribute("kernel_params", Reals{1, 0, 1});
            return true;
          }};
}

// Counts the vectors of the first label otherwise.
Mutation miscounted(const char* what, Int more) {
  return {what, [more](Case& c) {
            Ints* const many = list_of<Ints>(c, "vectors_per_class");
            if (many) many->front() += more;
            return many != nullptr;
          }};
}

OperatorGenerator machine(Case (*draw)(const Definition&, DType, std::uint64_t), void (*refit)(Case&),
                          const std::vector<const char*>& lists, std::vector<Mutation> own) {
  OperatorGenerator generator = moving_generator(draw, refit);
  generator.ranks = [](const Definition&) { return std::pair<Int, Int>{2, 2}; };
  for (const char* const list : lists) generator.damages.push_back(lengthened(list));
  std::ranges::move(row_damages(), std::back_inserter(generator.damages));
  std::ranges::move(own, std::back_inserter(generator.damages));
  return generator;
}

}  // namespace

const OperatorGenerator& svm_regressor() {
  static const OperatorGenerator all =
      machine(draw_regressor, refit, {"coefficients", "support_vectors", "rho", "kernel_params"},
              {no_transform(),
               {"fewer than none", [](Case& c) { c.node.attribute("n_supports", -1); }},
               {"a flag that is none", [](Case& c) { c.node.attribute("one_class", 2); }},
               no_vectors()});
  return all;
}

const OperatorGenerator& svm_classifier() {
  static const OperatorGenerator all = [] {
    OperatorGenerator generator =
        machine(draw_classifier, refit_classifier,
                {"coefficients", "support_vectors", "rho", "kernel_params", "prob_a", "prob_b", "vectors_per_class"},
                {no_transform(), no_vectors(), labels_of_both_kinds("classlabels_ints"), miscounted("a vector more", 1),
                 miscounted("vectors below none", -5)});
    generator.steps = steps_of_labels;
    return generator;
  }();
  return all;
}

}  // namespace assay::generators
