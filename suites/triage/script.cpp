// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/script.h"

#include "reference/onnx_io.h"
#include "reference/onnx_text.h"
#include "reference/sequence.h"
#include "suites/text/numpy_text.h"
#include "suites/triage/answer_check.h"
#include "suites/triage/snippet.h"
#include "suites/workers/vector_folder.h"

#include <algorithm>
#include <cstdio>

namespace assay::suites {
namespace {

using oracles::Outcome;
using oracles::State;
using oracles::Verdict;
using Lines = std::vector<std::string>;

// What a model may take as text.
constexpr std::size_t most_constants = 1 << 10, most_model_letters = 4000, most_letters = 1 << 20;
constexpr std::size_t widest_line = 110;
// How long a runtime that hangs is waited for, in seconds.
constexpr const char* patience = "60";
// The exit code of a process that lived: nothing else gives it by chance.
constexpr const char* lived = "7";

bool lacks_in_numpy(DType type) { return numpy_name(type).starts_with("ml_dtypes."); }

bool needs_ml_dtypes(const Case& c) {
  return std::ranges::any_of(c.node.inputs,
                             [](const auto& input) { return lacks_in_numpy(input.second.type.dtype); }) ||
         std::ranges::any_of(c.definition().outputs, [&](const Parameter& output) {
           return lacks_in_numpy(c.definition().type_of(c.call(), output));
         });
}

// Returns the graph inputs that are no initializers, by name, in their order.
std::vector<std::pair<std::string, Tensor>> graph_input_tensors(const Case& c, int set) {
  std::vector<std::pair<std::string, Tensor>> out;
  const Operands data = operands(c, set);
  const std::vector<Parameter>& inputs = c.definition().inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const auto source = c.sources.find(inputs[i].name); source != c.sources.end() && !source->second.initializer)
      out.emplace_back(inputs[i].name, data[i].value());
  return out;
}

// Writes the model as its text has it, its only node in the line of the graph where that is short enough.
std::string compact(const std::string& text) {
  const std::string opens = "{\n  ", closes = "\n}\n";
  const std::size_t open = text.rfind(opens);
  std::string before = text.substr(0, open + 1), node = text.substr(open + opens.size());
  node.resize(node.size() - closes.size());
  const std::size_t line = before.size() - (before.rfind('\n') + 1);
  const bool fits = node.find('\n') == std::string::npos && line + node.size() + 3 <= widest_line;
  return fits ? before + " " + node + " }" : before + "\n  " + node + "\n}";
}

// Holds a case that runs first in the same process, and how it is run.
struct Earlier {
  Case c;
  Snippet snippet;
};

class Writer {
 public:
  Writer(const JudgedCase& judged, std::vector<Earlier> before, Snippet snippet, bool comes_again)
      : judged_(judged), before_(std::move(before)), snippet_(std::move(snippet)), comes_again_(comes_again) {}

  Result<Script> write() {
    set_ = telling_set(judged_);
    is_stacked_ = tells_neither();
    runs_both_ = needs_both();
    if (!before_.empty()) write_before();
    write_model();
    const std::string run = run_expression();
    if (c_.is_legal()) {
      const Result<AnswerCheck> check = answer_check_of(judged_, set_, output_, is_stacked_);
      if (!check) return Error{check.error()};
      write_checked(run, *check);
    } else {
      write_turned_away(run);
    }
    return Script{assembled(), reads_files_, std::move(files_)};
  }

 private:
  void add(std::string line) { body_.push_back(std::move(line)); }
  void add(const Lines& lines, const std::string& indent = "") {
    for (const std::string& line : lines) add(indent + line);
  }

  bool dies() const { return verdict_.state == State::error; }
  bool hangs() const { return verdict_.because == "timed out"; }
  bool eats_memory() const { return verdict_.because == "out of memory"; }
  // Tells whether it may take the process with it, as what damages memory may: another process has to tell of that.
  bool ends_process() const { return (dies() && !hangs()) || !before_.empty(); }
  std::string code_of_life() const { return ends_process() ? lived : "0"; }

  // Tells whether a wrong answer is known, but not of which data set it is.
  bool tells_neither() const {
    const bool is_wrong = verdict_.state == State::fail || verdict_.state == State::below;
    return is_wrong && !is_about_type(verdict_) && c_.is_legal() && !verdict_.evidence &&
           !provenance_.description.answers_shapes && !output_of(outcome_, 0, output_);
  }

