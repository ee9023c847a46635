// SPDX-License-Identifier: Apache-2.0
// assay bisect: the first released version of a backend in which a case ends otherwise.
// tools/backends/release_bisection.py does the work.
#include "reference/case.h"
#include "reference/sequence.h"
#include "suites/text/printable.h"
#include "suites/workers/catalogue.h"
#include "suites/workers/places.h"
#include "tools/verbs/verbs.h"
#include "tools/verbs/words.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace assay::tools {
namespace {

using suites::CatalogueEntry;
using Words = std::vector<std::string>;

struct Options {
  std::string backend, good, bad, failing;
};

bool holds(const std::string& word, std::string_view part) { return word.find(part) != word.npos; }

// A Python package with a Python worker: what was compiled with assay or for one release has no versions to try.
bool is_released_by_pip(const CatalogueEntry& entry) {
  return entry.kind == CatalogueEntry::Kind::venv && !entry.package.empty() && !entry.command.empty() &&
         entry.command.front() == "{python}" && std::ranges::none_of(entry.command, [](const std::string& word) {
           return holds(word, "{bin}") || holds(word, "{install}");
         });
}

Words names() {
  return transformed<std::string>(filtered(suites::catalogue(), is_released_by_pip), &CatalogueEntry::name);
}

const CatalogueEntry& entry_named(const std::string& word) {
  const CatalogueEntry* entry = suites::find_entry(suites::catalogue(), word);
  if (entry && is_released_by_pip(*entry)) return *entry;
  throw InputError(suites::printable(word, 80) +
                   (entry ? " is no pip package with a worker in Python" : " is no backend") +
                   suggestion(word, names()));
}

// {python} stays: it is that of each version's own environment.
Words worker_of(const CatalogueEntry& entry) {
  return transformed<std::string>(entry.command, [&](const std::string& word) {
    return holds(word, "{python}") ? word : suites::filled_in(entry, {word}).front();
  });
}

// Throws InputError before anything is installed. What is in the folder of a finding, the first replay says.
void check_run(const std::string& failing) {
  std::error_code failure;
  if (std::filesystem::is_directory(failing, failure)) return;
  if (const Result<Case> c = parse_case(failing); !c) throw InputError(c.error());
}

int bisect(const Options& options) {
  const CatalogueEntry& entry = entry_named(options.backend);
  check_run(options.failing);
  const std::string package = entry.package.substr(0, entry.package.find(' '));
  Words with{"ml_dtypes"};  // what workers read and write tensors by
  if (package != "onnx") with.emplace_back("onnx==1.23.2");
  const nlohmann::json order = {{"assay", (suites::programs_folder() / "assay").string()},
                                {"name", entry.name},
                                {"package", package},
                                {"command", worker_of(entry)},
                                {"environment", entry.environment},
                                {"with", with},
                                {"good", options.good},
                                {"bad", options.bad},
                                {"case", options.failing},
                                {"folder", (suites::cache_folder() / "bisect").string()},
                                {"version", "assay " ASSAY_VERSION}};
  const auto script = suites::backends_folder() / "release_bisection.py";
  return suites::exit_code_of({suites::python(), script.string(), order.dump()}) == 0 ? conforms : bad_input;
}

}  // namespace

Verb bisect_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("bisect", "the first released version of a backend in which a case fails, or passes again");
  command->add_option("case", options->failing, "the case line, in quotes, or the folder of a finding")->required();
  command->add_option("--backend", options->backend, "a pip package of the catalogue: onnxruntime, openvino, ...")
      ->required();
  command->add_option("--good", options->good, "a version that passes: 1.20 or 1.20.1")->required();
  command->add_option("--bad", options->bad, "a version that fails; an older one than --good finds what mended it")
      ->required();
  return {command, [options] { return bisect(*options); }};
}

}  // namespace assay::tools
