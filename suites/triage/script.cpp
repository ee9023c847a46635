// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/script.h"

#include "oracles/judging/expected.h"
#include "reference/onnx_io.h"
#include "reference/onnx_text.h"
#include "reference/sequence.h"
#include "suites/text/numpy_text.h"
#include "suites/triage/snippet.h"
#include "suites/workers/vector_folder.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace assay::suites {
namespace {

using oracles::Admitted;
using oracles::Outcome;
using oracles::State;
using oracles::Verdict;
using Lines = std::vector<std::string>;

// More outputs than this are not compared one by one.
constexpr Int most_outputs = 1 << 12;
// How long a runtime that hangs is waited for, in seconds.
constexpr const char* patience = "60";

// Why there is no script; thrown only inside this file: script_of catches it.
struct Unwritable {
  std::string text;
};

// -- what is run and admitted

bool lacks_in_numpy(DType type) { return numpy_name(type).starts_with("ml_dtypes."); }

bool needs_ml_dtypes(const Case& c) {
  return std::ranges::any_of(c.node.inputs,
                             [](const auto& input) { return lacks_in_numpy(input.second.type.dtype); }) ||
         lacks_in_numpy(c.definition().type_of(c.call(), c.definition().outputs.front()));
}

// The graph inputs that are no initializers, by name, in their order.
std::vector<std::pair<std::string, Tensor>> graph_input_tensors(const Case& c, int set) {
  std::vector<std::pair<std::string, Tensor>> out;
  const Operands data = operands(c, set);
  const std::vector<Parameter>& inputs = c.definition().inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const auto source = c.sources.find(inputs[i].name); source != c.sources.end() && !source->second.initializer)
      out.emplace_back(inputs[i].name, data[i].value());
  return out;
}

bool is_large(const Case& c) {
  const auto shape = oracles::oracle_of(c.version).shape(c.call(), {});
  return !shape || volume(*shape) > most_outputs;
}

// Type and shape of the right output, under the rulings.
TensorType right_type(const Case& c, int set, std::size_t output) {
  const oracles::Answers answers = oracles::oracle_of(c.version).answer(c.call(), operands(c, set), {}, {});
  return {answers.at(output)->dtype(), answers.at(output)->shape()};
}

const Tensor* output_of(const Outcome* outcome, int set, std::size_t output) {
  const auto at = static_cast<std::size_t>(set);
  if (!outcome || at >= outcome->sets.size() || output >= outcome->sets[at].size()) return nullptr;
  return &outcome->sets[at][output];
}

// The output that the script compares, of those asked for: the one that offends, else the first.
std::size_t telling_output(const Verdict& verdict) {
  return verdict.evidence ? static_cast<std::size_t>(verdict.evidence->output) : 0;
}

oracles::Level level_of(const Verdict& verdict, const RunOptions& run_options) {
  return verdict.state == State::below ? run_options.level : oracles::Level::widest;
}

// -- writing

// Each element of a list stands for one that is admitted besides the interval.
Tensor mask_of(const Tensor& like, const std::vector<Int>& elements) {
  Tensor mask({DType::u8, like.shape()});
  for (const Int index : elements) mask.as<std::uint8_t>()[static_cast<std::size_t>(index)] = 1;
  return mask;
}

bool has_nan(const Tensor& tensor) {
  for (Int i = 0; i < tensor.elements(); ++i)
    if (oracles::scalar(tensor, i).is == oracles::Scalar::Class::nan) return true;
  return false;
}

// Nothing may be claimed of any value.
bool are_unscored(const std::vector<Admitted>& answers) {
  return std::ranges::all_of(
      answers, [](const Admitted& each) { return each.unscored > 0 && each.unscored == each.output.elements(); });
}

std::string or_bool(const std::string& mask) { return mask + ".astype(bool)"; }

class Writer {
 public:
  Writer(const Case& c, const Verdict& verdict, const Outcome* outcome, const Provenance& provenance)
      : c_(c), verdict_(verdict), outcome_(outcome), provenance_(provenance) {
    Result<Snippet> snippet = snippet_of(provenance, needs_ml_dtypes(c));
    if (!snippet) throw Unwritable{snippet.error()};
    snippet_ = *std::move(snippet);
  }

