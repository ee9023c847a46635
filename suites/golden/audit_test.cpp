// SPDX-License-Identifier: Apache-2.0
// Good vectors, planted wrong ones and hostile folders: each is rated or named, and nothing is lost.
#include "suites/golden/audit.h"

#include "reference/case_view.h"
#include "suites/sandbox/process.h"

#include <catch2/catch.hpp>

#include <set>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;

const char* const pool = "AveragePool-19 opset=19 ir=8 X=f32[1,1,6]~iota:1 kernel_shape=2 strides=2";
const char* const conv = "Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~lit:1,10@init";
const char* const nhwc = "com.microsoft:NhwcConv-1 opset=1 ir=8 X=f32[1,4,4,1]~iota:1 W=f32[1,2,2,1]~small:1";
const char* const illegal = "Conv-11 opset=11 ir=8 X=f32[1,3,4]~iota:1 W=f32[2,1,2]~sign:1 group=3";

Tensor right_output(const Case& c, int set) { return c.definition().kernel(c.call(), views(operands(c, set))).only(); }

// The vector of a case with the right outputs, as anybody might have written it.
class Folder {
 public:
  const fs::path& path() const { return directory_.path(); }

  void add(const std::string& name, const std::string& line, int sets = 1) {
    const Case c = case_of(line);
    write_file(path() / name / "model.onnx", model_of(c));
    for (int set = 0; set < sets; ++set) {
      const fs::path folder = path() / name / data_set_name(set);
      const std::vector<std::string> inputs = graph_inputs(c, set);
      for (std::size_t i = 0; i < inputs.size(); ++i)
        write_file(folder / tensor_name("input", static_cast<int>(i)), inputs[i]);
      if (c.is_legal()) put(name, right_output(c, set), set);
    }
  }
  void put(const std::string& name, const Tensor& output, int set = 0) {
    write_file(output_of(name, set), encode_tensor(output, "Y"));
  }
  fs::path output_of(const std::string& name, int set = 0) const {
    return path() / name / data_set_name(set) / "output_0.pb";
  }

 private:
  TemporaryDirectory directory_;
};

std::map<Rating, int> ratings(const Audit& audit) {
  std::map<Rating, int> counts;
  for (const Rated& each : audit.outputs) ++counts[each.rating];
  return counts;
}

TEST_CASE("audit: right outputs are rated right, every data set, initializers and com.microsoft as well", "[audit]") {
  Folder folder;
  folder.add("test_pool", pool, 2);
  folder.add("test_conv", conv);
  folder.add("test_nhwc", nhwc);
  const Audit audit = *suites::audit(folder.path());
  CHECK(audit.models == 3);
  CHECK(audit.problems.empty());
  CHECK(audit.foreign.empty());
  REQUIRE(audit.outputs.size() == 4);
  for (const Rated& each : audit.outputs) {
    INFO(each.file << ": " << each.because);
    CHECK((each.rating == Rating::rounded || each.rating == Rating::bounded));
  }
  CHECK(audit.outputs[0].version == OpVersion{"", "Conv", 11});
  CHECK(audit.outputs[1].version == OpVersion{"com.microsoft", "NhwcConv", 1});
  CHECK(audit.outputs[3].file == "test_pool/test_data_set_1/output_0.pb");
}

TEST_CASE("audit: a wrong element, a wrong shape, another reading and an illegal model are told apart", "[audit]") {
  Folder folder;
  folder.add("test_a_value", pool);
  Tensor value = right_output(case_of(pool), 0);
  value.as<float>()[1] += 1;
  folder.put("test_a_value", value);
  folder.add("test_b_shape", pool);
  folder.put("test_b_shape",
             right_output(case_of("AveragePool-19 opset=19 ir=8 X=f32[1,1,8]~iota:1 kernel_shape=2 strides=2"), 0));
  folder.add("test_c_weak", conv);
  Tensor weak = right_output(case_of("Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~lit:1,10"), 0);
  weak.as<float>()[0] *= 1.5F;
  folder.put("test_c_weak", weak);
  folder.add("test_d_illegal", illegal);
  folder.put("test_d_illegal", value);
  // The window past the end is dropped by the text; one that keeps it gives another shape.
  const std::string tail =
      "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 pads=0,2 strides=3 ceil_mode=1";
  folder.add("test_e_tail", tail);
  const Audit audit = *suites::audit(folder.path());
  CHECK(ratings(audit)[Rating::wrong] == 3);
  CHECK(ratings(audit)[Rating::illegal] == 1);
  CHECK_THAT(audit.outputs.at(0).because, Catch::Contains("element [0,0,1] is"));
  CHECK_THAT(audit.outputs.at(1).because, Catch::Contains("shape"));
  CHECK_THAT(audit.outputs.at(3).because, Catch::Contains("breaks Conv.C"));
}

