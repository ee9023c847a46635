# SPDX-License-Identifier: Apache-2.0
"""Scripts of findings, run as somebody would who has onnx, numpy and the runtime: they end with 1 while the defect stands
and with 0 once it is mended. A backend with planted bugs that can be mended, and defects of real runtimes."""
import ast
import os
import pathlib
import statistics
import subprocess
import sys

import onnx
import onnx.parser
from command_line import TOOL, InFolder, ended, read_json

PLANTED = pathlib.Path(__file__).resolve().parent / "testing"
POOL = "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2"
# Nothing of these is exact: a script has to admit what rounding does.
ROUNDED = (
    "Conv-11 opset=11 ir=8 X=f32[1,3,6,6]~normal:1 W=f32[2,3,3,3]~normal:2 B=f32[2]~normal:3 pads=1,1,1,1",
    "Conv-11 opset=11 ir=8 X=f64[1,2,9]~normal:4 W=f64[2,2,3]~uniform:5@init",
    "Conv-22 opset=22 ir=10 X=f16[1,2,9]~normal:6 W=f16[2,2,3]~normal:7 shapes=symbolic",
    "AveragePool-11 opset=11 ir=8 X=f32[1,1,5,5]~uniform:8 kernel_shape=3,3",
    "DeformConv-19 opset=19 ir=8 X=f32[1,1,4,4]~normal:1 W=f32[1,1,2,2]~normal:5 offset=f32[1,8,3,3]~quarter:9",
)
# Real defects, of tools/backends/FINDINGS.md, and a refusal: what the runtime does, and a case.
ONNXRUNTIME = (
    ("shape", "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 auto_pad=SAME_UPPER kernel_shape=2 dilations=2"),
    ("shape", "AveragePool-22 opset=22 ir=10 X=f16[1,2,7]~small:3 auto_pad=SAME_LOWER kernel_shape=3 dilations=2"),
    ("crashed", "Conv-22 opset=22 ir=10 X=f16[1,9,0,2,2,2]~small:5586 W=f16[3,9,2,1,2,2]~small:8507 kernel_shape=2,1,2,2 "
                "pads=1,0,1,0,1,0,0,0 strides=1,1,2,1"),
    ("crashed", "QLinearConv-10 opset=10 ir=8 x=i8[1,1,1]~iota:1 x_scale=f32[]~hold:1@init x_zero_point=i8[]~hold:0@init "
                "w=i8[0,1,1]~const:1 w_scale=f32[]~hold:1@init w_zero_point=i8[0]~hold:0@init y_scale=f32[]~hold:1@init "
                "y_zero_point=i8[]~hold:0@init"),
    ("value", "AveragePool-10 opset=10 ir=8 X=f16[1,1,4,6]~iota:1 auto_pad=SAME_LOWER kernel_shape=1,1 strides=4,3 "
              "count_include_pad=1 ceil_mode=1"),
    ("refused", "Conv-11 opset=11 ir=8 X=f32[1,1,5]~iota:1 W=f32[1,1,3]~const:1 auto_pad=SAME_UPPER dilations=2"),
)
REFERENCE = (
    ("value", "AveragePool-1 opset=1 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 pads=1,1"),
    ("value", "AveragePool-10 opset=10 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=3 strides=3 ceil_mode=1"),
    ("shape", "AveragePool-19 opset=19 ir=8 X=f32[1,1,5]~iota:1 auto_pad=VALID kernel_shape=2 dilations=2"),
    ("special", "Conv-22 opset=22 ir=10 X=f16[1,2,3,3]~lit:1,1,1,1,4,inf,1,1,1,-inf,1,1,inf,1,1,1,1,1 "
                "W=f16[1,2,2,1]~const:1 dilations=2,1"),
    ("shape", "QLinearConv-10 opset=10 ir=8 x=u8[1,1,1]~iota:1 x_scale=f32[]~hold:1 x_zero_point=u8[]~hold:0 "
              "w=u8[2,1,1]~const:1 w_scale=f32[2]~hold:1 w_zero_point=u8[]~hold:0 y_scale=f32[]~hold:1 y_zero_point=u8[]~hold:0"),
)


