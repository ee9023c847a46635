// SPDX-License-Identifier: Apache-2.0
#include "reports/report.h"

#include "generators/shrink.h"
#include "oracles/judging/case_class.h"
#include "reference/parallel.h"
#include "reference/sequence.h"
#include "reports/pieces.h"
#include "suites/campaign/cover.h"
#include "suites/triage/clauses.h"
#include "suites/workers/worker.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>
#include <tuple>

namespace assay::reports {
namespace {

using oracles::State;
using oracles::Verdict;

// Calls f(index, planned, verdict) for every case that was reached.
template <class F>
void for_each_verdict(const Report& report, F&& f) {
  for (std::size_t i = 0; i < report.suite.cases.size(); ++i)
    if (report.campaign.verdicts[i]) f(i, report.suite.cases[i], *report.campaign.verdicts[i]);
}

bool counts(const Report& report, std::size_t index, const suites::Mark& mark) {
  return mark.breaches && !report.agreed.excuses(index, mark.name);
}

// Tells whether a mark breaks conformance. Where the case does not decide, only a session that crashed does.
bool is_marked(const Report& report, std::size_t index, bool deciding) {
  return std::ranges::any_of(report.campaign.marks[index], [&](const suites::Mark& mark) {
    return counts(report, index, mark) && (deciding || suites::session_state(mark) == State::error);
  });
}

bool is_excused(const Report& report, std::size_t index, const Verdict& verdict) {
  return breaks_conformance(verdict.state, report.invocation.strict) &&
         report.agreed.excuses(index, oracles::name(verdict.state));
}

// Special values are in no total. A crash is never apart.
bool counts_apart(const Report& report, std::size_t index, State state) {
  const std::string& name = report.classes[index];
  return oracles::is_special(name) && !decides(name, report.invocation.counts_special()) && state != State::error;
}

// The states that a case adds to the counts: that of its verdict, and those of the sessions it ended.
std::vector<State> states_of(const Report& report, std::size_t index, const Verdict& verdict) {
  std::vector<State> states{verdict.state};
  for (const suites::Mark& mark : report.campaign.marks[index])
    if (const auto state = suites::session_state(mark)) states.push_back(*state);
  return states;
}

void count_states(Report& report) {
  for (State state : oracles::all_states) report.totals[state] = 0;
  for_each_verdict(report, [&](std::size_t i, const suites::SuiteCase&, const Verdict& verdict) {
    for (const State state : states_of(report, i, verdict)) {
      ++(counts_apart(report, i, state) ? report.special : report.totals)[state];
      ++report.by_class[report.classes[i]][state];
    }
    if (is_excused(report, i, verdict) && !counts_apart(report, i, verdict.state)) ++report.excused[verdict.state];
    for (const suites::Mark& mark : report.campaign.marks[i]) {
      report.marks[mark.name] += counts(report, i, mark) ? 1 : 0;
      const auto state = suites::session_state(mark);
      if (state && !counts(report, i, mark) && !counts_apart(report, i, *state)) ++report.excused[*state];
    }
  });
}

// A crash is never apart: an `error` of any class blocks the certificate.
void tell(Certification& row, const Verdict& verdict, bool deciding, bool breaks) {
  if (breaks && (deciding || verdict.state == State::error)) row.certified = Certified::not_conforming;
  if (!deciding) return;
  ++row.legal;
  row.is_cut |= verdict.state == State::not_run;
  if (!is_judged(verdict.state)) return;
  ++row.judged;
  if (row.certified == Certified::not_certified) row.certified = Certified::conforms;
  if (verdict.state == State::pass && verdict.level)
    row.level = std::max(row.level.value_or(*verdict.level), *verdict.level);
}

// Of cases that were not run nothing is known.
void close(Certification& row) {
  if (row.is_cut && row.certified == Certified::conforms) row.certified = Certified::not_certified;
}

void count_operators(Report& report) {
  std::map<OpVersion, OperatorRow> rows;
  for (const suites::SuiteCase& p : report.suite.cases) rows[p.c.version].version = p.c.version;
  for_each_verdict(report, [&](std::size_t i, const suites::SuiteCase& p, const Verdict& verdict) {
    OperatorRow& row = rows[p.c.version];
    const DType type = suites::first_type(p.c);
    Counts& of_type = row.types[type];
    for (const State state : states_of(report, i, verdict))
      if (!counts_apart(report, i, state)) ++row.counts[state], ++of_type[state];
    row.errors[type].add(verdict);
    const bool breaks = breaks_conformance(verdict.state, report.invocation.strict) && !is_excused(report, i, verdict);
    const bool deciding = decides(report.classes[i], report.invocation.counts_special()),
               marked = is_marked(report, i, deciding);
    for (Certification* each : {static_cast<Certification*>(&row), &row.standings[type]}) {
      tell(*each, verdict, deciding, breaks);
      if (marked) each->certified = Certified::not_conforming;
    }
  });
  for (auto& [version, row] : rows) {
    close(row);
    for (auto& [type, standing] : row.standings) close(standing);
    report.operators.push_back(std::move(row));
  }
}

void cover(Report& report, const std::vector<oracles::Classification>& natures) {
  for_each_verdict(report, [&](std::size_t i, const suites::SuiteCase& p, const Verdict& verdict) {
    report.coverage.add(p.c, natures[i]);
    for (const auto& [ruling, reading] : verdict.followed) report.coverage.follow(p.c.version, ruling, reading);
  });
}

// A3 before A10: by the number after the letter.
bool by_number(const RulingRow& a, const RulingRow& b) {
  return std::make_tuple(a.id.size(), a.id) < std::make_tuple(b.id.size(), b.id);
}

void count_rulings(Report& report) {
  std::map<std::string, RulingRow> rows;
  for_each_verdict(report, [&](std::size_t, const suites::SuiteCase&, const Verdict& verdict) {
    for (const auto& [id, reading] : verdict.followed) ++rows[id].followed[reading];
  });
  for (auto& [id, row] : rows) {
    const Ruling* ruling = find_ruling(id);
    row.id = id;
    row.title = ruling ? std::string(ruling->title) : "";
    report.rulings.push_back(std::move(row));
  }
  std::ranges::sort(report.rulings, by_number);
}

std::string text_of(const Definition& definition, std::string_view id) {
  if (const Constraint* constraint = definition.constraint(id)) return constraint->text;
  const auto general = std::ranges::find(general_constraints(), id, &Constraint::id);
  return general == general_constraints().end() ? "" : general->text;
}

void tally(ConstraintRow& row, State state) {
  if (state == State::pass) ++row.refused;
  if (state == State::accepted) ++row.accepted;
  if (state == State::contested) ++row.contested;
  if (state == State::unsupported) ++row.unsupported;
  if (state == State::error) ++row.error;
}

void count_constraints(Report& report) {
  std::map<std::tuple<std::string, std::size_t, std::string>, ConstraintRow> rows;
  for_each_verdict(report, [&](std::size_t, const suites::SuiteCase& p, const Verdict& verdict) {
    for (const std::string& id : verdict.violated) {
      ConstraintRow& row = rows[{p.c.version.name, id.size(), id}];
      row.id = p.c.version.name + "." + id;
      if (row.text.empty()) row.text = text_of(p.c.definition(), id);
      tally(row, verdict.state);
    }
  });
  for (auto& [key, row] : rows) report.constraints.push_back(std::move(row));
}

// What a runtime says of two refusals for one reason differs in numbers and in the lengths of lists, not in words.
std::string gist(const std::string& detail) {
  std::string words;
  for (char letter : detail.substr(0, 1000))
    if (std::isalpha(static_cast<unsigned char>(letter))) {
      words += letter;
    } else if (!words.empty() && words.back() != ' ') {
      words += ' ';
    }
  return words;
}

// Marks come after what breaks the text, and are grouped by what showed them.
void group_marks(Report& report) {
  std::map<std::tuple<std::string, OpVersion, std::string>, ReportedFinding> groups;
  for_each_verdict(report, [&](std::size_t i, const suites::SuiteCase& p, const Verdict& verdict) {
    for (const suites::Mark& mark : report.campaign.marks[i]) {
      if (report.agreed.excuses(i, mark.name)) continue;
      ReportedFinding& finding = groups[{mark.name, p.c.version, mark.by}];
      if (finding.count++ == 0)
        finding = {verdict.state, p.c.version, mark.by, mark.detail, i, 1, mark.name, cause_of_session(report, mark)};
      const bool has_crashed = suites::session_state(mark) == State::error;
      finding.deciding += has_crashed || decides(report.classes[i], report.invocation.counts_special()) ? 1 : 0;
      finding.cases.push_back(i);
    }
  });
  for (auto& [key, finding] : groups) report.findings.push_back(std::move(finding));
}

// By cause; what has none, since the run was interrupted, by what it says.
void group_findings(Report& report) {
  std::map<std::tuple<int, OpVersion, std::size_t, std::string, std::string>, ReportedFinding> groups;
  for_each_verdict(report, [&](std::size_t i, const suites::SuiteCase& p, const Verdict& verdict) {
    if (!breaks_conformance(verdict.state, report.invocation.strict) || is_excused(report, i, verdict)) return;
    const std::size_t cause = report.cause_of[i];
    const bool has_cause = cause != suites::no_cause;
    const std::string says = has_cause                         ? ""
                             : verdict.state == State::refused ? gist(verdict.detail)
                                                               : text(verdict.readings);
    ReportedFinding& finding =
        groups[{suites::gravity(verdict.state), p.c.version, cause, has_cause ? "" : verdict.because, says}];
    if (finding.count++ == 0) finding = {verdict.state, p.c.version, verdict.because, verdict.detail, i, 1, "", cause};
    finding.deciding +=
        decides(report.classes[i], report.invocation.counts_special()) || verdict.state == State::error ? 1 : 0;
    finding.cases.push_back(i);
  });
  for (auto& [key, finding] : groups) report.findings.push_back(std::move(finding));
}

void find_causes(Report& report) {
  report.cause_of.assign(report.suite.cases.size(), suites::no_cause);
  for (std::size_t i = 0; i < report.sorted.failures.size(); ++i)
    report.cause_of[report.sorted.failures[i].index] = report.sorted.cause_of[i];
}

// Cases of one version: what broke, by cause, and what it is kept apart from.
struct Exhibits {
  std::map<std::size_t, std::vector<Case>> breaking;
  std::vector<Case> passing, refused;  // refused: near misses, which only a crash can be like

