// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/positional.h"

#include "reference/result.h"

#include <filesystem>

namespace assay::tools {

Positional kind_of(const std::string& word) {
  std::error_code ignored;
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

}  // namespace assay::tools
