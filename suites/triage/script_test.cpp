// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/script.h"

#include "reference/case_view.h"
#include "suites/text/numpy_text.h"
#include "suites/triage/account.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

namespace assay::suites {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using oracles::Outcome;
using oracles::State;

Provenance provenance_of(const std::string& backend) {
  Provenance provenance;
  provenance.tool_version = "0.1.0";
  provenance.backend = backend;
  provenance.description.backend = "mine";
  provenance.description.version = "1.2";
  return provenance;
}

template <class T>
Tensor tensor(DType type, Shape shape, std::initializer_list<T> values) {
  Tensor made({type, std::move(shape)});
  std::ranges::copy(values, made.as<T>().begin());
  return made;
}

Outcome outputs(const Tensor& first, const Tensor& second) {
  Outcome outcome;
  outcome.sets = {{first}, {second}};
  return outcome;
}

struct Judged {
  Case c;
  Outcome outcome;
  oracles::Verdict verdict;
};
Judged judged(const std::string& line, Outcome outcome) {
  const Case c = case_of(line);
  return {c, outcome, oracles::judge(c, outcome)};
}

std::string script(const Judged& judged, const Provenance& provenance = provenance_of("onnx.reference")) {
  const Result<Script> made = script_of(judged.c, judged.verdict, &judged.outcome, provenance);
  return made ? made->text : "none: " + made.error();
}

const char* const pool = "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2";
const auto average = [](float sign, float last) {
  return tensor<float>(DType::f32, {1, 1, 3}, {1.5F * sign, 2.5F * sign, last});
};

Judged wrong_average() { return judged(pool, outputs(average(1, 0), average(-1, 0))); }

}  // namespace

TEST_CASE("Values are written so that numpy reads them back", "[script]") {
  CHECK(numpy_text(tensor<float>(DType::f32, {1, 1, 3}, {1, 2, 3})) ==
        "np.arange(1, 4).astype(np.float32).reshape(1, 1, 3)");
  CHECK(numpy_text(tensor<float>(DType::f32, {3}, {-1, -2, -3})) == "np.arange(-1, -4, -1).astype(np.float32)");
  CHECK(numpy_text(tensor<float>(DType::f32, {2, 2}, {7, 7, 7, 7})) == "np.full((2, 2), 7, np.float32)");
  CHECK(numpy_text(tensor<float>(DType::f32, {}, {0.1F})) == "np.array(0.1, np.float32)");
  CHECK(numpy_text(Tensor({DType::i8, {1, 0, 4}})) == "np.zeros((1, 0, 4), np.int8)");
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(numpy_text(tensor<float>(DType::f32, {5}, {-0.0F, nan, inf, -inf, 0x1p-149F})) ==
        "np.array([-0.0, np.nan, np.inf, -np.inf, 1e-45], np.float32)");
  CHECK(numpy_text(tensor<BFloat16>(DType::bf16, {2}, {BFloat16(0.1), BFloat16(3)})) ==
        "np.array([0.10009765625, 3], ml_dtypes.bfloat16)");
  // A count that begins with -0 is none: -0 is not 0.
  CHECK_THAT(*numpy_text(tensor<float>(DType::f32, {3}, {-0.0F, 1, 2})), StartsWith("np.array([-0.0, 1, 2]"));
  CHECK_FALSE(numpy_text(tensor<float>(DType::f32, {4}, {1, 3, 2, 5}), 30));
}

TEST_CASE("Text becomes a literal of Python, whatever is in it", "[script]") {
  CHECK(python_string("a\"b\\c\nd\x01'e") == R"("a\"b\\c\nd\x01'e")");
  CHECK(python_block("a\n'''\"\"\"\\b\"") == "\"\"\"a\n'''\\\"\"\"\\\\b\\\"\"\"\"");
}

TEST_CASE("A wrong value is compared with the right one", "[script]") {
  const std::string text = script(wrong_average());
  for (const char* line :
       {"import onnx.parser\n", "X = AveragePool",
        "inputs = {\"X\": np.arange(1, 5).astype(np.float32).reshape(1, 1, 4)}\n",
        "want = np.array([1.5, 2.5, 3.5], np.float32).reshape(1, 1, 3)\n", "[[got]] = run(model, inputs)\n",
        "sys.exit(0 if got.dtype == want.dtype and np.array_equal(got, want) else 1)\n"})
    if (std::string_view(line).find("X = Av") == std::string_view::npos) CHECK_THAT(text, Contains(line));
  CHECK_THAT(text, Contains("Y = AveragePool <kernel_shape = [2]> (X)"));
  CHECK(std::ranges::count(text, '\n') <= 30);
}

