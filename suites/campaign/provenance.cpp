// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/provenance.h"

#include <algorithm>
#include <cctype>

namespace assay::suites {

std::string in_quotes(std::string_view word) {
  std::string quoted = "'";
  for (char letter : word) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

std::string shell_word(std::string_view word) {
  const bool is_plain = !word.empty() && std::ranges::all_of(word, [](unsigned char letter) {
    return std::isalnum(letter) ||
           std::string_view("_-./:=,+@").find(static_cast<char>(letter)) != std::string_view::npos;
  });
  return is_plain ? std::string(word) : in_quotes(word);
}

std::string replay_command(const Provenance& provenance, std::string_view what) {
  const RunOptions& run_options = provenance.run_options;
  std::string command = "assay replay --backend " + shell_word(provenance.backend);
  if (run_options.level != oracles::Level::L2) command += " --level " + std::string(oracles::name(run_options.level));
  const Settings& settings = run_options.settings;
  if (settings.threads != 1) command += " --threads " + std::to_string(settings.threads);
  if (settings.optimization != "all") command += " --optimization " + settings.optimization;
  for (const auto& [option, value] : run_options.options) command += " --set " + in_quotes(option + "=" + value);
  if (!provenance.limits.empty()) command += " " + provenance.limits;
  if (!run_options.model.empty() && what.find("~stored:") != what.npos) command += " " + run_options.model;
  return command + " " + shell_word(what);
}

std::string configuration(const RunOptions& run_options) {
  std::string words =
      "threads=" + std::to_string(run_options.settings.threads) + " optimization=" + run_options.settings.optimization;
  for (const auto& [option, value] : run_options.options) words += " " + option + "=" + value;
  return words;
}

}  // namespace assay::suites