class Scripts(InFolder):
    def environment(self, bug):
        return {**os.environ, "PYTHONPATH": str(PLANTED), "PLANTED_BUG": bug, "PYTHONDONTWRITEBYTECODE": "1"}

    def saved(self, backend, line, bug="", *options):
        folder = self.folder / f"finding-{len(list(self.folder.iterdir()))}"
        ended(1, "replay", "--backend", backend, line, "--save", folder, *options, env=self.environment(bug))
        return folder

    def run_(self, folder, bug=""):
        """The script in another folder than its own, as pasted: exit code and what it says."""
        done = subprocess.run([sys.executable, folder / "repro.py"], cwd="/", capture_output=True, text=True, timeout=300,
                              errors="replace", env=self.environment(bug), check=False)
        return done.returncode, done.stdout + done.stderr

    def expect_honest(self, folder, bug):
        """1 while the bug is there, 0 when it is gone."""
        code, said = self.run_(folder, bug)
        self.assertEqual(code, 1, said)
        self.assertNotIn("SyntaxError", said)
        code, said = self.run_(folder)
        self.assertEqual(code, 0, said)

    def test_a_planted_bug_stands_and_is_mended(self):
        for bug in ("value", "shape", "type", "nan", "stale", "refuse", "crash", "exit"):
            with self.subTest(bug):
                self.expect_honest(self.saved("python:planted_backend", POOL, bug), bug)

    def test_what_differs_from_run_to_run_is_run_where_memory_that_nobody_wrote_shows(self):
        self.expect_honest(folder := self.saved("python:planted_backend", POOL, "chance"), "chance")
        self.assertIn("MALLOC_PERTURB_", (folder / "repro.py").read_text())
        self.assertNotIn("MALLOC_PERTURB_", (self.saved("python:planted_backend", POOL, "value") / "repro.py").read_text())

    def test_so_it_is_with_a_class_that_is_named(self):
        self.expect_honest(self.saved("python:planted_backend:Backend", POOL, "value"), "value")

    def test_a_hang_ends_by_a_timeout(self):
        folder = self.saved("python:planted_backend", POOL, "hang", "--timeout", "1")
        script = folder / "repro.py"
        script.write_text(script.read_text().replace("timeout=60", "timeout=4"))
        self.expect_honest(folder, "hang")

    def test_memory_without_end_is_told(self):
        folder = self.saved("python:planted_backend", POOL, "memory", "--memory", "1000")
        code, said = self.run_(folder, "memory")
        self.assertEqual(code, 1, said)
        self.assertEqual(self.run_(folder)[0], 0)

    def test_a_correct_runtime_is_never_called_wrong(self):
        for line in ROUNDED:
            with self.subTest(line):
                self.expect_honest(self.saved("python:planted_backend", line, "value"), "value")

    def test_long_data_lie_beside_the_script(self):
        line = "Conv-11 opset=11 ir=8 X=f32[1,3,12,12]~normal:1 W=f32[9,3,3,3]~normal:2@init"
        folder = self.saved("python:planted_backend", line, "value")
        self.assertIn("Reads files beside it", (folder / "repro.py").read_text())
        self.expect_honest(folder, "value")

    def test_defects_of_onnxruntime(self):
        self.expect_defects("onnxruntime", ONNXRUNTIME)

    def test_defects_of_the_evaluator_of_onnx(self):
        self.expect_defects("onnx.reference", REFERENCE)

    def expect_defects(self, backend, defects):
        lengths = []
        for because, line in defects:
            with self.subTest(line):
                folder = self.saved(backend, line)
                self.assertEqual(read_json(folder / "finding.json")["verdict"]["because"], because)
                code, said = self.run_(folder)
                self.assertEqual(code, 1, said)
                self.assertNotIn("Traceback", said)
                text = (folder / "repro.py").read_text()
                lengths.append(sum(bool(row.strip()) and not row.startswith("#") for row in text.splitlines()))
                self.assertNotIn("import assay", text)
                self.assertEqual(self.model_in(text), self.model_of(folder))
        print(f"{backend}: median of {len(lengths)} scripts: {statistics.median(lengths)} lines")
        self.assertLessEqual(statistics.median(lengths), 20)

    def model_of(self, folder):
        return self.comparable(onnx.load(folder / "model.onnx"))

    def model_in(self, text):
        """The model of a script, by the call that stands in it."""
        call = next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and
                    isinstance(node.func, ast.Attribute) and node.func.attr == "parse_model")
        return self.comparable(onnx.parser.parse_model(call.args[0].value))

    def comparable(self, model):
        """Without names of tools and graphs, and tensors as bytes."""
        model.producer_name, model.graph.name = "", ""
        for tensor in model.graph.initializer:
            tensor.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor), tensor.name))
        return model.SerializeToString(deterministic=True)

    def test_what_a_runtime_says_breaks_nothing(self):
        folder = self.saved("python:planted_backend", POOL, "refuse")
        text = (folder / "repro.py").read_text()
        ast.parse(text)
        self.assertTrue(text.isascii())
        for row in text.splitlines():
            self.assertTrue("os.system" not in row or row.startswith("# "), row)
        for name in ("README.md", "ISSUE.md"):
            written = (folder / name).read_text(encoding="utf-8")
            fence = None
            outside = []
            for row in written.splitlines():
                if fence is None and row.startswith("```"):
                    fence = row[: len(row) - len(row.lstrip("`"))]
                elif fence is not None and row == fence:
                    fence = None
                elif fence is None:
                    outside.append(row)
            self.assertIsNone(fence, written)
            for row in outside:
                bare = "".join(part for index, part in enumerate(row.replace("``", "`").replace("``", "`").split("`")) if index % 2 == 0)
                self.assertNotIn("@somebody", bare, row)
                self.assertFalse(row.startswith(("# title", "os.system", "\x1b")), row)

    def test_a_backend_without_python_says_how_to_replay(self):
        worker = f"exec:{sys.executable} {PLANTED.parent / 'backends' / 'onnx_backend.py'} planted_backend"
        folder = self.saved(worker, POOL, "value")
        self.assertFalse((folder / "repro.py").exists())
        self.assertIn("There is no script, because `this backend is no Python package`", (folder / "README.md").read_text())
        issue = (folder / "ISSUE.md").read_text()
        self.assertIn("X = float32[1,1,4]: 1, 2, 3, 4", issue)
        self.assertIn("<ir_version: 8", issue)

    def test_the_issue_is_printed(self):
        done = subprocess.run([TOOL, "replay", "--backend", "onnxruntime", ONNXRUNTIME[0][1], "--issue"], capture_output=True,
                              text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 1)
        folder = self.saved("onnxruntime", ONNXRUNTIME[0][1])
        self.assertEqual(done.stdout, (folder / "ISSUE.md").read_text())
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "AveragePool-19: shape [1,1,3] instead of [1,1,4] (auto_pad=SAME_UPPER, kernel_shape=2, dilations=2)")
        self.assertEqual(lines[1], "")
