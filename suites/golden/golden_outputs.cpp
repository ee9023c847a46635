// SPDX-License-Identifier: Apache-2.0
#include "suites/golden/golden_outputs.h"

#include "suites/golden/golden.h"
#include "suites/text/printable.h"
#include "suites/workers/frame.h"
#include "suites/workers/npy.h"

#include <algorithm>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;
using oracles::Outcome;
using Kind = Outcome::Kind;

constexpr std::uintmax_t most_tensor = std::uintmax_t{1} << 31, most_words = 1 << 20;

constexpr Kind told_in_words[] = {Kind::crashed, Kind::timed_out, Kind::out_of_memory, Kind::garbled};

std::string file_of(Kind kind) {
  if (kind == Kind::refused) return "refused.txt";
  return kind == Kind::unsupported ? "unsupported.txt" : "error.txt";
}

// "timed out: no answer within 10 s"
Outcome error_in(const std::string& words) {
  for (const Kind kind : told_in_words)
    if (const std::string head = std::string(name(kind)) + ": "; words.starts_with(head))
      return Outcome::failure(kind, words.substr(head.size()));
  return Outcome::failure(Kind::crashed, words);
}

// Says a flaw as the words of an outcome, which names the kind itself where something is missing.
std::string words_of(const FileProblem& problem) {
  const std::string words = text(problem), kind = std::string(name(problem.kind)) + ": ";
  return problem.kind == FileProblem::Kind::missing ? words.substr(kind.size()) : words;
}

// Returns the type of each output that a case asks for; none of a near miss, whose outputs no rule says.
std::vector<DType> types_of_outputs(const Case& c) {
  std::vector<DType> types;
  if (!c.is_legal()) return types;
  const Call call = c.call();
  for (const std::string& name : call.requested_outputs())
    types.push_back(c.definition().type_of(call, *c.definition().output(name)));
  return types;
}

// One case while it is read.
struct Reading : Recording {
  fs::path root;
  RecordedAnswers saved;

  void complain(FileProblem::Kind kind, const std::string& file, const std::string& detail = "") {
    saved.problems.push_back({kind, name + "/" + file, detail});
  }

  std::optional<std::string> bytes_of(const std::string& file, std::uintmax_t most) {
    const fs::path path = root / name / file;
    Result<std::string> bytes = file_contents(path, most, Links::refuse);
    if (bytes) return *std::move(bytes);
    complain(FileProblem::Kind::unreadable, file, bytes.error().substr(path.string().size() + 1));
    return std::nullopt;
  }

  // refused.txt and its like.
  std::optional<Outcome> told(const std::string& file) {
    std::optional<std::string> words = bytes_of(file, most_words);
    if (!words) return Outcome::failure(Kind::garbled, text(saved.problems.back()));
    if (words->ends_with('\n')) words->pop_back();
    if (words->ends_with('\r')) words->pop_back();
    if (file == "error.txt") return error_in(*words);
    if (words->empty()) {
      complain(FileProblem::Kind::damaged, file, "it gives no reason");
      return Outcome::failure(Kind::garbled, text(saved.problems.back()));
    }
    return Outcome::failure(file == "refused.txt" ? Kind::refused : Kind::unsupported, *std::move(words));
  }

  // The file of one output; a flaw, and none, where there is not exactly one.
  std::optional<std::string> chosen(int set, int output, const std::vector<std::string>& names) {
    const std::string pb = tensor_name("output", output), npy = tensor_name("output", output, ".npy");
    const bool has_pb = std::ranges::binary_search(names, pb), has_npy = std::ranges::binary_search(names, npy);
    const std::string folder = data_set_name(set) + "/";
    if (has_pb && has_npy) complain(FileProblem::Kind::extra, folder + npy, "beside " + pb + "; keep one of them");
    if (has_pb == has_npy) return std::nullopt;
    return folder + (has_pb ? pb : npy);
  }

  std::optional<Tensor> tensor_of(const std::string& file, std::size_t output) {
    const std::optional<std::string> bytes = bytes_of(file, most_tensor);
    if (!bytes) return std::nullopt;
    std::optional<DType> wanted;
    if (!types.empty()) wanted = types[std::min(output, types.size() - 1)];
    Result<Tensor> tensor = file.ends_with(".npy") ? decode_npy(*bytes, wanted) : decode_tensor(*bytes);
    if (tensor) return *std::move(tensor);
    complain(FileProblem::Kind::damaged, file, tensor.error());
    return std::nullopt;
  }

  // The outputs of one data set by their numbers, so that one too many is judged as what it is.
  void read_set(int set) {
    std::vector<Tensor>& outputs = saved.outcome.sets.emplace_back();
    const std::vector<std::string> names = names_in(root / name / data_set_name(set));
    int wanted = 1;
    for (const std::string& each : names) {
      auto number = number_in(each, "output_", ".pb");
      if (!number) number = number_in(each, "output_", ".npy");
      if (number)
        wanted = std::max(wanted, *number + 1);
      else
        complain(FileProblem::Kind::misnamed, data_set_name(set) + "/" + each,
                 "written are output_N.pb and output_N.npy");
    }
    for (int output = 0; output < wanted; ++output) {
      const std::size_t problems = saved.problems.size();
      const std::optional<std::string> file = chosen(set, output, names);
      std::optional<Tensor> tensor = file ? tensor_of(*file, static_cast<std::size_t>(output)) : std::nullopt;
      if (!tensor && saved.problems.size() == problems)
        complain(FileProblem::Kind::missing, data_set_name(set) + "/" + tensor_name("output", output));
      if (!tensor && answerless.empty()) answerless = words_of(saved.problems.back());
      if (!tensor && saved.problems.back().kind != FileProblem::Kind::missing) is_garbled = true;
      if (tensor) outputs.push_back(*std::move(tensor));
    }
  }

