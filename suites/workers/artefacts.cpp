// SPDX-License-Identifier: Apache-2.0
#include "suites/workers/artefacts.h"

#include "reference/case.h"
#include "reference/result.h"
#include "suites/workers/catalogue.h"
#include "suites/workers/places.h"
#include "suites/workers/worker_names.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// As a shell finds a program.
std::optional<fs::path> file_of(const std::string& word, bool is_program) {
  if (word.find('/') != std::string::npos || !is_program)
    return is_file(word) ? std::optional<fs::path>(word) : std::nullopt;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (is_file(fs::path(folder) / word)) return fs::path(folder) / word;
  return std::nullopt;
}

// "Version: 1.31.1" among the lines of a METADATA file or of a stanza of dpkg; they end at the first empty line.
std::string field(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && !line.empty();)
    if (line.starts_with(name + ": ")) return line.substr(name.size() + 2);
  return "";
}

std::string digest_of_record(const std::string& record) {
  std::istringstream lines(record);
  std::string inside;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("../") && line.find("__pycache__") == std::string::npos) inside += line + "\n";
  return sha256(inside);
}

// The packages of the environment an interpreter belongs to; none where it belongs to none.
std::set<Artefact> python_packages(const fs::path& interpreter) {
  std::set<Artefact> packages;
  std::error_code ignored;
  const fs::path environment = interpreter.parent_path().parent_path();
  if (!is_file(environment / "pyvenv.cfg")) return packages;
  for (const auto& version : fs::directory_iterator(environment / "lib", ignored))
    for (const auto& each : fs::directory_iterator(version.path() / "site-packages", ignored)) {
      if (each.path().extension() != ".dist-info") continue;
      const auto metadata = content(each.path() / "METADATA"), record = content(each.path() / "RECORD");
      if (!metadata) continue;
      packages.insert({"python-package", field(*metadata, "Name"), field(*metadata, "Version"),
                       record ? digest_of_record(*record) : ""});
    }
  return packages;
}

Artefact debian_package(const std::string& name) {
  Artefact package{"debian-package", name, "", ""};
  const std::string status = content("/var/lib/dpkg/status").value_or("");
  const std::size_t stanza = ("\n" + status).find("\nPackage: " + name + "\n");
  if (stanza != std::string::npos) package.version = field(status.substr(stanza), "Version");
  const fs::path info = "/var/lib/dpkg/info";
  for (const std::string& file : {name + ".md5sums", name + ":amd64.md5sums", name + ":arm64.md5sums"})
    if (const auto sums = content(info / file)) package.sha256 = sha256(*sums);
  return package;
}

// What the catalogue installed it from.
std::set<Artefact> installed(const CatalogueEntry& entry) {
  std::set<Artefact> all;
  for (const std::string& package : entry.apt) all.insert(debian_package(package));
  if (!entry.lock.empty())
    all.insert({"lock", fs::path(entry.lock).filename(), "", sha256_of(backends_folder() / entry.lock)});
  if (const fs::path lock = install_folder(entry) / "package-lock.json"; is_file(lock))
    all.insert({"lock", "package-lock.json", "", sha256_of(lock)});
  return all;
}

}  // namespace

std::string sha256_of(const fs::path& file) {
  const std::optional<std::string> bytes = content(file);
  if (!bytes) throw InputError("cannot read " + file.string() + "; check that it exists and may be read");
  return sha256(*bytes);
}

std::string sha256_of_this_program() { return sha256_of("/proc/self/exe"); }

Artefacts artefacts_of(const std::string& backend) {
  std::set<Artefact> files, others;
  const std::vector<std::string> command =
      is_worker(backend) ? command_of(backend) : std::vector{running_program().string()};
  for (std::size_t i = 0; i < command.size(); ++i) {
    const auto file = file_of(command[i], i == 0);
    if (!file) continue;
    files.insert({"file", file->filename(), "", sha256_of(*file)});
    others.merge(python_packages(*file));
  }
  const CatalogueEntry* const entry = find_entry(catalogue(), backend);
  if (entry && !is_at_hand(*entry)) others.merge(installed(*entry));

  Artefacts all{{files.begin(), files.end()}, {}};
  all.recorded.insert(all.recorded.end(), others.begin(), others.end());
  if (files.empty()) all.not_recorded.emplace_back("the program: no word of the command is a file");
  all.not_recorded.emplace_back("what these files load while they run, beyond the packages listed");
  for (const Artefact& each : all.recorded) {
    if (each.sha256.empty()) all.not_recorded.push_back("a digest of " + each.kind + " " + each.name);
    if (each.kind.ends_with("package") && each.version.empty())
      all.not_recorded.push_back("the version of " + each.kind + " " + each.name);
  }
  return all;
}

}  // namespace assay::suites
