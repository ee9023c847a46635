// SPDX-License-Identifier: Apache-2.0
// Shard: which part of a campaign a machine runs. All shards together run every index, and no two the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::suites {

// Every count-th index.
struct Shard {
  std::uint64_t number = 1, count = 1;  // 1 to count
  bool holds(std::uint64_t index) const { return index % count == number - 1; }
};
std::string text(const Shard& shard);  // "2/8"

// "2/8"; "auto" is what a service that runs many says of itself: SLURM_ARRAY_TASK_ID with _MIN, _MAX, _STEP and _COUNT,
// JOB_COMPLETION_INDEX (Kubernetes, which does not say how many there are) with ASSAY_SHARDS, or CI_NODE_INDEX with
// CI_NODE_TOTAL (GitLab). ASSAY_SHARDS is held against the others where it is set: a part of an array that is submitted
// again would be taken for the whole. Throws InputError.
Shard shard_named(std::string_view word);

}  // namespace assay::suites
