// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM: every direction, lengths that differ and are nothing, inputs left out in the middle, outputs each
// by itself, activations of every name with lists of parameters that are whole and short, clips.
#include "generators/draw.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

Int gates(const Definition& definition) {
  const std::string& name = definition.version.name;
  return name == "RNN" ? 1 : name == "GRU" ? 3 : 4;
}

// Give the inputs the shapes that follow from X, R and the direction.
void fit(Case& c) {
  const Call call = c.call();
  const Shape &x = shape_of(c), &r = shape_of(c, "R");
  if (x.size() != 3 || r.size() != 3) return;
  const bool swaps = call.definition().attribute("layout") && call.integer("layout") != 0;
  const Int directions = call.text("direction") == "bidirectional" ? 2 : 1, hidden = r[2];
  const Int batches = x[swaps ? 0 : 1], steps = x[swaps ? 1 : 0], rows = gates(c.definition()) * hidden;
  const Shape state = swaps ? Shape{batches, directions, hidden} : Shape{directions, batches, hidden};
  const std::pair<const char*, Shape> all[] = {{"W", {directions, rows, x[2]}},
                                               {"R", {directions, rows, hidden}},
                                               {"B", {directions, 2 * rows}},
                                               {"P", {directions, 3 * hidden}},
                                               {"initial_h", state},
                                               {"initial_c", state}};
  for (const auto& [name, shape] : all)
    if (c.sources.contains(name)) shape_of(c, name) = shape;
  if (call.states("hidden_size")) c.node.attribute("hidden_size", Attribute(hidden));
  if (!c.sources.contains("sequence_lens")) return;
  Ints lengths = stated(c, "sequence_lens");
  lengths.resize(static_cast<std::size_t>(batches), steps);
  for (Int& length : lengths) length = std::clamp<Int>(length, 0, steps);
  write_out(c, "sequence_lens", {batches}, lengths);
}

void refit(Case& c) {
  if (c.sources.contains("R")) fit(c);
}

void give(Case& c, const char* name, DType type, bool may_be_special = true) {
  if (!c.definition().input(name)) return;
  c.node.input(name, {type, {}});
  const bool is_exact = chance(25);
  c.sources[name] = {is_exact ? Recipe{"lit", pick({"0.5,-0.25,1,-1,0.75,2,0", "1,-0.5,0,0.25,-2,0.5,0", "-1,1.5,0.5"})}
                              : seeded(pick({"uniform", "uniform", "normal", "logu"})),
                     chance(60)};
  if (may_be_special && chance(1)) c.sources[name].recipe = seeded("special");
}

// Chooses activations and what they take: lists that are whole, or end where defaults are left.
void choose_activations(Case& c, Int count) {
  Texts names;
  Reals alphas, betas;
  std::size_t most_alphas = 0, most_betas = 0;
  const bool is_exact = chance(35);
  for (Int i = 0; i < count; ++i) {
    names.push_back(is_exact ? pick<std::string>({"Relu", "Affine", "HardSigmoid", "LeakyRelu"})
                             : pick<std::string>({"Relu", "Tanh", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu",
                                                  "ScaledTanh", "HardSigmoid", "Elu", "Softsign", "Softplus"}));
    const std::string& name = names.back();
    const bool takes_both = name == "Affine" || name == "ScaledTanh" || name == "HardSigmoid";
    if (takes_both || name == "LeakyRelu" || name == "ThresholdedRelu" || name == "Elu")
      alphas.push_back(pick({0.25F, 0.5F, 1.0F, 0.3F, -0.5F}));
    if (takes_both) betas.push_back(pick({0.5F, 0.0F, 0.25F, 1.0F}));
    if (name == "Affine" || name == "ScaledTanh") most_alphas = alphas.size(), most_betas = betas.size();
  }
  if (chance(25)) alphas.resize(most_alphas), betas.resize(most_betas);
  c.node.attribute("activations", names);
  if (!alphas.empty()) c.node.attribute("activation_alpha", alphas);
  if (!betas.empty()) c.node.attribute("activation_beta", betas);
}

