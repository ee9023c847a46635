// SPDX-License-Identifier: Apache-2.0
// assay replay: runs one case again and shows what came of it, why, and which elements are wrong.
#include "oracles/exact/enclosure.h"
#include "oracles/exact/operands.h"
#include "oracles/judging/case_class.h"
#include "oracles/judging/finding.h"
#include "oracles/judging/judge.h"
#include "reports/pieces.h"
#include "suites/graphs/graph_folder.h"
#include "suites/graphs/graph_run.h"
#include "suites/triage/clauses.h"
#include "suites/triage/finding_folder.h"
#include "suites/triage/glossary.h"
#include "suites/triage/wrong_models.h"
#include "tools/verbs/replay_run.h"
#include "tools/verbs/subject.h"
#include "tools/verbs/verbs.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

namespace assay::tools {
namespace {

using oracles::Element;
using oracles::Evidence;
using oracles::Outcome;
using oracles::State;
using oracles::Verdict;

// Of a wrong answer, unless all is asked for: elements that are shown, and terms of the exact sum.
constexpr std::size_t most_shown = 3, most_terms = 12;

struct Options {
  Subject subject;
  Said said;
  std::string save;
  bool shrinks = false, shows_all = false, as_issue = false;
};

// A row of the listing: a word, then what it says.
std::ostream& row(std::string_view word) {
  return std::cout << word << std::string(word.size() < 10 ? 10 - word.size() : 1, ' ');
}

// Keeps what the backend said, which the judge sees as well.
class Listening : public suites::Backend {
 public:
  explicit Listening(std::unique_ptr<suites::Backend> backend) : backend_(std::move(backend)) {}
  const suites::Description& describe() override { return backend_->describe(); }
  void submit(const suites::Request& case_run) override { backend_->submit(case_run); }
  Outcome answer() override { return heard = backend_->answer(); }
  Outcome heard;

