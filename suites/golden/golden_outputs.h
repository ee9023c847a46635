// SPDX-License-Identifier: Apache-2.0
// The answers to golden vectors, brought back from wherever the models ran:
//
//   test_conv_11_0a1b2c3d4e5f6071/
//     test_data_set_0/  output_0.pb | output_0.npy      one TensorProto, or one array of numpy's (npy.h)
//     test_data_set_1/  …                               every data set, in one session
//     or instead of outputs one of
//     refused.txt       the model was turned away, and why
//     unsupported.txt   the runtime says that it has no implementation, and what it says
//     error.txt         "crashed: …", "timed out: …", "out of memory: …" or "garbled: …"; other words read as crashed
//   backend.json        the line with which a worker of tools/backends/README.md describes itself; may be left out
//
// A case of which nothing is there ends as `error`, `missing`.
#pragma once

#include "suites/planning/suite.h"
#include "suites/workers/backend.h"
#include "suites/workers/vector_folder.h"

#include <filesystem>
#include <set>

namespace assay::suites {

inline constexpr std::string_view description_file = "backend.json";

// Throws InputError where the folder cannot be written.
void save_outcome(const std::filesystem::path& root, const SuiteCase& planned, const oracles::Outcome& outcome);
void save_description(const std::filesystem::path& root, const Description& description);

// What is there of one case, and every file that is not as above.
struct RecordedAnswers {
  oracles::Outcome outcome;
  std::vector<FileProblem> problems;
};
// Says what was run: the name of its folder, the types of its outputs (the last is that of all that follow; none where
// no rule says), and on how many data sets.
struct Recording {
  std::string name;
  std::vector<DType> types;
  int sets = data_sets;
};
RecordedAnswers saved_outcome(const std::filesystem::path& root, Recording recording);
RecordedAnswers saved_outcome(const std::filesystem::path& root, const SuiteCase& planned);

// Throws InputError where it is no description.
Description saved_description(const std::filesystem::path& root);

// Finds what lies in the folder and is called as none of these.
std::vector<FileProblem> strangers(const std::filesystem::path& root, std::set<std::string> names);

// The saved answers as a backend, so that they are judged on the road of every other.
class RecordedBackend final : public Backend {
 public:
  // `suite` has to outlive it.
  RecordedBackend(std::filesystem::path root, const Suite& suite, Description description);
  const Description& describe() override { return description_; }
  std::string isolation() const override { return "answers from files"; }
  void submit(const Request& request) override { requested_ = request.id; }
  oracles::Outcome answer() override;

 private:
  std::filesystem::path root_;
  std::map<std::string, const SuiteCase*> cases_;  // by id
  Description description_;
  std::string requested_;
};

}  // namespace assay::suites
