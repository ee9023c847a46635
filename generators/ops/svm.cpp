// SPDX-License-Identifier: Apache-2.0
// SVMRegressor: every kernel, a few support vectors or none, one class, every transformation.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/families/scores.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

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
    const std::string kernel = pick({"LINEAR", "POLY", "RBF", "SIGMOID"});
    if (kernel != "LINEAR" || chance(20)) c.node.attribute("kernel_type", kernel);
    if (kernel != "LINEAR" || chance(20))
      c.node.attribute("kernel_params", Reals{pick({0.5F, 0.25F, 1.0F, 0.1F}), pick({0.0F, 1.0F, -0.5F, 0.3F}),
                                              pick({2.0F, 3.0F, 1.0F, 0.0F})});
  }
  if (chance(25)) c.node.attribute("one_class", between(0, 1));
  if (chance(35)) c.node.attribute("post_transform", pick({"NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"}));
  return c;
}

// Draws coefficients and vectors for as many features as there are.
void refit(Case& c) {
  if (shape_of(c).size() != 2 || shape_of(c)[1] < 1) return;
  const auto found = c.node.attributes.find("n_supports");
  const Int supports = found == c.node.attributes.end() ? 0 : std::get<Int>(found->second), features = shape_of(c)[1];
  const auto fit = [&](const char* name, Int many) {
    const auto list = c.node.attributes.find(name);
    if (list != c.node.attributes.end() && many >= 0)
      std::get<Reals>(list->second).resize(static_cast<std::size_t>(many), 0.25F);
  };
  fit("coefficients", supports == 0 ? features : supports);
  fit("support_vectors", supports * features);
}

std::vector<Mutation> own_damages() {
  return {{"a transform that is none", [](Case& c) { c.node.attribute("post_transform", "none"); }},
          {"fewer than none", [](Case& c) { c.node.attribute("n_supports", -1); }},
          {"a flag that is none", [](Case& c) { c.node.attribute("one_class", 2); }},
          {"a kernel of nothing", [](Case& c) {
             if (c.node.attributes.contains("support_vectors")) return false;
             c.node.attribute("kernel_type", "RBF").attribute("kernel_params", Reals{1, 0, 1});
             return true;
           }}};
}

}  // namespace

const OperatorGenerator& svm_regressor() {
  static const OperatorGenerator all = [] {
    OperatorGenerator generator = moving_generator(draw_regressor, refit);
    generator.ranks = [](const Definition&) { return std::pair<Int, Int>{2, 2}; };
    for (const char* const list : {"coefficients", "support_vectors", "rho", "kernel_params"})
      generator.damages.push_back(lengthened(list));
    std::ranges::move(row_damages(), std::back_inserter(generator.damages));
    std::ranges::move(own_damages(), std::back_inserter(generator.damages));
    return generator;
  }();
  return all;
}

}  // namespace assay::generators