  Script write() {
    if (verdict_.because == "garbled") throw Unwritable{"what it answered is no answer that a runtime gives"};
    const bool dies = verdict_.state == State::error;
    write_model();
    const int set = telling_set(c_, verdict_, outcome_, provenance_);
    write_inputs("inputs", set);
    second_ = dies || verdict_.state == State::refused || set > 0;
    if (second_) write_inputs("others", set > 0 ? 0 : 1);
    if (c_.is_legal()) write_answers(set);
    if (dies)
      write_death();
    else if (verdict_.state == State::refused)
      write_refusal();
    else
      write_answering(set);
    return {assembled(), reads_files_, std::move(files_)};
  }

 private:
  void add(std::string line) { body_.push_back(std::move(line)); }

  // -- the case

  void write_model() {
    if (const auto text = model_text(model_of(c_))) {
      needs_.insert("onnx.parser");
      add("model = onnx.parser.parse_model(" + python_block("\n" + *text) + ")");
    } else {
      reads_files_ = true;
      add("model = onnx.load(str(here / \"model.onnx\"))");
    }
  }

  // The tensor, or the file that holds it.
  std::string expression(const Tensor& tensor, const std::string& file) {
    if (lacks_in_numpy(tensor.dtype())) needs_.insert("ml_dtypes");
    if (const auto text = numpy_text(tensor)) return *text;
    reads_files_ = has_tensor_files_ = true;
    return "tensor(" + python_string(file) + ")";
  }

  // A tensor that no other file of the folder holds.
  std::string own_expression(const Tensor& tensor, const std::string& file) {
    std::string text = expression(tensor, file);
    if (text.starts_with("tensor(")) files_[file] = encode_tensor(tensor, "");
    return text;
  }

  void write_inputs(const std::string& name, int set) {
    std::string entries;
    int number = 0;
    for (const auto& [input, tensor] : graph_input_tensors(c_, set)) {
      const std::string file = data_set_name(set) + "/" + tensor_name("input", number++);
      entries += (entries.empty() ? "" : ",\n" + std::string(name.size() + 4, ' ')) + python_string(input) + ": " +
                 expression(tensor, file);
    }
    add(name + " = {" + entries + "}");
  }

  // -- the answer

  void write_answers(int set) {
    if (is_large(c_) && (verdict_.state == State::error || verdict_.state == State::refused))
      return write_types({right_type(c_, set, output_)});
    if (is_large(c_)) throw Unwritable{"its output is too large to be compared in a script"};
    const oracles::Arithmetic& arithmetic = provenance_.description.arithmetic;
    answers_ = of_output(oracles::admitted(c_, set, level_of(verdict_, provenance_.run_options), arithmetic), output_);
    if (std::ranges::any_of(answers_, &Admitted::has_other_texts))
      throw Unwritable{"many strings would be right, which no short script tells apart"};
    const Tensor* got = output_of(outcome_, set, output_);
    // The hull of all arithmetics may hold a number that none of them gives: then the level decides.
    if (got && oracles::is_among(*got, answers_))
      answers_ = of_output(oracles::admitted(c_, set, oracles::Level::L2, arithmetic), output_);
    if (got && oracles::is_among(*got, answers_)) throw Unwritable{"its answer is wrong in a way that no script shows"};
    if (provenance_.description.answers_shapes || are_unscored(answers_)) {
      const auto types = transformed<TensorType>(answers_, [](const Admitted& each) { return each.output.type(); });
      return write_types(types);
    }
    const std::string folder = "bounds_" + std::to_string(set) + "/";
    for (std::size_t i = 0; i < answers_.size(); ++i) write_answer(answers_[i], i, set, folder);
    if (is_plain()) return;
    add("");
    add("");
    write_fits();
  }

  // What the outputs may be, where their values are not told.
  void write_types(const std::vector<TensorType>& admitted) {
    only_types_ = true;
    std::string types;
    for (const TensorType& each : admitted)
      types += (types.empty() ? "" : ", ") + std::string("(") +
               (provenance_.description.answers_shapes ? std::to_string(static_cast<int>(each.dtype)) + ", "
                                                       : "np.dtype(" + std::string(numpy_name(each.dtype)) + "), ") +
               python_shape(each.shape) + ")";
    add("want = [" + types + "]  # type and shape");
  }

