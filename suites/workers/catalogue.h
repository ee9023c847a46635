// SPDX-License-Identifier: Apache-2.0
// Catalogue: the backends that have a name of their own, tools/backends/catalogue.json. An entry says how its packages
// are installed and which command serves it; what it installs lies in a folder of the cache that is named after exactly
// that, so a changed lock is another folder, and an older assay keeps its own.
#pragma once

#include "reference/result.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

struct CatalogueEntry {
  enum class Kind { venv, npm, cargo, apt };
  std::string name, about, package, note;
  Kind kind = Kind::venv;
  std::string needs;                 // what a machine must have before, in words: "node 18 or newer"
  std::string lock;                  // venv: the hash-locked requirements, in tools/backends
  std::vector<std::string> modules;  // venv: an interpreter at hand that has these does as well
  std::vector<std::string> apt;      // Debian packages
  std::vector<std::string> sources;  // files and folders in tools/backends that `build` reads
  std::vector<std::string> build;    // a command that makes something in {install} once the packages are there
  std::vector<std::string> command;  // the worker
  std::string script;                // how a script of a finding runs it in Python (script.h), in tools/backends
  std::map<std::string, std::string> environment;
  int pack = 1;                   // how many independent nodes one model may hold
  int recycle = 0;                // a fresh worker after that many models; 0: never
  std::string suite = "default";  // or "short": too slow for the whole suite
};

// As written in the catalogue: "venv".
std::string_view name(CatalogueEntry::Kind kind);

Result<std::vector<CatalogueEntry>> parse_catalogue(std::string_view json);

// The catalogue of this project, read once. Throws InputError where it cannot be read.
const std::vector<CatalogueEntry>& catalogue();

const CatalogueEntry* find_entry(const std::vector<CatalogueEntry>& catalogue, std::string_view name);

// <cache>/backends/<name>-<12 hex digits of the SHA-256 over all that decides what is installed>. Throws InputError
// where a lock or source it names is not there.
std::filesystem::path install_folder(const CatalogueEntry& entry);
// Served by the Python of places.h as it is; it goes before an installation.
bool is_at_hand(const CatalogueEntry& entry);
bool is_installed(const CatalogueEntry& entry);

// The words with {python}, {backends}, {install} and {bin} filled in.
std::vector<std::string> filled_in(const CatalogueEntry& entry, const std::vector<std::string>& words);

// Program and arguments of its worker. Throws InputError where the entry is neither at hand nor installed.
std::vector<std::string> command_of(const CatalogueEntry& entry);

}  // namespace assay::suites
