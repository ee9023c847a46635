// SPDX-License-Identifier: Apache-2.0
#include "suites/golden/golden_outputs.h"

#include "oracles/judging/expected.h"
#include "reference/sequence.h"
#include "suites/campaign/campaign.h"
#include "suites/golden/golden.h"
#include "suites/sandbox/process.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;
using oracles::Outcome;
using oracles::State;
using Kind = Outcome::Kind;

SuiteCase planned(const std::string& line) { return read_cases(line, "here").front(); }

const SuiteCase& average() {
  static const SuiteCase p = planned("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2");
  return p;
}

Suite suite_of(std::vector<SuiteCase> cases) {
  Suite suite;
  suite.cases = std::move(cases);
  return suite;
}

Outcome right_answers() {
  Outcome outcome;
  for (int set = 0; set < data_sets; ++set) outcome.sets.push_back(*oracles::expected(average().c, set));
  return outcome;
}

// A folder with the right answers to one case.
struct Outputs {
  TemporaryDirectory root;
  std::string name = golden_name(average());
  fs::path at = root.path() / name, file = at / "test_data_set_0" / "output_0.pb";

  Outputs() { save_outcome(root.path(), average(), right_answers()); }

  RecordedAnswers saved() const { return saved_outcome(root.path(), average()); }
  std::string problems() const {
    return joined(saved().problems, "", [](const FileProblem& problem) { return text(problem) + "\n"; });
  }
  std::string verdict() const {
    const oracles::Verdict verdict = oracles::judge(average().c, saved().outcome);
    return std::string(oracles::name(verdict.state)) + " " + verdict.because;
  }
};

// A one-line .npy of version 1.
std::string npy(const std::string& header, std::span<const std::byte> data) {
  std::string bytes = std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header;
  return bytes.append(reinterpret_cast<const char*>(data.data()), data.size());
}

}  // namespace

TEST_CASE("What a backend did comes back from files as it was", "[outputs]") {
  const TemporaryDirectory here;
  std::vector<Outcome> outcomes{right_answers()};
  outcomes.push_back(right_answers());
  outcomes.back().sets[1][0].as<float>()[2] = 7;
  outcomes.push_back(right_answers());
  for (auto& set : outcomes.back().sets) set.push_back(set[0]);
  for (const Kind kind :
       {Kind::unsupported, Kind::refused, Kind::crashed, Kind::timed_out, Kind::out_of_memory, Kind::garbled})
    for (const char* words : {"because", "two\nlines\n", "timed out: indeed", "\xff\x1b[0m"})
      outcomes.push_back(Outcome::failure(kind, words));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const fs::path root = here.path() / std::to_string(i);
    save_outcome(root, average(), outcomes[i]);
    const RecordedAnswers saved = saved_outcome(root, average());
    INFO(i << " " << name(outcomes[i].kind) << " " << outcomes[i].because);
    CHECK(saved.problems.empty());
    CHECK(name(saved.outcome.kind) == name(outcomes[i].kind));
    CHECK(saved.outcome.because == outcomes[i].because);
    CHECK(saved.outcome.sets == outcomes[i].sets);
  }
}

TEST_CASE("Saved answers are judged on the road of every backend", "[outputs]") {
  const Outputs here;
  const SuiteCase second = planned("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=3");
  const Suite suite = suite_of({average(), second});
  save_outcome(here.root.path(), second, Outcome::failure(Kind::refused, "too wide"));
  Description description;
  description.backend = "device";
  description.excludes = {*parse_predicate("any(kernel_shape) > 2")};
  save_description(here.root.path(), description);
  CHECK(strangers(here.root.path(), {here.name, golden_name(second)}).empty());
  RunOptions run_options;
  run_options.presenting = VariantSampling::none;
  const Campaign done = run(
      suite,
      [&]() -> std::unique_ptr<Backend> {
        return std::make_unique<RecordedBackend>(here.root.path(), suite, saved_description(here.root.path()));
      },
      run_options);
  CHECK(done.backend.backend == "device");
  CHECK(done.verdicts[0]->state == State::pass);
  CHECK(done.verdicts[1]->state == State::unsupported);
  CHECK(done.verdicts[1]->because == "declared");
  write_file(here.root.path() / "test_conv_11_0000000000000000" / "refused.txt", "no");
  write_file(here.root.path() / "notes.txt", "no");
  CHECK(strangers(here.root.path(), {here.name, golden_name(second)}).size() == 2);
}

TEST_CASE("Answers as numpy's arrays are answers", "[outputs]") {
  const Outputs here;
  for (int set = 0; set < data_sets; ++set) {
    fs::remove(here.at / data_set_name(set) / "output_0.pb");
    write_file(
        here.at / data_set_name(set) / "output_0.npy",
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 3)}\n", right_answers().sets[set][0].bytes()));
  }
  CHECK(here.problems() == "");
  CHECK(here.saved().outcome.sets == right_answers().sets);
}

