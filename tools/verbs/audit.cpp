// SPDX-License-Identifier: Apache-2.0
// assay golden audit: anybody's test vectors, held against the oracle.
#include "suites/golden/audit.h"

#include "reports/atomic_file.h"
#include "suites/sandbox/process.h"
#include "suites/text/printable.h"
#include "suites/workers/places.h"
#include "tools/verbs/verbs.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>
#include <numeric>

namespace assay::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using suites::Rating;

constexpr std::chrono::minutes patience{10};

struct Options {
  std::string folder, report;
  bool onnx_node_tests = false, verbose = false;
};

// The node tests of the installed ONNX package, which since 1.23 ships the makers of its vectors and not the vectors.
void write_node_tests(const fs::path& folder) {
  const fs::path script = suites::reports_folder().parent_path() / "suites/golden/node_tests.py";
  std::vector<std::string> command{suites::python(), script.string(), folder.string()};
  for (const Operator* op : operators()) command.push_back(op->name());
  command.emplace_back("--others");
  suites::Process process(command);
  process.finish(patience);
  if (process.ending() != "ended with exit code 0")
    throw InputError("the node tests of the ONNX package cannot be made: " +
                     suites::printable(process.last_words(), 200) + "; set ASSAY_PYTHON to a Python that has onnx");
}

using TableRow = std::map<Rating, Int>;

std::map<OpVersion, TableRow> rows_of(const suites::Audit& audit) {
  std::map<OpVersion, TableRow> rows;
  for (const suites::Rated& each : audit.outputs) ++rows[each.version][each.rating];
  return rows;
}

bool is_notable(Rating rating) { return rating != Rating::rounded && rating != Rating::bounded; }

Int sum(const std::map<std::string, Int>& counts) {
  return std::accumulate(counts.begin(), counts.end(), Int{0},
                         [](Int all, const auto& each) { return all + each.second; });
}

// Models that are not for us.
void print_foreign(const suites::Audit& audit, bool verbose) {
  if (!audit.other_operators.empty())
    std::cout << sum(audit.other_operators) << " models of " << audit.other_operators.size()
              << " operators outside the table" << (verbose ? ":" : "; --verbose lists them") << "\n";
  for (const auto& [name, count] : audit.other_operators)
    if (verbose) std::cout << "  " << name << " " << count << "\n";
  for (const auto& [because, count] : audit.foreign) std::cout << "not for us: " << because << " " << count << "\n";
}

void print(const suites::Audit& audit, bool verbose) {
  for (const auto& [version, row] : rows_of(audit)) {
    Int all = 0;
    for (const auto& [rating, count] : row) all += count;
    std::cout << "  " << text(version) << ": " << all << (all == 1 ? " output" : " outputs");
    for (const auto& [rating, count] : row) std::cout << ", " << count << " " << name(rating);
    std::cout << "\n";
  }
  for (const suites::Rated& each : audit.outputs)
    if (is_notable(each.rating))
      std::cout << name(each.rating) << "  " << suites::printable(each.file, 200) << "  " << text(each.version) << ": "
                << suites::printable(each.because, 500) << "\n";
  for (const suites::FileProblem& problem : audit.problems) std::cout << text(problem) << "\n";
  print_foreign(audit, verbose);
}

// Nothing rated is no verdict. Throws InputError.
void check_rated(const suites::Audit& audit, const std::string& folder) {
  if (!audit.outputs.empty() || !audit.problems.empty()) return;
  if (audit.models == 0)
    throw InputError(folder + ": nothing to rate; name a folder of folders with model.onnx and test_data_set_0/");
  throw InputError(folder + ": nothing to rate; none of its " + std::to_string(audit.models) +
                   " models is one node of an operator that `assay list` has");
}

// By why, as before.
Json foreign_json(const suites::Audit& audit) {
  std::map<std::string, Int> all = audit.foreign;
  for (const auto& [name, count] : audit.other_operators) all["operator " + name] = count;
  return all;
}

Json json_of(const suites::Audit& audit, const std::string& source) {
  Json rows = Json::array(), outputs = Json::array(), problems = Json::array();
  for (const auto& [version, row] : rows_of(audit)) {
    Json json{{"op", text(version)}};
    for (const Rating rating : suites::all_ratings)
      json[std::string(name(rating))] = row.contains(rating) ? row.at(rating) : 0;
    rows.push_back(std::move(json));
  }
  for (const suites::Rated& each : audit.outputs)
    outputs.push_back({{"file", each.file},
                       {"op", text(each.version)},
                       {"rating", name(each.rating)},
                       {"because", suites::printable(each.because, 1000)}});
  for (const suites::FileProblem& problem : audit.problems) problems.push_back(text(problem));
  return {{"audit", 1},        {"source", source},  {"models", audit.models},
          {"operators", rows}, {"flaws", problems}, {"foreign", foreign_json(audit)},
          {"outputs", outputs}};
}

bool has_found(const suites::Audit& audit) {
  return !audit.problems.empty() || std::ranges::any_of(audit.outputs, [](const suites::Rated& each) {
    return each.rating == Rating::wrong || each.rating == Rating::illegal;
  });
}

int run(const Options& options) {
  if (options.folder.empty() != options.onnx_node_tests)
    throw InputError("name a folder of test vectors, or say --onnx-node-tests for those of the installed package");
  reports::AtomicFile draft(options.report);
  const suites::TemporaryDirectory made;
  if (options.onnx_node_tests) write_node_tests(made.path());
  const Result<suites::Audit> audit = suites::audit(options.onnx_node_tests ? made.path() : fs::path(options.folder));
  if (!audit) throw InputError(audit.error());
  check_rated(*audit, options.folder);
  print(*audit, options.verbose);
  const Json json = json_of(*audit, options.onnx_node_tests ? "the ONNX package" : options.folder);
  draft.out() << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  draft.finish();
  const Int foreign = sum(audit->foreign) + sum(audit->other_operators);
  std::cout << audit->models << " models: " << audit->outputs.size() << " outputs rated, " << audit->problems.size()
            << " files flawed, " << foreign << " models not for us\n";
  return has_found(*audit) ? not_conforming : conforms;
}

}  // namespace

Verb audit_verb(CLI::App& golden) {
  auto options = std::make_shared<Options>();
  CLI::App* command = golden.add_subcommand("audit", "hold anybody's test vectors in ONNX's layout against the oracle");
  command->add_option("folder", options->folder, "the folder that holds folders with model.onnx and test_data_set_N/");
  command->add_flag("--onnx-node-tests", options->onnx_node_tests, "the node tests of the installed ONNX package");
  command->add_flag("--verbose", options->verbose, "list the operators outside the table");
  command->add_option("--report", options->report, "write every rating as JSON to this file");
  return {command, [options] { return run(*options); }};
}

}  // namespace assay::tools
