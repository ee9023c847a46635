// SPDX-License-Identifier: Apache-2.0
// Coverage: what of the space of cases a set of them reaches. Per operator version the 2-way table over every
// feature (generators/features.h) and the class of the case, the constraints broken alone, the rulings touched and the
// readings followed. It is a function of the set: no order, and shards merge into the whole.
#pragma once

#include "oracles/judging/case_class.h"
#include "reference/case.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay::suites {

// Where a legal case lies: the cells of its version, by number, one per dimension that has it.
struct CoverageValues {
  OpVersion version;
  std::vector<int> values;
  std::vector<std::string> touched;  // rulings
};
CoverageValues aspects_of(const Case& legal);
CoverageValues aspects_of(const Case& legal, const oracles::Classification& nature);

// What one dimension may be, and of two of them how many pairs of values were covered.
struct CoveredDimension {
  std::string name;
  std::vector<std::string> values;
  bool operator==(const CoveredDimension&) const = default;
};
struct CoveredPairs {
  Int seen = 0, possible = 0;
  bool operator==(const CoveredPairs&) const = default;
};

// What a reader is told of one operator version.
struct CoverageRow {
  OpVersion version;
  Int legal = 0, near_misses = 0;               // cases
  Int seen = 0, possible = 0;                   // pairs of values
  std::vector<std::string> unseen_values;       // "pads: all 0"; each leaves its pairs unseen
  std::vector<std::string> unseen_pairs;        // of seen values: "strides: different, rank: 2"; the likeliest first
  Int unseen_left_out = 0;                      // pairs beyond those listed
  std::vector<std::string> broken, unbroken;    // constraints broken alone, and not though they can be
  std::vector<std::string> touched, untouched;  // rulings with several readings
  std::map<std::string, std::set<std::string>> followed;  // ruling -> readings a backend followed
  std::vector<CoveredDimension> dimensions;
  std::vector<CoveredPairs> by_dimension;  // of dimensions a < b: (0,1), (0,2), …, (1,2), …
  // All of it, to merge: cases with each value, and a bit per possible pair in hexadecimal, in the order of the table.
  std::vector<Int> values;
  std::string pairs;
  bool operator==(const CoverageRow&) const = default;
};
struct CoverageTable {
  std::vector<CoverageRow> rows;  // of the versions with a case, in the order of the operators
  bool operator==(const CoverageTable&) const = default;
};

class Coverage {
 public:
  // Works a case out: legal or a near miss.
  void add(const Case& c);
  void add(const Case& c, const oracles::Classification& nature);
  void add(const CoverageValues& aspects);
  void follow(const OpVersion& version, const std::string& ruling, const std::string& reading);
  void merge(const Coverage& other);

  // How many pairs of a case are in no case yet.
  std::size_t gain(const CoverageValues& aspects) const;
  Int pairs_seen() const;
  // What a table tells of. Throws std::invalid_argument where it is not of these operators.
  static Coverage of(const CoverageTable& table);
  CoverageTable table(std::size_t most_unseen = 20) const;

 private:
  struct Version {
    Int legal = 0, near_misses = 0;
    std::vector<Int> values;  // cases with each value
    std::vector<bool> pairs;
    std::set<std::string> broken, touched;
    std::map<std::string, std::set<std::string>> followed;
  };
  static void tell_pairs(CoverageRow& row, const Version& own, std::size_t most_unseen);
  Version& version(const OpVersion& named);
  std::map<OpVersion, Version> versions_;
};

}  // namespace assay::suites
