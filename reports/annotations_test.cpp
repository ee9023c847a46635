// SPDX-License-Identifier: Apache-2.0
#include "reports/annotations.h"

#include <catch2/catch.hpp>

#include <sstream>

namespace assay::reports {
namespace {

using oracles::State;

oracles::Verdict wrong(const std::string& because, const std::string& detail) {
  oracles::Verdict verdict;
  verdict.state = State::fail;
  verdict.because = because;
  verdict.detail = detail;
  return verdict;
}

// One failing case per cause.
Report failing(const std::vector<std::string>& causes, const std::string& detail) {
  suites::Suite suite;
  suites::Campaign campaign;
  campaign.backend.backend = "example";
  for (std::size_t i = 0; i < causes.size(); ++i) {
    const std::string line =
        "AveragePool-19 opset=19 ir=8 X=f32[1,1," + std::to_string(i + 4) + "]~iota:1 kernel_shape=2";
    suite.cases.push_back(suites::read_cases(line, "example").front());
    campaign.verdicts.emplace_back(wrong(causes[i], detail));
    campaign.marks.emplace_back();
  }
  Invocation invocation;
  invocation.backend = "example";
  return report(std::move(suite), std::move(campaign), std::move(invocation), {"2026-01-01T00:00:00Z", 1.5, 2, "any"});
}

std::vector<std::string> lines(const Report& report) {
  std::stringstream out;
  write_annotations(report, "dir/mine.json", out);
  std::vector<std::string> all;
  for (std::string line; std::getline(out, line);) all.push_back(line);
  return all;
}

TEST_CASE("annotations: an error with file, title and how to replay it, and a notice that concludes", "[annotations]") {
  const auto all = lines(failing({"shape"}, "shape [1,1,3] instead of [1,1,4]"));
  REQUIRE(all.size() == 2);
  CHECK(all[0] ==
        "::error file=dir/mine.json,title=FAIL AveragePool-19%3A shape::shape [1,1,3] instead of [1,1,4]%0A"
        "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2%0A"
        "replay: assay replay --backend example 'AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2'");
  CHECK_THAT(all[1], Catch::StartsWith("::notice file=dir/mine.json,title=assay%3A example::not conforming: 1 fail"));
}

TEST_CASE("annotations: a backend's words cannot start a command or end a property", "[annotations]") {
  const std::string hostile = "x\n::set-output name=a::b\r\n::error file=y,line=1::z%0A::add-mask::%";
  for (const std::string& line : lines(failing({hostile}, hostile))) {
    CHECK((line.starts_with("::error file=dir/mine.json,title=") || line.starts_with("::notice file=dir/mine.json,")));
    const std::string title = line.substr(line.find("title=") + 6, line.find("::", 2) - line.find("title=") - 6);
    CHECK(title.find_first_of(",:\r\n") == std::string::npos);
    CHECK_THAT(line, !Catch::Contains("\r") && !Catch::Contains("%0A::"));
  }
  CHECK(annotation("error", "a,b:c", "t,u:v%", "m\r\n::x::%0A") ==
        "::error file=a%2Cb%3Ac,title=t%2Cu%3Av%25::m%0D%0A::x::%250A\n");
}

TEST_CASE("annotations: no more errors than are shown, and the last one says how many are left", "[annotations]") {
  std::vector<std::string> causes;
  for (int i = 0; i < 23; ++i) causes.push_back("cause " + std::string(static_cast<std::size_t>(i), 'x'));
  const auto all = lines(failing(causes, "d"));
  CHECK(all.size() == most_annotations + 1);
  CHECK(all[most_annotations - 1] ==
        "::error file=dir/mine.json,title=14 more kinds of breach::the log and the report have them");
  causes.resize(10);
  CHECK_THAT(lines(failing(causes, "d"))[9], Catch::Contains("FAIL"));
}

TEST_CASE("annotations: what is printed in between is not heeded, under a word nobody can know", "[annotations]") {
  std::stringstream out;
  for (int i = 0; i < 2; ++i) {
    const Unheeded unheeded(out);
    out << "::error::not me\n";
  }
  std::vector<std::string> all;
  for (std::string line; std::getline(out, line);) all.push_back(line);
  REQUIRE(all.size() == 6);
  CHECK_THAT(all[0], Catch::StartsWith("::stop-commands::assay-"));
  CHECK(all[2] == "::" + all[0].substr(17) + "::");
  CHECK(all[0] != all[3]);
  CHECK(all[0].size() >= 17 + 32);
}

}  // namespace
}  // namespace assay::reports
