// SPDX-License-Identifier: Apache-2.0
// assay golden: test vectors with the right answers, written, checked and pinned. One subcommand each.
#include "reference/sequence.h"
#include "reports/report.h"
#include "suites/golden/archive.h"
#include "suites/golden/golden_folder.h"
#include "suites/golden/golden_graphs.h"
#include "tools/verbs/circumstances.h"
#include "tools/verbs/options.h"
#include "tools/verbs/verbs.h"
#include "tools/verbs/words.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <set>

namespace assay::tools {
namespace {

namespace fs = std::filesystem;

// Which cases: the words of certify.
struct Choice {
  std::vector<std::string> operators, types;
  std::uint64_t seed = 1;
  Int cases = suites::default_generated, graphs = 0;
  std::string suite = "default", suites;
  int jobs = 0;

  void add_options(CLI::App& command) {
    command
        .add_option("--suite", suite,
                    "short, default or full: 1,500 cases of the first operators, all, or ten times as many")
        ->check(CLI::IsMember({"default", "full", "short"}))
        ->capture_default_str();
    command.add_option("--ops", operators, "only these, separated by commas: Conv,AveragePool-19")->delimiter(',');
    command.add_option("--types", types, "only these element types: f16,bf16,f32,f64")->delimiter(',');
    command.add_option("--seed", seed, "of the generated cases")->capture_default_str();
    add_number_option(command, "--cases", cases, Int{0}, Int{100'000'000},
                      "how many cases the whole suite generates, of which --ops and --types keep a part; the pinned "
                      "ones are always written");
    command.add_option("--suites", suites, "the folder with conformance/*.cases (default: the project's suites/)");
    add_number_option(
        command, "--graphs", graphs, Int{0}, Int{1'000'000},
        "draw so many graphs of several nodes as well; those with one right answer to the bit are written");
    add_jobs_option(command, jobs, "threads");
  }

  suites::Suite plan() const {
    return suites::plan(suites_folder(suites),
                        {selection_of(operators, types), *suites::length_named(suite), seed, cases});
  }