  // Tells whether the defect may need the runs that assay made of the other data set: what came before it, or after it,
  // which then overwrote the answer; a crash and a refusal do not say where they came.
  bool needs_both() const {
    if (provenance_.description.answers_shapes) return false;
    if (is_stacked_ || !before_.empty() || dies() || verdict_.state == State::refused || set_ > 0) return true;
    const Tensor* second = output_of(outcome_, 1, output_);
    return !second || has_large_outputs(c_) || oracles::is_among(*second, answers_of(judged_, 1, output_));
  }

  // -- the cases

  // onnx.parser reads no attributes that are tensors: they are added to what it made.
  void write_model() {
    Case without = c_;
    std::erase_if(without.node.attributes,
                  [](const auto& each) { return std::holds_alternative<Tensor>(each.second); });
    const bool is_text = without == c_ || short_model_text(model_of(without));
    add("model = " + model_expression(is_text ? without : c_, ""));
    for (const auto& [name, value] : c_.node.attributes)
      if (const Tensor* tensor = is_text ? std::get_if<Tensor>(&value) : nullptr)
        add("model.graph.node[0].attribute.append(onnx.helper.make_attribute(" + python_string(name) +
            ", onnx.numpy_helper.from_array(" + numpy_text(*tensor, most_letters).value() + ")))");
  }

  static std::optional<std::string> short_model_text(const std::string& model) {
    const auto text = model_text(model, most_constants);
    return text && text->size() <= most_model_letters ? text : std::nullopt;
  }

  // `folder` has the files of a case that is not the finding's own.
  std::string model_expression(const Case& c, const std::string& folder) {
    const std::string bytes = model_of(c);
    if (const auto text = short_model_text(bytes))
      return "onnx.parser.parse_model(" + python_block(compact(*text)) + ")";
    return "onnx.load(" + file_text(folder, "model.onnx", bytes) + ")";
  }

  std::string file_text(const std::string& folder, const std::string& path, const std::string& bytes) {
    reads_files_ = true;
    if (!folder.empty()) files_[folder + path] = bytes;
    return "here / " + python_string(folder + path);
  }

  std::string data_expression(const Case& c, int set, const std::string& folder, std::size_t indent) {
    std::string one_line, several;
    int number = 0;
    for (const auto& [input, tensor] : graph_input_tensors(c, set)) {
      const std::string path = data_set_name(set) + "/" + tensor_name("input", number++);
      const auto text = numpy_text(tensor);
      const std::string entry =
          python_string(input) + ": " +
          (text ? *text
                : "onnx.numpy_helper.to_array(onnx.load_tensor(" +
                      file_text(folder, path, folder.empty() ? "" : encode_tensor(tensor, input)) + "))");
      one_line += (one_line.empty() ? "" : ", ") + entry;
      several += (several.empty() ? "" : ",\n" + std::string(indent + 1, ' ')) + entry;
    }
    const bool fits = indent + one_line.size() + 3 <= widest_line && one_line.find('\n') == std::string::npos;
    return "{" + (fits ? one_line : several) + "}";
  }

  // Returns the name of the function that runs an earlier case: of one beside `run` where its settings ask for that.
  std::string runner_of(const Earlier& earlier) {
    const Lines body = earlier.snippet.inlined("return ");
    if (body == snippet_.inlined("return ")) return "run";
    const auto known = std::ranges::find(other_runs_, body);
    const auto number = known - other_runs_.begin() + 1;
    if (known == other_runs_.end()) other_runs_.push_back(body);
    return "run_" + std::to_string(number);
  }

  void write_before() {
    const std::string opens = "before = [(";
    const Lines runners = transformed<std::string>(before_, [&](const Earlier& each) { return runner_of(each); });
    for (std::size_t i = 0; i < before_.size(); ++i) {
      const std::string folder = "before_" + std::to_string(i) + "/";
      const std::string margin(i == 0 ? 0 : opens.size() - 1, ' ');
      const std::string runner = other_runs_.empty() ? "" : runners[i] + ", ";
      add((i == 0 ? opens : margin + "(") + runner + model_expression(before_[i].c, folder) + ",");
      for (int set = 0; set < data_sets; ++set) {
        const bool is_last = set + 1 == data_sets;
        add(std::string(opens.size(), ' ') + data_expression(before_[i].c, set, folder, opens.size()) +
            (!is_last                 ? ","
             : i + 1 < before_.size() ? "),"
                                      : ")]"));
      }
    }
    const std::string how = other_runs_.empty() ? "" : "how, ";
    add("for " + how +
        "each, *sets in 10 * before:  # in the same process, whatever comes of it: what memory holds then "
        "is chance");
    add("    with contextlib.suppress(Exception):");
    add(std::string("        ") + (how.empty() ? "run" : "how") + "(each, *sets)");
  }

