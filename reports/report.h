// SPDX-License-Identifier: Apache-2.0
// Report: everything one campaign found, counted. A certificate is a report over a complete suite.
#pragma once

#include "suites/campaign/campaign.h"
#include "suites/campaign/errors.h"
#include "suites/campaign/exhaust.h"
#include "suites/campaign/provenance.h"
#include "suites/expectations/baseline.h"
#include "suites/expectations/ledger.h"
#include "suites/graphs/graph_campaign.h"
#include "suites/models/model_suite.h"
#include "suites/planning/coverage.h"
#include "suites/predicates/predicate.h"
#include "suites/triage/causes.h"
#include "suites/triage/triage.h"

#include <iosfwd>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::reports {

inline constexpr int schema_version = 1;
// Raised by hand whenever a bound or the judging of a state changes without a change in the text that is hashed.
inline constexpr std::string_view judgement_version = "1";

using Counts = std::map<oracles::State, Int>;
Int count(const Counts& counts, oracles::State state);

enum class Certified { conforms, not_conforming, not_certified };
std::string_view name(Certified certified);  // "not conforming"

// How the campaign was asked for: part of what the report is about.
struct Invocation {
  std::string tool_version;
  std::string backend;  // as given: "onnxruntime", "exec:…"
  std::uint64_t seed = 1;
  std::string profile = {};  // of the suite; empty: all of it
  oracles::Level level = oracles::Level::L2;
  bool strict = false;          // contested does not conform, and special values count
  bool special_values = false;  // NaN, infinities and integer overflow decide as well
  int threads = 1;
  std::string optimization = "all";
  std::map<std::string, std::string> options;  // further ones
  suites::ModelSource model = {};              // whose nodes are run
  double timeout_seconds = 0;
  Int memory_mib = 0;
  int pack = 1;
  suites::VariantSampling presenting = suites::VariantSampling::sample;
  suites::LawSampling laws = suites::LawSampling::none;
  bool exhaustive = false;   // no circuit breaker
  bool every_input = false;  // functions were run over every input of 16 bits
  // Of golden vectors: the folder of each line, which is replayed instead.
  std::map<std::string, std::string, std::less<>> vectors = {};
  Int most_failures = 0;  // the run ends after so many cases that break conformance; 0: it does not

  std::string configuration() const;  // "threads=1 optimization=all precision=f32"
  bool counts_special() const { return strict || special_values; }
};

suites::Provenance provenance_of(const Invocation& invocation, const suites::Description& backend);

// Circumstances, outside identity and digests: two reports that differ only here say the same.
struct Run {
  std::string started;  // UTC
  double seconds = 0;
  int jobs = 1;
  std::string cpu;
  std::string isolation = {};  // of the workers, in words
  double host_seconds = 0;     // of processor time for generating, judging and speaking; the backend's own is not in it
  suites::ResourceUse upkeep = {};
};

// What was agreed before the run: breaches that a ledger expects or a baseline knows are told, and do not count.
struct Expectations {
  std::optional<suites::Ledger> ledger;
  suites::LedgerResult settlement;  // of the ledger
  std::optional<suites::Baseline> baseline;
  suites::BaselineComparison comparison;  // with the baseline

  bool excuses(std::size_t index, std::string_view word) const;
};

// What is certified of some cases.
struct Certification {
  Int legal = 0, judged = 0;            // of the classes that decide: planned, and given outputs that could be judged
  std::optional<oracles::Level> level;  // the strongest that every passing case meets
  Certified certified = Certified::not_certified;
  bool is_cut = false;  // legal cases were not run
};

// Where an operator version does not conform, for one cause.
struct Exception {
  std::size_t cause = 0;                // by index of the causes
  Int cases = 0;                        // that break conformance
  std::vector<suites::Predicate> when;  // each holds for some of them, and for no case that passes
  Int others = 0;                       // for which none of them holds
};

// One operator version. Types are those of the first input.
struct OperatorRow : Certification {
  OpVersion version;
  Counts counts;
  std::vector<Exception> exceptions = {};  // "conforms except where"
  std::map<DType, Counts> types;
  std::map<DType, Certification> standings;
  std::map<DType, suites::Errors> errors;
};

struct RulingRow {
  std::string id, title;
  std::map<std::string, Int> followed;  // reading -> cases that showed it
};

// What happened to models that break a constraint.
struct ConstraintRow {
  std::string id, text;  // "Conv.C6"
  Int refused = 0, accepted = 0, contested = 0, unsupported = 0, error = 0;
};

