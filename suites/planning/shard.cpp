// SPDX-License-Identifier: Apache-2.0
#include "suites/planning/shard.h"

#include "reference/result.h"

#include <charconv>
#include <cstdlib>
#include <optional>

namespace assay::suites {
namespace {

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::uint64_t number_in(const char* variable) {
  const char* given = std::getenv(variable);
  if (const auto number = number_of(given ? given : "")) return *number;
  throw InputError(std::string("--shard auto: ") + variable + " is " +
                   (given ? "'" + std::string(given).substr(0, 40) + "'" : "not set") + ", and has to be a number");
}

Shard checked(std::uint64_t number, std::uint64_t count, const std::string& origin) {
  if (number < 1 || number > count) throw InputError(origin + ": a shard is i/n with i from 1 to n, as in 2/8");
  return {number, count};
}

Shard agreed(const Shard& shard, const char* variable) {
  if (is_set("ASSAY_SHARDS"))
    if (const std::uint64_t meant = number_in("ASSAY_SHARDS"); meant != shard.count)
      throw InputError("--shard auto: " + std::string(variable) + " applies to " + std::to_string(shard.count) +
                       " shards and ASSAY_SHARDS of " + std::to_string(meant) +
                       "; run all of them again, or name the one: --shard 2/" + std::to_string(meant));
  return shard;
}

// The ids of an array may begin anywhere and go by a step, but may have no gaps: 1-8, 0-7 or 0-14:2, not 1,3,7.
Shard shard_of_slurm() {
  const std::uint64_t id = number_in("SLURM_ARRAY_TASK_ID"), first = number_in("SLURM_ARRAY_TASK_MIN"),
                      last = number_in("SLURM_ARRAY_TASK_MAX"), count = number_in("SLURM_ARRAY_TASK_COUNT"),
                      step = is_set("SLURM_ARRAY_TASK_STEP") ? number_in("SLURM_ARRAY_TASK_STEP") : 1;
  const bool is_even = step > 0 && first <= id && id <= last && (id - first) % step == 0 &&
                       (last - first) % step == 0 && (last - first) / step + 1 == count;
  if (!is_even)
    throw InputError("--shard auto: the ids of the Slurm array have gaps; submit it with --array=1-8 or the like");
  return agreed({(id - first) / step + 1, count}, "SLURM_ARRAY_TASK_COUNT");
}

Shard shard_of_environment() {
  if (is_set("SLURM_ARRAY_TASK_ID")) return shard_of_slurm();
  if (is_set("JOB_COMPLETION_INDEX")) {  // from 0
    const std::uint64_t count = number_in("ASSAY_SHARDS"), index = number_in("JOB_COMPLETION_INDEX");
    if (index >= count)
      throw InputError("--shard auto: JOB_COMPLETION_INDEX is " + std::to_string(index) + " and ASSAY_SHARDS " +
                       std::to_string(count) + "; ASSAY_SHARDS is the `completions` of the Job");
    return {index + 1, count};
  }
  if (is_set("CI_NODE_INDEX"))  // from 1
    return agreed(checked(number_in("CI_NODE_INDEX"), number_in("CI_NODE_TOTAL"), "--shard auto, CI_NODE_INDEX"),
                  "CI_NODE_TOTAL");
  throw InputError(
      "--shard auto: none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX and CI_NODE_INDEX is set; write --shard 2/8");
}

}  // namespace

std::string text(const Shard& shard) { return std::to_string(shard.number) + "/" + std::to_string(shard.count); }

Shard shard_named(std::string_view word) {
  if (word == "auto") return shard_of_environment();
  const std::string origin = "--shard " + std::string(word.substr(0, 40));
  const std::size_t slash = word.find('/');
  const auto number = number_of(word.substr(0, slash));
  const auto count = slash == word.npos ? std::nullopt : number_of(word.substr(slash + 1));
  if (!number || !count) throw InputError(origin + ": a shard is i/n, as in 2/8, or auto");
  return checked(*number, *count, origin);
}

}  // namespace assay::suites
