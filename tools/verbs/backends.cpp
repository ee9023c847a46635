// SPDX-License-Identifier: Apache-2.0
// assay backends: the catalogue of real backends, and what is installed of it. tools/backends/install.py does the work.
#include "reference/nearest.h"
#include "reference/sequence.h"
#include "suites/text/printable.h"
#include "suites/workers/catalogue.h"
#include "suites/workers/places.h"
#include "tools/verbs/table.h"
#include "tools/verbs/verbs.h"
#include "tools/verbs/words.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>

namespace assay::tools {
namespace {

namespace fs = std::filesystem;
using suites::CatalogueEntry;
using Words = std::vector<std::string>;

Words names() { return transformed<std::string>(suites::catalogue(), &CatalogueEntry::name); }

const CatalogueEntry& entry_named(const std::string& word) {
  if (const CatalogueEntry* entry = suites::find_entry(suites::catalogue(), word)) return *entry;
  throw InputError("no backend is called " + suites::printable(word, 80) + suggestion(word, names()) +
                   "; assay backends lists them");
}

std::string state_of(const CatalogueEntry& entry) {
  if (suites::is_at_hand(entry)) return "at hand";
  return suites::is_installed(entry) ? "installed" : "not installed";
}

std::string size_of(const CatalogueEntry& entry) {
  if (suites::is_at_hand(entry) || !suites::is_installed(entry)) return "";
  std::ifstream in(suites::install_folder(entry) / "stamp");
  const nlohmann::json stamp = nlohmann::json::parse(in, nullptr, false);
  const std::size_t bytes = stamp.is_object() ? stamp.value("bytes", std::size_t{0}) : 0;
  return std::to_string(std::max<std::size_t>(1, bytes >> 20)) + " MiB";
}

std::string words_about(const CatalogueEntry& entry) {
  std::string words = entry.about;
  if (!entry.needs.empty()) words += "; needs " + entry.needs;
  if (!entry.note.empty()) words += "; " + entry.note;
  return words;
}

int list() {
  std::vector<TableRow> rows{{"backend", "package", "state", "size", "about"}};
  for (const CatalogueEntry& entry : suites::catalogue())
    rows.push_back({entry.name, entry.package, state_of(entry), size_of(entry), words_about(entry)});
  print_columns(rows);
  return conforms;
}

std::string source_of(const CatalogueEntry& entry) {
  const fs::path backends = suites::backends_folder();
  if (entry.kind == CatalogueEntry::Kind::npm) return (backends / "node" / entry.name).string();
  if (entry.kind == CatalogueEntry::Kind::cargo) return (backends / "rust" / entry.name).string();
  return "";
}

void install(const CatalogueEntry& entry) {
  if (suites::is_at_hand(entry)) {
    std::cerr << entry.name << ": is at hand, " << suites::python() << " has it\n";
    return;
  }
  const nlohmann::json order = {{"name", entry.name},
                                {"kind", name(entry.kind)},
                                {"folder", suites::install_folder(entry).string()},
                                {"source", source_of(entry)},
                                {"lock", (suites::backends_folder() / entry.lock).string()},
                                {"apt", entry.apt},
                                {"build", suites::filled_in(entry, entry.build)},
                                {"needs", entry.needs}};
  const fs::path script = suites::backends_folder() / "install.py";
  if (suites::exit_code_of({suites::python(), script.string(), order.dump()}) != 0)
    throw InputError(entry.name + " was not installed; the lines above say why");
}

// Those of older catalogues too: a name, a hyphen and twelve hexadecimal digits.
bool holds(const fs::path& folder, const CatalogueEntry& entry) {
  const std::string file = folder.filename().string(), stem = entry.name + "-";
  return file.size() == stem.size() + 12 && file.starts_with(stem) &&
         file.find_first_not_of("0123456789abcdef", stem.size()) == std::string::npos;
}

void remove(const CatalogueEntry& entry) {
  const fs::path golden_kind = suites::cache_folder() / "backends";
  bool is_found = false;
  std::error_code ignored;
  for (const auto& found : fs::directory_iterator(golden_kind, ignored)) {
    if (!holds(found.path(), entry)) continue;
    fs::remove(found.path() / "stamp");  // first, so that half a folder never counts as installed
    fs::remove_all(found.path());
    is_found = true;
  }
  std::cerr << entry.name << (is_found ? ": removed\n" : ": is not installed\n");
}

}  // namespace

Verb backends_verb(CLI::App& app) {
  auto wanted = std::make_shared<Words>(), unwanted = std::make_shared<Words>();
  auto all = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("backends", "the real backends there are; install or remove them by name");
  command->require_subcommand(0, 1);
  CLI::App* installing =
      command->add_subcommand("install", "install these into the cache folder, pinned and hash-locked");
  installing->add_option("names", *wanted, "as assay backends lists them");
  installing->add_flag("--all", *all, "every one of them");
  CLI::App* removing = command->add_subcommand("remove", "remove these from the cache folder");
  removing->add_option("names", *unwanted, "as assay backends lists them")->required();
  return {command, [=] {
            if (installing->parsed() && wanted->empty() && !*all)
              throw InputError("name a backend to install, or --all; assay backends lists them");
            if (!installing->parsed() && !removing->parsed()) return list();
            for (const std::string& word : *wanted) entry_named(word);  // mistakes are told before the work
            for (const std::string& word : *unwanted) entry_named(word);
            for (const std::string& word : *all ? names() : *wanted) install(entry_named(word));
            for (const std::string& word : *unwanted) remove(entry_named(word));
            return conforms;
          }};
}

}  // namespace assay::tools
