// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/account.h"

#include "oracles/exact/operands.h"
#include "oracles/judging/expected.h"
#include "reference/onnx_io.h"
#include "reference/onnx_text.h"
#include "reference/sequence.h"
#include "suites/campaign/confirmation.h"
#include "suites/text/markup.h"
#include "suites/text/printable.h"
#include "suites/triage/clauses.h"
#include "suites/triage/telling.h"

#include <algorithm>
#include <sstream>

namespace assay::suites {
namespace {

using oracles::Outcome;
using oracles::State;
using oracles::Verdict;

// More elements than these are not listed.
constexpr Int most_listed = 32;
// Limits how many wrong elements are shown.
constexpr std::size_t most_shown = 3;

// -- words

// "float32", "bfloat16": as numpy calls it.
std::string type_word(DType type) {
  const std::string name(numpy_name(type));
  return name.substr(name.find('.') + 1);
}

std::string type_text(const TensorType& type) { return type_word(type.dtype) + assay::text(type.shape); }

// A runtime's words in a title: letters, digits and what means nothing in Markdown. Brackets make a link only where
// what follows is a parenthesis, another bracket or a colon.
std::string tame(std::string_view words, std::size_t limit) {
  std::string out = printable(words, limit);
  for (char& c : out) {
    const bool is_tame = std::isalnum(static_cast<unsigned char>(c)) ||
                         std::string_view(" .,:;=/()[]+-_'").find(c) != std::string_view::npos;
    if (!is_tame) c = ' ';
  }
  for (std::size_t at = out.find(']'); at != std::string::npos; at = out.find(']', at + 1))
    if (at + 1 < out.size() && std::string_view("([:").find(out[at + 1]) != std::string_view::npos) out[at] = ' ';
  return out;
}

std::string said(std::string_view words) { return code_span(printable(words, 400)); }

std::string backend_words(const Description& backend) {
  return backend.version.empty() ? backend.backend : backend.backend + " " + backend.version;
}

// The words of the line behind the inputs: attributes and presentation.
std::vector<std::string> attribute_words(const Case& c) {
  std::vector<std::string> words;
  std::istringstream all(line(c));
  for (std::string word; all >> word;) {
    const std::string key = word.substr(0, word.find('='));
    if (key == "shapes" || c.node.attributes.contains(key)) words.push_back(word);
  }
  return words;
}

std::vector<std::string> input_words(const Case& c) {
  std::vector<std::string> words;
  for (const Parameter& input : c.definition().inputs)
    if (const auto found = c.node.inputs.find(input.name);
        found != c.node.inputs.end() && found->second.presence == Input::Presence::given)
      words.push_back(input.name + " " + type_text(found->second.type));
  return words;
}

// Numbers of issues are of other projects than the one that reads this: no link is to be made of them.
std::string without_links(std::string_view words) {
  return joined(words, "", [](const char c) { return c == '#' ? std::string("issue ") : std::string(1, c); });
}

// What of the case its title says: the attributes, or the inputs where there are none.
std::string peculiarities(const Case& c) {
  const std::vector<std::string> attributes = attribute_words(c);
  return " (" + joined(attributes.empty() ? input_words(c) : attributes, ", ") + ")";
}

// -- what is wrong

struct Teller {
  const Incident& told;
  const Provenance& provenance;
  int set;                               // that shows it
  std::vector<oracles::Evidence> wrong;  // the elements that are told of

  const Case& c() const { return told.c; }
  const Verdict& verdict() const { return told.verdict; }
  DType output_type() const {
    return told.outcome && !told.outcome->sets.empty() && telling_output() < told.outcome->sets[0].size()
               ? told.outcome->sets[0][telling_output()].dtype()
               : c().definition().type_of(c().call(), c().definition().data());
  }
  std::string number(const std::string& written) const { return oracles::decimal(written, output_type()); }
  std::string who() const { return said(backend_words(provenance.description)); }

  // "shape [1,1,3] instead of [1,1,4]"; a runtime's words only where `quote` makes them fit.
  template <class F>
  std::string what(F&& quote) const {
    const Verdict& v = verdict();
    const std::string words = v.detail.empty() ? v.because : v.detail;
    switch (v.state) {
      case State::refused: return "a legal model is refused: " + quote(words);
      case State::error:
        return (v.because == words ? v.because : v.because + ", " + quote(words)) +
               (c().is_legal() ? "" : ", on a model that is not valid");
      case State::below:
        if (v.evidence)
          return "less accurate than it need be: " + number(v.evidence->got) + " instead of " +
                 number(v.evidence->want);
        break;
      case State::fail:
        if (v.evidence) return "wrong value, " + number(v.evidence->got) + " instead of " + number(v.evidence->want);
        break;
      default: break;
    }
    return words;
  }

  std::string title() const {
    const auto quote = [](const std::string& words) { return tame(words, 80); };
    return text(c().version) + ": " + what(quote) + peculiarities(c());
  }