  void read_sets() {
    for (int set = 0; set < sets; ++set) read_set(set);
    if (answerless.empty()) return;
    saved.outcome = Outcome::failure(is_garbled ? Kind::garbled : Kind::missing, answerless);
  }

  void read() {
    const fs::path folder = root / name;
    std::error_code failure;
    if (!fs::is_directory(fs::symlink_status(folder, failure))) {
      const bool is_there = fs::exists(fs::symlink_status(folder, failure));
      saved.problems.push_back({is_there ? FileProblem::Kind::unreadable : FileProblem::Kind::missing, name,
                                is_there ? "is no folder" : ""});
      saved.outcome = Outcome::failure(is_there ? Kind::garbled : Kind::missing, words_of(saved.problems.back()));
      return;
    }
    std::vector<std::string> words;
    bool has_sets = false;
    for (const std::string& each : names_in(folder)) {
      const auto set = number_in(each, "test_data_set_", "");
      const bool is_set = set && *set < sets;
      const bool is_linked = is_set && fs::is_symlink(fs::symlink_status(folder / each, failure));
      if (is_linked) complain(FileProblem::Kind::unreadable, each, "is a link");
      if (is_set)
        has_sets = true;
      else if (each == "refused.txt" || each == "unsupported.txt" || each == "error.txt")
        words.push_back(each);
      else
        complain(set ? FileProblem::Kind::extra : FileProblem::Kind::misnamed, each,
                 set ? "asked were " + std::to_string(sets) + " data sets" : "no name of an answer");
    }
    if (words.size() + has_sets > 1) {
      complain(FileProblem::Kind::extra, words.back(), "beside another answer; keep one of them");
      saved.outcome = Outcome::failure(Kind::garbled, text(saved.problems.back()));
    } else if (!words.empty()) {
      saved.outcome = *told(words.front());
    } else {
      read_sets();
    }
  }

  std::string answerless;  // the first flaw that leaves an output out
  bool is_garbled = false;
};

}  // namespace

void save_outcome(const fs::path& root, const SuiteCase& planned, const Outcome& outcome) {
  expects(outcome.kind != Kind::shapes, "types are no outputs to save");
  const fs::path folder = root / golden_name(planned);
  if (outcome.kind != Kind::outputs) {
    const bool is_error = file_of(outcome.kind) == "error.txt";
    write_file(folder / file_of(outcome.kind),
               (is_error ? std::string(name(outcome.kind)) + ": " : "") + outcome.because + "\n");
    return;
  }
  for (std::size_t set = 0; set < outcome.sets.size(); ++set)
    for (std::size_t i = 0; i < outcome.sets[set].size(); ++i)
      write_file(folder / data_set_name(static_cast<int>(set)) / tensor_name("output", static_cast<int>(i)),
                 encode_tensor(outcome.sets[set][i], "output"));
}

void save_description(const fs::path& root, const Description& description) {
  write_file(root / description_file, description_line(description));
}

RecordedAnswers saved_outcome(const fs::path& root, Recording recording) {
  Reading reading{std::move(recording), root, {}, {}};
  reading.read();
  return std::move(reading.saved);
}

RecordedAnswers saved_outcome(const fs::path& root, const SuiteCase& planned) {
  return saved_outcome(root, Recording{golden_name(planned), types_of_outputs(planned.c)});
}

Description saved_description(const fs::path& root) {
  const fs::path file = root / description_file;
  std::error_code failure;
  if (!fs::exists(fs::symlink_status(file, failure))) return {};
  const Result<std::string> line = file_contents(file, header_limit, Links::refuse);
  if (!line) throw InputError(line.error());
  const Result<Introduction> introduction = parse_introduction(*line);
  if (!introduction) throw InputError(file.string() + ": " + introduction.error());
  if (introduction->description.answers_shapes)
    throw InputError(file.string() + ": a backend that answers shapes brings back no outputs");
  return introduction->description;
}

std::vector<FileProblem> strangers(const fs::path& root, std::set<std::string> names) {
  names.emplace(description_file);
  std::vector<FileProblem> problems;
  for (const std::string& each : names_in(root))
    if (!names.contains(each)) problems.push_back({FileProblem::Kind::extra, each, "no case is called so"});
  return problems;
}

RecordedBackend::RecordedBackend(fs::path root, const Suite& suite, Description description)
    : root_(std::move(root)), description_(std::move(description)) {
  for (const SuiteCase& planned : suite.cases) cases_.emplace(case_id(planned.line), &planned);
}

Outcome RecordedBackend::answer() { return saved_outcome(root_, *cases_.at(requested_)).outcome; }

}  // namespace assay::suites
