// SPDX-License-Identifier: Apache-2.0
#include "suites/planning/shard.h"

#include "reference/result.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <map>
#include <string>

using namespace assay;
using namespace assay::suites;

namespace {

constexpr const char* variables[] = {"SLURM_ARRAY_TASK_ID",   "SLURM_ARRAY_TASK_MIN",   "SLURM_ARRAY_TASK_MAX",
                                     "SLURM_ARRAY_TASK_STEP", "SLURM_ARRAY_TASK_COUNT", "JOB_COMPLETION_INDEX",
                                     "ASSAY_SHARDS",          "CI_NODE_INDEX",          "CI_NODE_TOTAL"};

// Of these variables only what is named is set, until the end of the scope.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& values) {
    for (const char* variable : variables) {
      if (const char* given = std::getenv(variable)) before_[variable] = given;
      ::unsetenv(variable);
    }
    for (const auto& [variable, value] : values) ::setenv(variable.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const char* variable : variables) ::unsetenv(variable);
    for (const auto& [variable, value] : before_) ::setenv(variable.c_str(), value.c_str(), 1);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::map<std::string, std::string> before_;
};

std::string automatic(const std::map<std::string, std::string>& values) {
  const Environment environment(values);
  return text(shard_named("auto"));
}

std::string complaint(const std::map<std::string, std::string>& values) {
  try {
    return "no complaint, but " + automatic(values);
  } catch (const InputError& error) {
    return error.what();
  }
}

std::map<std::string, std::string> slurm(int id, int first, int last, int step, int count) {
  return {{"SLURM_ARRAY_TASK_ID", std::to_string(id)},
          {"SLURM_ARRAY_TASK_MIN", std::to_string(first)},
          {"SLURM_ARRAY_TASK_MAX", std::to_string(last)},
          {"SLURM_ARRAY_TASK_STEP", std::to_string(step)},
          {"SLURM_ARRAY_TASK_COUNT", std::to_string(count)}};
}

}  // namespace

TEST_CASE("shard: every index is in exactly one of the shards", "[shard]") {
  for (std::uint64_t count : {1, 2, 3, 8})
    for (std::uint64_t index = 0; index < 50; ++index) {
      int holders = 0;
      for (std::uint64_t number = 1; number <= count; ++number) holders += Shard{number, count}.holds(index) ? 1 : 0;
      CHECK(holders == 1);
    }
}

TEST_CASE("shard: a word names one of several, counted from 1", "[shard]") {
  CHECK(text(shard_named("2/8")) == "2/8");
  CHECK(text(shard_named("1/1")) == "1/1");
  for (const char* word : {"", "2", "/", "2/", "/8", "0/8", "9/8", "-1/8", "+1/8", "1/8 ", "1/8/2", "1/0", "x/8",
                           "1/99999999999999999999"}) {
    CAPTURE(word);
    CHECK_THROWS_AS(shard_named(word), InputError);
  }
}

TEST_CASE("shard auto: the ids of a Slurm array may begin anywhere and go by a step", "[shard]") {
  CHECK(automatic(slurm(1, 1, 8, 1, 8)) == "1/8");
  CHECK(automatic(slurm(8, 1, 8, 1, 8)) == "8/8");
  CHECK(automatic(slurm(0, 0, 7, 1, 8)) == "1/8");
  CHECK(automatic(slurm(7, 0, 7, 1, 8)) == "8/8");
  CHECK(automatic(slurm(10, 10, 13, 1, 4)) == "1/4");
  CHECK(automatic(slurm(4, 0, 14, 2, 8)) == "3/8");
  auto without_step = slurm(3, 1, 8, 1, 8);
  without_step.erase("SLURM_ARRAY_TASK_STEP");
  CHECK(automatic(without_step) == "3/8");
}

