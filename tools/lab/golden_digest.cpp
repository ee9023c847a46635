// SPDX-License-Identifier: Apache-2.0
// The digest of golden vectors and nothing else: what golden_everywhere.sh compiles for machines that are only
// emulated.
//   golden_digest SUITES    the folder suites/: of the seed suite as this machine draws it
//   golden_digest LINES     a file of case lines: of those
//   golden_digest SUITES .  no digest, but the lines of the seed suite as this machine draws them
#include "reference/case_view.h"
#include "suites/golden/golden_folder.h"

#include <fstream>
#include <iostream>

namespace {

using namespace assay;

suites::Suite suite_in(const std::filesystem::path& place) {
  if (std::filesystem::is_directory(place)) return suites::plan(place, {});
  std::ifstream in(place);
  suites::Suite suite;
  for (std::string text; std::getline(in, text);) suite.cases.push_back({case_of(text), text, "", std::nullopt});
  return suite;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  const suites::Suite suite = suite_in(words[1]);
  if (count > 2) {
    for (const suites::SuiteCase& each : suite.cases) std::cout << each.line << "\n";
    return 0;
  }
  const suites::Manifest manifest = suites::golden_manifest(suite, {});
  std::cout << manifest.digest << " " << manifest.cases.size() << "\n";
}