TEST_CASE("A rounded answer has its interval", "[script]") {
  // 1/3 and its neighbours: nothing of this is exact in f32.
  const char* const third = "AveragePool-19 opset=19 ir=8 X=f32[1,1,3]~lit:1,0,0 kernel_shape=3";
  const Tensor half = tensor<float>(DType::f32, {1, 1, 1}, {0.5F});
  const std::string text = script(judged(third, outputs(half, half)));
  CHECK_THAT(text, Contains("lower = ") && Contains("upper = ") && Contains("fits(got, lower, upper)"));
}

TEST_CASE("An answer that another reading gives is not called wrong", "[script]") {
  // The dilated kernel is smaller than the stride: padding of -1 is clamped to 0 (A3), or it is not.
  const char* const narrow =
      "AveragePool-11 opset=11 ir=8 X=f32[1,1,5]~iota:1 auto_pad=SAME_LOWER kernel_shape=1 strides=3";
  const Tensor wrong = tensor<float>(DType::f32, {1, 1, 2}, {9, 9});
  const std::string text = script(judged(narrow, outputs(wrong, wrong)));
  CHECK_THAT(text, Contains("want_1 = ") && Contains("# A3=") &&
                       Contains("fits(got, want, want) or fits(got, want_1, want_1)"));
}

TEST_CASE("A second answer that is wrong is the second of a session", "[script]") {
  const Tensor first = average(1, 3.5F);
  const std::string text = script(judged(pool, outputs(first, first)));
  CHECK_THAT(text, Contains("inputs = {\"X\": np.arange(-1, -5, -1)"));
  CHECK_THAT(text, Contains("_, [got] = run(model, others, inputs)"));
}

TEST_CASE("What ends the process is run in another one", "[script]") {
  const std::string crash = script(judged(pool, Outcome::failure(Outcome::Kind::crashed, "died by SIGSEGV")));
  CHECK_THAT(crash, Contains("subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60)"));
  CHECK_THAT(crash, Contains("want = "));
  const std::string memory =
      script(judged(pool, Outcome::failure(Outcome::Kind::out_of_memory, "more than 400 MiB of memory resident")));
  CHECK_THAT(memory, Contains("if taken > 400:") && Contains("RLIMIT_DATA, (800 << 20,) * 2"));
  // A near miss may be turned away or run.
  const std::string miss = script(judged("AveragePool-1 opset=1 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 strides=0",
                                         Outcome::failure(Outcome::Kind::crashed, "died by SIGFPE")));
  CHECK_THAT(miss, Contains("except Exception as refusal:") && !Contains("want = "));
}

TEST_CASE("A refusal is the defect", "[script]") {
  const std::string text = script(judged(pool, Outcome::failure(Outcome::Kind::refused, "no")));
  CHECK_THAT(text, Contains("sys.exit(f\"{version} turns the model away: {refusal}\")"));
}

TEST_CASE("Long data are read from the folder, and what only the script needs comes with it", "[script]") {
  const char* const large = "AveragePool-19 opset=19 ir=8 X=f32[1,1,400]~normal:1 kernel_shape=3";
  const Tensor zeros({DType::f32, {1, 1, 398}});
  const Judged wrong = judged(large, outputs(zeros, zeros));
  const Result<Script> made = script_of(wrong.c, wrong.verdict, &wrong.outcome, provenance_of("onnx.reference"));
  REQUIRE(made);
  CHECK(made->reads_files);
  CHECK_THAT(made->text,
             Contains("tensor(\"test_data_set_0/input_0.pb\")") && Contains("tensor(\"bounds_0/lower.pb\")"));
  CHECK(made->files.contains("bounds_0/lower.pb"));
  CHECK(made->files.contains("bounds_0/upper.pb"));
}

