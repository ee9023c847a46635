// SPDX-License-Identifier: Apache-2.0
#include "suites/golden/golden_folder.h"

#include "reference/parallel.h"
#include "suites/golden/golden_graphs.h"

#include <algorithm>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;

// A manifest lists some 300 bytes a file.
constexpr std::uintmax_t most_manifest = std::uintmax_t{1} << 30;

// Collects what each case and graph becomes; `write` is told of its files on the thread that made them.
Manifest gather(const Suite& suite, const Golden& golden,
                const std::function<void(const std::vector<GoldenFile>&)>& write) {
  Manifest manifest{"",
                    suite.name,
                    suite.version,
                    suite.hash,
                    suite.complete,
                    golden.seed,
                    golden.judgement_hash,
                    golden.tool_version,
                    {},
                    {},
                    {},
                    {}};
  manifest.cases.resize(suite.cases.size());
  for (const GraphCase& graph : golden.graphs) manifest.graphs.push_back(line(graph));
  std::vector<Seals> seals(suite.cases.size() + golden.graphs.size());
  assay::in_parallel(suite.cases.size(), static_cast<std::size_t>(golden.jobs), [&](std::size_t index, std::size_t) {
    const SuiteCase& planned = suite.cases[index];
    GoldenCase made = golden_case(planned);
    write(made.files);
    seals[index] = seals_of(made.files);
    manifest.cases[index] = {std::move(made.name), planned.line,     planned.origin,
                             planned.expected,     made.golden_kind, std::move(made.because)};
  });
  assay::in_parallel(golden.graphs.size(), static_cast<std::size_t>(golden.jobs), [&](std::size_t index, std::size_t) {
    const std::vector<GoldenFile> made = golden_files(golden.graphs[index]);
    write(made);
    seals[suite.cases.size() + index] = seals_of(made);
  });
  std::size_t files = 0;
  for (Seals& each : seals) {
    files += each.size();
    manifest.files.merge(each);
  }
  expects(manifest.files.size() == files, "two cases have one name");
  manifest.runner = seals_of(golden.runner);
  manifest.digest = golden_digest(manifest.files);
  return manifest;
}

void expect_new(const fs::path& folder) {
  std::error_code failure;
  if (!fs::exists(fs::symlink_status(folder, failure))) return;
  if (!fs::is_directory(folder, failure) || !fs::is_empty(folder, failure))
    throw InputError(folder.string() + " is there already; name a new or empty folder with --out");
}

// Every file below the folder by its path from there; links are files, and are not followed.
std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> paths;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure))
    if (!fs::is_directory(entry->symlink_status(failure)))
      paths.push_back(entry->path().lexically_relative(folder).generic_string());
  if (failure) throw InputError("cannot read " + folder.string() + ": " + failure.message());
  std::ranges::sort(paths);
  return paths;
}

std::optional<FileProblem> flaw_of(const fs::path& folder, const std::string& path, const Sealed& seal) {
  std::error_code failure;
  if (!fs::exists(fs::symlink_status(folder / path, failure))) return FileProblem{FileProblem::Kind::missing, path, ""};
  const Result<std::string> bytes = file_contents(folder / path, most_manifest, Links::refuse);
  if (!bytes)
    return FileProblem{FileProblem::Kind::unreadable, path, bytes.error().substr((folder / path).string().size() + 1)};
  if (bytes->size() != seal.size)
    return FileProblem{FileProblem::Kind::altered, path,
                       std::to_string(bytes->size()) + " bytes, written were " + std::to_string(seal.size)};
  if (sha256(*bytes) != seal.sha256) return FileProblem{FileProblem::Kind::altered, path, "its SHA-256 is another"};
  return std::nullopt;
}

void compare_seals(const Seals& written, const Seals& made, std::vector<FileProblem>& problems) {
  for (const auto& [path, seal] : made) {
    const auto found = written.find(path);
    if (found == written.end())
      problems.push_back({FileProblem::Kind::missing, path, "this assay writes it"});
    else if (found->second != seal)
      problems.push_back({FileProblem::Kind::altered, path, "this assay writes other bytes"});
  }
  for (const auto& [path, seal] : written)
    if (!made.contains(path)) problems.push_back({FileProblem::Kind::extra, path, "this assay does not write it"});
}

}  // namespace

Manifest golden_manifest(const Suite& suite, const Golden& golden) {
  return gather(suite, golden, [](const std::vector<GoldenFile>&) {});
}

Manifest write_golden(const Suite& suite, const Golden& golden, const fs::path& folder) {
  expect_new(folder);
  const auto write = [&](const std::vector<GoldenFile>& files) {
    for (const GoldenFile& file : files) write_file(folder / file.path, file.bytes);
  };
  write(golden.runner);
  Manifest manifest = gather(suite, golden, write);
  write_file(folder / manifest_name, text(manifest));
  return manifest;
}

Manifest read_manifest(const fs::path& folder) {
  const fs::path file = folder / manifest_name;
  const Result<std::string> bytes = file_contents(file, most_manifest, Links::refuse);
  if (!bytes) throw InputError(bytes.error() + "; name a folder that `assay golden write` wrote");
  Result<Manifest> manifest = parse_manifest(*bytes);
  if (!manifest) throw InputError(file.string() + ": " + manifest.error());
  return *std::move(manifest);
}

std::vector<FileProblem> check_hashes(const fs::path& folder, const Manifest& manifest) {
  std::vector<FileProblem> problems;
  Seals all = manifest.files;
  all.insert(manifest.runner.begin(), manifest.runner.end());
  for (const auto& [path, seal] : all)
    if (auto problem = flaw_of(folder, path, seal)) problems.push_back(*std::move(problem));
  for (const std::string& path : files_in(folder))
    if (path != manifest_name && !all.contains(path)) problems.push_back({FileProblem::Kind::extra, path, ""});
  if (golden_digest(manifest.files) != manifest.digest)
    problems.push_back(
        {FileProblem::Kind::altered, std::string(manifest_name), "its digest is not that of the files it lists"});
  std::ranges::stable_sort(problems, {}, &FileProblem::file);
  return problems;
}

std::vector<FileProblem> check_recomputed(const Manifest& manifest, const std::string& judgement_hash, int jobs) {
  std::vector<FileProblem> problems;
  const auto complain = [&](const std::string& what) {
    problems.push_back({FileProblem::Kind::altered, std::string(manifest_name), what});
  };
  if (manifest.judgement_hash != judgement_hash) complain("this assay judges by other rulings or bounds");
  const Result<Suite> suite = suite_of(manifest);
  if (!suite) {
    complain(suite.error());
    return problems;
  }
  Result<std::vector<GraphCase>> graphs = graphs_of(manifest);
  if (!graphs) {
    complain(graphs.error());
    return problems;
  }
  const Manifest made =
      golden_manifest(*suite, {manifest.judgement_hash, "", manifest.seed, {}, jobs, *std::move(graphs)});
  compare_seals(manifest.files, made.files, problems);
  if (manifest.cases != made.cases) complain("a case is listed otherwise than this assay lists it");
  return problems;
}

}  // namespace assay::suites