  // Writes the data and what comes before the last expression, which gives the outputs of each data set.
  std::string run_expression() {
    const std::string opens = "sets = [";
    lines_of_run_ = before_.empty() ? snippet_.inlined("") : Lines{"run(model, *sets)"};
    const bool reads_data = !before_.empty() || std::ranges::any_of(lines_of_run_, [](const std::string& line) {
      return line.find("sets") != std::string::npos;
    });
    std::string run = lines_of_run_.back();
    lines_of_run_.pop_back();
    if (!reads_data) return run;
    add(opens + data_expression(c_, 0, "", opens.size()) + (runs_both_ ? "," : "]"));
    if (runs_both_)
      add(std::string(opens.size(), ' ') + data_expression(c_, 1, "", opens.size()) +
          (set_ > 0 ? "]  # the second answer of one session is wrong" : "]"));
    return run;
  }

  // -- the answer

  // "[[got]] = ": of the data sets that are run the one that tells, and of its outputs.
  std::string assigned_to_got() const {
    std::string outputs;
    for (std::size_t i = 0; i < c_.call().requested_outputs().size(); ++i)
      outputs += std::string(i == 0 ? "" : ", ") + (i == output_ ? "got" : "_");
    outputs = "[" + outputs + "]";
    const std::string others = set_ > 0 ? "_, " + outputs : outputs + ", _";
    return (runs_both_ ? others : "[" + outputs + "]") + " = ";
  }

  // Checks a legal model, which has a right answer.
  void write_checked(const std::string& run, const AnswerCheck& check) {
    const bool may_refuse = verdict_.state == State::refused;
    const std::string indent = may_refuse ? "    " : "";
    if (may_refuse) add("try:");
    add(lines_of_run_, indent);
    add(indent + (is_stacked_ ? "got = np.stack([outputs[" + std::to_string(output_) + "] for outputs in " + run + "])"
                              : assigned_to_got() + run));
    if (may_refuse) {
      add("except Exception as refusal:");
      add("    raise SystemExit(f\"the model is turned away: {refusal}\")");
    }
    add(check.lines);
    add("print(" + snippet_.version() + ", \"gives\", " + check.shown + ", \"and the standard says\", " + check.wanted +
        ")");
    add("raise SystemExit(" + code_of_life() + " if " + check.right + " else 1)");
  }

  // Runs a model that breaks a constraint: it may be turned away or not, as long as the process lives.
  void write_turned_away(const std::string& run) {
    add("try:");
    add(lines_of_run_, "    ");
    add("    " + run);
    add("finally:  # it may be turned away, or run: nothing is prescribed but that the process lives");
    add("    raise SystemExit(" + code_of_life() + ")");
  }

  // -- what ends the process

  // "more than 400 MiB of memory resident"
  Int most_memory() const {
    long long limit = 0;
    if (std::sscanf(verdict_.detail.c_str(), "more than %lld MiB", &limit) != 1 || limit < 1 || limit > 1 << 30)
      return 4096;
    return limit;
  }

  void write_guard(Lines& out) const {
    if (!comes_again_) {
      out.emplace_back(
          "if os.environ.get(\"MALLOC_PERTURB_\") != \"165\":  # the C library fills what memory it hands out");
      out.emplace_back("    os.environ[\"MALLOC_PERTURB_\"] = \"165\"");
      out.emplace_back("    os.execv(sys.executable, [sys.executable, *sys.argv])");
    }
    if (hangs())
      out.push_back(std::string("faulthandler.dump_traceback_later(timeout=") + patience +
                    ", exit=True)  # ends with 1 where no answer comes");
    if (!ends_process()) return;
    const std::string lives = std::string("code == ") + lived;
    out.emplace_back("if len(sys.argv) == 1:  # what follows runs in a process of its own, which ends with it");
    out.emplace_back("    code = subprocess.run([sys.executable, __file__, \"run\"]).returncode");
    if (!eats_memory()) {
      out.push_back("    raise SystemExit(0 if " + lives + " else f\"the process ends with {code}\")");
      return;
    }
    const std::string limit = std::to_string(most_memory());
    out.emplace_back("    taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10");
    out.push_back("    raise SystemExit(0 if " + lives + " and taken <= " + limit +
                  " else f\"the process ends with {code}, having taken {taken} MiB\")");
    out.push_back("resource.setrlimit(resource.RLIMIT_DATA, (" + std::to_string(2 * most_memory()) + " << 20,) * 2)");
  }

  // -- all together

  // Returns the functions that run the cases of a session, each under its settings.
  Lines functions_of_session() const {
    Lines all = snippet_.functions;
    for (std::size_t i = 0; i < other_runs_.size(); ++i) {
      all.insert(all.end(), {"", "", "def run_" + std::to_string(i + 1) + "(model, *sets):"});
      for (const std::string& line : other_runs_[i]) all.push_back("    " + line);
    }
    return all;
  }