  std::vector<Case> outside(State state) const {
    std::vector<Case> all = passing;
    if (state == State::error) all.insert(all.end(), refused.begin(), refused.end());
    return all;
  }
};

// The cases of every version of an operator, put together: more of them tell more.
Exhibits together(const std::map<OpVersion, Exhibits>& all, const std::string& op) {
  Exhibits whole;
  const auto add = [](std::vector<Case>& into, const std::vector<Case>& cases) {
    into.insert(into.end(), cases.begin(), cases.end());
  };
  for (const auto& [version, own] : all) {
    if (operator_name(version) != op) continue;
    for (const auto& [cause, cases] : own.breaking) add(whole.breaking[cause], cases);
    add(whole.passing, own.passing);
    add(whole.refused, own.refused);
  }
  return whole;
}

State state_of(const Report& report, std::size_t cause) { return report.sorted.causes[cause].state; }

// Keeps the predicates that hold for some of these cases, and looks for more where they leave some over.
Exception exception_of(std::size_t cause, const std::vector<Case>& cases, const std::vector<suites::Predicate>& all,
                       const std::vector<Case>& outside) {
  Exception exception{cause, static_cast<Int>(cases.size()), {}, 0};
  if (outside.empty()) return exception.when.emplace_back(), exception;  // everywhere
  std::vector<Case> left = cases;
  for (const suites::Predicate& when : all)
    if (std::erase_if(left, [&](const Case& c) { return when.holds(c); }) > 0) exception.when.push_back(when);
  if (left.empty()) return exception;
  suites::Pieces own = suites::told_apart(left, outside);
  std::ranges::move(own.all, std::back_inserter(exception.when));
  exception.others = static_cast<Int>(own.left_over.size());
  return exception;
}

// By operator and cause: what tells the cases of all its versions that break so apart from the others.
using ToldBy = std::map<std::pair<std::string, std::size_t>, std::vector<suites::Predicate>>;

ToldBy told_by(const Report& report, const std::map<OpVersion, Exhibits>& exhibits) {
  std::map<std::string, Exhibits> whole;  // by operator, of those that break
  for (const auto& [version, own] : exhibits)
    if (!own.breaking.empty()) whole.try_emplace(operator_name(version));
  ToldBy out;
  for (auto& [op, all] : whole) {
    all = together(exhibits, op);
    for (const auto& [cause, cases] : all.breaking) out[{op, cause}];
  }
  std::vector<ToldBy::value_type*> each;
  for (ToldBy::value_type& one : out) each.push_back(&one);
  in_parallel(each.size(), static_cast<std::size_t>(report.run.jobs), [&](std::size_t i, std::size_t) {
    const auto& [op, cause] = each[i]->first;
    const Exhibits& all = whole.at(op);
    each[i]->second = suites::told_apart(all.breaking.at(cause), all.outside(state_of(report, cause))).all;
  });
  return out;
}

void find_exceptions(Report& report) {
  std::map<OpVersion, Exhibits> exhibits;
  for_each_verdict(report, [&](std::size_t i, const suites::SuiteCase& p, const Verdict& verdict) {
    Exhibits& own = exhibits[p.c.version];
    if (report.cause_of[i] != suites::no_cause)
      own.breaking[report.cause_of[i]].push_back(p.c);
    else if (verdict.state == State::pass || verdict.state == State::contested)
      (report.classes[i].starts_with("invalid") ? own.refused : own.passing).push_back(p.c);
  });
  const ToldBy shared = told_by(report, exhibits);
  in_parallel(report.operators.size(), static_cast<std::size_t>(report.run.jobs), [&](std::size_t i, std::size_t) {
    OperatorRow& row = report.operators[i];
    const auto own = exhibits.find(row.version);
    if (own == exhibits.end()) return;
    for (const auto& [cause, cases] : own->second.breaking)
      row.exceptions.push_back(exception_of(cause, cases, shared.at({operator_name(row.version), cause}),
                                            own->second.outside(state_of(report, cause))));
  });
  for (const ReportedFinding& finding : report.findings) {
    if (finding.mark.empty() || finding.cause == suites::no_cause) continue;
    const auto row = std::ranges::find(report.operators, finding.version, &OperatorRow::version);
    row->exceptions.push_back({finding.cause, finding.count, {}, 0});  // sessions: no predicate is about them
    std::ranges::stable_sort(row->exceptions, {}, &Exception::cause);
  }
}

// Where there is nothing to see, a larger case says more.
bool has_empty_input(const Case& c) {
  return std::ranges::any_of(c.node.inputs, [](const auto& input) {
    return std::ranges::find(input.second.type.shape, 0) != input.second.type.shape.end();
  });
}

void choose_smallest(Report& report) {
  for (ReportedFinding& finding : report.findings) {
    const auto size = [&](std::size_t i) {
      const suites::SuiteCase& planned = report.suite.cases[i];
      return std::tuple(has_empty_input(planned.c), generators::size_of(planned.c), planned.line.size(), i);
    };
    finding.smallest = *std::ranges::min_element(finding.cases, {}, size);
    finding.clauses = suites::clauses_of(report.suite.cases[finding.smallest].c);
  }
}

// What is known of every input holds of the version as well.
void heed_every_input(Report& report) {
  for (const suites::Accuracy& each : report.every_input)
    for (OperatorRow& row : report.operators) {
      if (row.version != each.definition->version || each.is_unsupported) continue;
      const auto of_type = row.standings.find(each.type);
      for (Certification* standing :
           {static_cast<Certification*>(&row), of_type == row.standings.end() ? nullptr : &of_type->second}) {
        if (!standing) continue;
        if (each.breaks()) standing->certified = Certified::not_conforming;
        if (each.inputs > 0) standing->level = std::max(standing->level.value_or(each.level()), each.level());
      }
    }
}

Certified overall(const std::vector<OperatorRow>& rows) {
  const auto any = [&](Certified word) {
    return std::ranges::any_of(rows, [&](const OperatorRow& row) { return row.certified == word; });
  };
  if (any(Certified::not_conforming)) return Certified::not_conforming;
  return any(Certified::conforms) ? Certified::conforms : Certified::not_certified;
}

}  // namespace

Int count(const Counts& counts, State state) {
  const auto found = counts.find(state);
  return found == counts.end() ? 0 : found->second;
}

std::string_view name(Certified certified) {
  switch (certified) {
    case Certified::conforms: return "conforms";
    case Certified::not_conforming: return "not conforming";
    default: return "not certified";
  }
}

bool breaks_conformance(State state, bool strict) {
  return suites::is_finding(state) || (strict && state == State::contested);
}

bool decides(std::string_view case_class, bool counts_special) {
  return case_class.starts_with("valid") || (counts_special && oracles::is_special(case_class));
}

std::string judgement_hash() {
  std::string all = "judgement " + std::string(judgement_version) + "\n";
  for (const Ruling& ruling : rulings()) {
    all += std::string(ruling.id) + "|" + std::string(ruling.title) + "|" + std::string(ruling.decision);
    for (std::string_view reading : ruling.readings) all += "|" + std::string(reading);
    all += ruling.is(Ruling::set) ? " set\n" : "\n";
  }
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions()) {
      all += text(definition.version) + "\n";
      for (const Constraint& each : definition.constraints) all += each.id + "|" + each.text + "|" + each.ruling + "\n";
      for (const RulingUse& use : definition.rulings) {
        all += use.id + "|" + use.note;
        for (std::string_view reading : use.readings) all += "|" + std::string(reading);
        all += '\n';
      }
    }
  using oracles::Level;
  for (Level level : {Level::L0, Level::L1, Level::L2, Level::L2t, Level::L3, Level::widest})
    all += std::string(oracles::name(level)) + "\n";
  return sha256(all);
}

