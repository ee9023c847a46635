# SPDX-License-Identifier: Apache-2.0
"""A newcomer's transcript, with the README alone: assay is installed and found by PATH, an example backend with a bug
planted in it is certified, the bug's sentence stands on the first screen, its issue is pasted, the script in it shows the
bug, the bug is mended, the next run says "fixed" and the same script that it is gone."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from command_line import InFolder, read_json

BUILD = pathlib.Path(os.environ["ASSAY_BUILD"])
CMAKE = re.search(r"(?m)^CMAKE_COMMAND:INTERNAL=(.+)$", (BUILD / "CMakeCache.txt").read_text()).group(1)
# Right at first: a class as the README asks for, and the worker that comes with assay.
MODULE = '''import onnx.backend.base
from onnx.reference import ReferenceEvaluator


class Prepared(onnx.backend.base.BackendRep):
    def __init__(self, model):
        self.evaluator = ReferenceEvaluator(model)

    def run(self, inputs, **kwargs):
        return self.evaluator.run(None, dict(zip(self.evaluator.input_names, inputs)))


class Mine(onnx.backend.base.Backend):
    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        return Prepared(model)
'''
WORKER = "share/assay/tools/backends/example.py"
BUG = '''

class ReferenceEvaluator(ReferenceEvaluator):
    def __init__(self, model):
        for node in model.graph.node:
            if node.op_type == "Conv" and len(node.input) > 2:
                node.input[2] = ""
        super().__init__(model)
'''
SENTENCE = "no bias at all"
SCREEN = 60  # lines of a terminal


def planted(text):
    return re.sub(r"(?m)^from onnx\.reference import ReferenceEvaluator.*\n", lambda found: found.group() + BUG, text, count=1)


class Newcomer(InFolder):
    @classmethod
    def setUpClass(cls):
        cls.prefix = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        subprocess.run([CMAKE, "--install", BUILD, "--prefix", cls.prefix], check=True, stdout=subprocess.DEVNULL)

    def setUp(self):
        super().setUp()
        keeps = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "PYTHON"))}
        path = f"{self.prefix / 'bin'}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
        # Of an own module its user sees to it that Python finds it.
        self.environment = {**keeps, "PATH": path, "ASSAY_CACHE": str(self.folder / "cache"), "PYTHONPATH": str(self.folder),
                            "PYTHONDONTWRITEBYTECODE": "1"}
        self.assertEqual(shutil.which("assay", path=path), str(self.prefix / "bin/assay"))

    def typed(self, code, *words):
        """What a command prints that ends so."""
        done = subprocess.run([*map(str, words)], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              timeout=600, check=False)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def certify(self, code, *words):
        return self.typed(code, "assay", "certify", *words, "--ops", "Conv-11", "--types", "f32", "--cases", 600)

    def first_screen(self, backend):
        """Certifies it; the number of the cause that is the planted bug."""
        screen = self.certify(1, backend, "--report", "first.json").splitlines()
        self.assertLess(len(screen), SCREEN, "it is one screen")
        named = [line for line in screen if SENTENCE in line]
        self.assertTrue(named, "\n".join(screen))
        number, gravity = re.match(r"(\d+) +(\w+) ", named[0]).groups()
        self.assertEqual((number, gravity), ("1", "WRONG"), "wrong values come first")
        self.assertIn(SENTENCE, read_json(self.folder / "first.json")["causes"][0]["sentence"])
        return number

    def issue(self, backend, number):
        """The text that is pasted; the folder "finding" is what is attached to it."""
        text = self.typed(1, "assay", "replay", "first.json", number, backend, "--issue")
        self.assertTrue(text.splitlines()[0].startswith("Conv-11: "), text)
        self.assertEqual(text.splitlines()[1], "", "the first line is a title")
        self.assertIn(read_json(self.folder / "first.json")["causes"][0]["smallest"], text)
        self.typed(1, "assay", "replay", "first.json", number, backend, "--save", "finding")
        self.assertEqual((self.folder / "finding/ISSUE.md").read_text(encoding="utf-8"), text)
        return text

    def shows(self, code):
        """Runs the script: 1 and other values than the standard's while the bug is there, 0 and the same ones without it."""
        for file in ("pasted.py", "finding/repro.py"):
            told = re.fullmatch(r"mine *gives (array\(.*\)) and the standard says (array\(.*\))\n", self.typed(code, "python3", file))
            self.assertEqual(told[1] != told[2], code == 1, told[0])

    def mended(self, file, backend):
        """Takes the bug out again, and sees that it is told as fixed."""
        text = file.read_text(encoding="utf-8")
        self.assertIn(BUG, text)
        file.write_text(text.replace(BUG, ""), encoding="utf-8")
        broken = read_json(self.folder / "first.json")["causes"][0]["count"]
        self.assertGreater(broken, 1)

        said = self.certify(0, backend, "--baseline", "first.json", "--report", "second.json")
        known, fixed = map(int, re.search(r"against first\.json: 0 new, (\d+) known, (\d+) fixed", said).groups())
        self.assertGreaterEqual(fixed, broken)
        self.assertNotIn(SENTENCE, said)
        self.assertRegex(self.typed(0, "assay", "diff", "first.json", "second.json"), rf"(?m)^.*\b{fixed} fixed\b")

        again = self.typed(1 if known else 0, "assay", "certify", backend, "--only-failed", "first.json", "--report", "failed.json")
        self.assertNotIn(SENTENCE, again)
        self.assertEqual(read_json(self.folder / "failed.json")["totals"]["pass"], fixed)
        self.assertTrue(self.typed(0, "assay", "replay", "first.json", 1, backend).startswith("verdict   pass"))

    def test_a_python_module_with_its_script(self):
        mine = self.folder / "mine.py"
        mine.write_text(planted(MODULE), encoding="utf-8")
        issue = self.issue("python:mine", self.first_screen("python:mine"))
        [script] = re.findall(r"^```python\n(.*?^)```$", issue, re.MULTILINE | re.DOTALL)
        self.assertEqual(script, (self.folder / "finding/repro.py").read_text(encoding="utf-8"))
        self.assertNotIn("import assay", script)
        (self.folder / "pasted.py").write_text(script, encoding="utf-8")
        self.shows(1)
        self.mended(mine, "python:mine")
        self.shows(0)

    def test_a_worker_in_any_language(self):
        """No script reaches it: its issue has the model and the values instead."""
        mine, backend = self.folder / "worker.py", "exec:python3 worker.py"
        mine.write_text(planted((self.prefix / WORKER).read_text(encoding="utf-8")), encoding="utf-8")
        issue = self.issue(backend, self.first_screen(backend))
        self.assertNotIn("```python", issue)
        self.assertRegex(issue, r"(?m)^X = float32\[")
        self.assertIn("<ir_version: ", issue)
        self.assertFalse((self.folder / "finding/repro.py").exists())
        self.assertIn("There is no script, because `this backend is no Python package`",
                      (self.folder / "finding/README.md").read_text(encoding="utf-8"))
        self.mended(mine, backend)