  // Nothing but the right values themselves.
  bool is_plain() const {
    return answers_.size() == 1 && answers_[0].lower == answers_[0].upper && answers_[0].output == answers_[0].lower &&
           answers_[0].or_zero.empty() && answers_[0].or_nan.empty() && answers_[0].or_nonfinite.empty();
  }

  void write_answer(const Admitted& answer, std::size_t number, int set, const std::string& folder) {
    const std::string suffix = number == 0 ? "" : "_" + std::to_string(number);
    const std::string output = data_set_name(set) + "/" + tensor_name("output", static_cast<int>(output_));
    add("want" + suffix + " = " +
        (number == 0 && answer.unscored == 0  // else no file of the folder holds it
             ? expression(answer.output, output)
             : own_expression(answer.output, folder + "want" + suffix + ".pb")) +
        (number == 0 ? "" : "  # " + text(answer.readings)) +
        (answer.unscored > 0 ? "  # nothing is claimed of " + std::to_string(answer.unscored) + " elements" : ""));
    std::string parts = "want" + suffix + ", want" + suffix;
    if (answer.lower != answer.output || answer.upper != answer.output) {
      add("lower" + suffix + " = " + own_expression(answer.lower, folder + "lower" + suffix + ".pb"));
      add("upper" + suffix + " = " + own_expression(answer.upper, folder + "upper" + suffix + ".pb"));
      parts = "lower" + suffix + ", upper" + suffix;
    }
    for (const auto& [name, elements, any] :
         {std::tuple("or_zero", &answer.or_zero, &or_zero_), std::tuple("or_nan", &answer.or_nan, &or_nan_),
          std::tuple("or_nonfinite", &answer.or_nonfinite, &or_nonfinite_)}) {
      if (elements->empty()) continue;
      *any = true;
      add(name + suffix + " = " +
          or_bool(own_expression(mask_of(answer.output, *elements), folder + name + suffix + ".pb")));
      parts += std::string(", ") + name + "=" + name + suffix;
    }
    fitting_.push_back("fits(got, " + parts + ")");
  }

  void write_fits() {
    std::string admitted = "(lower <= got) & (got <= upper)";
    std::string parameters = "got, lower, upper";
    const bool any_nan = std::ranges::any_of(answers_, [](const Admitted& each) { return has_nan(each.lower); });
    if (any_nan) admitted += " | np.isnan(lower) & np.isnan(got)";
    for (const auto& [name, is_used, clause] :
         {std::tuple("or_zero", or_zero_, "(got == 0)"), std::tuple("or_nan", or_nan_, "np.isnan(got)"),
          std::tuple("or_nonfinite", or_nonfinite_, "~np.isfinite(got)")}) {
      if (!is_used) continue;
      admitted += std::string(" | ") + name + " & " + clause;
      parameters += std::string(", ") + name + "=False";
    }
    add("def fits(" + parameters + "):");
    add("    return got.dtype == lower.dtype and got.shape == lower.shape and bool(np.all(" + admitted + "))");
    add("");
  }

  std::string right() const {
    if (only_types_ && provenance_.description.answers_shapes)
      return "any(got[0] == kind and len(got[1]) == len(shape) and all(a in (None, b) for a, b in zip(got[1], shape)) "
             "for kind, shape in want)";
    if (only_types_) return "(got.dtype, got.shape) in want";
    if (!is_plain()) {
      return joined(fitting_, " or ");
    }
    // numpy compares flags by truth, and a byte that is neither 0 nor 1 is none.
    if (is_of_flags()) return "got.dtype == want.dtype and np.array_equal(got.view(np.uint8), want.view(np.uint8))";
    const std::string nan = has_nan(answers_[0].output) ? ", equal_nan=True" : "";
    return "got.dtype == want.dtype and np.array_equal(got, want" + nan + ")";
  }

  bool is_of_flags() const { return answers_[0].output.dtype() == DType::boolean; }

