// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/script.h"

#include "reference/case_view.h"
#include "reference/sequence.h"
#include "suites/text/numpy_text.h"
#include "suites/triage/account.h"
#include "suites/triage/snippet.h"
#include "suites/triage/telling.h"
#include "suites/workers/catalogue.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <sstream>

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

std::string script(const Judged& judged, const Provenance& provenance = provenance_of("onnx.reference"),
                   std::span<const Step> before = {}) {
  const Result<Script> made = script_of(judged.c, judged.verdict, &judged.outcome, provenance, before);
  return made ? made->text : "none: " + made.error();
}

// Lines that are not empty.
std::ptrdiff_t lines_of(const std::string& text) {
  std::istringstream all(text);
  std::ptrdiff_t lines = 0;
  for (std::string line; std::getline(all, line);) lines += line.empty() ? 0 : 1;
  return lines;
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
  CHECK(numpy_text(tensor<Float8E8M0>(DType::f8e8m0, {1}, {Float8E8M0(0x1p-127)})) ==
        "np.array([5.877471754111438e-39], ml_dtypes.float8_e8m0fnu)");
  // A count that begins with -0 is none: -0 is not 0.
  CHECK_THAT(*numpy_text(tensor<float>(DType::f32, {3}, {-0.0F, 1, 2})), StartsWith("np.array([-0.0, 1, 2]"));
  CHECK_FALSE(numpy_text(tensor<float>(DType::f32, {4}, {1, 3, 2, 5}), 30));
}

TEST_CASE("Text becomes a literal of Python, whatever is in it", "[script]") {
  CHECK(python_string("a\"b\\c\nd\x01'e") == R"("a\"b\\c\nd\x01'e")");
  CHECK(python_block("a\n'''\"\"\"\\b\"") == "\"\"\"a\n'''\\\"\"\"\\\\b\\\"\"\"\"");
}

TEST_CASE("A pattern is written once", "[script]") {
  Tensor pattern({DType::f32, {40, 3}});
  for (std::size_t i = 0; i < 120; ++i) pattern.as<float>()[i] = std::array{1.0F, 0.5F, 4.0F}[i % 3];
  CHECK(numpy_text(pattern) == "np.resize(np.array([1, 0.5, 4], np.float32), (40, 3))");
  pattern.as<float>()[119] = 5;
  CHECK_THAT(*numpy_text(pattern), StartsWith("np.array([1, 0.5, 4, 1,"));
}

