// SPDX-License-Identifier: Apache-2.0
#include "suites/workers/vector_folder.h"

#include "suites/text/printable.h"
#include "suites/workers/npy.h"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;

// A folder of a stranger may claim test_data_set_2000000000.
constexpr int most_numbers = 1 << 10;

// One case while it is read.
struct Reading {
  fs::path root;
  Links links;
  TestVector vector;

  void complain(FileProblem::Kind kind, const std::string& file, std::string detail = "") {
    vector.problems.push_back({kind, file, std::move(detail)});
  }

  // The file named from the root; its flaw is noted where it cannot be read.
  std::optional<std::string> bytes_of(const std::string& file) {
    Result<std::string> bytes = file_contents(root / file, most_message, links);
    if (bytes) return *std::move(bytes);
    complain(FileProblem::Kind::unreadable, file, bytes.error().substr((root / file).string().size() + 1));
    return std::nullopt;
  }

  std::optional<Tensor> tensor_of(const std::string& file) {
    const std::optional<std::string> bytes = bytes_of(file);
    if (!bytes) return std::nullopt;
    Result<Tensor> tensor = decode_tensor(*bytes);
    if (tensor) return *std::move(tensor);
    complain(FileProblem::Kind::damaged, file, tensor.error());
    return std::nullopt;
  }

  // Those in between that are not there are missing.
  void place(std::vector<std::optional<Tensor>>& tensors, int number, const std::string& file) {
    const auto at = static_cast<std::size_t>(number);
    if (tensors.size() <= at) tensors.resize(at + 1);
    tensors[at] = tensor_of(file);
  }

  // A link to a folder counts as one where links are refused.
  bool is_linked(const std::string& folder) {
    std::error_code failure;
    if (links == Links::follow || !fs::is_symlink(fs::symlink_status(root / folder, failure))) return false;
    complain(FileProblem::Kind::unreadable, folder, "is a link");
    return true;
  }

  void read_set(int number) {
    const std::string folder = vector.name + "/" + data_set_name(number);
    if (is_linked(folder)) return;
    VectorSet set{number, {}, {}};
    std::vector<std::string> found;
    for (const std::string& name : names_in(root / folder)) {
      const std::string file = folder + "/" + name;
      if (const auto input = number_in(name, "input_", ".pb"))
        place(set.inputs, *input, file);
      else if (const auto output = number_in(name, "output_", ".pb"))
        place(set.outputs, *output, file);
      else
        complain(FileProblem::Kind::misnamed, file, "a data set holds input_N.pb and output_N.pb");
      found.push_back(file);
    }
    for (const auto& [side, tensors] : {std::pair("input", &set.inputs), std::pair("output", &set.outputs)})
      for (std::size_t i = 0; i < tensors->size(); ++i) {
        const std::string file = folder + "/" + tensor_name(side, static_cast<int>(i));
        if (!std::ranges::binary_search(found, file)) complain(FileProblem::Kind::missing, file);
      }
    vector.sets.push_back(std::move(set));
  }

  void read_sets() {
    std::vector<int> numbers;
    for (const std::string& name : names_in(root / vector.name)) {
      if (const auto number = number_in(name, "test_data_set_", ""))
        numbers.push_back(*number);
      else if (name.starts_with("test_data"))
        complain(FileProblem::Kind::misnamed, vector.name + "/" + name, "a data set is a folder test_data_set_N");
    }
    std::ranges::sort(numbers);
    for (const int number : numbers) read_set(number);
    if (numbers.empty()) complain(FileProblem::Kind::missing, vector.name + "/" + data_set_name(0));
  }
};

// An extent that is not declared is -1.
bool agrees(const TensorType& given, const TensorType& declared) {
  return given.dtype == declared.dtype &&
         std::ranges::equal(given.shape, declared.shape, [](Int a, Int b) { return b == -1 || a == b; });
}

std::string words(const TensorType& type) { return std::string(name(type.dtype)) + assay::text(type.shape); }

// The declared type of a graph input; none where it feeds no operand.
const TensorType* declared_type(const Served& served, const std::string& graph_input) {
  for (std::size_t i = 0; i < served.operand_names.size(); ++i)
    if (served.operand_names[i] == graph_input) return &served.node.inputs.find(served.schema_names[i])->second.type;
  return nullptr;
}

void check_set(const Served& served, const TestVector& vector, const VectorSet& set,
               std::vector<FileProblem>& problems) {
  const std::string folder = vector.name + "/" + data_set_name(set.number) + "/";
  const std::size_t wanted = served.graph_inputs.size();
  for (std::size_t i = set.inputs.size(); i < wanted; ++i)
    problems.push_back({FileProblem::Kind::missing, folder + tensor_name("input", static_cast<int>(i)), ""});
  for (std::size_t i = 0; i < set.inputs.size(); ++i) {
    const std::string file = folder + tensor_name("input", static_cast<int>(i));
    if (i >= wanted) {
      problems.push_back({FileProblem::Kind::extra, file, "the model has " + std::to_string(wanted) + " inputs"});
      continue;
    }
    const TensorType* declared = declared_type(served, served.graph_inputs[i]);
    if (set.inputs[i] && declared && !agrees(set.inputs[i]->type(), *declared))
      problems.push_back({FileProblem::Kind::mistyped, file,
                          words(set.inputs[i]->type()) + " where the model declares " + words(*declared)});
  }
}

