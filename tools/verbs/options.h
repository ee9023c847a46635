// SPDX-License-Identifier: Apache-2.0
// Options that several verbs have.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace assay::tools {

// Declares an option that is a number from `least` to `most`; --help shows its default.
template <class T>
void add_number_option(CLI::App& command, const std::string& name, T& number, std::type_identity_t<T> least,
                       std::type_identity_t<T> most, const std::string& description) {
  command.add_option(name, number, description)->check(CLI::Range(least, most))->capture_default_str();
}

// Declares --jobs: how many of what is named run side by side.
inline void add_jobs_option(CLI::App& command, int& jobs, const std::string& what) {
  add_number_option(command, "--jobs", jobs, 0, 1024, what + "; 0: one per processor");
}

// Declares --ops and --types, which choose among the cases; a word after them is not theirs.
inline void add_selection_options(CLI::App& command, std::vector<std::string>& operators,
                                  std::vector<std::string>& types) {
  const auto add = [&](const char* name, std::vector<std::string>& words, const char* description) {
    command.add_option(name, words, description)->delimiter(',')->allow_extra_args(false);
  };
  add("--ops", operators, "only these, separated by commas: Conv,AveragePool-19");
  add("--types", types, "only these element types: f16,bf16,f32,f64");
}

}  // namespace assay::tools
