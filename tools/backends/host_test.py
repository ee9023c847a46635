# SPDX-License-Identifier: Apache-2.0
"""Shared libraries behind assay_backend.h: the header in C and C++, the example as a vendor compiles it, libraries that
break the contract, and onnxruntime by its C API against onnxruntime by Python."""
import os
import pathlib
import re
import subprocess

import command_line
from command_line import InFolder, read_json

NATIVE = pathlib.Path("tools/backends/native")
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"]
POOL = "AveragePool-7 opset=7 ir=8 X=f32[1,1,4]~iota:1@init kernel_shape=2"

# A library whose run() does what stands in place of RUN; the table can be bent as well.
LIBRARY = '#include "assay_backend.h"' + r"""
#include <stdlib.h>
static const char* describe(const assay_host* host, int argc, const char* const* argv) {
  (void)host, (void)argc, (void)argv;
  DESCRIBE;
  return "{\"backend\":\"faulty\"}";
}
static int32_t load(const assay_model* model, void** session, const assay_host* host) {
  (void)model, (void)session, (void)host;
  return ASSAY_OK;
}
static int32_t run(void* session, const assay_tensor* inputs, int32_t input_count, const assay_host* host) {
  static const int64_t dims[] = {1, 1, 3};
  static const float data[] = {1.5f, 2.5f, 3.5f};
  assay_tensor y = {1, 3, dims, data, sizeof data};
  (void)session, (void)inputs, (void)input_count, (void)y, (void)host;
  RUN;
  return ASSAY_OK;
}
static int32_t run_into(void* session, const assay_tensor* inputs, int32_t input_count, const assay_buffer* outputs,
                        int32_t output_count, const assay_host* host) {
  static const float data[] = {1.5f, 2.5f, 3.5f};
  unsigned char* y = outputs[0].data;
  (void)session, (void)inputs, (void)input_count, (void)output_count, (void)host, (void)data, (void)y;
  RUN_INTO;
  return ASSAY_OK;
}
static void unload(void* session) { (void)session; }
const assay_backend* assay_backend_v1(void) {
  static const assay_backend backend = {
      .abi = ABI, .size = sizeof(assay_backend), .describe = describe, .load = load, .run = run, .unload = unload,
      .run_into = run_into};
  return &backend;
}
"""
EMIT = "host->emit(host->context, 0, &y)"


