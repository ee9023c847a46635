// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/script.h"

#include "oracles/judging/distribution.h"
#include "oracles/judging/expected.h"
#include "reference/flat_index.h"
#include "reference/onnx_io.h"
#include "reference/onnx_text.h"
#include "reference/sequence.h"
#include "suites/text/numpy_text.h"
#include "suites/triage/snippet.h"
#include "suites/workers/vector_folder.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <numeric>
#include <set>

namespace assay::suites {
namespace {

using oracles::Admitted;
using oracles::Outcome;
using oracles::State;
using oracles::Verdict;
using Lines = std::vector<std::string>;

// Bounds the outputs that are looked at whole; of larger ones that is the element that the verdict names.
constexpr Int most_outputs = 1 << 14;
// Answers of more letters are compared in this many elements, those that are wrong.
constexpr std::size_t most_letters = 480, most_picks = 12;
// What a model may take as text.
constexpr std::size_t most_constants = 1 << 10, most_model_letters = 4000;
constexpr std::size_t widest_line = 110;
// How long a runtime that hangs is waited for, in seconds.
constexpr const char* patience = "60";
// The exit code of a process that lived: nothing else gives it by chance.
constexpr const char* lived = "7";

// Why there is no script; thrown only inside this file: script_of catches it.
struct Unwritable {
  std::string text;
};

// -- what is run and admitted

bool lacks_in_numpy(DType type) { return numpy_name(type).starts_with("ml_dtypes."); }

bool needs_ml_dtypes(const Case& c) {
  return std::ranges::any_of(c.node.inputs,
                             [](const auto& input) { return lacks_in_numpy(input.second.type.dtype); }) ||
         std::ranges::any_of(c.definition().outputs, [&](const Parameter& output) {
           return lacks_in_numpy(c.definition().type_of(c.call(), output));
         });
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

oracles::Level level_of(const Verdict& verdict, const RunOptions& run_options) {
  return verdict.state == State::below ? run_options.level : oracles::Level::widest;
}

std::vector<Admitted> answers_of(const Case& c, const Verdict& verdict, const Provenance& provenance, int set,
                                 std::size_t output) {
  return of_output(
      oracles::admitted(c, set, level_of(verdict, provenance.run_options), provenance.description.arithmetic), output);
}

// -- parts of an output

// Some of its elements, side by side.
Tensor picked(const Tensor& tensor, const std::vector<Int>& picks) {
  Tensor out({tensor.dtype(), {std::ssize(picks)}});
  for_type(tensor.dtype(), [&]<class T>() {
    for (std::size_t i = 0; i < picks.size(); ++i) out.as<T>()[i] = tensor.as<T>()[static_cast<std::size_t>(picks[i])];
  });
  return out;
}

std::vector<Int> picked(const std::vector<Int>& elements, const std::vector<Int>& picks) {
  std::vector<Int> out;
  for (std::size_t i = 0; i < picks.size(); ++i)
    if (std::ranges::binary_search(elements, picks[i])) out.push_back(static_cast<Int>(i));
  return out;
}

Admitted picked(const Admitted& answer, const std::vector<Int>& picks) {
  Admitted out = answer;
  out.output = picked(answer.output, picks);
  out.lower = picked(answer.lower, picks);
  out.upper = picked(answer.upper, picks);
  out.or_zero = picked(answer.or_zero, picks);
  out.or_nan = picked(answer.or_nan, picks);
  out.or_nonfinite = picked(answer.or_nonfinite, picks);
  out.unscored = 0;
  return out;
}

// The first elements that each answer of the same type and shape does not admit.
std::vector<Int> wrong_elements(const Tensor& got, const std::vector<Admitted>& answers) {
  std::set<Int> all;
  for (const Admitted& answer : answers) {
    if (got.type() != answer.output.type()) continue;
    std::size_t found = 0;
    for (Int i = 0; i < got.elements() && found < most_picks; ++i)
      if (!oracles::is_among(picked(got, {i}), {picked(answer, {i})})) found += all.insert(i).second ? 1 : 0;
  }
  return {all.begin(), all.end()};
}

// -- the outputs of both data sets, one behind the other

Tensor stacked(const Tensor& first, const Tensor& second) {
  Shape shape = first.shape();
  shape.insert(shape.begin(), data_sets);
  Tensor out({first.dtype(), std::move(shape)});
  for_type(first.dtype(), [&]<class T>() {
    std::ranges::copy(first.as<T>(), out.as<T>().begin());
    std::ranges::copy(second.as<T>(), out.as<T>().begin() + first.elements());
  });
  return out;
}

Admitted stacked(Admitted first, const Admitted& second) {
  const Int elements = first.output.elements();
  first.output = stacked(first.output, second.output);
  first.lower = stacked(first.lower, second.lower);
  first.upper = stacked(first.upper, second.upper);
  for (const auto member : {&Admitted::or_zero, &Admitted::or_nan, &Admitted::or_nonfinite})
    for (const Int element : second.*member) (first.*member).push_back(elements + element);
  first.has_other_texts |= second.has_other_texts;
  first.unscored += second.unscored;
  return first;
}

bool admits_the_same(const Admitted& a, const Admitted& b) {
  return a.lower == b.lower && a.upper == b.upper && a.or_zero == b.or_zero && a.or_nan == b.or_nan &&
         a.or_nonfinite == b.or_nonfinite;
}

// A reading that changes one of them is as right for both, but none has two shapes.
std::vector<Admitted> stacked(const std::vector<Admitted>& first, const std::vector<Admitted>& second) {
  std::vector<Admitted> out;
  for (const Admitted& a : first)
    for (const Admitted& b : second) {
      if (a.output.type() != b.output.type()) continue;
      Admitted both = stacked(a, b);
      if (std::ranges::none_of(out, [&](const Admitted& each) { return admits_the_same(each, both); }))
        out.push_back(std::move(both));
    }
  if (out.empty()) throw Unwritable{"either data set may show it, and their outputs differ in shape"};
  return out;
}

// -- writing

// Each element of a list stands for one that is admitted besides the interval.
std::string mask_text(const Tensor& like, const std::vector<Int>& elements) {
  if (elements.empty()) return "False";
  if (std::ssize(elements) == like.elements()) return "True";
  Tensor mask({DType::boolean, like.shape()});
  for (const Int index : elements) mask.as<Bool>()[static_cast<std::size_t>(index)] = Bool(true);
  return numpy_text(mask, std::size_t{1} << 20).value();
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

// Nothing but the right values themselves.
bool is_exact(const Admitted& answer) {
  return answer.lower == answer.upper && answer.output == answer.lower && answer.or_zero.empty() &&
         answer.or_nan.empty() && answer.or_nonfinite.empty();
}

// As Python writes it in the middle of an expression.
std::string type_text(const TensorType& type) {
  return "np.dtype(" + std::string(numpy_name(type.dtype)) + "), " + python_shape(type.shape);
}

// The model as its text has it, its only node in the line of the graph where that is short enough.
std::string compact(const std::string& text) {
  const std::string opens = "{\n  ", closes = "\n}\n";
  const std::size_t open = text.rfind(opens);
  std::string before = text.substr(0, open + 1), node = text.substr(open + opens.size());
  node.resize(node.size() - closes.size());
  const std::size_t line = before.size() - (before.rfind('\n') + 1);
  const bool fits = node.find('\n') == std::string::npos && line + node.size() + 3 <= widest_line;
  return fits ? before + " " + node + " }" : before + "\n  " + node + "\n}";
}

class Writer {
 public:
  Writer(const Case& c, const Verdict& verdict, const Outcome* outcome, const Provenance& provenance,
         std::span<const Case> before)
      : c_(c), verdict_(verdict), outcome_(outcome), provenance_(provenance), before_(before) {
    const bool needs_types = needs_ml_dtypes(c) || std::ranges::any_of(before, needs_ml_dtypes);
    Result<Snippet> snippet = snippet_of(provenance, needs_types, !c.is_legal());
    if (!snippet) throw Unwritable{snippet.error()};
    snippet_ = *std::move(snippet);
  }

  Script write() {
    if (verdict_.because == "garbled") throw Unwritable{"what it answered is no answer that a runtime gives"};
    set_ = telling_set(c_, verdict_, outcome_, provenance_);
    is_stacked_ = tells_neither();
    runs_both_ = needs_both();
    if (!before_.empty()) write_before();
    write_model();
    const std::string run = run_expression();
    c_.is_legal() ? write_checked(run) : write_turned_away(run);
    return {assembled(), reads_files_, std::move(files_)};
  }

 private:
  void add(std::string line) { body_.push_back(std::move(line)); }
  void add(const Lines& lines, const std::string& indent = "") {
    for (const std::string& line : lines) add(indent + line);
  }

  bool dies() const { return verdict_.state == State::error; }
  bool hangs() const { return verdict_.because == "timed out"; }
  bool eats_memory() const { return verdict_.because == "out of memory"; }
  // It takes the process with it, which another one has to tell of.
  bool ends_process() const { return dies() && !hangs(); }
  std::string code_of_life() const { return ends_process() ? lived : "0"; }

  bool is_of_types() const { return verdict_.because == "shape" || verdict_.because == "type"; }

  // Whether a wrong answer is known, but not of which data set it is.
  bool tells_neither() const {
    const bool is_wrong = verdict_.state == State::fail || verdict_.state == State::below;
    return is_wrong && !is_of_types() && c_.is_legal() && !verdict_.evidence &&
           !provenance_.description.answers_shapes && !output_of(outcome_, 0, output_);
  }

  // Whether the defect may need the runs that assay made of the other data set: what came before it, or after it, which
  // then overwrote the answer; a crash and a refusal do not say where they came.
  bool needs_both() const {
    if (provenance_.description.answers_shapes) return false;
    if (is_stacked_ || !before_.empty() || dies() || verdict_.state == State::refused || set_ > 0) return true;
    const Tensor* second = output_of(outcome_, 1, output_);
    return !second || is_large(c_) || oracles::is_among(*second, answers_of(c_, verdict_, provenance_, 1, output_));
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
            ", onnx.numpy_helper.from_array(" + shown(*tensor) + ")))");
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

  void write_before() {
    const std::string opens = "before = [(";
    for (std::size_t i = 0; i < before_.size(); ++i) {
      const std::string folder = "before_" + std::to_string(i) + "/";
      const std::string margin(i == 0 ? 0 : opens.size() - 1, ' ');
      add((i == 0 ? opens : margin + "(") + model_expression(before_[i], folder) + ",");
      for (int set = 0; set < data_sets; ++set) {
        const bool is_last = set + 1 == data_sets;
        add(std::string(opens.size(), ' ') + data_expression(before_[i], set, folder, opens.size()) +
            (!is_last                 ? ","
             : i + 1 < before_.size() ? "),"
                                      : ")]"));
      }
    }
    add("for each, *sets in 10 * before:  # in the same process, whatever comes of it: what memory holds then is "
        "chance");
    add("    with contextlib.suppress(Exception):");
    add("        run(each, *sets)");
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

  // A legal model has a right answer.
  void write_checked(const std::string& run) {
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
    write_answers();
    add("print(" + snippet_.version() + ", \"gives\", " + shown_ + ", \"and the standard says\", " + wanted_ + ")");
    add("raise SystemExit(" + code_of_life() + " if " + right_ + " else 1)");
  }

  // A model that breaks a constraint may be turned away or run, as long as the process lives.
  void write_turned_away(const std::string& run) {
    add("try:");
    add(lines_of_run_, "    ");
    add("    " + run);
    add("finally:  # it may be turned away, or run: nothing is prescribed but that the process lives");
    add("    raise SystemExit(" + code_of_life() + ")");
  }

  void write_answers() {
    const bool is_value = verdict_.state == State::fail || verdict_.state == State::below;
    const Tensor* got = output_of(outcome_, set_, output_);
    if (const auto drawn_from = oracles::distribution_of(c_.call()); is_value && drawn_from)
      return write_distribution(*drawn_from);
    if (is_large(c_)) return is_value ? write_named(got) : write_types({right_type(c_, set_, output_)});
    answers_ = answers_of(c_, verdict_, provenance_, set_, output_);
    if (is_stacked_) answers_ = stacked(answers_, answers_of(c_, verdict_, provenance_, 1, output_));
    // The hull of all arithmetics may hold a number that none of them gives: then the level decides.
    if (got && oracles::is_among(*got, answers_))
      answers_ =
          of_output(oracles::admitted(c_, set_, oracles::Level::L2, provenance_.description.arithmetic), output_);
    if (got && oracles::is_among(*got, answers_) && verdict_.because != "count") return write_named(got);
    // One of several numbers is right, and none between them.
    if (!got && verdict_.evidence && verdict_.evidence->lower.empty()) return write_named(nullptr);
    if (provenance_.description.answers_shapes || are_unscored(answers_)) return write_types(types_of(answers_));
    std::vector<Int> wrong = got ? wrong_elements(*got, answers_) : std::vector<Int>();
    if (!got && verdict_.evidence) wrong = {named_element(answers_[0].output.shape())};
    const std::size_t most = is_stacked_ ? most_model_letters : most_letters;
    const bool has_other_texts = std::ranges::any_of(answers_, &Admitted::has_other_texts);
    const bool is_long = letters_of(answers_) > most;
    if (!has_other_texts && !is_long) return write_values("got");
    if (is_stacked_) throw Unwritable{"either data set may show it, and its answers are too long to be written out"};
    if (wrong.empty() || (has_other_texts && !got)) return write_types(types_of(answers_));
    if (has_other_texts)
      return write_wrong(got->type(), wrong, shown(picked(*got, wrong)), false,
                         shown(picked(answers_[0].output, wrong)));
    const TensorType type = got ? got->type() : answers_[0].output.type();
    const auto is_other = [&](const Admitted& each) { return each.output.type() != type; };
    const std::vector<TensorType> others = types_of(filtered(answers_, is_other));
    std::erase_if(answers_, is_other);
    pick(type, wrong);
    for (Admitted& each : answers_) each = picked(each, wrong);
    write_values("some");
    // Of an answer that has another shape, as another reading gives it, the shape is what is told.
    if (!others.empty()) right_ = "(got.dtype, got.shape) in " + list_of(others) + " or " + right_;
  }

  // Tells the distance of many numbers, which are drawn anew each time, from their distribution, as of
  // oracles/ops/random.cpp, and what chance explains of it. NaN is in no distribution.
  void write_distribution(const oracles::Distribution& from) {
    const std::string start = digits(from.start), width = digits(from.width);
    add("numbers = np.sort(got.ravel().astype(float))");
    add(from.is_normal
            ? "right = np.array([statistics.NormalDist(" + start + ", " + width + ").cdf(x) for x in numbers])"
            : "right = np.clip((numbers - " + start + ") / " + width + ", 0, 1)");
    add("ranks = np.arange(numbers.size + 1) / numbers.size");
    add("off = max((ranks[1:] - right).max(), (right - ranks[:-1]).max())  # of Kolmogorov and Smirnov");
    add("most = np.sqrt(np.log(2e12) / 2 / numbers.size) + " + digits(from.atom) +
        "  # once in 10^12, and what rounding adds");
    shown_ = "off";
    wanted_ = "\"at most\", most";
    right_ = "off <= most";
  }

  static std::string digits(double value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
  }

  // How long they are where they are written out.
  static std::size_t letters_of(const std::vector<Admitted>& answers) {
    std::size_t letters = 0;
    for (const Admitted& each : answers)
      for (const Tensor* tensor : {&each.lower, &each.upper}) {
        const auto text = numpy_text(*tensor, most_model_letters);
        letters += text ? text->size() : most_model_letters;
      }
    return letters;
  }

  static std::vector<TensorType> types_of(const std::vector<Admitted>& answers) {
    std::vector<TensorType> types;
    for (const Admitted& each : answers)
      if (std::ranges::find(types, each.output.type()) == types.end()) types.push_back(each.output.type());
    return types;
  }

  // A tensor that is short, or was made short.
  static std::string shown(const Tensor& tensor) { return numpy_text(tensor, std::size_t{1} << 20).value(); }

  static std::string list_of(const std::vector<TensorType>& types) {
    return "[" + joined(types, ", ", [](const TensorType& each) { return "(" + type_text(each) + ")"; }) + "]";
  }

  // What the output may be, where its values are not told.
  void write_types(const std::vector<TensorType>& admitted) {
    shown_ = "got.dtype, got.shape";
    if (provenance_.description.answers_shapes) return write_inferred(admitted);
    if (admitted.size() == 1) {
      add("want = " + type_text(admitted[0]));
      wanted_ = "*want";
      right_ = "(got.dtype, got.shape) == want";
      return;
    }
    add("wants = " + list_of(admitted));
    wanted_ = "wants";
    right_ = "(got.dtype, got.shape) in wants";
  }

  void write_inferred(const std::vector<TensorType>& admitted) {
    const auto written = [](const TensorType& type) {
      Shape all{static_cast<Int>(type.dtype)};
      all.insert(all.end(), type.shape.begin(), type.shape.end());
      return python_shape(all);
    };
    const std::string fits = "len(got) == len(want) and all(a in (None, b) for a, b in zip(got, want))";
    const bool is_one = admitted.size() == 1;
    add((is_one ? "want = " + written(admitted[0]) : "wants = [" + joined(admitted, ", ", written) + "]") +
        "  # number of the type, extents");
    shown_ = "got";
    wanted_ = is_one ? "want" : "wants";
    right_ = is_one ? fits : "any(" + fits + " for want in wants)";
  }

  // Returns the place of the element that the verdict names; one that was read from a store may name any.
  Int named_element(const Shape& shape) const {
    const Shape& index = verdict_.evidence->index;
    const bool is_inside = std::ranges::equal(index, shape, [](Int at, Int extent) { return 0 <= at && at < extent; });
    if (!is_inside) throw Unwritable{"its verdict names an element that the output has not"};
    return flat_index(shape, index);
  }

  // Of an output that is too large to be worked out, and where what is right is no interval: the element that the
  // verdict names.
  void write_named(const Tensor* got) {
    if (is_of_types()) return write_types({right_type(c_, set_, output_)});
    if (!verdict_.evidence) throw Unwritable{"its answer is wrong in a way that no script shows"};
    const oracles::Evidence& evidence = *verdict_.evidence;
    const TensorType type = got ? got->type() : right_type(c_, set_, output_);
    const Int element = named_element(type.shape);
    const bool is_number = type.dtype != DType::string && evidence.got.find("nan") == std::string::npos &&
                           evidence.got.find("inf") == std::string::npos;
    if (!got && !is_number) throw Unwritable{"its answer was not kept"};
    const std::string value = oracles::decimal(evidence.got, type.dtype);
    write_wrong(
        type, {element},
        got ? shown(picked(*got, {element})) : "np.array([" + value + "], " + std::string(numpy_name(type.dtype)) + ")",
        got && has_nan(picked(*got, {element})), python_string(oracles::decimal(evidence.want, type.dtype)));
  }

  void pick(const TensorType& type, const std::vector<Int>& picks) {
    const auto digits = [](Int each) { return std::to_string(each); };
    add("some = got.ravel()[[" + joined(picks, ", ", digits) + "]]  # wrong ones of " +
        std::to_string(volume(type.shape)) + " elements");
    shape_ = python_shape(type.shape);
  }

  // Where not all that is right can be told: the defect stands for as long as these elements are as they were.
  void write_wrong(const TensorType& type, const std::vector<Int>& wrong, const std::string& values, bool has_nans,
                   const std::string& wanted) {
    pick(type, wrong);
    add("wrong = " + values);
    shown_ = "some";
    wanted_ = wanted;
    right_ = std::string("not np.array_equal(some") + (type.dtype == DType::string ? ".astype(np.object_)" : "") +
             ", wrong" + (has_nans ? ", equal_nan=True)" : ")");
  }

  // -- values

  // One name of what an answer is told by, and what stands for it in each of them.
  struct Column {
    std::string name;
    Lines texts;
  };

  // Compares `name`: all of the output, or some of it.
  void write_values(const std::string& name) {
    const bool are_points = std::ranges::all_of(answers_, [](const Admitted& a) { return a.lower == a.upper; });
    const bool are_exact = std::ranges::all_of(answers_, is_exact);
    std::vector<Column> columns;
    if (are_points)
      columns.push_back({"want", transformed<std::string>(answers_, [](const Admitted& a) { return shown(a.lower); })});
    else
      columns = {{"lower", transformed<std::string>(answers_, [](const Admitted& a) { return shown(a.lower); })},
                 {"upper", transformed<std::string>(answers_, [](const Admitted& a) { return shown(a.upper); })}};
    const std::string element = exceptions_of(elementwise(name, are_points), name, columns);
    const std::string list = write_columns(columns);
    const std::string values = are_exact ? same_values(name) : "np.all(" + element + ")";
    const std::string& end = columns[0].name;
    shown_ = "repr(" + viewed(name) + ")";
    wanted_ = answers_.size() > 1 ? "*" + list
              : are_points        ? "repr(" + viewed("want") + ")"
                                  : "repr(lower), \"to\", repr(upper)";
    if (name == "some") return right_of(is_of_type("got") + " and got.shape == " + shape_, values, columns, list);
    right_of("", is_of_type("got", end) + (are_exact ? "" : " and got.shape == " + end + ".shape") + " and " + values,
             columns, list);
  }

  void right_of(const std::string& before, const std::string& of_one, const std::vector<Column>& columns,
                const std::string& list) {
    const auto name = [](const Column& each) { return each.name; };
    const std::string of_any =
        answers_.size() == 1 ? of_one : "any(" + of_one + " for " + joined(columns, ", ", name) + " in " + list + ")";
    right_ = before + (before.empty() ? "" : " and ") + of_any;
  }

  // `end`: a tensor of the right type, or else the type is named.
  std::string is_of_type(const std::string& name, const std::string& end = "") const {
    const DType type = answers_[0].output.dtype();
    if (type == DType::string) return name + ".dtype.kind in \"OU\"";
    return name + ".dtype == " + (end.empty() ? std::string(numpy_name(type)) : end + ".dtype");
  }

  // numpy compares flags by truth, and a byte that is neither 0 nor 1 is none; it has texts under two types.
  std::string viewed(const std::string& name) const {
    const bool is_value = !is_of_types() && verdict_.because != "count";
    return name + (answers_[0].output.dtype() == DType::boolean && is_value ? ".view(np.uint8)" : "");
  }

  std::string same_values(const std::string& name) const {
    const DType type = answers_[0].output.dtype();
    const bool may_be_nan = std::ranges::any_of(answers_, [](const Admitted& each) { return has_nan(each.output); });
    if (type == DType::boolean) return "np.array_equal(" + name + ".view(np.uint8), want.view(np.uint8))";
    return "np.array_equal(" + name + (type == DType::string ? ".astype(np.object_)" : "") + ", want" +
           (may_be_nan ? ", equal_nan=True)" : ")");
  }

  std::string elementwise(const std::string& name, bool are_points) const {
    const bool may_be_nan = std::ranges::any_of(answers_, [](const Admitted& each) { return has_nan(each.lower); });
    const std::string end = are_points ? "want" : "lower";
    return (are_points ? "(" + name + " == want)" : "(lower <= " + name + ") & (" + name + " <= upper)") +
           (may_be_nan ? " | np.isnan(" + end + ") & np.isnan(" + name + ")" : "");
  }

  // What an element may be besides: a clause of the test, and a column where it does not hold for all of them.
  std::string exceptions_of(std::string test, const std::string& name, std::vector<Column>& columns) const {
    for (const auto& [mask, elements, opens, closes] :
         {std::tuple("or_zero", &Admitted::or_zero, "(", " == 0)"),
          std::tuple("or_nan", &Admitted::or_nan, "np.isnan(", ")"),
          std::tuple("or_nonfinite", &Admitted::or_nonfinite, "~np.isfinite(", ")")}) {
      Lines texts;
      for (const Admitted& each : answers_) texts.push_back(mask_text(each.output, each.*elements));
      if (std::ranges::all_of(texts, [](const std::string& text) { return text == "False"; })) continue;
      const bool holds = std::ranges::all_of(texts, [](const std::string& text) { return text == "True"; });
      test += std::string(" | ") + (holds ? "" : std::string(mask) + " & ") + opens + name + closes;
      if (!holds) columns.push_back({mask, texts});
    }
    return test;
  }

  // Returns the name of the list, where there are several answers.
  std::string write_columns(const std::vector<Column>& columns) {
    const auto unscored = [](const Admitted& each) {
      return each.unscored == 0 ? "" : "nothing is claimed of " + std::to_string(each.unscored) + " elements";
    };
    const auto remark = [](const std::string& words) { return words.empty() ? "" : "  # " + words; };
    if (answers_.size() == 1) {
      for (const Column& each : columns)
        add(each.name + " = " + each.texts[0] + (&each == &columns[0] ? remark(unscored(answers_[0])) : ""));
      return "";
    }
    const std::string list = columns.size() == 1 ? columns[0].name + "s" : "answers", opens = list + " = [";
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      const std::string row = joined(columns, ", ", [&](const Column& each) { return each.texts[i]; });
      add((i == 0 ? opens : std::string(opens.size(), ' ')) + (columns.size() == 1 ? row : "(" + row + ")") +
          (i + 1 < answers_.size() ? "," : "]") + remark(i == 0 ? unscored(answers_[i]) : text(answers_[i].readings)));
    }
    return list;
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

  std::string assembled() const {
    const std::string what = verdict_.detail.empty() ? verdict_.because : verdict_.detail;
    Lines guard, rest = snippet_.helpers();
    write_guard(guard);
    if (!before_.empty()) rest = snippet_.functions;
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
    for (const char* module : {"contextlib", "faulthandler", "pathlib", "resource", "statistics", "subprocess", "sys"})
      if (uses(module + std::string(".")) || (reads_files_ && module == std::string_view("pathlib")))
        out.push_back(std::string("import ") + module);
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
  std::span<const Case> before_;
  std::size_t output_ = telling_output(c_, verdict_, outcome_);
  int set_ = 0;
  Snippet snippet_;
  Lines body_, lines_of_run_;
  std::vector<Admitted> answers_;
  std::map<std::string, std::string> files_;
  std::string shown_, wanted_, right_, shape_;  // expressions: what came, what should have, whether it did
  bool runs_both_ = false, is_stacked_ = false, reads_files_ = false;
};

}  // namespace

int telling_set(const Case& c, const Verdict& verdict, const Outcome* outcome, const Provenance& provenance) {
  if ((verdict.state != State::fail && verdict.state != State::below) || !c.is_legal()) return 0;
  const int named = verdict.evidence ? verdict.evidence->set : 0;
  if (is_large(c)) return named;
  const std::size_t output = telling_output(c, verdict, outcome);
  for (int set = 0; set < data_sets; ++set)
    if (const Tensor* got = output_of(outcome, set, output))
      if (!oracles::is_among(*got, answers_of(c, verdict, provenance, set, output))) return set;
  return named;
}

std::size_t telling_output(const Case& c, const Verdict& verdict, const Outcome* outcome) {
  if (verdict.evidence) return static_cast<std::size_t>(verdict.evidence->output);
  if ((verdict.state != State::fail && verdict.state != State::below) || !c.is_legal()) return 0;
  const std::vector<std::string> names = c.call().requested_outputs();
  const std::size_t outputs = names.size();
  for (int set = 0; set < data_sets; ++set)
    for (std::size_t output = 0; output < outputs; ++output) {
      const Tensor* got = output_of(outcome, set, output);
      if (got && got->type() != right_type(c, set, output)) return output;
    }
  // Where the outputs were not kept the verdict has its name: "Indices: shape …".
  for (std::size_t output = 0; output < outputs; ++output)
    if (verdict.detail.starts_with(names[output] + ": ")) return output;
  return 0;
}

Result<Script> script_of(const Case& c, const Verdict& verdict, const Outcome* outcome, const Provenance& provenance,
                         std::span<const Case> before) {
  if (!is_finding(verdict.state)) return Error{"nothing is wrong"};
  try {
    return Writer(c, verdict, outcome, provenance, before).write();
  } catch (const Unwritable& unwritable) {
    return Error{unwritable.text};
  }
}

}  // namespace assay::suites