// Of each type the right answers, written as numpy and ml_dtypes write them, little- and big-endian, by rows and
// columns.
TEST_CASE("Arrays of 16-bit numbers, of the other order of bytes and of no dimension are judged as what they are",
          "[outputs]") {
  struct Written {
    std::string type, descr;
    bool is_swapped;
    std::string verdict;
  };
  const auto written = GENERATE(values<Written>({{"f16", "<f2", false, "pass "},
                                                 {"f16", ">f2", true, "pass "},
                                                 {"bf16", "<V2", false, "pass "},
                                                 {"bf16", "|V2", false, "pass "},
                                                 {"bf16", "<u2", false, "pass "},
                                                 {"bf16", ">u2", true, "pass "},
                                                 {"f16", "<V2", false, "fail type"},
                                                 {"bf16", "<f2", false, "fail type"},
                                                 {"f32", ">f4", true, "pass "},
                                                 {"f64", ">f8", true, "pass "},
                                                 {"f32", "<i4", false, "fail type"}}));
  const bool is_fortran = GENERATE(false, true);
  INFO(written.type << " as " << written.descr << (is_fortran ? ", by columns" : ""));
  const SuiteCase requested =
      planned("AveragePool-22 opset=22 ir=10 X=" + written.type + "[1,1,4]~iota:1 kernel_shape=2");
  const TemporaryDirectory here;
  for (int set = 0; set < data_sets; ++set) {
    const Tensor right = oracles::expected(requested.c, set)->front();
    std::vector<std::byte> bytes(right.bytes().begin(), right.bytes().end());
    const auto size = static_cast<std::ptrdiff_t>(bytes.size() / 3);
    for (auto at = bytes.begin(); written.is_swapped && at != bytes.end(); at += size) std::reverse(at, at + size);
    write_file(here.path() / golden_name(requested) / data_set_name(set) / "output_0.npy",
               npy("{'descr': '" + written.descr + "', 'fortran_order': " + (is_fortran ? "True" : "False") +
                       ", 'shape': (1, 1, 3), }\n",
                   bytes));
  }
  const RecordedAnswers saved = saved_outcome(here.path(), requested);
  CHECK(saved.problems.empty());
  const oracles::Verdict verdict = oracles::judge(requested.c, saved.outcome);
  CHECK(std::string(oracles::name(verdict.state)) + " " + verdict.because == written.verdict);
}

TEST_CASE("Arrays of the types that numpy does not know are their bits, of the type that the output has", "[outputs]") {
  struct Written {
    std::string type, descr, verdict;
  };
  const auto written = GENERATE(values<Written>({{"u16", "<u2", "pass "},
                                                 {"i16", "<u2", "fail type"},
                                                 {"bool", "|b1", "pass "},
                                                 {"u8", "|u1", "pass "},
                                                 {"f8e5m2", "|V1", "pass "},
                                                 {"f8e4m3fn", "|u1", "pass "},
                                                 {"f8e8m0", "<V1", "pass "},
                                                 {"u4", "<V1", "pass "},
                                                 {"i4", "|u1", "pass "},
                                                 {"f4e2m1", "|V1", "pass "},
                                                 {"i2", "<V1", "pass "},
                                                 {"i4", "|i1", "fail type"}}));
  INFO(written.type << " as " << written.descr);
  const SuiteCase requested = planned("Identity-25 opset=25 ir=13 input=" + written.type + "[3]~bits:1");
  const TemporaryDirectory here;
  const std::string header = "{'descr': '" + written.descr + "', 'fortran_order': False, 'shape': (3,), }\n";
  for (int set = 0; set < data_sets; ++set)
    write_file(here.path() / golden_name(requested) / data_set_name(set) / "output_0.npy",
               npy(header, oracles::expected(requested.c, set)->front().bytes()));
  const RecordedAnswers saved = saved_outcome(here.path(), requested);
  CHECK(saved.problems.empty());
  const oracles::Verdict verdict = oracles::judge(requested.c, saved.outcome);
  CHECK(std::string(oracles::name(verdict.state)) + " " + verdict.because == written.verdict);
}