TEST_CASE("shard auto: a Slurm array with gaps is turned away by each of its tasks", "[shard]") {
  for (int id : {1, 3, 7}) {  // --array=1,3,7
    CAPTURE(id);
    CHECK_THAT(complaint(slurm(id, 1, 7, 1, 3)), Catch::Contains("gaps"));
  }
  CHECK_THAT(complaint(slurm(3, 0, 14, 2, 8)), Catch::Contains("gaps"));
  CHECK_THAT(complaint(slurm(0, 1, 8, 1, 8)), Catch::Contains("gaps"));
  CHECK_THAT(complaint(slurm(1, 1, 8, 0, 8)), Catch::Contains("gaps"));
}

TEST_CASE("shard auto: one task of an array, submitted again, is not taken for the whole", "[shard]") {
  auto again = slurm(3, 3, 3, 1, 1);
  CHECK(automatic(again) == "1/1");  // nothing says otherwise
  again["ASSAY_SHARDS"] = "8";
  CHECK_THAT(complaint(again), Catch::Contains("ASSAY_SHARDS of 8"));
  auto whole = slurm(3, 1, 8, 1, 8);
  whole["ASSAY_SHARDS"] = "8";
  CHECK(automatic(whole) == "3/8");
}

TEST_CASE("shard auto: Slurm without a count or a number is told so", "[shard]") {
  for (const char* variable : {"SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT"}) {
    auto values = slurm(1, 1, 8, 1, 8);
    values.erase(variable);
    CHECK_THAT(complaint(values), Catch::Contains(std::string(variable) + " is not set"));
    values[variable] = "many";
    CHECK_THAT(complaint(values), Catch::Contains(std::string(variable) + " is 'many'"));
  }
}

TEST_CASE("shard auto: Kubernetes counts from 0, and ASSAY_SHARDS says how many", "[shard]") {
  CHECK(automatic({{"JOB_COMPLETION_INDEX", "0"}, {"ASSAY_SHARDS", "8"}}) == "1/8");
  CHECK(automatic({{"JOB_COMPLETION_INDEX", "7"}, {"ASSAY_SHARDS", "8"}}) == "8/8");
  CHECK_THAT(complaint({{"JOB_COMPLETION_INDEX", "0"}}), Catch::Contains("ASSAY_SHARDS is not set"));
  CHECK_THAT(complaint({{"JOB_COMPLETION_INDEX", "8"}, {"ASSAY_SHARDS", "8"}}), Catch::Contains("completions"));
  CHECK_THAT(complaint({{"JOB_COMPLETION_INDEX", "18446744073709551615"}, {"ASSAY_SHARDS", "8"}}),
             Catch::Contains("completions"));
}

TEST_CASE("shard auto: GitLab counts from 1", "[shard]") {
  CHECK(automatic({{"CI_NODE_INDEX", "1"}, {"CI_NODE_TOTAL", "4"}}) == "1/4");
  CHECK(automatic({{"CI_NODE_INDEX", "4"}, {"CI_NODE_TOTAL", "4"}}) == "4/4");
  CHECK_THAT(complaint({{"CI_NODE_INDEX", "1"}}), Catch::Contains("CI_NODE_TOTAL is not set"));
  CHECK_THAT(complaint({{"CI_NODE_INDEX", "0"}, {"CI_NODE_TOTAL", "4"}}), Catch::Contains("from 1 to n"));
  CHECK_THAT(complaint({{"CI_NODE_INDEX", "5"}, {"CI_NODE_TOTAL", "4"}}), Catch::Contains("from 1 to n"));
  CHECK_THAT(complaint({{"CI_NODE_INDEX", "1"}, {"CI_NODE_TOTAL", "4"}, {"ASSAY_SHARDS", "8"}}),
             Catch::Contains("ASSAY_SHARDS of 8"));
}

TEST_CASE("shard auto: nowhere in particular there is nothing to read", "[shard]") {
  CHECK_THAT(complaint({}), Catch::Contains("write --shard 2/8"));
}