  std::string sentence() const {
    const std::size_t others = told.before.size();
    std::string out = who() + " " + deed() +
                      (others == 0 ? ""
                                   : ", after " + std::to_string(others) + " other model" + (others == 1 ? "" : "s") +
                                         " in the same process") +
                      ".";
    if (!told.suspicions.empty())
      out += " A kernel with one mistake gives the same: " + joined(told.suspicions, "; or: ") + ".";
    return out;
  }

  std::string deed() const {
    const Verdict& v = verdict();
    const std::string op = text(c().version);
    const std::string words = v.detail.empty() ? "" : ": " + said(v.detail);
    switch (v.state) {
      case State::refused: return "turns away a model of " + op + " that the standard allows" + words;
      case State::error:
        return (v.because == "timed out"       ? "gives no answer to"
                : v.because == "out of memory" ? "takes more and more memory over"
                                               : "crashes on") +
               std::string(" a model of ") + op +
               (c().is_legal() ? "" : " that is not valid; it may be turned away, but must not end the process") +
               words;
      case State::below:
        return "is less accurate for " + op +
               " than its arithmetic need be. ONNX promises no accuracy: this is no "
               "breach of the standard" +
               (v.detail.empty() ? "" : " (" + v.detail + ")");
      default: break;
    }
    if (v.because == "count") return "gives for " + op + " " + v.detail;
    if (is_about_type(v)) return "gives for " + op + " an output of " + v.detail;
    return "gives a wrong value for " + op + (v.detail.empty() ? "" : " (" + v.detail + ")");
  }

  // -- expected and got

  std::size_t telling_output() const { return suites::telling_output(c(), verdict(), told.outcome); }
  const Tensor* output() const { return output_of(told.outcome, set, telling_output()); }

  static std::string listing(const Tensor& tensor) {
    std::string out = type_text(tensor.type());
    if (tensor.elements() > most_listed) return out;
    for (Int i = 0; i < tensor.elements(); ++i)
      out += (i == 0 ? ": " : ", ") +
             oracles::decimal(oracles::written(oracles::scalar(tensor, i), tensor.dtype()), tensor.dtype());
    return out;
  }

  std::string expected() const {
    if (!c().is_legal()) return "The model breaks a constraint: any answer but the end of the process.";
    const auto shape = oracles::oracle_of(c().version).shape(c().call(), {});
    if (!shape) return "an output";
    const auto right = volume(*shape) <= most_listed ? oracles::expected(c(), set) : std::nullopt;
    return (right ? listing(right->at(telling_output())) : "an output of shape " + assay::text(*shape)) +
           wrong_elements(true);
  }

  std::string got() const {
    if (const Tensor* tensor = output()) return listing(*tensor) + wrong_elements(false);
    if (told.outcome && !told.outcome->types.empty() && !told.outcome->types[0].empty())
      return type_text(told.outcome->types[0][0]);
    const Verdict& v = verdict();
    return printable(v.because + (v.detail.empty() ? "" : ": " + v.detail), 600) + wrong_elements(false);
  }

  // The worst of them, where not all elements are listed anyway or an interval says more than the number.
  std::string wrong_elements(bool wanted) const {
    std::string out;
    for (const oracles::Evidence& each : wrong) {
      out += "\n  " + assay::text(each.index) + ": " + number(wanted ? each.want : each.got);
      if (wanted && !each.lower.empty() && each.lower != each.upper)
        out += ", and anything from " + number(each.lower) + " to " + number(each.upper) + " is within rounding";
    }
    return out;
  }

  // -- the case, the clauses, the versions

  std::string failing() const {
    std::string out;
    if (const auto model = model_text(model_of(c())))
      out += "The model, as `onnx.parser` reads it:\n\n" + code_block(model->substr(0, model->size() - 1)) + "\n";
    else
      out += "The model is `model.onnx`.\n\n";
    const Operands data = operands(c(), set);
    std::string inputs;
    for (std::size_t i = 0; i < data.size(); ++i)
      if (const std::string& name = c().definition().inputs[i].name; data[i] && !c().sources.at(name).initializer)
        inputs += (inputs.empty() ? "" : "\n") + name + " = " + listing(*data[i]);
    return out + "Its inputs, from `" + "test_data_set_" + std::to_string(set) + "`:\n\n" + code_block(inputs);
  }

  std::string clause(const std::string& id) const {
    if (const Ruling* ruling = find_ruling(id))
      return "- " + std::string(ruling->title) + ": " + without_links(ruling->decision) + " (ruling " + id +
             " of assay)\n";
    const std::string bare = id.substr(id.find('.') + 1);
    const Constraint* own = c().definition().constraint(bare);
    const auto general = std::ranges::find(general_constraints(), bare, &Constraint::id);
    const std::string words = own ? own->text : general == general_constraints().end() ? "" : general->text;
    return "- a constraint that the model breaks: " + code_span(words) + " (" + id + " of assay)\n";
  }