TEST_CASE("A wrong value is compared with the right one", "[script]") {
  const std::string text = script(wrong_average());
  CHECK(text == R"(# AveragePool-19 of mine 1.2: fail, value
# Ends with 1 while that is so and with 0 once it is mended.
import numpy as np
import onnx.parser
import onnx.reference

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 19]>
AveragePool_19 (float[1,1,4] X) => (float[Y_0,Y_1,Y_2] Y) { Y = AveragePool <kernel_shape = [2]> (X) }""")
sets = [{"X": np.arange(1, 5).astype(np.float32).reshape(1, 1, 4)}]
evaluator = onnx.reference.ReferenceEvaluator(model)
[[got]] = [evaluator.run(None, inputs) for inputs in sets]
want = np.array([1.5, 2.5, 3.5], np.float32).reshape(1, 1, 3)
print("onnx.reference " + onnx.__version__, "gives", repr(got), "and the standard says", repr(want))
raise SystemExit(0 if got.dtype == want.dtype and np.array_equal(got, want) else 1)
)");
}

TEST_CASE("A script has about fifteen lines, whatever is wrong", "[script]") {
  for (const char* runtime : {"onnx.reference", "onnxruntime", "openvino"}) {
    const Provenance provenance = provenance_of(runtime);
    CHECK(lines_of(script(wrong_average(), provenance)) <= 17);
    for (const auto kind : {Outcome::Kind::refused, Outcome::Kind::crashed, Outcome::Kind::timed_out})
      CHECK(lines_of(script(judged(pool, Outcome::failure(kind, "no")), provenance)) <= 23);
  }
}

TEST_CASE("Every runtime of the catalogue can be called in a line", "[script]") {
  for (const CatalogueEntry& entry : catalogue()) {
    if (entry.script.empty()) continue;
    INFO(entry.name);
    for (const bool needs_types : {false, true})
      for (const bool is_near_miss : {false, true}) {
        const Result<Snippet> snippet = snippet_of(provenance_of(entry.name), needs_types, is_near_miss);
        REQUIRE(snippet);
        CHECK_FALSE(snippet->version().empty());
        CHECK_THAT(snippet->inlined("[[got]] = ").back(), StartsWith("[[got]] = "));
        CHECK_THAT(joined(snippet->inlined(""), "\n"), !Contains("return ") && !Contains(" # if"));
      }
  }
}

TEST_CASE("A rounded answer has its interval", "[script]") {
  // 1/3 and its neighbours: nothing of this is exact in f32.
  const char* const third = "AveragePool-19 opset=19 ir=8 X=f32[1,1,3]~lit:1,0,0 kernel_shape=3";
  const Tensor half = tensor<float>(DType::f32, {1, 1, 1}, {0.5F});
  const std::string text = script(judged(third, outputs(half, half)));
  CHECK_THAT(text, Contains("lower = ") && Contains("upper = ") && !Contains("want") && !Contains("def "));
  CHECK_THAT(text, Contains("got.dtype == lower.dtype and got.shape == lower.shape and "
                            "np.all((lower <= got) & (got <= upper)) else 1)"));
}

TEST_CASE("An answer that another reading gives is not called wrong", "[script]") {
  // The dilated kernel is smaller than the stride: padding of -1 is clamped to 0 (A3), or it is not.
  const char* const narrow =
      "AveragePool-11 opset=11 ir=8 X=f32[1,1,5]~iota:1 auto_pad=SAME_LOWER kernel_shape=1 strides=3";
  const Tensor wrong = tensor<float>(DType::f32, {1, 1, 2}, {9, 9});
  const std::string text = script(judged(narrow, outputs(wrong, wrong)));
  CHECK_THAT(text, Contains("wants = [") && Contains(",  # A3=") &&
                       Contains("any(got.dtype == want.dtype and np.array_equal(got, want) for want in wants)"));
}

TEST_CASE("What an element may be besides stands in the test", "[script]") {
  // The window covers no cell: NaN or zero (A9).
  const char* const empty = "AveragePool-19 opset=19 ir=8 X=f32[1,1,1]~iota:1 kernel_shape=1 pads=1,0";
  const Tensor wrong = tensor<float>(DType::f32, {1, 1, 2}, {9, 9});
  const std::string text = script(judged(empty, outputs(wrong, wrong)));
  CHECK_THAT(text, Contains("or_zero = np.array([1, 0], np.bool_).reshape(1, 1, 2)") &&
                       Contains("| np.isnan(want) & np.isnan(got) | or_zero & (got == 0)"));
}

TEST_CASE("A second answer that is wrong is the second of a session", "[script]") {
  const Tensor first = average(1, 3.5F);
  const std::string text = script(judged(pool, outputs(first, first)));
  CHECK_THAT(text,
             Contains("        {\"X\": np.arange(-1, -5, -1).astype(np.float32).reshape(1, 1, 4)}]  # the second"));
  CHECK_THAT(text, Contains("_, [got] = [evaluator"));
}

TEST_CASE("A first answer that is wrong beside a right second one may have been overwritten by it", "[script]") {
  const Tensor second = average(-1, -3.5F);
  CHECK_THAT(script(judged(pool, outputs(second, second))), Contains("[got], _ = [evaluator"));
  // Wrong both times, the first shows it alone.
  CHECK_THAT(script(wrong_average()), Contains("[[got]] = [evaluator"));
  // The runs of one session keep their outputs until all have run.
  CHECK_THAT(script(judged(pool, outputs(second, second)), provenance_of("openvino")),
             Contains("requests = [compiled.create_infer_request() for _ in sets]"));
}

TEST_CASE("What ends the process is run in another one", "[script]") {
  const std::string crash = script(judged(pool, Outcome::failure(Outcome::Kind::crashed, "died by SIGSEGV")));
  CHECK_THAT(crash, Contains("import subprocess\nimport sys\n\nif len(sys.argv) == 1:") &&
                        Contains("raise SystemExit(0 if code == 7 else f\"the process ends with {code}\")") &&
                        Contains("want = ") && Contains("raise SystemExit(7 if "));
  // Both data sets: which of them it was is not known.
  CHECK_THAT(crash, Contains("[got], _ = "));
  const std::string memory =
      script(judged(pool, Outcome::failure(Outcome::Kind::out_of_memory, "more than 400 MiB of memory resident")));
  CHECK_THAT(memory, Contains("code == 7 and taken <= 400 else") && Contains("RLIMIT_DATA, (800 << 20,) * 2"));
  const std::string hang = script(judged(pool, Outcome::failure(Outcome::Kind::timed_out, "no answer within 10 s")));
  CHECK_THAT(hang, Contains("faulthandler.dump_traceback_later(timeout=60, exit=True)") && !Contains("subprocess"));
  // A near miss may be turned away or run.
  const std::string miss = script(judged("AveragePool-1 opset=1 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 strides=0",
                                         Outcome::failure(Outcome::Kind::crashed, "died by SIGFPE")));
  CHECK_THAT(miss, Contains("try:\n    evaluator = ") && Contains("finally:") &&
                       Contains("    raise SystemExit(7)\n") && !Contains("want = "));
}

TEST_CASE("A refusal is the defect", "[script]") {
  const std::string text = script(judged(pool, Outcome::failure(Outcome::Kind::refused, "no")));
  CHECK_THAT(
      text,
      Contains("    [got], _ = ") && Contains("want = ") &&
          Contains("except Exception as refusal:\n    raise SystemExit(f\"the model is turned away: {refusal}\")"));
}

TEST_CASE("What comes only after other cases is run after them", "[script]") {
  const Steps before{{"Relu-14 opset=14 ir=8 X=f32[2]~iota:1"},
                     {"Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~iota:1 group=2"}};
  const std::string text = script(wrong_average(), provenance_of("onnx.reference"), before);
  CHECK_THAT(text, Contains("before = [(onnx.parser.parse_model(") && Contains("Y = Relu (X)") &&
                       Contains("          (onnx.parser.parse_model(") && Contains("group = 2"));
  CHECK_THAT(text, Contains("for each, *sets in 10 * before:") &&
                       Contains("    with contextlib.suppress(Exception):\n        run(each, *sets)\n"));
  CHECK_THAT(text, Contains("def run(model, *sets):\n") && Contains("[got], _ = run(model, *sets)\n"));
  const std::string crash =
      script(judged(pool, Outcome::failure(Outcome::Kind::crashed, "")), provenance_of("onnx.reference"), before);
  CHECK_THAT(crash, Contains("code == 7") && Contains("run(each, *sets)") && Contains("run(model, *sets)"));
}

TEST_CASE("Where it is not known which data set tells, both are looked at", "[script]") {
  const Case c = case_of(pool);
  oracles::Verdict verdict;
  verdict.state = State::fail;
  verdict.because = "value";
  const Outcome nothing;
  const Result<Script> made = script_of(c, verdict, &nothing, provenance_of("onnx.reference"));
  REQUIRE(made);
  CHECK_THAT(made->text, Contains("got = np.stack([outputs[0] for outputs in [evaluator.run(") &&
                             Contains("want = np.array([1.5, 2.5, 3.5, -1.5, -2.5, -3.5], np.float32)"));
}

TEST_CASE("Of a shape that was not kept the verdict names the output", "[script]") {
  const Case c = case_of("MaxPool-12 opset=12 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 outputs=Indices");
  oracles::Verdict verdict;
  verdict.state = State::fail;
  verdict.because = "shape";
  verdict.detail = "Indices: shape [1,1,4] instead of [1,1,3]";
  const Outcome nothing;
  CHECK(telling_output(c, verdict, &nothing) == 1);
  const Result<Script> made = script_of(c, verdict, &nothing, provenance_of("onnx.reference"));
  REQUIRE(made);
  CHECK_THAT(made->text, Contains("[_, got], _ = ") && Contains("np.int64") && !Contains("np.stack"));
}

TEST_CASE("Of a long answer the elements that are wrong are compared", "[script]") {
  const char* const large = "AveragePool-19 opset=19 ir=8 X=f32[1,1,400]~iota:1 kernel_shape=3";
  Tensor most({DType::f32, {1, 1, 398}});
  for (std::size_t i = 0; i < 398; ++i) most.as<float>()[i] = static_cast<float>(i) + 2;
  most.as<float>()[7] = 0;
  most.as<float>()[300] = 0;
  const std::string text = script(judged(large, outputs(most, most)));
  CHECK_THAT(text, Contains("some = got.ravel()[[7, 300]]  # wrong ones of 398 elements\n") &&
                       Contains("\nlower = np.array([8.9") && Contains("\nupper = np.array([9.07") &&
                       Contains("0 if got.dtype == np.float32 and got.shape == (1, 1, 398) and "
                                "np.all((lower <= some) & (some <= upper)) else 1"));
  // Where all of it has another shape, that is what is compared.
  const Tensor other({DType::f32, {1, 1, 400}});
  CHECK_THAT(script(judged(large, outputs(other, other))),
             Contains("want = np.dtype(np.float32), (1, 1, 398)\n") && Contains("(got.dtype, got.shape) == want"));
}

TEST_CASE("Of many random numbers the distance from their distribution is told", "[script]") {
  const Tensor zeros({DType::f32, {100, 101}});
  CHECK_THAT(script(judged("RandomNormal-22 opset=22 ir=10 mean=2 scale=0.5 shape=100,101", outputs(zeros, zeros))),
             Contains("import statistics") && Contains("statistics.NormalDist(2, 0.5).cdf(x)") &&
                 Contains("raise SystemExit(0 if off <= most else 1)"));
  CHECK_THAT(script(judged("RandomUniform-22 opset=22 ir=10 low=1 high=3 shape=100,101", outputs(zeros, zeros))),
             Contains("np.clip((numbers - 1) / 2, 0, 1)"));
}

TEST_CASE("Attributes that are tensors are added to the model", "[script]") {
  const char* const tree =
      "ai.onnx.ml:TreeEnsemble-5 opset=5 ir=8 X=f32[1,1]~iota:1 tree_roots=0 nodes_featureids=0 nodes_truenodeids=0 "
      "nodes_falsenodeids=0 nodes_trueleafs=1 nodes_falseleafs=1 nodes_modes=u8[1]~values:0 "
      "nodes_splits=f32[1]~values:1 "
      "leaf_targetids=1 leaf_weights=f32[1]~values:3 n_targets=4";
  const Tensor wrong = tensor<float>(DType::f32, {1, 4}, {9, 9, 9, 9});
  const Result<Script> made =
      script_of(case_of(tree), judged(tree, outputs(wrong, wrong)).verdict, nullptr, provenance_of("onnx.reference"));
  REQUIRE(made);
  CHECK_FALSE(made->reads_files);
  CHECK_THAT(made->text, Contains("model.graph.node[0].attribute.append(onnx.helper.make_attribute(\"leaf_weights\", "
                                  "onnx.numpy_helper.from_array(np.array([3], np.float32))))"));
}

TEST_CASE("The models of one session share what the worker shares", "[script]") {
  const Steps before{{pool}};
  const std::string text = script(wrong_average(), provenance_of("openvino"), before);
  CHECK(text.find("core = openvino.Core()\n") < text.find("def run(model, *sets):"));
  CHECK_THAT(text, !Contains("    core = "));
}

TEST_CASE("What may be memory that nobody wrote runs where the C library fills what it hands out", "[script]") {
  const Judged wrong = wrong_average();
  const Provenance provenance = provenance_of("onnx.reference");
  const Result<Script> made = script_of(wrong.c, wrong.verdict, &wrong.outcome, provenance, {}, false);
  REQUIRE(made);
  CHECK_THAT(made->text, Contains("import os\nimport sys\n\nif os.environ.get(\"MALLOC_PERTURB_\") != \"165\":") &&
                             Contains("os.execv(sys.executable, [sys.executable, *sys.argv])\n\nimport numpy"));
  CHECK_THAT(script(wrong), !Contains("MALLOC_PERTURB_") && !Contains("import os"));
}

TEST_CASE("Long data are read from the folder", "[script]") {
  const char* const large = "AveragePool-19 opset=19 ir=8 X=f32[1,1,400]~normal:1 kernel_shape=3";
  const Tensor zeros({DType::f32, {1, 1, 398}});
  const Judged wrong = judged(large, outputs(zeros, zeros));
  const Result<Script> made = script_of(wrong.c, wrong.verdict, &wrong.outcome, provenance_of("onnx.reference"));
  REQUIRE(made);
  CHECK(made->reads_files);
  CHECK_THAT(made->text, Contains("onnx.load_tensor(here / \"test_data_set_0/input_0.pb\")") &&
                             Contains("here = pathlib.Path(__file__).parent\n") && Contains("import pathlib\n"));
  CHECK(made->files.empty());
  // Those of a case that runs first have no folder of their own.
  const Steps before{{large}};
  const Result<Script> session =
      script_of(case_of(pool), wrong_average().verdict, nullptr, provenance_of("onnx.reference"), before);
  REQUIRE(session);
  CHECK(session->files.contains("before_0/test_data_set_1/input_0.pb"));
}

TEST_CASE("Text that may be written in several ways is wrong as long as it is what it was", "[script]") {
  const char* const cast = "Cast-13 opset=13 ir=8 input=f32[2]~iota:1 to=8";
  const auto words = [](const char* first, const char* second) {
    return tensor<std::string>(DType::string, {2}, {first, second});
  };
  const std::string text = script(judged(cast, outputs(words("1", "7"), words("-1", "-2"))));
  CHECK_THAT(text, Contains("some = got.ravel()[[1]]") && Contains("wrong = np.array([\"7\"], np.object_)") &&
                       Contains("0 if not np.array_equal(some.astype(np.object_), wrong) else 1"));
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
  CHECK(account.title.find_first_of("\n`<>@#|*") == std::string::npos);
  CHECK_THAT(account.title, Contains("[x (http") && !Contains("]("));
  // No mention and no link outside of code: the words stand in spans and fences that are longer than theirs.
  const std::string issue = issue_text(account);
  CHECK_THAT(issue, Contains("````"));
  CHECK_THAT(issue, !Contains("\n@somebody") && !Contains("\n# x"));
}

TEST_CASE("A title keeps the brackets of shapes", "[script]") {
  const Tensor longer({DType::f32, {1, 1, 4}});
  const Judged wrong = judged(pool, outputs(longer, longer));
  const Account account =
      account_of(Incident{wrong.c, wrong.verdict, &wrong.outcome, {}}, provenance_of("onnx.reference"));
  CHECK(account.title == "AveragePool-19: shape [1,1,4] instead of [1,1,3] (kernel_shape=2)");
  const Judged refusal =
      judged(pool, Outcome::failure(Outcome::Kind::refused, "got [1,1,3], not [a](b) or [a][b] or [a]: b"));
  CHECK_THAT(account_of(Incident{refusal.c, refusal.verdict, &refusal.outcome, {}}, provenance_of("mine")).title,
             Contains("got [1,1,3], not [a (b) or [a [b] or [a : b"));
}

TEST_CASE("An account of a session says so", "[script]") {
  const Judged wrong = wrong_average();
  Incident incident{wrong.c, wrong.verdict, &wrong.outcome, {}, {{pool}, {pool}}};
  CHECK_THAT(account_of(incident, provenance_of("onnx.reference")).opening,
             Contains("wrong value for AveragePool-19") && Contains(", after 2 other models in the same process."));
  Finding finding = finding_of(wrong.c, "", {wrong.outcome, wrong.verdict}, {});
  const std::string in_two_threads = "[threads=2] " + std::string(pool);
  finding.session = in_two_threads + " ; " + in_two_threads;
  const Account account = account_of(finding, provenance_of("onnxruntime"));
  CHECK_THAT(account.opening, Contains(", after 1 other model in the same process."));
  REQUIRE(account.script);
  CHECK_THAT(account.script->text, Contains("for each, *sets in 10 * before:") && Contains("intra_op_num_threads = 2"));
  finding.session = std::string(pool) + " ; " + in_two_threads;
  const Account differing = account_of(finding, provenance_of("onnxruntime"));
  REQUIRE(differing.script);
  CHECK_THAT(differing.script->text, Contains("def run_1(model, *sets):\n    session = ") &&
                                         Contains("before = [(run_1, onnx.parser.parse_model(") &&
                                         Contains("for how, each, *sets in 10 * before:") &&
                                         Contains("        how(each, *sets)\n") &&
                                         Contains("    settings.intra_op_num_threads = 2\n"));
  CHECK_THAT(differing.closing, Contains(" ; [threads=2] AveragePool-19"));
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
