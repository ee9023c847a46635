// SPDX-License-Identifier: Apache-2.0
// Audit: anybody's test vectors held against the oracle. Each stored output is rated; what cannot be is named and
// counted, so that nothing is lost.
#pragma once

#include "oracles/judging/verdict.h"
#include "suites/workers/vector_folder.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

enum class Rating {
  rounded,    // every element is the exact value, rounded once
  bounded,    // every element is within the bound of the default level
  contested,  // right under another reading of an unclear clause, which is named
  below,      // outside the default level, inside what some legitimate arithmetic gives
  wrong,      // no legitimate arithmetic gives it, or the shape or the type is another
  unscored,   // nothing may be claimed
  illegal,    // the model breaks a constraint: there is no right answer
};
inline constexpr Rating all_ratings[] = {Rating::rounded, Rating::bounded,  Rating::contested, Rating::below,
                                         Rating::wrong,   Rating::unscored, Rating::illegal};
std::string_view name(Rating rating);  // "correctly rounded", "within the bound"

// One stored output of one of our operator versions.
struct Rated {
  std::string file;  // "test_x/test_data_set_0/output_0.pb"
  OpVersion version;
  Rating rating = Rating::unscored;
  std::string because;  // one line: the element, the readings, the constraints
};

struct Audit {
  std::vector<Rated> outputs;
  std::map<std::string, Int>
      other_operators;                 // models of operators that are not certified, by the name of the operator
  std::map<std::string, Int> foreign;  // other models that are not for us, by why: "several nodes"
  std::vector<FileProblem> problems;   // files that cannot be judged, those of foreign models left out
  Int models = 0;                      // folders looked at
};

// Rates every vector in `root`. Error where that is no folder.
Result<Audit> audit(const std::filesystem::path& root);

}  // namespace assay::suites