// Those that are not as by default; 0 where nothing was limited.
static std::string limits_of(const Invocation& invocation) {
  const suites::Limits standard;
  std::ostringstream words;
  if (invocation.timeout_seconds > 0 && invocation.timeout_seconds != standard.run_seconds())
    words << "--timeout " << invocation.timeout_seconds;
  if (invocation.memory_mib > 0 && static_cast<std::size_t>(invocation.memory_mib) << 20 != standard.memory)
    words << (words.str().empty() ? "" : " ") << "--memory " << invocation.memory_mib;
  return words.str();
}

suites::Provenance provenance_of(const Invocation& invocation, const suites::Description& backend) {
  suites::Provenance provenance{invocation.tool_version, invocation.backend, backend, {}};
  provenance.run_options.level = invocation.level;
  provenance.run_options.settings.threads = invocation.threads;
  provenance.run_options.settings.optimization = invocation.optimization;
  provenance.run_options.options = invocation.options;
  provenance.run_options.model = invocation.model.words();
  provenance.limits = limits_of(invocation);
  return provenance;
}

std::string replay_line(const Invocation& invocation, std::string_view line) {
  suites::Provenance provenance = provenance_of(invocation, {});
  // Answers from files may have been given by nobody that this machine can ask.
  if (!invocation.vectors.empty() && invocation.backend == suites::Description().backend)
    provenance.backend = "BACKEND";
  const auto vector = invocation.vectors.find(line);
  return suites::replay_command(provenance, vector == invocation.vectors.end() ? line : vector->second);
}

