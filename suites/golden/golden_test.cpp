// SPDX-License-Identifier: Apache-2.0
#include "generators/generators.h"
#include "oracles/judging/case_class.h"
#include "oracles/judging/expected.h"
#include "oracles/judging/judge.h"
#include "oracles/judging/members.h"
#include "reference/sequence.h"
#include "reference/testing/run_size.h"
#include "suites/golden/golden_folder.h"
#include "suites/golden/golden_graphs.h"
#include "suites/golden/golden_outputs.h"
#include "suites/sandbox/process.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;
using oracles::State;

SuiteCase planned(const std::string& line) { return read_cases(line, "here").front(); }

const std::string average = "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2";
const std::string miss = "Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~iota:1 group=2";
const std::string overflowing = "AveragePool-10 opset=10 ir=8 X=f64[1,1,8]~huge:5792 kernel_shape=4";

std::string bytes_of(const GoldenCase& golden, const std::string& file) {
  const auto found = std::ranges::find(golden.files, golden.folder() + "/" + file, &GoldenFile::path);
  REQUIRE(found != golden.files.end());
  return found->bytes;
}

std::string names_of(const GoldenCase& golden) {
  std::string names;
  for (const GoldenFile& file : golden.files) {
    REQUIRE(file.path.starts_with(golden.folder() + "/"));
    CHECK(is_plain_path(file.path));
    names += file.path.substr(golden.folder().size() + 1) + " ";
  }
  return names;
}

std::vector<float> floats(const std::string& bytes) {
  const Tensor tensor = *decode_tensor(bytes);
  return {tensor.as<float>().begin(), tensor.as<float>().end()};
}

Suite small_suite() {
  Suite suite;
  suite.version = "test";
  for (const std::string& text : {average, miss, overflowing}) suite.cases.push_back(planned(text));
  suite.cases[0].expected = "1.5,2.5,3.5";
  suite.hash = suite_hash(suite.cases);
  return suite;
}

const Golden golden_facts{"judged so", "0.0", 1, {{"runner/run.py", "print()\n"}}, 1};

std::string told(const std::vector<FileProblem>& problems) {
  return joined(problems, "", [](const FileProblem& problem) { return text(problem) + "\n"; });
}

// -- one element of a type, moved by one step

// The number of the type that is next to it, or the same.
template <class T>
T neighbour(T value, int by) {
  T best = value;
  for (unsigned code = 0; code < 1u << T::width; ++code) {
    T other;
    other.bits = static_cast<std::uint8_t>(code);
    const double x = other, at = value, least = best;
    const bool is_beyond = by < 0 ? x < at : x > at, is_nearer = least == at || (by < 0 ? x > least : x < least);
    if (is_beyond && is_nearer) best = other;
  }
  return best;
}

template <class T>
void step(Tensor& tensor, Int index, int by) {
  T& value = tensor.as<T>()[static_cast<std::size_t>(index)];
  if constexpr (std::is_integral_v<T>) {
    value = static_cast<T>(value + by);
  } else if constexpr (Small<T>) {
    value = neighbour(value, by);
  } else {
    using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
    constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
    const auto bits = std::bit_cast<Bits>(value);
    const bool negative = bits & sign;
    if (static_cast<Bits>(bits & ~sign) == 0)
      value = std::bit_cast<T>(static_cast<Bits>(by < 0 ? sign | 1 : 1));
    else
      value = std::bit_cast<T>(static_cast<Bits>(negative ? bits - by : bits + by));
  }
}

void step(Tensor& tensor, Int index, int by) {
  for_value(tensor.dtype(), [&]<class T>() {
    if constexpr (std::is_same_v<T, Bool>)
      tensor.as<T>()[static_cast<std::size_t>(index)] = Bool(by > 0);
    else
      step<T>(tensor, index, by);
  });
}

void copy_element(const Tensor& from, Tensor& to, Int index) {
  const std::size_t size = size_of(from.dtype()), at = static_cast<std::size_t>(index) * size;
  std::ranges::copy(from.bytes().subspan(at, size), to.bytes().subspan(at, size).begin());
}

