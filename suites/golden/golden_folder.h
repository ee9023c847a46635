// SPDX-License-Identifier: Apache-2.0
// A folder of golden vectors on disk: written, and held to its manifest and to what this assay would write.
#pragma once

#include "suites/golden/golden_manifest.h"
#include "suites/workers/vector_folder.h"

#include <filesystem>

namespace assay::suites {

// What is said of the vectors beside the cases.
struct Golden {
  std::string judgement_hash, tool_version;
  std::uint64_t seed = 1;
  std::vector<GoldenFile> runner;  // travels with them
  int jobs = 1;
};

// The manifest that writing would give, in memory.
Manifest golden_manifest(const Suite& suite, const Golden& golden);

// Writes into a new or empty folder; the manifest comes last, so a folder that holds it is whole. Throws InputError.
Manifest write_golden(const Suite& suite, const Golden& golden, const std::filesystem::path& folder);

// Reads the manifest. Throws InputError.
Manifest read_manifest(const std::filesystem::path& folder);

// Every file that is not as the manifest says: missing, extra, altered, or a link. Sorted by path.
std::vector<FileProblem> check_hashes(const std::filesystem::path& folder, const Manifest& manifest);

// What this assay would write otherwise: the digest, the suite hash, the files of a case, where they differ.
// Empty where every byte comes out again.
std::vector<FileProblem> check_recomputed(const Manifest& manifest, const std::string& judgement_hash, int jobs);

}  // namespace assay::suites