std::string certify_line(const Invocation& invocation, std::string_view suite, Int generated, std::string_view ledger) {
  const auto word = [](std::string_view text) { return suites::shell_word(text); };
  std::string command = "assay certify --backend " + word(invocation.backend);
  command += invocation.model.file.empty() ? " --suite " + std::string(suite) : " " + invocation.model.words();
  if (!invocation.profile.empty()) command += " --profile " + invocation.profile;
  command += " --seed " + std::to_string(invocation.seed) + " --cases " + std::to_string(generated);
  command += " --level " + std::string(oracles::name(invocation.level));
  if (invocation.strict) command += " --strict";
  if (invocation.special_values) command += " --special-values";
  command += " --threads " + std::to_string(invocation.threads) + " --optimization " + invocation.optimization;
  for (const auto& [option, value] : invocation.options) command += " --set " + word(option + "=" + value);
  command += " --pack " + std::to_string(invocation.pack);
  command += " --presentations " + std::string(name_of(invocation.presenting));
  command += " --laws " + std::string(name_of(invocation.laws));
  if (invocation.exhaustive) command += " --exhaustive";
  if (!invocation.every_input) command += " --no-every-input";
  std::ostringstream limits;  // as short as the number is
  limits << " --timeout " << invocation.timeout_seconds << " --memory " << invocation.memory_mib;
  command += limits.str();
  if (!ledger.empty()) command += " --expectations " + word(ledger);
  return command + " --report report.json --certificate certificate.json";
}