// Of every data set what is admitted of every output.
using Sets = std::vector<std::vector<oracles::Admissible>>;

// What the judge says where one element of the first output of the first data set is taken from `from` and moved `by`
// one step.
State state_of(const oracles::Judge& bench, const Sets& sets, const Tensor& from, Int index, int by) {
  oracles::Outcome outcome;
  for (const std::vector<oracles::Admissible>& set : sets) {
    outcome.sets.emplace_back();
    for (const oracles::Admissible& output : set) outcome.sets.back().push_back(output.output);
  }
  Tensor& first = outcome.sets[0][0];
  copy_element(from, first, index);
  if (by != 0) step(first, index, by);
  return bench.judge(outcome).state;
}

// Tells whether the type has nothing beyond in that direction; of an integer in either.
bool is_end_of_type(const Tensor& tensor, Int index, int by) {
  const oracles::Scalar value = oracles::scalar(tensor, index);
  if (!value.is_finite()) return true;
  if (is_float(tensor.dtype()) && !is_small(tensor.dtype())) return false;
  return for_value(tensor.dtype(), [&]<class T>() {
    using Limits = std::numeric_limits<T>;
    if constexpr (Small<T>) {
      const T element = tensor.as<T>()[static_cast<std::size_t>(index)];
      return static_cast<double>(neighbour(element, by)) == static_cast<double>(element);
    }
    const std::int64_t whole = value.as_integer();
    if constexpr (std::is_integral_v<T>)
      return whole == static_cast<std::int64_t>(Limits::min()) || whole == static_cast<std::int64_t>(Limits::max());
    return std::is_same_v<T, Bool> && whole == (by > 0);
  });
}

bool is_tiny(const Tensor& tensor, Int index) {
  const oracles::Scalar value = oracles::scalar(tensor, index);
  return is_float(tensor.dtype()) && (value.is_zero() || value.is_subnormal(oracles::format_of(tensor.dtype())));
}

// Holds the four ends of one element to the judge. Returns how many were.
int hold_to_judge(const oracles::Judge& bench, const Sets& sets, Int index) {
  const oracles::Admissible& set = sets.front().front();
  for (const Tensor* end : {&set.lower, &set.upper}) {
    const State state = state_of(bench, sets, *end, index, 0);
    CHECK((state == State::pass || state == State::unscored));
  }
  int held = 0;
  for (const auto& [end, by] : {std::pair{&set.widest_lower, -1}, {&set.widest_upper, 1}}) {
    if (is_end_of_type(*end, index, by) || is_tiny(*end, index)) continue;
    CHECK(state_of(bench, sets, *end, index, 0) != State::fail);
    CHECK(state_of(bench, sets, *end, index, by) == State::fail);
    ++held;
  }
  for (const auto& [requested, widest, by] :
       {std::tuple{&set.lower, &set.widest_lower, -1}, {&set.upper, &set.widest_upper, 1}}) {
    if (is_end_of_type(*requested, index, by) || is_tiny(*requested, index)) continue;
    const bool same = oracles::scalar(*requested, index).value() == oracles::scalar(*widest, index).value();
    if (!oracles::scalar(*widest, index).is_finite() || same) continue;
    if (oracles::scalar(*widest, index).is_zero()) continue;  // flushed: no arithmetic gives what lies between
    CHECK(state_of(bench, sets, *requested, index, by) == State::below);
    ++held;
  }
  return held;
}

}  // namespace

