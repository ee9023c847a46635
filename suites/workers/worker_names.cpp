// SPDX-License-Identifier: Apache-2.0
#include "suites/workers/worker_names.h"

#include "reference/nearest.h"
#include "suites/text/printable.h"
#include "suites/workers/catalogue.h"
#include "suites/workers/own_kernels.h"
#include "suites/workers/places.h"
#include "suites/workers/worker.h"

#include <filesystem>
#include <optional>

namespace assay::suites {
namespace {

using Words = std::vector<std::string>;

std::string script(const char* name) { return (backends_folder() / name).string(); }

std::string reference_worker() { return (programs_folder() / "assay-worker-reference").string(); }

// "libmine.so", "./libmine.so.1.2": what no other kind of name looks like.
bool is_library(const std::string& name) { return name.ends_with(".so") || name.find(".so.") != std::string::npos; }

Words library_command(const std::string& name) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(name, ignored))
    throw InputError("there is no library " + printable(name, 200) + ": give the path of a file");
  return {(programs_folder() / "assay-worker-host").string(), std::filesystem::absolute(name).string()};
}

Words given_command(const std::string& command) {
  Result<Words> words = split_command(command);
  if (!words) throw InputError("exec: " + words.error());
  if (words->empty()) throw InputError("exec: needs a command, as in exec:'./my_worker --fast'");
  return *std::move(words);
}

// What stands after the colon, which has to be there.
std::string argument(const std::string& kind, const std::string& rest) {
  if (rest.empty()) throw InputError("--backend " + kind + ": something has to stand after the colon");
  return rest;
}

// The one backend without a process.
const char* const in_process = "reference:inprocess";

[[noreturn]] void unknown(const std::string& name) {
  std::string text = "unknown backend " + printable(name, 80) + suggestion(name, worker_names()) + "; known are";
  for (const std::string& known : worker_names()) text += " " + known;
  throw InputError(text);
}

}  // namespace

const std::vector<std::string>& worker_names() {
  static const std::vector<std::string> names = [] {
    Words all;
    for (const CatalogueEntry& entry : catalogue()) all.push_back(entry.name);
    for (const char* known : {"reference", "reference:fast", "reference:naive", in_process, "python:MODULE",
                              "exec:COMMAND", "./LIBRARY.so", "variant:NAME", "mutant:ID"})
      all.emplace_back(known);
    return all;
  }();
  return names;
}

bool is_worker(const std::string& name) { return name != in_process; }

std::vector<std::string> command_of(const std::string& name) {
  if (name == "reference" || name == "reference:fast") return {reference_worker()};
  if (name == in_process) throw InputError(name + " runs inside assay and is no worker; name reference instead");
  if (name == "reference:naive") return {reference_worker(), "--naive"};
  if (const CatalogueEntry* entry = find_entry(catalogue(), name)) return command_of(*entry);
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos && is_library(name)) return library_command(name);
  if (colon == std::string::npos) unknown(name);
  const std::string kind = name.substr(0, colon), rest = name.substr(colon + 1);
  if (kind == "python") return {python(), script("onnx_backend.py"), argument(kind, rest)};
  if (kind == "exec") return given_command(rest);
  if (kind == "variant") return {reference_worker(), "--variant", argument(kind, rest)};
  if (kind == "mutant") return {reference_worker(), "--mutant", argument(kind, rest)};
  unknown(name);
}

Result<std::vector<std::string>> split_command(std::string_view command) {
  std::vector<std::string> words;
  std::optional<std::string> word;  // the one being read; "" is a word too
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == '\0') return Error{"a command cannot hold a null character"};
    if (!quote && (c == ' ' || c == '\t' || c == '\n')) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    if (quote && c == quote) {
      quote = 0;
    } else if (!quote && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'') {
      if (++i == command.size()) return Error{"the command ends in a backslash"};
      // Inside double quotes a backslash escapes only what would be special there.
      if (quote && command[i] != '"' && command[i] != '\\') *word += c;
      *word += command[i];
    } else {
      *word += c;
    }
  }
  if (quote) return Error{std::string("the command lacks a closing ") + quote};
  if (word) words.push_back(*std::move(word));
  return words;
}

std::unique_ptr<Backend> open_backend(const std::string& name, const Limits& limits) {
  if (name == in_process)
    return std::make_unique<InProcess>("reference:fast", [](const Definition& definition) { return definition.fast; });
  Limits within = limits;
  if (const CatalogueEntry* entry = find_entry(catalogue(), name)) within.recycle_models = entry->recycle;
  return std::make_unique<Worker>(name, command_of(name), within);
}

}  // namespace assay::suites
