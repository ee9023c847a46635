// SPDX-License-Identifier: Apache-2.0
// Baseline: the breaches an earlier report of the same backend knows. A run against it fails on what is new only.
#pragma once

#include "suites/expectations/ledger.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

struct Baseline {
  std::string file, hash;                            // SHA-256 of its bytes
  std::map<std::string, std::set<Breach>> breaches;  // by the id of the case; empty where the case did not breach
  std::set<std::string> signatures;                  // of a fuzz report: what its failures looked like

  // Tells whether a failure of a fuzz campaign is one of these, or looks like one.
  bool knows(std::string_view line, const std::string& signature, const Breach& breach) const;
};

// From a report of certify or of fuzz (reports/*.schema.json). Throws InputError with what to do.
Baseline parse_baseline(std::string_view json, std::string_view name);
Baseline read_baseline(const std::filesystem::path& file);

struct BaselineComparison {
  std::vector<std::set<Breach>> known;  // by index of the suite: breaches of now that the baseline has as well
  Int fresh = 0, repeated = 0;          // breaches that are new, and that are known
  Int not_requested = 0;                // cases of now that the baseline did not reach
  std::vector<std::size_t> fixed;       // indices of cases that breached then and do not now

  bool excuses(std::size_t index, std::string_view word) const;
};

// A breach is known where the same case had the same state for the same cause. Contested counts under `strict` only.
enum class Measure { lenient, strict };
BaselineComparison compare(const Baseline& baseline, const Suite& suite, const Campaign& campaign, Measure measure);

}  // namespace assay::suites