TEST_CASE("A legal case becomes a folder with its answers and what lies around them", "[golden]") {
  const GoldenCase golden = golden_case(planned(average));
  CHECK(golden.golden_kind == GoldenKind::valid);
  CHECK(golden.name == "test_averagepool_19_" + case_id(average).substr(0, 16));
  CHECK(golden.folder() == "valid/" + golden.name);
  CHECK(names_of(golden) ==
        "model.onnx test_data_set_0/input_0.pb test_data_set_1/input_0.pb "
        "test_data_set_0/output_0.pb bounds_0/lower_0.pb bounds_0/upper_0.pb bounds_0/widest_lower_0.pb "
        "bounds_0/widest_upper_0.pb test_data_set_1/output_0.pb bounds_1/lower_0.pb bounds_1/upper_0.pb "
        "bounds_1/widest_lower_0.pb bounds_1/widest_upper_0.pb case.json ");
  CHECK(floats(bytes_of(golden, "test_data_set_0/output_0.pb")) == std::vector{1.5F, 2.5F, 3.5F});
  CHECK(floats(bytes_of(golden, "test_data_set_1/output_0.pb")) == std::vector{-1.5F, -2.5F, -3.5F});
  const auto json = nlohmann::json::parse(bytes_of(golden, "case.json"));
  CHECK(json.at("line") == average);
  CHECK(json.at("id") == case_id(average));
  CHECK(json.at("class") == "valid-core");
  CHECK(json.at("level") == "L2");
  CHECK(json.at("arithmetic") == nlohmann::json::array({"f32 accumulation in any order"}));
  CHECK(golden_case(planned("com.microsoft:NhwcConv-1 opset=1 ir=8 X=f32[1,2,2,1]~iota:1 W=f32[1,1,1,1]~iota:1"))
            .name.starts_with("test_com_microsoft_nhwcconv_1_"));
}

TEST_CASE("What the ruling leaves open is not written, and near misses have a shelf of their own", "[golden]") {
  const GoldenCase rejected = golden_case(planned(miss));
  CHECK(rejected.golden_kind == GoldenKind::rejected);
  CHECK(rejected.because == "Conv.C3 Conv.C6");
  CHECK(names_of(rejected) ==
        "model.onnx test_data_set_0/input_0.pb test_data_set_0/input_1.pb test_data_set_1/input_0.pb "
        "test_data_set_1/input_1.pb case.json ");
  CHECK(bytes_of(rejected, "case.json").find("\"Conv.C6\"") != std::string::npos);
  const GoldenCase unscored = golden_case(planned(overflowing));
  CHECK(unscored.golden_kind == GoldenKind::unscored);
  CHECK(unscored.because == "an intermediate may overflow");
  CHECK(names_of(unscored).find("output_") == std::string::npos);
  CHECK(names_of(unscored).find("bounds_") == std::string::npos);
}

TEST_CASE("What an interval cannot say stands beside it", "[golden]") {
  // Two averages over no cell, and one value over padding that an infinite weight makes NaN or not.
  const auto json = [](const std::string& text) {
    const GoldenCase golden = golden_case(planned(text));
    CHECK(golden.because == "");
    REQUIRE(golden.golden_kind == GoldenKind::valid);
    return nlohmann::json::parse(bytes_of(golden, "case.json")).at("sets").at(0);
  };
  CHECK(json("AveragePool-22 opset=22 ir=10 X=f32[1,1,2]~lit:3,inf kernel_shape=1 pads=2,1").at("or_zero") ==
        nlohmann::json::parse("[[0,1],[4,4]]"));
  CHECK(json("Conv-11 opset=11 ir=8 X=f32[1,1,2]~lit:1,2 W=f32[1,1,2]~lit:inf,1 pads=1,0").at("or_nan").at("A14") ==
        nlohmann::json::parse("[[0,0]]"));
}