TEST_CASE("An array without a dimension is an answer of another shape", "[outputs]") {
  const Outputs here;
  fs::remove(here.file);
  const float one = 1;
  write_file(here.at / "test_data_set_0" / "output_0.npy",
             npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", std::as_bytes(std::span(&one, 1))));
  CHECK(here.problems() == "");
  CHECK(here.verdict() == "fail shape");
}

TEST_CASE("No file of an answer is skipped in silence", "[outputs][tampering]") {
  const Outputs here;
  const std::string bytes = *file_contents(here.file, 1 << 20), in = here.name + "/test_data_set_0/";
  REQUIRE(here.verdict() == "pass ");
  SECTION("nothing there") {
    fs::remove_all(here.at);
    CHECK(here.problems() == "missing: " + here.name + "\n");
    CHECK(here.verdict() == "error missing");
    fs::create_directory(here.at);
    CHECK(here.verdict() == "error missing");
  }
  SECTION("one set missing") {
    fs::remove(here.file);
    CHECK(here.problems() == "missing: " + in + "output_0.pb\n");
    CHECK(here.verdict() == "error missing");
  }
  SECTION("misnamed") {
    fs::rename(here.file, here.at / "test_data_set_0" / "Output_0.pb");
    CHECK(here.problems().starts_with("misnamed: " + in + "Output_0.pb"));
    CHECK(here.problems().find("missing: " + in + "output_0.pb") != std::string::npos);
    CHECK(here.verdict() == "error missing");
    fs::rename(here.at / "test_data_set_0", here.at / "test_data_set_00");
    CHECK(here.problems().find("misnamed: " + here.name + "/test_data_set_00") != std::string::npos);
  }
  SECTION("truncated anywhere, or too long") {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      write_file(here.file, bytes.substr(0, size));
      REQUIRE(here.problems().starts_with("damaged: " + in + "output_0.pb"));
      REQUIRE(here.verdict() == "error garbled");
    }
    write_file(here.file, bytes + "x");
    CHECK(here.verdict() == "error garbled");
  }
  SECTION("of another type, of another shape, one too many: that is the backend's doing") {
    write_file(here.file, encode_tensor(fill(*parse_recipe("iota:1"), {DType::f64, {1, 1, 3}}), "Y"));
    CHECK(here.verdict() == "fail type");
    write_file(here.file, encode_tensor(fill(*parse_recipe("iota:1"), {DType::f32, {1, 3}}), "Y"));
    CHECK(here.verdict() == "fail shape");
    write_file(here.file, bytes);
    write_file(here.at / "test_data_set_0" / "output_1.pb", bytes);
    CHECK(here.problems() == "");
    CHECK(here.verdict() == "fail count");
    fs::rename(here.at / "test_data_set_0" / "output_1.pb", here.at / "test_data_set_0" / "output_3.pb");
    CHECK(here.verdict() == "error missing");
  }
  SECTION("two answers at once") {
    write_file(here.at / "refused.txt", "no");
    CHECK(here.problems() == "extra: " + here.name + "/refused.txt: beside another answer; keep one of them\n");
    CHECK(here.verdict() == "error garbled");
    fs::remove(here.at / "refused.txt");
    write_file(here.at / "test_data_set_0" / "output_0.npy", "x");
    CHECK(here.problems().starts_with("extra: " + in + "output_0.npy: beside output_0.pb"));
    CHECK(here.verdict() == "error garbled");
  }
  SECTION("a refusal without a reason, a set nobody asked for") {
    fs::create_directory(here.at / "test_data_set_2");
    CHECK(here.problems() == "extra: " + here.name + "/test_data_set_2: asked were 2 data sets\n");
    CHECK(here.verdict() == "pass ");
    fs::remove_all(here.at);
    write_file(here.at / "refused.txt", "\n");
    CHECK(here.problems() == "damaged: " + here.name + "/refused.txt: it gives no reason\n");
    CHECK(here.verdict() == "error garbled");
  }
  SECTION("links") {
    fs::rename(here.file, here.root.path() / "elsewhere");
    fs::create_symlink(here.root.path() / "elsewhere", here.file);
    CHECK(here.problems() == "unreadable: " + in + "output_0.pb: is a link\n");
    CHECK(here.verdict() == "error garbled");
    fs::rename(here.at, here.root.path() / "there");
    fs::create_directory_symlink(here.root.path() / "there", here.at);
    CHECK(here.problems() == "unreadable: " + here.name + ": is no folder\n");
  }
}

TEST_CASE("A description from a stranger is refused in one line", "[outputs]") {
  const TemporaryDirectory here;
  CHECK(saved_description(here.path()).backend == "unknown");
  write_file(here.path() / "backend.json", "{\"assay\":1}");
  CHECK_THROWS_WITH(saved_description(here.path()), Catch::Contains("\"backend\", its name, is missing"));
  write_file(here.path() / "backend.json", "{\"assay\":1,\"backend\":\"x\",\"capabilities\":{\"answers\":\"shapes\"}}");
  CHECK_THROWS_WITH(saved_description(here.path()), Catch::Contains("brings back no outputs"));
  fs::remove(here.path() / "backend.json");
  fs::create_symlink("/dev/zero", here.path() / "backend.json");
  CHECK_THROWS_WITH(saved_description(here.path()), Catch::Contains("is a link"));
}

}  // namespace assay::suites