  std::string clauses() const {
    std::string out =
        "- [" + text(c().version) + "](" + page_of(c().version) + ") in ONNX " + std::string(standard_release) + "\n";
    for (const std::string& id : clauses_of(c())) out += clause(id);
    return out;
  }

  std::string closing() const {
    return "### Expected\n\n" + code_block(expected()) + "\n### Actual\n\n" + code_block(got()) +
           "\n### The standard\n\n" + clauses() + "\n### Versions\n\n" + versions();
  }

  // Returns its line; where other cases ran before it the session.
  std::string found() const {
    if (told.before.empty()) return line(c());
    Steps session = told.before;
    session.push_back({line(c()), provenance.run_options.settings});
    return session_text(session);
  }

  std::string versions() const {
    const Description& backend = provenance.description;
    return "- " + who() + (backend.device.empty() ? "" : ", " + said(backend.device)) + ", " +
           said(configuration(provenance.run_options)) + "\n- opset " + std::to_string(c().opset) + ", IR version " +
           std::to_string(c().ir_version) + ", ONNX " + std::string(standard_release) + "\n- found by assay " +
           provenance.tool_version + " as " + code_span(found()) + "\n";
  }
};

// Of one data set, the first few; of a large output the one that the verdict names.
std::vector<oracles::Evidence> wrong_elements(const Incident& told, const Provenance& provenance, int set) {
  constexpr Int most_looked_at = Int{1} << 20;
  const auto& evidence = told.verdict.evidence;
  if (!evidence) return {};
  const bool is_there = told.outcome && !told.outcome->sets.empty() && !told.outcome->sets[0].empty();
  if (!is_there || told.outcome->sets[0][0].elements() > most_looked_at) return {*evidence};
  const oracles::Judge bench(told.c, judgement_of(provenance.run_options.level, provenance.description.arithmetic));
  std::vector<oracles::Evidence> out;
  for (const oracles::Offender& each : bench.offenders(*told.outcome, told.verdict)) {
    if (each.set == set) out.push_back(bench.evidence(each, told.verdict));
    if (out.size() == most_shown) break;
  }
  return out;
}

}  // namespace

Account account_of(const Incident& incident, const Provenance& provenance) {
  const int set = telling_set({incident.c, incident.verdict, incident.outcome, provenance});
  const Teller teller{incident, provenance, set, wrong_elements(incident, provenance, set)};
  Result<Script> script =
      script_of(incident.c, incident.verdict, incident.outcome, provenance, incident.before, incident.comes_again);
  const char* again =
      incident.comes_again ? "" : " It does not end alike every time (memory that nobody wrote, a race?).";
  Account account{teller.title(), teller.sentence() + again + "\n\n", std::nullopt, teller.closing(), ""};
  if (!script) {
    account.no_script = script.error();
    account.opening += teller.failing() + "\n";
    return account;
  }
  account.script = *std::move(script);
  if (account.script->reads_files) account.opening += "The script reads files of the folder that is attached.\n\n";
  return account;
}

Account account_of(const Finding& finding, const Provenance& provenance) {
  Incident told{finding.c, finding.answered.verdict, &finding.answered.outcome, finding.suspicions};
  told.comes_again = finding.comes_again;
  if (finding.session.empty()) return account_of(told, provenance);
  const Result<Steps> steps = parse_session(finding.session);
  expects(static_cast<bool>(steps), "a finding has the session that was run");
  told.before.assign(steps->begin(), steps->end() - 1);
  Provenance of_session = provenance;
  of_session.run_options.settings = steps->back().settings;
  return account_of(told, of_session);
}

std::string issue_text(const Account& account) {
  std::string out = account.title + "\n\n" + account.opening;
  if (account.script)
    out += code_block(account.script->text.substr(0, account.script->text.size() - 1), "python") + "\n";
  return out + account.closing;
}

std::string readme_text(const Account& account, std::string_view line, const Provenance& provenance) {
  std::string out = "# " + account.title + "\n\n" + account.opening;
  if (account.script)
    out +=
        "- `python3 repro.py` shows it with onnx, numpy and the runtime alone. It ends with 1 while the defect stands "
        "and with 0 once it is mended.\n";
  else
    out += "- There is no script, because " + code_span(account.no_script) + ".\n";
  out += "- `ISSUE.md` is a text for an issue tracker; its first line is the title.\n";
  out += "- To run it again, and to see why it is judged so, in this folder: " +
         code_span(replay_command(provenance, ".")) + "\n";
  // Data that a line names by what they hold are those of a model, or lie in this folder alone.
  if (line.find("~stored:") == line.npos || !provenance.run_options.model.empty())
    out += "- The same from the line alone: " + code_span(replay_command(provenance, line)) + "\n";
  return out + "\n" + account.closing +
         "\n### Files\n\n`model.onnx` and `test_data_set_N/` are in the layout of ONNX's backend tests: inputs and the "
         "right outputs. `finding.json` has the verdict with its proof.\n";
}

}  // namespace assay::suites