TEST_CASE("The intervals are those of the judge, to the last value of the type", "[golden]") {
  int held = 0;
  std::size_t number = 0, kinds = 0;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions()) {
      if (number++ % one_in() != 0) continue;
      for (const DType type : definition.types_of(definition.data().type)) {
        if (type == DType::boolean) continue;                       // either value is an end of the type
        if (!oracles::other_members(definition).empty()) continue;  // right for whole outputs alone
        if (definition.ruling("N10") || (text(definition.version) == "ReduceL2-18" && type == DType::f64))
          continue;                                                          // another reading differs in every case
        if (definition.ruling("G20") || definition.ruling("N14")) continue;  // right or wrong as a whole
        const int before = held;
        bool is_all_texts = true;  // which have no interval
        for (std::uint64_t index = 0; index < 40 && held < before + 12; ++index) {
          const Case c = generators::legal(definition, type, 8, index);
          if (!oracles::touched(c).empty()) continue;  // another reading may admit more
          Sets sets;
          for (int set = 0; set < data_sets; ++set)
            if (Result<std::vector<oracles::Admissible>> each = oracles::admissible(c, set)) sets.push_back(*each);
          if (sets.size() < data_sets || sets[0][0].output.elements() == 0) continue;
          if (sets[0][0].output.dtype() == DType::string) continue;
          is_all_texts = false;
          const oracles::Judge bench(c);
          INFO(line(c));
          for (Int at : {Int{0}, sets[0][0].output.elements() / 2, sets[0][0].output.elements() - 1})
            held += hold_to_judge(bench, sets, at);
        }
        INFO(text(definition.version) << " " << name(type));
        const bool is_only_zero = definition.version.name == "Erf" && !is_float(type);  // an end of unsigned types
        CHECK((held > before || is_only_zero || is_all_texts));
        ++kinds;
      }
    }
  CHECK(kinds > thinned(400));
}

TEST_CASE("The manifest lists every case and file, and the digest is the one that coreutils give", "[golden]") {
  const Suite suite = small_suite();
  const Manifest manifest = golden_manifest(suite, golden_facts);
  CHECK(manifest.cases.size() == 3);
  CHECK(manifest.cases[0].expected == "1.5,2.5,3.5");
  CHECK(manifest.cases[1].golden_kind == GoldenKind::rejected);
  CHECK(manifest.cases[2].because == "an intermediate may overflow");
  CHECK_FALSE(manifest.files.contains("runner/run.py"));
  std::vector<std::string> rows;
  for (const SuiteCase& each : suite.cases)
    for (const GoldenFile& file : golden_case(each).files) rows.push_back(sha256(file.bytes) + "  " + file.path + "\n");
  std::ranges::sort(rows);
  std::string all;
  for (const std::string& row : rows) all += row;
  CHECK(manifest.digest == sha256(all));

  Golden parallel = golden_facts;
  parallel.jobs = 3;
  CHECK(golden_manifest(suite, parallel) == manifest);
  const Result<Manifest> read = parse_manifest(text(manifest));
  REQUIRE(read);
  CHECK(*read == manifest);
  const Result<Suite> back = suite_of(*read);
  REQUIRE(back);
  CHECK(back->hash == suite.hash);
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    CHECK(back->cases[i].c == suite.cases[i].c);
    CHECK(back->cases[i].origin == suite.cases[i].origin);
  }
}

TEST_CASE("Graphs with one right answer stand beside the cases, and what a device makes of them is judged",
          "[golden]") {
  Golden golden = golden_facts;
  golden.graphs = exact_graphs(1, 60, 2);
  REQUIRE(golden.graphs.size() > 30);
  CHECK(exact_graphs(1, 60, 1) == golden.graphs);
  const TemporaryDirectory here;
  const fs::path folder = here.path() / "golden", answers = here.path() / "answers";
  Manifest manifest = write_golden(small_suite(), golden, folder);
  CHECK(told(check_hashes(folder, manifest)) == "");
  CHECK(told(check_recomputed(read_manifest(folder), "judged so", 2)) == "");
  CHECK(*graphs_of(manifest) == golden.graphs);

  for (const GraphCase& graph : golden.graphs) {
    const fs::path set = fs::path(golden_name(graph)) / data_set_name(0);
    for (int i = 0; fs::exists(folder / "graphs" / set / tensor_name("output", i)); ++i)
      write_file(answers / set / tensor_name("output", i),
                 *file_contents(folder / "graphs" / set / tensor_name("output", i), 1 << 20));
  }
  const RecordedGraphs right = judged_graphs(golden.graphs, answers, 2);
  CHECK(told(right.problems) == "");
  CHECK(right.harvest.states == std::map<State, Int>{{State::pass, std::ssize(golden.graphs)}});

  const fs::path first = answers / golden_name(golden.graphs[0]) / data_set_name(0) / "output_0.pb";
  Tensor wrong = *tensor_in(first);
  for_number(wrong.dtype(),
             [&]<class T>() { wrong.as<T>().back() = T(static_cast<double>(wrong.as<T>().back()) + 64); });
  write_file(first, encode_tensor(wrong, "wrong"));
  fs::remove_all(answers / golden_name(golden.graphs[1]));
  const GraphHarvest harvest = judged_graphs(golden.graphs, answers, 2).harvest;
  CHECK(harvest.states.at(State::fail) == 1);
  CHECK(harvest.states.at(State::error) == 1);
  REQUIRE(harvest.causes.size() == 2);
  CHECK(in_words(harvest.causes[0]).ends_with(": wrong values"));

  manifest.graphs.push_back(manifest.graphs.front());
  CHECK(told(check_recomputed(manifest, "judged so", 1)).find("is listed twice") != std::string::npos);
}

