// SPDX-License-Identifier: Apache-2.0
// Ledger: the breaches somebody expects of a backend and stands for, until a date. Waivers and lists of known failures
// are this one format (ledger.schema.json) and this one engine.
#pragma once

#include "suites/campaign/campaign.h"
#include "suites/planning/suite.h"
#include "suites/predicates/predicate.h"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

using Date = std::chrono::year_month_day;
std::optional<Date> date_named(std::string_view text);  // "2027-06-30", a day that exists
std::string text(Date date);
Date today();  // UTC

// One way in which a case does not conform: a state with its cause, or a mark with what showed it.
struct Breach {
  std::string word, because;  // "fail", "shape"; "unstable", "repeated"
  auto operator<=>(const Breach&) const = default;
};
// Contested counts as well; whether it does is for the measure of the run to say.
std::vector<Breach> breaches(const oracles::Verdict& verdict, const std::vector<Mark>& marks);

struct Entry {
  std::string id;
  std::vector<const Definition*> versions;
  Predicate when;
  std::set<std::string> states;   // the words of the breaches it expects
  std::set<std::string> because;  // of these causes; empty: of any
  std::string reason, link, owner;
  Date expires;

  bool meets(const Case& c) const;                           // is about this case
  bool expects(const Breach& breach) const;                  // describes this breach
  bool is_expired(Date day) const { return expires < day; }  // the last day still counts
};

struct Ledger {
  std::string file, hash;  // SHA-256 of its bytes
  std::vector<Entry> entries;
};

// Throws InputError: one line with the entry, the column of a predicate, and what to do. A draft is refused until
// somebody has written its reason, its link and its owner.
Ledger parse_ledger(std::string_view json, std::string_view name);
Ledger read_ledger(const std::filesystem::path& file);

// Entries that are not in their draft state have none of these beginnings.
inline constexpr std::string_view to_do = "TODO";

// xfail: a breach that an entry expects. xpass: a case that an entry expects to break, and every such case passes.
struct Expectation {
  enum class Kind { xfail, xpass };
  Kind kind = Kind::xfail;
  std::string entry;
  Breach breach;  // of an xfail
};
std::string_view name(Expectation::Kind kind);

// Why an entry breaks the run.
struct Complaint {
  enum class Kind { expired, unused, passing };
  Kind kind = Kind::unused;
  std::string entry, detail;
};
std::string_view name(Complaint::Kind kind);

// What an entry was about in one run.
struct Use {
  std::string entry;
  Int met = 0, covered = 0, passed = 0, unreached = 0;  // cases; covered, passed and unreached are among the met
};

struct LedgerResult {
  std::vector<std::vector<Expectation>> expectations;  // by index of the suite, one per breach that is expected
  std::vector<Complaint> complaints;                   // in the order of the ledger
  std::vector<Use> uses;                               // in the order of the ledger

  // Tells whether a breach of this word is expected there, and does not count.
  bool excuses(std::size_t index, std::string_view word) const;
};

// An entry whose operator versions or types were not all selected is neither unused nor passing: the cases it is about
// may be among those not run. An expired entry covers nothing.
LedgerResult settle(const Ledger& ledger, const Suite& suite, const Campaign& campaign, const Selection& selection,
                    Date day);

}  // namespace assay::suites
