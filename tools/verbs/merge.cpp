// SPDX-License-Identifier: Apache-2.0
// assay merge: what the shards of one campaign left, stores or reports, as that of the whole. With a merged store
// `fuzz --store … --resume` has nothing left to ask; a merged report is the one it would write.
#include "reports/merge.h"

#include "reports/atomic_file.h"
#include "suites/campaign/store.h"
#include "suites/triage/wrong_models.h"
#include "tools/verbs/verbs.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <vector>

namespace assay::tools {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<fs::path> parts;
  fs::path into;
};

bool is_report(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || fs::is_directory(file)) throw InputError("cannot read " + file.string());
  char first = 0;
  return (in >> first) && first == '{';
}

int merge_stores(const Options& options) {
  suites::merge(options.parts, options.into);
  const suites::Store whole = suites::Store::open(options.into);
  std::cout << options.parts.size() << " stores of " << whole.count() << " cases merged into " << options.into.string()
            << "; for the report: the same fuzz command with --store " << options.into.string() << " --resume\n";
  return conforms;
}

int merge_reports(const Options& options) {
  if (fs::exists(options.into)) throw InputError(options.into.string() + " is there already; name another file");
  std::vector<reports::ShardReport> shards;
  std::ranges::transform(options.parts, std::back_inserter(shards), reports::read_shard_report);
  const auto whole = reports::merged(shards, suites::wrong_models());
  reports::AtomicFile draft(options.into);
  reports::write_json(whole, draft.out());
  draft.finish();
  reports::write_causes(whole, std::cout);
  const bool has_found = !whole.at("conforms").get<bool>();
  std::cout << shards.size() << " reports of " << whole.at("plan").at("asked") << " cases merged into "
            << options.into.string() << ": "
            << (has_found
                    ? "found something that counts. That is the finding about the backend, not a breakdown of assay."
                    : "nothing found that counts")
            << "\n";
  return has_found ? not_conforming : conforms;
}

int merge(const Options& options) {
  const auto report = std::ranges::find_if(options.parts, is_report);
  if (report == options.parts.end()) return merge_stores(options);
  const auto store = std::ranges::find_if_not(options.parts, is_report);
  if (store == options.parts.end()) return merge_reports(options);
  throw InputError(report->string() + " is a report and " + store->string() +
                   " is none; merge either the reports of all shards or their stores");
}

}  // namespace

Verb merge_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("merge", "make one store, or one report, of those of all shards of a fuzz campaign");
  command->add_option("parts", options->parts, "the stores of the shards, or their JSON reports")->required();
  command->add_option("--into", options->into, "the store or the report of the whole, a new file")->required();
  return {command, [options] { return merge(*options); }};
}

}  // namespace assay::tools
