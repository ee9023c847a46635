// SPDX-License-Identifier: Apache-2.0
#include "suites/worker_names.h"

#include "reference/nearest.h"
#include "suites/printable.h"
#include "suites/worker.h"

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const char* const marker = "tools/backends/assay_worker.py";

fs::path running_program() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// The folder that holds tools/backends.
fs::path home() {
  if (const char* given = std::getenv("ASSAY_HOME")) {
    if (is_file(fs::path(given) / marker)) return given;
    throw InputError("ASSAY_HOME is " + printable(given) + ", but there is no " + marker + " in it");
  }
  for (fs::path folder = running_program().parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    if (is_file(folder / marker)) return folder;
  if (const fs::path sources = fs::path(__FILE__).parent_path().parent_path(); is_file(sources / marker))
    return sources;
  throw InputError(std::string(marker) + " is not found: set ASSAY_HOME to the folder of the project");
}

std::string python() {
  if (const char* given = std::getenv("ASSAY_PYTHON"); given && *given) return given;
  const fs::path ours = home() / ".deps/venv/bin/python";
  return is_file(ours) ? ours.string() : "python3";
}

std::string script(const char* name) { return (home() / "tools/backends" / name).string(); }

std::string reference_worker() {
  const fs::path beside = running_program().parent_path();
  for (const fs::path& folder : {beside, beside / "tools"})
    if (is_file(folder / "assay-worker-reference")) return (folder / "assay-worker-reference").string();
  throw InputError("assay-worker-reference is not found beside " + running_program().filename().string() +
                   ": build the target of that name");
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

[[noreturn]] void unknown(const std::string& name) {
  std::string text = "unknown backend " + printable(name, 80) + suggestion(name, worker_names()) + "; known are";
  for (const std::string& known : worker_names()) text += " " + known;
  throw InputError(text);
}

}  // namespace

const std::vector<std::string>& worker_names() {
  static const std::vector<std::string> names = {"onnxruntime",  "reference",    "reference:naive", "python:MODULE",
                                                 "exec:COMMAND", "variant:NAME", "mutant:ID"};
  return names;
}

std::vector<std::string> command_of(const std::string& name) {
  if (name == "onnxruntime") return {python(), script("onnxruntime.py")};
  if (name == "reference" || name == "reference:naive") return {reference_worker()};
  const std::size_t colon = name.find(':');
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
  return std::make_unique<Worker>(name, command_of(name), limits);
}

}  // namespace assay::suites
