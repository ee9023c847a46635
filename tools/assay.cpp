// SPDX-License-Identifier: Apache-2.0
// The tool: reads the command line, runs one verb, and turns what it throws into one line and an exit code.
#include "reports/report.h"
#include "tools/verbs/nearest.h"
#include "tools/verbs/verbs.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <iostream>

namespace {

using namespace assay;

std::string version_text() {
  return "assay " + std::string(ASSAY_VERSION) + " (suite " + std::string(suites::suite_version) + ", standard ONNX " +
         std::string(reports::standard_release) + ", report schema " + std::to_string(reports::schema_version) + ")";
}

std::vector<tools::Verb> declare(CLI::App& app) {
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.footer("Exit codes: 0 conforms, 1 does not conform, 2 usage or input, 3 assay is broken.");
  return {tools::certify_verb(app), tools::verify_verb(app), tools::fuzz_verb(app),    tools::merge_verb(app),
          tools::replay_verb(app),  tools::list_verb(app),   tools::explain_verb(app), tools::backends_verb(app),
          tools::doctor_verb(app),  tools::waive_verb(app),  tools::mutate_verb(app),  tools::golden_verb(app),
          tools::report_verb(app)};
}

// CLI11 would say that an argument was not expected.
void check_verb(const CLI::App& app, int count, char** words) {
  if (count < 2 || words[1][0] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (std::ranges::find(names, words[1]) == names.end())
    throw InputError("unknown verb '" + std::string(words[1]) + "'" + tools::suggestion(words[1], names));
}

// The first word CLI11 did not expect, and the option it probably was meant to be.
std::string unexpected(const CLI::App& app) {
  const std::string word = app.remaining(true).front();
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands())
    for (const CLI::Option* option : command->get_options())
      if (!option->get_lnames().empty()) names.push_back("--" + option->get_lnames().front());
  if (word.starts_with("--")) return "unknown option '" + word + "'" + tools::suggestion(word, names);
  return "'" + word + "' was not expected; a case line goes in quotes";
}

int run(int count, char** words) {
  CLI::App app("Certifies ONNX backends, operator version by operator version, against the text of the standard.",
               "assay");
  const std::vector<tools::Verb> verbs = declare(app);
  check_verb(app, count, words);
  try {
    app.parse(count, words);
  } catch (const CLI::ExtrasError&) {
    throw InputError(unexpected(app));
  } catch (const CLI::ParseError& stop) {
    if (stop.get_exit_code() == 0) return app.exit(stop);  // --help, --version
    throw InputError(std::string(stop.what()) + "; see assay --help");
  }
  for (const tools::Verb& verb : verbs)
    if (verb.command->parsed()) return verb.run();
  throw BrokenPromise("CLI11 demands a verb");
}

}  // namespace

int main(int count, char** words) {
  std::signal(SIGPIPE, SIG_IGN);  // `assay list | head` ends like any other
  try {
    return run(count, words);
  } catch (const InputError& error) {
    std::cerr << "assay: " << error.what() << "\n";
    return tools::bad_input;
  } catch (const std::exception& error) {
    std::cerr << "assay: broken: " << error.what() << "\n";
    return tools::broken;
  }
}