  suites::Golden golden() const {
    const int threads = jobs_or_processors(jobs);
    return {reports::judgement_hash(),
            ASSAY_VERSION,
            seed,
            {},
            threads,
            suites::exact_graphs(seed, static_cast<std::uint64_t>(graphs), threads)};
  }
};

std::uint64_t bytes_of(const suites::Seals& files) {
  std::uint64_t bytes = 0;
  for (const auto& [path, seal] : files) bytes += seal.size;
  return bytes;
}

std::size_t count_of(const suites::Manifest& manifest, suites::GoldenKind golden_kind) {
  return static_cast<std::size_t>(std::ranges::count(manifest.cases, golden_kind, &suites::Listed::golden_kind));
}

// "4321 valid, 12 unscored, 567 rejected: 81234 files, 12345678 bytes"
std::string contents_of(const suites::Manifest& manifest) {
  return joined(suites::all_shelves, ", ",
                [&](suites::GoldenKind kind) {
                  return std::to_string(count_of(manifest, kind)) + " " + std::string(name(kind));
                }) +
         (manifest.graphs.empty() ? "" : ", " + std::to_string(manifest.graphs.size()) + " graphs") + ": " +
         std::to_string(manifest.files.size()) + " files, " + std::to_string(bytes_of(manifest.files)) + " bytes";
}

// -- write

struct Writing {
  Choice choice;
  fs::path out, pack;
};

// What runs the vectors where there is no assay; it travels with them.
std::vector<suites::GoldenFile> runner_in(const fs::path& suites) {
  std::vector<suites::GoldenFile> files;
  for (const std::string& name : suites::names_in(suites / "golden" / "runner")) {
    Result<std::string> bytes = suites::file_contents(suites / "golden" / "runner" / name, 1 << 20);
    if (!bytes) throw InputError(bytes.error());
    files.push_back({"runner/" + name, *std::move(bytes)});
  }
  return files;
}

// The folder that was written, with all names in order.
void pack(const Writing& options, const suites::Manifest& manifest) {
  suites::Archive archive(options.pack);
  std::set<std::string> paths{std::string(suites::manifest_name)};
  for (const suites::Seals* seals : {&manifest.files, &manifest.runner})
    for (const auto& [path, seal] : *seals) paths.insert(path);
  for (const std::string& path : paths) {
    const Result<std::string> bytes = suites::file_contents(options.out / path, std::uintmax_t{1} << 32);
    if (!bytes) throw InputError(bytes.error());
    archive.add("golden/" + path, *bytes);
  }
  archive.finish();
}

int write(const Writing& options) {
  suites::Golden golden = options.choice.golden();
  golden.runner = runner_in(suites_folder(options.choice.suites));
  const suites::Manifest manifest = suites::write_golden(options.choice.plan(), golden, options.out);
  if (!options.pack.empty()) pack(options, manifest);
  std::cout << contents_of(manifest) << " in " << options.out.string() << "\ndigest " << manifest.digest << "\n";
  return conforms;
}

Verb write_verb(CLI::App& golden) {
  auto options = std::make_shared<Writing>();
  CLI::App* command = golden.add_subcommand(
      "write", "write a suite as test vectors in ONNX's layout, with exact outputs and the intervals around them");
  options->choice.add_options(*command);
  command->add_option("--out", options->out, "a new or empty folder")->required();
  command->add_option("--pack", options->pack,
                      "all of it as one archive as well, FILE.tar or FILE.tar.gz, with runners in Python and C");
  return {command, [options] { return write(*options); }};
}

// -- digest

int digest(const Choice& choice) {
  const suites::Suite suite = choice.plan();
  const suites::Manifest manifest = suites::golden_manifest(suite, choice.golden());
  std::cout << "digest " << manifest.digest << "\nsuite " << manifest.suite_hash << "\n"
            << contents_of(manifest) << "\n";
  const std::map<OpVersion, std::string> hashes = suites::version_hashes(suite.cases);
  for (const auto& [version, own] : suites::version_digests(manifest))
    std::cout << own << "  " << hashes.at(version) << "  " << text(version) << "\n";
  return conforms;
}

Verb digest_verb(CLI::App& golden) {
  auto options = std::make_shared<Choice>();
  CLI::App* command = golden.add_subcommand("digest", "the digest that writing would give, without a file");
  options->add_options(*command);
  return {command, [options] { return digest(*options); }};
}

// -- check

struct Checking {
  fs::path folder;
  bool quick = false;
  int jobs = 0;
};

int check(const Checking& options) {
  const suites::Manifest manifest = suites::read_manifest(options.folder);
  std::vector<suites::FileProblem> problems = suites::check_hashes(options.folder, manifest);
  if (!options.quick) {
    const std::vector<suites::FileProblem> recomputed =
        suites::check_recomputed(manifest, reports::judgement_hash(), jobs_or_processors(options.jobs));
    problems.insert(problems.end(), recomputed.begin(), recomputed.end());
  }
  for (const suites::FileProblem& problem : problems) std::cout << text(problem) << "\n";
  std::cout << contents_of(manifest) << "\ndigest " << manifest.digest << "\n";
  const std::string what = options.quick ? "every file is as the manifest says; nothing was computed again"
                                         : "every file is as the manifest says, and every byte comes out again";
  std::cout << (problems.empty() ? what : std::to_string(problems.size()) + " files or facts are not as they should be")
            << "\n";
  return problems.empty() ? conforms : not_conforming;
}

Verb check_verb(CLI::App& golden) {
  auto options = std::make_shared<Checking>();
  CLI::App* command =
      golden.add_subcommand("check", "hold a folder of vectors to its manifest and to what this assay would write");
  command->add_option("folder", options->folder, "what `assay golden write` wrote")->required();
  command->add_flag("--quick", options->quick, "hashes only");
  add_jobs_option(*command, options->jobs, "threads");
  return {command, [options] { return check(*options); }};
}

}  // namespace

Verb golden_verb(CLI::App& app) {
  CLI::App* command = app.add_subcommand("golden", "test vectors with the right answers: write, check, digest, audit");
  command->require_subcommand(1);
  const std::vector<Verb> verbs = {write_verb(*command), check_verb(*command), digest_verb(*command),
                                   audit_verb(*command)};
  return {command, [verbs] {
            for (const Verb& verb : verbs)
              if (verb.command->parsed()) return verb.run();
            throw BrokenPromise("CLI11 demands a subcommand");
          }};
}

}  // namespace assay::tools
