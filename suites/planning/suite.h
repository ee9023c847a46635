// SPDX-License-Identifier: Apache-2.0
// Suite: the cases of one certification, pinned ones from *.cases files and generated ones from a seed, with the
// hash that says which cases they were.
#pragma once

#include "reference/case.h"
#include "reference/profiles.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

struct SuiteCase {
  Case c;
  std::string line;    // canonical
  std::string origin;  // "conformance/conv.cases:31 [v.C6]" or "seed 1: Conv-22 f16 #17"
  std::optional<std::string>
      expected;  // of a pinned case: the output under the rulings, judged against the oracle by a test
  // Names the presentation that a sample runs it in, by how it begins: "names=", "outputs="; empty where its id draws
  // it.
  std::string_view presented_by = {};
  std::size_t moved_bytes = 0;  // of a model's case
};

// Sums what goes into a legal case and comes out of it, of all data sets.
std::size_t moved_bytes(const Case& c);
// Returns the time it takes to move so much, at 32 MiB a second.
std::chrono::milliseconds time_to_move(std::size_t bytes);
// Tells whether so much is moved that cases take turns, and hold no more of it than they must.
constexpr bool is_large(std::size_t moved_bytes) { return moved_bytes > std::size_t{64} << 20; }

// How much of everything: `short`, `default` and `full`, each a part of the next.
enum class Length { abridged, standard, full };
std::string_view name(Length length);
std::optional<Length> length_named(std::string_view word);
// Reads the length off the name of a suite: "assay full sonnx".
Length length_of(std::string_view suite_name);

struct Suite {
  std::string name = "assay", version;
  std::vector<SuiteCase> cases;
  Length length = Length::standard;
  bool complete = true;                      // nothing filtered away, nothing shortened
  std::string hash;                          // suite_hash of the cases
  const Profile* profile = nullptr;          // every case lies within it
  std::map<std::string, Int> left_out = {};  // what kept a case outside the profile -> how many
};

inline constexpr std::string_view suite_version = "0.1";
inline constexpr Int default_generated = 4000;
// `short`, the part of `default` for backends that take seconds where others take milliseconds: of the first operators
// the pinned cases and as many generated ones of seed 1 as make this number, of the later ones a quarter. No
// certificate.
inline constexpr Int short_cases = 1500;
// `full` is `default` and the generated cases of so many times its number.
inline constexpr Int full_factor = 10;

// What to take. Empty sets take everything.
struct Selection {
  std::set<std::string, std::less<>> operators;  // "Conv" or "Conv-11"
  std::set<DType> types;                         // of the first input

  bool admits(const Definition& definition) const;
  bool admits(const Definition& definition, DType type) const;
  bool is_everything() const { return operators.empty() && types.empty(); }
};

struct SuiteRequest {
  Selection selection;
  Length length = Length::standard;
  std::uint64_t seed = 1;
  Int generated = default_generated;  // of the first operators; of the later ones in proportion
  const Profile* profile = nullptr;
};

// Returns a line that asks for `count` numbers of a type from a bit pattern on, of an operator of one input:
// "Exp-13 opset=13 ir=8 input=f32[8]~bits:0".
std::string line_of_patterns(const Definition& definition, DType type, std::uint64_t pattern, std::uint64_t count);

// The lines of one *.cases file: `#` comments; else `[label] CASE-LINE => v,v,v`, label and expectation optional.
// Throws InputError naming `name`:line and what to do.
std::vector<SuiteCase> read_cases(std::string_view text, std::string_view name);

// The file itself; named by its path.
std::vector<SuiteCase> read_case_file(const std::filesystem::path& file);

// Every *.cases under conformance/ and regressions/ of the `suites` folder, in the order of their names.
std::vector<SuiteCase> pinned_cases(const std::filesystem::path& suites);

// Spreads them over all operator versions and types, whatever is selected, and keeps the selected ones: a part is what
// the whole suite of that seed and number has of it. About an eighth are near misses, taking turns through every
// constraint that can be broken alone. `left_out`: gains what kept drawn cases outside the profile of the
// request.
std::vector<SuiteCase> generated_cases(const SuiteRequest& request, std::map<std::string, Int>* left_out = nullptr);

// Pinned and generated together, each line once. The abridged suite pays no heed to seed and number of the request.
// Under a profile the cases are spelt out, and those that lie within it stay; as many are generated as of the whole.
// Throws InputError where nothing is left.
Suite plan(const std::filesystem::path& suites, const SuiteRequest& request);

// SHA-256 over the sorted lines of each version, with their expectations.
std::map<OpVersion, std::string> version_hashes(const std::vector<SuiteCase>& cases);
// SHA-256 over those: a version that is added or changed leaves the others' alone.
std::string suite_hash(const std::vector<SuiteCase>& cases);

}  // namespace assay::suites
