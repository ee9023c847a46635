// SPDX-License-Identifier: Apache-2.0
#include "suites/workers/vector_folder.h"

#include "suites/sandbox/process.h"

#include <catch2/catch.hpp>

#include <sys/stat.h>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;

const Case& average() {
  static const Case c = *parse_case("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2");
  return c;
}

Tensor numbers(DType dtype, Shape shape) { return fill(*parse_recipe("iota:1"), {dtype, std::move(shape)}); }

// A vector with two data sets, as it should be.
struct Folder {
  TemporaryDirectory root;
  fs::path at = root.path() / "test_x";

  Folder() {
    write_file(at / "model.onnx", model_of(average()));
    for (int set = 0; set < 2; ++set) {
      write_file(at / data_set_name(set) / "input_0.pb", graph_inputs(average(), set).at(0));
      write_file(at / data_set_name(set) / "output_0.pb", encode_tensor(numbers(DType::f32, {1, 1, 3}), "Y"));
    }
  }

  // Every flaw, those that only the model shows included, one a line.
  std::string problems(Links links = Links::follow) const {
    const TestVector vector = read_vector(root.path(), "test_x", links);
    std::string all;
    for (const FileProblem& problem : vector.problems) all += text(problem) + "\n";
    if (const Result<Served> served = parse_model(vector.model))
      for (const FileProblem& problem : flaws_against(*served, vector)) all += text(problem) + "\n";
    return all;
  }
};

}  // namespace

TEST_CASE("A vector is read whole, and what lies beside it is left alone", "[vectors]") {
  const Folder here;
  write_file(here.at / "data.json", "{}");
  write_file(here.at / "bounds_0" / "lower_0.pb", "x");
  const TestVector vector = read_vector(here.root.path(), "test_x");
  CHECK(here.problems() == "");
  CHECK(vector.model == model_of(average()));
  REQUIRE(vector.sets.size() == 2);
  CHECK(vector.sets[1].number == 1);
  CHECK(vector.sets[1].inputs.at(0)->as<float>()[0] == -1);
  CHECK(vector.sets[0].outputs.at(0)->shape() == Shape{1, 1, 3});
  CHECK(*vector_names(here.root.path()) == std::vector<std::string>{"test_x"});
  CHECK(vector_names(here.root.path() / "nowhere").error().find("is no folder") != std::string::npos);
}

TEST_CASE("Each file of a vector that is not as it should be is named", "[vectors]") {
  const Folder here;
  const fs::path set = here.at / "test_data_set_0";
  const std::string in = "test_x/test_data_set_0/", bytes = *file_contents(set / "output_0.pb", 1 << 20);
  SECTION("missing") {
    fs::remove(set / "input_0.pb");
    fs::remove(here.at / "model.onnx");
    CHECK(here.problems() == "missing: test_x/model.onnx\n");
    write_file(here.at / "model.onnx", model_of(average()));
    CHECK(here.problems() == "missing: " + in + "input_0.pb\n");
    write_file(set / "input_1.pb", bytes);
    CHECK(here.problems().starts_with("missing: " + in + "input_0.pb\nextra: " + in +
                                      "input_1.pb: the model has 1 inputs"));
  }
  SECTION("misnamed") {
    for (const char* name : {"output0.pb", "Output_0.pb", "output_01.pb", "output_-1.pb", "output_0.pb ", "input_+0.pb",
                             "output_99999999999.pb", "output_4096.pb", "output_.pb", "input_0.npy"}) {
      INFO(name);
      write_file(set / name, bytes);
      CHECK(here.problems().find("misnamed: " + in) == 0);
      fs::remove(set / name);
    }
    fs::rename(here.at / "test_data_set_1", here.at / "test_data_set_one");
    CHECK(here.problems().starts_with("misnamed: test_x/test_data_set_one: a data set is a folder test_data_set_N"));
    write_file(here.at / "test_data_0.npz", "x");
    CHECK(here.problems().starts_with("misnamed: test_x/test_data_0.npz"));
  }
  SECTION("truncated anywhere, or no tensor at all") {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      write_file(set / "output_0.pb", bytes.substr(0, size));
      INFO(size);
      CHECK(here.problems().starts_with("damaged: " + in + "output_0.pb: "));
    }
    write_file(set / "output_0.pb", bytes + "x");
    CHECK(here.problems().starts_with("damaged: "));
  }
  SECTION("of another type or shape") {
    write_file(set / "input_0.pb", encode_tensor(numbers(DType::f16, {1, 1, 4}), "X"));
    CHECK(here.problems() == "mistyped: " + in + "input_0.pb: f16[1,1,4] where the model declares f32[1,1,4]\n");
    write_file(set / "input_0.pb", encode_tensor(numbers(DType::f32, {1, 4}), "X"));
    CHECK(here.problems().starts_with("mistyped: " + in + "input_0.pb: f32[1,4]"));
  }
  SECTION("no data sets") {
    fs::remove_all(set);
    fs::remove_all(here.at / "test_data_set_1");
    CHECK(here.problems() == "missing: test_x/test_data_set_0\n");
  }
}

TEST_CASE("A vector of links, devices and pipes reads no further than it may", "[vectors]") {
  const Folder here;
  const fs::path output = here.at / "test_data_set_0" / "output_0.pb";
  fs::rename(output, here.root.path() / "elsewhere.pb");
  fs::create_symlink(here.root.path() / "elsewhere.pb", output);
  CHECK(here.problems() == "");
  CHECK(here.problems(Links::refuse) == "unreadable: test_x/test_data_set_0/output_0.pb: is a link\n");
  fs::remove(output);
  fs::create_symlink("/dev/zero", output);
  CHECK(here.problems() == "unreadable: test_x/test_data_set_0/output_0.pb: is no regular file\n");
  fs::remove(output);
  REQUIRE(::mkfifo(output.c_str(), 0600) == 0);
  CHECK(here.problems() == "unreadable: test_x/test_data_set_0/output_0.pb: is no regular file\n");
  fs::remove(output);
  fs::create_symlink("nowhere", output);
  CHECK(here.problems().starts_with("unreadable: test_x/test_data_set_0/output_0.pb: is "));
  fs::rename(here.at / "test_data_set_1", here.root.path() / "set");
  fs::create_directory_symlink(here.root.path() / "set", here.at / "test_data_set_1");
  CHECK(here.problems(Links::refuse).find("unreadable: test_x/test_data_set_1: is a link\n") != std::string::npos);
}

}  // namespace assay::suites
