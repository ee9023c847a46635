// SPDX-License-Identifier: Apache-2.0
#include "generators/families/scores.h"

#include "generators/draw.h"
#include "generators/values.h"
#include "reference/operator.h"

namespace assay::generators {

void state_labels(Case& c, const char* integers, Int labels) {
  Ints numbers{7, -1, 0, 4294967296};
  Texts texts{"b", "a", "", "\xc3\xa9"};
  numbers.resize(static_cast<std::size_t>(labels));
  texts.resize(static_cast<std::size_t>(labels));
  if (chance(50))
    c.node.attribute(integers, numbers);
  else
    c.node.attribute("classlabels_strings", texts);
}

Mutation lengthened(const char* attribute) {
  return {"another number of entries", [attribute](Case& c) {
            const auto found = c.node.attributes.find(attribute);
            if (found == c.node.attributes.end()) return false;
            if (Ints* const whole = std::get_if<Ints>(&found->second)) return whole->push_back(0), true;
            if (Reals* const real = std::get_if<Reals>(&found->second)) return real->push_back(0.5F), true;
            return false;
          }};
}

Mutation labels_of_both_kinds(const char* integers) {
  return {"labels of both kinds", [integers](Case& c) {
            c.node.attribute(integers, Ints{1, 2}).attribute("classlabels_strings", Texts{"a", "b"});
          }};
}

std::vector<Mutation> row_damages() {
  return {{"another rank",
           [](Case& c) {
             shape_of(c) = chance(50) ? Shape{} : Shape{1, 1, 2};
           }},
          {"no features", [](Case& c) {
             shape_of(c) = {2, 0};
           }}};
}

}  // namespace assay::generators