TEST_CASE("Written vectors read back as ONNX's layout, and every byte comes out again", "[golden]") {
  const TemporaryDirectory here;
  const fs::path folder = here.path() / "new";
  const Manifest manifest = write_golden(small_suite(), golden_facts, folder);
  CHECK(read_manifest(folder) == manifest);
  CHECK(told(check_hashes(folder, manifest)) == "");
  CHECK(told(check_recomputed(manifest, "judged so", 2)) == "");
  const TestVector vector = read_vector(folder / "valid", manifest.cases[0].name, Links::refuse);
  CHECK(told(vector.problems) == "");
  CHECK(told(flaws_against(*parse_model(vector.model), vector)) == "");
  CHECK_THROWS_WITH(write_golden(small_suite(), golden_facts, folder), Catch::Contains("is there already"));
  CHECK_THROWS_WITH(read_manifest(here.path()), Catch::Contains("MANIFEST.json is missing"));
}

TEST_CASE("Whatever is done to a file of the vectors is named", "[golden][tampering]") {
  const TemporaryDirectory here;
  const fs::path folder = here.path() / "new";
  const Manifest manifest = write_golden(small_suite(), golden_facts, folder);
  const std::string set = "valid/" + manifest.cases[0].name + "/test_data_set_0", file = set + "/output_0.pb";
  const std::string bytes = *file_contents(folder / file, 1 << 20);
  const auto now = [&] { return told(check_hashes(folder, manifest)); };
  SECTION("one bit, wherever it is") {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ 1 << i % 8);
      write_file(folder / file, flipped);
      REQUIRE(now() == "altered: " + file + ": its SHA-256 is another\n");
    }
  }
  SECTION("truncated") {
    write_file(folder / file, bytes.substr(1));
    CHECK(now().starts_with("altered: " + file + ": " + std::to_string(bytes.size() - 1) + " bytes, written were"));
  }
  SECTION("removed, renamed, added") {
    fs::rename(folder / file, folder / set / "output_1.pb");
    CHECK(now() == "missing: " + file + "\nextra: " + set + "/output_1.pb\n");
    write_file(folder / file, bytes);
    fs::remove(folder / set / "output_1.pb");
    write_file(folder / "valid" / "test_\x1b[31m\n" / "model.onnx", "x");
    CHECK(now() == "extra: valid/test_\\u{001b}[31m /model.onnx\n");
  }
  SECTION("replaced by a link to the same bytes, or a folder by a link") {
    fs::rename(folder / file, here.path() / "same.pb");
    fs::create_symlink(here.path() / "same.pb", folder / file);
    CHECK(now() == "unreadable: " + file + ": is a link\n");
    fs::remove(folder / file);
    fs::rename(here.path() / "same.pb", folder / file);
    fs::rename(folder / set, here.path() / "set");
    fs::create_directory_symlink(here.path() / "set", folder / set);
    CHECK(now().find("extra: " + set + "\n") != std::string::npos);
  }
  SECTION("the runner") {
    write_file(folder / "runner/run.py", "steal()\n");
    CHECK(now() == "altered: runner/run.py: its SHA-256 is another\n");
  }
}

