// SPDX-License-Identifier: Apache-2.0
// Difference: two reports case by case. Compared are the cases that both of them have; the others are counted.
#pragma once

#include "reference/number.h"
#include "reports/render.h"

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace assay::reports {

// In the order in which they are told. A case has one kind: the first that fits.
enum class ChangeKind { broken, worse, lost, fixed, better, gained, reading, level_down, level_up, otherwise };
inline constexpr int kinds = 10;
std::string_view name(ChangeKind kind);  // "level down"

struct CaseChange {
  ChangeKind kind = ChangeKind::otherwise;
  std::string id, op, line;
  std::string before, after;  // "pass L0", "fail (value)"
  std::string detail;         // of the later verdict where it has one
  std::string replay;         // of the side that breaks
};

struct VersionChange {
  std::string op, before, after;  // "conforms L0 41/41"; empty where the report has no such version
  std::map<ChangeKind, Int> counts;
  bool is_worse = false;  // it no longer conforms, or cases that pass on both sides have a weaker level now
};

struct Difference {
  std::string before, after;         // backend, configuration and tool of either side
  std::vector<std::string> remarks;  // what makes the two less comparable, the gravest first
  std::map<ChangeKind, Int> counts;
  std::vector<VersionChange> versions;
  std::vector<CaseChange> cases;
  Int common = 0, fresh = 0, gone = 0;

  bool is_worse() const;  // something broke, got worse or was lost, or a version stands worse
};

// Of two certificates: by case. Of two campaigns: by what failures look like.
Difference difference(const Rendering& reports);  // from `baseline` to `report`

// Throws InputError where one is no report, or where they are of different kinds.
Difference read_difference(const std::string& before, const std::string& after);

void write_text(const Difference& difference, std::ostream& out);
void write_markdown(const Difference& difference, std::ostream& out);
void write_json(const Difference& difference, std::ostream& out);

}  // namespace assay::reports
