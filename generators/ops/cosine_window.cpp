// SPDX-License-Identifier: Apache-2.0
// HannWindow, HammingWindow and BlackmanWindow: sizes from nothing on, even and odd, of either kind and every type.
#include "generators/draw.h"
#include "generators/parameters.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const Int size = chance(60) ? static_cast<Int>(stratum) : pick<Int>({0, 1, 2, 3, 4, 5, 6, 12, 31, 64, 101, 256, 500});
  c.node.input("size", {type, {}});
  c.sources["size"] = {{}, chance(50)};
  write_out(c, "size", {}, {size});
  write_default(c.node, definition, "periodic", chance(50), 1);
  const DType of_output = chance(60) ? pick({DType::f32, DType::f64}) : pick(definition.types_of("T2"));
  write_default(c.node, definition, "output_datatype", static_cast<int>(of_output), 1);
  return c;
}

}  // namespace

const OperatorGenerator& hann_window() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = moving_generator(draw);
    made.strata = 24;
    made.ranks = axes<0, 0>;
    made.damages = {{"a flag of 2", [](Case& c) { c.node.attribute("periodic", Attribute(Int{2})); }},
                    {"a negative size", [](Case& c) { write_out(c, "size", {}, {-3}); }},
                    {"two sizes",
                     [](Case& c) {
                       write_out(c, "size", {2}, {3, 4});
                     }},
                    {"no type", [](Case& c) {
                       c.node.attribute("output_datatype", Attribute(pick<Int>({0, 8, 9, 99})));
                     }}};
    return made;
  }();
  return all;
}
const OperatorGenerator& hamming_window() { return hann_window(); }
const OperatorGenerator& blackman_window() { return hann_window(); }

}  // namespace assay::generators