def assay(*arguments, **environment):
    # The address sanitizer would turn a segmentation fault into an exit code.
    environment["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0"
    return command_line.assay(*arguments, env={**os.environ, **environment})


class Libraries(InFolder):
    def compiled(self, source, compiler=("cc", "-std=c99")):
        library = self.folder / "libfaulty.so"
        subprocess.run([*compiler, *STRICT, "-shared", "-fPIC", "-I", "tools/backends", source, "-o", library],
                       check=True, timeout=120)
        return library

    def faulty(self, run=EMIT, describe="", abi="ASSAY_BACKEND_ABI", run_into="memcpy(y, data, sizeof data)"):
        source = self.folder / "faulty.c"
        source.write_text(LIBRARY.replace("DESCRIBE", describe).replace("RUN_INTO", run_into).replace("RUN", run)
                          .replace("ABI,", abi + ",", 1), encoding="utf-8")
        return self.compiled(source)

    def replayed(self, library, before=""):
        return " ".join(assay("replay", "--backend", library, before + POOL).stdout.split())

    def states(self, backend, *arguments):
        """The state of each case by its line, and the findings' words."""
        report = self.folder / "report.json"
        done = assay("certify", "--backend", backend, "--report", report, *arguments)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        verdicts = read_json(report)["verdicts"]
        return {verdict["line"]: verdict["state"] for verdict in verdicts}, done


class Header(Libraries):
    def test_it_compiles_alone_as_c99_and_as_cpp(self):
        for compiler in (["cc", "-std=c99", "-x", "c"], ["c++", "-std=c++11", "-x", "c++"], ["c++", "-std=c++20", "-x", "c++"]):
            subprocess.run([*compiler, *STRICT, "-fsyntax-only", "tools/backends/assay_backend.h"], check=True, timeout=60)

    def test_it_has_at_most_200_lines(self):
        lines = pathlib.Path("tools/backends/assay_backend.h").read_text(encoding="utf-8").splitlines()
        self.assertLessEqual(len(lines), 200)


class Example(Libraries):
    def test_what_it_declares_conforms_and_the_rest_is_unsupported(self):
        library = self.compiled(NATIVE / "example.c")
        states, done = self.states(library, "--ops", "AveragePool-7", "--types", "f32", "--cases", "25000")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertLessEqual(set(states.values()), {"pass", "contested", "unscored", "unsupported"})
        self.assertGreater(sum(state == "pass" for state in states.values()), 550)
        states, done = self.states(library, "--ops", "AveragePool-11,Conv", "--cases", "600")
        self.assertEqual({state for line, state in states.items() if state != "unsupported"}, set(), done.stdout)


class Faulty(Libraries):
    def test_one_that_does_its_duty_is_served(self):
        self.assertIn("verdict pass", self.replayed(self.faulty()))

    def test_each_breach_while_it_runs_is_an_error_with_words(self):
        for run, words in {
            "*(volatile int*)8 = 1": "died by SIGSEGV",
            "abort()": "died by SIGABRT",
            "exit(0)": "ended with exit code 0",
            "y.bytes = 8; " + EMIT: "breaks assay_backend.h: output 0: 8 bytes for type 1[1,1,3]",
            "y.type = 77; " + EMIT: "element type 77, which assay does not know",
            "y.rank = -1; " + EMIT: "a tensor of rank -1",
            "y.dims = 0; " + EMIT: "a tensor of rank 3",
            "y.data = 0; " + EMIT: "no data for type 1[1,1,3]",
            EMIT + "; " + EMIT: "output 0: emitted twice",
            "host->emit(host->context, 1, &y)": "output 1 but no output 0",
            "host->emit(host->context, -1, &y)": "output -1: no such output",
            "return 7": "run() returned 7, which is no status",
        }.items():
            with self.subTest(run):
                told = self.replayed(self.faulty(run))
                self.assertIn("verdict error (crashed)", told)
                self.assertIn(words, told)

    def test_a_write_beside_a_bound_output_is_an_error_and_one_that_is_missing_a_wrong_value(self):
        duty = "memcpy(y, data, sizeof data); "
        for run_into, words in {
            duty: "verdict pass",
            duty + "y[sizeof data] = 0": "it wrote outside the buffer that was bound for output 0",
            duty + "y[-1] = 0": "it wrote outside the buffer that was bound for output 0",
            duty + "y[sizeof data + 200] ^= 1": "it wrote outside the buffer that was bound for output 0",
            "memcpy(y, data, sizeof data - 4)": "verdict fail (value)",
        }.items():
            with self.subTest(run_into):
                told = self.replayed(self.faulty(run_into=run_into), "[outputs=bound] ")
                self.assertIn(words, told)
                self.assertIn("verdict pass", self.replayed(self.faulty(run_into=run_into)), "where nothing is bound it is right")

    def test_a_campaign_binds_outputs_and_finds_the_write_beside_one(self):
        library = self.faulty(run_into="memcpy(y, data, sizeof data); y[sizeof data] = 0")
        cases = self.folder / "suites" / "conformance"
        cases.mkdir(parents=True)
        (cases / "pool.cases").write_text(POOL + "\n", encoding="utf-8")
        report = self.folder / "bound.json"
        done = assay("certify", "--backend", library, "--suites", self.folder / "suites", "--ops", "AveragePool-7", "--cases", "0", "--no-every-input",
                     "--presentations", "all", "--report", report)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        verdict, = read_json(report)["verdicts"]
        self.assertEqual(verdict["state"], "pass")
        mark, = [each for each in verdict["marks"] if each["by"] == "outputs=bound"]
        self.assertTrue(mark["breaches"])
        self.assertIn("outside the buffer", mark["detail"])

    def test_refusals_carry_their_reason(self):
        for run, words in {
            'host->because(host->context, "too\\nlarge"); return ASSAY_REFUSED': "refused: too large",
            'host->because(host->context, "no kernel"); return ASSAY_UNSUPPORTED': "unsupported (not implemented): no kernel",
            "return ASSAY_REFUSED": "refused: run() gave no reason",
            "char* text = malloc(3 << 20); memset(text, 34, 3 << 20); text[(3 << 20) - 1] = 0; "
            "host->because(host->context, text); return ASSAY_REFUSED": 'refused: """"',
        }.items():
            with self.subTest(run):
                self.assertIn(words, self.replayed(self.faulty(run)))

    def test_a_wrong_type_or_number_of_outputs_is_judged(self):
        self.assertIn("verdict fail", self.replayed(self.faulty("y.type = 6; " + EMIT)))
        self.assertIn("verdict fail", self.replayed(self.faulty("")))

    def refused_at_once(self, library):
        done = assay("certify", "--backend", library, "--cases", "10")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_one_that_cannot_serve_is_refused_in_one_line(self):
        told = self.refused_at_once(self.faulty(abi="7"))
        self.assertIn("libfaulty.so: was built for version 7 of the ABI, this assay serves version 1", told)
        told = self.refused_at_once(self.faulty(describe='host->because(host->context, "no licence"); return NULL'))
        self.assertIn("libfaulty.so: no licence", told)
        told = self.refused_at_once(self.faulty(describe='return "{}}"'))
        self.assertIn("what describe() returns is no JSON object", told)
        told = self.refused_at_once(self.faulty(describe='return "{}"'))
        self.assertIn('"backend", its name, is missing', told)

    def test_what_is_no_such_library_is_refused_in_one_line(self):
        self.assertIn("there is no library", self.refused_at_once(self.folder / "libmissing.so"))
        text = self.folder / "libtext.so"
        text.write_text("no library\n", encoding="utf-8")
        self.assertIn("libtext.so: cannot be loaded", self.refused_at_once(text))
        empty = self.folder / "empty.c"
        empty.write_text("int nothing;\n", encoding="utf-8")
        self.assertIn("exports no assay_backend_v1", self.refused_at_once(self.compiled(empty)))


class Onnxruntime(Libraries):
    def test_its_c_api_gives_the_verdicts_of_python(self):
        # An empty tensor makes it read memory that nobody wrote, or hang: what it answers then is chance.
        def stable(states):
            return {line: state for line, state in states.items() if not re.search(r"\[([0-9]+,)*0[,\]]", line)}

        arguments = ["--ops", "AveragePool,Conv-11,QLinearConv", "--cases", "350", "--timeout", "2"]
        native, _ = self.states("onnxruntime-native", *arguments)
        python, _ = self.states("onnxruntime", *arguments)
        self.assertEqual(stable(native), stable(python))
        self.assertGreater(sum(state == "pass" for state in stable(native).values()), 300)
        self.assertIn("fail", stable(native).values())

    def test_its_c_api_takes_every_type_but_strings(self):
        arguments = ["--ops", "Cast-25,Transpose-25,Constant-24,Constant-25,ai.onnx.ml:LabelEncoder-4", "--cases", "60", "--timeout", "5"]
        native, _ = self.states("onnxruntime-native", *arguments)
        python, _ = self.states("onnxruntime", *arguments)
        lack = {line for line in native if native[line] == "unsupported" != python[line]}
        self.assertTrue(lack)
        self.assertTrue(all(re.search(r"string|to=8|strings=", line) for line in lack), lack)
        self.assertEqual({line: native[line] for line in native.keys() - lack}, {line: python[line] for line in native.keys() - lack})
        for type_name in ("=u2[", "=i2[", "=f8e8m0["):
            self.assertTrue(any(type_name in line and native[line] == "pass" for line in native), type_name)

    def test_a_library_that_is_not_there_is_named(self):
        done = assay("certify", "--backend", "onnxruntime-native", "--cases", "1", ASSAY_ONNXRUNTIME="/no/such/library.so")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/no/such/library.so", done.stderr)