TEST_CASE("audit: models that are not for us are counted by why, and their data are not looked at", "[audit]") {
  Folder folder;
  const Case c = case_of(pool);
  std::string other = model_of(c);
  for (std::size_t at; (at = other.find("AveragePool")) != other.npos;) other.replace(at, 11, "MaxPoolLike");
  write_file(folder.path() / "test_other/model.onnx", other);
  write_file(folder.path() / "test_other/test_data_set_0/output_0.pb", "rubbish");
  write_file(folder.path() / "test_two/model.onnx", packed_model_of({&c, &c}));
  const Audit audit = *suites::audit(folder.path());
  CHECK(audit.other_operators == std::map<std::string, Int>{{"MaxPoolLike", 1}});
  CHECK(audit.foreign == std::map<std::string, Int>{{"several nodes", 1}});
  CHECK(audit.problems.empty());
  CHECK(audit.outputs.empty());
}

TEST_CASE("audit: a folder is a vector by what it holds, whatever it is called", "[audit]") {
  Folder folder;
  folder.add("pool of mine", pool);
  folder.add("test_conv", conv);
  folder.add("notes", pool);
  fs::remove(folder.path() / "notes/model.onnx");
  folder.add("model alone", pool);
  fs::remove_all(folder.path() / "model alone/test_data_set_0");
  const Audit audit = *suites::audit(folder.path());
  CHECK(audit.models == 2);
  REQUIRE(audit.outputs.size() == 2);
  CHECK(audit.outputs[0].file == "pool of mine/test_data_set_0/output_0.pb");
}

TEST_CASE("audit: hostile folders are named in one line each, and nothing is lost", "[audit]") {
  Folder folder;
  for (const char* name : {"test_a", "test_b", "test_c", "test_d", "test_e", "test_f", "test_h"})
    folder.add(name, pool);
  fs::resize_file(folder.output_of("test_a"), fs::file_size(folder.output_of("test_a")) - 3);
  write_file(folder.output_of("test_b"), std::string("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x40\x10\x01", 12));  // dims
  folder.put("test_c", Tensor(TensorType{DType::f16, {1, 1, 3}}));
  fs::remove(folder.output_of("test_d"));
  fs::create_symlink("/etc/passwd", folder.output_of("test_d"));
  fs::remove(folder.output_of("test_e"));
  fs::remove(folder.path() / "test_f/test_data_set_0/input_0.pb");
  write_file(folder.path() / "test_g/model.onnx", "no model");
  fs::resize_file(folder.path() / "test_h/model.onnx", fs::file_size(folder.path() / "test_h/model.onnx") / 2);
  fs::create_directory_symlink(folder.path() / "test_a", folder.path() / "test_i");
  const Audit audit = *suites::audit(folder.path());
  CHECK(audit.models == 9);
  REQUIRE(audit.outputs.size() == 1);  // an output of another type can be rated: it is wrong
  CHECK(audit.outputs.front().file == "test_c/test_data_set_0/output_0.pb");
  CHECK(audit.outputs.front().rating == Rating::wrong);
  std::set<std::string> named;
  for (const FileProblem& problem : audit.problems) {
    INFO(text(problem));
    CHECK(text(problem).find('\n') == std::string::npos);
    named.insert(problem.file.substr(0, problem.file.find('/')));
  }
  CHECK(named == std::set<std::string>{"test_a", "test_b", "test_d", "test_e", "test_f", "test_g", "test_h", "test_i"});
  CHECK_FALSE(suites::audit(folder.path() / "no/such"));
}

}  // namespace
}  // namespace assay::suites
