// SPDX-License-Identifier: Apache-2.0
// A folder of golden vectors on disk: written, and held to its manifest and to what this assay would write.
//
// MANIFEST.json: every file of a folder of golden vectors with its hash, the cases in the order of their suite, and one
// digest over all. The digest is SHA-256 over the sorted lines "SHA-256 of the file, two blanks, its path", as in
//
//   find valid unscored rejected graphs -type f -exec sha256sum {} + | LC_ALL=C sort | sha256sum
//
// Outside the digest: the manifest itself, the runner, where cases come from, and the tool.
#pragma once

#include "reference/graph_case.h"
#include "suites/golden/golden.h"
#include "suites/workers/vector_folder.h"

#include <filesystem>
#include <map>

namespace assay::suites {

struct Sealed {
  std::string sha256;
  std::uint64_t size = 0;
  bool operator==(const Sealed&) const = default;
};
using Seals = std::map<std::string, Sealed, std::less<>>;  // by path

Seals seals_of(const std::vector<GoldenFile>& files);
std::string golden_digest(const Seals& files);

// One case as the manifest lists it.
struct Listed {
  std::string name, line, origin;
  std::optional<std::string> expected;  // as pinned; part of the suite hash
  GoldenKind golden_kind = GoldenKind::valid;
  std::string because;
  bool operator==(const Listed&) const = default;
};

struct Manifest {
  std::string digest;
  std::string suite_name, suite_version, suite_hash;
  bool complete = false;
  std::uint64_t seed = 1;  // of the generated cases
  std::string judgement_hash, tool_version;
  std::vector<Listed> cases;        // in the order of the suite
  std::vector<std::string> graphs;  // lines of graphs beside it (golden_graphs.h)
  Seals files, runner;

  bool operator==(const Manifest&) const = default;
};

inline constexpr std::string_view manifest_name = "MANIFEST.json";

std::string text(const Manifest& manifest);
// From a stranger's hands. Paths that leave the folder, that are written twice or otherwise than we write them, and
// names that are not those of their lines are refused.
Result<Manifest> parse_manifest(std::string_view text);

// The suite that was written. Error where a line is no case, or the suite hash is another.
Result<Suite> suite_of(const Manifest& manifest);
Result<std::vector<GraphCase>> graphs_of(const Manifest& manifest);

// The same digest of the files of each operator version.
std::map<OpVersion, std::string> version_digests(const Manifest& manifest);

// Tells whether a path may stand in a manifest: relative, plain letters, no folder that begins with a dot.
bool is_plain_path(std::string_view path);

// What is said of the vectors beside the cases.
struct Golden {
  std::string judgement_hash, tool_version;
  std::uint64_t seed = 1;
  std::vector<GoldenFile> runner;  // travels with them
  int jobs = 1;
  std::vector<GraphCase> graphs = {};  // beside the suite
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
