// SPDX-License-Identifier: Apache-2.0
// Golden vectors: the cases of a suite as folders that any ONNX tool reads, with the right outputs and the intervals
// around them. What a case becomes is a function of its line and of the judgement alone: the same bytes everywhere.
//
//   valid/test_conv_11_0a1b2c3d4e5f6071/
//     model.onnx
//     test_data_set_0/  input_N.pb  output_N.pb         the output is the exact one, rounded once
//     test_data_set_1/  …
//     bounds_0/         lower_N.pb  upper_N.pb          the interval at the default level, in the type of the output
//                       widest_lower_N.pb  widest_upper_N.pb
//     bounds_1/         …
//     case.json         line, id, class, rulings touched, level, arithmetic, and what the intervals cannot say
//   unscored/test_…/    of legal cases of which nothing may be claimed: no outputs, no bounds; case.json says why
//   rejected/test_…/    models that break a constraint: no outputs; case.json names the constraints
//   graphs/             of several nodes: golden_graphs.h
//   MANIFEST.json       golden_folder.h
#pragma once

#include "suites/planning/suite.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

struct GoldenFile {
  std::string path;  // from the root of the vectors, '/' between folders
  std::string bytes;
  bool operator==(const GoldenFile&) const = default;
};

enum class GoldenKind { valid, unscored, rejected };
inline constexpr GoldenKind all_shelves[] = {GoldenKind::valid, GoldenKind::unscored, GoldenKind::rejected};
std::string_view name(GoldenKind golden_kind);

struct GoldenCase {
  GoldenKind golden_kind = GoldenKind::valid;
  std::string name;     // "test_conv_11_0a1b2c3d4e5f6071", the end of it the head of the case's id
  std::string because;  // of unscored: the reason; of rejected: the constraints, "Conv.C6 Conv.C7"
  std::vector<GoldenFile> files;

  std::string folder() const;  // "valid/test_…"
};

// Digits of the id of a case, or of a graph, in the name of its folder.
inline constexpr std::size_t digits_of_id = 16;
std::string golden_name(const SuiteCase& planned);
GoldenCase golden_case(const SuiteCase& planned);

}  // namespace assay::suites