bool is_vector(const fs::path& folder) {
  const std::vector<std::string> names = names_in(folder);
  const auto is_set = [](const std::string& name) { return number_in(name, "test_data_set_", "").has_value(); };
  return std::ranges::binary_search(names, "model.onnx") && std::ranges::any_of(names, is_set);
}

}  // namespace

std::string_view name(FileProblem::Kind kind) {
  switch (kind) {
    case FileProblem::Kind::missing: return "missing";
    case FileProblem::Kind::extra: return "extra";
    case FileProblem::Kind::misnamed: return "misnamed";
    case FileProblem::Kind::damaged: return "damaged";
    case FileProblem::Kind::mistyped: return "mistyped";
    case FileProblem::Kind::altered: return "altered";
    case FileProblem::Kind::unreadable: return "unreadable";
  }
  throw BrokenPromise("a flaw without a name");
}

std::string text(const FileProblem& problem) {
  constexpr std::size_t longest = 400;
  return std::string(name(problem.kind)) + ": " + printable(problem.file, longest) +
         (problem.detail.empty() ? "" : ": " + printable(problem.detail, longest));
}

Result<std::vector<std::string>> vector_names(const fs::path& root) {
  std::error_code failure;
  if (!fs::is_directory(root, failure))
    return Error{root.string() + " is no folder; name one of folders with model.onnx and test_data_set_0/"};
  std::vector<std::string> names = names_in(root);
  std::erase_if(names, [&](const std::string& name) {
    return !fs::is_directory(root / name, failure) || !(name.starts_with("test_") || is_vector(root / name));
  });
  return names;
}

TestVector read_vector(const fs::path& root, const std::string& name, Links links) {
  Reading reading{root, links, {}};
  reading.vector.name = name;
  const std::string model = name + "/model.onnx";
  if (reading.is_linked(name)) return std::move(reading.vector);
  std::error_code failure;
  if (!fs::exists(fs::symlink_status(root / model, failure)))
    reading.complain(FileProblem::Kind::missing, model);
  else
    reading.vector.model = reading.bytes_of(model).value_or("");
  reading.read_sets();
  std::ranges::stable_sort(reading.vector.problems, {}, &FileProblem::file);
  return std::move(reading.vector);
}

std::vector<FileProblem> flaws_against(const Served& served, const TestVector& vector) {
  std::vector<FileProblem> problems;
  for (const VectorSet& set : vector.sets) check_set(served, vector, set, problems);
  return problems;
}

std::string data_set_name(int number) { return "test_data_set_" + std::to_string(number); }

std::string tensor_name(std::string_view side, int number, std::string_view extension) {
  return std::string(side) + "_" + std::to_string(number) + std::string(extension);
}

std::optional<int> number_in(std::string_view name, std::string_view prefix, std::string_view suffix) {
  if (name.size() <= prefix.size() + suffix.size() || !name.starts_with(prefix) || !name.ends_with(suffix))
    return std::nullopt;
  const std::string_view digits = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || number < 0 || number >= most_numbers || std::to_string(number) != digits)
    return std::nullopt;
  return number;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure))
    names.push_back(entry->path().filename().string());
  std::ranges::sort(names);
  return names;
}

Result<Tensor> tensor_in(const fs::path& file, std::optional<DType> wanted) {
  const Result<std::string> bytes = file_contents(file, most_message);
  if (!bytes) return Error{bytes.error()};
  Result<Tensor> tensor = file.extension() == ".npy" ? decode_npy(*bytes, wanted) : decode_tensor(*bytes);
  return tensor ? std::move(tensor) : Result<Tensor>(Error{file.string() + ": " + tensor.error()});
}

Result<std::string> file_contents(const fs::path& file, std::uintmax_t most, Links links) {
  const auto refuse = [&](const std::string& why) { return Error{file.string() + " " + why}; };
  std::error_code failure;
  const fs::file_status itself = fs::symlink_status(file, failure);
  if (!fs::exists(itself)) return refuse("is missing");
  if (links == Links::refuse && fs::is_symlink(itself)) return refuse("is a link");
  if (!fs::is_regular_file(fs::status(file, failure))) return refuse("is no regular file");
  const std::uintmax_t size = fs::file_size(file, failure);
  if (failure) return refuse("cannot be read: " + failure.message());
  if (size > most) return refuse("is too large: " + std::to_string(size) + " bytes");
  std::ifstream in(file, std::ios::binary);
  if (!in) return refuse("cannot be read");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(in.gcount()) != size) return refuse("cannot be read to its end");
  return bytes;
}

void write_file(const fs::path& file, std::string_view bytes) {
  std::error_code failure;
  fs::create_directories(file.parent_path(), failure);
  if (failure) throw InputError("cannot make the folder " + file.parent_path().string() + ": " + failure.message());
  std::ofstream out(file, std::ios::binary);
  out << bytes;
  if (!out.flush()) throw InputError("cannot write " + file.string() + "; check that its folder may be written");
}

}  // namespace assay::suites
