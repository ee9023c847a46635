// SPDX-License-Identifier: Apache-2.0
// The golden vectors of the suite come out byte for byte as pinned in suites/golden/suite.digest, and those of the
// first operators as they were when there were no others.
#include "reference/sequence.h"
#include "reference/testing/run_size.h"
#include "suites/golden/golden_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace assay::suites {
namespace {

Manifest manifest_of(const Suite& suite) {
  Golden golden;
  golden.jobs = 2;
  return golden_manifest(suite, golden);
}

// SHA-256 over the sorted lines of all versions together.
std::string hash_of_lines(const Suite& suite) {
  std::vector<std::string> lines;
  for (const SuiteCase& p : suite.cases) lines.push_back(p.expected ? p.line + " => " + *p.expected : p.line);
  std::ranges::sort(lines);
  return sha256(joined(lines, "", [](const std::string& each) { return each + "\n"; }));
}

}  // namespace

TEST_CASE("The golden vectors of the suite are those that are pinned, version by version", "[golden][seed]") {
  SuiteRequest request;
  request.selection.operators = thinned_versions();
  const Suite suite = plan("suites", request);
  const Manifest manifest = manifest_of(suite);
  const std::string pinned = *file_contents("suites/golden/suite.digest", 1 << 20);
  INFO("where this is meant: build/release/tools/assay golden digest > suites/golden/suite.digest");
  if (one_in() == 1) CHECK(pinned.starts_with("digest " + manifest.digest + "\nsuite " + manifest.suite_hash + "\n"));
  const std::map<OpVersion, std::string> hashes = version_hashes(suite.cases);
  for (const auto& [version, digest] : version_digests(manifest)) {
    INFO(text(version));
    CHECK(pinned.find(digest + "  " + hashes.at(version) + "  " + text(version) + "\n") != std::string::npos);
  }
}

TEST_CASE("The cases and the golden vectors of the first operators never change", "[golden][seed]") {
  SuiteRequest request;
  request.selection.operators = {"Conv", "AveragePool", "DeformConv", "QLinearConv", "com.microsoft:NhwcConv"};
  const Suite suite = plan("suites", request);
  CHECK(suite.cases.size() == 4790);
  CHECK(hash_of_lines(suite) == "16b394c4c83960f4e089d451c00ebc40df9d8671fdeb7aa8267a7b5cc48aa63f");
  CHECK(manifest_of(suite).digest == "757792a934d11a3aa1f14c9de806d999d283c4957f0a310fa6f6e00ea4725b0b");
}

}  // namespace assay::suites