  std::string assembled() const {
    const std::string what = verdict_.detail.empty() ? verdict_.because : verdict_.detail;
    Lines guard, rest = snippet_.helpers();
    write_guard(guard);
    if (!before_.empty()) rest = functions_of_session();
    if (!rest.empty()) rest.insert(rest.end(), {"", ""});
    rest.insert(rest.end(), body_.begin(), body_.end());
    const Lines imports = snippet_.imports();
    const std::string all = joined(guard, "\n") + joined(imports, "\n") + joined(rest, "\n");
    const auto uses = [&](const std::string& words) { return all.find(words) != std::string::npos; };

    Lines out{"# " + text(c_.version) + " of " +
                  one_line(provenance_.description.backend + " " + provenance_.description.version) + ": " +
                  std::string(oracles::name(verdict_.state)) + ", " + one_line(what),
              "# Ends with 1 while that is so and with 0 once it is mended."};
    if (reads_files_)
      out.push_back("# Reads files beside it, as `assay replay --save FOLDER` writes them for this case: " +
                    one_line(line(c_)));
    for (const std::string used : {"contextlib.", "faulthandler.", "os.environ", "pathlib.", "resource.", "statistics.",
                                   "subprocess.", "sys."}) {
      const std::string module = used.substr(0, used.find('.'));
      if (uses(used) || (reads_files_ && module == "pathlib")) out.push_back("import " + module);
    }
    if (out.back().starts_with("import")) out.emplace_back("");
    if (!guard.empty()) guard.emplace_back("");
    out.insert(out.end(), guard.begin(), guard.end());
    if (uses("ml_dtypes.")) out.emplace_back("import ml_dtypes");
    if (uses("np.")) out.emplace_back("import numpy as np");
    out.emplace_back(uses("onnx.parser.") ? "import onnx.parser" : "import onnx");
    out.insert(out.end(), imports.begin(), imports.end());
    out.emplace_back("");
    if (reads_files_) out.emplace_back("here = pathlib.Path(__file__).parent");
    if (!rest.empty() && rest[0].starts_with("def ")) out.emplace_back("");
    out.insert(out.end(), rest.begin(), rest.end());
    return tidy(out);
  }

  // Joins lines with never more than two blank ones, which what was dropped left behind.
  static std::string tidy(const Lines& lines) {
    std::string all;
    int blank = 0;
    for (const std::string& line : lines) {
      blank = line.empty() ? blank + 1 : 0;
      if (blank <= 2) all += line + "\n";
    }
    return all;
  }

  JudgedCase judged_;
  const Case& c_ = judged_.c;
  const Verdict& verdict_ = judged_.verdict;
  const Outcome* outcome_ = judged_.outcome;
  const Provenance& provenance_ = judged_.provenance;
  std::vector<Earlier> before_;
  Snippet snippet_;
  bool comes_again_;
  std::size_t output_ = telling_output(c_, verdict_, outcome_);
  int set_ = 0;
  Lines body_, lines_of_run_;
  std::vector<Lines> other_runs_;  // bodies of functions
  std::map<std::string, std::string> files_;
  bool runs_both_ = false, is_stacked_ = false, reads_files_ = false;
};

}  // namespace

Result<Script> script_of(const Case& c, const Verdict& verdict, const Outcome* outcome, const Provenance& provenance,
                         std::span<const Step> before, bool comes_again) {
  if (!is_finding(verdict.state)) return Error{"nothing is wrong"};
  std::vector<Earlier> earlier;
  for (const Step& step : before) earlier.push_back({*parse_case(step.line), {}});
  const bool needs_types =
      needs_ml_dtypes(c) || std::ranges::any_of(earlier, [](const Earlier& each) { return needs_ml_dtypes(each.c); });
  const auto snippet_under = [&](const Settings& settings) {
    Provenance under = provenance;
    under.run_options.settings = settings;
    return snippet_of(under, needs_types, !c.is_legal());
  };
  Result<Snippet> snippet = snippet_under(provenance.run_options.settings);
  if (!snippet) return Error{snippet.error()};
  for (std::size_t i = 0; i < earlier.size(); ++i) earlier[i].snippet = *snippet_under(before[i].settings);
  if (verdict.because == "garbled") return Error{"what it answered is no answer that a runtime gives"};
  const JudgedCase judged{c, verdict, outcome, provenance};
  return Writer(judged, std::move(earlier), *std::move(snippet), comes_again).write();
}

}  // namespace assay::suites
