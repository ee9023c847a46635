// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/answer_check.h"

#include "oracles/judging/distribution.h"
#include "reference/flat_index.h"
#include "reference/sequence.h"
#include "suites/text/numpy_text.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace assay::suites {
namespace {

using oracles::Admitted;
using oracles::Outcome;
using oracles::State;
using oracles::Verdict;
using Lines = std::vector<std::string>;

// Answers of more letters are compared in this many elements, those that are wrong; those of both data sets are not.
constexpr std::size_t most_letters = 480, most_letters_of_both = 4000, most_picks = 12;

// Why there is no script; thrown only inside this file: answer_check_of catches it.
struct Unwritable {
  std::string text;
};

// -- parts of an output

// Takes some elements of a tensor, side by side.
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

// Finds the first elements that each answer of the same type and shape does not admit.
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

// Stacks each answer of one with each of the other: a reading may change one of them alone, but none has two shapes.
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

// Writes a tensor that is short, or was made short.
std::string shown(const Tensor& tensor) { return numpy_text(tensor, std::size_t{1} << 20).value(); }

// Writes as flags which elements are admitted besides the interval.
std::string mask_text(const Tensor& like, const std::vector<Int>& elements) {
  if (elements.empty()) return "False";
  if (std::ssize(elements) == like.elements()) return "True";
  Tensor mask({DType::boolean, like.shape()});
  for (const Int index : elements) mask.as<Bool>()[static_cast<std::size_t>(index)] = Bool(true);
  return shown(mask);
}

bool has_nan(const Tensor& tensor) {
  for (Int i = 0; i < tensor.elements(); ++i)
    if (oracles::scalar(tensor, i).is == oracles::Scalar::Class::nan) return true;
  return false;
}

// Tells whether nothing may be claimed of any value.
bool are_unscored(const std::vector<Admitted>& answers) {
  return std::ranges::all_of(
      answers, [](const Admitted& each) { return each.unscored > 0 && each.unscored == each.output.elements(); });
}

// Tells whether nothing is admitted but the right values themselves.
bool is_exact(const Admitted& answer) {
  return answer.lower == answer.upper && answer.output == answer.lower && answer.or_zero.empty() &&
         answer.or_nan.empty() && answer.or_nonfinite.empty();
}

// Writes a type as Python has it in the middle of an expression.
std::string type_text(const TensorType& type) {
  return "np.dtype(" + std::string(numpy_name(type.dtype)) + "), " + python_shape(type.shape);
}

class CheckWriter {
 public:
  CheckWriter(const JudgedCase& judged, int set, std::size_t output, bool is_stacked)
      : judged_(judged), set_(set), output_(output), is_stacked_(is_stacked) {}

  AnswerCheck written() {
    write();
    return std::move(check_);
  }

 private:
  void add(std::string line) { check_.lines.push_back(std::move(line)); }

  void write() {
    const bool is_value = verdict_.state == State::fail || verdict_.state == State::below;
    const Tensor* got = output_of(outcome_, set_, output_);
    if (const auto drawn_from = oracles::distribution_of(c_.call()); is_value && drawn_from)
      return write_distribution(*drawn_from);
    if (has_large_outputs(c_)) return is_value ? write_named(got) : write_types({right_type(c_, set_, output_)});
    answers_ = answers_of(judged_, set_, output_);
    if (is_stacked_) answers_ = stacked(answers_, answers_of(judged_, 1, output_));
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
    const std::size_t most = is_stacked_ ? most_letters_of_both : most_letters;
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
    // Tells the shape alone of an answer that has another one, as another reading gives it.
    if (!others.empty()) check_.right = "(got.dtype, got.shape) in " + list_of(others) + " or " + check_.right;
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
    check_.shown = "off";
    check_.wanted = "\"at most\", most";
    check_.right = "off <= most";
  }

  static std::string digits(double value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
  }

  // Returns how long they are where they are written out.
  static std::size_t letters_of(const std::vector<Admitted>& answers) {
    std::size_t letters = 0;
    for (const Admitted& each : answers)
      for (const Tensor* tensor : {&each.lower, &each.upper}) {
        const auto text = numpy_text(*tensor, most_letters_of_both);
        letters += text ? text->size() : most_letters_of_both;
      }
    return letters;
  }

