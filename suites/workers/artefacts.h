// SPDX-License-Identifier: Apache-2.0
// Artefacts: the files and packages that stood behind a backend when it was run, by digest, so that a certificate
// says what it is about. Only what can be known without running anything; what cannot is named as not recorded.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay::suites {

struct Artefact {
  // file: a word of the worker's command that is one. lock: what the packages were installed from.
  // python-package, debian-package: of the environment the command runs in.
  std::string kind, name;  // a file's name without its folder
  std::string version;     // of a package
  // Of the file's bytes. Of a Python package of its RECORD, which lists its files with their digests, without the lines
  // of files outside the environment's site-packages: those depend on where it lies. Of a Debian package of its list of
  // files with digests. Empty where there is none.
  std::string sha256;
  auto operator<=>(const Artefact&) const = default;
};

struct Artefacts {
  std::vector<Artefact> recorded;         // sorted; files first
  std::vector<std::string> not_recorded;  // in words
};

// Of the worker that `backend` names on the command line. Throws what naming it throws.
Artefacts artefacts_of(const std::string& backend);

// Throws InputError where the file cannot be read.
std::string sha256_of(const std::filesystem::path& file);
// Of the program that is running.
std::string sha256_of_this_program();

}  // namespace assay::suites
