// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/positional.h"

#include "reference/result.h"
#include "reference/sequence.h"
#include "suites/text/printable.h"
#include "suites/workers/worker_names.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

namespace assay::tools {
namespace {

// "a backend or a case line"
std::string kinds_text(const std::map<Positional, std::string*>& wanted) {
  return joined(wanted, " or ", [](const auto& each) { return name(each.first); });
}

// Puts each word where it is wanted.
void sort_words(const std::string& verb, const std::vector<std::string>& words, bool has_backend,
                const std::map<Positional, std::string*>& wanted) {
  std::map<Positional, std::string> seen;
  if (const auto into = wanted.find(Positional::backend); has_backend && into != wanted.end())
    seen.emplace(Positional::backend, *into->second);
  for (const std::string& word : words) {
    const Positional kind = kind_of(word);
    const std::string shown = "'" + suites::printable(word, 80) + "'";
    // Of a case line that a shell has split every word but the first is KEY=VALUE.
    if (kind == Positional::backend && word.find('=') != word.npos && word.find(':') > word.find('='))
      throw InputError(shown + " was not expected; a case line goes in quotes");
    const auto into = wanted.find(kind);
    if (into == wanted.end())
      throw InputError(shown + " names " + std::string(name(kind)) + "; assay " + verb + " takes " +
                       kinds_text(wanted));
    const auto [other, is_new] = seen.emplace(kind, word);
    if (!is_new)
      throw InputError("two words name " + std::string(name(kind)) + ": '" + suites::printable(other->second, 80) +
                       "' and " + shown + (kind == Positional::backend ? "; a case line goes in quotes" : ""));
    *into->second = word;
  }
}

}  // namespace

Positional kind_of(const std::string& word) {
  std::error_code ignored;
  // A folder may be called onnxruntime; ./onnxruntime is the folder.
  const std::vector<std::string>& known = suites::worker_names();
  if (word.starts_with("exec:") || std::ranges::find(known, word) != known.end()) return Positional::backend;
  if (word.ends_with(".onnx")) return Positional::model;
  if (word.ends_with(".json")) return Positional::report;
  if (std::filesystem::is_directory(word, ignored)) return Positional::folder;
  if (word.find(' ') != std::string::npos) return Positional::line;
  if (word.ends_with(".npy") || word.ends_with(".pb")) return Positional::tensor;
  const bool is_number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? Positional::number : Positional::backend;
}

std::string_view name(Positional kind) {
  switch (kind) {
    case Positional::model: return "a model (.onnx)";
    case Positional::report: return "a report (.json)";
    case Positional::tensor: return "a tensor (.npy, .pb)";
    case Positional::folder: return "a folder";
    case Positional::line: return "a case line";
    case Positional::number: return "a number";
    case Positional::backend: return "a backend";
  }
  throw BrokenPromise("a kind of word without a name");
}

void take_words(CLI::App& command, const std::string& name, std::map<Positional, std::string*> wanted,
                const std::string& description) {
  const auto words = std::make_shared<std::vector<std::string>>();
  command.add_option(name, *words, description);
  command.parse_complete_callback([&command, words, wanted = std::move(wanted)] {
    if (command.remaining_size() > 0) return;  // an option that is unknown is told first
    const CLI::Option* backend = command.get_option_no_throw("--backend");
    sort_words(command.get_name(), *words, backend && backend->count() > 0, wanted);
  });
}

}  // namespace assay::tools
