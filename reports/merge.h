// SPDX-License-Identifier: Apache-2.0
// Merge: the fuzz reports of all shards of a campaign as the report that one machine would have written. Each shard has
// looked at the first failures of each signature that it saw; so the first ones of all shards are among them.
#pragma once

#include "suites/triage/causes.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace assay::reports {

struct ShardReport {
  std::string file;
  nlohmann::ordered_json report;
};
// Throws InputError for what is no report of `fuzz`.
ShardReport read_shard_report(const std::filesystem::path& file);

// Throws InputError where they are not of one campaign, are not all its shards, or one of them is not complete.
nlohmann::ordered_json merged(const std::vector<ShardReport>& shards, std::span<const suites::WrongModel> models);

// As `write_json` of a FuzzReport does.
void write_json(const nlohmann::ordered_json& report, std::ostream& out);
void write_causes(const nlohmann::ordered_json& report, std::ostream& out);

}  // namespace assay::reports