  // Prints what came and what should have.
  void write_telling(const std::string& indent = "") {
    if (only_types_) {
      const char* got = provenance_.description.answers_shapes ? "*got" : "got.dtype, got.shape";
      add(indent + "print(version, \"gives\", " + got + ")");
      add(indent + "print(\"the standard says\", *want)");
      return;
    }
    const std::string elements = is_plain() && is_of_flags() ? ".view(np.uint8).ravel())" : ".ravel())";
    add(indent + "print(version, \"gives\", got.dtype, got.shape, got" + elements);
    add(indent + "print(\"the standard says\", want.dtype, want.shape, want" + elements);
    const bool has_interval = fitting_.size() == 1 && fitting_[0].find("lower, upper") != std::string::npos;
    if (has_interval)
      add(indent + "print(\"anything from\", lower.ravel(), \"to\", upper.ravel(), \"is within rounding\")");
  }

  // -- the end of the script

  // "got", or "_, got" where the second of two outputs tells.
  std::string list_with_got() const {
    std::string list;
    for (std::size_t i = 0; i < c_.call().requested_outputs().size(); ++i)
      list += std::string(i == 0 ? "" : ", ") + (i == output_ ? "got" : "_");
    return list;
  }

  std::string run_case(int set) const {
    const std::string got = "[" + list_with_got() + "]";
    if (provenance_.description.answers_shapes || !second_) return "[" + got + "] = run(model, inputs)";
    return set > 0 ? "_, " + got + " = run(model, others, inputs)" : got + ", _ = run(model, inputs, others)";
  }

  void write_answering(int set) {
    add("");
    add(run_case(set) + (set > 0 ? "  # the second answer of one session" : ""));
    write_telling();
    add("sys.exit(0 if " + right() + " else 1)");
  }

  void write_refusal() {
    add("");
    add("try:");
    add("    " + run_case(0));
    add("except Exception as refusal:");
    add("    sys.exit(f\"{version} turns the model away: {refusal}\")");
    write_telling();
    add("sys.exit(0 if " + right() + " else 1)");
  }

  // The runtime takes the process with it, or keeps it for ever.
  void write_death() {
    const bool is_memory = verdict_.because == "out of memory";
    needs_.insert("subprocess");
    if (is_memory) needs_.insert("resource");
    add("");
    add("if sys.argv[1:] != [\"run\"]:  # it runs in a process of its own, which ends with it");
    add("    try:");
    add("        command = [sys.executable, __file__, \"run\"]");
    add(std::string("        child = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=") + patience +
        ")");
    add("    except subprocess.TimeoutExpired:");
    add(std::string("        sys.exit(f\"{version} gives no answer within ") + patience + " s\")");
    add("    print(child.stdout, end=\"\")");
    if (is_memory) {
      add("    taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10");
      add("    if taken > " + std::to_string(most_memory()) + ":");
      add("        sys.exit(f\"{version} takes {taken} MiB\")");
    }
    add("    if \"the answer is \" not in child.stdout:");
    add("        sys.exit(f\"{version} gives no answer, exit code {child.returncode}\")");
    add("    sys.exit(0 if \"the answer is right\" in child.stdout else 1)");
    if (is_memory)
      add("resource.setrlimit(resource.RLIMIT_DATA, (" + std::to_string(2 * most_memory()) + " << 20,) * 2)");
    c_.is_legal() ? write_living() : write_turning_away();
  }

  void write_living() {
    add(run_case(0));
    write_telling();
    add("print(\"the answer is right\" if " + right() + " else \"the answer is wrong\")");
  }

  // A model that breaks a constraint may be turned away or run, as long as the process lives.
  void write_turning_away() {
    add("try:");
    add("    run(model, inputs, others)");
    add("    print(\"it was run\")");
    add("except Exception as refusal:");
    add("    print(\"turned away:\", refusal)");
    add("print(\"the answer is right\")  # whichever it is: nothing is prescribed but that the process lives");
  }

  // "more than 400 MiB of memory resident"
  Int most_memory() const {
    long long limit = 0;
    if (std::sscanf(verdict_.detail.c_str(), "more than %lld MiB", &limit) != 1 || limit < 1 || limit > 1 << 30)
      return 4096;
    return limit;
  }

