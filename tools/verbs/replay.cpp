// SPDX-License-Identifier: Apache-2.0
// assay replay: asks one question again and shows what was expected, what came back and why it was judged so.
#include "oracles/case_class.h"
#include "oracles/enclosure.h"
#include "oracles/finding.h"
#include "oracles/operands.h"
#include "suites/crosscheck/wrong_models.h"
#include "suites/finding_folder.h"
#include "tools/verbs/subject.h"
#include "tools/verbs/verbs.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

namespace assay::tools {
namespace {

using oracles::Element;
using oracles::Evidence;
using oracles::Outcome;
using oracles::Verdict;

constexpr Int most_elements = 24;

struct Options {
  Subject subject;
  std::string line, folder, save;
  bool shrinks = false;
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
  void ask(const suites::Ask& question) override { backend_->ask(question); }
  Outcome answer() override { return heard = backend_->answer(); }
  Outcome heard;

 private:
  std::unique_ptr<suites::Backend> backend_;
};

std::string constraint_text(const Definition& definition, const std::string& id) {
  if (const Constraint* own = definition.constraint(id)) return own->text;
  const auto general = std::ranges::find(general_constraints(), id, &Constraint::id);
  return general == general_constraints().end() ? "" : general->text;
}

void show_case(const suites::Planned& planned, const Definition& definition) {
  const Call call = planned.c.call();
  row("case") << planned.line << "\n";
  row("id") << case_id(planned.line) << "\n";
  row("class") << oracles::class_of(planned.c) << "\n";
  for (const std::string& id : definition.violated(call)) {
    row("breaks") << id << ": " << constraint_text(definition, id) << "\n";
  }
}

void show_outcome(const Outcome& outcome) {
  row("outcome") << oracles::name(outcome.kind) << (outcome.because.empty() ? "" : ": ") << outcome.because << "\n";
}

// Of the default level.
std::string interval(const Element& element, DType type) {
  if (element.kind != oracles::Kind::finite) return "";
  const oracles::Interval asked = oracles::interval(element, element.asked, type);
  return "  [" + oracles::written(asked.lower, type) + ", " + oracles::written(asked.upper, type) + "]";
}

const Tensor* first_output(const Outcome& outcome, int set) {
  const auto index = static_cast<std::size_t>(set);
  return index < outcome.sets.size() && !outcome.sets[index].empty() ? &outcome.sets[index].front() : nullptr;
}

std::string got(const Tensor* tensor, const oracles::Answer& answer, Int index) {
  if (!tensor || tensor->shape() != answer.shape() || tensor->dtype() != answer.dtype()) return "-";
  return oracles::written(oracles::scalar(*tensor, index), tensor->dtype());
}

void show_elements(const oracles::Answer& answer, const Tensor* tensor) {
  const Shape shape = answer.shape();
  const Int count = volume(shape);
  for (Int index = 0; index < std::min(count, most_elements); ++index) {
    const Element element = answer.element(index);
    std::cout << "  " << text(oracles::position(shape, index)) << "  got " << got(tensor, answer, index) << "  want "
              << oracles::wanted(element, answer.dtype()) << (element.reason.empty() ? "" : ": ") << element.reason
              << interval(element, answer.dtype()) << "\n";
  }
  if (count > most_elements) std::cout << "  … and " << count - most_elements << " more\n";
}

// What the rulings expect, or the readings the verdict found. A model that is invalid under them has no answer.
void show_answer(const Case& c, const Readings& readings, const Listening& backend) {
  if (!c.definition().violated(c.call(), readings).empty()) return;
  for (int set = 0; set < data_sets; ++set) {
    const auto answer = oracles::oracle_of(c.version).answer(c.call(), operands(c, set), readings, {});
    const Tensor* tensor = first_output(backend.heard, set);
    row("data " + std::to_string(set)) << "expected " << name(answer->dtype()) << text(answer->shape());
    if (tensor) std::cout << ", got " << name(tensor->dtype()) << text(tensor->shape());
    std::cout << "\n";
    show_elements(*answer, tensor);
  }
}

void show_evidence(const Evidence& evidence) {
  row("element") << text(evidence.index) << " of data set " << evidence.set << "  got " << evidence.got << "  want "
                 << evidence.want << "\n";
  if (!evidence.exact.empty()) {  // an infinity or NaN is wanted by itself
    row("interval") << "[" << evidence.lower << ", " << evidence.upper << "]  " << evidence.arithmetic << "\n";
    row("exact") << evidence.exact << "\n";
    row("budget") << evidence.budget << "\n";
  }
  for (const oracles::Tap& tap : evidence.taps) {
    row("tap") << tap.where << " ";
    for (const std::string& factor : tap.factors) std::cout << " " << factor;
    std::cout << "\n";
  }
}

void show_verdict(const Verdict& verdict) {
  for (const auto& [id, reading] : verdict.followed) row("follows") << id << " " << reading << "\n";
  if (!verdict.readings.departures().empty()) row("reading") << text(verdict.readings) << "\n";
  if (verdict.evidence) show_evidence(*verdict.evidence);
  row("verdict") << oracles::name(verdict.state);
  if (verdict.level) std::cout << ", meets " << oracles::name(*verdict.level);
  if (!verdict.because.empty()) std::cout << " (" << verdict.because << ")";
  std::cout << (verdict.detail.empty() ? "" : ": ") << verdict.detail << "\n";
}

// A line, or the folder of a finding.
suites::Planned planned(const Options& options) {
  if (options.line.empty() == options.folder.empty())
    throw InputError("name one case line, in quotes, or one folder of a finding: assay replay BACKEND 'CASE'");
  if (!options.folder.empty()) {
    Result<suites::Planned> read = suites::read_finding(options.folder);
    if (!read) throw InputError(read.error());
    return *std::move(read);
  }
  Result<Case> parsed = parse_case(options.line);
  if (!parsed) throw InputError(parsed.error());
  std::string canonical = line(*parsed);
  return {*std::move(parsed), std::move(canonical), "command line", std::nullopt};
}

// Asks and judges other cases in the same session.
suites::AskCase asking(Listening& backend, const suites::Conduct& conduct) {
  return [&backend, &conduct](const Case& c) {
    const Verdict verdict = suites::certify({c, line(c), "shrinking", std::nullopt}, backend, conduct);
    return suites::Answered{backend.heard, verdict};
  };
}

void show_finding(const suites::Finding& finding) {
  if (finding.is_shrunk) row("shrunk") << finding.line << "\n";
  if (finding.is_shrunk) row("asks") << finding.asks << "\n";
  row("looks") << text(finding.signature) << "\n";
  if (suites::is_too_large_to_explain(finding.answered.outcome))
    row("models") << "not tried: wrong models are compared up to " << suites::most_explained << " outputs\n";
  for (const std::string& id : finding.diagnosis.models) {
    const auto model = std::ranges::find(crosscheck::wrong_models(), id, &suites::WrongModel::id);
    const char* word = finding.diagnosis.by_shape ? "shape of" : finding.diagnosis.is_confirmed ? "matches" : "perhaps";
    row(word) << model->sentence << " (" << id << ")\n";
  }
}

int replay(const Options& options) {
  const suites::Planned question = planned(options);
  const suites::Conduct conduct = options.subject.conduct();
  Listening backend(options.subject.opener()());
  const suites::Description& described = backend.describe();
  show_case(question, question.c.definition());
  row("backend") << described.backend << " " << described.version << " " << described.device << "\n";
  const Verdict verdict = suites::certify(question, backend, conduct);
  show_outcome(backend.heard);
  show_answer(question.c, verdict.readings, backend);
  show_verdict(verdict);
  const bool is_finding = suites::is_finding(verdict.state);
  if (is_finding || !options.save.empty()) {
    const suites::Finding finding =
        suites::finding_of(question.c, question.origin, {backend.heard, verdict}, crosscheck::wrong_models(),
                           {.judgement = {conduct.level, described.arithmetic}},
                           options.shrinks && is_finding ? asking(backend, conduct) : suites::AskCase());
    if (is_finding) show_finding(finding);
    if (!options.save.empty())
      suites::write_finding(options.save, finding, {ASSAY_VERSION, options.subject.backend, described, conduct});
  }
  return breaks_conformance(verdict.state, options.subject) ? not_conforming : conforms;
}

}  // namespace

Verb replay_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("replay", "ask one question again and show why it is judged so");
  options->subject.add_options(*command);
  take_words(*command, "line",
             {{Named::question, &options->line},
              {Named::folder, &options->folder},
              {Named::backend, &options->subject.backend}},
             "the case line, in quotes, or the folder of a finding; and the backend, as --backend names it");
  command->add_flag("--shrink", options->shrinks, "look for the simplest case that fails in the same way");
  command->add_option("--save", options->save, "write model, inputs, right outputs and the verdict into this folder");
  return {command, [options] { return replay(*options); }};
}

}  // namespace assay::tools