  static std::vector<TensorType> types_of(const std::vector<Admitted>& answers) {
    std::vector<TensorType> types;
    for (const Admitted& each : answers)
      if (std::ranges::find(types, each.output.type()) == types.end()) types.push_back(each.output.type());
    return types;
  }

  static std::string list_of(const std::vector<TensorType>& types) {
    return "[" + joined(types, ", ", [](const TensorType& each) { return "(" + type_text(each) + ")"; }) + "]";
  }

  // Writes what the output may be, where its values are not told.
  void write_types(const std::vector<TensorType>& admitted) {
    check_.shown = "got.dtype, got.shape";
    if (provenance_.description.answers_shapes) return write_inferred(admitted);
    if (admitted.size() == 1) {
      add("want = " + type_text(admitted[0]));
      check_.wanted = "*want";
      check_.right = "(got.dtype, got.shape) == want";
      return;
    }
    add("wants = " + list_of(admitted));
    check_.wanted = "wants";
    check_.right = "(got.dtype, got.shape) in wants";
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
    check_.shown = "got";
    check_.wanted = is_one ? "want" : "wants";
    check_.right = is_one ? fits : "any(" + fits + " for want in wants)";
  }

  // Returns the place of the element that the verdict names; one that was read from a store may name any.
  Int named_element(const Shape& shape) const {
    const Shape& index = verdict_.evidence->index;
    const bool is_inside = std::ranges::equal(index, shape, [](Int at, Int extent) { return 0 <= at && at < extent; });
    if (!is_inside) throw Unwritable{"its verdict names an element that the output has not"};
    return flat_index(shape, index);
  }

  // Checks the element that the verdict names, where the output is too large to be worked out or no interval is right.
  void write_named(const Tensor* got) {
    if (is_about_type(verdict_)) return write_types({right_type(c_, set_, output_)});
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

  // Compares with what is wrong, where not all that is right can be told: the defect stands for as long as these
  // elements are as they were.
  void write_wrong(const TensorType& type, const std::vector<Int>& wrong, const std::string& values, bool has_nans,
                   const std::string& wanted) {
    pick(type, wrong);
    add("wrong = " + values);
    check_.shown = "some";
    check_.wanted = wanted;
    check_.right = std::string("not np.array_equal(some") + (type.dtype == DType::string ? ".astype(np.object_)" : "") +
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
    check_.shown = "repr(" + viewed(name) + ")";
    check_.wanted = answers_.size() > 1 ? "*" + list
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
    check_.right = before + (before.empty() ? "" : " and ") + of_any;
  }

  // `end`: a tensor of the right type, or else the type is named.
  std::string is_of_type(const std::string& name, const std::string& end = "") const {
    const DType type = answers_[0].output.dtype();
    if (type == DType::string) return name + ".dtype.kind in \"OU\"";
    return name + ".dtype == " + (end.empty() ? std::string(numpy_name(type)) : end + ".dtype");
  }

  // numpy compares flags by truth, and a byte that is neither 0 nor 1 is none; it has texts under two types.
  std::string viewed(const std::string& name) const {
    const bool is_value = !is_about_type(verdict_) && verdict_.because != "count";
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

  // Adds what an element may be besides: a clause of the test, and a column where it does not hold for all of them.
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

  const JudgedCase& judged_;
  const Case& c_ = judged_.c;
  const Verdict& verdict_ = judged_.verdict;
  const Outcome* outcome_ = judged_.outcome;
  const Provenance& provenance_ = judged_.provenance;
  int set_;
  std::size_t output_;
  bool is_stacked_;
  std::vector<Admitted> answers_;
  std::string shape_;
  AnswerCheck check_;
};

}  // namespace

Result<AnswerCheck> answer_check_of(const JudgedCase& judged, int set, std::size_t output, bool is_stacked) {
  try {
    return CheckWriter(judged, set, output, is_stacked).written();
  } catch (const Unwritable& unwritable) {
    return Error{unwritable.text};
  }
}

}  // namespace assay::suites