std::string replay_line(const Invocation& invocation, std::string_view line, const suites::Mark& mark) {
  suites::Settings settings{invocation.threads, invocation.optimization};
  const bool is_setting = suites::read_setting(mark.by, settings);
  Invocation other = invocation;
  other.threads = settings.threads;
  other.optimization = settings.optimization;
  const std::string run_again(mark.line.empty() ? line : std::string_view(mark.line));
  // What no option says stands in front of the line.
  const std::string beside = suites::text(suites::Settings{1, "all", settings.names, settings.binds_outputs});
  return replay_line(other, is_setting && !beside.empty() ? "[" + beside + "] " + run_again : run_again);
}

std::size_t cause_of_session(const Report& report, const suites::Mark& mark) {
  if (!suites::session_state(mark)) return suites::no_cause;
  const auto has_it = [&](std::size_t finding) { return report.sorted.findings[finding].session == mark.line; };
  for (std::size_t i = 0; i < report.sorted.causes.size(); ++i)
    if (std::ranges::any_of(report.sorted.causes[i].members, has_it)) return i;
  return suites::no_cause;
}

const suites::Mark& mark_of(const Report& report, const ReportedFinding& finding) {
  const auto& marks = report.campaign.marks[finding.first];
  const auto found = std::ranges::find_if(
      marks, [&](const suites::Mark& mark) { return mark.name == finding.mark && mark.by == finding.because; });
  expects(found != marks.end(), "a finding about a mark is made from one");
  return *found;
}

