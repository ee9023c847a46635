// SPDX-License-Identifier: Apache-2.0
// LinearRegressor and LinearClassifier: one score and several, with and without intercepts, every transformation; rows
// that are close, alike and zero.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/families/scores.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

Recipe draw_rows_data(DType type, bool is_shared) {
  if (is_shared) return chance(50) ? seeded(is_float(type) ? "quarter" : "small") : Recipe{"lit", "1,-2,0,3,-1,2,0,0"};
  if (!is_float(type)) {
    if (type == DType::i64 && chance(25)) return {"lit", "4294967298,1,-3,7,2"};
    return chance(25) ? Recipe{"lit", "258,-300,2,65536,7"} : seeded("small");
  }
  if (chance(15)) return {"hold", "2.5,inf,-1,3,0.5,8,1,-2,-0.25,7,6"};
  return seeded(pick({"normal", "small", "uniform", "normal", "quarter", "logu"}));
}

// Draws X, so many rows of coefficients and, mostly, intercepts.
void draw_model(Case& c, DType type, Shape shape, Int rows) {
  const std::string post =
      weighted<const char*>({{45, "NONE"}, {20, "LOGISTIC"}, {20, "SOFTMAX"}, {10, "SOFTMAX_ZERO"}, {5, "PROBIT"}});
  const bool is_shared = post.starts_with("SOFTMAX");
  if (is_shared) shape.back() = std::min<Int>(shape.back(), 10);
  c.node.input("X", {type, shape});
  c.sources["X"] = {draw_rows_data(type, is_shared), false};
  Reals weights, intercepts;
  const bool is_dyadic = chance(50);
  for (Int i = 0; i < rows * shape.back(); ++i)
    weights.push_back(is_dyadic ? pick({0.25F, -0.5F, 0.125F, 0.5F, 0.0F, -0.25F}) : pick({0.1F, -0.3F, 0.7F, -0.2F}));
  for (Int k = 0; k < rows; ++k) intercepts.push_back(pick({0.0F, 0.25F, -1.0F, 0.1F, 2.0F}));
  c.node.attribute("coefficients", weights);
  if (chance(70)) c.node.attribute("intercepts", intercepts);
  if (post != "NONE" || chance(20)) c.node.attribute("post_transform", Attribute(post));
}

Shape draw_shape(std::uint64_t stratum) {
  const Shape drawn = draw_extents(stratum % shape_strata);
  if (drawn.empty()) return {1, 1};
  if (drawn.size() == 1) return chance(50) ? Shape{drawn[0], between(1, 3)} : Shape{1, std::max<Int>(1, drawn[0])};
  return {volume(std::span(drawn).first(drawn.size() - 1)), std::clamp<Int>(drawn.back(), 1, 65)};
}

Case draw_regressor(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const Int targets = weighted<Int>({{40, 1}, {30, 2}, {30, 3}});
  draw_model(c, type, draw_shape(stratum), targets);
  if (targets > 1 || chance(30)) c.node.attribute("targets", Attribute(targets));
  return c;
}

Case draw_classifier(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  Shape shape = draw_shape(stratum);
  if (shape[0] == 1 && chance(40)) shape = {shape[1]};
  const Int labels = weighted<Int>({{50, 2}, {30, 3}, {20, 4}});
  draw_model(c, type, shape, labels == 2 && chance(60) ? 1 : labels);
  state_labels(c, "classlabels_ints", labels);
  if (chance(30)) c.node.attribute("multi_class", Attribute(between(0, 1)));
  return c;
}

// Draws coefficients for as many features as there are.
void refit(Case& c) {
  const auto found = c.node.attributes.find("coefficients");
  if (found == c.node.attributes.end() || shape_of(c).empty() || shape_of(c).back() < 1) return;
  Reals& weights = std::get<Reals>(found->second);
  const auto intercepts = c.node.attributes.find("intercepts");
  const auto targets = c.node.attributes.find("targets");
  Int rows = targets == c.node.attributes.end() ? 1 : std::get<Int>(targets->second);
  if (const auto labels = c.node.attributes.find("classlabels_ints"); labels != c.node.attributes.end())
    rows = std::ssize(std::get<Ints>(labels->second));
  if (const auto labels = c.node.attributes.find("classlabels_strings"); labels != c.node.attributes.end())
    rows = std::ssize(std::get<Texts>(labels->second));
  weights.resize(static_cast<std::size_t>(std::max<Int>(0, rows) * shape_of(c).back()), 0.25F);
  if (intercepts != c.node.attributes.end())
    std::get<Reals>(intercepts->second).resize(static_cast<std::size_t>(std::max<Int>(0, rows)), 0.25F);
}

OperatorGenerator made(Case (*draw)(const Definition&, DType, std::uint64_t), Ranks ranks) {
  OperatorGenerator all = moving_generator(draw, refit);
  all.ranks = ranks;
  all.damages = {lengthened("coefficients"), lengthened("intercepts")};
  std::ranges::move(row_damages(), std::back_inserter(all.damages));
  return all;
}

}  // namespace

const OperatorGenerator& linear_regressor() {
  static const OperatorGenerator all = [] {
    OperatorGenerator generator = made(draw_regressor, [](const Definition&) { return std::pair<Int, Int>{2, 2}; });
    generator.damages.push_back({"no target", [](Case& c) { c.node.attribute("targets", Attribute(between(-1, 0))); }});
    generator.damages.push_back({"no coefficients", [](Case& c) { c.node.attributes.erase("coefficients"); }});
    return generator;
  }();
  return all;
}
const OperatorGenerator& linear_classifier() {
  static const OperatorGenerator all = [] {
    OperatorGenerator generator = made(draw_classifier, [](const Definition&) { return std::pair<Int, Int>{1, 2}; });
    generator.damages.push_back(labels_of_both_kinds("classlabels_ints"));
    generator.damages.push_back({"a flag that is none", [](Case& c) { c.node.attribute("multi_class", 2); }});
    return generator;
  }();
  return all;
}

}  // namespace assay::generators
