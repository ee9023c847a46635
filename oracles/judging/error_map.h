// SPDX-License-Identifier: Apache-2.0
// ErrorMap: an output element by element, as a person looks at it: where it is wrong and by how much. Made for the few
// cases a report shows; what is right and wrong is the judge's word.
#pragma once

#include "oracles/judging/judge.h"

#include <optional>
#include <string>
#include <vector>

namespace assay::oracles {

struct ErrorMap {
  struct Drawn {
    Shape index;
    std::string got, want, lower, upper;  // the ends of the interval asked for; empty where the element is no number
    std::optional<double> ulp;            // none where one of the two is no number
  };

  DType dtype = DType::f32;
  Shape shape;                    // that is right
  std::optional<Shape> answered;  // another one that came back: then nothing below is set
  std::vector<std::string> axes;  // "N", "C", "D1", "D2", as the operator lays them out
  int set = 0;                    // of the data sets
  int output = 0;                 // of those asked for
  Shape begin, extent;            // the part that is drawn: all of it, or a window around the worst element
  // One letter per element drawn, row-major: '.' right and correctly rounded, 'i' off and as asked for, 'b' below the
  // level, 'w' wrong, 's' wrong where one side is no number, 'u' unscored.
  std::string cells;
  std::vector<std::optional<double>> ulp;  // |got - y| / ulp(y); of integers the difference
  std::vector<Drawn> worst;                // of those that are below or wrong, the worst first
};

// Of outputs whose values or shape made a verdict; none of anything else, nor of an empty output.
std::optional<ErrorMap> picture(const Case& c, const Outcome& outcome, const Verdict& verdict,
                                const Judgement& judgement = {}, Int most_elements = 4096, std::size_t most_worst = 16);

}  // namespace assay::oracles