TEST_CASE("What was asked for goes into the script, and nothing else does", "[script]") {
  Provenance provenance = provenance_of("onnxruntime");
  CHECK_THAT(script(wrong_average(), provenance),
             !Contains("optimization") && !Contains(" # if") && !Contains("bfloat16"));
  provenance.run_options.settings.optimization = "none";
  provenance.run_options.settings.threads = 3;
  provenance.run_options.options = {{"provider", "cuda"}};
  CHECK_THAT(script(wrong_average(), provenance),
             Contains(".get(\"none\"") && Contains("intra_op_num_threads = 3") && Contains("== \"cuda\" + "));
  CHECK_THAT(script(wrong_average(), provenance_of("python:mine.backends:Best")),
             Contains("importlib.import_module(\"mine.backends\")") && Contains("getattr(module, \"Best\")"));
  CHECK_THAT(script(wrong_average(), provenance_of("python:mine")), Contains("onnx.backend.base.Backend"));
}

TEST_CASE("Where there is no script it is said why", "[script]") {
  CHECK(script(wrong_average(), provenance_of("rten")) == "none: this backend is no Python package");
  CHECK(script(wrong_average(), provenance_of("exec:./mine --fast")) == "none: this backend is no Python package");
  CHECK_THAT(script(wrong_average(), provenance_of("python:a;import os")), StartsWith("none: its module has a name"));
  CHECK_THAT(script(judged(pool, Outcome::failure(Outcome::Kind::garbled, "?"))), StartsWith("none: what it answered"));
  CHECK(script(judged(pool, outputs(average(1, 3.5F), average(-1, -3.5F)))) == "none: nothing is wrong");
}

TEST_CASE("A runtime's words break neither the script nor the Markdown", "[script]") {
  Provenance provenance = provenance_of("onnx.reference");
  provenance.description.backend = "evil\n\"\"\"```\n# x\n@somebody";
  const Judged refusal =
      judged(pool, Outcome::failure(Outcome::Kind::refused,
                                    "no'''\"\"\"\n```\n<b>@somebody</b> [x](http://e.example) #1 | \xe2\x80\xae"));
  const Account account = account_of(Incident{refusal.c, refusal.verdict, &refusal.outcome, {}}, provenance);
  REQUIRE(account.script);
  // All of it stays in comments of one line each.
  CHECK_THAT(account.script->text, StartsWith("# AveragePool-19 of evil "));
  for (const char* word : {"\n# x", "\n@somebody", "\n```", "<b>"}) {
    const std::size_t at = account.script->text.find(word);
    INFO(account.script->text);
    CHECK((at == std::string::npos || account.script->text[account.script->text.rfind('\n', at) + 1] == '#'));
  }
  CHECK(account.title.find_first_of("\n`<>@#[]|*") == account.title.find("[]"));
  // No mention and no link outside of code: the words stand in spans and fences that are longer than theirs.
  const std::string issue = issue_text(account);
  CHECK_THAT(issue, Contains("````"));
  CHECK_THAT(issue, !Contains("\n@somebody") && !Contains("\n# x"));
}

TEST_CASE("An account says what is wrong, what is right, and where it stands", "[script]") {
  const Judged wrong = wrong_average();
  const Account account =
      account_of(Incident{wrong.c, wrong.verdict, &wrong.outcome, {"it rains"}}, provenance_of("onnx.reference"));
  CHECK(account.title == "AveragePool-19: wrong value, 0 instead of 3.5 (kernel_shape=2)");
  CHECK_THAT(
      account.opening,
      Contains(
          "`mine 1.2` gives a wrong value for AveragePool-19. A kernel with one mistake gives the same: it rains."));
  CHECK_THAT(account.closing,
             Contains("float32[1,1,3]: 1.5, 2.5, 3.5") && Contains("float32[1,1,3]: 1.5, 2.5, 0") &&
                 Contains("https://onnx.ai/onnx/operators/onnx__AveragePool.html#l-onnx-op-averagepool-19") &&
                 Contains("found by assay 0.1.0 as `" + std::string(pool) + "`"));
  CHECK_THAT(issue_text(account), StartsWith(account.title + "\n\n`mine 1.2`"));
  CHECK_THAT(readme_text(account, pool, provenance_of("onnx.reference")), StartsWith("# AveragePool-19: wrong value"));
}

}  // namespace assay::suites
