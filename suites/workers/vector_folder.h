// SPDX-License-Identifier: Apache-2.0
// Test vectors in the layout of ONNX's node tests, which any ONNX tool opens, from our hand or a stranger's:
//
//   test_x/  model.onnx
//            test_data_set_0/  input_0.pb …  output_0.pb …     one TensorProto a file
//            test_data_set_1/  …
//
// What else lies beside model.onnx (data.json, bounds, …) is not looked at. What is wrong is a value that names the
// file.
#pragma once

#include "reference/onnx_io.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

// What is wrong with one file.
struct FileProblem {
  enum class Kind {
    missing,
    extra,       // nobody asked for it
    misnamed,    // it lies where the layout wants another name
    damaged,     // truncated, too long, or no TensorProto at all
    mistyped,    // another element type or another shape than the model declares
    altered,     // not the bytes that were written
    unreadable,  // a link, a device, too large, or not permitted
  };
  Kind kind = Kind::missing;
  std::string file;    // as it was found, '/' between folders
  std::string detail;  // one line, may be empty
  bool operator==(const FileProblem&) const = default;
};
std::string_view name(FileProblem::Kind kind);
std::string text(
    const FileProblem& problem);  // "damaged: test_x/test_data_set_0/output_0.pb: these 7 bytes are no TensorProto"

// Tensors by the number in their file name; empty where `flaws` of the vector says why.
struct VectorSet {
  int number = 0;
  std::vector<std::optional<Tensor>> inputs, outputs;
};

struct TestVector {
  std::string name;                   // of the folder
  std::string model;                  // the bytes of model.onnx; empty where that is a flaw
  std::vector<VectorSet> sets;        // in the order of their numbers
  std::vector<FileProblem> problems;  // in the order of their files, which begin with `name`
};

enum class Links { follow, refuse };

// The names of the folders in `root` that are vectors, sorted: those called test_*, and those that hold model.onnx and
// a test_data_set_N. Error where `root` is no folder.
Result<std::vector<std::string>> vector_names(const std::filesystem::path& root);

// root/name. Every file of a data set is read or named among the flaws.
TestVector read_vector(const std::filesystem::path& root, const std::string& name, Links links = Links::follow);

// The flaws that only the model shows, of its inputs: missing, extra, mistyped. `served` is parse_model(vector.model).
std::vector<FileProblem> flaws_against(const Served& served, const TestVector& vector);

// "test_data_set_3" and "output_3.pb"; the number of such a name, none where it is not written exactly so.
std::string data_set_name(int number);
std::string tensor_name(std::string_view side, int number, std::string_view extension = ".pb");
std::optional<int> number_in(std::string_view name, std::string_view prefix, std::string_view suffix);

// The names in a folder, sorted; empty where there is none.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// What a protobuf message, a model or a tensor, may have at most.
inline constexpr std::uintmax_t most_message = std::uintmax_t{1} << 31;

// Reads a tensor off a .npy file, as decode_npy does, or else a TensorProto. The error is one line that begins with the
// path.
Result<Tensor> tensor_in(const std::filesystem::path& file, std::optional<DType> wanted = std::nullopt);

// A regular file of at most `most` bytes. The error is one line that begins with the path.
Result<std::string> file_contents(const std::filesystem::path& file, std::uintmax_t most, Links links = Links::follow);

// Makes the folders above the file. Throws InputError.
void write_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace assay::suites