  // -- all together

  void write_imports(Lines& out) const {
    for (const char* standard : {"pathlib", "resource", "subprocess"})
      if (needs_.contains(standard) || (reads_files_ && standard == std::string_view("pathlib")))
        out.push_back(std::string("import ") + standard);
    out.emplace_back("import sys");
    out.emplace_back("");
    if (needs_.contains("ml_dtypes")) out.emplace_back("import ml_dtypes");
    out.emplace_back("import numpy as np");
    out.emplace_back(needs_.contains("onnx.parser") ? "import onnx.parser" : "import onnx");
    out.insert(out.end(), snippet_.head.begin(), snippet_.head.end());
  }

  void write_files(Lines& out) const {
    if (!reads_files_) return;
    while (out.back().empty()) out.pop_back();
    out.emplace_back("here = pathlib.Path(__file__).resolve().parent");
    if (!has_tensor_files_) return;
    out.emplace_back("");
    out.emplace_back("");
    out.emplace_back("def tensor(path):");
    out.emplace_back("    return onnx.numpy_helper.to_array(onnx.load_tensor(str(here / path)))");
    out.emplace_back("");
    out.emplace_back("");
  }

  std::string assembled() const {
    const std::string what = verdict_.detail.empty() ? verdict_.because : verdict_.detail;
    Lines out{"# " + text(c_.version) + " of " +
                  one_line(provenance_.description.backend + " " + provenance_.description.version) + ": " +
                  std::string(oracles::name(verdict_.state)) + ", " + one_line(what),
              "# Ends with 1 while that is so and with 0 once it is mended."};
    if (reads_files_)
      out.push_back("# Reads files beside it, as `assay replay --save FOLDER` writes them for this case: " +
                    one_line(line(c_)));
    write_imports(out);
    write_files(out);
    out.insert(out.end(), snippet_.functions.begin(), snippet_.functions.end());
    out.emplace_back("");
    out.emplace_back("");
    out.insert(out.end(), body_.begin(), body_.end());
    return tidy(out);
  }

  // What was dropped leaves blank lines behind: never more than two.
  static std::string tidy(const Lines& lines) {
    std::string all;
    int blank = 0;
    for (const std::string& line : lines) {
      blank = line.empty() ? blank + 1 : 0;
      if (blank <= 2) all += line + "\n";
    }
    return all;
  }

  const Case& c_;
  const Verdict& verdict_;
  const Outcome* outcome_;
  const Provenance& provenance_;
  std::size_t output_ = telling_output(verdict_);
  Snippet snippet_;
  Lines body_, fitting_;
  std::vector<Admitted> answers_;
  std::set<std::string> needs_;
  std::map<std::string, std::string> files_;
  bool second_ = false, reads_files_ = false, has_tensor_files_ = false, only_types_ = false;
  bool or_zero_ = false, or_nan_ = false, or_nonfinite_ = false;
};

}  // namespace

int telling_set(const Case& c, const Verdict& verdict, const Outcome* outcome, const Provenance& provenance) {
  if ((verdict.state != State::fail && verdict.state != State::below) || !c.is_legal()) return 0;
  if (is_large(c)) return verdict.evidence ? verdict.evidence->set : 0;
  const oracles::Level level = level_of(verdict, provenance.run_options);
  for (int set = 0; set < data_sets; ++set)
    if (const Tensor* got = output_of(outcome, set, telling_output(verdict)))
      if (!oracles::is_among(*got, of_output(oracles::admitted(c, set, level, provenance.description.arithmetic),
                                             telling_output(verdict))))
        return set;
  return verdict.evidence ? verdict.evidence->set : 0;
}

Result<Script> script_of(const Case& c, const Verdict& verdict, const Outcome* outcome, const Provenance& provenance) {
  if (!is_finding(verdict.state)) return Error{"nothing is wrong"};
  try {
    return Writer(c, verdict, outcome, provenance).write();
  } catch (const Unwritable& unwritable) {
    return Error{unwritable.text};
  }
}

}  // namespace assay::suites