// Verdicts of one operator version that break conformance for one cause, or marks that say the same: then `mark` is
// their name and `because` what showed them.
struct ReportedFinding {
  oracles::State state = oracles::State::fail;
  OpVersion version;
  std::string because, detail;  // of the first case
  std::size_t first = 0;        // index into the suite
  Int count = 0;
  std::string mark = {};
  std::size_t cause = suites::no_cause;   // by index of the causes; none of marks but sessions, and where interrupted
  Int deciding = 0;                       // of these cases, those whose class decides, and any error
  std::vector<std::size_t> cases = {};    // all of them, by index
  std::size_t smallest = 0;               // of these the one with least to read
  std::vector<std::string> clauses = {};  // that the smallest rests on: constraints it breaks, rulings it touches
};

// Lists the nodes of a model, in its order, and the windows of several nodes that were run.
struct ModelRun {
  std::string hash;  // SHA-256 of its file
  std::vector<suites::ModelNode> nodes;
  std::vector<suites::WindowResult> windows = {};
};

struct Report {
  suites::Suite suite;
  suites::Campaign campaign;
  Invocation invocation;
  Run run;
  Expectations agreed;
  suites::Sorted sorted;                            // what broke conformance and was not agreed
  std::vector<suites::Accuracy> every_input;        // of functions in the types of 16 bits, where that was asked for
  std::optional<ModelRun> model = {};               // whose nodes the cases are
  std::optional<suites::GraphHarvest> graphs = {};  // that were drawn, where they were asked for

  std::vector<std::string> classes;  // by index of the suite
  Counts totals, excused;            // excused: of these, those that break conformance but were agreed
  Counts special;                    // of classes that do not decide, in no other total, but for errors
  std::map<std::string, Int> marks;  // that break conformance, by name; sessions are among the totals as well
  std::map<std::string, Counts> by_class;
  std::vector<OperatorRow> operators;
  std::vector<RulingRow> rulings;
  std::vector<ConstraintRow> constraints;
  suites::Coverage coverage;
  std::vector<ReportedFinding> findings;  // the gravest first
  std::vector<std::size_t> cause_of;      // by index of the suite; `no_cause` of what does not break conformance
  Certified certified = Certified::not_certified;

  bool is_interrupted() const;
  bool is_complete() const { return suite.complete && !is_interrupted(); }
  // Exit code 0: it conforms, and no entry of the ledger is expired, unused or passing.
  bool is_as_agreed() const { return certified == Certified::conforms && agreed.settlement.complaints.empty(); }
};

Report report(suites::Suite suite, suites::Campaign campaign, Invocation invocation, Run run, Expectations agreed = {},
              suites::Sorted sorted = {}, std::vector<suites::Accuracy> every_input = {},
              std::optional<ModelRun> model = {});

// Adds what drawn graphs came to, which may end its conformance.
void add_graphs(Report& report, suites::GraphHarvest harvest);
// The windows of its model that do not conform.
Int breaching_windows(const Report& report);
// Tells whether a verdict does not conform. A contested one does not under `strict`.
bool breaks_conformance(oracles::State state, bool strict);
// Tells whether a class of cases decides on conformance (spec B.1); special values are judged and shown apart, unless
// they were told to count.
bool decides(std::string_view case_class, bool counts_special = false);

// SHA-256 over the text of constraints, rulings, readings and levels, and the version of the bounds.
std::string judgement_hash();

// The cause that a session is of, by index; `no_cause` of another mark, and where nothing was sorted.
std::size_t cause_of_session(const Report& report, const suites::Mark& mark);
// The mark a finding about marks was made from.
const suites::Mark& mark_of(const Report& report, const ReportedFinding& finding);

// The command that runs the same case again, and the one that runs what a mark is about.
std::string replay_line(const Invocation& invocation, std::string_view line);
std::string replay_line(const Invocation& invocation, std::string_view line, const suites::Mark& mark);
// The command that runs the whole suite again; `ledger` as named on the command line, empty for none.
std::string certify_line(const Invocation& invocation, std::string_view suite, Int generated, std::string_view ledger);

// The JSON document of report.schema.json.
void write_json(const Report& report, std::ostream& out);

enum class Colour { none, terminal };
// What `assay certify` prints; `file` is where the JSON went, empty for nowhere.
inline constexpr std::size_t few_causes = 5, all_causes = std::numeric_limits<std::size_t>::max();
void write_session(const Report& report, std::string_view file, Colour colour, std::ostream& out,
                   std::size_t most_causes = few_causes);
// Its last line alone.
void write_conclusion(const Report& report, std::string_view file, std::ostream& out);
void write_heading(const suites::Suite& suite, const suites::Description& backend, const Invocation& invocation,
                   std::ostream& out);

}  // namespace assay::reports
