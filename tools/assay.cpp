// SPDX-License-Identifier: Apache-2.0
// The tool: reads the command line, runs one verb, and turns what it throws into one line and an exit code.
#include "oracles/judging/environment.h"
#include "oracles/judging/judge.h"
#include "reference/sequence.h"
#include "reports/report.h"
#include "suites/text/printable.h"
#include "tools/held_memory.h"
#include "tools/verbs/verbs.h"
#include "tools/verbs/words.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <iostream>
#include <sstream>

namespace {

using namespace assay;

std::string version_text() {
  return "assay " + std::string(ASSAY_VERSION) + " (suite " + std::string(suites::suite_version) + ", standard ONNX " +
         std::string(standard_release) + ", report schema " + std::to_string(reports::schema_version) + ")";
}

std::vector<tools::Verb> declare(CLI::App& app) {
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.footer("Exit codes: 0 conforms, 1 does not conform, 2 usage or input, 3 assay is broken.");
  // In the order of --help.
  using Declare = tools::Verb (*)(CLI::App&);
  const std::vector<Declare> declarations = {
      tools::certify_verb, tools::verify_verb,     tools::fuzz_verb,     tools::merge_verb,    tools::replay_verb,
      tools::report_verb,  tools::diff_verb,       tools::matrix_verb,   tools::bisect_verb,   tools::golden_verb,
      tools::judge_verb,   tools::list_verb,       tools::explain_verb,  tools::backends_verb, tools::doctor_verb,
      tools::vet_verb,     tools::locate_verb,     tools::waive_verb,    tools::exhaust_verb,  tools::mutate_verb,
      tools::man_verb,     tools::completion_verb, tools::complete_verb,
  };
  return transformed<tools::Verb>(declarations, [&](const Declare verb) { return verb(app); });
}

// CLI11 would say that an argument was not expected, of `assay certfy` and of `assay golden wirte`.
void check_verb(const CLI::App& app, int count, char** words, int at = 1) {
  if (count <= at || words[at][0] == '-') return;
  std::vector<std::string> all, shown;
  const CLI::App* next = nullptr;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    all.push_back(command->get_name());
    if (!command->get_group().empty()) shown.push_back(command->get_name());
    if (command->get_name() == words[at]) next = command;
  }
  if (next != nullptr) return check_verb(*next, count, words, at + 1);
  if (!all.empty())
    throw InputError("unknown verb '" + std::string(words[at]) + "'" + (at > 1 ? " of " + app.get_name() : "") +
                     tools::suggestion(words[at], shown));
}

void add_option_names(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::App* command : app.get_subcommands()) {
    for (const CLI::Option* option : command->get_options())
      if (!option->get_lnames().empty()) names.push_back("--" + option->get_lnames().front());
    add_option_names(*command, names);
  }
}

// "assay golden write": the verb that was parsed.
std::string verb_of(const CLI::App& app) {
  std::string words = app.get_name();
  for (const CLI::App* command : app.get_subcommands()) words += " " + verb_of(*command);
  return words;
}

// The first word CLI11 did not expect, and the option it probably was meant to be.
std::string unexpected(const CLI::App& app) {
  const std::string word = app.remaining(true).front();
  std::vector<std::string> names;
  add_option_names(app, names);
  if (word.starts_with("--")) return "unknown option '" + word + "'" + tools::suggestion(word, names);
  const bool is_of_a_line = word.find('=') != word.npos;  // that a shell has split
  return "'" + word + "' was not expected; " +
         (is_of_a_line ? "a case line goes in quotes" : verb_of(app) + " --help says what is");
}

// "--suite: shrot not in {default,full,short}" with the word that was probably meant; anything else as CLI11 says it.
std::string refused(const CLI::App& app, const std::string& said) {
  const std::size_t colon = said.find(": "), between = said.find(" not in {");
  if (colon == said.npos || between == said.npos || said.back() != '}' || between < colon)
    return said + "; see " + verb_of(app) + " --help";
  const std::string word = said.substr(colon + 2, between - colon - 2);
  std::vector<std::string> choices;
  std::istringstream list(said.substr(between + 9, said.size() - between - 10));
  for (std::string each; std::getline(list, each, ',');) choices.push_back(each);
  return said.substr(0, colon) + ": there is no '" + word + "'" + tools::suggestion(word, choices);
}

int run(int count, char** words) {
  CLI::App app("Certifies ONNX backends, operator version by operator version, against the text of the standard.",
               "assay");
  oracles::expect_sound_environment();
  oracles::default_tier();  // said wrongly, it is told before anything is run
  const std::vector<tools::Verb> verbs = declare(app);
  check_verb(app, count, words);
  try {
    app.parse(count, words);
  } catch (const CLI::ExtrasError&) {
    throw InputError(unexpected(app));
  } catch (const CLI::ParseError& stop) {
    if (stop.get_exit_code() == 0) return app.exit(stop);  // --help, --version
    throw InputError(refused(app, stop.what()));
  }
  for (const tools::Verb& verb : verbs)
    if (verb.command->parsed()) return verb.run();
  throw BrokenPromise("CLI11 demands a verb");
}

}  // namespace

int main(int count, char** words) {
  assay::hold_freed_memory();
  std::signal(SIGPIPE, SIG_IGN);         // `assay list | head` ends like any other
  constexpr std::size_t longest = 4000;  // of a line; a stranger's words may stand in it
  try {
    return run(count, words);
  } catch (const InputError& error) {
    std::cerr << "assay: " << suites::printable(error.what(), longest) << "\n";
    return tools::bad_input;
  } catch (const std::exception& error) {
    std::cerr << "assay: broken: " << suites::printable(error.what(), longest) << "\n";
    return tools::broken;
  }
}