 private:
  std::unique_ptr<suites::Backend> backend_;
};

// Everything that is known when the case is answered.
struct Replayed {
  const ReplayRun& case_run;
  const Outcome& outcome;
  const Verdict& verdict;
  oracles::Judgement judgement;
  bool shows_all = false;
};

// -- verdict and cause

void show_verdict(const Replayed& r) {
  row("verdict") << oracles::name(r.verdict.state);
  if (r.verdict.level) std::cout << ", meets " << oracles::name(*r.verdict.level);
  if (!r.verdict.because.empty() && r.verdict.because != oracles::name(r.verdict.state))
    std::cout << " (" << r.verdict.because << ")";
  std::cout << (r.verdict.detail.empty() ? "" : ": ") << r.verdict.detail << "\n";
}

void show_cause(const suites::Finding& finding) {
  for (const std::string& id : finding.diagnosis.models) {
    const auto model = std::ranges::find(suites::wrong_models(), id, &suites::WrongModel::id);
    const char* how = finding.diagnosis.by_shape       ? "the shape is that of: "
                      : finding.diagnosis.is_confirmed ? ""
                                                       : "perhaps: ";
    row("cause") << how << model->sentence << " (" << id << ")\n";
  }
  if (suites::is_too_large_to_explain(finding.answered.outcome))
    row("cause") << "not looked for: wrong models are compared up to " << suites::most_explained << " outputs\n";
  if (finding.is_shrunk)
    row("shrunk") << finding.line << "\n" << std::string(10, ' ') << finding.runs << " runs to shrink\n";
  row("signature") << text(finding.signature) << "\n";
}

// -- the case

void show_run(const ReplayRun& case_run, const suites::Description& backend) {
  row("backend") << backend.backend << " " << backend.version << " " << backend.device << "\n";
  if (!case_run.model.empty()) row("model") << case_run.title << "\n";
  if (!case_run.planned) return;
  for (const suites::Step& step : case_run.before) row("first") << step.line << "\n";
  row(case_run.model.empty() ? "case" : "as a case") << case_run.planned->line << "\n";
  row("id") << case_id(case_run.planned->line) << "\n";
  row("class") << oracles::class_of(case_run.planned->c) << "\n";
  const bool is_legal = case_run.call.definition().violated(case_run.call).empty();
  for (const std::string& id : suites::clauses_of(case_run.planned->c)) {
    const std::string meaning = suites::meaning_of(id).value_or(id);
    row(is_legal ? "rests on" : "breaks") << meaning.substr(0, meaning.find('\n')) << "\n";
  }
}

// What the last case of a session ends as where nothing runs before it.
void show_alone(const Verdict& alone) { row("alone") << suites::in_words(alone) << "\n"; }

void show_readings(const Verdict& verdict) {
  for (const auto& [id, reading] : verdict.followed) row("follows") << id << " " << reading << "\n";
  if (!verdict.readings.departures().empty()) row("reading") << text(verdict.readings) << "\n";
}

// -- elements

const Tensor* output_of(const Outcome& outcome, std::size_t set, std::size_t output) {
  return set < outcome.sets.size() && output < outcome.sets[set].size() ? &outcome.sets[set][output] : nullptr;
}

// Works the answers out as they are judged: in the light of what came back where elements are right or wrong together.
oracles::Answers answers_to(const Replayed& r, std::size_t set) {
  const oracles::Oracle& oracle = oracles::oracle_of(r.case_run.call.definition().version);
  oracles::Answers answers =
      oracle.answer(r.case_run.call, r.case_run.sets[set], r.verdict.readings, r.judgement.arithmetic);
  if (!oracle.given || set >= r.outcome.sets.size()) return answers;
  const std::vector<Tensor>& got = r.outcome.sets[set];
  const auto fits = [](const Tensor& tensor, const auto& answer) {
    return tensor.dtype() == answer->dtype() && tensor.shape() == answer->shape();
  };
  if (!std::ranges::equal(got, answers, fits)) return answers;
  return oracle.given(r.case_run.call, r.case_run.sets[set], r.verdict.readings, got);
}

// "data 0", and where there are several outputs which one.
std::ostream& data_row(const Replayed& r, std::size_t set, std::size_t output) {
  const std::vector<std::string> names = r.case_run.call.requested_outputs();
  return row("data " + std::to_string(set)) << (names.size() == 1 ? "" : names.at(output) + ", ");
}

// "2.5 (0x1.4p+1)", and around it what is admitted where that is more than a point.
std::string admitted(const Element& element, DType type) {
  std::string out = oracles::readable(oracles::wanted(element, type), type);
  if (element.kind != oracles::Kind::finite) return out + (element.reason.empty() ? "" : ": " + element.reason);
  const oracles::Interval required = oracles::interval(element, element.required, type);
  const std::string lower = oracles::written(required.lower, type), upper = oracles::written(required.upper, type);
  if (lower != upper)
    out += ", admitted from " + oracles::readable(lower, type) + " to " + oracles::readable(upper, type);
  return out;
}

std::string digits_of(double value) { return reports::in_digits(value, 6); }

void show_element(const oracles::Answer& answer, const Element& element, const Tensor& got, Int index) {
  const oracles::Scalar value = oracles::scalar(got, index);
  const DType type = answer.dtype();
  std::cout << "  " << text(oracles::position(answer.shape(), index)) << "  got "
            << oracles::readable(oracles::written(value, type), type) << "  want " << admitted(element, type);
  const bool are_numbers = element.kind == oracles::Kind::finite && value.is_finite();
  if (are_numbers && !oracles::same(value, oracles::nearest(element, type)))
    std::cout << ", off by " << digits_of(oracles::ulps(element, value, type)) << " ulp";
  std::cout << "\n";
}

void show_all_elements(const Replayed& r) {
  for (std::size_t set = 0; set < r.case_run.sets.size(); ++set) {
    const oracles::Answers answers = answers_to(r, set);
    for (std::size_t output = 0; output < answers.size(); ++output) {
      const Tensor* got = output_of(r.outcome, set, output);
      const oracles::Answer& answer = *answers[output];
      if (!got || got->shape() != answer.shape() || got->dtype() != answer.dtype()) continue;
      data_row(r, set, output) << name(got->dtype()) << text(got->shape()) << "\n";
      for (Int i = 0; i < got->elements(); ++i) show_element(answer, answer.element(i), *got, i);
    }
  }
}

void show_wrong_elements(const Replayed& r) {
  const oracles::Judge bench(r.case_run.call, r.case_run.sets, r.judgement);
  const std::vector<oracles::Offender> wrong = bench.offenders(r.outcome, r.verdict);
  std::map<int, oracles::Answers> answers;
  std::set<std::pair<int, int>> headed;
  for (std::size_t i = 0; i < std::min(wrong.size(), most_shown); ++i) {
    const auto set = static_cast<std::size_t>(wrong[i].set), output = static_cast<std::size_t>(wrong[i].output);
    if (!answers.contains(wrong[i].set)) answers[wrong[i].set] = answers_to(r, set);
    const oracles::Answer& answer = *answers[wrong[i].set].at(output);
    if (headed.emplace(wrong[i].set, wrong[i].output).second)
      data_row(r, set, output) << "expected " << name(answer.dtype()) << text(answer.shape()) << "\n";
    show_element(answer, answer.element(wrong[i].index), *output_of(r.outcome, set, output), wrong[i].index);
  }
  if (wrong.size() > most_shown)
    std::cout << "  … and " << wrong.size() - most_shown << " more wrong elements; --all shows every element\n";
}

// A number of the proof in six digits, and exactly where that is short.
std::string rounded_proof(const std::string& proof) {
  constexpr std::size_t most_exact = 40;
  const std::optional<double> value = oracles::approximate(proof);
  if (!value) return proof.size() <= most_exact ? proof : proof.substr(0, most_exact) + "…";
  return digits_of(*value) + (proof.size() <= most_exact ? " (" + proof + ")" : "");
}

void show_proof(const Replayed& r) {
  const Evidence& evidence = *r.verdict.evidence;
  const std::vector<std::string> outputs = r.case_run.call.requested_outputs();
  row("proof") << "element " << text(evidence.index)
               << (outputs.size() == 1 ? "" : " of " + outputs.at(static_cast<std::size_t>(evidence.output)))
               << " of data set " << evidence.set << "\n";
  if (!evidence.exact.empty()) {  // an infinity or NaN is wanted by itself
    row("exact") << rounded_proof(evidence.exact) << "\n";
    row("budget") << rounded_proof(evidence.budget) << ", " << evidence.arithmetic << "\n";
  }
  const std::size_t terms = r.shows_all ? evidence.taps.size() : std::min(evidence.taps.size(), most_terms);
  for (std::size_t i = 0; i < terms; ++i) {
    row("term") << evidence.taps[i].where << " ";
    for (const std::string& factor : evidence.taps[i].factors) std::cout << " " << factor;
    std::cout << "\n";
  }
  if (terms < evidence.taps.size()) std::cout << "  … and " << evidence.taps.size() - terms << " more terms; --all\n";
}

// Nothing where there is no answer to look at.
void show_answer(const Replayed& r) {
  if (r.outcome.kind != Outcome::Kind::outputs) return;
  if (!r.case_run.call.definition().violated(r.case_run.call, r.verdict.readings).empty()) return;
  if (r.shows_all)
    show_all_elements(r);
  else if (r.verdict.state == State::fail || r.verdict.state == State::below)
    show_wrong_elements(r);
  if (r.verdict.evidence) show_proof(r);
}

// -- the verb

// Asks and judges other cases in the same session.
suites::RunCase run_case(Listening& backend, const suites::RunOptions& run_options) {
  return [&backend, &run_options](const Case& c) {
    const Verdict verdict = suites::certify({c, line(c), "shrinking", std::nullopt}, backend, run_options);
    return suites::Answered{backend.heard, verdict};
  };
}

// Runs the case by itself, first in a process of its own.
Outcome run_afresh(const ReplayRun& case_run, suites::Backend& backend, const suites::RunOptions& run_options) {
  suites::Request request = case_run.submit(run_options);
  request.fresh = true;
  return backend.run(request);
}

// Tells whether a wrong answer is the same in another process: it is not where it shows memory that nobody wrote.
bool comes_again(const Replayed& r, suites::Backend& backend, const suites::RunOptions& run_options) {
  const bool is_answer = r.verdict.state == State::fail || r.verdict.state == State::below;
  if (!is_answer || oracles::is_random(r.case_run.planned->c.call())) return true;
  return suites::same_bits(run_afresh(r.case_run, backend, run_options), r.outcome);
}

std::optional<suites::Finding> finding_of(const Replayed& r, const Options& options, Listening& backend,
                                          const suites::RunOptions& run_options) {
  const bool is_finding = suites::is_finding(r.verdict.state);
  const bool is_wanted = !options.save.empty() || options.as_issue;
  if (!r.case_run.planned) {
    if (is_wanted || options.shrinks)
      throw InputError("the model has too much data for a case line, which --shrink, --save and --issue need");
    return std::nullopt;
  }
  if (!is_finding && !is_wanted) return std::nullopt;
  const suites::SuiteCase& planned = *r.case_run.planned;
  if (r.case_run.is_session()) {
    if (options.shrinks) throw InputError("--shrink takes one case; this is a session, which is as short as it gets");
    if (!is_wanted) return std::nullopt;
    suites::Finding finding =
        suites::finding_of(planned.c, planned.origin, {r.outcome, r.verdict}, {}, {.judgement = r.judgement});
    suites::Steps session = r.case_run.before;
    session.push_back({planned.line, r.case_run.settings});
    finding.session = suites::session_text(session);
    return finding;
  }
  suites::Finding finding = suites::finding_of(
      planned.c, planned.origin, {r.outcome, r.verdict}, suites::wrong_models(), {.judgement = r.judgement},
      options.shrinks && is_finding ? run_case(backend, run_options) : suites::RunCase());
  finding.comes_again = !is_wanted || comes_again(r, backend, run_options);
  return finding;
}

void tell_issue(const suites::Finding& finding, const suites::Provenance& provenance) {
  if (!suites::is_finding(finding.answered.verdict.state))
    throw InputError("nothing is wrong, so there is no issue to write: " + finding.line + " ends as " +
                     std::string(oracles::name(finding.answered.verdict.state)));
  std::cout << issue_text(suites::account_of(finding, provenance));
}

// A session runs in one process, from its first case to its last.
Outcome run(const ReplayRun& case_run, suites::Backend& backend, const suites::RunOptions& run_options) {
  for (std::size_t i = 0; i < case_run.before.size(); ++i)
    backend.run(suites::request_of(case_run.before[i], run_options, i == 0));
  return backend.run(case_run.submit(run_options));
}

// What it ends as without what ran before it.
Verdict run_alone(const ReplayRun& case_run, suites::Backend& backend, const suites::RunOptions& run_options) {
  return case_run.judged(run_afresh(case_run, backend, run_options), backend.describe(), run_options.level);
}

int replay_graph(const GraphCase& graph, const Options& options) {
  if (options.shrinks || options.as_issue) throw InputError("--shrink and --issue take a case, not a graph");
  const suites::RunOptions run_options = options.subject.run_options();
  const std::unique_ptr<suites::Backend> backend = options.subject.opener()();
  const suites::Description& described = backend->describe();
  suites::expect_declared(described, run_options.options);
  const oracles::GraphVerdict verdict = suites::run_graph(graph, *backend, run_options);
  row("verdict") << oracles::name(verdict.state) << (verdict.detail.empty() ? "" : ": ") << verdict.detail << "\n";
  row("backend") << described.backend << " " << described.version << " " << described.device << "\n";
  row("graph") << line(graph) << "\n";
  if (!options.save.empty())
    suites::write_graph(options.save, graph, verdict, {ASSAY_VERSION, options.subject.backend, described, run_options});
  return reports::breaks_conformance(verdict.state, options.subject.strict) ? not_conforming : conforms;
}

int replay(Options options, const std::function<bool(const std::string&)>& is_given) {
  if (const std::optional<GraphCase> graph = graph_of(options.said, options.subject, is_given))
    return replay_graph(*graph, options);
  if (!options.subject.model.empty()) suites::store_data(options.subject.model_source(), options.subject.threads);
  const ReplayRun case_run = run_of(options.said, options.subject, is_given);
  const suites::RunOptions run_options = options.subject.run_options();
  Listening backend(options.subject.opener()());
  const suites::Description& described = backend.describe();
  suites::expect_declared(described, run_options.options);
  if (case_run.settings.binds_outputs && !described.binds_outputs)
    throw InputError(described.backend + " does not declare binds_outputs, so outputs=bound means nothing to it");
  const Outcome outcome = run(case_run, backend, run_options);
  const Verdict verdict = case_run.judged(outcome, described, run_options.level);
  const Replayed replayed{case_run, outcome, verdict, suites::judgement_of(run_options.level, described.arithmetic),
                          options.shows_all};
  const std::optional<suites::Finding> finding = finding_of(replayed, options, backend, run_options);
  const suites::Provenance provenance{ASSAY_VERSION, options.subject.backend, described, run_options};
  if (!options.save.empty()) suites::write_finding(options.save, *finding, provenance);
  if (options.as_issue) {
    tell_issue(*finding, provenance);
  } else {
    show_verdict(replayed);
    if (case_run.is_session()) show_alone(run_alone(case_run, backend, run_options));
    if (finding && suites::is_finding(verdict.state) && !case_run.is_session()) show_cause(*finding);
    show_run(case_run, described);
    show_readings(verdict);
    show_answer(replayed);
  }
  return reports::breaks_conformance(verdict.state, options.subject.strict) ? not_conforming : conforms;
}

}  // namespace

Verb replay_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("replay", "run one case again and show why it is judged so");
  command
      ->add_option(
          "case", options->said.words,
          "a case line or a graph line in quotes; or a report.json and the number of a cause or finding; or the folder "
          "of a "
          "finding, of golden vectors or of an ONNX backend test; or a model.onnx of one node, with its inputs "
          "as .npy or .pb files; and a backend")
      ->required();
  options->subject.add_options(*command);
  options->subject.add_model_options(*command);
  command->add_option("--data", options->said.recipe, "recipe for the inputs of a model that no file gives: small:1")
      ->capture_default_str();
  command->add_flag("--shrink", options->shrinks, "look for the simplest case that fails in the same way");
  command->add_flag("--all", options->shows_all, "show every element and every term of the proof");
  command->add_flag("--issue", options->as_issue,
                    "print a text for an issue tracker instead, with a script that shows it");
  command->add_option("--save", options->save,
                      "write model, inputs, right outputs, script and a text for an issue tracker into this folder");
  return {command, [options, command] {
            return replay(*options, [command](const std::string& name) { return command->count(name) > 0; });
          }};
}

}  // namespace assay::tools