std::string Invocation::configuration() const { return suites::configuration(provenance_of(*this, {}).run_options); }

bool Expectations::excuses(std::size_t index, std::string_view word) const {
  return (ledger && settlement.excuses(index, word)) || (baseline && comparison.excuses(index, word));
}

Int breaching_windows(const Report& report) {
  if (!report.model) return 0;
  return std::ranges::count_if(report.model->windows, [&](const suites::WindowResult& each) {
    return breaks_conformance(each.verdict.state, report.invocation.strict);
  });
}

void add_graphs(Report& report, suites::GraphHarvest harvest) {
  if (!harvest.conforms()) report.certified = Certified::not_conforming;
  report.graphs = std::move(harvest);
}

bool Report::is_interrupted() const {
  return !campaign.is_complete() || (graphs && !graphs->complete) ||
         std::ranges::any_of(every_input,
                             [](const suites::Accuracy& each) { return each.ended.empty() && !each.is_complete(); });
}

Report report(suites::Suite suite, suites::Campaign campaign, Invocation invocation, Run run, Expectations agreed,
              suites::Sorted sorted, std::vector<suites::Accuracy> every_input, std::optional<ModelRun> model) {
  Report report;
  report.model = std::move(model);
  report.suite = std::move(suite);
  report.campaign = std::move(campaign);
  report.invocation = std::move(invocation);
  report.run = std::move(run);
  report.agreed = std::move(agreed);
  report.sorted = std::move(sorted);
  report.every_input = std::move(every_input);
  expects(report.campaign.verdicts.size() == report.suite.cases.size(), "one verdict per planned case");
  report.campaign.marks.resize(report.suite.cases.size());
  std::vector<oracles::Classification> natures(report.suite.cases.size());
  in_parallel(natures.size(), static_cast<std::size_t>(report.run.jobs), [&](std::size_t i, std::size_t) {
    const std::optional<Verdict>& verdict = report.campaign.verdicts[i];
    natures[i] = oracles::nature_of(report.suite.cases[i].c, verdict ? verdict->touched : std::nullopt);
  });
  for (const oracles::Classification& nature : natures) report.classes.emplace_back(nature.case_class);
  find_causes(report);
  count_states(report);
  count_operators(report);
  heed_every_input(report);
  count_rulings(report);
  count_constraints(report);
  group_findings(report);
  group_marks(report);
  find_exceptions(report);
  choose_smallest(report);
  cover(report, natures);
  report.certified = overall(report.operators);
  if (breaching_windows(report) > 0) report.certified = Certified::not_conforming;
  return report;
}

}  // namespace assay::reports
