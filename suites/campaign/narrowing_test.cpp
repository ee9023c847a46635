// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/narrowing.h"

#include "suites/workers/vector_folder.h"

#include <catch2/catch.hpp>

#include <cstdlib>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

const char* const pool = "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2";
const char* const strided = "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 strides=2";
const char* const conv = "Conv-11 opset=11 ir=8 X=f16[1,1,4]~iota:1 W=f16[1,1,2]~const:1";

Suite suite() { return suite_of({pool, strided, conv}, "here", {}); }

Lines lines(const Suite& suite) {
  Lines all;
  for (const SuiteCase& each : suite.cases) all.push_back(each.line);
  return all;
}

Predicate predicate(const char* text) { return *parse_predicate(text); }

class File {
 public:
  explicit File(const std::string& text) {
    std::string name = (fs::temp_directory_path() / "assay-report-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    folder_ = name;
    write_file(path(), text);
  }
  ~File() { fs::remove_all(folder_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  fs::path path() const { return folder_ / "report.json"; }

 private:
  fs::path folder_;
};

std::string verdict(const char* line, const char* state, const char* marks = "") {
  return R"({"line":")" + std::string(line) + R"(","state":")" + state + "\"" + marks + "}";
}

}  // namespace

TEST_CASE("A filter keeps the cases it holds for, and says that it is a part", "[narrowing]") {
  CHECK(lines(narrowed(suite(), predicate("any(strides) > 1"))) == Lines{strided});
  CHECK(lines(narrowed(suite(), predicate("type(X) == f16"))) == Lines{conv});
  CHECK(lines(narrowed(suite(), predicate("auto_pad == VALID"))).empty());
  const Suite part = narrowed(suite(), predicate("any(strides) > 1"));
  CHECK_FALSE(part.complete);
  CHECK(part.hash != suite().hash);
  CHECK_THROWS_AS(narrowed(suite(), predicate("stridez == 1")), InputError);
}

TEST_CASE("What broke conformance in a report is run again, each line once", "[narrowing]") {
  const File file(R"({"schema":1,"verdicts":[)" + verdict(pool, "pass") + "," + verdict(strided, "fail") + "," +
                  verdict(conv, "contested") + "," + verdict(pool, "pass", R"(,"marks":[{"breaches":true}])") + "]}");
  CHECK(failed_lines(file.path(), false) == Lines{strided, pool});
  CHECK(failed_lines(file.path(), true) == Lines{strided, conv, pool});
  const Suite again = suite_of({strided, pool, strided}, "report.json", {});
  CHECK(lines(again) == Lines{strided, pool});
  CHECK(again.cases.front().origin == "report.json");
  CHECK_FALSE(again.complete);
  CHECK(lines(suite_of({strided, conv}, "", {{"Conv"}, {}})) == Lines{conv});
}

TEST_CASE("So is what a campaign found", "[narrowing]") {
  const File file(R"({"schema":1,"kind":"fuzz","failures":[)" + verdict(strided, "error") + R"(],"marked":[)" +
                  verdict(pool, "pass", R"(,"marks":[{"breaches":true}])") + "]}");
  CHECK(failed_lines(file.path(), false) == Lines{strided, pool});
}

TEST_CASE("A file that is no report is refused", "[narrowing]") {
  for (const char* text : {"", "{}", "[]", R"({"schema":1})", R"({"schema":2,"verdicts":[]})",
                           R"({"schema":1,"verdicts":[{"line":"x","state":"odd"}]})"})
    CHECK_THROWS_WITH(failed_lines(File(text).path(), false), Catch::Contains("is no report"));
  CHECK_THROWS_AS(failed_lines("no/such/report.json", false), InputError);
  CHECK_THROWS_WITH(suite_of({"Conv-99"}, "x.json", {}), Catch::StartsWith("x.json: "));
}

}  // namespace assay::suites