TEST_CASE("Vectors that are wrong and hashed again are found by computing", "[golden][tampering]") {
  const Manifest good = golden_manifest(small_suite(), golden_facts);
  const auto now = [&](Manifest manifest) {
    manifest.digest = golden_digest(manifest.files);
    CHECK(told(check_recomputed(manifest, "judged so", 1)) != "");
    return told(check_recomputed(manifest, "judged so", 1));
  };
  Manifest bad = good;
  auto file = bad.files.find("valid/" + good.cases[0].name + "/bounds_0/widest_upper_0.pb");
  REQUIRE(file != bad.files.end());
  file->second.sha256 = sha256("other");
  CHECK(now(bad) == "altered: " + file->first + ": this assay writes other bytes\n");
  bad.files.erase(file);
  CHECK(now(bad).ends_with("widest_upper_0.pb: this assay writes it\n"));
  bad = good;
  bad.files["valid/test_mine/model.onnx"] = {sha256(""), 0};
  CHECK(now(bad) == "extra: valid/test_mine/model.onnx: this assay does not write it\n");
  bad = good;
  bad.cases[0].golden_kind = GoldenKind::rejected;
  CHECK(now(bad).find("a case is listed otherwise") != std::string::npos);
  bad = good;
  bad.cases.pop_back();
  CHECK(now(bad).find("the suite hash is not that of the cases") != std::string::npos);
  bad.suite_hash = suite_of(bad) ? bad.suite_hash : suite_hash({small_suite().cases[0], small_suite().cases[1]});
  CHECK(now(bad).find("this assay does not write it") != std::string::npos);
  bad = good;
  bad.judgement_hash = "otherwise";
  CHECK(now(bad).find("other rulings or bounds") != std::string::npos);
  bad = good;
  bad.cases[0].name = "test_mine";
  CHECK(now(bad).find("is not the name of its line") != std::string::npos);
}

TEST_CASE("A hostile manifest is refused in one line", "[golden][tampering]") {
  const std::string good = text(golden_manifest(small_suite(), golden_facts));
  REQUIRE(parse_manifest(good));
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string bad = good;
    const std::size_t at = bad.find(from);
    INFO(from);
    REQUIRE(at != std::string::npos);
    bad.replace(at, from.size(), to);
    const Result<Manifest> read = parse_manifest(bad);
    REQUIRE_FALSE(read);
    CHECK(read.error().find('\n') == std::string::npos);
    return read.error();
  };
  for (const std::string path :
       {"../../etc/passwd", "/etc/passwd", "runner/../../x", "./runner/run.py", "runner//run.py", "", "runner/",
        "runner/.hidden", "runner\\\\run.py", "runner/\\u0000", "runner/r\\u202e"})
    CHECK(refused("\"runner/run.py\"", "\"" + path + "\"").find("a path leaves the folder") != std::string::npos);
  CHECK(refused("\"size\":8}", "\"size\":-8}") != "");
  CHECK(refused("\"size\":8}", "\"size\":8,\"size\":9}").find("is not written as") != std::string::npos);
  CHECK(refused("\"assay\": 1", "\"assay\": 2").find("another version") != std::string::npos);
  CHECK(refused("\"assay\": 1", "\"assay\": 1, \"more\": 1").find("is not written as") != std::string::npos);
  CHECK(refused("\"digest\"", "\"dugest\"").find("no manifest") != std::string::npos);
  CHECK(refused("\"shelf\":\"valid\"", "\"shelf\":\"top\"").find("no such shelf") != std::string::npos);
  CHECK(refused("\"valid\":1", "\"valid\":2").find("is not written as") != std::string::npos);
  for (std::size_t size = 0; size < good.size(); size += 97) REQUIRE_FALSE(parse_manifest(good.substr(0, size)));
  CHECK_FALSE(parse_manifest(std::string(1'000'000, '[')));
}

}  // namespace assay::suites
