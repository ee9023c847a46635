# SPDX-License-Identifier: Apache-2.0
"""BackendTest and the plugin of pytest as their users meet them, on a backend with a planted bug and on the same one mended.
The plugin needs pytest; without it the test says that it did not run, and fails under ASSAY_FULL=1."""
import importlib.metadata
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "src"), str(HERE.parent / "testing")]
if "ASSAY_BUILD" in os.environ:
    os.environ.setdefault("ASSAY_PROGRAM", str(pathlib.Path(os.environ["ASSAY_BUILD"], "tools", "assay").resolve()))

import planted_backend  # noqa: E402
from assay_pytest import BackendTest, Certification, Subject  # noqa: E402
from assay_pytest.certification import name_of, subjects, type_of  # noqa: E402

FEW = ["--cases", "0"]  # the pinned cases
FULL = os.environ.get("ASSAY_FULL") == "1"


def run(suite):
    result = unittest.TestResult()
    suite.run(result)
    return result


class Names(unittest.TestCase):
    def test_a_backend_is_named_as_the_program_takes_it(self):
        self.assertEqual(name_of("onnxruntime"), "onnxruntime")
        self.assertEqual(name_of(planted_backend), "python:planted_backend")
        self.assertEqual(name_of(planted_backend.Backend), "python:planted_backend:Backend")
        self.assertEqual(name_of(planted_backend.Backend()), "python:planted_backend:Backend")
        with self.assertRaisesRegex(ValueError, "put it into a module"):
            name_of(type("Local", (), {"__module__": "__main__"}))

    def test_there_is_a_subject_for_each_version_and_type(self):
        self.assertIn(Subject("Conv-11", "f32"), subjects())
        self.assertIn(Subject("com.microsoft:NhwcConv-1", "f16"), subjects())
        self.assertEqual(Subject("com.microsoft:NhwcConv-1", "f16").test_name, "test_com_microsoft_nhwcconv_1_f16")
        self.assertTrue(Subject("Conv-11", "f32").is_of(["Conv"]))
        self.assertTrue(Subject("com.microsoft:NhwcConv-1", "f16").is_of(["NhwcConv"]))
        self.assertFalse(Subject("Conv-11", "f32").is_of(["Conv-1", "AveragePool"]))
        self.assertEqual(type_of("Conv-11 opset=11 ir=8 X=bf16[1,0]~iota:1 W=f32[1]~iota:1"), "bf16")


class InPlaceOfTheClassOfOnnx(unittest.TestCase):
    def asked_of(self, **options):
        tests = BackendTest(planted_backend.Backend, __name__, certify=FEW, **options)
        return tests.include("averagepool_19")

    def setUp(self):
        self.addCleanup(os.environ.pop, "PLANTED_BUG", None)

    def test_there_is_a_test_case_for_the_file_that_asks(self):
        cases = self.asked_of().test_cases
        self.assertEqual(list(cases), ["AssayBackendTest"])
        self.assertEqual(cases["AssayBackendTest"].__module__, __name__)
        self.assertTrue(hasattr(cases["AssayBackendTest"], "test_conv_11_f32"))

    def test_a_planted_bug_fails_with_its_causes_as_text(self):
        os.environ["PLANTED_BUG"] = "shape"
        result = run(self.asked_of().exclude("f16").exclude("f64").test_suite)
        self.assertEqual([test.id().rpartition(".")[2] for test, _ in result.failures], ["test_averagepool_19_f32"])
        text = result.failures[0][1]
        for words in ("AveragePool-19, f32: ", " cases do not conform", "fail (shape): ", "instead of [",
                      "assay replay --backend python:planted_backend:Backend 'AveragePool-19 "):
            self.assertIn(words, text)
        reasons = {reason for _, reason in result.skipped}
        self.assertIn('matched exclude pattern "f16"', reasons)
        self.assertIn("no matched include pattern", reasons)

    def test_what_is_expected_to_fail_does(self):
        os.environ["PLANTED_BUG"] = "shape"
        result = run(self.asked_of().xfail("f32").exclude("f16").exclude("f64").test_suite)
        self.assertEqual(len(result.expectedFailures), 1)
        self.assertTrue(result.wasSuccessful())

    def test_what_cannot_be_judged_is_skipped(self):
        word, text = Certification(planted_backend, tuple(FEW)).outcome(Subject("QLinearConv-10", "f32"))
        self.assertEqual(word, "not certified")
        self.assertIn("0 of 0 legal cases judged", text)

    def test_the_example_of_the_protocol_is_a_backend_too(self):
        worker = f"exec:{sys.executable} {HERE.parent / 'backends' / 'example.py'}"
        certification = Certification(worker, ("--cases", "60"))
        word, text = certification.outcome(Subject("AveragePool-10", "f32"))
        self.assertEqual(word, "not conforming")
        self.assertIn("fail (value): ", text)

    def test_a_backend_that_cannot_be_imported_is_an_error_that_says_so(self):
        with self.assertRaisesRegex(RuntimeError, "cannot import no_such_module"):
            Certification("python:no_such_module").outcome(Subject("Conv-11", "f32"))


@unittest.skipUnless(importlib.util.find_spec("pytest") or FULL, "no pytest here: the plugin was not tried")
class Plugin(unittest.TestCase):
    def pytest(self, *arguments, bug=""):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "PLANTED_BUG": bug, "PYTHONPATH": os.pathsep.join(sys.path[:2])}
            is_installed = any(each.name == "assay" for each in importlib.metadata.entry_points(group="pytest11"))
            plugin = [] if is_installed else ["-p", "assay_pytest.plugin"]
            done = subprocess.run([sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider", *arguments], cwd=folder,
                                  env=environment, capture_output=True, text=True, timeout=600, check=False)
        return done.returncode, done.stdout + done.stderr

    def requested(self, *arguments, **options):
        return self.pytest("--assay-backend", "planted_backend", "--assay-ops", "AveragePool-19", "--assay-options", "--cases 0",
                           *arguments, **options)

    def test_a_planted_bug_is_a_failed_test_whose_text_is_the_cause(self):
        code, said = self.requested("--assay-types", "f32", bug="shape")
        self.assertEqual(code, 1, said)
        self.assertIn("1 failed", said)
        self.assertIn("AveragePool-19, f32: ", said)
        self.assertIn("assay replay --backend python:planted_backend '", said)
        self.assertNotIn("runtest", said)  # none of our own frames

    def test_k_chooses_among_them(self):
        code, said = self.requested("-k", "f32", "-v", bug="shape")
        self.assertEqual(code, 1, said)
        self.assertIn("assay::test_averagepool_19_f32 FAILED", said)
        self.assertIn("2 deselected", said)

    def test_an_operator_that_is_none_is_told(self):
        code, said = self.pytest("--assay-backend", "planted_backend", "--assay-ops", "Covn")
        self.assertEqual(code, 4, said)
        self.assertIn("there is no operator version of that name", said)

    def test_without_the_option_it_adds_nothing(self):
        self.assertEqual(self.pytest()[0], 5)


if __name__ == "__main__":
    unittest.main()
