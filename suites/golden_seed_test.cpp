// SPDX-License-Identifier: Apache-2.0
// The golden vectors of the seed suite come out byte for byte as pinned in suites/golden/seed.digest.
#include "suites/golden_folder.h"

#include <catch2/catch.hpp>

namespace assay::suites {

TEST_CASE("The golden vectors of the seed suite are those that are pinned", "[golden][seed]") {
  const Suite suite = plan("suites", {});
  Golden golden;
  golden.jobs = 2;
  const Manifest manifest = golden_manifest(suite, golden);
  const std::string pinned = *file_contents("suites/golden/seed.digest", 1 << 16);
  INFO("where this is meant: build/release/tools/assay golden digest > suites/golden/seed.digest");
  INFO(pinned);
  CHECK(pinned.find("suite " + manifest.suite_hash + "\n") != std::string::npos);
  CHECK(pinned.find("digest " + manifest.digest + "\n") != std::string::npos);
}

}  // namespace assay::suites
