// SPDX-License-Identifier: Apache-2.0
// MelWeightMatrix: no bin and many, transforms of even and odd length, bands from 0 on and above it, every type.
#include "generators/draw.h"
#include "generators/parameters.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

void give(Case& c, const char* name, DType type, const std::string& value) {
  c.node.input(name, {type, {}});
  c.sources[name] = {{"values", value}, chance(50)};
}

Case draw(const Definition& definition, DType of_counts, std::uint64_t) {
  Case c = blank(definition);
  const DType of_edges = chance(60) ? DType::f32 : pick(definition.types_of("T2"));
  const Int rate = pick<Int>({16, 64, 256, 4000, 8192, 16000});
  give(c, "num_mel_bins", of_counts, std::to_string(chance(5) ? 0 : between(1, 9)));
  give(c, "dft_length", of_counts, std::to_string(chance(5) ? 0 : pick<Int>({8, 9, 16, 31, 32, 50, 64, 100})));
  give(c, "sample_rate", of_counts, std::to_string(rate));
  give(c, "lower_edge_hertz", of_edges, std::to_string(chance(50) ? 0 : rate / pick<Int>({4, 8, 16})));
  give(c, "upper_edge_hertz", of_edges, std::to_string(rate / 2 - (chance(40) ? rate / 8 : 0)));
  const DType of_output = chance(70) ? pick({DType::f32, DType::f64}) : pick(definition.types_of("T3"));
  write_default(c.node, definition, "output_datatype", static_cast<int>(of_output), 1);
  return c;
}

void write(Case& c, const char* name, const char* value) { c.sources.at(name).recipe.argument = value; }

}  // namespace

const OperatorGenerator& mel_weight_matrix() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = moving_generator(draw);
    made.ranks = axes<0, 0>;
    made.damages = {{"another band",
                     [](Case& c) {
                       write(c, "lower_edge_hertz", pick({"-1", "20000"}));
                     }},
                    {"a count below 0",
                     [](Case& c) {
                       write(c, pick({"num_mel_bins", "dft_length"}), "-2");
                     }},
                    {"a list",
                     [](Case& c) {
                       const char* const name = pick({"num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz"});
                       const Int count = between(1, 2);
                       shape_of(c, name) = {count};
                       std::string& values = c.sources.at(name).recipe.argument;
                       if (count == 2) values += "," + values;
                     }},
                    {"no type", [](Case& c) {
                       c.node.attribute("output_datatype", Attribute(pick<Int>({0, 8, 9, 99})));
                     }}};
    return made;
  }();
  return all;
}

}  // namespace assay::generators
