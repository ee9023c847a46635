// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/snippet.h"

#include "reference/sequence.h"
#include "suites/text/numpy_text.h"
#include "suites/text/printable.h"
#include "suites/workers/catalogue.h"
#include "suites/workers/places.h"
#include "suites/workers/vector_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;

struct Runtime {
  fs::path file;
  std::map<std::string, std::string> words;  // "THREADS" -> "2"
  std::set<std::string> facts;               // "threads"
};

bool is_dotted_name(std::string_view text) {
  bool starts = true;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    const bool fits = c == '_' || std::isalpha(letter) || (!starts && std::isdigit(letter)) || (!starts && c == '.');
    if (!fits) return false;
    starts = c == '.';
  }
  return !text.empty() && !starts;
}

Result<Runtime> python_runtime(const std::string& name) {
  const std::string module = name.substr(0, name.find(':'));
  const std::string within = name.find(':') == std::string::npos ? "" : name.substr(name.find(':') + 1);
  if (module == "onnx.reference" && within.empty())
    return Runtime{backends_folder() / "scripts/onnx.reference.py", {}, {}};
  if (!is_dotted_name(module) || (!within.empty() && !is_dotted_name(within)))
    return Error{"its module has a name that Python does not"};
  Runtime runtime{backends_folder() / "scripts/python.py", {{"MODULE", python_string(module)}}, {}};
  if (within.empty()) return runtime;
  runtime.words["CLASS"] = python_string(within);
  runtime.facts.insert("class");
  return runtime;
}

Result<Runtime> named_runtime(const std::string& backend) {
  constexpr std::string_view python = "python:";
  if (backend.starts_with(python)) return python_runtime(backend.substr(python.size()));
  const CatalogueEntry* entry = find_entry(catalogue(), backend);
  if (!entry || entry->script.empty()) return Error{"this backend is no Python package"};
  return Runtime{backends_folder() / entry->script, {}, {}};
}

std::string in_capitals(std::string word) {
  for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return word;
}

Result<Runtime> runtime_of(const Provenance& provenance) {
  Result<Runtime> named = named_runtime(provenance.backend);
  if (!named) return named;
  Runtime runtime = *std::move(named);
  const RunOptions& run_options = provenance.run_options;
  runtime.words["THREADS"] = std::to_string(run_options.settings.threads);
  runtime.words["OPTIMIZATION"] = python_string(run_options.settings.optimization);
  if (run_options.settings.threads != 1) runtime.facts.insert("threads");
  if (run_options.settings.optimization != "all") runtime.facts.insert("optimization");
  for (const auto& [option, value] : run_options.options) {
    runtime.words[in_capitals(option)] = python_string(value);
    runtime.facts.insert(option);
  }
  return runtime;
}

// Of "threads or optimization".
bool any_holds(const std::string& condition, const std::set<std::string>& facts) {
  std::istringstream words(condition);
  for (std::string word; words >> word;)
    if (facts.contains(word)) return true;
  return false;
}

// The line without its condition; none where that drops it.
std::optional<std::string> kept(const std::string& line, const std::set<std::string>& facts) {
  for (const auto& [mark, wanted] : {std::pair("  # if ", true), std::pair("  # unless ", false)})
    if (const std::size_t at = line.find(mark); at != std::string::npos) {
      if (any_holds(line.substr(at + std::string_view(mark).size()), facts) != wanted) return std::nullopt;
      return line.substr(0, at);
    }
  return line;
}

bool is_word_letter(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); }

// Whole words that stand for something, filled in.
std::string filled_in(const std::string& line, const std::map<std::string, std::string>& words) {
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at;
    while (end < line.size() && is_word_letter(line[end])) ++end;
    const std::string word = line.substr(at, std::max<std::size_t>(1, end - at));
    const auto found = words.find(word);
    out += found == words.end() ? word : found->second;
    at += word.size();
  }
  return out;
}

constexpr std::string_view version_line = "version = ", run_line = "def run(model, *sets):", indent = "    ",
                           return_words = "return ";

}  // namespace

std::vector<std::string> Snippet::imports() const {
  std::vector<std::string> lines =
      filtered(head, [](const std::string& line) { return !line.starts_with(version_line); });
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::string Snippet::version() const {
  const auto line = std::ranges::find_if(head, [](const std::string& each) { return each.starts_with(version_line); });
  expects(line != head.end(), "a snippet has a line that begins with version =");
  return line->substr(version_line.size());
}

std::vector<std::string> Snippet::helpers() const {
  return {functions.begin(), std::ranges::find(functions, run_line)};
}

std::vector<std::string> Snippet::inlined(const std::string& result) const {
  const auto run = std::ranges::find(functions, run_line);
  expects(run != functions.end() && functions.back().starts_with(std::string(indent) + std::string(return_words)),
          "a snippet ends in run(model, *sets), and that in its return");
  std::vector<std::string> lines;
  for (auto line = std::next(run); line != functions.end(); ++line)
    lines.push_back(line->substr(std::min(indent.size(), line->size())));
  lines.back().replace(0, return_words.size(), result);
  return lines;
}

Result<Snippet> snippet_of(const Provenance& provenance, bool needs_ml_dtypes, bool is_near_miss) {
  Result<Runtime> found = runtime_of(provenance);
  if (!found) return Error{found.error()};
  Runtime runtime = *std::move(found);
  if (needs_ml_dtypes) runtime.facts.insert("ml_dtypes");
  if (is_near_miss) runtime.facts.insert("near_miss");
  const Result<std::string> text = file_contents(runtime.file, 1 << 16);
  if (!text) return Error{text.error()};
  Snippet snippet;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# SPDX")) continue;
    const std::optional<std::string> stays = kept(line, runtime.facts);
    if (!stays) continue;
    const bool is_function = !snippet.functions.empty() || stays->starts_with("def ");
    (is_function ? snippet.functions : snippet.head).push_back(filled_in(*stays, runtime.words));
  }
  return snippet;
}

std::string one_line(std::string_view words) {
  std::string out = printable(words, 300);
  for (char& c : out)
    if (c < ' ' || c > '~') c = '?';
  return out;
}

}  // namespace assay::suites
