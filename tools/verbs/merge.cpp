// SPDX-License-Identifier: Apache-2.0
// assay merge: the stores of the shards of one campaign as the store of the whole. `fuzz --store … --resume` then has
// nothing left to ask and reports as if one machine had done it all.
#include "suites/store.h"
#include "tools/verbs/verbs.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace assay::tools {
namespace {

struct Options {
  std::vector<std::filesystem::path> parts;
  std::filesystem::path into;
};

int merge(const Options& options) {
  suites::merge(options.parts, options.into);
  const suites::Store whole = suites::Store::open(options.into);
  std::cout << options.parts.size() << " stores of " << whole.count() << " cases merged into " << options.into.string()
            << "; for the report: the same fuzz command with --store " << options.into.string() << " --resume\n";
  return conforms;
}

}  // namespace

Verb merge_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("merge", "make one store of those of all shards of a fuzz campaign");
  command->add_option("stores", options->parts, "the stores of the shards")->required();
  command->add_option("--into", options->into, "the store of the whole, a new file")->required();
  return {command, [options] { return merge(*options); }};
}

}  // namespace assay::tools