Case draw(const Definition& definition, DType type, std::uint64_t) {
  const bool is_long = chance(3);
  const Int steps = is_long ? 6 : chance(3) ? 0 : between(1, 4), batches = is_long ? 3 : pick<Int>({1, 2, 2, 3});
  const Int inputs = is_long ? between(4, 5) : pick<Int>({1, 2, 3, 4});
  const Int hidden = pick<Int>({1, 2, 2, 3});
  const bool swaps = definition.attribute("layout") && chance(40);
  Case c = moving(definition, type, swaps ? Shape{batches, steps, inputs} : Shape{steps, batches, inputs});
  if (definition.attribute("layout")) write_default(c.node, definition, "layout", swaps ? 1 : 0, 0);
  c.sources["X"].recipe = seeded(chance(12) ? "special" : pick({"uniform", "normal", "small", "quarter"}));
  give(c, "W", type);
  give(c, "R", type, false);
  shape_of(c, "R") = {1, 1, hidden};
  if (chance(70)) c.node.attribute("direction", pick<std::string>({"forward", "reverse", "bidirectional"}));
  if (chance(50)) c.node.attribute("hidden_size", Attribute(hidden));
  for (const char* const name : {"B", "initial_h", "initial_c", "P"})
    if (chance(60)) give(c, name, type);
  if (chance(50)) {
    Ints lengths;
    for (Int n = 0; n < batches; ++n) lengths.push_back(chance(8) ? 0 : between(std::min<Int>(1, steps), steps));
    c.node.input("sequence_lens", {DType::i32, {}});
    c.sources["sequence_lens"] = {{}, chance(40)};
    write_out(c, "sequence_lens", {batches}, lengths);
  }
  const Int directions = c.call().text("direction") == "bidirectional" ? 2 : 1;
  const Int functions = gates(definition) == 1 ? 1 : gates(definition) - 1;
  if (chance(50)) choose_activations(c, functions * directions);
  if (chance(25)) c.node.attribute("clip", Attribute(pick({0.5F, 0.25F, 1.0F, 2.0F, 0.5F, 0.75F, 0.0F})));
  for (const char* const flag : {"linear_before_reset", "input_forget"})
    if (definition.attribute(flag)) write_default(c.node, definition, flag, chance(50) ? 1 : 0, 0);
  for (const Parameter& output : definition.outputs)
    if (output.arity == Arity::optional && chance(output.name == "Y" ? 85 : 60)) c.node.output(output.name);
  if (c.call().requested_outputs().empty()) c.node.output("Y");
  if (definition.attribute("output_sequence"))
    write_default(c.node, definition, "output_sequence", c.node.outputs.contains("Y") && chance(50) ? 1 : 0, 0);
  fit(c);
  return c;
}

std::vector<Mutation> own_damages() {
  return {{"an input left out",
           [](Case& c) {
             remove_input(c, pick<std::string>({"W", "R"}));
           }},
          {"another extent of an input",
           [](Case& c) {
             const std::string name = pick<std::string>({"W", "R", "B", "P", "initial_h", "initial_c"});
             if (!c.sources.contains(name) || shape_of(c, name).empty()) return false;
             ++pick(shape_of(c, name));
             return true;
           }},
          {"another hidden_size",
           [](Case& c) {
             c.node.attribute(
                 "hidden_size",
                 Attribute(!c.sources.contains("R") || shape_of(c, "R").empty() ? 9 : shape_of(c, "R").back() + 1));
           }},
          {"a length beyond the sequence",
           [](Case& c) {
             if (!c.sources.contains("sequence_lens")) return false;
             Ints lengths = stated(c, "sequence_lens");
             if (lengths.empty()) return false;
             pick(lengths) = pick<Int>({-1, 99});
             write_out(c, "sequence_lens", shape_of(c, "sequence_lens"), lengths);
             return true;
           }},
          {"other activations",
           [](Case& c) {
             Texts names(static_cast<std::size_t>(between(1, 7)), "Tanh");
             if (chance(50)) names.front() = pick<std::string>({"tanh", "TANH", "Exp", ""});
             c.node.attribute("activations", names);
           }},
          {"another layout",
           [](Case& c) {
             if (!c.definition().attribute("layout")) return false;
             c.node.attribute("layout", Attribute(Int{2}));
             if (chance(70)) fit(c);
             return true;
           }},
          {"a clip below 0", [](Case& c) { c.node.attribute("clip", Attribute(-0.5F)); }},
          {"other outputs",
           [](Case& c) {
             c.node.outputs.clear();
             if (c.definition().attribute("output_sequence") && chance(60)) {
               c.node.attribute("output_sequence", Attribute(Int{1}));
               if (c.definition().output("Y_h")->arity == Arity::optional) c.node.output("Y_h");
             }
           }},
          {"a flag of 2",
           [](Case& c) {
             for (const char* const flag : {"linear_before_reset", "input_forget", "output_sequence"})
               if (c.definition().attribute(flag)) return c.node.attribute(flag, Attribute(Int{2})), true;
             return false;
           }},
          {"another direction", [](Case& c) {
             c.node.attribute("direction", pick<std::string>({"Forward", "foward", "backward"}));
           }}};
}

}  // namespace

const OperatorGenerator& rnn() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<3, 3>, refit);
    std::ranges::move(own_damages(), std::back_inserter(made.damages));
    return made;
  }();
  return all;
}
const OperatorGenerator& gru() { return rnn(); }
const OperatorGenerator& lstm() { return rnn(); }

}  // namespace assay::generators
