// SPDX-License-Identifier: Apache-2.0
// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: one class and many, targets of either type, ignored by a
// number that is a class, none, or the first beyond them, some of them and all; weights of 0 and below.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>
#include <optional>
#include <variant>

namespace assay::generators {
namespace {

const std::string& name_of(const Case& c, std::size_t input) { return c.definition().inputs[input].name; }

Recipe fill(const Definition& definition) {
  if (chance(20)) return {"lit", pick({"1,2,3,4,5,6", "-0.5,-1.5,-2,-0.25,-4", "80,-80,3,0,79.5", "0,-inf,1,2", "2"})};
  const bool takes_logarithms = definition.outputs.size() == 1;
  return seeded(weighted<const char*>({{30, "normal"},
                                       {25, "small"},
                                       {10, "uniform"},
                                       {10, "cancel"},
                                       {takes_logarithms ? 8 : 2, "logu"},
                                       {3, "subnormal"},
                                       {takes_logarithms ? 3 : 0, "huge"},
                                       {8, "special"}}));
}

std::optional<Int> ignored_by(const Case& c) {
  const auto found = c.node.attributes.find("ignore_index");
  const Int* const value = found == c.node.attributes.end() ? nullptr : std::get_if<Int>(&found->second);
  return value ? std::optional(*value) : std::nullopt;
}

// Writes a target for each place but along axis 1: those there are, as far as they still name a class or are ignored.
void write_targets(Case& c, Ints targets) {
  Shape shape = shape_of(c);
  if (shape.size() < 2) return;
  const Int classes = shape[1];
  shape.erase(shape.begin() + 1);
  const std::optional<Int> ignored = ignored_by(c);
  targets.resize(static_cast<std::size_t>(volume(shape)));
  for (Int& target : targets)
    if (target != ignored)
      target = classes == 0 && ignored ? *ignored : std::clamp<Int>(target, 0, std::max<Int>(classes - 1, 0));
  write_out(c, name_of(c, 1), shape, targets);
}

void refit(Case& c) {
  if (shape_of(c).size() < 2 || !c.node.inputs.contains(name_of(c, 1))) return;
  write_targets(c, stated(c, name_of(c, 1)));
  if (c.node.inputs.contains(name_of(c, 2))) shape_of(c, name_of(c, 2)) = {shape_of(c)[1]};
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(shape_strata - 1 - stratum % shape_strata);
  while (shape.size() < 2) shape.push_back(between(1, 5));
  if (chance(60)) shape[1] = between(1, 6);
  Case c = moving(definition, type, shape);
  c.sources.at(name_of(c, 0)).recipe = fill(definition);
  if (chance(60)) c.node.attribute("reduction", pick<std::string>({"none", "sum", "mean"}));
  if (chance(65)) c.node.attribute("ignore_index", Attribute(pick<Int>({-1, -100, 0, shape[1], shape[1] - 1, 1})));
  const DType of_targets = pick({DType::i32, DType::i64});
  c.node.input(name_of(c, 1), {of_targets, {}});
  c.sources[name_of(c, 1)] = {{}, chance(30)};
  Ints targets;
  const Int ignored = chance(5) ? 100 : pick<Int>({0, 20, 20, 50});
  for (Int i = 0; shape[1] > 0 && i < volume(shape) / shape[1]; ++i)
    targets.push_back(ignored_by(c) && chance(ignored) ? *ignored_by(c) : between(0, shape[1] - 1));
  write_targets(c, std::move(targets));
  if (chance(60)) {
    c.node.input(name_of(c, 2), {type, {shape[1]}});
    c.sources[name_of(c, 2)] = {chance(70)
                                    ? Recipe{"lit", pick({"1,2,0.5,0.25,4,3", "0.2,0.3,0.1", "0,1,2", "1", "-1,2,3"})}
                                    : seeded(pick({"uniform", "small", "special"})),
                                chance(50)};
  }
  if (definition.outputs.size() > 1 && chance(60)) c.node.output(definition.outputs[1].name);
  return c;
}

OperatorGenerator made() {
  OperatorGenerator made = placing_generator(draw, axes<2>, refit);
  made.damages.push_back({"a target that is no class", [](Case& c) {
                            Ints targets = stated(c, name_of(c, 1));
                            if (targets.empty()) return false;
                            pick(targets) = pick<Int>({-1, -2, shape_of(c).size() > 1 ? shape_of(c)[1] : 9});
                            write_out(c, name_of(c, 1), shape_of(c, name_of(c, 1)), targets);
                            return true;
                          }});
  made.damages.push_back({"another number of weights", [](Case& c) {
                            const Int classes = shape_of(c).size() > 1 ? shape_of(c)[1] : 1;
                            c.node.input(name_of(c, 2), {c.node.inputs.at(name_of(c, 0)).type.dtype,
                                                         chance(50) ? Shape{classes + 1} : Shape{classes, 1}});
                            c.sources[name_of(c, 2)] = {seeded("small"), true};
                          }});
  return made;
}

}  // namespace

const OperatorGenerator& negative_log_likelihood_loss() {
  static const OperatorGenerator all = made();
  return all;
}
const OperatorGenerator& softmax_cross_entropy_loss() { return negative_log_likelihood_loss(); }

}  // namespace assay::generators
