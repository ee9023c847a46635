// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/finding_folder.h"

#include "reference/onnx_io.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;

// A folder that goes away with the test.
class Temporary {
 public:
  Temporary() {
    std::string pattern = (fs::temp_directory_path() / "assay-finding-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw InputError("no temporary folder");
    path = pattern;
  }
  ~Temporary() { fs::remove_all(path); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  fs::path path;
};

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

void put(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::map<std::string, std::string> all_files(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[fs::relative(entry.path(), folder).string()] = contents(entry.path());
  return files;
}

// The averages 1.5 2.5 3.5, the last of them given as 0.
Finding wrong_average() {
  const Case c = *parse_case("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2");
  Answered answered;
  for (const float sign : {1.0F, -1.0F}) {
    Tensor y({DType::f32, {1, 1, 3}});
    std::ranges::copy(std::vector{1.5F * sign, 2.5F * sign, 0.0F}, y.as<float>().begin());
    answered.outcome.sets.push_back({y});
  }
  answered.verdict = oracles::judge(c, answered.outcome);
  return finding_of(c, "seed 1: AveragePool-19 f32 #3", std::move(answered), {});
}

Provenance provenance() {
  Provenance p;
  p.tool_version = "0.1.0";
  p.backend = "mine";
  p.description.backend = "mine";
  p.description.version = "2";
  return p;
}

std::string refusal(const fs::path& folder) {
  const Result<SuiteCase> read = read_finding(folder);
  REQUIRE_FALSE(read);
  CHECK(read.error().find('\n') == std::string::npos);
  return read.error();
}

}  // namespace

TEST_CASE("A finding is a folder of ONNX's backend tests, with the right answer in it", "[finding]") {
  const Temporary here;
  write_finding(here.path / "a", wrong_average(), provenance());
  const std::map<std::string, std::string> files = all_files(here.path / "a");
  std::string names;
  for (const auto& [name, bytes] : files) names += name + " ";
  CHECK(names ==
        "ISSUE.md README.md finding.json model.onnx test_data_set_0/input_0.pb test_data_set_0/output_0.pb "
        "test_data_set_1/input_0.pb "
        "test_data_set_1/output_0.pb ");
  const Result<Tensor> right = decode_tensor(files.at("test_data_set_0/output_0.pb"));
  REQUIRE(right);
  CHECK(std::ranges::equal(right->as<float>(), std::vector{1.5F, 2.5F, 3.5F}));
  const auto json = nlohmann::json::parse(files.at("finding.json"));
  CHECK(json.at("verdict").at("state") == "fail");
  CHECK(json.at("verdict").at("evidence").at("want") == "0x1.cp+1");
  CHECK(json.at("origin") == "seed 1: AveragePool-19 f32 #3");
  CHECK(json.at("signature") == "AveragePool-19 fail value zero in the last window");
}

TEST_CASE("The same finding is the same bytes, and reads back as its line", "[finding]") {
  const Temporary here;
  const Finding finding = wrong_average();
  write_finding(here.path / "a", finding, provenance());
  write_finding(here.path / "b", finding, provenance());
  write_finding(here.path / "b", finding, provenance());
  CHECK(all_files(here.path / "a") == all_files(here.path / "b"));
  const Result<SuiteCase> read = read_finding(here.path / "a");
  REQUIRE(read);
  CHECK(read->line == finding.line);
  CHECK(read->c == finding.c);
  CHECK(folder_name(finding) == "AveragePool-19-fail-value-" + case_id(finding.line).substr(0, 12));
}

TEST_CASE("A finding that does not come again says so wherever it is told", "[finding]") {
  const Temporary here;
  Finding finding = wrong_average();
  write_finding(here.path / "steady", finding, provenance());
  finding.comes_again = false;
  write_finding(here.path / "unstable", finding, provenance());
  for (const char* file : {"README.md", "ISSUE.md"}) {
    CHECK(contents(here.path / "steady" / file).find("does not end alike every time") == std::string::npos);
    CHECK(contents(here.path / "unstable" / file).find("does not end alike every time") != std::string::npos);
  }
  CHECK(contents(here.path / "unstable/finding.json").find("\"comes_again\": false") != std::string::npos);
}

TEST_CASE("A folder from a stranger is refused in one line", "[finding]") {
  const Temporary here;
  const fs::path folder = here.path / "a", json = folder / "finding.json";
  CHECK(refusal(here.path / "nothing").find("finding.json is missing") != std::string::npos);
  write_finding(folder, wrong_average(), provenance());
  const std::string good = contents(json), model = contents(folder / "model.onnx");

  for (const std::string& bad : {std::string("{"), std::string("[1]"), std::string("{\"line\":7}"), std::string(),
                                 std::string(100'000, '['), std::string("\0\xff", 2)}) {
    put(json, bad);
    CHECK(refusal(folder).find("\"line\"") != std::string::npos);
  }
  put(json, "{\"line\":\"Conv-11 opset=99\"}");
  CHECK(refusal(folder).find("opset 99") != std::string::npos);
  put(json, std::string((1 << 20) + 1, ' '));
  CHECK(refusal(folder).find("too large") != std::string::npos);
  put(json, good);
  put(folder / "model.onnx", model + "x");
  CHECK(refusal(folder).find("is not the model") != std::string::npos);
  fs::remove(folder / "model.onnx");
  CHECK(refusal(folder).find("model.onnx is missing") != std::string::npos);
  fs::create_directory(folder / "model.onnx");
  CHECK(refusal(folder).find("model.onnx is no regular file") != std::string::npos);
}

TEST_CASE("A model that breaks a constraint has no right answer to write", "[finding]") {
  const Temporary here;
  const Case c = *parse_case("Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~iota:1 group=2");
  Answered answered{oracles::Outcome::failure(oracles::Outcome::Kind::crashed, "signal 11"), {}};
  answered.verdict = oracles::judge(c, answered.outcome);
  write_finding(here.path / "a", finding_of(c, "", std::move(answered), {}), provenance());
  CHECK_FALSE(all_files(here.path / "a").contains("test_data_set_0/output_0.pb"));
  CHECK(read_finding(here.path / "a"));
}

}  // namespace assay::suites
